"""The parts of a diagnosis: place, card counts, and causes with their evidence."""

from __future__ import annotations

from enum import Enum

import msgspec


class CauseKind(Enum):
    """Kinds of causes."""

    STUCK_CARD = "a card sticks"
    BENT_CARD = "a bent card"
    TORN_CARD = "a torn card"
    DOUBLE_FEED = "two cards drawn as one"
    UNSEEN_PAIR = "two cards counted as one"
    SLIPPED_CARD = "a card slipped past the sensors"
    MIGRATED_CARD = "a card left inside earlier came out with others"
    FOREIGN_OBJECT = "a foreign object"
    DUST = "a dusty sensor or a weak lamp"
    WORN_ROLLER = "a worn roller"
    SEIZED_MOTOR = "a motor that does not turn"
    LEFT_CARD = "a card left on the path"
    FIRMWARE_TIMING = "firmware that does not wait long enough"
    WRONG_COUNT = "too many cards were put in"
    INTERRUPTED = "a person or the power interrupted it"
    UNKNOWN = "a cause that the sensors do not show"


class CardRange(msgspec.Struct, frozen=True):
    """A number of cards: at least and at most. Both are equal if the sensors decide it."""

    least: int
    most: int

    @property
    def exact(self) -> bool:
        """Whether it is one number."""
        return self.least == self.most

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.least <= number <= self.most

    def __str__(self) -> str:
        return str(self.least) if self.exact else f"{self.least} to {self.most}"


class FaultPlace(msgspec.Struct, frozen=True):
    """Where the card or object can be: one segment, or several that the sensors cannot distinguish."""

    segments: tuple[str, ...] = ()
    past: str | None = None  # the last sensor that detected it
    before: str | None = None  # the first that did not
    at_rest: str | None = None  # it may have stopped here already, or has if there is no segment
    hidden: str | None = None  # it may be here, where there is no sensor
    sensors: tuple[str, ...] = ()  # faulty sensors without a card


class CardCounts(msgspec.Struct, frozen=True):
    """Card counts by place; in + path + out = expected. None: unknown."""

    path: CardRange
    inside: CardRange | None = None  # past the intake and not out: the path and the store
    out: CardRange | None = None
    waiting: CardRange | None = None  # still in the intake
    expected: int | None = None
    likely: int | None = None  # of `inside`, where it is a range


class FaultCause(msgspec.Struct, frozen=True):
    """One cause with its evidence. Not `sure`: other causes fit the same evidence."""

    why: CauseKind
    at: str | None  # the segment, sensor or motor
    evidence: tuple[str, ...]
    sure: bool = False


class Diagnosis(msgspec.Struct, frozen=True):
    """The result. `staff`: table staff may clear the fault; otherwise a technician must."""

    where: FaultPlace
    cards: CardCounts
    causes: tuple[FaultCause, ...]  # the likeliest first; never empty
    staff: bool
