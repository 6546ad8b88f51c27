"""The card book: every reported count is an entry between accounts; a difference is booked as unaccounted."""

from __future__ import annotations

from typing import Final

import msgspec

# Accounts outside devices. A device's accounts are named by its slot: shuffler.1/intake, shuffler.1/path,
# shuffler.1/store, shoe.1.
TRAY: Final = "tray"
SEATS: Final = "seats"
REPLACEMENT: Final = "replacement"
STUB: Final = "stub"
RACK: Final = "rack"
QUARANTINE: Final = "quarantine"
# Not a place: missing cards (above zero), or extra cards that were counted but never received (below zero).
UNACCOUNTED: Final = "unaccounted"


class CardEntry(msgspec.Struct, frozen=True):
    """A number of cards of a deck moved from one account to another."""

    deck: str
    source: str
    to: str
    cards: int


class CardBook(msgspec.Struct):
    """How many cards of each deck are in each account. A deck's accounts sum to the number it was received with."""

    held: dict[str, dict[str, int]] = {}

    def receive(self, deck: str, cards: int) -> None:
        """Open the accounts of a deck that comes to the table."""
        self.held[deck] = {TRAY: cards}

    def balance(self, deck: str, account: str) -> int:
        """Return how many cards an account should hold."""
        return self.held.get(deck, {}).get(account, 0)

    def move(self, deck: str, source: str, to: str, cards: int) -> CardEntry:
        """Move cards between accounts; cards that the source lacks come from the unaccounted account."""
        accounts = self.held[deck]
        short = cards - accounts.get(source, 0)
        if short > 0:  # more cards than recorded: extra cards
            _add(accounts, UNACCOUNTED, -short)
            _add(accounts, source, short)
        _add(accounts, source, -cards)
        _add(accounts, to, cards)
        return CardEntry(deck, source, to, cards)

    def move_all(self, deck: str, to: str) -> None:
        """Move all cards of a deck to one account, as when it is collected or removed."""
        accounts = self.held[deck]
        for account in [name for name in accounts if name not in (UNACCOUNTED, to)]:
            _add(accounts, to, accounts[account])
            _add(accounts, account, -accounts[account])

    def record_count(self, deck: str, account: str, cards: int) -> int:
        """Record the count of an account; return the difference, booked as unaccounted. Below zero: missing cards."""
        accounts = self.held[deck]
        difference = cards - accounts.get(account, 0)
        _add(accounts, account, difference)
        _add(accounts, UNACCOUNTED, -difference)
        return difference

    def missing(self, deck: str) -> int:
        """Return how many cards of a deck are missing; below zero: how many are extra."""
        return self.balance(deck, UNACCOUNTED)

    def total(self, deck: str) -> int:
        """Return the sum of all accounts of a deck, which no entry changes."""
        return sum(self.held.get(deck, {}).values())


def _add(accounts: dict[str, int], account: str, cards: int) -> None:
    accounts[account] = accounts.get(account, 0) + cards
    if not accounts[account]:
        del accounts[account]
