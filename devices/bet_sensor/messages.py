"""Messages of a seat's bet sensor (tags 168-183): the spot, the latch and the two lights.

Every change on the spot gets the next number of one rising count, kept through power cuts. `Lock` reads the spot and
closes it in one step; its confirmation has the number of the last change before that step. A bet counts if and only if
its number is not above that number, no matter when its frame arrives.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "bet_sensor"
# Capabilities that a hello may list.
LATCHES: Final = "latches"  # reads and closes its spot in one step


class State(IntEnum):
    """Whether bets are open, and whether the spot is latched."""

    NONE = 0  # closed: no bets, nothing latched
    AWAITING = 1  # open, without a bet
    PLACED = 2  # open, with exactly one chip, which may still be withdrawn
    LOCKED = 3  # latched: later changes on the spot do not change the confirmation
    TESTING = 4


class SpotContent(IntEnum):
    """What is on the spot, as sensed. Only EMPTY and CHIP are clear."""

    EMPTY = 0
    CHIP = 1  # exactly one chip
    EDGE = 2  # a chip with a weak signal: half over the edge
    SEVERAL = 3  # more than one chip
    FOREIGN = 4  # not a chip: a coin, a ring, a phone, or a coil that has drifted
    UNREAD = 5  # the sensing does not work


class Change(IntEnum):
    """The meaning of a change on the spot."""

    PLACED = 0  # while bets are open: a bet was placed
    WITHDRAWN = 1  # while bets are open: the spot is empty again
    UNCLEAR = 2  # the spot is, or was, neither clearly empty nor clearly one chip
    LATE = 3  # while bets are closed: something was placed; it never counts and must be returned
    TAKEN = 4  # while bets are closed: something was removed; the latch is unchanged


class Light(IntEnum):
    """The two lights of a seat; never both are on."""

    OFF = 0
    ACKNOWLEDGED = 1  # the bet is sensed and may still be withdrawn
    ACCEPTED = 2  # the bet was latched and recorded by the host


class Part(IntEnum):
    """The parts that a self-test checks."""

    COIL = 0
    ACKNOWLEDGED_LAMP = 1
    ACCEPTED_LAMP = 2


class Reason(IntEnum):
    """Why a command was refused or failed, and what a fault is. The numbers are error codes of the catalog."""

    NONE = 0
    BUSY = 420
    POWER_LOST = 435
    SELF_TEST_FAILED = 436
    WRONG_ROUND = 481
    OTHER_LOCK = 482
    NOT_OPEN = 483
    SPOT_OCCUPIED = 484
    NO_SUCH_BET = 485
    LATE_BET = 486
    UNCLEAR_BET = 487
    SENSING_FAILED = 488
    BET_TAKEN = 489


class Latch(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """The state of the spot at the moment of the lock. `last_change` numbers the last change before it."""

    round: U32
    lock_id: CommandId
    last_change: U32
    content: SpotContent


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=168):
    """Request the state of the spot: bets open or closed, content, latch."""


class GetHealth(Message, frozen=True, tag=169):
    """Request the quality of the sensing."""


class Open(Message, frozen=True, tag=170):
    """Open bets for a round, on an empty spot; releases the latch of another round. A latched round never reopens."""

    command: CommandId
    round: U32


class Lock(Message, frozen=True, tag=171):
    """Close bets and read the spot, in one step. Urgent. May be repeated: the answer is the same."""

    round: U32
    lock_id: CommandId


class Unlock(Message, frozen=True, tag=172):
    """Release the latch of this lock; bets stay closed until Open."""

    command: CommandId
    lock_id: CommandId


class SetLight(Message, frozen=True, tag=173):
    """Turn on a light for the bet with this number, or turn both off (`sequence` is ignored then)."""

    command: CommandId
    light: Light
    sequence: U32


class SelfTest(Message, frozen=True, tag=174):
    """Test coil and lamps, with an empty spot and no open or latched round."""

    command: CommandId


class Reset(Message, frozen=True, tag=175):
    """Restart the firmware. A latch is kept."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=176):
    """The state of the sensor; `sequence` is the number of the last change, `round` the last opened round."""

    state: State
    round: U32
    content: SpotContent
    sequence: U32
    light: Light
    latch: Latch | None
    reason: Reason  # of the latest interruption or fault


class Health(Message, frozen=True, tag=177):
    """Measurements of the sensing: level (0-1023), threshold of a chip, noise, and chip likeness of the signal (%)."""

    content: SpotContent
    level: U16
    threshold: U16
    noise: U16
    likeness: U8
    tested: bool  # the last self-test passed

    @property
    def margin(self) -> int:
        """Distance of the level from its threshold; small means a chip at the edge, or drift."""
        return abs(self.level - self.threshold)


class Locked(Message, frozen=True, tag=178):
    """The confirmation of a lock; it never changes afterwards."""

    latch: Latch


class LockRefused(Message, frozen=True, tag=179):
    """The lock was refused; bets are closed anyway. `latch` is the existing latch, if any."""

    lock_id: CommandId
    reason: Reason
    round: U32
    latch: Latch | None


# --- device to host: events --------------------------------------------------------------------------------


class Changed(Message, frozen=True, tag=180):
    """The spot changed: number of the change, open or latched round, meaning, new content."""

    sequence: U32
    round: U32
    change: Change
    content: SpotContent
    level: U16


class Fault(Message, frozen=True, tag=181):
    """The sensing does not work; with its current level and noise."""

    reason: Reason
    level: U16
    noise: U16


class SelfTested(Message, frozen=True, tag=182):
    """The end of a self-test: parts that failed (bit per `Part`)."""

    command: CommandId
    bad_parts: U8


Actuation = Open | Lock | Unlock | SetLight | SelfTest | Reset
Question = GetStatus | GetHealth
Event = Changed | Fault | SelfTested
Reply = Status | Health | Locked | LockRefused

# The messages that each end accepts; any other is an error.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
