"""Asia Poker: every irregularity of chapter 575 at the table, from its arrival until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.core.irregularities import IrregularityCase, cells, check, parse
from tests.support.core.row_params import params
from tests.support.core.shared_rows import SEVEN_CARDS

GAME = "asia_poker"

# The clauses of the rows that this chapter shares with 688a.
CLAUSES = {
    "not_flat": "575.13(a)",
    "out_of_shaker": "575.13(b)",
    "wrong_start": "575.13(c)",
    "player_card": "575.13(d)",
    "hand_deal": "575.13(j)",
    "face_up": "575.13(f)/1",
    "more_face_up": "575.13(f)/2",
    "drawn": "575.13(g)",
    "wrong_count": "575.13(h) 575.13(k)",
    "misset": "575.13(i)",
    "shoe_misdealt": "575.8(e)/1",
    "hand_misdealt": "575.9(d)/1",
    "auto_misdealt": "575.10(d)/1",
    "shoe_bad_deck": "575.8(e)/2",
    "hand_bad_deck": "575.9(d)/2",
    "auto_bad_deck": "575.10(d)/2",
    "shuffler_fault": "575.13(l)",
    "shoe_fault": "575.13(m)",
    "unusable": "575.13(n)",
}

# = what follows, its evidence : by which clauses and readings; then trigger and how it arrives | tables | phases
CASES = parse(GAME, SEVEN_CARDS.format(**CLAUSES)) + parse(GAME, """
= NOTHING
dice_not_flat declared                | rng button             | starting_position
= ASK_START first_card_seen : X7
wrong_start_dealt declared            | rng button rng_manual rng_hand | dealing stub_check playing
= ASK_START_LATE first_card_seen wagers_reversed : X7 X18
wrong_start_dealt declared            | rng button rng_manual rng_hand | settling
= ASK
wrong_start_dealt declared            | auto rng button        | betting starting_position
dealer_card_exposed declared          | auto hand rng_blind rng_hand | starting_position settling
= VOID hand_confirmed wagers_returned : 575.13(j)
dealer_card_exposed declared          | hand rng_hand          | dealing
= VOID hand_confirmed wagers_returned : 575.13(e)
dealer_card_exposed declared          | auto manual rng rng_blind rng_manual | dealing stub_check playing
dealer_card_exposed declared          | hand rng_hand          | stub_check playing
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: IrregularityCase) -> None:
    for cell in cells(case):
        check(cell)
