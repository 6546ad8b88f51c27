"""Tables of Saigon 5 Card, Over/Under and DJ Wild, for tests of clauses that their chapters share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.table import events as ev
from tests.support.core.ideal_table import DEALER, NO_MACHINES, SLOTS, WILD_PROGRESSIVE, IdealTable, signs_report
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.rulebook.vocabulary import DeviceFact
    from table_controller.table.decisions import Decision

GAMES: Final = {"680a": "saigon_5_card", "686a": "over_under", "687a": "dj_wild"}
METHODS: Final = ("manual_shoe", "hand", "automated_shoe")


def each(*ids: str) -> pytest.MarkDecorator:
    """Run a test once for every chapter of these clauses; it gets `game`, and the case names the chapter's clauses."""
    named: dict[str, list[str]] = {}
    for name in ids:
        named.setdefault(name.partition(".")[0], []).append(name)
    cases = [pytest.param(GAMES[chapter], id=chapter, marks=clauses(*own)) for chapter, own in named.items()]
    return pytest.mark.parametrize("game", cases)


def by_method(manual: str, hand: str, automated: str) -> pytest.MarkDecorator:
    """Run a test for every dealing method of Saigon 5 Card and DJ Wild; it gets `game` and `dealing`.

    Clauses are separated by spaces; a method without a clause of a chapter is not run for it.
    """
    cases = []
    for dealing, ids in zip(METHODS, (manual, hand, automated), strict=True):
        for chapter in ("680a", "687a"):
            own = [name for name in ids.split() if name.startswith(chapter)]
            if own:
                cases.append(pytest.param(GAMES[chapter], dealing, id=f"{chapter}-{dealing}", marks=clauses(*own)))
    return pytest.mark.parametrize(("game", "dealing"), cases)


def table(game: str, dealing: str = "automated_shoe", counts: bool = True, **choices: Any) -> IdealTable:
    """Return a table with a shuffler and every device of the dealing method; nothing has reported yet."""
    slots = {slot: kind for slot, kind in SLOTS[game].items() if slot != "shoe.1" or dealing != "hand"}
    if game == "over_under":
        return IdealTable(game, slots, shuffler_counts=counts, **choices)
    chosen: dict[str, Any] = {"dealing": dealing, "two_decks": False, "shuffler_counts": counts} | choices
    return IdealTable(game, slots, **chosen)


def table_without_machines(game: str, **choices: Any) -> IdealTable:
    """Return a table without machines: shuffled by hand, dealt from a shoe that is no device."""
    dealing = "dealing_shoe" if game == "over_under" else "manual_shoe"
    slots: dict[str, DeviceFact] = {slot: kind for slot, kind in SLOTS[game].items() if kind == "bet_sensor"}
    return IdealTable(game, slots, **NO_MACHINES | {"dealing": dealing} | choices)


def wild(dealing: str = "automated_shoe", **choices: Any) -> IdealTable:
    """Return a DJ Wild table with its progressive."""
    return table("dj_wild", dealing, **WILD_PROGRESSIVE | choices)


def continuous(**choices: Any) -> IdealTable:
    """Return an Over/Under table that is dealt from a continuous shuffler."""
    chosen: dict[str, Any] = {"dealing": "continuous_shuffler", "shuffler": "continuous", "reshuffles": True}
    return IdealTable("over_under", {"shuffler.1": "shuffler"}, **chosen | {"two_decks": False} | choices)


def report_all_devices(floor: IdealTable) -> IdealTable:
    """Have every device report, and bring no deck."""
    floor.play(*(ev.SlotChanged(slot, "appear") for slot in floor.state.slots))
    floor.play(*(ev.SlotChanged(slot, "verify") for slot in floor.state.slots))
    floor.play(*signs_report(floor.table))
    return floor


def ignore(floor: IdealTable, *kinds: str) -> IdealTable:
    """Leave prompts of these kinds unanswered, and commands with these acts undone."""
    floor.override = lambda decision: [] if _kind(decision) in kinds else None
    return floor


def _kind(decision: Decision) -> str | None:
    return getattr(decision, "kind", None) or getattr(decision, "act", None)


def bring_deck(floor: IdealTable, deck: str = "blue", **about: Any) -> IdealTable:
    """Bring a deck, and play everything that follows."""
    floor.play(ev.DeckReceived(deck, DEALER, **about))
    return floor


def open_prompt_kinds(floor: IdealTable) -> list[str]:
    """Return the kinds of the open prompts."""
    return [prompt.kind for prompt in floor.prompts()]


def reasons_by_key(floor: IdealTable, act: Any = "open_bets", slot: str | None = None, deck: str | None = None,
        **more: Any) -> dict[str, str]:  # fmt: skip
    """Return every reason against an act, with its clause."""
    return {reason.key: reason.clause for reason in floor.table.permit(act, slot, deck, **more)}
