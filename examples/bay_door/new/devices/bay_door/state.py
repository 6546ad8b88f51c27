"""The known state of a bay door, built up from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from devices.bay_door import messages as m
from devices.consistency_check import link_trigger
from devices.driver_events import CommonEvent, DeviceView, LinkDown, LinkUp, OutcomeLost, Reported, unsettled_after
from firmware_bridge.commands import Settled

if TYPE_CHECKING:
    from devices.service import ReportTrigger

# All events of a bay door's driver.
DriverEvent = m.Event | CommonEvent


class BayDoorView(DeviceView, frozen=True):
    """The last known state of one bay door."""

    state: m.State | None = None
    openings: int = 0


def fold(view: BayDoorView, event: DriverEvent) -> BayDoorView:
    """Return the view after an event."""
    replace = msgspec.structs.replace
    match event:
        case LinkUp() | LinkDown():
            return BayDoorView(connected=isinstance(event, LinkUp), unsettled=view.unsettled)
        case Reported(inventory=m.Status() as status):
            return replace(view, state=status.state, openings=status.openings)
        case OutcomeLost() | Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case m.Opened():
            return replace(view, state=m.State.OPEN, openings=event.openings)
        case m.Closed():
            return replace(view, state=m.State.CLOSED)
        case _:
            return view


def service_trigger(event: DriverEvent) -> ReportTrigger | None:
    """Return the service trigger of an event (`devices.service`), or None. A closed door clears no fault."""
    match event:
        case Reported(inventory=m.Status(state=m.State.CLOSED)):
            return "verify"
        case Reported(inventory=m.Status(state=m.State.OPEN)) | m.Opened():
            return "fault"
        case m.SelfTested(lamp=False):
            return "fault"
        case _:
            return link_trigger(event)
