"""The known state of the meter sign: the requested amounts, those read back, and whether they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from devices.driver_events import CommonEvent, DeviceView, LinkDown, LinkUp, OutcomeLost, Reported, unsettled_after
from devices.meter_sign import messages as m
from firmware_bridge.commands import Settled

if TYPE_CHECKING:
    from devices.service import ReportTrigger


class RequestedAmounts(msgspec.Struct, frozen=True):
    """The amounts (cents) that the sign is requested to show."""

    sequence: int
    value: int
    pending: int
    won: int


# All events of a meter sign's driver, including readbacks.
DriverEvent = m.Event | m.Shown | RequestedAmounts | CommonEvent


class MeterSignView(DeviceView, frozen=True):
    """The last known state of the sign."""

    state: m.State | None = None
    requested: RequestedAmounts | None = None
    shown: m.Shown | None = None  # the last readback


def fold(view: MeterSignView, event: DriverEvent) -> MeterSignView:
    """Return the view after an event."""
    replace = msgspec.structs.replace
    match event:
        case LinkUp():
            return MeterSignView(connected=True, unsettled=view.unsettled, requested=view.requested)
        case LinkDown():
            return replace(view, connected=False, state=None, shown=None)
        case Reported(inventory=m.Status() as status):
            return replace(view, state=status.state)
        case RequestedAmounts():
            return replace(view, requested=event, shown=None)
        case m.Shown():
            return replace(view, state=event.state, shown=event)
        case m.Stale():
            return replace(view, state=m.State.STALE, shown=None)
        case m.Fault():
            return replace(view, shown=None)  # read it again
        case OutcomeLost() | Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case _:
            return view


def verdict(view: MeterSignView) -> list[tuple[m.Reason, str]]:
    """Return every reason why the sign does not show the requested amounts, each with its code; empty if it does."""
    requested, shown = view.requested, view.shown
    if requested is None:
        return []
    if shown is None:
        return [(m.Reason.WRONG_GLASS, "the amounts were not read back")]
    reasons = []
    if shown.stale or shown.state is m.State.STALE:
        reasons.append((m.Reason.STALE, f"marked as stale since sequence {shown.sequence}"))
    if shown.sequence != requested.sequence:
        reasons.append(
            (m.Reason.WRONG_GLASS, f"it shows sequence {shown.sequence}, requested was {requested.sequence}")
        )
    for row in m.Row:
        name = row.name.lower()
        seen, expected = getattr(shown, name), getattr(requested, name)
        if seen != expected:
            reasons.append((m.Reason.WRONG_GLASS, f"{name}: shows {_cents(seen)}, requested was {_cents(expected)}"))
    return reasons


def _cents(cents: int | None) -> str:
    return "nothing" if cents is None else f"{cents // 100}.{cents % 100:02d}"


def service_trigger(event: DriverEvent) -> ReportTrigger | None:
    """Return the service trigger of an event (`devices.service`), or None."""
    match event:
        case LinkUp():
            return "appear"
        case LinkDown():
            return "vanish"
        case Reported(inventory=m.Status() as status):
            if status.reason in (m.Reason.WRONG_GLASS, m.Reason.SELF_TEST_FAILED):
                return "fault"
            return None if status.state is m.State.TESTING else "verify"
        case OutcomeLost():
            return "doubt"
        case m.Fault():
            return "fault"
        case m.SelfTested() if any(event.digits):
            return "fault"
        case _:
            return None
