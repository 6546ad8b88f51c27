"""Irregularities that come at once, one upon another, or twice: each by its own ruling, in the order of the edition."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from devices.service import SIGNED, UNSIGNED
from table_controller.rulebook import GAMES
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Finding, HoldOpened, RequestRefused, WagersReturned
from tests.support.core.ideal_table import DEALER, FLOOR, decisions_of
from tests.support.core.setups import table_at
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.core.ideal_table import IdealTable

SHUFFLER: Final = "shuffler.1"
SHOE: Final = "shoe.1"


def _two(game: str, phase: str) -> IdealTable:
    """Return a table with two decks, one of them in the shuffler."""
    return table_at(game, "shoe" if game == "over_under" else "two", phase)


def _triggers(decided: list[object]) -> list[str]:
    return [one.trigger for one in decided if isinstance(one, HoldOpened)]


# --- at once ----------------------------------------------------------------------------------------------------------


def sorted_and_short(game: str) -> None:
    """A cycle that sorted instead of shuffling, and counted a card too few: the machine first, then the deck."""
    floor = _two(game, mc.IDLE)
    floor.order("reshuffle", deck="red")
    floor.clear_holds()
    floor.step(ev.CardsInserted(SHUFFLER))
    decisions = floor.step(ev.ShuffleEnded(SHUFFLER, floor.edition.cards.count - 1, shuffled=False))
    assert _triggers([*decisions]) == ["shuffler_fault", "count_wrong"]
    for id_ in list(floor.state.commands):
        floor.step(ev.CommandEnded(id_, "done"))
    floor.clear_holds()
    assert floor.deck("red").state in (mc.STACKED, mc.REMOVED), "and then it is shuffled again, or gone"


def dead_shuffler(game: str) -> None:
    """A shuffler with a deck inside is taken out of service: first the cards, then the sign."""
    floor = _two(game, mc.DEALING)
    decisions = floor.step(ev.SlotOrdered(SHUFFLER, "give_up", FLOOR))
    assert _triggers([*decisions]) == ["shuffler_fault", "device_unusable"]
    assert floor.phase == mc.DEALING, "the round in hand is not dealt from it"


def dead_shoe(game: str) -> None:
    """A shoe is taken out of service in the deal: first the round and its cards, then the sign."""
    floor = _two(game, mc.DEALING)
    decisions = floor.step(ev.SlotOrdered(SHOE, "give_up", FLOOR))
    assert _triggers([*decisions]) == ["shoe_fault", "device_unusable"]


AT_ONCE: Final = {"sorted_and_short": sorted_and_short, "dead_shuffler": dead_shuffler, "dead_shoe": dead_shoe}
_ABOUT: Final = {
    "sorted_and_short": ("shuffler_fault", "count_wrong"),
    "dead_shuffler": ("shuffler_fault", "device_unusable"),
    "dead_shoe": ("shoe_fault", "device_unusable"),
}


def checks(game: str) -> Iterator[tuple[str, tuple[str, ...], Callable[[], None]]]:
    """Yield what rule mutation runs: each test of simultaneous triggers."""
    for name, run in AT_ONCE.items():
        yield f"test_at_once[{name}-{game}]", _ABOUT[name], partial(run, game)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", list(AT_ONCE))
def test_at_once(name: str, game: str) -> None:
    AT_ONCE[name](game)


# --- one upon another -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_a_duplicate_report_is_one_irregularity(game: str) -> None:
    floor = _two(game, mc.DEALING)
    assert _triggers([*floor.declare("other")]) == ["other"]
    assert floor.declare("other") == []
    assert len(floor.state.holds) == 1


def test_a_round_that_is_void_is_not_voided_again() -> None:
    floor = table_at("asia_poker", "auto", mc.DEALING)
    assert len(decisions_of(WagersReturned, floor.declare("wrong_card_count"))) == 1
    decisions = floor.step(ev.ShoeFault(SHOE, 3))
    assert decisions_of(WagersReturned, decisions) == []
    assert {hold.trigger for hold in floor.state.holds.values()} == {"wrong_card_count", "shoe_fault"}


def test_what_a_player_was_asked_ends_with_the_round_and_its_acknowledgment_stays() -> None:
    floor = table_at("asia_poker", "auto", mc.DEALING)
    floor.declare("player_card_exposed", seat=3)
    assert floor.prompt("choose").choices == ("play", "void")
    floor.step(ev.ShoeFault(SHOE, 3))
    assert floor.phase == mc.VOID
    assert floor.prompts("choose") == []
    assert floor.hold("player_card_exposed").steps == ["acknowledge"]


def test_a_jam_of_the_shuffler_with_the_other_deck_never_touches_the_round_in_play() -> None:
    floor = table_at("asia_poker", "two", mc.DEALING)
    floor.step(ev.ShuffleFailed(SHUFFLER, 3, None))
    assert floor.hold().this_round is False
    floor.settle()
    assert floor.phase == mc.IDLE
    assert [text for _, text in floor.log if decisions_of(WagersReturned, text)] == []


def test_after_every_step_but_the_last_no_round_opens() -> None:
    floor = table_at("asia_poker", "auto", mc.PLAYING)
    floor.declare("wrong_card_count")
    asked = 0
    while floor.state.holds:
        (refusal,) = decisions_of(RequestRefused, floor.step(ev.OpenRound(DEALER)))
        assert "any_irregularity" in {reason.key for reason in refusal.reasons}
        asked += 1
        for event in floor.answer(next(prompt for prompt in floor.prompts() if prompt.hold is not None)):
            floor.step(event)
    assert asked == 3, "wagers, cards, acknowledgment"
    assert "any_irregularity" not in floor.reasons_against_opening()


# --- events of one method or one device only --------------------------------------------------------------------------


def test_dice_do_not_count_where_a_number_is_drawn_nor_a_number_where_dice_are_rolled() -> None:
    floor = table_at("asia_poker", "rng", mc.STARTING_POSITION)
    assert [one.kind for one in decisions_of(Finding, floor.step(ev.DiceRead("rng.1", (2, 3, 5))))] == [
        "dice_out_of_turn"
    ]
    assert floor.round_.total is None
    floor = table_at("asia_poker", "auto", mc.STARTING_POSITION)
    assert [one.kind for one in decisions_of(Finding, floor.step(ev.NumberDrawn("shaker.1", 4)))] == [
        "number_out_of_turn"
    ]
    assert floor.round_.start is None


@clauses("688a.13(m)")
def test_a_device_that_a_dealer_reports_unusable_serves_nobody_until_it_is_signed_and_repaired() -> None:
    floor = table_at("face_up_pai_gow", "auto", mc.IDLE)
    floor.declare("device_unusable", slot=SHUFFLER)
    assert floor.state.slots[SHUFFLER].state == UNSIGNED
    assert "dead_device_unsigned" in floor.reasons_against_opening()
    assert decisions_of(RequestRefused, floor.declare("device_unusable", slot=SHUFFLER)), "it is out of order already"
    floor.clear_holds()
    assert floor.state.slots[SHUFFLER].state == SIGNED
    assert "dead_device_unsigned" not in floor.reasons_against_opening()


def test_a_deck_put_in_place_while_it_was_alone_is_dealt_and_then_the_other_one() -> None:
    floor = table_at("asia_poker", "two", mc.DEALING)
    floor.step(ev.IrregularityReported("count_wrong", DEALER, deck="red"))
    floor.answer_prompt("choose", "remove")
    floor.clear_holds()
    floor.settle()
    assert (floor.phase, floor.deck("blue").place) == (mc.IDLE, SHOE), "the only deck is in the shoe again"
    floor.play(ev.DeckReceived("green", DEALER))
    floor.round()
    assert floor.state.last_deck == "blue"
    floor.play(ev.OpenRound(DEALER))
    assert floor.round_.deck == "green"
