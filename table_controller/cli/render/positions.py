"""Draws the positions around the table, dice and a seven-segment digit as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.position import POSITIONS, position_of_dice, seat_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_FACES: Final = "⚀⚁⚂⚃⚄⚅"
# Seat 1 is farthest to the dealer's left; the dealer's own position comes last.
_ORDER: Final = (*range(POSITIONS, 1, -1), 1)
_COLUMN: Final = 8


def draw_positions(number: int | None) -> list[str]:
    """Return the seven positions with their numbers; the given one is marked."""
    seats = ["dealer" if seat_of(n) is None else f"seat {seat_of(n)}" for n in _ORDER]
    marks = ["●" if n == number else "·" for n in _ORDER]
    return [_row("", seats), _row("number", [str(n) for n in _ORDER]), _row("", marks)]


def _row(head: str, cells: Sequence[str]) -> str:
    return f"{head:7s}" + "".join(cell.center(_COLUMN) for cell in cells).rstrip()


def position_text(number: int) -> str:
    """Return a position number with its seat, or with the dealer."""
    seat = seat_of(number)
    return f"position number {number}, {'the dealer' if seat is None else f'seat {seat}'}"


def dice_text(values: Sequence[int]) -> str:
    """Return dice as faces, with their total and the position it selects."""
    faces = " ".join(_FACES[value - 1] for value in values)
    return f"{faces}   {' + '.join(map(str, values))} = {sum(values)}: {position_text(position_of_dice(values))}"


def draw_digit(segments: int) -> list[str]:
    """Return a digit of seven segments (bit 0 the top one, then clockwise, bit 6 the middle) as three lines."""

    def lit(bit: int, mark: str) -> str:
        return mark if segments >> bit & 1 else " "

    return [
        f" {lit(0, '_')} ",
        f"{lit(5, '|')}{lit(6, '_')}{lit(1, '|')}",
        f"{lit(4, '|')}{lit(3, '_')}{lit(2, '|')}",
    ]
