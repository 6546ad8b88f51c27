"""Face Up Pai Gow Poker: irregularities of chapter 688a at the table, from arrival until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.core.irregularities import IrregularityCase, cells, check, parse
from tests.support.core.row_params import params
from tests.support.core.shared_rows import SEVEN_CARDS

GAME = "face_up_pai_gow"

# The clauses of the rows that this chapter shares with 575.
CLAUSES = {
    "not_flat": "688a.13(a)",
    "out_of_shaker": "688a.13(b)",
    "wrong_start": "688a.13(c)",
    "player_card": "688a.13(d)",
    "hand_deal": "688a.13(i)",
    "face_up": "688a.13(e)/1",
    "more_face_up": "688a.13(e)/2",
    "drawn": "688a.13(f)",
    "wrong_count": "688a.13(g) 688a.13(j)",
    "misset": "688a.13(h)",
    "shoe_misdealt": "688a.8(f)/1",
    "hand_misdealt": "688a.9(e)/1",
    "auto_misdealt": "688a.10(e)/1",
    "shoe_bad_deck": "688a.8(f)/2",
    "hand_bad_deck": "688a.9(e)/2",
    "auto_bad_deck": "688a.10(e)/2",
    "shuffler_fault": "688a.13(k)",
    "shoe_fault": "688a.13(l)",
    "unusable": "688a.13(m)",
}

# = what follows, its evidence : by which clauses and readings; then trigger and how it arrives | tables | phases
CASES = parse(GAME, SEVEN_CARDS.format(**CLAUSES)) + parse(GAME, """
= NOTHING
dice_not_flat declared                | rng                    | starting_position
= ASK_START first_card_seen : X7
wrong_start_dealt declared            | rng rng_manual rng_hand | dealing stub_check playing
= ASK_START_LATE first_card_seen wagers_reversed : X7 X18
wrong_start_dealt declared            | rng rng_manual rng_hand | settling
= ASK
wrong_start_dealt declared            | auto rng               | betting starting_position
dealer_card_exposed declared          | auto hand rng_blind rng_hand | starting_position dealing playing settling
device_unusable sensor                | auto                   | betting dealing settling
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: IrregularityCase) -> None:
    for cell in cells(case):
        check(cell)
