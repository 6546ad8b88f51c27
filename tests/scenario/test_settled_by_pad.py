"""Rounds on the shipped box in virtual time whose cards are entered at the card pad; the journal against the text."""

from __future__ import annotations

import pytest

from table_controller.rulebook import GAMES
from tests.support.box.settled_rounds import SettledTable
from tests.support.suite import case_counts

# `make test` plays a few rounds of every game; `make proof` 500 over the five games, at tables that workers share;
# `make marathon` as many in every lap, at tables of other seeds. 2,000 more have dealers who err.
SHORT = 8
ROUNDS = 100
PROOF = 500
PROOF_SEED = 50
TABLES = [
    (game, PROOF_SEED + row)
    for row in case_counts.draw_seeds(0, PROOF // ROUNDS // len(GAMES))
    for game in GAMES
]  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
def test_the_journal_settles_every_wager_as_the_text_orders(game: str, seed: int) -> None:
    seen = SettledTable(game, seed).play(SHORT)
    assert seen["hand"]
    assert seen["amount"]


@pytest.mark.proof
@pytest.mark.parametrize(("game", "seed"), TABLES)
def test_many_rounds_at_the_box_are_settled_as_the_text_orders(game: str, seed: int) -> None:
    """Void rounds, dead hands, hands face up, surrendered and folded ones are among them."""
    case_counts.count_cases(ROUNDS)
    seen = SettledTable(game, seed).play(ROUNDS)
    outcomes = {key.rpartition(" ")[2] for key in seen}
    assert {"wins", "loses"} <= outcomes
    assert seen["settled by touch"]
    print(f"{game}, seed {seed}: {dict(seen)}")
