"""Rounds on the shipped box with a shoe that identifies cards: what it releases, and the journal against the text."""

from __future__ import annotations

import pytest

from table_controller.rulebook import GAMES
from tests.support.box.settled_rounds import SettledTable
from tests.support.suite import case_counts

# `make test` plays a few rounds of every game; `make proof` 2,000 over the five games, at tables that workers share;
# `make marathon` as many in every lap, at tables of other seeds. Settings and amounts are entered at the card pad.
SHORT = 6
ROUNDS = 100
PROOF = 2_000
PROOF_SEED = 9_000
TABLES = [
    (game, PROOF_SEED + row)
    for row in case_counts.draw_seeds(0, PROOF // ROUNDS // len(GAMES))
    for game in GAMES
]  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
def test_released_cards_are_those_on_the_table_and_settle_as_the_text_orders(game: str, seed: int) -> None:
    seen = SettledTable(game, seed, identifies=True).play(SHORT)
    assert seen["hand identified"] > seen["hand"]


@pytest.mark.proof
@pytest.mark.parametrize(("game", "seed"), TABLES)
def test_many_rounds_by_identified_cards_are_settled_as_the_text_orders(game: str, seed: int) -> None:
    """Void rounds, dead hands, surrendered and folded ones are among them; settings are entered by the dealer."""
    case_counts.count_cases(ROUNDS)
    seen = SettledTable(game, seed, identifies=True).play(ROUNDS)
    outcomes = {key.rpartition(" ")[2] for key in seen}
    assert {"wins", "loses"} <= outcomes
    assert seen["hand identified"] > seen["hand"]
    print(f"{game}, seed {seed}: {dict(seen)}")
