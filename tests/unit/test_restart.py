"""The box's start, in the core: commands in doubt, fail-safe commands first, questions, and what is never sent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from devices.service import ABSENT, FAULTED, IN_SERVICE
from firmware_bridge.commands import Outcome, Settled
from table_controller.controller.command_reconciler import was_never_received
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.betting import seat_of
from table_controller.table.decisions import BetAccepted, Command, Prompt
from tests.support.core.ideal_table import DEALER, IdealTable, commanded_acts, decisions_of, findings

GAME = "face_up_pai_gow"


def started(floor: IdealTable, boot: int = 2) -> list[Any]:
    return floor.step(ev.BoxStarted(boot))


@pytest.mark.parametrize("boot", [1, 7, (1 << 31) - 1])
def test_numbers_of_a_start_are_beyond_all_of_the_one_before_and_fit_the_wire(boot: int) -> None:
    floor = IdealTable(GAME).start()
    before = floor.state.next_id
    started(floor, boot)
    assert floor.state.next_id >= boot << 32 > before
    assert floor.state.next_id < 1 << 63
    assert floor.state.lost == (before, boot << 32)


def test_numbers_never_go_back_even_if_a_start_does() -> None:
    floor = IdealTable(GAME).start()
    started(floor, 9)
    before = floor.state.next_id
    started(floor, 3)
    assert floor.state.next_id >= before


def test_nothing_serves_after_a_start_and_a_fault_that_was_latched_still_is() -> None:
    floor = IdealTable(GAME).start()
    floor.step(ev.SlotChanged("shuffler.1", "fault"))
    started(floor)
    states = {name: slot.state for name, slot in floor.state.slots.items()}
    assert states.pop("shuffler.1") == FAULTED
    assert set(states.values()) == {ABSENT}


def test_every_device_that_connects_is_stopped_or_locked_first_and_only_once() -> None:
    floor = IdealTable(GAME).start()
    floor.round()
    started(floor)
    for slot in floor.state.slots:
        sent = decisions_of(Command, floor.step(ev.SlotChanged(slot, "appear")))
        assert [(c.act, c.safe) for c in sent] == [("lock" if slot.startswith("bet") else "stop", True)], slot
        assert commanded_acts(floor.step(ev.SlotChanged(slot, "appear"))) == []


def test_a_command_in_doubt_keeps_its_device_out_of_service_until_it_was_asked() -> None:
    floor = IdealTable(GAME).start().play_to(mc.DEALING)
    ((id_, issued),) = [(i, c) for i, c in floor.state.commands.items() if c.act == "dispense"]
    started(floor)
    assert issued.unknown
    floor.step(ev.SlotChanged("shoe.1", "appear"))
    floor.step(ev.SlotChanged("shoe.1", "verify"))
    assert floor.state.slots["shoe.1"].state != IN_SERVICE
    floor.step(ev.CommandEnded(id_, "revoked"))
    decided = floor.step(ev.SlotChanged("shoe.1", "verify"))
    assert floor.state.slots["shoe.1"].state == IN_SERVICE
    assert commanded_acts(decided) == [], "the round stands until the floorperson has decided"


def test_a_round_cut_in_half_stands_until_the_floorperson_decides_again_after_every_start() -> None:
    floor = IdealTable(GAME).start().play_to(mc.PLAYING)
    (asked,) = [p for p in decisions_of(Prompt, started(floor)) if p.kind == "choose"]
    assert (asked.role, asked.choices[0], asked.clauses) == ("floorperson", "continue", ("rule 2",))
    floor.answer_prompt("choose", "continue")
    assert [p.kind for p in floor.prompts() if p.hold is not None] == ["acknowledge"]
    started(floor, 3)
    assert [p.kind for p in floor.prompts() if p.hold is not None] == ["choose"]
    assert floor.reasons_against_opening()


def test_open_bets_are_closed_by_a_start_and_what_lies_there_at_the_lock_counts() -> None:
    floor = IdealTable(GAME).start().play_to(mc.BETTING)
    floor.bets = {4}
    started(floor)
    assert (floor.phase, floor.state.progressive.state) == (mc.NO_MORE_BETS, mc.LOCKING)
    floor.play(*(ev.SlotChanged(slot, "appear") for slot in floor.state.slots))
    assert floor.state.progressive.accepted == [4]


def test_a_latch_whose_lock_was_lost_counts_only_if_it_can_be_ours() -> None:
    for lock, counts in ((0, False), (1, True)):
        floor = IdealTable(GAME).start().play_to(mc.BETTING)
        mine = floor.state.next_id  # the lock that would have come next, and whose record was lost
        started(floor)
        floor.step(ev.SlotChanged("bet_sensor.4", "appear"))
        floor.step(ev.EarlierLatchReported(4, 1, mine if lock else mine - 1, 3, bet=True))
        assert floor.state.progressive.seats[4].latched is counts
        other_round = ev.EarlierLatchReported(1, 2, mine, 3, bet=True)
        floor.step(other_round)
        assert not floor.state.progressive.seats[1].latched


def test_a_sensor_that_cannot_confirm_is_decided_by_the_floorperson_at_once() -> None:
    floor = IdealTable(GAME).start().play_to(mc.BETTING)
    locks = {c.slot: c.id for c in decisions_of(Command, floor.step(ev.NoMoreBets(DEALER))) if c.act == "lock"}
    floor.step(ev.SeatLockRefused(4, locks["bet_sensor.1"]))
    assert floor.prompts("seat_undecided") == [], "that was another lock"
    floor.step(ev.SeatLockRefused(4, locks["bet_sensor.4"]))
    assert floor.prompt("seat_undecided").seat == 4


def test_a_bet_accepted_before_the_start_is_not_accepted_again() -> None:
    floor = IdealTable(GAME).start().play_to(mc.BETTING)
    floor.bets = {1, 4}
    floor.play(ev.NoMoreBets(DEALER), until=lambda d: isinstance(d, BetAccepted))
    meter = floor.state.money.book.meters.current
    decided = started(floor)
    for slot in floor.state.slots:
        decided += floor.step(ev.SlotChanged(slot, "appear"))
    assert decisions_of(BetAccepted, decided) == []
    assert floor.state.money.book.meters.current == meter


def test_a_clock_that_went_back_is_a_hold_of_its_own() -> None:
    floor = IdealTable(GAME).start()
    decided = floor.step(ev.BoxStarted(2, clock_back=True))
    assert findings(decided, "clock_back")
    assert (floor.hold().trigger, floor.hold().this_round) == ("clock_back", False)
    assert "any_irregularity" in floor.reasons_against_opening()


def test_a_halt_stops_what_moves_and_locks_what_is_open_and_nothing_else() -> None:
    floor = IdealTable(GAME).start().play_to(mc.BETTING)
    sent = decisions_of(Command, floor.step(ev.BoxHalted(716)))
    assert {(c.act, c.safe) for c in sent} == {("lock", True)}
    assert len(sent) == 6
    dealing = IdealTable(GAME).start().play_to(mc.DEALING)
    sent = decisions_of(Command, dealing.step(ev.BoxHalted(716)))
    assert [(c.slot, c.act, c.safe) for c in sent] == [("shoe.1", "stop", True)]


def test_bets_that_a_stop_closed_count_as_the_sensors_confirm_them_and_the_next_start_asks_for_no_seat() -> None:
    floor = IdealTable(GAME).start().play_to(mc.BETTING)
    locks = {seat_of(c.slot): c.id for c in decisions_of(Command, floor.table.step(ev.BoxHalted(0))) if c.act == "lock"}
    number = floor.state.round.number
    decided = [
        decision
        for seat, lock in locks.items()
        for decision in floor.table.step(ev.SeatLatched(seat, number, lock, seat, bet=seat == 2))
    ]
    assert [(d.seat, d.round) for d in decisions_of(BetAccepted, decided)] == [(2, number)]
    floor.table.step(ev.BoxStarted(2))
    assert floor.state.progressive.accepted == [2]
    assert not [p for p in floor.state.prompts.values() if p.kind == "undecided"]


@pytest.mark.parametrize(
    ("remembered", "came"),
    [([], False), ([3, 4], False), (list(range(2, 18)), False), (list(range(8, 24)), True), ([7], True)],
)
def test_a_device_never_got_what_it_forgot_only_if_it_remembers_older_ones(remembered: list[int], came: bool) -> None:
    report: Any = SimpleNamespace(report=SimpleNamespace(commands=[Settled(i, Outcome.DONE, 0) for i in remembered]))
    asked = 7 if remembered != list(range(2, 18)) else 18
    assert was_never_received(asked, report) is not came
