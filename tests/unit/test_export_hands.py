"""The auditor's ranking of hands, written from the printed rules, agrees with the rulebook of the box."""

from __future__ import annotations

from random import Random

import pytest

from simulators.casino.dealt_hands import deal_hand, line_of
from table_controller.journal.table_terms import terms_of
from table_controller.rulebook.cards import JOKER, format_cards
from table_controller.table.hits import NO_WIN
from tests.support.core.hits import BettingTable
from tests.support.core.meters import PROGRESSIVES
from tools.export_checks import hands

DRAWN = 300


@pytest.mark.parametrize("table", list(PROGRESSIVES))
def test_both_rank_drawn_hands_alike(table: str) -> None:
    context = BettingTable(table).table.context
    assert context.meter is not None
    lines = [award.hand for award in context.meter.awards]
    ranking, rng, seen = terms_of(context).ranking, Random(table), set()
    dealt = [deal_hand(context, hand, (), rng) for hand in lines for _ in range(8)]
    deck = range(JOKER + (ranking.startswith("seven")))  # elsewhere the joker is replaced
    dealt += [tuple(rng.sample(deck, context.edition.hand.cards)) for _ in range(DRAWN)]
    for cards in dealt:
        assert cards is not None
        right = line_of(context, cards)
        assert (hands.line_of(format_cards(cards), "", ranking, lines) or NO_WIN) == right, format_cards(cards)
        seen.add(right)
    assert seen >= {*lines, NO_WIN}


@pytest.mark.parametrize(
    ("cards", "replacement", "ranking", "line"),
    [
        ("9s 9h Jk 7s 4s", "9d", "five_natural", "three_of_a_kind"),
        ("9s 9h Jk 7s 4s", "8d", "five_natural", ""),
        ("9s 9h 2d 7s 4s", "", "five_natural", ""),
        ("9s 9h 2d 7s 4s", "", "five_wild_twos", "three_of_a_kind"),
        ("Ts Js 2d Ks As", "", "five_wild_twos", "royal_flush"),
        ("As 2d 3c 4h 5s", "", "five_natural", "straight"),
    ],
)
def test_five_cards_by_hand(cards: str, replacement: str, ranking: str, line: str) -> None:
    lines = ["royal_flush", "straight_flush", "four_of_a_kind", "full_house", "flush", "straight", "three_of_a_kind"]
    assert hands.line_of(cards, replacement, ranking, lines) == line
