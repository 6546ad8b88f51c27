"""What a shoe's firmware knows of the cards inside from its sensors alone, and when it does not know. Sees no world."""

from __future__ import annotations

from simulators.twins.doubt import Doubt


class ShoeCounts(Doubt):
    """Cards counted into the well and out of it. Kept over power cuts, but for what was on the path."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded = 0
        self.drawn = 0
        self.cover = False  # a cover card lies in the well
        self.forget()

    def forget(self) -> None:
        """Nothing is on the path, as at power-up."""
        self._feeding = False  # a piece left the intake and is not in the well
        self._drawing = False  # a piece left the well and is not out
        self._unread = False  # ... and no sensor has seen yet what it is
        self.draws_cover = False  # ... or it is the cover card
        self._surplus = False  # a card left the well that was never counted in
        self._emptying = False
        self._owed: int | None = None  # how many cards emptying should bring out

    @property
    def left(self) -> int | None:
        """How many cards are in the well; None when that cannot be known."""
        if not self.sure or self._emptying or (self._unread and self.cover):
            return None
        return self.loaded - self.drawn - (self._drawing and not self.draws_cover)

    @property
    def in_path(self) -> int | None:
        """How many pieces are on the path; None when that cannot be known."""
        return None if not self.sure or self._emptying else self._feeding + self._drawing

    # --- in --------------------------------------------------------------------------------------------------

    def begin_load(self) -> None:
        """A new block: whoever looked inside before has not seen it."""
        self.loaded = self.drawn = 0
        self.cover = self._looked = False
        self.forget()

    def feed(self) -> None:
        """The intake roller pulls a piece."""
        self._feeding = True

    def stored(self, *, cover: bool) -> None:
        """It is in the well."""
        self._feeding = False
        if cover:
            self.cover = True
        else:
            self.loaded += 1

    # --- out -------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """A piece is pulled out of the well."""
        self._drawing = self._unread = True
        self._compare()

    def read(self, *, cover: bool) -> None:
        """The first sensor outside the well sees what it is."""
        self._unread = False
        self.draws_cover = cover
        self._compare()

    def _compare(self) -> None:
        """More cards out than in: one of them was never counted in."""
        left = self.left
        if left is not None and left < 0:
            self._surplus = True
            self.doubt()

    def out(self) -> None:
        """It has left the path at its end."""
        if self.draws_cover:
            self.cover = False
        else:
            self.drawn += 1
        self._drawing = self.draws_cover = False

    def agree(self, *, empty: bool) -> bool:
        """Compare the counts with what the well's sensor shows; doubt begins, once, where they disagree."""
        lies_there = bool(self.left) or self.cover
        disagree = self._surplus or (self.sure and lies_there is empty)
        self._surplus = False
        if disagree:
            self.doubt()
        return not disagree

    # --- after a halt ----------------------------------------------------------------------------------------

    def begin_emptying(self) -> None:
        """Empty the well; what was on the path hands have taken, and that is no count."""
        known = self.sure and self.in_path == 0
        owed = self.left if known else None
        self.forget()
        self._owed = owed
        self._emptying = True

    def emptied(self, brought: int) -> None:
        """The well is empty: doubt arises unless as many came out as were in it."""
        if brought != self._owed:
            self.doubt()
        self.begin_load()

    def tested(self) -> bool:
        """A self-test passed: if somebody looked before, nothing is inside."""
        looked = super().tested()
        if looked:
            self.begin_load()
        return looked


class UncountedBlock(ShoeCounts):
    """What a manual shoe knows: nobody counts the block in, so how much of it is left is not known."""

    @property
    def left(self) -> int | None:
        """Unknown as long as anything is left."""
        return None
