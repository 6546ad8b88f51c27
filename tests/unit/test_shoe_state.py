"""The view of a shoe: every event folded, judged and mapped to a trigger, without a machine."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from devices.driver_events import LinkDown, LinkUp, OutcomeLost, Reported
from devices.path_telemetry import OpticalLevel
from devices.shoe import messages as m
from devices.shoe.state import ShoeView, fold, service_trigger, verdict
from firmware_bridge.commands import Outcome, Report, Settled
from firmware_bridge.errors import LinkClosed
from firmware_bridge.messages import DeviceHello
from table_controller.cli.render.card_path import FAULTY, plain_text
from table_controller.cli.render.shoe_path import draw_shoe

HELLO = DeviceHello("shoe", "SN1", "PB-D1", "1", bytes(32), ["counts", "dispenses"], 7, bytes(16))
LEVELS = [OpticalLevel(sensor is m.Sensor.WELL, 900, 500) for sensor in m.Sensor]
STATUS = m.Status(m.State.READY, False, False, True, False, 46, 0, 7, 0, 7, 1, True, m.Reason.NONE)
READY = ShoeView(connected=True, state=m.State.READY, left=46, in_path=0, drawn=7, in_well=True)
EVENTS: dict[type[Any], Any] = {
    m.Progress: m.Progress(1, m.Phase.DISPENSING, 3, 43, 4),
    m.Loaded: m.Loaded(1, 53, 0, None, 53),
    m.Dispensed: m.Dispensed(1, 7, 0, 39),
    m.ShortStack: m.ShortStack(1, 7, 4, 0),
    m.Stub: m.Stub(1, 4, 53, 0),
    m.Unbalanced: m.Unbalanced(1, 53, 52),
    m.Jam: m.Jam(1, m.Phase.DISPENSING, m.Segment.EXIT, 3, 1, 43, LEVELS, [0, 310, 1150]),
    m.Stopped: m.Stopped(1, m.Phase.DISPENSING, 3, 1, 42, m.Reason.STOPPED),
    m.Fault: m.Fault(1, m.Phase.DISPENSING, m.Reason.SHORT_CARD, m.Segment.DRAW, 3, 1, 43),
    m.Drawn: m.Drawn(False, 0, 8, 45),
    m.FaceUp: m.FaceUp(1, m.Phase.DISPENSING, 3),
    m.CoverCard: m.CoverCard(1, m.Phase.DISPENSING, 3),
    m.Pile: m.Pile(m.Place.SLOT, True),
    m.Door: m.Door(True),
    m.Power: m.Power(True),
    m.Cleared: m.Cleared(1, 43, 46),
    m.SelfTested: m.SelfTested(1, 0, 0),
    m.RoundEnded: m.RoundEnded(1, 49),
    m.Jogged: m.Jogged(1, m.Motor.DRAW, False, 310, True),
    m.CardsReleased: m.CardsReleased(2, 1, 0, bytes((3, 17, 40)), 0),
}


def reported(**changes: Any) -> Reported:
    return Reported(HELLO, Report(7, 1, 0, []), msgspec.structs.replace(STATUS, **changes))


def test_every_event_is_folded_here() -> None:
    assert set(EVENTS) == set(get_args(m.Event))


@pytest.mark.parametrize("kind", EVENTS)
def test_a_view_in_doubt_stays_in_doubt_until_a_report(kind: type[Any]) -> None:
    doubtful = fold(READY, OutcomeLost(5))
    assert (doubtful.counts_certain, doubtful.left, doubtful.in_path, doubtful.drawn) == (False, None, None, None)
    after = fold(doubtful, EVENTS[kind])
    assert (after.counts_certain, after.left, after.in_path, after.drawn) == (False, None, None, None)
    assert after.unsettled == {5}
    known = fold(after, reported())
    assert (known.counts_certain, known.left, known.in_path, known.drawn) == (True, 46, 0, 7)
    assert known.unsettled == {5}
    assert not fold(known, Settled(5, Outcome.DONE, 0)).unsettled


@pytest.mark.parametrize(
    ("event", "state", "left", "in_path"),
    [
        (EVENTS[m.Progress], m.State.DISPENSING, 43, None),
        (EVENTS[m.Loaded], m.State.READY, 53, 0),
        (EVENTS[m.Dispensed], m.State.READY, 39, 0),
        (EVENTS[m.Unbalanced], m.State.HALTED, None, None),
        (EVENTS[m.Jam], m.State.HALTED, 43, 1),
        (EVENTS[m.Stopped], m.State.HALTED, 42, 1),
        (EVENTS[m.Fault], m.State.HALTED, 43, 1),
        (msgspec.structs.replace(EVENTS[m.Fault], reason=m.Reason.DOUBLE_FEED), m.State.HALTED, None, None),
        (msgspec.structs.replace(EVENTS[m.Jam], phase=m.Phase.DRAWING), m.State.HALTED, None, None),
        (EVENTS[m.Drawn], m.State.READY, 45, 0),
        (m.Drawn(False, 0, None, None), m.State.READY, None, None),
        (m.Door(True), m.State.READY, None, None),
        (m.Door(False), m.State.READY, 46, 0),
        (EVENTS[m.Cleared], m.State.IDLE, None, None),
        (m.Pile(m.Place.WELL, False), m.State.IDLE, 46, 0),
        (LinkDown(LinkClosed("closed")), None, None, None),
        (LinkUp(HELLO), None, None, None),
    ],
)
def test_what_an_event_leaves_known(event: Any, state: m.State | None, left: int | None, in_path: int | None) -> None:
    view = fold(READY, event)
    assert (view.state, view.left, view.in_path) == (state, left, in_path)


def test_an_empty_machine_whose_door_is_opened_misses_nothing() -> None:
    idle = msgspec.structs.replace(READY, state=m.State.IDLE, left=0, in_well=False)
    assert fold(idle, m.Door(True)).left == 0
    assert fold(idle, m.Pile(m.Place.WELL, True)).left is None, "cards that nobody counted"


def test_a_stack_is_known_until_something_else_ends() -> None:
    assert fold(READY, EVENTS[m.Dispensed]).stack == 7
    for kind in (m.Loaded, m.ShortStack, m.Stub, m.Jam, m.Stopped, m.Fault):
        assert fold(fold(READY, EVENTS[m.Dispensed]), EVENTS[kind]).stack is None


@pytest.mark.parametrize(
    ("ended", "expected", "reasons"),
    [
        (m.Loaded(1, 53, 0, None, 53), 53, []),
        (m.Loaded(1, 52, 1, None, 52), 53, ["52 cards counted, 53 expected", "1 of them is face up"]),
        (m.Loaded(1, None, 0, None, None), 53, ["the block was not counted"]),
        (m.Dispensed(1, 7, 0, 46), 7, []),
        (m.Dispensed(1, 6, 0, 47), 7, ["6 cards dispensed, 7 ordered"]),
        (m.Dispensed(1, 8, 0, 45), 7, ["8 cards dispensed, 7 ordered"]),
        (m.Dispensed(1, 7, 2, 46), 7, ["2 of them are face up"]),
        (m.Dispensed(1, 5, 1, 46), 7, ["5 cards dispensed, 7 ordered", "1 of them is face up"]),
        (m.Stub(1, 4, 53, 0), 53, []),
        (m.Stub(1, 3, 52, 0), 53, ["52 cards came out in all, 53 expected"]),
        (m.Stub(1, 4, None, None), 53, ["the total of cards that came out is unknown"]),
    ],
)
def test_the_verdict_lists_every_reason(ended: Any, expected: int, reasons: list[str]) -> None:
    assert verdict(ended, expected) == reasons


@pytest.mark.parametrize("kind", [m.ShortStack, m.Unbalanced, m.Jam, m.Stopped, m.Fault])
def test_nothing_that_ended_otherwise_is_the_stack_that_was_ordered(kind: type[Any]) -> None:
    for expected in (0, 3, 4, 7, 53):
        assert len(verdict(EVENTS[kind], expected)) == 1


TRIGGERS: dict[Any, str] = {
    m.ShortStack: "fault",
    m.Unbalanced: "fault",
    m.Jam: "fault",
    m.Stopped: "fault",
    m.Fault: "fault",
    m.Door: "doubt",
    m.Cleared: "doubt",
}


@pytest.mark.parametrize("kind", EVENTS)
def test_what_an_event_means_for_the_service_state(kind: type[Any]) -> None:
    assert service_trigger(EVENTS[kind]) == TRIGGERS.get(kind)


@pytest.mark.parametrize(
    ("event", "trigger"),
    [
        (LinkUp(HELLO), "appear"),
        (LinkDown(LinkClosed("closed")), "vanish"),
        (OutcomeLost(1), "doubt"),
        (m.Door(False), None),
        (m.Drawn(False, 0, None, None), "doubt"),
        (m.SelfTested(1, 16, 0), "fault"),
        (m.SelfTested(1, 0, 1), "fault"),
        (reported(), "verify"),
        (reported(state=m.State.IDLE, left=0), "verify"),
        (reported(state=m.State.DEALING, left=None), "verify"),
        (reported(counts_certain=False, left=None, in_path=None), None),
        (reported(in_path=1), None),
        (reported(state=m.State.DISPENSING), None),
        (reported(state=m.State.COUNTING), None),
        (reported(state=m.State.HALTED), "fault"),
        (reported(state=m.State.DOUBTFUL), "fault"),
        (Settled(1, Outcome.DONE, 0), None),
    ],
)
def test_only_a_report_of_a_shoe_that_rests_and_knows_verifies_its_slot(event: Any, trigger: str | None) -> None:
    assert service_trigger(event) == trigger


# --- the picture -----------------------------------------------------------------------------------------------


def test_the_picture_shows_where_the_cards_are() -> None:
    view = fold(fold(READY, EVENTS[m.Pile]), EVENTS[m.Dispensed])
    view = msgspec.structs.replace(view, phase=m.Phase.DISPENSING, moved=7)
    line = plain_text(draw_shoe(view, by_hand=False))
    assert line == "intake ▕ 0▏ ─feed─○─store─▕39▏─draw─○─exit─○─drop─ ▕ 7▏ slot"


@pytest.mark.parametrize("segment", list(m.Segment))
def test_every_segment_can_be_marked_and_the_line_keeps_its_length(segment: m.Segment) -> None:
    calm = plain_text(draw_shoe(READY, by_hand=False))
    spans = draw_shoe(fold(READY, msgspec.structs.replace(EVENTS[m.Jam], segment=segment)), by_hand=False)
    assert (f"✖{segment.name.lower()}✖", FAULTY) in spans
    assert len(plain_text(spans)) == len(calm) <= 80
    assert [style for _, style in spans if style == FAULTY] == [FAULTY]


def test_what_nobody_knows_is_a_question_mark_and_what_nobody_counts_is_a_heap() -> None:
    assert "▕ ?▏" in plain_text(draw_shoe(fold(READY, OutcomeLost(1)), by_hand=False))
    by_hand = msgspec.structs.replace(READY, left=None, drawn=12)
    assert plain_text(draw_shoe(by_hand, by_hand=True)) == "well ▕▒▒▏○─exit─○─drop──▶ 12 drawn"
