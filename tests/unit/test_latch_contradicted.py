"""A sensor that contradicts itself is not trusted: the core leaves its seat undecided (PB-480)."""

from __future__ import annotations

from typing import Any

import pytest

from devices.bet_sensor import messages as m
from devices.driver_events import Reported
from firmware_bridge.commands import Report
from firmware_bridge.messages import DeviceHello
from table_controller.controller.device_events import translate
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetAccepted, Command, Decision
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import DEALER, decisions_of, findings

SEAT = 3
SLOT = f"bet_sensor.{SEAT}"
HELLO = DeviceHello(m.KIND, "a sensor", "PB-B1", "1", bytes(32), [m.LATCHES], 1, bytes(16))


class Locking:
    """A table with open bets; `receive` feeds it events of seat 3's driver through the box's own translation."""

    def __init__(self) -> None:
        self.floor = BettingTable("688a-progressive-1", bets=())
        self.floor.play(ev.OpenRound(DEALER))
        self.decided: list[Decision] = []
        self.locks: dict[str, int] = {}

    def receive(self, *events: Any) -> Locking:
        for event in events:
            for translated in translate(SLOT, m.KIND, None, event):
                self.decided += self.floor.step(translated)
        return self

    def call(self) -> Locking:
        """Call no more bets; every other seat confirms at once that it has no bet."""
        locks = [c for c in decisions_of(Command, self.floor.step(ev.NoMoreBets(DEALER))) if c.act == "lock"]
        self.locks = {c.slot: c.id for c in locks}
        for slot, lock in self.locks.items():
            if slot != SLOT:
                self.floor.step(ev.SeatLatched(int(slot[-1]), self.floor.round_.number, lock, 0, bet=False))
        return self

    def latch(self, last: int, lies: m.SpotContent) -> Locking:
        return self.receive(m.Locked(m.Latch(1, self.locks[SLOT], last, lies)))

    @property
    def decision(self) -> str:
        """Return the core's decision for the seat."""
        bets = self.floor.state.progressive.seats[SEAT]
        if self.floor.prompts("seat_undecided"):
            assert self.floor.prompt("seat_undecided").seat == SEAT
            assert not bets.latched
            assert self.floor.keys("dispense", "shoe.1", self.floor.round_.deck, cards=5) >= {"bets_not_verified"}
            return "undecided"
        return {True: "bet", False: "no bet", None: "open"}[bets.bet]


def changed(sequence: int, change: m.Change, lies: m.SpotContent) -> m.Changed:
    return m.Changed(sequence, 1, change, lies, 700)


def placed(sequence: int) -> m.Changed:
    return changed(sequence, m.Change.PLACED, m.SpotContent.CHIP)


def withdrawn(sequence: int) -> m.Changed:
    return changed(sequence, m.Change.WITHDRAWN, m.SpotContent.EMPTY)


def report(sequence: int, lies: m.SpotContent) -> Reported:
    status = m.Status(m.State.AWAITING, 1, lies, sequence, m.Light.OFF, None, m.Reason.NONE)
    return Reported(HELLO, Report(1, 0, 0, []), status)


@pytest.mark.parametrize(
    ("before", "last", "lies"),
    [
        pytest.param([placed(5)], 3, m.SpotContent.EMPTY, id="bet 5 was reported, and the last change is 3: no bet"),
        pytest.param([placed(5)], 3, m.SpotContent.CHIP, id="bet 5 was reported, and bet 3 is confirmed"),
        pytest.param([placed(5)], 5, m.SpotContent.EMPTY, id="change 5 was a bet, and is none now"),
        pytest.param([placed(4), withdrawn(5)], 5, m.SpotContent.CHIP, id="bet 4 was withdrawn, and lies there now"),
        pytest.param([placed(4), withdrawn(5)], 4, m.SpotContent.CHIP, id="the withdrawal never was"),
        pytest.param([placed(5), placed(3)], 3, m.SpotContent.CHIP, id="the count fell"),
        pytest.param(
            [changed(5, m.Change.UNCLEAR, m.SpotContent.SEVERAL)], 5, m.SpotContent.CHIP, id="two chips are one"
        ),
        pytest.param(
            [changed(5, m.Change.UNCLEAR, m.SpotContent.EDGE)], 4, m.SpotContent.EMPTY, id="the edge never was"
        ),
        pytest.param(
            [changed(5, m.Change.LATE, m.SpotContent.CHIP)], 4, m.SpotContent.EMPTY, id="a late chip never was"
        ),
        pytest.param(
            [changed(5, m.Change.TAKEN, m.SpotContent.EMPTY)], 4, m.SpotContent.CHIP, id="what was taken lies there"
        ),
        pytest.param([report(5, m.SpotContent.CHIP)], 3, m.SpotContent.EMPTY, id="its report knew bet 5"),
        pytest.param([report(5, m.SpotContent.CHIP)], 5, m.SpotContent.EMPTY, id="its report knew another spot"),
    ],
)
def test_a_confirmation_against_what_was_reported_leaves_the_seat_undecided(
    before: list[Any], last: int, lies: m.SpotContent
) -> None:
    table = Locking().receive(*before).call().latch(last, lies)
    assert table.decision == "undecided"
    (finding,) = findings(table.decided, "seat_undecided")
    assert finding.text.startswith("PB-480: seat 3, round 1: the sensor confirmed ")
    assert "the floorperson decides" in finding.text
    assert not decisions_of(BetAccepted, table.decided)


