"""The items of an event message: one struct for each kind of change at a table."""

from __future__ import annotations

from typing import Literal

import msgspec


class EventItem(msgspec.Struct, frozen=True, kw_only=True, tag_field="item", omit_defaults=True):
    """Base of the items of an event message."""


class BlockingReason(msgspec.Struct, frozen=True):
    """A reason that blocks an action: its stable key, the clause, who may clear it and with what evidence."""

    key: str
    clause: str
    text: str
    clears: str
    evidence: str


class JournalOpenedItem(EventItem, frozen=True, kw_only=True, tag="journal_opened"):
    """A start of the box opened the journal; `clean`: the run before ended in order."""

    boot: int
    clean: bool


class BoxStartedItem(EventItem, frozen=True, kw_only=True, tag="box_started"):
    """The box began to control the table. `clock_back`: its clock is behind the last record."""

    boot: int
    clock_back: bool


class RoundItem(EventItem, frozen=True, kw_only=True, tag="round"):
    """A round was opened, is complete, or is void."""

    number: int
    state: Literal["opened", "complete", "void"]


class IrregularityFoundItem(EventItem, frozen=True, kw_only=True, tag="irregularity_found"):
    """An irregularity, the outcomes that the rule orders, and the clauses."""

    hold: int
    trigger: str
    outcomes: tuple[str, ...]
    clauses: tuple[str, ...]
    slot: str | None = None
    deck: str | None = None
    seat: int | None = None


class IrregularityClearedItem(EventItem, frozen=True, kw_only=True, tag="irregularity_cleared"):
    """All steps of an irregularity were done, and a person acknowledged it."""

    hold: int


class ServiceItem(EventItem, frozen=True, kw_only=True, tag="service"):
    """The service state of a slot changed."""

    slot: str
    state: str


class DeckItem(EventItem, frozen=True, kw_only=True, tag="deck"):
    """A deck is held until a floorperson decides, or was removed."""

    deck: str
    state: Literal["held", "removed"]


class RefusedItem(EventItem, frozen=True, kw_only=True, tag="refused"):
    """A request was refused, with every reason."""

    what: str
    reasons: tuple[BlockingReason, ...]


class FindingItem(EventItem, frozen=True, kw_only=True, tag="finding"):
    """A finding that people must be able to look up."""

    kind: str
    text: str
    deck: str | None = None
    rounds: tuple[int, ...] = ()


class WagersReturnedItem(EventItem, frozen=True, kw_only=True, tag="wagers_returned"):
    """Wagers of a void round, or of one seat in it, are returned, except the `settled` ones.

    Of one seat, the `collected` wagers are lost.
    """

    round: int
    settled: tuple[str, ...]
    clauses: tuple[str, ...]
    seat: int | None = None
    collected: tuple[str, ...] = ()


class WagerSettledItem(EventItem, frozen=True, kw_only=True, tag="wager_settled"):
    """A wager was settled. `hand`, `line` and `odds` are known where the cards were entered, `paid_cents` with amounts.

    `paid_cents` is paid in addition to the wager.
    """

    round: int
    seat: int
    wager: str
    outcome: str
    clauses: tuple[str, ...]
    hand: str = ""
    line: str = ""
    odds: tuple[int, int] | None = None
    paid_cents: int | None = None


class HitClaimedItem(EventItem, frozen=True, kw_only=True, tag="hit_claimed"):
    """A hit was claimed. Unless `final`, its share may change with `hit_rebooked` until the hit is validated."""

    hit: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int
    final: bool = True


class HitRebookedItem(EventItem, frozen=True, kw_only=True, tag="hit_rebooked"):
    """A claim has new amounts: an earlier claim was rejected, or a bet of the round was returned."""

    hit: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int
    final: bool = True


class HitItem(EventItem, frozen=True, kw_only=True, tag="hit"):
    """The state of a hit changed."""

    hit: int
    state: str


class MoneyTransfer(msgspec.Struct, frozen=True):
    """An amount (micro-dollars) moved from one account to another."""

    source: str
    to: str
    amount: int


class MoneyItem(EventItem, frozen=True, kw_only=True, tag="money"):
    """One entry of the money book. Numbers have no gaps: all entries together are the whole book."""

    number: int
    kind: str
    transfers: tuple[MoneyTransfer, ...]
    meter_before: int
    meter_after: int
    seat: int | None = None
    hit: int | None = None
    clauses: tuple[str, ...] = ()


class MeterTermsItem(EventItem, frozen=True, kw_only=True, tag="meter_terms"):
    """The meter has a new rate (hundredths of a percent) and limit."""

    rate_bp: int
    limit: int


class MeterPlayItem(EventItem, frozen=True, kw_only=True, tag="meter_play"):
    """The meter is closed to play, or open again; `cause` is why it was closed."""

    open: bool
    cause: str


class CommandFailedItem(EventItem, frozen=True, kw_only=True, tag="command"):
    """A command to a device failed, or its outcome is unknown."""

    command: int
    outcome: Literal["failed", "unknown"]
    code: str


class ClockSteppedItem(EventItem, frozen=True, kw_only=True, tag="clock_stepped"):
    """The wall clock was stepped by this many milliseconds; negative: back."""

    by_ms: int


class NoteItem(EventItem, frozen=True, kw_only=True, tag="note"):
    """A note of the box outside the table's steps: a sign-on, an escalated hold, a failed task."""

    kind: str
    slot: str | None = None
    hold: int | None = None


class RecordedItem(EventItem, frozen=True, kw_only=True, tag="recorded"):
    """A record of a kind without an item; its content is in the journal."""

    kind: str


class GapItem(EventItem, frozen=True, kw_only=True, tag="gap"):
    """The journal retired these records before the broker acknowledged them; they will not be published."""

    first: int
    last: int


class HistoryDiffersItem(EventItem, frozen=True, kw_only=True, tag="history_differs"):
    """A record that the broker has acknowledged is missing in this journal, or differs."""

    acknowledged: int
    head: str
    text: str


AnyItem = (
    JournalOpenedItem
    | BoxStartedItem
    | RoundItem
    | IrregularityFoundItem
    | IrregularityClearedItem
    | ServiceItem
    | DeckItem
    | RefusedItem
    | FindingItem
    | WagersReturnedItem
    | HitClaimedItem
    | HitItem
    | MoneyItem
    | MeterTermsItem
    | MeterPlayItem
    | CommandFailedItem
    | ClockSteppedItem
    | NoteItem
    | HitRebookedItem
    | WagerSettledItem
    | RecordedItem
    | GapItem
    | HistoryDiffersItem
)
