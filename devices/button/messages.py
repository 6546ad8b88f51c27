"""Messages of the flat button's sensor mat (tags 160-167).

A place is a position number: 1 in front of the dealer, then counterclockwise to 7. An unclear reading has no place, but
a reason.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "button"
# Capabilities that a hello may list.
LOCATES: Final = "locates"  # detects the place by itself

PLACES: Final = 7
Place = Annotated[int, msgspec.Meta(ge=1, le=PLACES)]


class State(IntEnum):
    """The state of the firmware."""

    WATCHING = 0
    TESTING = 1
    FAULTY = 2  # a sensor is dead or a self-test failed; kept until a self-test passes


class Reason(IntEnum):
    """Why a command was refused or failed, and why there is no place. The numbers are error codes of the catalog."""

    NONE = 0
    BUSY = 420
    POWER_LOST = 435
    SELF_TEST_FAILED = 436
    NO_BUTTON = 475
    MORE_THAN_ONE = 476
    BETWEEN_PLACES = 477
    MOVING = 478
    SENSOR_DEAD = 479


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=160):
    """Request the place of the button."""


class GetSensors(Message, frozen=True, tag=161):
    """Request the current level of every place."""


class SelfTest(Message, frozen=True, tag=162):
    """Test every sensor."""

    command: CommandId


class Reset(Message, frozen=True, tag=163):
    """Restart the firmware."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=164):
    """The place of the button, or the reason why there is none. `moves` counts since the start."""

    state: State
    place: Place | None
    reason: Reason
    moves: U32


class Sensors(Message, frozen=True, tag=165):
    """Levels by place (0-1023): a button is there at `present` or above, and is not there at `absent` or below."""

    levels: Annotated[list[U16], msgspec.Meta(min_length=PLACES, max_length=PLACES)]
    absent: U16
    present: U16

    def margin(self, place: int) -> int:
        """Return the distance of a place's level from unclear; negative if it is unclear."""
        level = self.levels[place - 1]
        return max(level - self.present, self.absent - level)


# --- device to host: events --------------------------------------------------------------------------------


class Moved(Message, frozen=True, tag=166):
    """The button moved to another place, or its place became unclear. `before` is its last clear place."""

    before: Place | None
    place: Place | None
    reason: Reason


class SelfTested(Message, frozen=True, tag=167):
    """The end of a self-test: places whose sensor failed (bit 0 for place 1)."""

    command: CommandId
    bad_places: U8


Actuation = SelfTest | Reset
Question = GetStatus | GetSensors
Event = Moved | SelfTested
Reply = Status | Sensors

# The messages that each end accepts; any other is an error.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
