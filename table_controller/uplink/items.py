"""What an event can tell: one frozen struct for each kind of thing that happens at a table. Nothing is sent here."""

from __future__ import annotations

from typing import Literal

import msgspec


class Item(msgspec.Struct, frozen=True, kw_only=True, tag_field="item", omit_defaults=True):
    """Base of what an event can tell."""


class Cause(msgspec.Struct, frozen=True):
    """A reason against something: its stable key, the clause, who may clear it and with what evidence."""

    key: str
    clause: str
    text: str
    clears: str
    evidence: str


class Opened(Item, frozen=True, kw_only=True, tag="journal_opened"):
    """The journal was opened by a start of the box; `clean`: the start before it was stopped in order."""

    boot: int
    clean: bool


class Started(Item, frozen=True, kw_only=True, tag="box_started"):
    """The box began to control the table. `clock_back`: its clock shows less than when the last record was made."""

    boot: int
    clock_back: bool


class RoundMoved(Item, frozen=True, kw_only=True, tag="round"):
    """A round was opened, completed, or is void."""

    number: int
    state: Literal["opened", "complete", "void"]


class IrregularityFound(Item, frozen=True, kw_only=True, tag="irregularity_found"):
    """An irregularity, what the rule orders and the clauses that order it."""

    hold: int
    trigger: str
    outcomes: tuple[str, ...]
    clauses: tuple[str, ...]
    slot: str | None = None
    deck: str | None = None
    seat: int | None = None


class IrregularityCleared(Item, frozen=True, kw_only=True, tag="irregularity_cleared"):
    """An irregularity was carried out and acknowledged."""

    hold: int


class ServiceMoved(Item, frozen=True, kw_only=True, tag="service"):
    """A slot is in another service state."""

    slot: str
    state: str


class DeckMoved(Item, frozen=True, kw_only=True, tag="deck"):
    """A deck is held until a floorperson has acted, or was removed."""

    deck: str
    state: Literal["held", "removed"]


class Refusal(Item, frozen=True, kw_only=True, tag="refused"):
    """Something was asked for that may not be; every reason."""

    what: str
    reasons: tuple[Cause, ...]


class Noted(Item, frozen=True, kw_only=True, tag="finding"):
    """Something that people must be able to find again."""

    kind: str
    text: str
    deck: str | None = None
    rounds: tuple[int, ...] = ()


class WagersBack(Item, frozen=True, kw_only=True, tag="wagers_returned"):
    """Wagers of a void round, or of one seat in it, go back; `settled` are those that are settled all the same.

    Of one seat, `kept` are collected.
    """

    round: int
    settled: tuple[str, ...]
    clauses: tuple[str, ...]
    seat: int | None = None
    kept: tuple[str, ...] = ()


class HitClaimed(Item, frozen=True, kw_only=True, tag="hit_claimed"):
    """A hand was claimed. Unless `final`, its share may change: `hit_rebooked` says so, until the hit is validated."""

    hit: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int
    final: bool = True


class HitRebooked(Item, frozen=True, kw_only=True, tag="hit_rebooked"):
    """A claim has these amounts from now on: an earlier claim fell, or a bet of the round went back."""

    hit: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int
    final: bool = True


class HitMoved(Item, frozen=True, kw_only=True, tag="hit"):
    """A hit went one step on in its life."""

    hit: int
    state: str


class Transfer(msgspec.Struct, frozen=True):
    """So many micro-dollars went from one account to another."""

    source: str
    to: str
    amount: int


class Money(Item, frozen=True, kw_only=True, tag="money"):
    """One entry of the book. Numbers have no holes: who has them all has the whole book."""

    number: int
    kind: str
    transfers: tuple[Transfer, ...]
    meter_before: int
    meter_after: int
    seat: int | None = None
    hit: int | None = None
    clauses: tuple[str, ...] = ()


class MeterTerms(Item, frozen=True, kw_only=True, tag="meter_terms"):
    """The meter's rate (hundredths of a percent) and limit are others from now on."""

    rate_bp: int
    limit: int


class MeterPlay(Item, frozen=True, kw_only=True, tag="meter_play"):
    """The meter is closed to play, or open again; `cause` is why it was closed."""

    open: bool
    cause: str


class CommandTrouble(Item, frozen=True, kw_only=True, tag="command"):
    """A command to a device failed, or nobody knows what came of it."""

    command: int
    outcome: Literal["failed", "unknown"]
    code: str


class ClockStepped(Item, frozen=True, kw_only=True, tag="clock_stepped"):
    """The wall clock was set, by so many milliseconds; below zero: back."""

    by_ms: int


class BoxNoted(Item, frozen=True, kw_only=True, tag="note"):
    """What the box did or saw besides the table's own steps: somebody signed on, a hold was escalated, a task died."""

    kind: str
    slot: str | None = None
    hold: int | None = None


class Recorded(Item, frozen=True, kw_only=True, tag="recorded"):
    """A record of a kind that has no item of its own; its content is in the journal."""

    kind: str


class Gap(Item, frozen=True, kw_only=True, tag="gap"):
    """Records left the journal by its retention before the broker had them: these are missing here for good."""

    first: int
    last: int


class Differs(Item, frozen=True, kw_only=True, tag="history_differs"):
    """A record that the broker had acknowledged is not in this journal, or stands there otherwise."""

    acknowledged: int
    head: str
    text: str


Items = (
    Opened | Started | RoundMoved | IrregularityFound | IrregularityCleared | ServiceMoved | DeckMoved | Refusal
    | Noted | WagersBack | HitClaimed | HitMoved | Money | MeterTerms | MeterPlay | CommandTrouble | ClockStepped
    | BoxNoted | HitRebooked | Recorded | Gap | Differs
)  # fmt: skip
