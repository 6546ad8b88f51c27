"""Asia Poker: every irregularity of chapter 575 at the table, from its arrival until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.core.irregularities import IrregularityCase, cells, check, parse
from tests.support.core.row_params import params

GAME = "asia_poker"

# = what follows, its evidence : by which clauses and readings; then trigger and how it arrives | tables | phases
CASES = parse(GAME, """
= NO_ROLL no_roll_called : 575.13(a)
dice_not_flat no_roll                 | auto manual hand auto_blind | starting_position
dice_not_flat declared                | auto manual hand auto_blind | starting_position
= NOTHING
dice_not_flat no_roll                 | auto                   | betting dealing settling
dice_not_flat declared                | rng button             | starting_position
die_out_of_shaker no_roll             | auto                   | no_more_bets dealing
= REFUSED
dice_not_flat declared                | auto                   | no_more_bets dealing
wrong_start_announced declared        | auto                   | starting_position dealing
= NO_ROLL no_roll_called dice_inside : 575.13(b)
die_out_of_shaker no_roll             | auto manual hand auto_blind | starting_position
die_out_of_shaker declared            | auto auto_blind        | starting_position
= CORRECT start_corrected : X7
wrong_start_announced announced       | auto manual hand auto_blind | starting_position
= VOID first_card_seen wagers_returned : 575.13(c)
wrong_start_dealt declared            | auto manual hand auto_blind | dealing stub_check playing
= VOID_LATE first_card_seen wagers_returned wagers_reversed : 575.13(c)
wrong_start_dealt declared            | auto hand auto_blind   | settling
= ASK_START first_card_seen : X7
wrong_start_dealt declared            | rng button rng_manual rng_hand | dealing stub_check playing
= ASK_START_LATE first_card_seen wagers_reversed : X7 X18
wrong_start_dealt declared            | rng button rng_manual rng_hand | settling
= ASK
wrong_start_dealt declared            | auto rng button        | betting starting_position
player_card_exposed declared          | auto manual hand rng_blind rng_manual rng_hand | starting_position
dealer_card_exposed declared          | auto hand rng_blind rng_hand | starting_position settling
card_exposed_hand_deal declared       | hand rng_hand          | starting_position stub_check
card_exposed_hand_deal declared       | auto manual rng_blind rng_manual | dealing
face_up_card_first seen               | auto manual rng_blind rng_manual | betting starting_position stub_check settling
face_up_card_more declared_again      | auto hand rng_blind rng_hand | starting_position stub_check
card_drawn_in_error declared          | auto hand rng_blind rng_hand | stub_check playing
wrong_card_count declared             | auto rng_blind         | starting_position
dealer_hand_misset declared           | auto rng_blind         | stub_check
shoe_fault shoe_jam                   | manual rng_manual      | betting dealing settling
device_unusable shaker                | auto                   | betting dealing settling
device_unusable shaker                | full                   | betting settling
device_unusable rng                   | full                   | betting settling
device_unusable button                | full                   | betting settling
device_unusable sensor                | full                   | betting settling
device_unusable keypad                | full                   | betting settling
device_unusable sign                  | full                   | betting settling
device_unusable rng                   | rng                    | betting settling
cards_revealed_before_raise declared  | auto rng_blind         | dealing playing
shoe_short declared                   | auto rng_blind         | dealing settling
additional_cards_missed declared      | auto rng_blind         | playing
other declared                        | auto rng_blind         | betting dealing settling
= PLAYER hand_confirmed : 575.13(d)
player_card_exposed declared          | auto manual rng rng_blind rng_manual | dealing stub_check playing
player_card_exposed declared          | hand rng_hand          | stub_check playing
= PLAYER_LATE hand_confirmed : X4
player_card_exposed declared          | auto manual rng rng_blind rng_manual hand rng_hand | settling half_settled
= VOID hand_confirmed wagers_returned : 575.13(j)
player_card_exposed declared          | hand rng_hand          | dealing
dealer_card_exposed declared          | hand rng_hand          | dealing
card_exposed_hand_deal declared       | hand rng_hand          | dealing
= VOID hand_confirmed wagers_returned : 575.13(e)
dealer_card_exposed declared          | auto manual rng rng_blind rng_manual | dealing stub_check playing
dealer_card_exposed declared          | hand rng_hand          | stub_check playing
= DISCARD discard_confirmed : 575.13(f)/1
face_up_card_first seen               | manual rng_manual      | dealing
face_up_card_first at_seat            | manual hand rng_manual rng_hand | dealing
= DISCARD_STACK discard_confirmed hand_confirmed : 575.13(f)/1
face_up_card_first seen               | auto rng_blind         | dealing
face_up_card_first at_seat            | auto rng rng_blind     | dealing
= ASK_DECK
face_up_card_first seen               | auto manual rng_blind rng_manual | complete
= ASK_IDLE
face_up_card_first seen               | auto manual rng_blind rng_manual | idle
device_unusable shaker                | auto                   | idle complete
= VOID wagers_returned : 575.13(f)/2
face_up_card_more seen_again          | auto manual rng_blind rng_manual | dealing
face_up_card_more declared_again      | auto manual hand rng_blind rng_manual rng_hand | dealing
= NEXT next_card_placed : 575.13(g)
card_drawn_in_error declared          | auto manual hand rng_blind rng_manual rng_hand | betting dealing
card_drawn_in_error declared          | auto manual hand rng_blind rng_manual rng_hand | starting_position
= VOID hands_counted wagers_returned : 575.13(h) 575.13(k)
wrong_card_count declared             | auto manual hand rng_blind rng_manual rng_hand | dealing stub_check playing
= VOID_LATE hands_counted wagers_returned wagers_reversed : 575.13(h) 575.13(k)
wrong_card_count declared             | auto manual hand rng_blind rng_manual rng_hand | settling
wrong_card_count surrendered          | auto hand rng_blind rng_hand | settling
= RESET hand_reset : 575.13(i)
dealer_hand_misset declared           | auto manual hand rng_blind rng_manual rng_hand | playing
= RESET_LATE hand_reset wagers_reversed : 575.13(i)
dealer_hand_misset declared           | auto manual hand rng_blind rng_manual rng_hand | settling
= REOPEN hand_reset wagers_reversed : 575.13(i)
dealer_hand_misset declared           | auto manual hand rng_blind rng_manual rng_hand | half_settled
= VOID recount hands_counted wagers_returned : 575.8(e)/1
stub_wrong total_right                | manual manual_plain rng_manual | stub_check
= VOID recount hands_counted wagers_returned : 575.9(d)/1
stub_wrong total_right                | hand hand_sealed rng_hand | stub_check
= VOID recount hands_counted wagers_returned : 575.10(d)/1
stub_wrong total_right                | auto auto_blind rng_blind | stub_check
= REMOVE recount hands_counted wagers_returned deck_removed : 575.8(e)/2
stub_wrong not_misdealt               | manual manual_plain rng_manual | stub_check
= REMOVE recount hands_counted wagers_returned deck_removed : 575.9(d)/2
stub_wrong not_misdealt               | hand hand_sealed rng_hand | stub_check
= REMOVE recount hands_counted wagers_returned deck_removed : 575.10(d)/2
stub_wrong not_misdealt               | auto auto_blind rng_blind | stub_check
= HOLD recount hands_counted wagers_returned deck_verified : 575.8(e)/1
stub_wrong total_wrong                | manual manual_plain rng_manual | stub_check
= HOLD recount hands_counted wagers_returned deck_verified : 575.9(d)/1
stub_wrong total_wrong                | hand hand_sealed rng_hand | stub_check
= HOLD recount hands_counted wagers_returned deck_verified : 575.10(d)/1
stub_wrong total_wrong                | auto auto_blind rng_blind | stub_check
= COUNT recount deck_verified : X8
count_wrong blue                      | auto hand manual_plain rng_blind rng_hand | idle complete
= COUNT_WAITING recount deck_verified : X8
count_wrong blue | auto hand manual_plain rng_blind rng_hand | betting no_more_bets starting_position
= COUNT_DEALT recount deck_verified : X8
count_wrong blue                      | auto hand manual_plain rng_blind rng_hand | dealing stub_check playing settling
= COUNT_STORED recount deck_verified : X8
count_wrong red                       | two rng_two            | idle betting dealing settling complete
count_wrong cycle_count               | two rng_two            | idle dealing settling
count_wrong cycle_count               | auto rng_blind         | idle
= RESHUFFLE cards_removed path_clear cards_counted : 575.13(l)
shuffler_fault jam | two rng_two | idle betting starting_position dealing playing settling complete
shuffler_fault cycle_jam              | two rng_two            | idle dealing settling
shuffler_fault declared_shuffler      | two rng_two            | stub_check
shuffler_fault cycle_jam              | auto hand rng_blind rng_hand | idle
= RESHUFFLE_FAULTED cards_removed path_clear cards_counted : 575.13(l)
shuffler_fault fault                  | two rng_two            | idle dealing
= RESHUFFLE_STOPS cards_removed path_clear cards_counted : 575.13(l)
shuffler_fault again_jam              | auto hand rng_blind    | betting no_more_bets
= LOOK cards_removed path_clear cards_counted : 575.13(l)
shuffler_fault jam                    | auto hand rng_blind rng_hand | idle dealing
= EMPTY cards_removed path_clear cards_counted wagers_returned : 575.13(m)
shoe_fault shoe_jam | auto two rng rng_blind rng_two | betting no_more_bets starting_position dealing stub_check
shoe_fault short_stack                | auto rng rng_blind     | dealing
shoe_fault late_jam                   | auto rng_blind         | stub_check playing
shoe_fault shoe                       | auto rng_blind         | betting dealing stub_check
= EMPTY_FAULTED cards_removed path_clear cards_counted wagers_returned : 575.13(m)
shoe_fault shoe_fault                 | auto rng_blind         | betting dealing
= EMPTY_LATE cards_removed path_clear cards_counted wagers_returned wagers_reversed : 575.13(m)
shoe_fault late_jam                   | auto rng_blind         | settling
= EMPTIED cards_removed path_clear cards_counted : P1
shoe_fault shoe_jam                   | auto two manual rng_blind rng_two rng_manual | idle
shoe_fault shoe_jam                   | manual rng_manual      | complete
= EMPTIED_FAULTED cards_removed path_clear cards_counted : P1
shoe_fault shoe_fault                 | auto manual rng_blind rng_manual | idle
= LOOK_ON cards_removed path_clear cards_counted : P1
shoe_fault shoe_jam                   | auto two rng_blind rng_two | playing settling complete
shoe_fault declared_shoe              | spare                  | idle dealing settling
= ASK_FAULTED
shoe_fault shoe_fault                 | manual rng_manual      | dealing
= SIGN sign_seen : 575.13(n)
device_unusable shuffler              | auto hand rng_blind rng_hand | idle betting dealing settling complete
device_unusable shoe                  | auto two rng_blind rng_two | idle betting dealing playing settling complete
device_unusable declared_shuffler     | auto rng_blind         | idle dealing
device_unusable declared_shoe         | auto rng_blind         | playing
= SIGN_STOPS sign_seen : 575.13(n)
device_unusable shoe                  | manual rng_manual      | dealing
= RESHUFFLE_DEAD cards_removed path_clear cards_counted : 575.13(l)
shuffler_fault shuffler               | two rng_two            | idle dealing
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: IrregularityCase) -> None:
    for cell in cells(case):
        check(cell)
