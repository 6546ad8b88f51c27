"""What firmware knows of the cards inside a shuffler from its sensors alone, and when it does not. Sees no world."""

from __future__ import annotations

from typing import Final

from simulators.twins.doubt import Doubt
from simulators.world.shuffler import COMPARTMENTS

PER_COMPARTMENT: Final = 9


class Counts(Doubt):
    """Cards drawn in, stored and given out in this cycle."""

    def __init__(self) -> None:
        super().__init__()
        self.forget()

    def forget(self) -> None:
        """Begin at nothing, as at power-up or with a new cycle."""
        self.entered = 0
        self.left = 0
        self.stored = [0] * COMPARTMENTS
        self._drawn = False  # a card was pulled from the intake and no sensor has seen it yet
        self._touched = False  # the door was open in mid-cycle: hands may have taken what is on the path
        self._emptying = False
        self._amiss = False  # a compartment gave more or fewer cards than were put in
        self._owed: int | None = None  # how many cards emptying should bring out

    @property
    def inside(self) -> int | None:
        """How many cards are past the intake and not yet behind the gate; None when that cannot be known."""
        if not self.sure or self._touched or self._emptying:
            return None
        return self.drawn_in - self.left

    @property
    def agree(self) -> bool:
        """True if this cycle's counts agree, in all and compartment by compartment."""
        return self.entered == self.left and not self._amiss

    @property
    def drawn_in(self) -> int:
        """How many cards have left the intake, seen by a sensor or not."""
        return self.entered + self._drawn

    def room(self) -> list[int]:
        """Return the compartments that take another card."""
        return [i for i, stored in enumerate(self.stored) if stored < PER_COMPARTMENT]

    def draw(self) -> None:
        """The intake roller pulls a card."""
        self._drawn = True

    def enter(self) -> None:
        """The first sensor sees it."""
        self._drawn = False
        self.entered += 1

    def leave(self, compartment: int) -> None:
        """A card from a compartment dropped behind the gate."""
        self.left += 1
        if self.stored[compartment]:
            self.stored[compartment] -= 1
        elif not self._emptying:
            self._amiss = True  # two went in as one
            self.doubt()

    def found_empty(self, compartment: int) -> None:
        """A compartment gives no more cards, whatever was believed to be in it."""
        if self.stored[compartment] and not self._emptying:
            self._amiss = True  # a card is not where it was put
            self.doubt()
        self.stored[compartment] = 0

    def door_opened(self, *, at_rest: bool) -> None:
        """Hands can reach in: a look inside if the machine rests, else the path may not be as it was."""
        if at_rest:
            self.look()
        else:
            self._touched = True

    def begin_emptying(self, on_the_way: int) -> None:
        """Empty the compartments; `on_the_way` cards of theirs were being unloaded when motion ended."""
        stored = sum(self.stored) - on_the_way
        path = self.drawn_in - self.left - stored
        known = self.sure and not self._emptying and path == 0  # that hands took it from the path is no count
        self._owed = stored if known else None
        self.entered = self.left = 0
        self._drawn = self._touched = False
        self._emptying = True

    def emptied(self) -> int:
        """The compartments are empty: doubt arises unless as many came out as were stored. Return how many."""
        brought = self.left
        if brought != self._owed:
            self.doubt()
        self.forget()
        self._looked = False
        return brought