@pytest.mark.parametrize(
    ("before", "last", "lies", "decision"),
    [
        ([placed(4)], 4, m.SpotContent.CHIP, "bet"),
        ([placed(4)], 5, m.SpotContent.EMPTY, "no bet"),
        ([placed(4)], 6, m.SpotContent.CHIP, "bet"),
        ([placed(4), withdrawn(5)], 5, m.SpotContent.EMPTY, "no bet"),
        ([withdrawn(5), placed(4)], 5, m.SpotContent.EMPTY, "no bet"),
        ([report(4, m.SpotContent.EMPTY)], 4, m.SpotContent.EMPTY, "no bet"),
        ([], 0, m.SpotContent.EMPTY, "no bet"),
        ([], 9, m.SpotContent.CHIP, "bet"),
    ],
)
def test_a_confirmation_that_fits_decides_and_nobody_is_asked(
    before: list[Any], last: int, lies: m.SpotContent, decision: str
) -> None:
    table = Locking().receive(*before).call().latch(last, lies)
    assert table.decision == decision
    assert not findings(table.decided, "seat_undecided")


@pytest.mark.parametrize(
    ("last", "lies", "decision"), [(3, m.SpotContent.EMPTY, "no bet"), (4, m.SpotContent.CHIP, "bet")]
)
def test_a_change_received_after_the_lock_was_sent_may_be_before_or_after_the_latch(
    last: int, lies: m.SpotContent, decision: str
) -> None:
    assert Locking().call().receive(placed(4)).latch(last, lies).decision == decision


def test_the_same_change_reported_and_confirmed_differently_is_a_contradiction_also_after_the_lock() -> None:
    assert Locking().call().receive(placed(4)).latch(4, m.SpotContent.EMPTY).decision == "undecided"


@pytest.mark.parametrize(
    "lies", [m.SpotContent.EDGE, m.SpotContent.SEVERAL, m.SpotContent.FOREIGN, m.SpotContent.UNREAD]
)
def test_an_unclear_confirmation_leaves_the_seat_undecided_at_once(lies: m.SpotContent) -> None:
    table = Locking().call().latch(3, lies)
    assert table.decision == "undecided"
    (finding,) = findings(table.decided, "seat_undecided")
    assert "neither clearly one chip nor none" in finding.text


@pytest.mark.parametrize(("last", "lies"), [(4, m.SpotContent.EMPTY), (5, m.SpotContent.CHIP), (4, m.SpotContent.EDGE)])
def test_a_second_confirmation_that_differs_makes_the_seat_undecided_while_others_are_waited_for(
    last: int, lies: m.SpotContent
) -> None:
    table = Locking()
    locks = {c.slot: c.id for c in decisions_of(Command, table.floor.step(ev.NoMoreBets(DEALER))) if c.act == "lock"}
    table.locks = locks
    table.latch(4, m.SpotContent.CHIP).latch(4, m.SpotContent.CHIP)
    assert table.decision == "bet", "the same word again changes nothing"
    assert table.latch(last, lies).decision == "undecided"
    (finding,) = findings(table.decided, "seat_undecided")
    assert "twice, differently" in finding.text


def test_a_second_confirmation_that_differs_after_the_bets_are_booked_is_found_and_changes_nothing() -> None:
    table = Locking().call().latch(4, m.SpotContent.CHIP)
    assert [bet.seat for bet in decisions_of(BetAccepted, table.decided)] == [SEAT]
    held = table.floor.held()
    table.latch(5, m.SpotContent.EMPTY)
    assert len(findings(table.decided, "latch_contradicted")) == 1
    assert (table.floor.held(), table.floor.state.progressive.accepted) == (held, [SEAT])
    table.receive(withdrawn(4))
    assert len(findings(table.decided, "latch_contradicted")) == 2


