"""The cards inside a shoe as its firmware counts them by sensors, and whether the counts are certain."""

from __future__ import annotations

from simulators.kinds.shared.certainty import Certainty


class ShoeCounts(Certainty):
    """Cards counted into the well and out of it. Persistent, except cards on the path."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded = 0
        self.drawn = 0
        self.cover = False  # a cover card is in the well
        self.forget()

    def forget(self) -> None:
        """Reset the path to empty, as at power-up."""
        self._feeding = False  # a card left the intake and is not in the well
        self._drawing = False  # a card left the well and is not out
        self._unread = False  # ... and no sensor has identified it yet
        self.draws_cover = False  # ... or it is the cover card
        self._surplus = False  # a card left the well that was never counted in
        self._emptying = False
        self._owed: int | None = None  # number of cards that emptying should bring out

    @property
    def left(self) -> int | None:
        """Number of cards in the well; None when unknown."""
        if not self.sure or self._emptying or (self._unread and self.cover):
            return None
        return self.loaded - self.drawn - (self._drawing and not self.draws_cover)

    @property
    def in_path(self) -> int | None:
        """Number of cards on the path; None when unknown."""
        return None if not self.sure or self._emptying else self._feeding + self._drawing

    # --- in --------------------------------------------------------------------------------------------------

    def begin_load(self) -> None:
        """A new block: an earlier inspection does not cover it."""
        self.loaded = self.drawn = 0
        self.cover = self._looked = False
        self.forget()

    def feed(self) -> None:
        """The intake roller pulls a card."""
        self._feeding = True

    def stored(self, *, cover: bool) -> None:
        """The card is in the well."""
        self._feeding = False
        if cover:
            self.cover = True
        else:
            self.loaded += 1

    # --- out -------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """A card is pulled out of the well."""
        self._drawing = self._unread = True
        self._compare()

    def read(self, *, cover: bool) -> None:
        """The first sensor outside the well identifies the card."""
        self._unread = False
        self.draws_cover = cover
        self._compare()

    def _compare(self) -> None:
        """More cards out than in: one of them was never counted in."""
        left = self.left
        if left is not None and left < 0:
            self._surplus = True
            self.lose_certainty()

    def out(self) -> None:
        """The card has left the path at its end."""
        if self.draws_cover:
            self.cover = False
        else:
            self.drawn += 1
        self._drawing = self.draws_cover = False

    def agree(self, *, empty: bool) -> bool:
        """Compare the counts with the well's sensor; certainty is lost, once, if they disagree."""
        lies_there = bool(self.left) or self.cover
        disagree = self._surplus or (self.sure and lies_there is empty)
        self._surplus = False
        if disagree:
            self.lose_certainty()
        return not disagree

    # --- after a halt ----------------------------------------------------------------------------------------

    def begin_emptying(self) -> None:
        """Empty the well; cards that hands took from the path are not counted."""
        known = self.sure and self.in_path == 0
        owed = self.left if known else None
        self.forget()
        self._owed = owed
        self._emptying = True

    def emptied(self, brought: int) -> None:
        """The well is empty: certainty is lost unless as many came out as were in it."""
        if brought != self._owed:
            self.lose_certainty()
        self.begin_load()

    def tested(self) -> bool:
        """A self-test passed: if a person looked inside before, nothing is inside."""
        looked = super().tested()
        if looked:
            self.begin_load()
        return looked


class UncountedShoe(ShoeCounts):
    """The counts of a manual shoe: the block is not counted in, so the rest is unknown."""

    @property
    def left(self) -> int | None:
        """Always unknown."""
        return None
