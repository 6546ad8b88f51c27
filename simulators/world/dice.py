"""Physical dice: each in one place, with a face up or none, lying flat or not. Knows nothing of machines."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


class Attitude(Enum):
    """How a die has come to rest."""

    FLAT = "flat"
    LEANING = "leaning"  # against the wall or another die: no face is up
    STACKED = "on another die"


class Die:
    """One die. `loaded` is the face that a dishonest one shows every time."""

    def __init__(self, number: int, place: str, *, loaded: int | None = None) -> None:
        self.number = number
        self.place = place
        self.up = 1
        self.attitude = Attitude.FLAT
        self.loaded = loaded

    def tumble(self, rng: Random) -> None:
        """Come to rest somehow else."""
        self.up = self.loaded or rng.randint(1, 6)
        self.attitude = Attitude.FLAT


class Dice:
    """Every die there is. Dice are made and moved, never lost: what leaves one place is in another."""

    def __init__(self) -> None:
        self.all: list[Die] = []

    def make(self, place: str, *, loaded: int | None = None) -> Die:
        """Make a die and lay it down."""
        die = Die(len(self.all) + 1, place, loaded=loaded)
        self.all.append(die)
        return die

    def at(self, place: str) -> list[Die]:
        """Return the dice at a place, oldest first."""
        return [die for die in self.all if die.place == place]

    def census(self) -> dict[str, int]:
        """Return how many dice are where."""
        places = sorted({die.place for die in self.all})
        return {place: len(self.at(place)) for place in places}
