"""Position numbers: from dice to a number, from a number to a seat.

Position numbers run from 1, the dealer, counterclockwise around the table to 7 (575.5(g), 688a.5(i)).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

POSITIONS: Final = 7
DEALER: Final = 1
DICE: Final = 3
FACES: Final = 6

# Equal odds for every number, as a number generator must have.
EQUAL_ODDS: Final = (Fraction(1, POSITIONS),) * POSITIONS


def position_of_dice(values: Sequence[int]) -> int:
    """Count around the table, the dealer as one, until the count is the total of the three dice."""
    assert len(values) == DICE, f"{len(values)} dice"
    assert all(1 <= value <= FACES for value in values), values
    return (sum(values) - 1) % POSITIONS + 1


def seat_of(number: int) -> int | None:
    """Return the seat with a position number; None for the dealer. Seat 1 is dealt first and counted last."""
    assert 1 <= number <= POSITIONS, number
    return None if number == DEALER else 8 - number


def position_odds() -> tuple[Fraction, ...]:
    """Return the odds of each position number with three fair dice, by counting all rolls."""
    rolls = Counter(position_of_dice(values) for values in product(range(1, FACES + 1), repeat=DICE))
    return tuple(Fraction(rolls[number], FACES**DICE) for number in range(1, POSITIONS + 1))
