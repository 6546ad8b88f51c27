"""Saigon 5 Card: every irregularity of chapter 680a at the table, from arrival until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.core.irregularities import IrregularityCase, cells, check, parse
from tests.support.core.row_params import params
from tests.support.core.shared_rows import FIVE_CARDS

GAME = "saigon_5_card"

# The clauses of the rows that this chapter shares with 687a.
CLAUSES = {
    "face_up": "680a.13(a)/1",
    "more_face_up": "680a.13(a)/2",
    "drawn": "680a.13(b)",
    "wrong_count": "680a.13(c)",
    "shoe_misdealt": "680a.8(g)/1",
    "hand_misdealt": "680a.9(f)/1",
    "auto_misdealt": "680a.10(f)/1",
    "shoe_bad_deck": "680a.8(g)/2",
    "hand_bad_deck": "680a.9(f)/2",
    "auto_bad_deck": "680a.10(f)/2",
    "wrong_deck": "680a.5(b)",
    "shuffler_fault": "680a.13(d)",
    "shoe_fault": "680a.13(e)",
    "unusable": "680a.13(f)",
}

# = what follows, its evidence : by which clauses and readings; then trigger and how it arrives | tables | phases
CASES = parse(GAME, FIVE_CARDS.format(**CLAUSES)) + parse(GAME, """
= ASK
player_card_exposed declared          | auto hand auto_blind hand_blind | dealing playing settling
dealer_card_exposed declared          | auto auto_blind        | dealing playing
card_exposed_hand_deal declared       | hand hand_blind        | dealing
cards_revealed_before_raise declared  | auto auto_blind        | dealing playing
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: IrregularityCase) -> None:
    for cell in cells(case):
        check(cell)
