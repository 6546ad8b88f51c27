"""Which bets count: what a seat's sensor told, folded into one decision per lock. Pure: no clock, no link, no money.

The latch is the order. The confirmation of the lock alone decides: a bet counts if and only if its number is not above
the confirmed last one. When a change is heard, before or after the confirmation, once or twice or never, makes no
difference. A seat without a confirmation in time is undecided and stays so until a person decides.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from devices.bet_sensor import messages as m
from devices.report import LinkUp


class Bet(msgspec.Struct, frozen=True):
    """The bet with this number counts."""

    sequence: int


class NoBet(msgspec.Struct, frozen=True):
    """No bet lay there at the latch."""


class Undecided(msgspec.Struct, frozen=True):
    """Nobody knows; `why` is a sentence for people."""

    why: str


Decision = Bet | NoBet | Undecided


# --- what happens to a seat, besides what its sensor tells ---------------------------------------------------


class Asked(msgspec.Struct, frozen=True):
    """The lock was written to the sensor's link."""

    round: int
    lock_id: int


class Unheard(msgspec.Struct, frozen=True):
    """There is no confirmation: the deadline passed, the link is down, or the lock could not be written."""

    why: str


class Seat(msgspec.Struct, frozen=True):
    """One seat's sensor, as far as its locks are concerned."""

    asked: Asked | None = None
    decision: Decision | None = None  # None while the confirmation may still come in time
    late: m.Latch | None = None  # came too late to decide anything: evidence for whoever decides
    heard: int = 0  # the highest number that was heard before the lock was written
    lay: m.Lies | None = None  # what lay there then


NOTHING_ASKED: Final = Seat()
_replace = msgspec.structs.replace


def fold(seat: Seat, event: Any) -> Seat:
    """Return the seat after an event. A decision once made stays."""
    match event:
        case Asked():  # the same lock again is the same question: it has its answer, or waits for it
            return seat if seat.asked == event else Seat(event, heard=seat.heard, lay=seat.lay)
        case LinkUp():
            return _replace(seat, heard=0, lay=None)  # it may be another sensor, with another count; its report follows
        case m.Changed():
            return _hear(seat, event.sequence, event.lies)
        case m.Status():
            return _hear(_remember(seat, event.latch), event.sequence, event.lies)
        case m.Locked() if _fits(seat, event.latch):
            if seat.decision is None:
                return _replace(seat, decision=_judge(seat, event.latch))
            return _remember(seat, event.latch)
        case m.LockRefused() if seat.asked is not None and seat.asked.lock_id == event.lock_id:
            return _give_up(seat, f"the sensor refused the lock ({event.reason.name.lower().replace('_', ' ')})")
        case Unheard():
            return _give_up(seat, event.why)
        case _:
            return seat  # also the answer to another lock: it is no answer to this one


def _fits(seat: Seat, latch: m.Latch) -> bool:
    """Tell whether a latch is that of the lock that was asked for."""
    asked = seat.asked
    return asked is not None and latch.lock_id == asked.lock_id and latch.round == asked.round


def _judge(seat: Seat, latch: m.Latch) -> Decision:
    if latch.last < seat.heard or (latch.last == seat.heard and seat.lay not in (None, latch.lies)):
        return Undecided(f"the sensor confirmed what it had contradicted before (change {seat.heard})")
    if latch.lies is m.Lies.EMPTY:
        return NoBet()
    if latch.lies is m.Lies.CHIP:
        return Bet(latch.last)
    return Undecided(f"what lay there is not clearly one chip ({latch.lies.name.lower()})")


def _hear(seat: Seat, sequence: int, lies: m.Lies) -> Seat:
    """Note what lies there, for as long as no lock was written: later changes may be on either side of the latch."""
    if seat.asked is not None and seat.decision is None:
        return seat
    return _replace(seat, heard=sequence, lay=lies) if sequence >= seat.heard else seat


def _remember(seat: Seat, latch: m.Latch | None) -> Seat:
    """Keep a confirmation of this lock that came too late."""
    late = latch is not None and isinstance(seat.decision, Undecided) and _fits(seat, latch)
    return _replace(seat, late=latch) if late else seat


def _give_up(seat: Seat, why: str) -> Seat:
    return _replace(seat, decision=Undecided(why)) if seat.asked is not None and seat.decision is None else seat
