"""Over/Under: every irregularity of chapter 686a at the table, from arrival until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.irregular import Case, cells, check, parse
from tests.support.rows import params

GAME = "over_under"

# = what follows, its evidence : by which clauses and readings; then trigger and how it arrives | tables | phases
CASES = parse(GAME, """
= DISCARD_DEALER discard_confirmed : 686a.9(a)/1
face_up_card_first seen               | shoe                   | dealing playing settling
face_up_card_first at_seat            | shoe plain continuous  | dealing playing settling
= DISCARD_DEALER discard_confirmed : 686a.9(a)/2
face_up_card_more seen_again          | shoe                   | dealing playing settling
face_up_card_more declared_again      | shoe plain continuous  | dealing playing settling
= FINISH rack_shuffled card_burned : 686a.9(b)
shoe_short declared                   | shoe plain continuous  | dealing playing settling
= MISSED hand_confirmed : 686a.9(c)
additional_cards_missed declared      | shoe plain continuous  | playing settling
= COUNT recount deck_verified : X8 O11
count_wrong blue                      | shoe plain             | idle complete
= COUNT_WAITING recount deck_verified : X8 O11
count_wrong blue                      | plain                  | betting no_more_bets locked
= COUNT_DEALT recount deck_verified : X8 O11
count_wrong blue                      | shoe plain             | dealing playing settling
= COUNT_STORED recount deck_verified : X8 O11
count_wrong red                       | shoe                   | idle betting locked dealing settling complete
count_wrong cycle_count               | shoe                   | idle dealing settling
count_wrong blue                      | continuous             | idle complete
= RESHUFFLE cards_removed path_clear cards_counted : 686a.9(d)
shuffler_fault jam                    | shoe                   | idle betting locked dealing playing settling complete
shuffler_fault cycle_jam              | shoe                   | idle dealing settling
shuffler_fault declared_shuffler      | shoe                   | playing
shuffler_fault jam                    | continuous             | idle complete
= RESHUFFLE_FAULTED cards_removed path_clear cards_counted : 686a.9(d)
shuffler_fault fault                  | shoe                   | idle dealing
shuffler_fault fault                  | continuous             | idle complete
= RESHUFFLE_DEAD cards_removed path_clear cards_counted : 686a.9(d)
shuffler_fault shuffler               | shoe                   | idle dealing
= RESHUFFLE_STOPS cards_removed path_clear cards_counted : 686a.9(d)
shuffler_fault jam                    | continuous             | betting no_more_bets locked
= REFEED cards_removed path_clear cards_counted table_seen : 686a.9(d)
shuffler_fault jam                    | continuous             | dealing playing settling
shuffler_fault declared_shuffler      | continuous             | dealing
= REFEED_FAULTED cards_removed path_clear cards_counted table_seen : 686a.9(d)
shuffler_fault fault                  | continuous             | dealing settling
= SIGN sign_seen : 686a.9(e)
device_unusable shuffler              | shoe                   | idle betting dealing settling complete
device_unusable declared_shuffler     | shoe                   | dealing
device_unusable shuffler              | continuous             | idle complete
= SIGN_STOPS sign_seen : 686a.9(e)
device_unusable shuffler              | continuous             | betting dealing settling
= ASK_DECK
face_up_card_first seen               | shoe                   | complete
device_unusable shoe                  | shoe                   | idle complete
shoe_fault shoe_jam                   | shoe                   | idle complete
= ASK_IDLE
face_up_card_first seen               | shoe                   | idle
= ASK
face_up_card_first seen               | shoe                   | betting locked
face_up_card_more declared_again      | shoe plain             | no_more_bets locked
shoe_short declared                   | shoe plain             | no_more_bets locked
additional_cards_missed declared      | shoe plain             | locked dealing
device_unusable shoe                  | shoe                   | betting dealing settling
shoe_fault shoe_jam                   | shoe                   | betting dealing settling
wrong_card_count declared             | shoe plain             | dealing playing settling
card_drawn_in_error declared          | shoe                   | dealing
player_card_exposed declared          | shoe                   | playing
dealer_card_exposed declared          | shoe                   | playing
dealer_hand_misset declared           | shoe                   | settling
wrong_start_dealt declared            | shoe                   | dealing
cards_revealed_before_raise declared  | shoe                   | playing
card_exposed_hand_deal declared       | shoe                   | dealing
other declared                        | shoe plain             | betting dealing settling
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: Case) -> None:
    for cell in cells(case):
        check(cell)
