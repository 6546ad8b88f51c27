"""Messages of the dealer's keypad (tags 184-199): keys, key switch, prompts, lamps.

Every action of a person gets the next number of one rising count, kept through power cuts. The keypad reports the
latest actions again at the start of every session, each with its age, so that none is lost or counted twice.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "keypad"
# Capabilities that a hello may list.
DISPLAY: Final = "display"  # has text lines for prompts


class Key(IntEnum):
    """The keys."""

    START_GAME = 0
    LOCK_OUT = 1
    SEAT_1 = 2
    SEAT_2 = 3
    SEAT_3 = 4
    SEAT_4 = 5
    SEAT_5 = 6
    SEAT_6 = 7
    CONFIRM = 8
    DIGIT_0 = 9
    DIGIT_1 = 10
    DIGIT_2 = 11
    DIGIT_3 = 12
    DIGIT_4 = 13
    DIGIT_5 = 14
    DIGIT_6 = 15
    DIGIT_7 = 16
    DIGIT_8 = 17
    DIGIT_9 = 18
    ENTER = 19
    CLEAR = 20


class Switch(IntEnum):
    """Positions of the key switch. In OFF and TECHNICIAN the keypad accepts only the lock-out key."""

    OFF = 0
    DEALER = 1
    FLOOR = 2
    TECHNICIAN = 3


class KeypadPrompt(IntEnum):
    """The entry that the dealer is prompted for."""

    NOTHING = 0
    SEATS = 1  # seat keys toggle, CONFIRM ends
    STUB_COUNT = 2  # digits, ENTER ends
    CHIP_COUNT = 3


class Lamp(IntEnum):
    """The lamps that the host controls."""

    START_GAME = 0
    LOCK_OUT = 1
    ATTENTION = 2


class State(IntEnum):
    """The state of the firmware."""

    IDLE = 0  # no prompt
    ASKING = 1  # waiting for an entry
    TESTING = 2


class Reason(IntEnum):
    """Why a command was refused or failed, and what a fault is. The numbers are error codes of the catalog."""

    NONE = 0
    BUSY = 420
    POWER_LOST = 435
    SELF_TEST_FAILED = 436
    KEY_HELD = 490
    SWITCHED_OFF = 491
    STUCK_KEY = 492


# A display of four lines with twenty characters each, printable ASCII.
Line = Annotated[str, msgspec.Meta(max_length=20, pattern=r"^[ -~]*\Z")]
Lines = Annotated[list[Line], msgspec.Meta(max_length=4)]


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=184):
    """Request the prompt, the position of the key switch, and the remembered presses."""


class Show(Message, frozen=True, tag=185):
    """Show these lines and prompt for this entry; an unfinished entry is discarded."""

    command: CommandId
    prompt: KeypadPrompt
    lines: Lines


class SetLamps(Message, frozen=True, tag=186):
    """Switch the lamps (bit per `Lamp`)."""

    command: CommandId
    lamps: U8


class SelfTest(Message, frozen=True, tag=187):
    """Test keys, lamps and display, with no key down and no prompt."""

    command: CommandId


class Reset(Message, frozen=True, tag=188):
    """Restart the firmware."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=189):
    """The state of the keypad. `press` is the last number, `oldest` the oldest remembered one.

    `held` and `stuck` have a bit per `Key`; `up_ms` is the time since power-up, modulo 2^32 ms.
    """

    state: State
    switch: Switch
    prompt: KeypadPrompt
    press: U32
    oldest: U32
    lamps: U8
    held: U32
    stuck: U32
    up_ms: U32
    reason: Reason


# --- device to host: events, each with its number, its age when sent, and the time of the press ---------------


class Pressed(Message, frozen=True, tag=190):
    """START_GAME or LOCK_OUT was pressed, with the key switch in this position."""

    press: U32
    age_ms: U32
    at_ms: U32
    key: Key
    switch: Switch


class SeatsEntered(Message, frozen=True, tag=191):
    """CONFIRM was pressed: the seats in the round (bit 0 for seat 1), entered for the Show with this id."""

    press: U32
    age_ms: U32
    at_ms: U32
    asked: CommandId
    seats: U8


class CountEntered(Message, frozen=True, tag=192):
    """ENTER was pressed: the number entered for the Show with this id."""

    press: U32
    age_ms: U32
    at_ms: U32
    asked: CommandId
    prompt: KeypadPrompt
    count: U16


class Turned(Message, frozen=True, tag=193):
    """The key switch was turned."""

    press: U32
    age_ms: U32
    at_ms: U32
    switch: Switch


class Fault(Message, frozen=True, tag=194):
    """A key has been down for so long that it is stuck."""

    reason: Reason
    key: Key


class SelfTested(Message, frozen=True, tag=195):
    """The end of a self-test: keys and lamps that failed (bit per `Key`, `Lamp`), and whether the display passed."""

    command: CommandId
    bad_keys: U32
    bad_lamps: U8
    display: bool


# Actions of a person; the other events have no number.
KeypadAction = Pressed | SeatsEntered | CountEntered | Turned

Actuation = Show | SetLamps | SelfTest | Reset
Question = GetStatus
Event = KeypadAction | Fault | SelfTested
Reply = Status

# The messages that each end accepts; any other is an error.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
