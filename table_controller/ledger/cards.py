"""Cards as double entry: every reported count is an entry between accounts. What does not balance is named. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

# Where people keep cards. A device's accounts are named by its slot: shuffler.1/intake, shuffler.1/path,
# shuffler.1/store, shoe.1.
TRAY: Final = "tray"
SEATS: Final = "seats"
REPLACEMENT: Final = "replacement"
STUB: Final = "stub"
RACK: Final = "rack"
QUARANTINE: Final = "quarantine"
# Not a place: cards that nobody has found (above zero), or that were counted and never booked (below zero).
UNACCOUNTED: Final = "unaccounted"


class Entry(msgspec.Struct, frozen=True):
    """So many cards of a deck went from one account to another."""

    deck: str
    source: str
    to: str
    cards: int


class CardBook(msgspec.Struct):
    """How many cards of each deck are in which account. Each deck's accounts sum to what it was received with."""

    held: dict[str, dict[str, int]] = {}

    def receive(self, deck: str, cards: int) -> None:
        """A deck comes to the table."""
        self.held[deck] = {TRAY: cards}

    def at(self, deck: str, account: str) -> int:
        """Return what an account should hold."""
        return self.held.get(deck, {}).get(account, 0)

    def move(self, deck: str, source: str, to: str, cards: int) -> Entry:
        """Book cards from one account to another; an account may not go below zero: what it lacks is unaccounted."""
        accounts = self.held[deck]
        short = cards - accounts.get(source, 0)
        if short > 0:  # more than was booked there: an extra card came from somewhere
            _add(accounts, UNACCOUNTED, -short)
            _add(accounts, source, short)
        _add(accounts, source, -cards)
        _add(accounts, to, cards)
        return Entry(deck, source, to, cards)

    def move_all(self, deck: str, to: str) -> None:
        """Everything of a deck that is somewhere goes to one account, as when a deck is collected or removed."""
        accounts = self.held[deck]
        for account in [name for name in accounts if name not in (UNACCOUNTED, to)]:
            _add(accounts, to, accounts[account])
            _add(accounts, account, -accounts[account])

    def counted(self, deck: str, account: str, cards: int) -> int:
        """Somebody counted an account.

        Book the difference as unaccounted and return it: below zero cards are missing.
        """
        accounts = self.held[deck]
        difference = cards - accounts.get(account, 0)
        _add(accounts, account, difference)
        _add(accounts, UNACCOUNTED, -difference)
        return difference

    def missing(self, deck: str) -> int:
        """Return how many cards of a deck nobody has found; below zero: how many too many there are."""
        return self.at(deck, UNACCOUNTED)

    def total(self, deck: str) -> int:
        """Return the sum of all accounts; it never changes by an entry."""
        return sum(self.held.get(deck, {}).values())


def _add(accounts: dict[str, int], account: str, cards: int) -> None:
    accounts[account] = accounts.get(account, 0) + cards
    if not accounts[account]:
        del accounts[account]
