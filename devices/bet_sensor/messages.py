"""Every message of a seat's bet sensor (tags 168-183): the spot, the latch and the two lights. Knows no money.

Every change on the spot gets the next number of one rising count that outlives power cuts. `Lock` reads the spot and
closes it in one step; the number of the last change before that step is in the confirmation. A bet counts if and only
if its number is not above it, whenever its frame arrives: the latch is the order.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "bet_sensor"
# Capabilities a hello may name.
LATCHES: Final = "latches"  # reads and closes its spot in one step


class State(IntEnum):
    """Whether bets are taken, and what was latched."""

    NONE = 0  # closed: no bets are taken and nothing is latched, whatever lies there
    AWAITING = 1  # open: bets are taken, and no bet lies there
    PLACED = 2  # open: exactly one chip clearly lies there, and may still be withdrawn
    LOCKED = 3  # latched: nothing that happens on the spot changes the confirmation
    TESTING = 4


class Lies(IntEnum):
    """What lies on the spot, as far as the sensing can tell. Only EMPTY and CHIP are clear."""

    EMPTY = 0
    CHIP = 1  # exactly one chip
    EDGE = 2  # a chip, too weakly: half over the edge
    SEVERAL = 3  # more than one chip
    FOREIGN = 4  # no chip: a coin, a ring, a telephone, or a coil that has drifted
    UNREAD = 5  # the sensing itself does not work


class Change(IntEnum):
    """What a change on the spot means."""

    PLACED = 0  # while bets are taken: a bet lies there now
    WITHDRAWN = 1  # while bets are taken: nothing lies there any more
    UNCLEAR = 2  # what lies there, or lay there before, is neither clearly one chip nor nothing
    LATE = 3  # while no bets are taken: something was laid there; it never counts and is to be given back
    TAKEN = 4  # while no bets are taken: something was taken away; what was latched stays latched


class Light(IntEnum):
    """The two lights of a seat, never both. Acknowledged never means accepted."""

    OFF = 0
    ACKNOWLEDGED = 1  # the bet is sensed and may still be withdrawn
    ACCEPTED = 2  # the bet was latched, and the host has it safe


class Part(IntEnum):
    """What a self-test looks at."""

    COIL = 0
    ACKNOWLEDGED_LAMP = 1
    ACCEPTED_LAMP = 2


class Reason(IntEnum):
    """Why a command was refused or failed, and what a fault is. The numbers are codes of the catalogue."""

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
    """What a lock found at the instant of the latch. `last` is the number of the last change before it."""

    round: U32
    lock_id: CommandId
    last: U32
    lies: Lies


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=168):
    """Are bets taken, what lies there, what is latched?"""


class GetHealth(Message, frozen=True, tag=169):
    """How well does the sensing work?"""


class Open(Message, frozen=True, tag=170):
    """Take bets for a round, on an empty spot; ends the latch of another round. A latched round never opens again."""

    command: CommandId
    round: U32


class Lock(Message, frozen=True, tag=171):
    """Take no more bets and say what lies there, in one step. Urgent. May be repeated: the answer is the same."""

    round: U32
    lock_id: CommandId


class Unlock(Message, frozen=True, tag=172):
    """End the latch that this lock made; no bets are taken until Open."""

    command: CommandId
    lock_id: CommandId


class SetLight(Message, frozen=True, tag=173):
    """Light a seat's lamp for the bet with this number, or switch both off (`sequence` is not looked at then)."""

    command: CommandId
    light: Light
    sequence: U32


class SelfTest(Message, frozen=True, tag=174):
    """Test coil and lamps, with an empty spot and no round."""

    command: CommandId


class Reset(Message, frozen=True, tag=175):
    """Restart the firmware. A latch stands as it was."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=176):
    """What the sensor does and sees; `sequence` is the number of the last change, `round` the last one opened."""

    state: State
    round: U32
    lies: Lies
    sequence: U32
    light: Light
    latch: Latch | None
    reason: Reason  # of the last interruption or fault


class Health(Message, frozen=True, tag=177):
    """The sensing in figures: level (0-1023), where a chip begins, noise, and how chip-like the signal is (%)."""

    lies: Lies
    level: U16
    threshold: U16
    noise: U16
    likeness: U8
    tested: bool  # the last self-test passed

    @property
    def margin(self) -> int:
        """How far the level is from being misread; small means a chip at the edge, or drift."""
        return abs(self.level - self.threshold)


class Locked(Message, frozen=True, tag=178):
    """The confirmation of a lock: from the latch on, nothing changes what it says."""

    latch: Latch


class LockRefused(Message, frozen=True, tag=179):
    """The lock that was asked for does not stand, and no bets are taken either. `latch` is the one that stands."""

    lock_id: CommandId
    reason: Reason
    round: U32
    latch: Latch | None


# --- device to host: events --------------------------------------------------------------------------------


class Changed(Message, frozen=True, tag=180):
    """Something changed on the spot: its number, the round that was open or latched, what it means, what lies there."""

    sequence: U32
    round: U32
    change: Change
    lies: Lies
    level: U16


class Fault(Message, frozen=True, tag=181):
    """The sensing does not work: level and noise as they are."""

    reason: Reason
    level: U16
    noise: U16


class SelfTested(Message, frozen=True, tag=182):
    """Which parts did not pass (bit per `Part`)."""

    command: CommandId
    bad_parts: U8


Actuation = Open | Lock | Unlock | SetLight | SelfTest | Reset
Question = GetStatus | GetHealth
Event = Changed | Fault | SelfTested
Reply = Status | Health | Locked | LockRefused

# What each end may receive; anything else is an error there.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
