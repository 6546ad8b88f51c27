"""Wagers that look at two hands and can still be counted exactly: Saigon's Ante, and Ace High in Face Up Pai Gow."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import comb, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.cards import ACE, JOKER, RANKS
from table_controller.rulebook.hands import saigon
from table_controller.rulebook.hands.ranking import Runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    _Vector = tuple[int, ...]  # how many cards of each kind

# --- Saigon: only values matter ---------------------------------------------------------------------------------------

# Cards by value: ace, 2 to 9, then ten and court cards, then the joker; and the first card of each kind.
_KINDS: Final = (4,) * 9 + (16, 1)
_FIRST: Final = (ACE << 2, *(rank << 2 for rank in range(9)), JOKER)


class AnteResults(NamedTuple):
    """Chances of the Ante when both hands are set for the highest Point Count."""

    wins: Fraction
    wins_half: Fraction  # on a Point Count of 5
    pushes: Fraction
    loses: Fraction


def saigon_ante() -> AnteResults:
    """Return the chances, over every pair of hands; the dealer's by inclusion and exclusion of the player's cards."""
    hands = [(number, saigon.best_set(_representative(number))) for number in _vectors(5)]
    holding: dict[_Vector, Counter[int]] = defaultdict(
        Counter
    )  # some cards -> Point Counts of the hands that hold them
    for number, dealer in hands:
        for part in product(*(range(times + 1) for times in number)):
            rest = prod(comb(have - of, times - of) for have, times, of in zip(_KINDS, number, part, strict=True))
            holding[part][dealer.point_count if dealer.qualifies else 0] += rest
    results: Counter[str] = Counter()
    for number, player in hands:
        ways = prod(map(comb, _KINDS, number))
        for part in product(*(range(times + 1) for times in number)):
            sign = ways * prod(map(comb, number, part)) * (-1) ** sum(part)
            for count, times in holding[part].items():
                results[_ante(player, count)] += sign * times
    total = sum(results.values())
    return AnteResults(*(Fraction(results[name], total) for name in AnteResults._fields))


def _ante(player: saigon.Set, dealer: int) -> str:
    """Return how the Ante ends against a dealer's Point Count; 0: the dealer does not qualify."""
    if not player.qualifies:
        return "loses" if dealer else "pushes"
    if dealer and dealer >= player.point_count:
        return "loses" if dealer > player.point_count else "pushes"
    return "wins_half" if player.point_count == saigon.HALF_PAID else "wins"


def _vectors(size: int) -> Iterator[_Vector]:
    for kinds in combinations_with_replacement(range(len(_KINDS)), size):
        number = Counter(kinds)
        if all(times <= _KINDS[kind] for kind, times in number.items()):
            yield tuple(number[kind] for kind in range(len(_KINDS)))


def _representative(number: _Vector) -> list[int]:
    """Return a hand of these values."""
    return [_FIRST[kind] + at for kind, times in enumerate(number) for at in range(times)]


# --- Ace High: seven different ranks, no straight, no flush -----------------------------------------------------------


class AceHighResults(NamedTuple):
    """Chances that the dealer has an Ace High Pai Gow."""

    both: Fraction  # dealer and player
    dealer_with_joker: Fraction  # the dealer alone
    dealer_no_joker: Fraction


class _Side(NamedTuple):
    """Ace-high hands of one kind: natural with an ace, or with the joker in its place."""

    ranks: list[frozenset[int]]  # of the natural cards
    size: int
    longest: int  # cards of one suit that are not yet a flush


def ace_high() -> AceHighResults:
    """Return the chances. Suits are counted apart from ranks: how many suits fit depends on shared ranks alone."""
    natural, joker = _side(joker=False), _side(joker=True)
    pairs = comb(52, 7) + comb(52, 6)  # dealer hands, all and with the joker
    with_joker = Fraction(_single(joker), pairs)
    no_joker = Fraction(_single(natural), pairs)
    both = {
        (dealer_joker, player_joker): Fraction(
            _together(joker if dealer_joker else natural, joker if player_joker else natural), pairs * comb(46, 7)
        )
        for dealer_joker, player_joker in ((False, False), (True, False), (False, True))
    }
    return AceHighResults(
        sum(both.values(), Fraction(0)),
        with_joker - both[True, False],
        no_joker - both[False, False] - both[False, True],
    )


def _side(*, joker: bool) -> _Side:
    runs = Runs(5, wheel_second=True)
    size = 7 - joker
    ranks = [
        frozenset(chosen)
        for chosen in combinations(range(len(RANKS)), size)
        if (ACE in chosen) is not joker and runs.best(sum(1 << rank for rank in chosen), int(joker)) is None
    ]
    return _Side(ranks, size, 4 - joker)


def _single(side: _Side) -> int:
    """Return how many hands there are of one kind."""
    return len(side.ranks) * sum(number for counts, number in _suits(side.size).items() if max(counts) <= side.longest)


def _together(dealer: _Side, player: _Side) -> int:
    """Return how many pairs of hands there are: on shared ranks the two have different suits."""
    shared: Counter[int] = Counter(len(own & other) for own in dealer.ranks for other in player.ranks)
    return sum(times * _suited(dealer, player, number) for number, times in shared.items())


def _suited(dealer: _Side, player: _Side, shared: int) -> int:
    """Return in how many ways suits can be given to two hands that share so many ranks."""
    ways: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter({((0,) * 4, (0,) * 4): 1})
    pairs = [(own, other) for own, other in product(range(4), repeat=2) if own != other]
    for _ in range(shared):
        longer: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
        for (first, second), number in ways.items():
            for own, other in pairs:
                longer[_plus(first, own), _plus(second, other)] += number
        ways = longer
    rest_dealer, rest_player = _suits(dealer.size - shared), _suits(player.size - shared)
    return sum(
        number * _fitting(first, rest_dealer, dealer.longest) * _fitting(second, rest_player, player.longest)
        for (first, second), number in ways.items()
        if max(first) <= dealer.longest and max(second) <= player.longest
    )


def _fitting(counts: tuple[int, ...], rest: Counter[tuple[int, ...]], longest: int) -> int:
    """Return in how many ways the other cards' suits keep every suit short enough."""
    return sum(
        number for more, number in rest.items() if all(a + b <= longest for a, b in zip(counts, more, strict=True))
    )


def _plus(counts: tuple[int, ...], suit: int) -> tuple[int, ...]:
    return (*counts[:suit], counts[suit] + 1, *counts[suit + 1 :])


def _suits(size: int) -> Counter[tuple[int, ...]]:
    """Return in how many ways so many cards fall into suits."""
    found: Counter[tuple[int, ...]] = Counter({(0,) * 4: 1})
    for _ in range(size):
        longer: Counter[tuple[int, ...]] = Counter()
        for counts, number in found.items():
            for suit in range(4):
                longer[_plus(counts, suit)] += number
        found = longer
    return found
