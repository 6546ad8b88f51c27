"""Every message of the dealer's keypad (tags 184-199): keys, key switch, prompts, lamps. Not what a press may start.

Whatever a person does that a host must know has the next number of one rising count that outlives power cuts. The last
ones are told again at the start of every session, each with its age, so that none is lost and none is counted twice.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "keypad"
# Capabilities a hello may name.
DISPLAY: Final = "display"  # has lines of text for prompts


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
    """Where the key switch stands. OFF and TECHNICIAN take no keys but the lock-out, which is always taken."""

    OFF = 0
    DEALER = 1
    FLOOR = 2
    TECHNICIAN = 3


class Prompt(IntEnum):
    """What the dealer is asked to enter."""

    NOTHING = 0
    SEATS = 1  # seat keys toggle, CONFIRM ends
    STUB_COUNT = 2  # digits, ENTER ends
    CHIP_COUNT = 3


class Lamp(IntEnum):
    """The lamps that the host switches."""

    START_GAME = 0
    LOCK_OUT = 1
    ATTENTION = 2


class State(IntEnum):
    """What the firmware is doing."""

    IDLE = 0  # nothing is asked
    ASKING = 1  # an entry is awaited or half made
    TESTING = 2


class Reason(IntEnum):
    """Why a command was refused or failed, and what a fault is. The numbers are codes of the catalogue."""

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
    """What is asked, where does the key switch stand, which presses do you remember?"""


class Show(Message, frozen=True, tag=185):
    """Show these lines and ask for this entry; an entry that was half made is gone."""

    command: CommandId
    prompt: Prompt
    lines: Lines


class SetLamps(Message, frozen=True, tag=186):
    """Switch the lamps (bit per `Lamp`)."""

    command: CommandId
    lamps: U8


class SelfTest(Message, frozen=True, tag=187):
    """Test keys, lamps and display, with no key held and nothing asked."""

    command: CommandId


class Reset(Message, frozen=True, tag=188):
    """Restart the firmware."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=189):
    """What the keypad does. `press` is the last number given, `oldest` the oldest that is still remembered.

    `held` and `stuck` have a bit per `Key`; `up_ms` is the time since power came, modulo 2^32 ms.
    """

    state: State
    switch: Switch
    prompt: Prompt
    press: U32
    oldest: U32
    lamps: U8
    held: U32
    stuck: U32
    up_ms: U32
    reason: Reason


# --- device to host: events, each with its number, its age when it was sent, and when it was pressed ----------


class Pressed(Message, frozen=True, tag=190):
    """START_GAME or LOCK_OUT was pressed, with the key switch standing there."""

    press: U32
    age_ms: U32
    at_ms: U32
    key: Key
    switch: Switch


class SeatsEntered(Message, frozen=True, tag=191):
    """CONFIRM: the seats in the round (bit 0 for seat 1), as the answer to the Show with this id."""

    press: U32
    age_ms: U32
    at_ms: U32
    asked: CommandId
    seats: U8


class CountEntered(Message, frozen=True, tag=192):
    """ENTER: the number that was typed, as the answer to the Show with this id."""

    press: U32
    age_ms: U32
    at_ms: U32
    asked: CommandId
    prompt: Prompt
    count: U16


class Turned(Message, frozen=True, tag=193):
    """The key switch was turned."""

    press: U32
    age_ms: U32
    at_ms: U32
    switch: Switch


class Fault(Message, frozen=True, tag=194):
    """A key has been down for longer than any finger stays on it."""

    reason: Reason
    key: Key


class SelfTested(Message, frozen=True, tag=195):
    """Which keys (bit per `Key`) and lamps (bit per `Lamp`) did not pass, and whether the display did."""

    command: CommandId
    bad_keys: U32
    bad_lamps: U8
    display: bool


# What a person did; the rest of the events has no number.
Act = Pressed | SeatsEntered | CountEntered | Turned

Actuation = Show | SetLamps | SelfTest | Reset
Question = GetStatus
Event = Act | Fault | SelfTested
Reply = Status

# What each end may receive; anything else is an error there.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