@pytest.mark.parametrize(("number", "lock"), [(2, 0), (1, 5)])
def test_a_latch_of_another_round_or_lock_decides_nothing(number: int, lock: int) -> None:
    table = Locking().receive(placed(4)).call()
    table.receive(m.Locked(m.Latch(number, table.locks[SLOT] + lock, 4, m.SpotContent.CHIP)))
    assert table.decision == "open"
    assert len(findings(table.decided, "late_latch")) == 1
    assert table.floor.state.progressive.state == mc.LOCKING
    finding = findings(table.floor.step(ev.Due("lock")), "seat_undecided")
    assert [each.text.partition("; ")[0] for each in finding] == [
        "PB-480: seat 3, round 1: the sensor did not confirm its lock in time"
    ]
    assert table.decision == "undecided"


def test_a_refusal_is_found_once_with_its_code_and_a_confirmation_after_it_is_evidence_only() -> None:
    table = Locking().call()
    for _ in range(2):
        table.receive(m.LockRefused(table.locks[SLOT], m.Reason.NOT_OPEN, 1, None))
    (finding,) = findings(table.decided, "seat_undecided")
    assert "refused the lock (PB-483)" in finding.text
    table.latch(4, m.SpotContent.CHIP)
    assert table.decision == "undecided"
    assert len(findings(table.decided, "late_latch")) == 1


@pytest.mark.parametrize(
    "event", [m.Health(m.SpotContent.CHIP, 700, 450, 6, 96, True), m.LockRefused(5, m.Reason.NOT_OPEN, 7, None)]
)
def test_what_is_no_answer_to_the_lock_decides_nothing(event: Any) -> None:
    table = Locking().call().receive(event)
    assert table.decision == "open"
    assert table.floor.state.progressive.state == mc.LOCKING


def test_without_a_lock_nothing_is_decided() -> None:
    table = Locking().receive(
        placed(4), m.Locked(m.Latch(1, 900, 4, m.SpotContent.CHIP)), m.LockRefused(900, m.Reason.NOT_OPEN, 1, None)
    )
    assert table.decision == "open"
    assert table.floor.phase == mc.BETTING
    assert len(findings(table.decided, "late_latch")) == 1


def test_the_floorperson_decides_a_seat_in_doubt_and_the_record_has_why() -> None:
    table = Locking().receive(placed(5)).call().latch(3, m.SpotContent.EMPTY)
    decided = table.floor.answer_prompt("seat_undecided", "bet")
    assert [bet.seat for bet in decisions_of(BetAccepted, decided)] == [SEAT]
    (finding,) = findings(decided, "seat_decided")
    assert "had reported change 5" in finding.text


def test_what_was_reported_after_the_latch_is_known_in_the_next_round() -> None:
    table = Locking().receive(placed(4)).call().latch(4, m.SpotContent.CHIP)
    table.receive(changed(5, m.Change.TAKEN, m.SpotContent.EMPTY))
    table.floor.answer_prompt("seats", "nobody")
    assert table.floor.state.spots[SEAT].sequence == 5
    table.floor.play(ev.OpenRound(DEALER))
    assert table.floor.phase == mc.BETTING
    table.call()
    table.receive(m.Locked(m.Latch(2, table.locks[SLOT], 4, m.SpotContent.CHIP)))
    assert table.decision == "undecided"


def test_a_sensor_that_connects_anew_has_a_count_of_its_own() -> None:
    table = Locking().receive(placed(900))
    for trigger in ("vanish", "appear", "verify"):
        table.floor.step(ev.SlotChanged(SLOT, trigger))
    assert table.receive(report(1, m.SpotContent.EMPTY)).call().latch(2, m.SpotContent.CHIP).decision == "bet"


def test_a_latch_after_a_restart_that_contradicts_the_report_is_not_accepted() -> None:
    table = Locking().receive(placed(5))
    mine = table.floor.state.next_id
    table.floor.step(ev.BoxStarted(2))
    for trigger in ("appear", "verify"):
        table.floor.step(ev.SlotChanged(SLOT, trigger))
    locks = {issued.slot: id_ for id_, issued in table.floor.state.commands.items() if issued.act == "lock"}
    table.receive(placed(5))  # after the lock: the same number as the latch, and another spot
    held = m.Latch(1, mine, 5, m.SpotContent.EMPTY)
    table.receive(m.LockRefused(locks[SLOT], m.Reason.OTHER_LOCK, 1, held))
    assert not table.floor.state.progressive.seats[SEAT].latched
    table.floor.answer_prompt("choose", "continue")
    table.floor.clear_holds()
    assert table.decision == "undecided"
    assert len(findings(table.decided, "seat_undecided")) == 1
