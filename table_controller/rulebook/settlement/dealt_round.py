"""A round to be settled: seats, cards, wagers, decisions; the verdict on each wager, and its result in cents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from table_controller.rulebook.cards import Card

HandSetting = tuple[tuple[Card, ...], ...]
# plays: to the end; gave_up: surrendered or folded; void: only this hand is void or dead, by the player's choice;
# abandoned: the player left, and the floorperson decided that the wagers are lost.
Fate = Literal["plays", "gave_up", "void", "abandoned"]
# pushes: neither won nor lost by the rule; returned: the hand or the round was void.
WagerOutcome = Literal["wins", "loses", "pushes", "returned"]
# What a wager may depend on: the cards of its seat, the hands as the player set them, the dealer's cards, the card that
# replaces a joker, and (envy only) whether a seat has a Qualifying Wager.
Known = Literal["cards", "setting", "dealer", "replacement", "qualifying"]


class Need(NamedTuple):
    """What a wager depends on, and the clause that makes it so."""

    what: Known
    clause: str


class Missing(NamedTuple):
    """What is not known yet that a wager depends on, and the clause."""

    wager: str
    what: Known
    clause: str


class SetHand(msgspec.Struct, frozen=True):
    """One hand of a setting, with its rank in words."""

    cards: str
    hand: str


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """One box of the round."""

    number: int  # 1 is farthest to the dealer's left
    wagers: Mapping[str, int | None]  # cents, by the edition's names; None: the amount is not known
    cards: tuple[Card, ...] = ()  # none: not known
    setting: HandSetting | None = None  # hands as the player set them, highest first; None: not known
    fate: Fate = "plays"
    player: int | None = None  # the player of this box, where one player has several; None: only this box
    qualifying: tuple[str, ...] | None = None  # wagers that open envy, as entered; None: by their amounts

    @property
    def owner(self) -> tuple[str, int]:
        """The player of this box, as a key."""
        return ("box", self.number) if self.player is None else ("player", self.player)


class DealtRound(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one round."""

    seats: tuple[Seat, ...]
    dealer: tuple[Card, ...] = ()  # none: not known, or no dealer's hand
    dealer_setting: HandSetting | None = None  # None: by the house way
    replacement: Card | None = None  # the card that replaces a joker (687a.11(f)(1))


class WagerVerdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the rules decide about one wager or one envy bonus, without amounts."""

    seat: int
    wager: str
    outcome: WagerOutcome
    back: bool  # whether the wager itself is returned
    odds: tuple[int, int] | None = None  # what is paid in addition: n to m
    fixed_cents: int = 0
    meter_percent: int = 0
    envy_of: int | None = None  # the seat whose hand is paid to this one
    hand: str = ""  # in words
    table: str | None = None  # paytable, and its line as printed
    line: str | None = None
    clauses: tuple[str, ...]
    see: tuple[str, ...] = ()


class WagerResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one wager or one envy bonus, in cents."""

    seat: int
    wager: str
    outcome: WagerOutcome
    wager_cents: int
    back_cents: int  # the wager itself, returned
    paid_cents: int = 0  # in addition to the wager
    meter_percent: int = 0  # share of the progressive meter due in addition; not paid here
    cut_cents: int = 0  # what a payout limit removed
    envy_of: int | None = None  # the seat whose hand is paid to this one
    hand: str = ""  # in words
    table: str | None = None  # paytable, and its line as printed
    line: str | None = None
    clauses: tuple[str, ...]
    see: tuple[str, ...] = ()
