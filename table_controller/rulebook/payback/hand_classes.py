"""Classes of hands: suits have no order, so hands that differ only by the names of suits are one class.

Five cards: one hand per class, with the number of hands that it represents (some 151,000 classes). Seven cards: by
ranks, then by the ranks of the one suit that is long enough for a flush (some 300,000 classes).
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.cards import JOKER, RANKS

if TYPE_CHECKING:
    from collections.abc import Iterator

DECK: Final = 53  # cards, the joker among them
_SUITS: Final = 4
_BY_SIZE: Final = [
    [sum(1 << rank for rank in ranks) for ranks in combinations(range(len(RANKS)), size)]
    for size in range(len(RANKS) + 1)
]


def hand_classes(size: int, *, joker: bool) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield one hand of each class with the number of hands in it; `joker`: also hands with the joker."""
    for cards, multiplicity in _natural(size):
        yield cards, multiplicity
    if joker:
        for cards, multiplicity in _natural(size - 1):
            yield (*cards, JOKER), multiplicity


def _natural(size: int) -> Iterator[tuple[tuple[int, ...], int]]:
    for sizes in _partitions(size, _SUITS, size):
        for masks in _masks(sizes):
            multiplicity = factorial(_SUITS) // prod(factorial(number) for number in Counter(masks).values())
            cards = [rank << 2 | suit for suit, mask in enumerate(masks) for rank in _ranks(mask)]
            yield tuple(cards), multiplicity


def _partitions(size: int, parts: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of `size` into `parts` numbers, none larger than the one before."""
    if parts == 0:
        if size == 0:
            yield ()
        return
    for first in range(min(size, most), -1, -1):
        for others in _partitions(size - first, parts - 1, first):
            yield first, *others


def _masks(sizes: tuple[int, ...], before: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield the ranks of every suit for these suit sizes; suits of one size are in order."""
    if not sizes:
        yield ()
        return
    for mask in _BY_SIZE[sizes[0]]:
        if before is None or before.bit_count() > sizes[0] or mask <= before:
            for others in _masks(sizes[1:], mask):
                yield mask, *others


def _ranks(mask: int) -> list[int]:
    return [rank for rank in range(len(RANKS)) if mask >> rank & 1]


class Pattern(NamedTuple):
    """A class of natural hands: how many cards of each rank, and the ranks in the long suit (0: no suit is long)."""

    held: tuple[int, ...]
    long: int
    multiplicity: int


def patterns(size: int, least: int) -> Iterator[Pattern]:
    """Yield every pattern of `size` natural cards; a suit is long from `least` cards, and no two suits can be."""
    assert size < 2 * least
    for ranks in combinations_with_replacement(range(len(RANKS)), size):
        number = Counter(ranks)
        if max(number.values(), default=0) > _SUITS:
            continue
        held = tuple(number[rank] for rank in range(len(RANKS)))
        unsuited = prod(comb(_SUITS, count) for count in number.values())
        for long in _long_suits(list(number), least):
            multiplicity = _SUITS * prod(
                comb(_SUITS - 1, count - 1 if long >> rank & 1 else count) for rank, count in number.items()
            )
            if multiplicity:
                unsuited -= multiplicity
                yield Pattern(held, long, multiplicity)
        if unsuited:
            yield Pattern(held, 0, unsuited)


def _long_suits(ranks: list[int], least: int) -> Iterator[int]:
    for size in range(least, len(ranks) + 1):
        for chosen in combinations(ranks, size):
            yield sum(1 << rank for rank in chosen)
