"""The messages over MQTT.

No message has a field for the order of cards, a PIN, a credential or data about a patron: people appear by their role,
and the journal names them under the same sequence number. Money is in micro-dollars.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import msgspec

from table_controller.uplink.event_types import AnyItem, BlockingReason

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def instant(wall_ns: int) -> str:
    """Return a time in RFC 3339 format, in UTC, to the microsecond."""
    return (_EPOCH + timedelta(microseconds=wall_ns // 1000)).isoformat(timespec="microseconds")


class UplinkMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all messages."""


# --- status -----------------------------------------------------------------------------------------------------------


class StatusMessage(UplinkMessage, frozen=True, kw_only=True):
    """Whether the box is online. `lost` is its last will, which the broker publishes when the connection breaks.

    `new_journal`: this start found no journal and began one, with every meter at its seed. At a table that was played
    before, that is an alarm.
    """

    status: Literal["online", "offline"]
    reason: Literal["connected", "stopped", "lost"]
    new_journal: bool
    boot: int
    journal: str
    version: str
    unverified: bool = False  # a development table with unapproved software


# --- events -----------------------------------------------------------------------------------------------------------


class EventMessage(UplinkMessage, frozen=True, kw_only=True):
    """One published record. `seq` is its number in `journal`, `head` the hash of everything up to it; `round` the last
    opened round; `by` the role of the person who caused it, if any.

    For a gap, `seq` is the last missing record. For a history that differs, it is 0.
    """

    journal: str
    seq: int
    head: str
    at: str
    round: int
    event: str
    items: tuple[AnyItem, ...]
    by: str = ""


# --- state ------------------------------------------------------------------------------------------------------------


class HoldSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A hold: the steps that are left, and the role that acknowledges it."""

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
    escalated: int = 0  # how often it was escalated, because nobody cleared it


class SlotService(msgspec.Struct, frozen=True, kw_only=True):
    """One device. `testing`: it is in test mode; `next_step`: the next step of its return to service."""

    kind: str
    state: str
    testing: bool = False
    next_step: str = ""


class DeckSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One deck or batch, named by its back color."""

    state: str
    place: str
    verified: bool


class PromptSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An open prompt; people answer it at the table, never over MQTT."""

    prompt: int
    kind: str
    role: str
    clauses: tuple[str, ...]
    slot: str | None
    deck: str | None
    seat: int | None


class HaltSummary(msgspec.Struct, frozen=True):
    """Why the box has halted until it is restarted."""

    code: str
    text: str


class FindingSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A finding; its text is only in the journal, because it may name people."""

    record: int
    at: str
    kind: str
    severity: Literal["important", "notice", "refusal"]
    rounds: tuple[int, ...] = ()


class StateMessage(UplinkMessage, frozen=True, kw_only=True):
    """The table after record `seq`. `blocked_by` are the reasons why the next round cannot open, while no round is
    under way; `halted` is why the box has halted.
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
    halted: HaltSummary | None
    blocked_by: tuple[BlockingReason, ...]
    holds: tuple[HoldSummary, ...]
    prompts: tuple[PromptSummary, ...]
    slots: dict[str, SlotService]
    decks: dict[str, DeckSummary]
    findings: tuple[FindingSummary, ...] = ()  # the newest of each kind, the important ones first
    picture: int = 0  # the version of the picture that this is selected from


# --- meters, head, health ---------------------------------------------------------------------------------------------


class MetersMessage(UplinkMessage, frozen=True, kw_only=True):
    """The amounts that the progressive system must be able to show (605a.7), as players may see them.

    A claim that no floorperson has validated is not in them; `entry` is the last entry of the book.
    """

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
    display: str
    overflow: int = 0
    closed: str = ""  # why it is closed to play; empty while it is open


class HeadMessage(UplinkMessage, frozen=True, kw_only=True):
    """The newest durable record; `pitbox journal verify FOLDER --against HEAD` checks that the journal still has it."""

    journal: str
    seq: int
    head: str
    boot: int
    at: str


class LinkHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One device's link, since it was opened."""

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
    """The box's clock. `synchronized`: a time server has answered since power-on."""

    synchronized: bool
    at: str


class UplinkHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The uplink itself. `behind`: records that the broker has not acknowledged; `code`: the present error, if any."""

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


class HealthMessage(UplinkMessage, frozen=True, kw_only=True):
    """The health of the box."""

    at: str
    version: str
    uplink: UplinkHealth
    links: dict[str, LinkHealth]
    disk: DiskHealth | None
    copy: CopyHealth | None
    clock: ClockHealth


# --- commands ---------------------------------------------------------------------------------------------------------


class CommandMessage(UplinkMessage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The optional payload of a command: an id of the sender, which the reply repeats."""

    id: str = ""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """The identity of the box."""

    prefix: str
    game: str
    version: str
    journal: str
    boot: int


class ReplyMessage(UplinkMessage, frozen=True, kw_only=True):
    """The reply to a command. If the command is refused, `text` has the reason and `allowed` the role's commands."""

    ok: bool
    command: str
    role: str
    id: str
    at: str
    text: str
    allowed: tuple[str, ...] = ()
    box: Identity | None = None
