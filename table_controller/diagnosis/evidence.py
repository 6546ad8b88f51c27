"""Converts messages of a shuffler or shoe into the fields of a fault report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.driver_events import DeviceRefused, DeviceView
from devices.shoe import messages as sh
from devices.shoe.state import ShoeView
from devices.shuffler import messages as sf
from devices.shuffler.state import ShufflerView
from table_controller.diagnosis import fault_report as d
from table_controller.diagnosis.card_paths import BY_HAND, PATHS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from enum import IntEnum

    from devices.edge_log import EdgeLog
    from devices.path_telemetry import OpticalLevel, TransitTimes
    from firmware_bridge.messages import DeviceHello

_REASONS: Final[dict[str, d.HaltKind]] = {
    "JAM": "jam",
    "DOUBLE_FEED": "double_feed",
    "SHORT_CARD": "short_card",
    "COUNTS_DISAGREE": "counts_disagree",
    "LIFTED_OUT": "counts_disagree",
    "TOO_MANY_CARDS": "too_many_cards",
    "CHUTE_JAMMED": "chute_jam",
}
# Messages that end a motion without a fault; the machine's history is read after them.
ENDED_WELL: Final = (
    sf.Completed, sf.Counted, sf.TakenIn, sf.Delivered, sf.Cleared,
    sh.Loaded, sh.Dispensed, sh.Stub, sh.Cleared,
)  # fmt: skip
# Motions that a machine refuses because its path is dark, and the leg on which it would have moved cards.
_MOTIONS: Final[dict[str, int | None]] = {
    "StartCycle": 0, "TakeIn": 0, "Load": 0, "Deliver": 1, "Dispense": 1, "CountStub": 1, "StartRound": 1,
    "CountAll": None, "Eject": None, "ClearJam": None,
}  # fmt: skip
_MESSAGES: Final[dict[str, Any]] = {"shuffler": sf, "shoe": sh}


def part_name(part: IntEnum) -> str:
    """Return the name of a machine's part for a fault report."""
    return part.name.lower()


def machine_of(slot: str, kind: str, hello: DeviceHello | None) -> d.MachineIdentity:
    """Return the identity of a machine."""
    if hello is None:
        return d.MachineIdentity(slot, kind)
    return d.MachineIdentity(
        slot, kind, hello.model, hello.serial, hello.firmware, hello.digest.hex(), tuple(hello.capabilities)
    )


# --- what happened ----------------------------------------------------------------------------------------------------


def halt_of(kind: str, event: object) -> d.MachineHalt | None:
    """Return a machine's event as a halt; None if it is not one."""
    message = type(event).__name__
    match event:
        case sf.Jam() | sf.Fault() | sh.Jam() | sh.Fault():
            segment = part_name(event.segment)
            what = _REASONS.get(event.reason.name, "stopped") if isinstance(event, sf.Fault | sh.Fault) else "jam"
            entered, left = getattr(event, "entered", None), getattr(event, "left", None)
            counts = (entered, left) if kind == "shuffler" else (None, None)
            return d.MachineHalt(what, message, PATHS[kind].leg_of(segment), segment, event.card, *counts)
        case sf.Incomplete():
            return d.MachineHalt("counts_disagree", message, 1, None, None, event.cards_in, event.cards_out)
        case sh.Unbalanced():
            return d.MachineHalt("counts_disagree", message, 1, None, None, event.loaded, event.drawn)
        case sh.ShortStack():
            return d.MachineHalt("counts_disagree", message, 1)
        case sf.Stopped():
            return d.MachineHalt("stopped", message, None, None, None, event.entered, event.left)
        case sh.Stopped():
            return d.MachineHalt("stopped", message, int(event.phase is not sh.Phase.LOADING))
        case sf.SelfTested() | sh.SelfTested() if event.bad_sensors or event.bad_motors:
            sensors = _MESSAGES[kind].Sensor
            bad = tuple(part_name(sensor) for sensor in sensors if event.bad_sensors >> sensor & 1)
            held = tuple(part_name(motor) for motor in _MESSAGES[kind].Motor if event.bad_motors >> motor & 1)
            return d.MachineHalt("self_test", message, bad_sensors=bad, bad_motors=held)
        case sf.Jogged() | sh.Jogged() if not event.turned:
            return d.MachineHalt("self_test", message, bad_motors=(part_name(event.motor),))
        case DeviceRefused() if event.message in _MOTIONS and event.reason == _MESSAGES[kind].Reason.PATH_BLOCKED:
            return d.MachineHalt("path_blocked", message, _MOTIONS[event.message], refused=event.message)
        case sf.StoreChanged() if event.reason:
            return d.MachineHalt("counts_disagree", message)
        case sf.Power(interrupted=True) | sh.Power(interrupted=True):
            return d.MachineHalt("power_lost", message)
        case _:
            return None


