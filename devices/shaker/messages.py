"""Every message of the dice shaker (tags 128-143). What lies under the lid has no message.

A roll begins with Arm, whose command id is the roll's name, and ends once: with a Reading or with a NoRoll.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "shaker"
# Capabilities a hello may name.
READS: Final = "reads"  # reads the dice, not only counts the shakes

# Shakes before the lid may come off (575.5(g)(1)(i), 688a.5(i)(1)(i)).
LEAST_SHAKES: Final = 3
# Dice in a shaker, no more and no fewer.
DICE: Final = 3

Face = Annotated[int, msgspec.Meta(ge=1, le=6)]
Values = Annotated[list[Face], msgspec.Meta(min_length=DICE, max_length=DICE)]


class State(IntEnum):
    """What the firmware is doing."""

    RESTING = 0  # no roll is open
    ARMED = 1  # a roll is open, the lid is on
    SETTLING = 2  # the lid is off, the dice come to rest and are read
    TESTING = 3
    FAULTY = 4  # a self-test did not pass; kept until one does


class Sensor(IntEnum):
    """What the firmware sees with."""

    LID = 0
    MOTION = 1  # accelerometer
    WEIGHT = 2  # load cell under the floor
    READER = 3  # looks at the dice through the floor


class Reason(IntEnum):
    """Why a command was refused or failed, and why a roll is no roll. The numbers are codes of the catalogue."""

    NONE = 0
    BUSY = 420
    DOOR_OPEN = 422
    STOPPED = 434
    POWER_LOST = 435
    SELF_TEST_FAILED = 436
    TOO_FEW_SHAKES = 460
    DIE_NOT_FLAT = 461
    DIE_OUTSIDE = 462
    LID_DURING_SHAKE = 463
    UNREADABLE = 464
    NOT_THREE_DICE = 465
    LID_OFF = 466
    NOT_AT_REST = 467


class Ending(IntEnum):
    """What became of a roll."""

    UNKNOWN = 0  # the device does not remember this roll
    OPEN = 1
    READ = 2
    NO_ROLL = 3


class SensorLevel(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One sensor: whether it senses something, its level, the level from which it does, and the margin to it."""

    active: bool
    level: U16
    threshold: U16

    @property
    def margin(self) -> int:
        """How far the level is from being misread."""
        return abs(self.level - self.threshold)


class DieSeen(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One die as the reader sees it: the face that is up, how much it tilts (degrees), how clear the picture is."""

    face: Face | None
    tilt: U8
    clearness: U8


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=128):
    """What are you doing, and what became of the last roll?"""


class GetSensors(Message, frozen=True, tag=129):
    """Sensor levels, weight, and the uncovered dice as they are seen, now."""


class GetRoll(Message, frozen=True, tag=130):
    """What became of this roll?"""

    command: CommandId


class Arm(Message, frozen=True, tag=131):
    """Allow a new roll: the shakes are counted from none. The command id is the roll's name."""

    command: CommandId


class Disarm(Message, frozen=True, tag=132):
    """End an open roll at once; it is no roll. Urgent."""

    command: CommandId


class SelfTest(Message, frozen=True, tag=133):
    """Test every sensor."""

    command: CommandId


class Reset(Message, frozen=True, tag=134):
    """Restart the firmware."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=135):
    """What the shaker believes. `dice` is nil when the weight fits no number of dice.

    `roll` is the last one that was armed; `values` its reading, if it has one; `reason` why it is no roll. `openings`
    counts how often the dice door was opened in its life, so that none goes unseen while nobody listens.
    """

    state: State
    lid_on: bool
    door_open: bool
    dice: U8 | None
    shakes: U16
    roll: CommandId | None
    values: Values | None
    disturbed: bool
    openings: U32
    rolls: U32
    reason: Reason


class Sensors(Message, frozen=True, tag=136):
    """Lid (0-1023) and motion (thousandths of g, the last peak), weight in tenths of a gram, the uncovered dice."""

    lid: SensorLevel
    motion: SensorLevel
    weight: U16
    dice: Annotated[list[DieSeen], msgspec.Meta(max_length=8)]


class Roll(Message, frozen=True, tag=137):
    """What became of a roll, the same answer however often it is asked."""

    command: CommandId
    ending: Ending
    shakes: U16
    values: Values | None
    reason: Reason


# --- device to host: events --------------------------------------------------------------------------------


class Shaken(Message, frozen=True, tag=138):
    """Shakes counted since the roll was armed; 0 says that it has just been. Without a roll: since the lid is on."""

    roll: CommandId | None
    shakes: U16


class Lid(Message, frozen=True, tag=139):
    """The lid was put on or taken off."""

    on: bool


class Reading(Message, frozen=True, tag=140):
    """The dice of a roll: uncovered, at rest, every one of them flat. There is one for a roll, or none."""

    command: CommandId
    shakes: U16
    values: Values
    flat: Annotated[list[bool], msgspec.Meta(min_length=DICE, max_length=DICE)]


class NoRoll(Message, frozen=True, tag=141):
    """The roll does not count, and why; how many dice are in the shaker (nil: not known), how many of them flat."""

    command: CommandId
    reason: Reason
    shakes: U16
    dice: U8 | None
    flat: U8


class Dice(Message, frozen=True, tag=142):
    """Hands were at the dice: their door, how many there are, whether they lie as they were read."""

    door_open: bool
    dice: U8 | None
    disturbed: bool


class SelfTested(Message, frozen=True, tag=143):
    """Which sensors did not pass (bit per `Sensor`)."""

    command: CommandId
    bad_sensors: U8


Actuation = Arm | Disarm | SelfTest | Reset
Question = GetStatus | GetSensors | GetRoll
Event = Shaken | Lid | Reading | NoRoll | Dice | SelfTested
Reply = Status | Sensors | Roll

# What each end may receive; anything else is an error there.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
