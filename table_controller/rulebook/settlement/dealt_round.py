"""A round to be settled: seats, cards, wagers, decisions; and the result of each wager."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from table_controller.rulebook.cards import Card

HandSetting = tuple[tuple[Card, ...], ...]
# plays: to the end; gave_up: surrendered or folded; void: only this hand is void or dead, by the player's choice;
# abandoned: the player left, and the floorperson decided that the wagers are lost.
Fate = Literal["plays", "gave_up", "void", "abandoned"]
# pushes: neither won nor lost by the rule; returned: the hand or the round was void.
WagerOutcome = Literal["wins", "loses", "pushes", "returned"]


class SetHand(msgspec.Struct, frozen=True):
    """One hand of a setting, with its rank in words."""

    cards: str
    hand: str


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """One box of the round."""

    number: int  # 1 is farthest to the dealer's left
    wagers: Mapping[str, int]  # cents, by the edition's names
    cards: tuple[Card, ...] = ()
    setting: HandSetting | None = None  # hands as the player set them, highest first; None: by the house way
    fate: Fate = "plays"
    player: int | None = None  # the player of this box, where one player has several; None: only this box

    @property
    def owner(self) -> tuple[str, int]:
        """The player of this box, as a key."""
        return ("box", self.number) if self.player is None else ("player", self.player)


class DealtRound(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that settlement needs to know about one round."""

    seats: tuple[Seat, ...]
    dealer: tuple[Card, ...] = ()
    dealer_setting: HandSetting | None = None  # None: by the house way
    replacement: Card | None = None  # the card that replaces a joker (687a.11(f)(1))


class WagerResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one wager or one envy bonus."""

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
