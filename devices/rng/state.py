"""The known state of a number generator, built up from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from devices.consistency_check import link_trigger
from devices.driver_events import CommonEvent, DeviceView, LinkDown, LinkUp, OutcomeLost, Reported, unsettled_after
from devices.rng import messages as m
from firmware_bridge.commands import Settled

if TYPE_CHECKING:
    from devices.service import ReportTrigger

# All events of a generator's driver.
DriverEvent = m.Event | CommonEvent


class RngView(DeviceView, frozen=True):
    """The last known state of one generator. `draw` and `number` are the last draw, kept after the link is down."""

    state: m.State | None = None
    draw: int | None = None
    number: int | None = None
    shown: bool = False  # the number is on the display
    failed: m.Reason = m.Reason.NONE


def fold(view: RngView, event: DriverEvent) -> RngView:
    """Return the view after an event."""
    replace = msgspec.structs.replace
    match event:
        case LinkUp() | LinkDown():
            return RngView(connected=isinstance(event, LinkUp), unsettled=view.unsettled,
                           draw=view.draw, number=view.number)  # fmt: skip
        case Reported(inventory=m.Status() as status):
            kept = view.number if status.draw == view.draw else None
            return replace(view, state=status.state, draw=status.draw, number=status.number or kept,
                           shown=status.state is m.State.SHOWING, failed=status.reason)  # fmt: skip
        case OutcomeLost() | Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case m.Drawn():
            return replace(view, state=m.State.SHOWING, draw=event.command, number=event.number, shown=True)
        case m.Cleared():
            return replace(view, state=m.State.IDLE, shown=False)
        case m.HealthFailed():
            return replace(view, state=m.State.FAILED, shown=False, failed=event.reason)
        case m.SelfTested() if not event.reason:
            return replace(view, state=m.State.IDLE, failed=m.Reason.NONE)
        case _:
            return view


def find_contradiction(view: RngView, message: object) -> str | None:
    """Return why a message is contradictory, in itself or to earlier messages; or None."""
    match message:
        case m.Status():
            draw = message.draw
            if message.state is m.State.SHOWING and message.number is None:
                return "it is SHOWING, and reports no number"
            if message.state is m.State.IDLE and message.segments != m.BLANK:
                return f"it is IDLE, and the display shows segments {message.segments:#04x}"
        case m.Drawn() | m.PastDraw():
            draw = message.command
        case _:
            return None
    number = message.number
    if number is None:
        return None
    if not isinstance(message, m.PastDraw) and message.segments != m.SEGMENTS[number]:
        return f"draw {draw} gave {number}, and the display shows segments {message.segments:#04x}"
    if draw == view.draw and view.number not in (None, number):
        return f"draw {draw} gave {view.number}, and now {number}"
    return None


def service_trigger(event: DriverEvent) -> ReportTrigger | None:
    """Return the service trigger of an event (`devices.service`), or None."""
    match event:
        case Reported(inventory=m.Status(state=m.State.FAILED)):
            return "fault"
        case Reported(inventory=m.Status(state=m.State.IDLE | m.State.SHOWING)):
            return "verify"
        case m.HealthFailed():
            return "fault"
        case m.SelfTested() if event.reason:
            return "fault"
        case _:
            return link_trigger(event)
