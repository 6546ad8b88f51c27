"""Messages of the meter sign (tags 200-215): its amounts, their age, and the amounts read back from its display.

Amounts are whole cents. The sign shows every requested amount, also a lower one: the ledger decides whether a meter may
fall. Without a Show for its time limit, the sign marks its amounts as stale.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U16, U32, CommandId, Message

KIND: Final = "meter_sign"
# Capabilities that a hello may list.
READS_BACK: Final = "reads_back"  # reads back what its display shows

Cents = Annotated[int, msgspec.Meta(ge=0, le=0x7FFF_FFFF_FFFF_FFFF)]
# Digits in a row of the display, and the largest amount that it can show.
DIGITS: Final = 10
MAX_CENTS: Final = 10**DIGITS - 1


class Row(IntEnum):
    """The rows of the display, from the top."""

    VALUE = 0
    PENDING = 1
    WON = 2


class State(IntEnum):
    """The state of the sign."""

    BLANK = 0  # no Show since power-up, or blanked: it shows dashes, never an old amount
    SHOWING = 1
    STALE = 2  # it shows its last amounts, marked as stale
    TESTING = 3


class Reason(IntEnum):
    """Why a command was refused or failed, and what a fault is. The numbers are error codes of the catalog."""

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
    """Request the state of the sign and the age of its amounts."""


class GetShown(Message, frozen=True, tag=201):
    """Request the amounts read back from the display."""


class Show(Message, frozen=True, tag=202):
    """Show these amounts. `sequence` must rise with every Show; otherwise it is refused."""

    command: CommandId
    sequence: U32
    value: Cents
    pending: Cents
    won: Cents


class SetLimit(Message, frozen=True, tag=203):
    """Set after how long (ms) without a Show the amounts are stale. There is no "never"."""

    command: CommandId
    limit_ms: U32


class Blank(Message, frozen=True, tag=204):
    """Show no amount at all."""

    command: CommandId


class SelfTest(Message, frozen=True, tag=205):
    """Show the test pattern for a moment and measure every digit; then show the amounts again."""

    command: CommandId


class Reset(Message, frozen=True, tag=206):
    """Restart the firmware; the sign is blank afterwards."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=207):
    """The state of the sign: the sequence of the last Show, its age (ms), and the limit."""

    state: State
    sequence: U32
    age_ms: U32
    limit_ms: U32
    reason: Reason


class Shown(Message, frozen=True, tag=208):
    """The amounts read back, digit by digit; nil where a row shows no amount. `sequence` is that of the last Show."""

    state: State
    sequence: U32
    value: Cents | None
    pending: Cents | None
    won: Cents | None
    stale: bool


# --- device to host: events --------------------------------------------------------------------------------


class Stale(Message, frozen=True, tag=209):
    """No Show came for the time limit: the amounts are marked as stale."""

    sequence: U32
    age_ms: U32


class Fault(Message, frozen=True, tag=210):
    """The display does not show the requested amounts; wrong digits by `Row`, a bit per digit."""

    reason: Reason
    digits: Annotated[list[U16], msgspec.Meta(min_length=len(Row), max_length=len(Row))]


class SelfTested(Message, frozen=True, tag=211):
    """The end of a self-test: digits of each `Row` that failed (bit per digit, bit 0 for the last cent)."""

    command: CommandId
    digits: Annotated[list[U16], msgspec.Meta(min_length=len(Row), max_length=len(Row))]


Actuation = Show | SetLimit | Blank | SelfTest | Reset
Question = GetStatus | GetShown
Event = Stale | Fault | SelfTested
Reply = Status | Shown

# The messages that each end accepts; any other is an error.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
