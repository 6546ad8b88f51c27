"""Asia Poker and Face Up Pai Gow: two chapters of similar rules, so one test often proves a clause of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.table import events as ev
from table_controller.table.decisions import Command, Prompt
from tests.support.core.ideal_table import IdealTable
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook.vocabulary import DeviceFact
    from table_controller.table.decisions import Decision

ASIA: Final = "asia_poker"
PAI_GOW: Final = "face_up_pai_gow"
METHODS: Final = ("manual_shoe", "hand", "automated_shoe")
SENSORS: Final[dict[str, DeviceFact]] = {f"bet_sensor.{seat}": "bet_sensor" for seat in range(1, 7)}
# Every side wager of Face Up Pai Gow, with the one progressive table that can open envy.
ALL_WAGERS: Final[dict[str, Any]] = {
    "wagers": ["ace_high", "fortune", "progressive"],
    "paytables": {
        "ace_high": "688a-acehigh-1",
        "fortune": "688a-fortune-1",
        "progressive": "688a-progressive-4",
    },
}
BONUS: Final[dict[str, Any]] = {"wagers": ["bonus"], "paytables": {"bonus": "575-bonus-A"}}


def both(asia: str, pai_gow: str) -> pytest.MarkDecorator:
    """Run a test for each game; the clauses that it proves there are separated by spaces."""
    cases = [
        pytest.param(game, marks=clauses(*ids.split()), id=ids.split()[0])
        for game, ids in ((ASIA, asia), (PAI_GOW, pai_gow))
    ]
    return pytest.mark.parametrize("game", cases)


def each_method(asia: tuple[str, str, str], pai_gow: tuple[str, str, str]) -> pytest.MarkDecorator:
    """Run a test for each game and dealing method (manual shoe, hand, automated shoe)."""
    cases = [
        pytest.param(game, method, marks=clauses(*ids.split()), id=ids.split()[0])
        for game, chapter in ((ASIA, asia), (PAI_GOW, pai_gow))
        for method, ids in zip(METHODS, chapter, strict=True)
    ]
    return pytest.mark.parametrize(("game", "method"), cases)


def each_progressive(*by_method: str) -> pytest.MarkDecorator:
    """Run a test of the progressive for each dealing method of Face Up Pai Gow."""
    cases = [
        pytest.param(method, marks=clauses(*ids.split()), id=ids.split()[0])
        for method, ids in zip(METHODS, by_method, strict=True)
    ]
    return pytest.mark.parametrize("method", cases)


def make_table(game: str, dealing: str = "automated_shoe", start: str = "shaker", *, machine: bool = True,
          two_decks: bool = False, counting_shoe: bool = True, **choices: Any) -> IdealTable:  # fmt: skip
    """A table with what these choices need and no more, its devices have not reported yet."""
    slots: dict[str, DeviceFact] = {"shuffler.1": "shuffler"} if machine else {}
    if dealing == "automated_shoe" or (dealing == "manual_shoe" and counting_shoe):
        slots["shoe.1"] = "shoe"
    if start == "shaker":
        slots["shaker.1"] = "shaker"
    elif start == "rng":
        slots["rng.1"] = "rng"
    plain: dict[str, Any] = {
        "dealing": dealing, "start": start, "shuffler": "deck" if machine else "none", "shuffler_counts": machine,
        "two_decks": two_decks, "wagers": [], "paytables": {},
    }  # fmt: skip
    raw = plain | choices
    if "progressive" in raw["wagers"]:
        slots |= SENSORS
    return IdealTable(game, slots, **raw)


# --- twists -----------------------------------------------------------------------------------------------------------


def leave_unanswered(*kinds: str) -> Callable[[Decision], list[ev.Event] | None]:
    """Nobody answers questions of these kinds; everything else is as usual."""
    return lambda decision: [] if isinstance(decision, Prompt) and decision.kind in kinds else None


def end_with(act: str, *reports: ev.Event, asked: tuple[str, ...] = ()) -> Callable[[Decision], list[ev.Event] | None]:
    """A device ends this act with another report (or none); nobody answers questions of these kinds."""

    def twist(decision: Decision) -> list[ev.Event] | None:
        if isinstance(decision, Command) and decision.act == act:
            return [*reports, ev.CommandEnded(decision.id, "done")]
        return leave_unanswered(*asked)(decision)

    return twist
