"""The known state of a dice shaker, built up from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from devices.consistency_check import link_trigger
from devices.driver_events import CommonEvent, DeviceView, LinkDown, LinkUp, OutcomeLost, Reported, unsettled_after
from devices.shaker import messages as m
from firmware_bridge.commands import Settled

if TYPE_CHECKING:
    from devices.service import ReportTrigger

# All events of a shaker's driver.
DriverEvent = m.Event | CommonEvent


class ShakerView(DeviceView, frozen=True):
    """The last known state of one shaker.

    `roll`, `values` and `no_roll`, the last roll and its result, are kept after the link is down; the rest is not.
    """

    state: m.State | None = None
    lid_on: bool | None = None
    covered: bool | None = None  # by the last Lid event of this link only; no report changes it
    door_open: bool = False
    openings: int = 0  # of the door, as last reported
    dice: int | None = None
    shakes: int = 0
    roll: int | None = None
    values: tuple[int, ...] | None = None
    no_roll: m.Reason | None = None
    disturbed: bool = False  # the dice were moved after the reading


def fold(view: ShakerView, event: DriverEvent) -> ShakerView:
    """Return the view after an event."""
    replace = msgspec.structs.replace
    match event:
        case LinkUp() | LinkDown():
            return ShakerView(
                connected=isinstance(event, LinkUp), unsettled=view.unsettled,
                roll=view.roll, values=view.values, no_roll=view.no_roll,
            )  # fmt: skip
        case Reported(inventory=m.Status() as status):
            return _fold_status(view, status)
        case OutcomeLost() | Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case m.Shaken(roll=None):
            return replace(view, shakes=event.shakes)
        case m.Shaken() if event.roll == view.roll and _ended(view):
            return view  # older than the report
        case m.Shaken():
            return replace(view, state=m.State.ARMED, roll=event.roll, shakes=event.shakes, values=None, no_roll=None,
                           disturbed=False)  # fmt: skip
        case m.Lid():
            opened = view.state is m.State.ARMED and not event.on
            return replace(view, lid_on=event.on, covered=event.on, disturbed=view.disturbed and not event.on,
                           state=m.State.SETTLING if opened else view.state)  # fmt: skip
        case m.Reading():
            return replace(view, state=m.State.RESTING, roll=event.command, shakes=event.shakes,
                           values=tuple(event.values), no_roll=None)  # fmt: skip
        case m.NoRoll():
            return replace(view, state=m.State.RESTING, roll=event.command, shakes=event.shakes, dice=event.dice,
                           values=None, no_roll=event.reason)  # fmt: skip
        case m.Dice():
            return replace(view, door_open=event.door_open, dice=event.dice, disturbed=event.disturbed)
        case m.SelfTested():
            return replace(view, state=m.State.FAULTY if event.bad_sensors else m.State.RESTING)
        case _:
            return view


def _fold_status(view: ShakerView, status: m.Status) -> ShakerView:
    ended = _end_of(status)
    if ended is None and status.roll == view.roll and _ended(view):
        ended = (view.values, view.no_roll)  # the status is older than the event that ended the roll
    values, no_roll = ended or (None, None)
    return msgspec.structs.replace(
        view, state=status.state, lid_on=status.lid_on, door_open=status.door_open, openings=status.openings,
        dice=status.dice, shakes=status.shakes, roll=status.roll, values=values, no_roll=no_roll,
        disturbed=status.disturbed,
    )  # fmt: skip


def _ended(view: ShakerView) -> bool:
    return view.values is not None or view.no_roll is not None


def _end_of(message: m.Status | m.Roll | m.Reading | m.NoRoll) -> tuple[tuple[int, ...] | None, m.Reason | None] | None:
    """Return the result of a roll in a message: its values, or why it does not count; None if it has not ended."""
    match message:
        case m.Reading():
            return tuple(message.values), None
        case m.NoRoll():
            return None, message.reason
        case m.Roll(ending=m.Ending.READ) if message.values is not None:
            return tuple(message.values), None
        case m.Roll(ending=m.Ending.NO_ROLL):
            return None, message.reason
        case m.Status(values=None) if message.roll is not None and message.reason:
            return None, message.reason
        case m.Status() if message.values is not None:
            return tuple(message.values), None
        case _:
            return None


def find_contradiction(view: ShakerView, message: object) -> str | None:
    """Return why a message is contradictory, in itself or to earlier messages; or None."""
    if isinstance(message, m.Sensors) and message.lid.active and message.dice:
        return "it reports dice that are under the lid"
    if not isinstance(message, m.Status | m.Roll | m.Reading | m.NoRoll):
        return None
    roll = message.roll if isinstance(message, m.Status) else message.command
    end = _end_of(message)
    if end is not None and roll == view.roll and _ended(view):
        known = (view.values, view.no_roll)
        return None if end == known else f"roll {roll} ended as {_words(known)}, and now as {_words(end)}"
    if isinstance(message, m.Reading):
        if message.shakes < m.LEAST_SHAKES:
            return f"roll {roll} was read after {message.shakes} shakes"
        if not all(message.flat):
            return f"roll {roll} was read with a die that is not flat"
        if view.covered:
            return f"roll {roll} was read under the lid"
    return None


def _words(end: tuple[tuple[int, ...] | None, m.Reason | None]) -> str:
    values, reason = end
    return " ".join(map(str, values)) if values is not None else f"no roll ({reason.name if reason else '?'})"


def service_trigger(event: DriverEvent) -> ReportTrigger | None:
    """Return the service trigger of an event (`devices.service`), or None.

    A roll that does not count is not a fault of the shaker.
    """
    match event:
        case Reported(inventory=m.Status(state=m.State.FAULTY)):
            return "fault"
        case Reported(inventory=m.Status(state=m.State.RESTING)):
            return "verify"
        case m.SelfTested() if event.bad_sensors:
            return "fault"
        case _:
            return link_trigger(event)
