"""Payback of Asia Poker: the main wager simulated, the bonus counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.games.asia_poker import hands
from table_controller.rulebook.games.asia_poker.house_way import standard_4_2_1
from table_controller.rulebook.payback.hand_counts import SEVEN_METHOD, SEVEN_STEPS, seven_cards
from table_controller.rulebook.payback.simulation import SEATS, deals, mean_payback
from table_controller.rulebook.payback.study import Study, at_odds, simulated_figure, steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.payback.simulation import SimulatedPayback
    from table_controller.rulebook.payback.study import Effort, Figure, Tick


def asia_main(rounds: int, seed: int, tick: Tick) -> SimulatedPayback:
    """Simulate the main wager: dealer and players set by the house way."""
    return mean_payback((_asia(deal) for deal in deals(rounds, seed)), rounds, tick)


def _asia(deal: list[tuple[int, ...]]) -> float:
    strength = hands.strength()
    dealer, *players = ([strength(hand) for hand in standard_4_2_1(cards)] for cards in deal)
    won = sum(sum(own > other for own, other in zip(player, dealer, strict=True)) >= 2 for player in players)
    return (2 * won - SEATS) / SEATS


def _main(effort: Effort, tick: Tick) -> Iterator[Figure]:
    simulated = asia_main(effort.rounds, effort.seed, tick)
    yield simulated_figure(simulated, effort, "asia_poker", "asia_poker", "575-main", "all by standard_4_2_1")


def _bonus(_: Effort, tick: Tick) -> Iterator[Figure]:
    yield from at_odds("asia_poker", "bonus", seven_cards(tick).limited, SEVEN_METHOD)


STUDIES: Final = (
    Study("seven cards", ("bonus",), steps(SEVEN_STEPS), _bonus),
    Study("Asia Poker dealt out", ("asia_poker",), lambda effort: effort.rounds, _main),
)
