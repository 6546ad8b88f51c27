"""Consistency checks of devices: impossible events are faults, consistent ones in an odd order are not."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from devices.button import messages as button
from devices.button import state as button_state
from devices.consistency_check import link_trigger
from devices.driver_events import LinkDown, LinkUp, OutcomeLost, Reported
from devices.rng import messages as rng
from devices.rng import state as rng_state
from devices.service import Service
from devices.shaker import messages as shaker
from devices.shaker import state as shaker_state
from firmware_bridge.commands import Outcome, Report, Settled
from firmware_bridge.errors import BadMessage, LinkSilent, PortMissing, ProtocolError
from firmware_bridge.messages import DeviceHello

HELLO: Final = DeviceHello("shaker", "SN1", "PB-D3", "1", bytes(32), [], 1, bytes(16))
FLAT: Final = [True] * 3


def reported(inventory: Any) -> Reported:
    return Reported(HELLO, Report(1, 0, 0, []), inventory)


# --- the shaker ------------------------------------------------------------------------------------------------------


def status(**fields: Any) -> shaker.Status:
    blank = shaker.Status(shaker.State.RESTING, True, False, 3, 0, None, None, False, 0, 0, shaker.Reason.NONE)
    return msgspec.structs.replace(blank, **fields)


# Events of a correct shaker, each with its status right after it.
LIFE: Final[list[tuple[Any, shaker.Status]]] = [
    (shaker.Shaken(5, 0), status(state=shaker.State.ARMED, roll=5, rolls=1)),
    (shaker.Shaken(5, 1), status(state=shaker.State.ARMED, roll=5, shakes=1, rolls=1)),
    (shaker.Shaken(5, 3), status(state=shaker.State.ARMED, roll=5, shakes=3, rolls=1)),
    (shaker.Lid(on=False), status(state=shaker.State.SETTLING, lid_on=False, roll=5, shakes=3, rolls=1)),
    (shaker.Reading(5, 3, [1, 2, 3], FLAT), status(lid_on=False, roll=5, shakes=3, values=[1, 2, 3], rolls=1)),
    (shaker.Dice(False, 3, True), status(lid_on=False, roll=5, shakes=3, values=[1, 2, 3], disturbed=True, rolls=1)),
    (shaker.Lid(on=True), status(roll=5, shakes=0, values=[1, 2, 3], rolls=1)),
    (shaker.Shaken(None, 1), status(roll=5, shakes=1, values=[1, 2, 3], rolls=1)),
    (shaker.Shaken(6, 0), status(state=shaker.State.ARMED, roll=6, rolls=2)),
    (shaker.Lid(on=False), status(lid_on=False, roll=6, rolls=2, reason=shaker.Reason.TOO_FEW_SHAKES)),
    (
        shaker.NoRoll(6, shaker.Reason.TOO_FEW_SHAKES, 0, 3, 0),
        status(lid_on=False, roll=6, rolls=2, reason=shaker.Reason.TOO_FEW_SHAKES),
    ),
]


def follow(view: shaker_state.ShakerView, words: list[Any]) -> shaker_state.ShakerView:
    """Fold events as the driver does; fail if a consistent one faults the device."""
    for word in words:
        event = word.inventory if isinstance(word, Reported) else word
        assert shaker_state.find_contradiction(view, event) is None, word
        view = shaker_state.fold(view, word)
    return view


def test_consistent_events_never_fault_a_shaker_whenever_its_report_is_read() -> None:
    """A report is delivered first although earlier events wait behind it, in every combination."""
    for reported_at in range(len(LIFE)):
        for received_from in range(reported_at + 1):
            connected = shaker_state.fold(shaker_state.ShakerView(), LinkUp(HELLO))
            held = [event for event, _ in LIFE[received_from:]]
            view = follow(connected, [reported(LIFE[reported_at][1]), *held])
            assert (view.roll, view.values, view.no_roll) == (6, None, shaker.Reason.TOO_FEW_SHAKES)
            assert (view.state, view.lid_on) == (shaker.State.RESTING, False)


def test_a_late_report_erases_no_result_and_does_not_fault_a_shaker() -> None:
    """Its reply may be older than events that were already delivered."""
    for read_at in range(len(LIFE)):
        for reported_at_ in range(read_at, len(LIFE)):
            words = [event for event, _ in LIFE[: reported_at_ + 1]]
            view = follow(shaker_state.ShakerView(connected=True), words)
            after = follow(view, [reported(LIFE[read_at][1]), *(event for event, _ in LIFE[reported_at_ + 1 :])])
            assert (after.roll, after.no_roll) == (6, shaker.Reason.TOO_FEW_SHAKES) or reported_at_ == len(LIFE) - 1
            if LIFE[read_at][1].roll == view.roll and view.values is not None:
                assert shaker_state.fold(view, reported(LIFE[read_at][1])).values == view.values


READ: Final = shaker_state.ShakerView(connected=True, roll=5, values=(1, 2, 3))
FAILED: Final = shaker_state.ShakerView(connected=True, roll=5, no_roll=shaker.Reason.DIE_OUTSIDE)
OPEN: Final = shaker_state.ShakerView(connected=True, roll=5, state=shaker.State.ARMED)


@pytest.mark.parametrize(
    ("view", "event"),
    [
        (READ, shaker.Reading(5, 3, [1, 2, 4], FLAT)),
        (READ, shaker.NoRoll(5, shaker.Reason.DIE_OUTSIDE, 3, 2, 2)),
        (READ, shaker.Roll(5, shaker.Ending.READ, 3, [1, 2, 4], shaker.Reason.NONE)),
        (READ, shaker.Roll(5, shaker.Ending.NO_ROLL, 3, None, shaker.Reason.STOPPED)),
        (READ, status(roll=5, values=[3, 2, 1])),
        (READ, status(roll=5, reason=shaker.Reason.POWER_LOST)),
        (FAILED, shaker.Reading(5, 3, [1, 2, 3], FLAT)),
        (FAILED, shaker.NoRoll(5, shaker.Reason.STOPPED, 3, 2, 2)),
        (OPEN, shaker.Reading(5, 2, [1, 2, 3], FLAT)),
        (OPEN, shaker.Reading(5, 3, [1, 2, 3], [True, False, True])),
        (msgspec.structs.replace(OPEN, covered=True), shaker.Reading(5, 3, [1, 2, 3], FLAT)),
        (OPEN, shaker.Sensors(shaker.SensorLevel(True, 860, 450), shaker.SensorLevel(False, 0, 1500), 240,
                              [shaker.DieSeen(6, 0, 220)])),
    ],
)  # fmt: skip
def test_events_that_contradict_a_shakers_state(view: shaker_state.ShakerView, event: Any) -> None:
    assert shaker_state.find_contradiction(view, event)


@pytest.mark.parametrize(
    ("view", "event"),
    [
        (READ, shaker.Reading(5, 3, [1, 2, 3], FLAT)),
        (READ, shaker.Roll(5, shaker.Ending.READ, 3, [1, 2, 3], shaker.Reason.NONE)),
        (READ, shaker.Roll(5, shaker.Ending.UNKNOWN, 0, None, shaker.Reason.NONE)),
        (READ, shaker.Reading(6, 3, [6, 6, 6], FLAT)),
        (READ, status(roll=6)),
        (FAILED, shaker.NoRoll(5, shaker.Reason.DIE_OUTSIDE, 3, 2, 2)),
        (OPEN, shaker.Reading(5, 3, [1, 2, 3], FLAT)),
    ],
)
def test_events_that_agree_with_a_shakers_state(view: shaker_state.ShakerView, event: Any) -> None:
    assert shaker_state.find_contradiction(view, event) is None


# --- the generator ---------------------------------------------------------------------------------------------------

IDLE: Final = rng.Status(rng.State.IDLE, 7, None, 0, 1, rng.Reason.NONE)
SHOWING: Final = rng.Status(rng.State.SHOWING, 7, 3, 0x4F, 1, rng.Reason.NONE)
DRAWN: Final = rng_state.RngView(connected=True, draw=7, number=3)


@pytest.mark.parametrize(
    "event",
    [
        rng.Drawn(7, 4, 0x66),
        rng.Drawn(8, 3, 0x66),
        rng.Drawn(8, 7, 0x06),
        rng.PastDraw(7, 4),
        msgspec.structs.replace(SHOWING, number=4, segments=0x66),
        msgspec.structs.replace(SHOWING, segments=0x4B),
        msgspec.structs.replace(SHOWING, number=None),
        msgspec.structs.replace(IDLE, segments=0x06),
    ],
)
def test_events_that_contradict_a_generators_state(event: Any) -> None:
    assert rng_state.find_contradiction(DRAWN, event)


@pytest.mark.parametrize(
    "event",
    [
        rng.Drawn(7, 3, 0x4F),
        rng.Drawn(8, 4, 0x66),
        rng.PastDraw(7, 3),
        rng.PastDraw(6, 4),
        rng.PastDraw(7, None),
        IDLE,
        SHOWING,
        rng.Status(rng.State.FAILED, 7, None, 0x02, 1, rng.Reason.DISPLAY_FAULT),
        rng.Status(rng.State.TESTING, 7, None, 0x7F, 1, rng.Reason.NONE),
        rng.HealthFailed(rng.Reason.NOISE_DEAD, 0),
    ],
)
def test_events_that_agree_with_a_generators_state(event: Any) -> None:
    assert rng_state.find_contradiction(DRAWN, event) is None


def test_every_number_lights_its_own_segments() -> None:
    assert sorted(rng.SEGMENTS) == list(range(1, 8))
    assert len(set(rng.SEGMENTS.values())) == 7
    assert rng.BLANK not in rng.SEGMENTS.values()
    for segments in rng.SEGMENTS.values():
        assert 0 < segments <= rng.ALL_SEGMENTS


def test_a_cleared_display_does_not_erase_the_number() -> None:
    view = rng_state.fold(DRAWN, reported(SHOWING))
    assert view.shown
    view = rng_state.fold(view, rng.Cleared(9))
    assert (view.draw, view.number, view.shown) == (7, 3, False)
    view = rng_state.fold(view, reported(IDLE))
    assert (view.draw, view.number, view.shown) == (7, 3, False)
    view = rng_state.fold(rng_state.RngView(), reported(IDLE))
    assert (view.draw, view.number) == (7, None), "a fresh host must ask"


# --- the button ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "reason", "possible"),
    [
        (3, button.Reason.NONE, True),
        (None, button.Reason.NO_BUTTON, True),
        (3, button.Reason.MOVING, False),
        (None, button.Reason.NONE, False),
    ],
)
def test_a_position_is_reported_exactly_when_there_is_no_reason(
    place: int | None, reason: button.Reason, possible: bool
) -> None:
    for event in (button.Moved(1, place, reason), button.Status(button.State.WATCHING, place, reason, 0)):
        assert (button_state.find_contradiction(button_state.ButtonView(), event) is None) is possible


# --- service ---------------------------------------------------------------------------------------------------------

TRIGGERS: Final[dict[str, list[Any]]] = {
    "fault": [
        (shaker_state, reported(status(state=shaker.State.FAULTY))),
        (shaker_state, shaker.SelfTested(1, 2)),
        (rng_state, reported(rng.Status(rng.State.FAILED, None, None, 0, 0, rng.Reason.NOISE_DEAD))),
        (rng_state, rng.HealthFailed(rng.Reason.NOISE_STUCK, 11)),
        (rng_state, rng.SelfTested(1, rng.Reason.DISPLAY_FAULT)),
        (button_state, reported(button.Status(button.State.FAULTY, None, button.Reason.SENSOR_DEAD, 0))),
        (button_state, button.Moved(1, None, button.Reason.SENSOR_DEAD)),
        (button_state, button.SelfTested(1, 1)),
    ],
    "verify": [
        (shaker_state, reported(status())),
        (rng_state, reported(IDLE)),
        (rng_state, reported(SHOWING)),
        (button_state, reported(button.Status(button.State.WATCHING, None, button.Reason.NO_BUTTON, 0))),
    ],
    "nothing": [
        (shaker_state, reported(status(state=shaker.State.ARMED))),
        (shaker_state, reported(status(state=shaker.State.SETTLING))),
        (shaker_state, reported(status(state=shaker.State.TESTING))),
        (shaker_state, shaker.NoRoll(1, shaker.Reason.DIE_OUTSIDE, 3, 2, 2)),
        (shaker_state, shaker.SelfTested(1, 0)),
        (rng_state, reported(rng.Status(rng.State.DRAWING, None, None, 0, 0, rng.Reason.NONE))),
        (rng_state, rng.SelfTested(1, rng.Reason.NONE)),
        (button_state, reported(button.Status(button.State.TESTING, 1, button.Reason.NONE, 0))),
        (button_state, button.Moved(1, None, button.Reason.MORE_THAN_ONE)),
        (button_state, Settled(1, Outcome.DONE, 0)),
    ],
}


@pytest.mark.parametrize(
    ("trigger", "state", "event"), [(trigger, *case) for trigger, cases in TRIGGERS.items() for case in cases]
)
def test_what_an_event_means_for_service(trigger: str, state: Any, event: Any) -> None:
    assert (state.service_trigger(event) or "nothing") == trigger


def test_a_contradicting_event_is_a_fault_and_a_broken_cable_is_not() -> None:
    assert link_trigger(LinkUp(HELLO)) == "appear"
    assert link_trigger(LinkDown(BadMessage("x"))) == link_trigger(LinkDown(ProtocolError("x"))) == "fault"
    assert link_trigger(LinkDown(LinkSilent("x"))) == link_trigger(LinkDown(PortMissing("x"))) == "vanish"
    assert link_trigger(OutcomeLost(1)) == "doubt"
    assert link_trigger(Settled(1, Outcome.DONE, 0)) is None


def test_where_no_device_is_there_is_none_to_fault() -> None:
    service = Service()
    service.apply_report("fault", unsettled=False)
    assert service.state == "absent"
    for state in ("unverified", "in_service", "faulted", "cleared"):
        service = Service(state)
        service.apply_report("fault", unsettled=False)
        assert service.state == "faulted"
