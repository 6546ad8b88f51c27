"""Messages of the number generator (tags 144-159). Noise samples are never sent.

A draw is identified by the id of its Draw command. It gives one number or none, and the device remembers it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "rng"
# Capabilities that a hello may list.
DISPLAYS: Final = "displays"  # shows the number, and reads its display back

Number = Annotated[int, msgspec.Meta(ge=1, le=7)]

# The segments of each number on a seven-segment display: bit 0 is the top (a), then clockwise b to f, bit 6 the middle
# (g). The display is read back because one dead segment can make a 7 look like a 1.
SEGMENTS: Final = {1: 0x06, 2: 0x5B, 3: 0x4F, 4: 0x66, 5: 0x6D, 6: 0x7D, 7: 0x07}
BLANK: Final = 0x00
ALL_SEGMENTS: Final = 0x7F


class State(IntEnum):
    """The state of the firmware."""

    IDLE = 0  # healthy, the display is blank
    DRAWING = 1
    SHOWING = 2  # a number is on the display until it is cleared
    TESTING = 3
    FAILED = 4  # a health test or the display failed; kept, also through power cuts, until a self-test passes


class Reason(IntEnum):
    """Why a command was refused or failed, and what failed. The numbers are error codes of the catalog."""

    NONE = 0
    BUSY = 420
    POWER_LOST = 435
    NOISE_STUCK = 468
    NOISE_BIASED = 469
    NOISE_DEAD = 470
    NOT_HEALTHY = 471
    NUMBER_SHOWN = 472
    DISPLAY_FAULT = 473


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=144):
    """Request the state and the number on the display."""


class GetHealth(Message, frozen=True, tag=145):
    """Request how close the noise source came to failing a health test."""


class GetDraw(Message, frozen=True, tag=146):
    """Request the number that this command drew."""

    command: CommandId


class Draw(Message, frozen=True, tag=147):
    """Draw one number and show it."""

    command: CommandId


class Clear(Message, frozen=True, tag=148):
    """Blank the display; another number can be drawn only after this."""

    command: CommandId


class SelfTest(Message, frozen=True, tag=149):
    """Run the start-up tests and light every segment; a latched failure is cleared if all pass."""

    command: CommandId


class Reset(Message, frozen=True, tag=150):
    """Restart the firmware."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=151):
    """The state of the generator. `draw` is the last draw with a number; `number` is the one to be shown.

    `segments` is read back from the display. `reason` is the latched failure.
    """

    state: State
    draw: CommandId | None
    number: Number | None
    segments: U8
    draws: U32
    reason: Reason


class Health(Message, frozen=True, tag=152):
    """Since the start: samples tested, longest run of equal samples, highest count in a window, and both cutoffs."""

    samples: U32
    longest: U16
    repetition_cutoff: U16
    highest: U16
    proportion_cutoff: U16
    window: U16


class PastDraw(Message, frozen=True, tag=153):
    """The number that a command drew, the same for every request; nil if it drew none or is forgotten."""

    command: CommandId
    number: Number | None


# --- device to host: events --------------------------------------------------------------------------------


class Drawn(Message, frozen=True, tag=154):
    """A number was drawn and is on the display, as read back. At most one for each draw."""

    command: CommandId
    number: Number
    segments: U8


class HealthFailed(Message, frozen=True, tag=155):
    """A health test failed; no number will be drawn. `count`: equal samples seen, 0 for tests that count none."""

    reason: Reason
    count: U16


class SelfTested(Message, frozen=True, tag=156):
    """The end of a self-test: the failure, or NONE."""

    command: CommandId
    reason: Reason


class Cleared(Message, frozen=True, tag=157):
    """The display is blank, as read back."""

    command: CommandId


Actuation = Draw | Clear | SelfTest | Reset
Question = GetStatus | GetHealth | GetDraw
Event = Drawn | HealthFailed | SelfTested | Cleared
Reply = Status | Health | PastDraw

# The messages that each end accepts; any other is an error.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
