"""Payback of Asia Poker's main wager, simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.asia_poker import hands
from table_controller.rulebook.games.asia_poker.house_way import standard_4_2_1
from table_controller.rulebook.payback.simulation import SEATS, deals, mean_payback

if TYPE_CHECKING:
    from table_controller.rulebook.payback.simulation import SimulatedPayback, Tick


def asia_main(rounds: int, seed: int, tick: Tick) -> SimulatedPayback:
    """Simulate the main wager: dealer and players set by the house way."""
    return mean_payback((_asia(deal) for deal in deals(rounds, seed)), rounds, tick)


def _asia(deal: list[tuple[int, ...]]) -> float:
    strength = hands.strength()
    dealer, *players = ([strength(hand) for hand in standard_4_2_1(cards)] for cards in deal)
    won = sum(sum(own > other for own, other in zip(player, dealer, strict=True)) >= 2 for player in players)
    return (2 * won - SEATS) / SEATS
