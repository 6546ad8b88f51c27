"""A stack that the shuffler inserts into the shoe: only the shoe confirms it, and every other end opens a hold.

x.5(a) of every chapter permits such a shuffler; what happens to the cards otherwise is the rule of irregularities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.config.devices import devices_needed
from table_controller.rulebook import GAMES
from table_controller.rulebook import edition as edition_of
from table_controller.rulebook.submission import check_submission
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Finding, HoldOpened, Prompt
from tests.support.core.ideal_table import CHOICES, DEALER, FLOOR, IdealTable, decisions_of
from tests.support.core.setups import INSERTION_CLAUSES, table_at
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.decisions import Decision

SHUFFLER: Final = "shuffler.1"
SHOE: Final = "shoe.1"
PAI_GOW: Final = "face_up_pai_gow"
UNDER: Final = "over_under"
EVERY_GAME: Final = [pytest.param(game, marks=clauses(*INSERTION_CLAUSES[game])) for game in GAMES]


def acts(decisions: list[Decision]) -> list[str]:
    """Return the acts that were ordered."""
    return [each.act for each in decisions_of(Command, decisions)]


def pushing(game: str = PAI_GOW) -> tuple[IdealTable, Command]:
    """A table whose shuffler has the order to insert its stack, and that order."""
    floor = table_at(game, "insert", "complete")
    ordered: list[Command] = []

    def hold_back(one: Decision) -> list[ev.Event] | None:
        if isinstance(one, Command) and one.act == "insert":
            ordered.append(one)
            return []
        return None

    floor.override = hold_back
    floor.play(*(event for prompt in floor.prompts() for event in floor.answer(prompt)))
    assert len(ordered) == 1
    return floor, ordered[0]


def in_no_round(floor: IdealTable) -> None:
    """Nothing is dealt: no round can be opened, and the cards are not in place."""
    keys = floor.keys("open_bets", None, "blue")
    assert keys & {"any_irregularity"}
    assert not floor.deck().verified


# --- the way of a stack -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [game for game in GAMES if game != UNDER])
def test_a_shuffled_stack_goes_into_the_shoe_and_nobody_touches_it(game: str) -> None:
    floor = IdealTable(game, inserts_into_shoe=True, two_decks=False).start("blue")
    floor.round()
    floor.round()
    done = [act for _, them in floor.log for act in acts(them)]
    asked = {one.kind for _, them in floor.log for one in decisions_of(Prompt, them)}
    assert "insert" in done
    assert "eject" not in done
    assert "put_in_shoe" not in asked
    assert "cut" not in asked, "a machine shuffled it: the chapter orders no cut"
    assert floor.deck().place == SHOE


@clauses("686a.5(a)/2")
def test_an_approved_batch_shuffler_fills_the_shoe_without_a_cut() -> None:
    floor = table_at(UNDER, "insert", "idle")
    done = [act for _, them in floor.log for act in acts(them)]
    asked = {one.kind for _, them in floor.log for one in decisions_of(Prompt, them)}
    floor.round()
    assert "eject" not in done
    assert not asked & {"put_in_shoe", "cut", "cover_back"}
    assert floor.deck().place == SHOE


@pytest.mark.parametrize("game", EVERY_GAME)
def test_only_the_shoe_puts_the_deck_in_place(game: str) -> None:
    floor, order = pushing_stored(game)
    assert floor.deck().place == f"{SHUFFLER}/gate"
    floor.step(ev.StackInserted(SHUFFLER, floor.edition.cards.count))
    assert floor.deck().place == f"{SHOE}/intake", "it has left one machine, and the other has not confirmed it"
    assert floor.state.book.balance("blue", f"{SHOE}/intake") == floor.edition.cards.count
    assert "not_in_place" in floor.keys("open_bets", None, "blue")
    decided = floor.step(ev.CommandEnded(order.id, "done"))
    assert "load" in acts(decided) or "load" in [one.act for one in floor.state.commands.values()]
    floor.step(ev.ShoeLoaded(SHOE, floor.edition.cards.count))
    assert floor.deck().place == SHOE
    assert floor.state.book.balance("blue", SHOE) == floor.edition.cards.count


def pushing_stored(game: str) -> tuple[IdealTable, Command]:
    """A table whose shuffler has the order to insert its stack, also where the stack is a batch."""
    if game != UNDER:
        return pushing(game)
    ordered: list[Command] = []

    def hold_back(one: Decision) -> list[ev.Event] | None:
        if isinstance(one, Command) and one.act == "insert":
            ordered.append(one)
            return []
        return None

    floor = IdealTable(game, {SHUFFLER: "shuffler", SHOE: "shoe"}, **CHOICES[game] | BATCH)
    floor.override = hold_back
    floor.start("blue", "red")
    return floor, ordered[0]


BATCH: Final[dict[str, Any]] = {
    "dealing": "dealing_shoe", "shuffler": "batch", "shuffler_counts": True, "two_decks": True, "reshuffles": True,
    "inserts_into_shoe": True,
}  # fmt: skip


def test_while_a_stack_is_on_its_way_the_shoe_takes_no_other() -> None:
    floor, _ = pushing()
    floor.step(ev.DeckReceived("red", DEALER))
    assert "shoe_occupied" in floor.keys("load", SHOE, "red")
    assert "shoe_occupied" not in floor.keys("load", SHOE, "blue")


def test_an_insertion_that_was_never_sent_frees_the_shoe_and_is_ordered_again() -> None:
    floor, order = pushing()
    again = floor.step(ev.CommandEnded(order.id, "revoked"))
    assert acts(again) == ["insert"]
    floor.step(ev.SlotChanged(SHOE, "doubt"))
    waiting = next(id_ for id_, one in floor.state.commands.items() if one.act == "insert")
    assert acts(floor.step(ev.CommandEnded(waiting, "revoked"))) == []
    assert floor.state.slots[SHOE].deck is None
    assert floor.deck().verified
    assert not floor.state.holds


# --- who gets the deck instead ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["betting", "starting_position", "dealing", "playing", "settling", "complete"])
def test_nothing_is_inserted_during_a_round(phase: str) -> None:
    floor = table_at(PAI_GOW, "insert_two", phase)
    stored = next(deck for deck in floor.state.decks.values() if deck.place == f"{SHUFFLER}/gate")
    assert "round_open" in floor.keys("insert", SHUFFLER, stored.name)


def test_the_deck_of_a_round_that_was_shuffled_again_before_the_deal_is_ejected() -> None:
    floor = table_at(PAI_GOW, "insert", "betting")
    deck = floor.deck()
    deck.place, floor.state.slots[SHOE].deck, floor.state.slots[SHUFFLER].deck = f"{SHUFFLER}/gate", None, "blue"
    assert acts(floor.step(ev.SlotChanged("shaker.1", "verify"))) == ["eject"]


def test_a_deck_whose_count_is_overdue_goes_to_the_dealer() -> None:
    floor = table_at("saigon_5_card", "insert_blind", "complete")
    floor.state.uncounted = 5
    floor.play(*(event for prompt in floor.prompts() for event in floor.answer(prompt)))
    done = [act for _, them in floor.log for act in acts(them)]
    assert "eject" in done
    assert "insert" not in done


def test_without_the_shoe_the_deck_goes_to_the_dealer() -> None:
    floor, order = pushing()
    floor.step(ev.CommandEnded(order.id, "revoked"))
    floor.override = lambda _: None
    waiting = next(id_ for id_, one in floor.state.commands.items() if one.act == "insert")
    floor.step(ev.SlotOrdered(SHOE, "give_up", FLOOR))
    floor.step(ev.CommandEnded(waiting, "revoked"))
    floor.clear_holds()
    floor.order("dealing_method", method="manual_shoe")
    floor.play()
    assert floor.state.dealing == "manual_shoe"
    assert floor.deck().place != f"{SHUFFLER}/gate"


# --- every other end --------------------------------------------------------------------------------------------------


Ends = dict[str, "Callable[[IdealTable, Command], list[Decision]]"]


def _reported(floor: IdealTable, order: Command) -> None:
    floor.step(ev.StackInserted(SHUFFLER, floor.edition.cards.count))
    floor.step(ev.CommandEnded(order.id, "done"))


def _load(floor: IdealTable) -> int:
    return next(id_ for id_, one in floor.state.commands.items() if one.act == "load")


def _after(event: Callable[[IdealTable], ev.Event]) -> Callable[[IdealTable, Command], list[Decision]]:
    """The stack has left the shuffler, and the shoe has the order to load it; then this happens."""

    def end(floor: IdealTable, order: Command) -> list[Decision]:
        hold_back = floor.override
        floor.override = lambda one: [] if isinstance(one, Command) and one.act == "load" else hold_back(one)
        _reported(floor, order)
        return floor.step(event(floor))

    return end


DURING: Final[Ends] = {
    "jam in the chute": lambda floor, _: floor.step(ev.ShuffleFailed(SHUFFLER, 446, None)),
    "refused": lambda floor, order: floor.step(ev.CommandEnded(order.id, "failed", 438)),
    "unknown": lambda floor, order: floor.step(ev.CommandEnded(order.id, "unknown")),
    "done without a report": lambda floor, order: floor.step(ev.CommandEnded(order.id, "done")),
    "link to the shuffler lost": lambda floor, _: floor.step(ev.SlotChanged(SHUFFLER, "vanish")),
    "link to the shoe lost": lambda floor, _: floor.step(ev.SlotChanged(SHOE, "vanish")),
    "shuffler faults": lambda floor, _: floor.step(ev.SlotChanged(SHUFFLER, "fault")),
    "shoe faults": lambda floor, _: floor.step(ev.SlotChanged(SHOE, "fault")),
    "box restarts": lambda floor, _: floor.step(ev.BoxStarted(2)),
    "one card too few left": lambda floor, _: floor.step(ev.StackInserted(SHUFFLER, floor.edition.cards.count - 1)),
}
AFTER: Final[Ends] = {
    "link to the shoe lost": _after(lambda _: ev.SlotChanged(SHOE, "vanish")),
    "shoe faults": _after(lambda _: ev.SlotChanged(SHOE, "fault")),
    "shoe detects no cards": _after(lambda floor: ev.CommandEnded(_load(floor), "failed", 421)),
    "shoe jams": _after(lambda _: ev.ShoeFault(SHOE, 430)),
    "shoe counts one less": _after(lambda floor: ev.ShoeLoaded(SHOE, floor.edition.cards.count - 1)),
    "box restarts": _after(lambda _: ev.BoxStarted(2)),
    "loaded without a report": _after(lambda floor: ev.CommandEnded(_load(floor), "done")),
}


@pytest.mark.parametrize("game", [game for game in GAMES if game != UNDER])
@pytest.mark.parametrize("end", [*DURING, *(f"then {name}" for name in AFTER)])
def test_every_other_end_holds_the_deck_until_people_have_counted_it(game: str, end: str) -> None:
    floor, order = pushing(game)
    ending = DURING[end] if end in DURING else AFTER[end.removeprefix("then ")]
    opened = decisions_of(HoldOpened, ending(floor, order))
    assert opened, f"{end}: no hold"
    assert {each.deck for each in opened} == {"blue"}
    in_no_round(floor)
    floor.override = lambda _: None
    for id_ in list(floor.state.commands):  # the machines end what they were ordered
        floor.step(ev.CommandEnded(id_, "failed"))
    asked = decisions_of(Prompt, floor.clear_holds())
    assert not floor.state.holds
    counted = [each for _, them in floor.log for each in decisions_of(Prompt, them) if each.number and each.hold]
    assert counted or floor.deck().state == mc.REMOVED, f"{end}: the deck was not counted, and stays; asked {asked}"
    assert floor.deck().place != SHOE


@pytest.mark.parametrize("order", ["reshuffle", "remove_deck"])
def test_an_order_about_a_deck_on_its_way_takes_it_out_of_the_shoe_too(order: str) -> None:
    floor, _ = pushing()
    floor.order(order, deck="blue")
    (hold,) = floor.state.holds.values()
    assert hold.steps[0] == "shoe_emptied"
    in_no_round(floor)


@pytest.mark.parametrize("end", ["jam in the chute", "link to the shoe lost", "box restarts", "shuffler faults"])
def test_the_shoe_is_emptied_whichever_machine_failed(end: str) -> None:
    floor, order = pushing()
    DURING[end](floor, order)
    (hold, *_) = floor.state.holds.values()
    assert hold.steps[0] == "shoe_emptied"
    if end == "jam in the chute":
        floor.step(ev.CommandEnded(order.id, "failed", 446))
        (prompt,) = floor.prompts("shoe_emptied")
        assert (prompt.role, prompt.slot) == ("dealer", SHOE)


def test_a_stack_inserted_without_an_order_is_held() -> None:
    floor, order = pushing()
    floor.step(ev.CommandEnded(order.id, "revoked"))
    again = next(id_ for id_, one in floor.state.commands.items() if one.act == "insert")
    floor.state.commands.pop(again)
    opened = decisions_of(HoldOpened, floor.step(ev.StackInserted(SHUFFLER, 53)))
    assert [(each.trigger, each.deck) for each in opened] == [("unknown_cards", "blue")]
    in_no_round(floor)


def test_cards_of_no_recorded_deck_are_reported() -> None:
    floor = table_at(PAI_GOW, "insert", "idle")
    decided = floor.step(ev.StackInserted(SHUFFLER, 53))
    assert [each.kind for each in decisions_of(Finding, decided)] == ["unknown_cards"]
    assert [each.trigger for each in decisions_of(HoldOpened, decided)] == ["unknown_cards"]


def test_a_stack_pushed_onto_another_deck_makes_both_suspect() -> None:
    floor = table_at(PAI_GOW, "insert_two", "idle")
    other = next(deck for deck in floor.state.decks.values() if deck.place == f"{SHUFFLER}/gate")
    mine = next(deck for deck in floor.state.decks.values() if deck.place == SHOE)
    opened = decisions_of(HoldOpened, floor.step(ev.StackInserted(SHUFFLER, 53)))
    assert {each.deck for each in opened} == {mine.name, other.name}
    assert not mine.verified
    assert not other.verified


def test_a_second_report_of_one_insertion_is_held() -> None:
    floor, _ = pushing()
    floor.step(ev.StackInserted(SHUFFLER, 53))
    opened = decisions_of(HoldOpened, floor.step(ev.StackInserted(SHUFFLER, 53)))
    assert [each.trigger for each in opened] == ["unknown_cards"]
    in_no_round(floor)


# --- the Rules Submission ---------------------------------------------------------------------------------------------


def objections(game: str, **choices: Any) -> tuple[str, ...]:
    """Return why a Rules Submission with such a shuffler is refused."""
    try:
        check_submission(edition_of(game), {"adjacent_boxes": 1, "inserts_into_shoe": True, **choices})
    except BadSubmission as refused:
        return refused.objections
    return ()


@pytest.mark.parametrize("game", EVERY_GAME)
def test_a_shoe_and_a_shuffler_with_a_stack_are_needed(game: str) -> None:
    batch = game == UNDER
    lawful = BATCH if batch else {"dealing": "automated_shoe", "shuffler": "deck", "shuffler_counts": True}
    assert objections(game, **lawful) == ()
    clause = ", ".join(INSERTION_CLAUSES[game])
    none = objections(game, dealing=lawful["dealing"])
    assert any("needs an automated shuffler" in each and clause in each for each in none)
    barred = (
        {"dealing": "continuous_shuffler", "shuffler": "continuous", "shuffler_counts": True, "reshuffles": True}
        if batch
        else {**lawful, "dealing": "hand"}
    )
    assert any("no dealing shoe" in each and clause in each for each in objections(game, **barred))


@pytest.mark.parametrize("game", ["saigon_5_card", UNDER])
def test_the_shoe_must_be_a_device_because_only_it_can_confirm_the_stack(game: str) -> None:
    rules = edition_of(game)
    lawful = BATCH if game == UNDER else {"dealing": "manual_shoe", "shuffler": "deck", "inserts_into_shoe": True}
    chosen = check_submission(rules, {"adjacent_boxes": 1, **lawful})
    assert "inserts_into_shoe" in devices_needed(rules, chosen)["shoe"]
    plain = check_submission(rules, {"adjacent_boxes": 1, **lawful, "inserts_into_shoe": False})
    assert "shoe" not in devices_needed(rules, plain)


@clauses("686a.5(a)/2")
def test_a_batch_that_must_be_cut_is_not_inserted() -> None:
    (objection,) = objections(UNDER, **BATCH | {"reshuffles": False})
    assert "686a.5(d)" in objection
    assert "686a.5(h)" in objection
    assert "O5" in objection