def account_of(view: DeviceView, event: object, hello: DeviceHello | None, expected: int | None) -> d.CardAccount:
    """Return the box's card counts just before an event; `view` is the view at that moment."""
    capabilities = hello.capabilities if hello is not None else ()
    if isinstance(view, ShufflerView):
        return _shuffler_account(view, event, expected)
    assert isinstance(view, ShoeView), "only machines with a card path have an account"
    return _shoe_account(view, event, expected, by_hand=BY_HAND in capabilities)


def _shuffler_account(view: ShufflerView, event: object, expected: int | None) -> d.CardAccount:
    keeps = view.continuous
    match event:
        case sf.Jam() | sf.Fault() | sf.Stopped() if event.entered and view.counts_certain:
            inside = sf.cards_inside(event.entered, event.left)
            return d.CardAccount(expected, inside, None if keeps else event.left, keeps)
        case sf.Fault() | sf.Stopped() if view.state is sf.State.READY:  # in the chute into the shoe
            return d.CardAccount(expected, None, None, keeps)
        case sf.Incomplete():
            return d.CardAccount(expected, None, None if keeps else event.cards_out, keeps)
        case sf.StoreChanged() if (
            event.inside is not None and view.counts_certain
        ):  # cards may have been delivered since the last report
            return d.CardAccount(expected, event.inside, view.behind_gate, keeps)
        case _:
            return d.CardAccount(expected, view.inside, view.behind_gate, keeps)


def _shoe_account(view: ShoeView, event: object, expected: int | None, *, by_hand: bool) -> d.CardAccount:
    if by_hand:
        drawn = view.drawn if view.counts_certain else None
        inside = None if expected is None or drawn is None else expected - drawn
        return d.CardAccount(expected, inside, drawn, keeps=False)
    moved = view.moved if view.phase in (sh.Phase.DISPENSING, sh.Phase.STUB) and view.state in _OUTWARD else 0
    match event:
        case sh.Jam() | sh.Fault() if event.phase is sh.Phase.LOADING:
            return d.CardAccount(expected, None if view.left is None else view.left + 1, 0, keeps=True)
        case sh.Jam() | sh.Fault():
            cleared = event.phase is sh.Phase.CLEARING
            return d.CardAccount(expected, None if cleared else view.left, None if cleared else moved, keeps=True)
        case sh.Unbalanced():
            return d.CardAccount(expected, None, event.drawn, keeps=False)
        case _:
            return d.CardAccount(expected, view.left, None, keeps=True)


_OUTWARD: Final = (sh.State.DISPENSING, sh.State.COUNTING)


def ended_of(event: object) -> d.MotionEnd | None:
    """Return the end of a motion, with or without a fault; None if the event ends no motion."""
    message = type(event).__name__
    match event:
        case sf.Completed() | sf.Counted():
            return d.MotionEnd(message, event.count, event.count)
        case sf.Incomplete():
            return d.MotionEnd(message, event.cards_in, event.cards_out)
        case sh.Unbalanced():
            return d.MotionEnd(message, event.loaded, event.drawn)
        case sf.Jam() | sf.Fault() | sf.Stopped():
            return d.MotionEnd(message, event.entered, event.left)
        case sh.Loaded() | sh.Dispensed() | sh.Stub() | sf.TakenIn() | sf.Delivered():
            return d.MotionEnd(message, event.count)
        case sh.Jam() | sh.Fault() | sh.Stopped() | sh.ShortStack() | sf.Cleared() | sh.Cleared():
            return d.MotionEnd(message)
        case _:
            return None


# --- what the machine answers -----------------------------------------------------------------------------------------


def levels_of(kind: str, levels: Sequence[OpticalLevel]) -> tuple[d.Level, ...]:
    """Return sensor levels by name."""
    sensors = _MESSAGES[kind].Sensor
    return tuple(d.Level(part_name(s), x.blocked, x.level, x.threshold) for s, x in zip(sensors, levels, strict=False))


def currents_of(kind: str, currents: Sequence[int]) -> tuple[d.Current, ...]:
    """Return motor currents by name."""
    motors = _MESSAGES[kind].Motor
    return tuple(d.Current(part_name(motor), drawn) for motor, drawn in zip(motors, currents, strict=False))


def times_of(kind: str, transits: Sequence[TransitTimes]) -> tuple[d.TransitsAtFault, ...]:
    """Return transit times by segment."""
    segments = _MESSAGES[kind].Segment
    return tuple(
        d.TransitsAtFault(part_name(s), t.cards, t.mean, t.least, t.most, t.deviation, t.last)
        for s, t in zip(segments, transits, strict=True)
    )


def edges_of(kind: str, trail: EdgeLog) -> tuple[d.EdgeAtFault, ...]:
    """Return the sensor edges before the halt, without unknown sensors."""
    names = {int(sensor): part_name(sensor) for sensor in _MESSAGES[kind].Sensor}
    halted = trail.halted_us if trail.halted_us is not None else max((edge.at_us for edge in trail.edges), default=0)
    return tuple(
        d.EdgeAtFault(names[edge.sensor], edge.blocked, halted - edge.at_us)
        for edge in trail.edges
        if edge.sensor in names and edge.at_us <= halted
    )
