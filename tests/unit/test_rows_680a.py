"""Saigon 5 Card: every irregularity of chapter 680a at the table, from arrival until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.core.irregularities import IrregularityCase, cells, check, parse
from tests.support.core.row_params import params

GAME = "saigon_5_card"

# = what follows, its evidence : by which clauses and readings; then trigger and how it arrives | tables | phases
CASES = parse(GAME, """
= DISCARD discard_confirmed : 680a.13(a)/1
face_up_card_first seen               | manual manual_blind    | dealing
face_up_card_first at_seat            | manual hand manual_blind hand_blind | dealing
= DISCARD_STACK discard_confirmed hand_confirmed : 680a.13(a)/1
face_up_card_first seen               | auto auto_blind        | dealing
face_up_card_first at_seat            | auto auto_plain auto_blind | dealing
= VOID wagers_returned : 680a.13(a)/2
face_up_card_more seen_again          | auto manual auto_blind manual_blind | dealing
face_up_card_more declared_again      | auto manual hand auto_blind manual_blind hand_blind | dealing
= NEXT next_card_placed : 680a.13(b)
card_drawn_in_error declared          | auto manual hand auto_blind manual_blind hand_blind | betting dealing
card_drawn_in_error declared          | auto hand auto_blind hand_blind | no_more_bets
card_drawn_in_error declared          | manual_plain           | locked
= VOID hands_counted wagers_returned : 680a.13(c)
wrong_card_count declared             | auto manual hand auto_blind manual_blind hand_blind | dealing stub_check playing
wrong_card_count total_right          | auto                   | stub_check
= VOID_LATE hands_counted wagers_returned wagers_reversed : 680a.13(c)
wrong_card_count declared             | auto manual hand auto_blind manual_blind hand_blind | settling
= VOID_COUNTED recount hands_counted wagers_returned : 680a.8(g)/1
stub_wrong total_right                | manual_blind manual_plain | fifth
= VOID_COUNTED recount hands_counted wagers_returned : 680a.9(f)/1
stub_wrong total_right                | hand_blind             | fifth
= VOID_COUNTED recount hands_counted wagers_returned : 680a.10(f)/1
stub_wrong total_right                | auto_blind auto_plain  | fifth
= REMOVE recount hands_counted wagers_returned deck_removed : 680a.8(g)/2
stub_wrong not_misdealt               | manual_blind manual_plain | fifth
stub_wrong total_wrong                | manual_blind manual_plain | fifth
= REMOVE recount hands_counted wagers_returned deck_removed : 680a.9(f)/2
stub_wrong not_misdealt               | hand_blind             | fifth
stub_wrong total_wrong                | hand_blind             | fifth
= REMOVE recount hands_counted wagers_returned deck_removed : 680a.10(f)/2
stub_wrong not_misdealt               | auto_blind auto_plain  | fifth
stub_wrong total_wrong                | auto_blind auto_plain  | fifth
= ASK_BAD_DECK
stub_wrong not_misdealt               | auto manual            | stub_check
stub_wrong total_wrong                | auto manual            | stub_check
stub_wrong not_misdealt               | hand_sealed            | fifth
stub_wrong total_wrong                | hand_sealed            | fifth
count_wrong blue                      | auto_blind hand_blind  | betting dealing settling
count_wrong blue                      | manual_plain           | locked dealing
= VOID_COUNTED hands_counted wagers_returned : 680a.13(c)
wrong_card_count total_right          | hand_sealed            | fifth
= TAKE_AWAY deck_removed : 680a.5(b)
count_wrong blue                      | auto hand              | idle complete
= TAKE_WAITING deck_removed : 680a.5(b)
count_wrong blue                      | auto hand              | betting no_more_bets
= TAKE_DEALT deck_removed : 680a.5(b)
count_wrong blue                      | auto hand              | dealing stub_check playing settling
= TAKE_STORED deck_removed : 680a.5(b)
count_wrong red                       | two                    | idle betting dealing settling complete
count_wrong cycle_count               | two                    | idle dealing settling
count_wrong cycle_count               | auto                   | idle
= ASK_BAD_FREE
count_wrong blue                      | auto_blind             | idle complete
= RESHUFFLE cards_removed path_clear cards_counted : 680a.13(d)
shuffler_fault jam                    | two two_blind          | idle betting dealing playing settling complete
shuffler_fault cycle_jam              | two two_blind          | idle dealing settling
shuffler_fault declared_shuffler      | two two_blind          | stub_check
shuffler_fault cycle_jam              | auto hand auto_blind hand_blind | idle
= RESHUFFLE_FAULTED cards_removed path_clear cards_counted : 680a.13(d)
shuffler_fault fault                  | two two_blind          | idle dealing
= LOOK cards_removed path_clear cards_counted : 680a.13(d)
shuffler_fault jam                    | auto hand auto_blind hand_blind | idle dealing
= RESHUFFLE_DEAD cards_removed path_clear cards_counted : 680a.13(d)
shuffler_fault shuffler               | two two_blind          | idle dealing
= EMPTY cards_removed path_clear cards_counted wagers_returned : 680a.13(e)
shoe_fault shoe_jam                   | auto two auto_blind two_blind | betting no_more_bets dealing stub_check
shoe_fault short_stack                | auto auto_blind        | dealing
shoe_fault late_jam                   | auto auto_blind        | stub_check playing
shoe_fault shoe                       | auto auto_blind        | betting dealing stub_check
= EMPTY_FAULTED cards_removed path_clear cards_counted wagers_returned : 680a.13(e)
shoe_fault shoe_fault                 | auto auto_blind        | betting dealing
= EMPTY_LATE cards_removed path_clear cards_counted wagers_returned wagers_reversed : 680a.13(e)
shoe_fault late_jam                   | auto auto_blind        | settling
= EMPTIED cards_removed path_clear cards_counted : P1
shoe_fault shoe_jam                   | auto two manual auto_blind two_blind manual_blind | idle
shoe_fault shoe_jam                   | manual manual_blind    | complete
= EMPTIED_FAULTED cards_removed path_clear cards_counted : P1
shoe_fault shoe_fault                 | auto manual auto_blind manual_blind | idle
= LOOK_ON cards_removed path_clear cards_counted : P1
shoe_fault shoe_jam                   | auto two auto_blind two_blind | playing settling complete
shoe_fault declared_shoe              | spare                  | idle dealing settling
= SIGN sign_seen : 680a.13(f)
device_unusable shuffler              | auto hand auto_blind hand_blind | idle betting dealing settling complete
device_unusable shoe                  | auto two auto_blind two_blind | idle betting dealing playing settling complete
device_unusable declared_shuffler     | auto auto_blind        | idle dealing
device_unusable declared_shoe         | auto auto_blind        | playing
= SIGN_STOPS sign_seen : 680a.13(f)
device_unusable shoe                  | manual manual_blind    | dealing
= ASK_FAULTED
shoe_fault shoe_fault                 | manual manual_blind    | dealing
= ASK_DECK
face_up_card_first seen               | auto manual auto_blind manual_blind | complete
= ASK_IDLE
face_up_card_first seen               | auto manual auto_blind manual_blind | idle
= ASK
face_up_card_first seen               | auto manual auto_blind manual_blind | betting stub_check settling
face_up_card_first at_seat            | manual_plain           | locked
face_up_card_more declared_again      | auto hand auto_blind hand_blind | no_more_bets stub_check
face_up_card_more declared_again      | manual_plain           | locked
card_drawn_in_error declared          | auto hand auto_blind hand_blind | stub_check playing
wrong_card_count declared             | auto auto_blind        | no_more_bets
wrong_card_count declared             | manual_plain           | locked
shoe_fault shoe_jam                   | manual manual_blind    | betting dealing settling
dealer_hand_misset declared           | auto auto_blind        | playing settling
wrong_start_dealt declared            | auto auto_blind        | dealing
shoe_short declared                   | auto auto_blind        | dealing settling
additional_cards_missed declared      | auto auto_blind        | playing
other declared                        | auto auto_blind        | betting dealing settling
device_unusable shaker                | full                   | betting settling
device_unusable rng                   | full                   | betting settling
device_unusable button                | full                   | betting settling
device_unusable sensor                | full                   | betting settling
device_unusable keypad                | full                   | betting settling
device_unusable sign                  | full                   | betting settling
player_card_exposed declared          | auto hand auto_blind hand_blind | dealing playing settling
dealer_card_exposed declared          | auto auto_blind        | dealing playing
card_exposed_hand_deal declared       | hand hand_blind        | dealing
cards_revealed_before_raise declared  | auto auto_blind        | dealing playing
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: IrregularityCase) -> None:
    for cell in cells(case):
        check(cell)
