"""Everything that goes over MQTT, as frozen structs: what a receiver may rely on. Nothing is sent or decided here.

No message has room for the order of cards, a PIN, a credential or anything about a patron: people appear by their role,
and who it was stands in the journal under the same sequence number. Money is in micro-dollars, as everywhere.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import msgspec

from table_controller.uplink.items import Cause, Items

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def instant(wall_ns: int) -> str:
    """Return an instant as RFC 3339 says it, in UTC, to the microsecond."""
    return (_EPOCH + timedelta(microseconds=wall_ns // 1000)).isoformat(timespec="microseconds")


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all messages."""


# --- status -----------------------------------------------------------------------------------------------------------


class Status(Body, frozen=True, kw_only=True):
    """Whether the box is there. `lost` is its last will: the broker says it when the box is cut off.

    `begun`: this start found no journal and began one, every meter at its seed. Of a table that was played before, that
    is an alarm.
    """

    status: Literal["online", "offline"]
    reason: Literal["connected", "stopped", "lost"]
    begun: bool
    boot: int
    journal: str
    version: str
    unverified: bool = False  # a development table: nobody approved what runs there


# --- events -----------------------------------------------------------------------------------------------------------


class Told(Body, frozen=True, kw_only=True):
    """One journaled record that is worth telling. `seq` is its number in `journal`, `head` the hash of everything up to
    it; `round` the round that was opened last; `by` the role of who caused it, where somebody did.

    Of a gap, `seq` is the last record that is missing. Of a difference in history it is 0: no record says it.
    """

    journal: str
    seq: int
    head: str
    at: str
    round: int
    event: str
    items: tuple[Items, ...]
    by: str = ""


# --- state ------------------------------------------------------------------------------------------------------------


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """An irregularity that is not cleared: what is still to be done, and who acknowledges it."""

    hold: int
    trigger: str
    clauses: tuple[str, ...]
    outcomes: tuple[str, ...]
    steps: tuple[str, ...]
    acknowledges: str
    this_round: bool
    slot: str | None
    deck: str | None
    seat: int | None


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """One device's place. `testing`: it is in test mode, nothing that it does counts; `step`: next on its way back."""

    kind: str
    state: str
    testing: bool = False
    step: str = ""


class Deck(msgspec.Struct, frozen=True, kw_only=True):
    """One deck or batch, known by its back colour."""

    state: str
    place: str
    verified: bool


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that waits for its answer; it is answered at the table, never here."""

    prompt: int
    kind: str
    role: str
    clauses: tuple[str, ...]
    slot: str | None
    deck: str | None
    seat: int | None


class Halt(msgspec.Struct, frozen=True):
    """Why nothing goes on until the box is restarted."""

    code: str
    text: str


class FindingSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Something that people must be able to find again; its sentence is in the journal, and may name people."""

    record: int
    at: str
    kind: str
    severity: Literal["important", "notice", "refusal"]
    rounds: tuple[int, ...] = ()


class State(Body, frozen=True, kw_only=True):
    """The table after record `seq`. `locked` are the reasons why the next round may not be opened, while none is
    under way; `halted` is why the box takes nothing more.
    """

    seq: int
    at: str
    game: str
    chapter: str
    round: int
    phase: str
    dealing: str
    shuffling: str
    progressive: str
    halted: Halt | None
    locked: tuple[Cause, ...]
    holds: tuple[Hold, ...]
    questions: tuple[Question, ...]
    slots: dict[str, Slot]
    decks: dict[str, Deck]
    findings: tuple[FindingSummary, ...] = ()  # the newest of each kind, the important ones first


# --- meters, head, health ---------------------------------------------------------------------------------------------


class Meters(Body, frozen=True, kw_only=True):
    """What the progressive system must be able to show (605a.7). `entry` is the number of the book's last entry."""

    seq: int
    at: str
    entry: int
    current: int
    reserve: int
    pending: int
    paid_by_table: int
    paid_by_attendant: int
    rate_bp: int
    limit: int
    shown: str
    overflow: int = 0
    closed: str = ""  # why it is closed to play; empty while it is open


class Head(Body, frozen=True, kw_only=True):
    """The newest durable record: `pitbox journal verify FOLDER --against HEAD` tells whether it is still there."""

    journal: str
    seq: int
    head: str
    boot: int
    at: str


class LinkHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One device's link, since it was made."""

    phase: str
    failures: int
    code: str
    round_trip_ms: float
    sent: int
    received: int
    retransmitted: int
    gaps: int


class DiskHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The journal's disk."""

    free_bytes: int
    size_bytes: int
    ballast: bool
    waiting_records: int


class CopyHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The second copy of the journal."""

    configured: bool
    acknowledged: int
    behind: int
    code: str
    text: str


class ClockHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The box's clock. `set`: a time server was heard since power came."""

    set: bool
    at: str


class UplinkHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The uplink itself. `behind`: records that the broker has not acknowledged; `code`: the last trouble, if any."""

    connected: bool
    connections: int
    failures: int
    code: str
    text: str
    acknowledged: int
    behind: int
    commands: int
    refused: int
    dropped: int


class Health(Body, frozen=True, kw_only=True):
    """How the box is."""

    at: str
    version: str
    uplink: UplinkHealth
    links: dict[str, LinkHealth]
    disk: DiskHealth | None
    copy: CopyHealth | None
    clock: ClockHealth


# --- commands ---------------------------------------------------------------------------------------------------------


class Command(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a command's payload may hold, besides nothing: a word of the sender's, given back with the answer."""

    id: str = ""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Which box this is."""

    prefix: str
    game: str
    version: str
    journal: str
    boot: int


class Reply(Body, frozen=True, kw_only=True):
    """The answer to a command. If it is refused, `text` says why and `allowed` names what this role may ask."""

    ok: bool
    command: str
    role: str
    id: str
    at: str
    text: str
    allowed: tuple[str, ...] = ()
    box: Identity | None = None
