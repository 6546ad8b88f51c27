"""Every message of the number generator (tags 144-159). No sample of its noise has a message.

A draw is named by the id of its Draw command, gives one number or none, and is remembered with it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "rng"
# Capabilities a hello may name.
DISPLAYS: Final = "displays"  # shows the number, and reads back what its display shows

Number = Annotated[int, msgspec.Meta(ge=1, le=7)]

# What each number lights on a display of seven segments: bit 0 is the top one (a), then clockwise b to f, bit 6 the
# middle one (g). One dead segment can make a 7 look like a 1, which is why it is read back.
SEGMENTS: Final = {1: 0x06, 2: 0x5B, 3: 0x4F, 4: 0x66, 5: 0x6D, 6: 0x7D, 7: 0x07}
BLANK: Final = 0x00
ALL_SEGMENTS: Final = 0x7F


class State(IntEnum):
    """What the firmware is doing."""

    IDLE = 0  # healthy, the display is blank
    DRAWING = 1
    SHOWING = 2  # a number stands on the display until it is cleared
    TESTING = 3
    FAILED = 4  # a health test or the display failed; kept, also over power cuts, until a self-test passes


class Reason(IntEnum):
    """Why a command was refused or failed, and what failed. The numbers are codes of the catalogue."""

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
    """What are you doing, and what do you show?"""


class GetHealth(Message, frozen=True, tag=145):
    """How close did the noise source come to failing a test?"""


class GetDraw(Message, frozen=True, tag=146):
    """Which number did this command draw?"""

    command: CommandId


class Draw(Message, frozen=True, tag=147):
    """Draw one number and show it."""

    command: CommandId


class Clear(Message, frozen=True, tag=148):
    """Blank the display; only then can another number be drawn."""

    command: CommandId


class SelfTest(Message, frozen=True, tag=149):
    """Run the start-up tests and light every segment; a failure that is latched ends if all pass."""

    command: CommandId


class Reset(Message, frozen=True, tag=150):
    """Restart the firmware."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=151):
    """What the generator believes. `draw` is the last one that gave a number, `number` what should be on the display.

    `segments` is what the display shows, read back. `reason` is what failed, while it is latched.
    """

    state: State
    draw: CommandId | None
    number: Number | None
    segments: U8
    draws: U32
    reason: Reason


class Health(Message, frozen=True, tag=152):
    """Since the start: samples tested, the most equal in a row, the most equal in a window, and where each fails."""

    samples: U32
    longest: U16
    repetition_cutoff: U16
    highest: U16
    proportion_cutoff: U16
    window: U16


class PastDraw(Message, frozen=True, tag=153):
    """The number that a command drew, the same however often it is asked; nil: none, or long ago."""

    command: CommandId
    number: Number | None


# --- device to host: events --------------------------------------------------------------------------------


class Drawn(Message, frozen=True, tag=154):
    """A number was drawn and stands on the display, as read back. There is one for a draw, or none."""

    command: CommandId
    number: Number
    segments: U8


class HealthFailed(Message, frozen=True, tag=155):
    """A test failed and no number will be drawn. `count` is how many equal samples it saw, 0 where none are counted."""

    reason: Reason
    count: U16


class SelfTested(Message, frozen=True, tag=156):
    """The end of a self-test: what did not pass, or NONE."""

    command: CommandId
    reason: Reason


class Cleared(Message, frozen=True, tag=157):
    """The display is blank, as read back."""

    command: CommandId


Actuation = Draw | Clear | SelfTest | Reset
Question = GetStatus | GetHealth | GetDraw
Event = Drawn | HealthFailed | SelfTested | Cleared
Reply = Status | Health | PastDraw

# What each end may receive; anything else is an error there.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
