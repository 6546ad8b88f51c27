"""Cards that come out twice for one order are never accepted silently: a finding and an irregularity."""

from __future__ import annotations

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, HoldOpened
from tests.support.core.ideal_table import IdealTable, decisions_of, findings


def ordered(floor: IdealTable, *acts: str) -> Command:
    """Return the newest open order of a kind."""
    results = [
        command
        for _, decided in floor.log
        for command in decisions_of(Command, decided)
        if command.act in acts and command.id in floor.state.commands
    ]
    return results[-1]


def verified(floor: IdealTable) -> bool:
    """Return whether the deck counts as whole."""
    return floor.state.decks["blue"].verified


def until(floor: IdealTable, *acts: str) -> Command:
    """Play a round until such an order is given; leave it open."""
    floor.override = lambda asked: [] if getattr(asked, "act", "") in acts else None
    floor.round()
    return ordered(floor, *acts)


@pytest.mark.parametrize("game", ["asia_poker", "face_up_pai_gow", "dj_wild"])
def test_a_second_stack_for_one_order_goes_to_nobody_and_stops_the_round(game: str) -> None:
    floor = IdealTable(game).start()
    order = until(floor, "dispense")
    assert not decisions_of(HoldOpened, floor.step(ev.StackOut(order.slot, order.number)))
    dealt, waiting = floor.round_.dealt, list(floor.round_.to_deal)
    decided = floor.step(ev.StackOut(order.slot, order.number))
    assert [(irregularity.trigger, irregularity.slot) for irregularity in decisions_of(HoldOpened, decided)] == [
        ("unordered_stack", order.slot)
    ]
    assert findings(decided, "told_twice")
    assert (floor.round_.dealt, floor.round_.to_deal) == (dealt, waiting), "nobody is taken to have got it"
    assert not decisions_of(HoldOpened, floor.step(ev.CommandEnded(order.id, "done"))), "the order itself ended well"
    assert floor.table.permit("dispense", order.slot), "and nothing more is dealt before a floorperson has decided"


@pytest.mark.parametrize("game", ["asia_poker", "face_up_pai_gow", "dj_wild"])
def test_a_second_stub_for_one_order_is_not_a_count_of_the_first(game: str) -> None:
    floor = IdealTable(game).start()
    order = until(floor, "give_stub")
    left = floor.edition.cards.count - floor.round_.dealt
    assert not decisions_of(HoldOpened, floor.step(ev.StubOut(order.slot, left)))
    decided = floor.step(ev.StubOut(order.slot, left))
    assert [irregularity.trigger for irregularity in decisions_of(HoldOpened, decided)] == ["unordered_stack"]
    assert findings(decided, "told_twice")
    assert floor.round_.stub == left


def test_a_second_deck_out_of_the_shuffler_for_one_order_makes_the_deck_unverified() -> None:
    floor = IdealTable("asia_poker")
    floor.override = lambda asked: [] if getattr(asked, "act", "") == "eject" else None
    floor.start("blue")
    order = ordered(floor, "eject")
    assert not decisions_of(HoldOpened, floor.step(ev.DeckGivenOut(order.slot)))
    assert verified(floor)
    decided = floor.step(ev.DeckGivenOut(order.slot))
    assert [
        (irregularity.trigger, irregularity.slot, irregularity.deck)
        for irregularity in decisions_of(HoldOpened, decided)
    ] == [("unknown_cards", order.slot, "blue")]
    assert findings(decided, "told_twice")
    assert not verified(floor), "it is counted before it is dealt"
    floor.step(ev.CommandEnded(order.id, "done"))
    assert floor.reasons_against_opening()


def test_a_shuffler_in_service_that_gives_out_what_nobody_knew_of_stops_for_a_floorperson() -> None:
    floor = IdealTable("asia_poker").start("blue")
    assert floor.phase == mc.IDLE
    assert floor.state.slots["shuffler.1"].deck is None
    decided = floor.step(ev.DeckGivenOut("shuffler.1"))
    assert [(irregularity.trigger, irregularity.slot) for irregularity in decisions_of(HoldOpened, decided)] == [
        ("unknown_cards", "shuffler.1")
    ]
    assert findings(decided, "unknown_cards")
    assert floor.reasons_against_opening()


def test_what_a_technician_takes_out_of_a_shuffler_that_does_not_serve_is_only_written_down() -> None:
    floor = IdealTable("asia_poker").start("blue")
    floor.step(ev.SlotChanged("shuffler.1", "doubt"))
    decided = floor.step(ev.DeckGivenOut("shuffler.1"))
    assert not decisions_of(HoldOpened, decided)
    assert findings(decided, "unknown_cards")
