"""Physical chips, each in exactly one place at every moment, and the places of a table outside its machines.

A place is only a name, and chips have no denomination.
"""

from __future__ import annotations

from typing import Final

TRAY: Final = "tray"  # the dealer's, where collected chips go
RAIL: Final = "under_the_rail"  # where a dropped chip rolls


def player_hand(seat: str) -> str:
    """Return the place of the chips that a seat's player holds."""
    return f"hand.{seat}"


class Chips:
    """The place of every chip. Chips are made and moved, never copied or lost."""

    def __init__(self) -> None:
        self._where: dict[int, str] = {}
        self._lying: dict[str, dict[int, None]] = {}  # the chips of a place, in the order of arrival

    def make(self, place: str, count: int = 1) -> list[int]:
        """Make chips at a place and return them."""
        minted = list(range(len(self._where) + 1, len(self._where) + 1 + count))
        self._where |= dict.fromkeys(minted, place)
        self._lying.setdefault(place, {}).update(dict.fromkeys(minted))
        return minted

    def move(self, chip: int, to: str) -> None:
        """Move a chip to the top of another place."""
        del self._lying[self._where[chip]][chip]
        self._where[chip] = to
        self._lying.setdefault(to, {})[chip] = None

    def move_all(self, source: str, to: str) -> int:
        """Move all chips from one place to another; return how many."""
        chips = self.at(source)
        for chip in chips:
            self.move(chip, to)
        return len(chips)

    def at(self, place: str) -> list[int]:
        """Return the chips at a place, in the order of arrival."""
        return list(self._lying.get(place, ()))

    def census(self) -> dict[str, int]:
        """Return how many chips are at each place, without empty places."""
        return {place: len(chips) for place, chips in sorted(self._lying.items()) if chips}
