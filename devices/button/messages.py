"""Every message of the flat button's sensor mat (tags 160-167). Where the button should lie is not known here.

A place is a position number: 1 in front of the dealer, then counterclockwise to 7. A reading that is not clear gives no
place and says why.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "button"
# Capabilities a hello may name.
LOCATES: Final = "locates"  # tells the place by itself

PLACES: Final = 7
Place = Annotated[int, msgspec.Meta(ge=1, le=PLACES)]


class State(IntEnum):
    """What the firmware is doing."""

    WATCHING = 0
    TESTING = 1
    FAULTY = 2  # a sensor is dead or a self-test did not pass; kept until one does


class Reason(IntEnum):
    """Why a command was refused or failed, and why there is no place. The numbers are codes of the catalogue."""

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
    """Where does the button lie?"""


class GetSensors(Message, frozen=True, tag=161):
    """The level of every place, now."""


class SelfTest(Message, frozen=True, tag=162):
    """Test every sensor."""

    command: CommandId


class Reset(Message, frozen=True, tag=163):
    """Restart the firmware."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=164):
    """Where the button lies; without a place `reason` says why there is none. `moves` counts since the start."""

    state: State
    place: Place | None
    reason: Reason
    moves: U32


class Sensors(Message, frozen=True, tag=165):
    """Levels by place (0-1023); from `present` up a button lies there, down to `absent` none does."""

    levels: Annotated[list[U16], msgspec.Meta(min_length=PLACES, max_length=PLACES)]
    absent: U16
    present: U16

    def margin(self, place: int) -> int:
        """How far a place's level is from not being clear; below zero it is not clear."""
        level = self.levels[place - 1]
        return max(level - self.present, self.absent - level)


# --- device to host: events --------------------------------------------------------------------------------


class Moved(Message, frozen=True, tag=166):
    """The button lies elsewhere, or nowhere that is clear. `before` is where it last lay, if it did."""

    before: Place | None
    place: Place | None
    reason: Reason


class SelfTested(Message, frozen=True, tag=167):
    """Which places' sensors did not pass (bit 0 for place 1)."""

    command: CommandId
    bad_places: U8


Actuation = SelfTest | Reset
Question = GetStatus | GetSensors
Event = Moved | SelfTested
Reply = Status | Sensors

# What each end may receive; anything else is an error there.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
