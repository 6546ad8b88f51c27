"""High Card: every irregularity of chapter 999a at the table, from its arrival until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.core.irregularities import IrregularityCase, cells, check, parse
from tests.support.core.row_params import params

GAME = "new_game"

# = what follows, its evidence : by which clauses and readings; then trigger and how it arrives | tables | phases
CASES = parse(GAME, """
= VOID wagers_returned : 999a.10(a)
face_up_card_more declared_again      | manual hand            | dealing
= VOID hands_counted wagers_returned : 999a.10(b)
wrong_card_count declared             | auto manual hand       | dealing playing
= TAKE_AWAY deck_removed : 999a.5(b)
count_wrong blue                      | auto hand              | idle complete
= TAKE_WAITING deck_removed : 999a.5(b)
count_wrong blue                      | auto hand              | betting no_more_bets
= RESHUFFLE cards_removed path_clear cards_counted : 999a.10(c)
shuffler_fault jam                    | two two_blind          | idle betting dealing settling complete
= LOOK cards_removed path_clear cards_counted : 999a.10(c)
shuffler_fault jam                    | auto hand              | idle dealing
= EMPTY cards_removed path_clear cards_counted wagers_returned : 999a.10(d)
shoe_fault shoe_jam                   | auto two               | betting no_more_bets dealing
= SIGN sign_seen : 999a.10(e)
device_unusable shuffler              | auto hand              | idle betting dealing settling complete
device_unusable shoe                  | auto two               | idle betting dealing settling complete
= ASK
face_up_card_first seen               | auto manual            | betting dealing settling
card_drawn_in_error declared          | auto hand              | dealing
dealer_card_exposed declared          | auto                   | dealing playing
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: IrregularityCase) -> None:
    for cell in cells(case):
        check(cell)
