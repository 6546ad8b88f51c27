"""What a diagnosis says: where, how many cards, and why, each no surer than its evidence. Structs only."""

from __future__ import annotations

from enum import Enum

import msgspec


class Why(Enum):
    """Causes, as they are ranked."""

    STUCK_CARD = "a card sticks"
    BENT_CARD = "a bent card"
    TORN_CARD = "a torn card"
    DOUBLE_FEED = "two cards drawn as one"
    UNSEEN_PAIR = "two cards counted as one"
    SLIPPED_CARD = "a card slipped out of the sensors' sight"
    MIGRATED_CARD = "a card that stayed inside came out with others"
    FOREIGN_OBJECT = "something that is no card"
    DUST = "a dusty sensor or a weak lamp"
    WORN_ROLLER = "a worn roller"
    SEIZED_MOTOR = "a motor that does not turn"
    LEFT_CARD = "a card that was left on the path"
    FIRMWARE_TIMING = "firmware that does not wait long enough"
    WRONG_COUNT = "more cards than fit were put in"
    INTERRUPTED = "a person or the power interrupted it"
    UNKNOWN = "nothing that the sensors tell"


class Span(msgspec.Struct, frozen=True):
    """A number of cards: at least and at most. Where both are the same, the sensors could decide."""

    least: int
    most: int

    @property
    def exact(self) -> bool:
        """Tell whether it is one number."""
        return self.least == self.most

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.least <= number <= self.most

    def __str__(self) -> str:
        return str(self.least) if self.exact else f"{self.least} to {self.most}"


class Where(msgspec.Struct, frozen=True):
    """Segments in which the piece can be: one, or several that the sensors cannot tell apart."""

    segments: tuple[str, ...] = ()
    past: str | None = None  # the last sensor that saw it
    before: str | None = None  # the first that did not
    at_rest: str | None = None  # it may lie here already, or does if there is no segment
    hidden: str | None = None  # it may lie here, where no sensor looks
    sensors: tuple[str, ...] = ()  # parts at fault that hold no card


class Cards(msgspec.Struct, frozen=True):
    """How many cards are where; in + path + out = expected. None where no count tells."""

    path: Span
    inside: Span | None = None  # past the intake and not out: the path and the store
    out: Span | None = None
    waiting: Span | None = None  # still in the intake
    expected: int | None = None
    likely: int | None = None  # of `inside`, where it is a range


class Cause(msgspec.Struct, frozen=True):
    """One cause with what speaks for it. Not `sure`: others fit the same evidence."""

    why: Why
    at: str | None  # the segment or sensor that it names
    evidence: tuple[str, ...]
    sure: bool = False


class Diagnosis(msgspec.Struct, frozen=True):
    """The answer. `staff`: people of the table may clear it; otherwise a technician must."""

    where: Where
    cards: Cards
    causes: tuple[Cause, ...]  # the likeliest first; never empty
    staff: bool
