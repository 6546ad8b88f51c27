"""Messages of the bay door (tags 224-231): the door of the machines under the table.

The lamp in the bay is on while the door is open.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U16, CommandId, Message

KIND: Final = "bay_door"
# Capabilities that a hello may list.
LIGHTS: Final = "lights"  # has a lamp that is on while the door is open


class State(IntEnum):
    """The state of the firmware."""

    CLOSED = 0
    OPEN = 1
    TESTING = 2


class Reason(IntEnum):
    """Why a command was refused or failed, and what is wrong. The numbers are error codes of the catalog."""

    NONE = 0
    BUSY = 420
    POWER_LOST = 435
    SELF_TEST_FAILED = 436
    OPEN = 494


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=224):
    """Request whether the door is open."""


class SelfTest(Message, frozen=True, tag=225):
    """Test the lamp; refused while the door is open."""

    command: CommandId


class Reset(Message, frozen=True, tag=226):
    """Restart the firmware."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=227):
    """The state of the door, how often it was opened since the start, and what is wrong."""

    state: State
    openings: U16
    reason: Reason


# --- device to host: events --------------------------------------------------------------------------------


class Opened(Message, frozen=True, tag=228):
    """The door was opened, for the time with this number since the start."""

    openings: U16


class Closed(Message, frozen=True, tag=229):
    """The door was closed."""


class SelfTested(Message, frozen=True, tag=230):
    """The end of a self-test: whether the lamp passed."""

    command: CommandId
    lamp: bool


Actuation = SelfTest | Reset
Question = GetStatus
Event = Opened | Closed | SelfTested
Reply = Status

# The messages that each end accepts; any other is an error.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
