"""DJ Wild Stud Poker: every irregularity of chapter 687a at the table, from arrival until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.core.irregularities import IrregularityCase, cells, check, parse
from tests.support.core.row_params import params
from tests.support.core.shared_rows import FIVE_CARDS

GAME = "dj_wild"

# The clauses of the rows that this chapter shares with 680a.
CLAUSES = {
    "face_up": "687a.13(a)/1",
    "more_face_up": "687a.13(a)/2",
    "drawn": "687a.13(b)",
    "wrong_count": "687a.13(c)",
    "shoe_misdealt": "687a.8(g)/1",
    "hand_misdealt": "687a.9(f)#2/1",
    "auto_misdealt": "687a.10(f)/1",
    "shoe_bad_deck": "687a.8(g)/2",
    "hand_bad_deck": "687a.9(f)#2/2",
    "auto_bad_deck": "687a.10(f)/2",
    "wrong_deck": "687a.5(b)",
    "shuffler_fault": "687a.13(e)",
    "shoe_fault": "687a.13(f)",
    "unusable": "687a.13(g)",
}

# = what follows, its evidence : by which clauses and readings; then trigger and how it arrives | tables | phases
CASES = parse(GAME, FIVE_CARDS.format(**CLAUSES)) + parse(GAME, """
= VOID hands_counted wagers_returned : 687a.13(c)
wrong_card_count declared             | auto manual hand auto_blind manual_blind hand_blind | raised
= ASK
device_unusable sensor                | wild                   | betting settling
cards_revealed_before_raise declared  | auto auto_blind        | no_more_bets settling
cards_revealed_before_raise declared  | manual_plain           | locked
cards_revealed_before_raise declared  | auto manual hand wild auto_blind manual_blind hand_blind | raised
player_card_exposed declared          | auto auto_blind        | raised settling
dealer_card_exposed declared          | auto auto_blind        | raised settling
card_exposed_hand_deal declared       | hand hand_blind        | raised settling
= VOID_HANDS hand_confirmed wagers_returned hands_complete : 687a.13(d)
cards_revealed_before_raise declared  | auto manual hand wild auto_blind manual_blind hand_blind | dealing
player_card_exposed declared          | auto manual hand auto_blind manual_blind hand_blind | dealing
dealer_card_exposed declared          | auto manual hand auto_blind manual_blind hand_blind | dealing
card_exposed_hand_deal declared       | hand hand_blind        | dealing
= VOID_BUT hand_confirmed wagers_returned : 687a.13(d)
cards_revealed_before_raise declared  | auto manual hand wild auto_blind manual_blind hand_blind | stub_check playing
player_card_exposed declared          | auto manual hand auto_blind manual_blind hand_blind | stub_check playing
dealer_card_exposed declared          | auto manual hand auto_blind manual_blind hand_blind | stub_check playing
card_exposed_hand_deal declared       | hand hand_blind        | stub_check playing
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: IrregularityCase) -> None:
    for cell in cells(case):
        check(cell)
