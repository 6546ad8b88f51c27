"""Paybacks of Face Up Pai Gow Poker: the main wager simulated, the other wagers counted exactly.

An Ace High Pai Gow is seven different ranks with no straight and no flush.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from table_controller.rulebook.cards import ACE, RANKS
from table_controller.rulebook.games.face_up_pai_gow import hands
from table_controller.rulebook.games.face_up_pai_gow.house_way import standard_5_2
from table_controller.rulebook.hands.ranking import Straights
from table_controller.rulebook.payback.hand_counts import SEVEN_METHOD, SEVEN_STEPS, seven_cards
from table_controller.rulebook.payback.simulation import SEATS, deals, mean_payback
from table_controller.rulebook.payback.study import (
    PAIRS_METHOD,
    Figure,
    Study,
    at_odds,
    line_chances,
    of_progressive,
    return_per_unit,
    simulated_figure,
    steps,
    tables_of,
)
from table_controller.rulebook.settlement.terms import line_pay

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from table_controller.rulebook.payback.simulation import SimulatedPayback
    from table_controller.rulebook.payback.study import Effort, Tick
    from table_controller.rulebook.texts import Paytable

_GAME: Final = "face_up_pai_gow"


# --- the main wager ---------------------------------------------------------------------------------------------------


def face_up_main(rounds: int, seed: int, tick: Tick) -> SimulatedPayback:
    """Simulate the main wager: the dealer sets by the house way; players, who see the dealer's cards, set optimally."""
    return mean_payback((_face_up(deal) for deal in deals(rounds, seed)), rounds, tick)


def best_result(cards: Sequence[int], high: int, low: int) -> int:
    """Return the best that a player can get against two hands: 1 wins, 0 pushes, -1 loses."""
    pushes = hands.strength(cards) > high  # the best five cards in the high hand
    for pair in combinations(cards, 2):
        own_low = hands.strength(pair)
        if own_low > low:
            own_high = hands.strength([card for card in cards if card not in pair])
            if own_high >= own_low:
                if own_high > high:
                    return 1
                pushes = True
    return 0 if pushes else -1


def _face_up(deal: list[tuple[int, ...]]) -> float:
    dealer, *players = deal
    if hands.is_ace_high(dealer):
        return 0
    high, low = map(hands.strength, standard_5_2(dealer))
    return sum(best_result(player, high, low) for player in players) / SEATS


# --- Ace High ---------------------------------------------------------------------------------------------------------


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


def ace_high_chances() -> AceHighResults:
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
    runs = Straights(5, wheel_second=True)
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
    assignments: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter({((0,) * 4, (0,) * 4): 1})
    pairs = [(own, other) for own, other in product(range(4), repeat=2) if own != other]
    for _ in range(shared):
        longer: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
        for (first, second), number in assignments.items():
            for own, other in pairs:
                longer[_plus(first, own), _plus(second, other)] += number
        assignments = longer
    rest_dealer, rest_player = _suits(dealer.size - shared), _suits(player.size - shared)
    return sum(
        number * _fitting(first, rest_dealer, dealer.longest) * _fitting(second, rest_player, player.longest)
        for (first, second), number in assignments.items()
        if max(first) <= dealer.longest and max(second) <= player.longest
    )


def _fitting(counts: tuple[int, ...], others: Counter[tuple[int, ...]], longest: int) -> int:
    """Return in how many ways the other cards' suits keep every suit short enough."""
    return sum(
        number for more, number in others.items() if all(a + b <= longest for a, b in zip(counts, more, strict=True))
    )


def _plus(counts: tuple[int, ...], suit: int) -> tuple[int, ...]:
    return (*counts[:suit], counts[suit] + 1, *counts[suit + 1 :])


def _suits(size: int) -> Counter[tuple[int, ...]]:
    """Return in how many ways so many cards fall into suits."""
    distribution: Counter[tuple[int, ...]] = Counter({(0,) * 4: 1})
    for _ in range(size):
        longer: Counter[tuple[int, ...]] = Counter()
        for counts, number in distribution.items():
            for suit in range(4):
                longer[_plus(counts, suit)] += number
        distribution = longer
    return distribution


# --- the figures ------------------------------------------------------------------------------------------------------


def _main(effort: Effort, tick: Tick) -> Iterator[Figure]:
    simulated = face_up_main(effort.rounds, effort.seed, tick)
    assuming = "dealer by standard_5_2, best play"
    yield simulated_figure(simulated, effort, _GAME, "face_up_pai_gow_poker", "688a-main", assuming)


def _ace_high(_: Effort, tick: Tick) -> Iterator[Figure]:
    results = ace_high_chances()
    chances = {
        "both_ace_high": results.both,
        "dealer_ace_high_with_joker": results.dealer_with_joker,
        "dealer_ace_high_no_joker": results.dealer_no_joker,
    }
    for table in tables_of(_GAME, "ace_high"):
        back = sum((chances[line.hand] * return_per_unit(line_pay(line)) for line in table.lines), Fraction(0))
        yield Figure(game=_GAME, wager="ace_high", table=table.id, computed=back, method=PAIRS_METHOD)
    tick(1)


def _seven_cards(_: Effort, tick: Tick) -> Iterator[Figure]:
    tallies = seven_cards(tick)
    fortunes = at_odds(_GAME, "fortune", tallies.limited, SEVEN_METHOD)
    for figure, table in zip(fortunes, tables_of(_GAME, "fortune"), strict=True):
        yield msgspec.structs.replace(figure, assuming="no envy")
        envy = 5 * _envy(table, tallies.limited, 500)
        yield msgspec.structs.replace(figure, computed=figure.computed + envy, assuming="$5, envy for 5 others")
    for table in tables_of(_GAME, "progressive"):
        tally = tallies.fully_wild if table.fully_wild_joker else tallies.limited
        rate = Fraction((table.rate_percent or 0) + (table.reserve_percent or 0), 100)
        back = of_progressive(table, tally, rate=rate, stake=bool(table.stake_returned))
        assert table.unit_cents is not None
        envy = _envy(table, tallies.limited, table.unit_cents)
        figure = Figure(game=_GAME, wager="progressive", table=table.id, computed=back, method=SEVEN_METHOD)
        yield msgspec.structs.replace(figure, assuming="no envy") if envy else figure
        if envy:
            yield msgspec.structs.replace(figure, computed=back + envy, assuming="envy for 1 other")


def _envy(table: Paytable, tally: Mapping[int, int], unit: int) -> Fraction:
    """Return the payback of envy for one other seat, as a share of a wager of `unit` cents."""
    return sum(
        (chance * Fraction(line.envy_cents or 0, unit) for line, chance in line_chances(table, tally)), Fraction(0)
    )


STUDIES: Final = (
    Study("seven cards", ("fortune", "progressive"), steps(SEVEN_STEPS), _seven_cards),
    Study("Ace High", ("ace_high",), steps(1), _ace_high),
    Study("Face Up Pai Gow dealt out", ("face_up_pai_gow_poker",), lambda effort: effort.rounds, _main),
)
