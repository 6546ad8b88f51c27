"""Pictures of places, dice and digits, as text."""

from __future__ import annotations

import pytest

from devices.rng.messages import SEGMENTS
from table_controller.cli.render.positions import dice_text, draw_digit, draw_positions, position_text


def test_the_marked_place_stands_below_its_seat_and_its_number() -> None:
    seats, numbers, marks = draw_positions(5)
    at = marks.index("●")
    assert numbers[at] == "5"
    assert seats[at - 3 : at + 4].strip() == "seat 3"
    assert marks.count("●") == 1
    assert marks.count("·") == 6


@pytest.mark.parametrize("number", range(1, 8))
def test_every_number_can_be_marked(number: int) -> None:
    _, numbers, marks = draw_positions(number)
    assert numbers[marks.index("●")] == str(number)


def test_without_a_number_nothing_is_marked() -> None:
    assert "●" not in "".join(draw_positions(None))


def test_words_for_places_and_dice() -> None:
    assert position_text(1) == "position number 1, the dealer"
    assert position_text(7) == "position number 7, seat 1"
    assert dice_text([1, 6, 3]) == "⚀ ⚅ ⚂   1 + 6 + 3 = 10: position number 3, seat 5"


def test_digits_look_like_digits() -> None:
    assert draw_digit(SEGMENTS[1]) == ["   ", "  |", "  |"]
    assert draw_digit(SEGMENTS[2]) == [" _ ", " _|", "|_ "]
    assert draw_digit(SEGMENTS[4]) == ["   ", "|_|", "  |"]
    assert draw_digit(SEGMENTS[7]) == [" _ ", "  |", "  |"]
    assert len({tuple(draw_digit(segments)) for segments in SEGMENTS.values()}) == 7
    assert draw_digit(0) == ["   ", "   ", "   "]
