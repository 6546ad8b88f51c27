"""The known state of a flat button, built up from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from devices.button import messages as m
from devices.consistency_check import link_trigger
from devices.driver_events import CommonEvent, DeviceView, LinkDown, LinkUp, OutcomeLost, Reported, unsettled_after
from firmware_bridge.commands import Settled

if TYPE_CHECKING:
    from devices.service import ReportTrigger

# All events of a button's driver.
DriverEvent = m.Event | CommonEvent


class ButtonView(DeviceView, frozen=True):
    """The last known state of one mat. `place` is None if unknown; `reason` then has the cause, if known."""

    state: m.State | None = None
    place: int | None = None
    reason: m.Reason = m.Reason.NONE


def fold(view: ButtonView, event: DriverEvent) -> ButtonView:
    """Return the view after an event."""
    replace = msgspec.structs.replace
    match event:
        case LinkUp() | LinkDown():
            return ButtonView(connected=isinstance(event, LinkUp), unsettled=view.unsettled)
        case Reported(inventory=m.Status() as status):
            return replace(view, state=status.state, place=status.place, reason=status.reason)
        case OutcomeLost() | Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case m.Moved():
            state = m.State.FAULTY if event.reason is m.Reason.SENSOR_DEAD else view.state
            return replace(view, state=state, place=event.place, reason=event.reason)
        case m.SelfTested():
            return replace(view, state=m.State.FAULTY if event.bad_places else m.State.WATCHING)
        case _:
            return view


def find_contradiction(view: ButtonView, message: object) -> str | None:  # noqa: ARG001 - the same shape for every kind
    """Return why a message of the mat is contradictory, or None. A message has either a place or a reason."""
    if not isinstance(message, m.Status | m.Moved):
        return None
    if message.place is not None and message.reason:
        return f"the mat reports place {message.place}, and that it is unclear ({message.reason.name})"
    if message.place is None and not message.reason:
        return "the mat reports no place and no reason"
    return None


def service_trigger(event: DriverEvent) -> ReportTrigger | None:
    """Return the service trigger of an event (`devices.service`), or None.

    An unclear place is for people to correct, and not a fault; only the mat itself can be at fault.
    """
    match event:
        case Reported(inventory=m.Status(state=m.State.FAULTY)):
            return "fault"
        case Reported(inventory=m.Status(state=m.State.WATCHING)):
            return "verify"
        case m.Moved(reason=m.Reason.SENSOR_DEAD):
            return "fault"
        case m.SelfTested() if event.bad_places:
            return "fault"
        case _:
            return link_trigger(event)
