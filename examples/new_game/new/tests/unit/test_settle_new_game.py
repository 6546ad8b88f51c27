"""High Card: the higher card wins the Ante, a tie returns it; the Lucky Card is paid by its table."""

from __future__ import annotations

import pytest

from tests.support.core.settled_rounds import only_result, seat, settle_round, terms
from tests.support.suite.clauses import clauses

GAME = "new_game"


@clauses("999a.1:High card", "999a.9(b)", "999a.9(d)")
@pytest.mark.parametrize(
    ("player", "dealer", "outcome", "back"),
    [
        ("As", "Kd", "wins", 1000),
        ("Jk", "Ad", "wins", 1000),
        ("7s", "7d", "pushes", 500),
        ("2s", "3d", "loses", 0),
    ],
)
def test_the_higher_card_wins_the_ante(player: str, dealer: str, outcome: str, back: int) -> None:
    result = only_result(settle_round(terms(GAME), seat(1, player, ante=500), dealer=dealer), "ante")
    assert (result.outcome, result.back_cents + result.paid_cents) == (outcome, back)


@clauses("999a.7(d)(2)", "999a.9(c)")
@pytest.mark.parametrize(("player", "paid"), [("Jk", 7500), ("Ac", 2500), ("Kd", 1000), ("Qd", 0)])
def test_the_lucky_card_is_paid_by_its_table(player: str, paid: int) -> None:
    results = settle_round(terms(GAME), seat(1, player, ante=500, lucky_card=500), dealer="Kh")
    assert only_result(results, "lucky_card").paid_cents == paid
