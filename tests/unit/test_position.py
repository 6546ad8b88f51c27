"""Position numbers and seats: counted around a table by hand, for every throw of three dice."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from devices.position import EQUAL_ODDS, position_odds, position_of_dice, seat_of

# Around the table from the dealer, counterclockwise: to the dealer's right first, where seat 6 is.
AROUND = ["dealer", "seat 6", "seat 5", "seat 4", "seat 3", "seat 2", "seat 1"]


def counted_by_hand(total: int) -> str:
    """Count places one after another from the dealer until the total."""
    at = 0
    for _ in range(total - 1):
        at = at + 1 if at < 6 else 0
    return AROUND[at]


@pytest.mark.parametrize("values", list(product(range(1, 7), repeat=3)))
def test_every_throw_leads_where_counting_by_hand_leads(values: tuple[int, ...]) -> None:
    """575.5(g)(1)(iii), 688a.5(i)(1)(iii)."""
    number = position_of_dice(values)
    seat = seat_of(number)
    assert ("dealer" if seat is None else f"seat {seat}") == counted_by_hand(sum(values))
    assert AROUND[number - 1] == counted_by_hand(number)


def test_every_place_has_one_number() -> None:
    assert [seat_of(number) for number in range(1, 8)] == [None, 6, 5, 4, 3, 2, 1]


def test_dice_are_not_even_over_the_seven_places() -> None:
    assert position_odds() == (*[Fraction(31, 216)] * 6, Fraction(30, 216))
    assert sum(position_odds()) == sum(EQUAL_ODDS) == 1
    assert position_odds() != EQUAL_ODDS


@pytest.mark.parametrize("values", [(1, 2), (1, 2, 3, 4), (0, 1, 1), (7, 1, 1)])
def test_what_are_not_three_dice_has_no_number(values: tuple[int, ...]) -> None:
    with pytest.raises(AssertionError):
        position_of_dice(values)


@pytest.mark.parametrize("number", [0, 8, -1])
def test_what_is_no_position_number_has_no_seat(number: int) -> None:
    with pytest.raises(AssertionError):
        seat_of(number)
