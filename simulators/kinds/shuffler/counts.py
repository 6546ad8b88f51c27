"""The cards inside a shuffler as its firmware counts them by sensors, and whether the counts are certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulators.kinds.shared.certainty import Certainty

if TYPE_CHECKING:
    from simulators.kinds.shuffler.mechanics import ShufflerSize


class ShufflerCounts(Certainty):
    """Cards drawn in, stored and given out in this command. Stored cards may stay from one command to the next."""

    def __init__(self, size: ShufflerSize) -> None:
        super().__init__()
        self._size = size
        self.forget()

    def forget(self) -> None:
        """Reset all counts, as after a power loss in mid-cycle or when the machine was emptied."""
        self.stored = [0] * self._size.compartments  # persistent
        self._touched = False  # the door was open with cards inside: hands may have taken some
        self.begin()

    def begin(self) -> None:
        """Begin a command: stored cards count as entered, so that entered - left is the number inside."""
        self.held = self.entered = sum(self.stored)
        self.left = 0
        self._drawn = False  # a card was pulled from the intake and no sensor has detected it yet
        self._emptying = False
        self._amiss = False  # a compartment gave more or fewer cards than were put in
        self._owed: int | None = None  # number of cards that emptying should bring out

    @property
    def inside(self) -> int | None:
        """Number of cards past the intake and not yet given out; None when unknown."""
        if not self.sure or self._touched or self._emptying:
            return None
        return self.drawn_in - self.left

    @property
    def agree(self) -> bool:
        """True if this cycle's counts agree, in all and compartment by compartment."""
        return self.entered == self.left and not self._amiss

    @property
    def drawn_in(self) -> int:
        """Number of cards that have left the intake, detected by a sensor or not."""
        return self.entered + self._drawn

    @property
    def fed(self) -> int:
        """Number of cards that entered in this command."""
        return self.drawn_in - self.held

    def room(self) -> list[int]:
        """Return the compartments with room for another card."""
        return [i for i, stored in enumerate(self.stored) if stored < self._size.per_compartment]

    def room_for(self, suit: int) -> int:
        """Return the compartment for the next card of a suit, when sorting."""
        first = suit * self._size.per_suit
        own = range(first, first + self._size.per_suit)
        return next((i for i in own if self.stored[i] < self._size.per_compartment), own[-1])

    def draw(self) -> None:
        """The intake roller pulls a card."""
        self._drawn = True

    def enter(self) -> None:
        """The first sensor detects the card."""
        self._drawn = False
        self.entered += 1

    def leave(self, compartment: int) -> None:
        """A card from a compartment has come out."""
        self.left += 1
        if self.stored[compartment]:
            self.stored[compartment] -= 1
        elif not self._emptying:
            self._amiss = True  # two went in as one
            self.lose_certainty()

    def mark_empty(self, compartment: int) -> None:
        """A compartment gives no more cards, even if its count is not zero."""
        if self.stored[compartment] and not self._emptying:
            self._amiss = True  # a card is not where it was put
            self.lose_certainty()
        self.stored[compartment] = 0

    def door_opened(self, *, at_rest: bool) -> None:
        """Hands can reach in: an inspection if the machine is idle; counts of cards inside become unknown."""
        if at_rest:
            self.note_inspection()
        self._touched |= not at_rest or any(self.stored)

    def recounted(self) -> None:
        """All stored cards came out and went in again in the counted numbers: no hand took any."""
        self._touched = False

    def begin_emptying(self, on_the_way: int) -> None:
        """Empty the compartments; `on_the_way` of their cards were in transit when motion ended."""
        stored = sum(self.stored) - on_the_way
        path = self.drawn_in - self.left - stored
        known = self.sure and not self._emptying and path == 0  # cards that hands took from the path are not counted
        self._owed = stored if known else None
        self.held = self.entered = self.left = 0
        self._drawn = self._touched = False
        self._emptying = True

    def emptied(self) -> int:
        """The compartments are empty: certainty is lost unless all stored cards came out. Return how many did."""
        brought = self.left
        if brought != self._owed:
            self.lose_certainty()
        self.forget()
        self._looked = False
        return brought


class CountedSet:
    """The set of cards of a machine at its last count, and how many of them are outside. Persistent.

    `outside` is None until a count has closed the set: cards taken in before fill it. After that no more cards may come
    back than were given out.
    """

    def __init__(self) -> None:
        self.outside: int | None = None
        self.counted: int | None = None

    def open(self) -> None:
        """The machine halted or is emptied: the next count defines the set."""
        self.outside = self.counted = None

    def disturb(self) -> None:
        """Hands may have been in the store: a count is required before the next delivery."""
        self.counted = None

    def close(self, counted: int) -> int:
        """All cards inside were counted; return how many cards of the set are outside."""
        self.counted = counted
        self.outside = self.outside or 0
        return self.outside

    def give(self, cards: int) -> None:
        """Cards of the set were delivered."""
        assert self.outside is not None, "nothing is delivered from a set that was not counted"
        self.outside += cards

    def take_back(self, cards: int) -> bool:
        """Cards were taken in; False if they are more than were outside: at least one is foreign."""
        if self.outside is None:
            return True
        if cards > self.outside:
            return False
        self.outside -= cards
        return True
