"""The known state of one bet sensor, built up from its events. The table core decides which bets count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from devices.bet_sensor import messages as m
from devices.driver_events import CommonEvent, DeviceView, LinkDown, LinkUp, OutcomeLost, Reported, unsettled_after
from firmware_bridge.commands import Settled

if TYPE_CHECKING:
    from devices.service import ReportTrigger


class BettingOpened(msgspec.Struct, frozen=True):
    """Bets were opened on command."""

    round: int


class Unlocked(msgspec.Struct, frozen=True):
    """A latch was released on command."""

    lock_id: int


# All events of a bet sensor's driver, including the answers to a lock.
DriverEvent = m.Event | m.Locked | m.LockRefused | BettingOpened | Unlocked | CommonEvent


class BetSensorView(DeviceView, frozen=True):
    """The last known state of one seat's sensor. None means unknown."""

    state: m.State | None = None
    round: int | None = None
    content: m.SpotContent | None = None
    sequence: int = 0  # of the last change that is known
    latch: m.Latch | None = None
    is_broken: bool = False  # the sensing failed, and no self-test has passed since then

    @property
    def sensed_bet(self) -> int | None:
        """The number of the placed bet, which may still be withdrawn; None if there is none."""
        return self.sequence if self.state is m.State.PLACED else None

    @property
    def latched_bet(self) -> int | None:
        """The number of the latched bet; None if there is none."""
        return self.latch.last_change if self.latch is not None and self.latch.content is m.SpotContent.CHIP else None

    @property
    def must_return_chip(self) -> bool:
        """True if something on the spot is not a bet and must be returned to the player."""
        if self.content in (None, m.SpotContent.EMPTY, m.SpotContent.UNREAD):
            return False
        if self.latch is None:
            return self.state is m.State.NONE
        return self.latch.content is m.SpotContent.EMPTY or self.content in (
            m.SpotContent.SEVERAL,
            m.SpotContent.FOREIGN,
        )


def fold(view: BetSensorView, event: DriverEvent) -> BetSensorView:
    """Return the view after an event. Changes and latch are ordered by their numbers, not by their arrival."""
    replace = msgspec.structs.replace
    match event:
        case m.Changed() if event.sequence > view.sequence:
            return _fold_change(view, event)
        case m.Locked(latch=latch):
            known = replace(view, state=m.State.LOCKED, round=latch.round, latch=latch)
            return (
                replace(known, content=latch.content, sequence=latch.last_change)
                if latch.last_change >= view.sequence
                else known
            )
        case m.LockRefused():
            state = m.State.NONE if event.latch is None else m.State.LOCKED
            return replace(view, state=state, round=event.round, latch=event.latch)
        case BettingOpened():
            if view.round == event.round and view.state not in (None, m.State.NONE):
                return view  # later events arrived first
            return replace(view, state=m.State.AWAITING, round=event.round, latch=None)
        case Unlocked() if view.latch is not None and view.latch.lock_id == event.lock_id:
            return replace(view, state=m.State.NONE, latch=None)
        case m.Fault() | m.SelfTested():
            return replace(view, is_broken=isinstance(event, m.Fault) or event.bad_parts > 0)
        case LinkUp() | LinkDown() | Reported() | OutcomeLost() | Settled():
            return _fold_common(view, event)
        case _:
            return view


def _fold_common(view: BetSensorView, event: CommonEvent) -> BetSensorView:
    replace = msgspec.structs.replace
    match event:
        case LinkUp():
            return BetSensorView(connected=True, unsettled=view.unsettled)
        case LinkDown():
            return replace(view, connected=False, state=None, round=None, content=None, latch=None)
        case Reported(inventory=m.Status() as s):
            if s.sequence < view.sequence:
                return view  # later events arrived first
            return replace(view, state=s.state, round=s.round, content=s.content, sequence=s.sequence, latch=s.latch,
                           is_broken=s.reason is m.Reason.SENSING_FAILED)  # fmt: skip
        case _:
            return replace(view, unsettled=unsettled_after(view.unsettled, event))


def _fold_change(view: BetSensorView, event: m.Changed) -> BetSensorView:
    known = msgspec.structs.replace(view, round=event.round, content=event.content, sequence=event.sequence)
    if view.latch is not None and view.latch.round == event.round:
        return known  # changes after the latch do not affect it
    state = {
        m.Change.PLACED: m.State.PLACED,
        m.Change.WITHDRAWN: m.State.AWAITING,
        m.Change.UNCLEAR: m.State.AWAITING if view.state is m.State.PLACED else view.state,
        m.Change.LATE: m.State.NONE,  # probably locked, with the confirmation still to come
        m.Change.TAKEN: m.State.NONE,
    }[event.change]
    return msgspec.structs.replace(known, state=state, latch=None)


def findings(view: BetSensorView) -> list[tuple[m.Reason, str]]:
    """Return the problems that people must resolve at this seat, each with its code."""
    reasons = []
    if view.must_return_chip:
        reasons.append((m.Reason.LATE_BET, "not a bet of this round: return it to the player"))
    elif view.content in (m.SpotContent.EDGE, m.SpotContent.SEVERAL, m.SpotContent.FOREIGN):
        assert view.content is not None
        reasons.append((m.Reason.UNCLEAR_BET, f"not clearly one chip: {view.content.name.lower()}"))
    elif view.latched_bet is not None and view.content is m.SpotContent.EMPTY:
        reasons.append((m.Reason.BET_TAKEN, f"bet {view.latched_bet} is locked in, but its chip was removed"))
    if view.is_broken:
        reasons.append((m.Reason.SENSING_FAILED, "the sensing does not work"))
    return reasons


def service_trigger(event: DriverEvent) -> ReportTrigger | None:
    """Return the service trigger of an event (`devices.service`), or None."""
    match event:
        case LinkUp():
            return "appear"
        case LinkDown():
            return "vanish"
        case Reported(inventory=m.Status() as status):
            if status.reason is m.Reason.SENSING_FAILED:
                return "fault"
            return None if status.state is m.State.TESTING else "verify"
        case OutcomeLost():
            return "doubt"
        case m.Fault():
            return "fault"
        case m.SelfTested() if event.bad_parts:
            return "fault"
        case _:
            return None
