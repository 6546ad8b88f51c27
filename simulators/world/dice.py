"""Physical dice: each in one place, with a face up or none, flat or not."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


class Attitude(Enum):
    """The position in which a die has stopped."""

    FLAT = "flat"
    LEANING = "leaning"  # against the wall or another die: no face is up
    STACKED = "on another die"


class Die:
    """One die. `loaded`: the face that a loaded die always shows."""

    def __init__(self, number: int, place: str, *, loaded: int | None = None) -> None:
        self.number = number
        self.place = place
        self.face_up = 1
        self.attitude = Attitude.FLAT
        self.loaded = loaded

    def tumble(self, rng: Random) -> None:
        """Roll to a new face."""
        self.face_up = self.loaded or rng.randint(1, 6)
        self.attitude = Attitude.FLAT


class DiceSet:
    """All dice. Dice are made and moved, never lost."""

    def __init__(self) -> None:
        self.all: list[Die] = []

    def make(self, place: str, *, loaded: int | None = None) -> Die:
        """Make a die at a place."""
        die = Die(len(self.all) + 1, place, loaded=loaded)
        self.all.append(die)
        return die

    def at(self, place: str) -> list[Die]:
        """Return the dice at a place, oldest first."""
        return [die for die in self.all if die.place == place]

    def census(self) -> dict[str, int]:
        """Return how many dice are at each place."""
        places = sorted({die.place for die in self.all})
        return {place: len(self.at(place)) for place in places}
