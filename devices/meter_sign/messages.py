"""Every message of the meter sign (tags 200-215): what it shows, how old that is, and what can really be read on it.

Amounts are whole cents, never fractions. The sign shows what it is told, also when that is less than before: whether a
meter may fall is the ledger's business. What it is not told for its limit, it marks as stale by itself.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U16, U32, CommandId, Message

KIND: Final = "meter_sign"
# Capabilities a hello may name.
READS_BACK: Final = "reads_back"  # measures what its glass really shows

Cents = Annotated[int, msgspec.Meta(ge=0, le=0x7FFF_FFFF_FFFF_FFFF)]
# Digits in a row of the glass, and the most that it can show.
DIGITS: Final = 10
MOST_CENTS: Final = 10**DIGITS - 1


class Row(IntEnum):
    """The rows of the glass, from the top."""

    VALUE = 0
    PENDING = 1
    WON = 2


class State(IntEnum):
    """What the sign is doing."""

    BLANK = 0  # it was told nothing since power came, or to be blank: it shows dashes, never an old value
    SHOWING = 1
    STALE = 2  # it shows what it was last told, marked as stale
    TESTING = 3


class Reason(IntEnum):
    """Why a command was refused or failed, and what a fault is. The numbers are codes of the catalogue."""

    NONE = 0
    BUSY = 420
    POWER_LOST = 435
    SELF_TEST_FAILED = 436
    TOO_LARGE = 495
    OLD_SEQUENCE = 496
    NO_LIMIT = 497
    WRONG_GLASS = 498
    STALE = 499


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=200):
    """What do you do, and how old is what you were told?"""


class GetShown(Message, frozen=True, tag=201):
    """What can really be read on your glass?"""


class Show(Message, frozen=True, tag=202):
    """Show these amounts. `sequence` rises with every one; what has not risen is refused."""

    command: CommandId
    sequence: U32
    value: Cents
    pending: Cents
    won: Cents


class SetLimit(Message, frozen=True, tag=203):
    """After this long (ms) without a Show, what is shown is stale. There is no "never"."""

    command: CommandId
    limit_ms: U32


class Blank(Message, frozen=True, tag=204):
    """Show no amount at all."""

    command: CommandId


class SelfTest(Message, frozen=True, tag=205):
    """Show the test pattern for a moment and measure every digit; then what was shown before is shown again."""

    command: CommandId


class Reset(Message, frozen=True, tag=206):
    """Restart the firmware; the sign is blank afterwards."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=207):
    """What the sign does: the sequence it was last told, how long ago (ms), and its limit."""

    state: State
    sequence: U32
    age_ms: U32
    limit_ms: U32
    reason: Reason


class Shown(Message, frozen=True, tag=208):
    """What can be read on the glass, digit by digit; nil where it is no amount. `sequence` is what it was last told."""

    state: State
    sequence: U32
    value: Cents | None
    pending: Cents | None
    won: Cents | None
    stale: bool


# --- device to host: events --------------------------------------------------------------------------------


class Stale(Message, frozen=True, tag=209):
    """Nothing was told for longer than the limit: what is shown is marked as stale."""

    sequence: U32
    age_ms: U32


class Fault(Message, frozen=True, tag=210):
    """The glass does not show what it was told; the digits that are wrong, a number with a bit per digit, by `Row`."""

    reason: Reason
    digits: Annotated[list[U16], msgspec.Meta(min_length=len(Row), max_length=len(Row))]


class SelfTested(Message, frozen=True, tag=211):
    """Which digits of each `Row` did not pass (bit per digit, bit 0 for the last cent)."""

    command: CommandId
    digits: Annotated[list[U16], msgspec.Meta(min_length=len(Row), max_length=len(Row))]


Actuation = Show | SetLimit | Blank | SelfTest | Reset
Question = GetStatus | GetShown
Event = Stale | Fault | SelfTested
Reply = Status | Shown

# What each end may receive; anything else is an error there.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
