"""Messages of the dice shaker (tags 128-143). Covered dice are never reported.

A roll begins with Arm, whose command id identifies the roll, and ends once: with a Reading or with a NoRoll.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "shaker"
# Capabilities that a hello may list.
READS: Final = "reads"  # reads the dice, in addition to counting shakes

# Shakes before the lid may come off (575.5(g)(1)(i), 688a.5(i)(1)(i)).
LEAST_SHAKES: Final = 3
# Dice in a shaker, no more and no fewer.
DICE: Final = 3

Face = Annotated[int, msgspec.Meta(ge=1, le=6)]
Values = Annotated[list[Face], msgspec.Meta(min_length=DICE, max_length=DICE)]


class State(IntEnum):
    """The state of the firmware."""

    RESTING = 0  # no roll is open
    ARMED = 1  # a roll is open, the lid is on
    SETTLING = 2  # the lid is off; the dice settle and are read
    TESTING = 3
    FAULTY = 4  # a self-test failed; kept until one passes


class Sensor(IntEnum):
    """The sensors."""

    LID = 0
    MOTION = 1  # accelerometer
    WEIGHT = 2  # load cell under the floor
    READER = 3  # camera below the floor


class Reason(IntEnum):
    """Why a command was refused or failed, and why a roll does not count. Numbers: error codes of the catalog."""

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
    """How a roll ended."""

    UNKNOWN = 0  # the device does not remember this roll
    OPEN = 1
    READ = 2
    NO_ROLL = 3


class SensorLevel(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One sensor: whether it is active, its level, and its threshold."""

    active: bool
    level: U16
    threshold: U16

    @property
    def margin(self) -> int:
        """Distance of the level from its threshold."""
        return abs(self.level - self.threshold)


class DieSeen(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One die as read: the face that is up, its tilt (degrees), and the clearness of the picture (0-255)."""

    face: Face | None
    tilt: U8
    clearness: U8


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=128):
    """Request the state and the result of the last roll."""


class GetSensors(Message, frozen=True, tag=129):
    """Request the current sensor levels, weight, and uncovered dice."""


class GetRoll(Message, frozen=True, tag=130):
    """Request the result of this roll."""

    command: CommandId


class Arm(Message, frozen=True, tag=131):
    """Open a new roll: shakes count from 0. The command id identifies the roll."""

    command: CommandId


class Disarm(Message, frozen=True, tag=132):
    """End an open roll at once; it does not count. Urgent."""

    command: CommandId


class SelfTest(Message, frozen=True, tag=133):
    """Test every sensor."""

    command: CommandId


class Reset(Message, frozen=True, tag=134):
    """Restart the firmware."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=135):
    """The state of the shaker. `dice` is nil when the weight matches no number of dice.

    `roll` is the last armed roll; `values` is its reading, if any; `reason` is why it does not count. `openings` counts
    all openings of the dice door, so that none goes unnoticed while no host is connected.
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
    """Lid (0-1023), motion (last peak in thousandths of g), weight (tenths of a gram), and the uncovered dice."""

    lid: SensorLevel
    motion: SensorLevel
    weight: U16
    dice: Annotated[list[DieSeen], msgspec.Meta(max_length=8)]


class Roll(Message, frozen=True, tag=137):
    """The result of a roll, the same for every request."""

    command: CommandId
    ending: Ending
    shakes: U16
    values: Values | None
    reason: Reason


# --- device to host: events --------------------------------------------------------------------------------


class Shaken(Message, frozen=True, tag=138):
    """Shakes since the roll was armed; 0 when it was just armed. Without a roll: since the lid was put on."""

    roll: CommandId | None
    shakes: U16


class Lid(Message, frozen=True, tag=139):
    """The lid was put on or taken off."""

    on: bool


class Reading(Message, frozen=True, tag=140):
    """The dice of a roll: uncovered, settled, and all flat. At most one for each roll."""

    command: CommandId
    shakes: U16
    values: Values
    flat: Annotated[list[bool], msgspec.Meta(min_length=DICE, max_length=DICE)]


class NoRoll(Message, frozen=True, tag=141):
    """The roll does not count: the reason, the dice in the shaker (nil if unknown), and how many of them are flat."""

    command: CommandId
    reason: Reason
    shakes: U16
    dice: U8 | None
    flat: U8


class Dice(Message, frozen=True, tag=142):
    """The door or the dice changed: door state, number of dice, and whether they were disturbed after the reading."""

    door_open: bool
    dice: U8 | None
    disturbed: bool


class SelfTested(Message, frozen=True, tag=143):
    """The end of a self-test: sensors that failed (bit per `Sensor`)."""

    command: CommandId
    bad_sensors: U8


Actuation = Arm | Disarm | SelfTest | Reset
Question = GetStatus | GetSensors | GetRoll
Event = Shaken | Lid | Reading | NoRoll | Dice | SelfTested
Reply = Status | Sensors | Roll

# The messages that each end accepts; any other is an error.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
