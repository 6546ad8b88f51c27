"""Rows of irregularities that two chapters order alike. A name in braces stands for the clauses of each chapter."""

from __future__ import annotations

from typing import Final

# Chapters 575 and 688a: seven cards to every position, hands that are split.
SEVEN_CARDS: Final = """
= NO_ROLL no_roll_called : {not_flat}
dice_not_flat no_roll                 | auto manual hand auto_blind | starting_position
dice_not_flat declared                | auto manual hand auto_blind | starting_position
= NOTHING
dice_not_flat no_roll                 | auto                   | betting dealing settling
die_out_of_shaker no_roll             | auto                   | no_more_bets dealing
= REFUSED
dice_not_flat declared                | auto                   | no_more_bets dealing
wrong_start_announced declared        | auto                   | starting_position dealing
= NO_ROLL no_roll_called dice_inside : {out_of_shaker}
die_out_of_shaker no_roll             | auto manual hand auto_blind | starting_position
die_out_of_shaker declared            | auto auto_blind        | starting_position
= CORRECT start_corrected : X7
wrong_start_announced announced       | auto manual hand auto_blind | starting_position
= VOID first_card_seen wagers_returned : {wrong_start}
wrong_start_dealt declared            | auto manual hand auto_blind | dealing stub_check playing
= VOID_LATE first_card_seen wagers_returned wagers_reversed : {wrong_start}
wrong_start_dealt declared            | auto hand auto_blind   | settling
= ASK
player_card_exposed declared          | auto manual hand rng_blind rng_manual rng_hand | starting_position
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
= PLAYER hand_confirmed : {player_card}
player_card_exposed declared          | auto manual rng rng_blind rng_manual | dealing stub_check playing
player_card_exposed declared          | hand rng_hand          | stub_check playing
= PLAYER_LATE hand_confirmed : X4
player_card_exposed declared          | auto manual rng rng_blind rng_manual hand rng_hand | settling half_settled
= VOID hand_confirmed wagers_returned : {hand_deal}
player_card_exposed declared          | hand rng_hand          | dealing
card_exposed_hand_deal declared       | hand rng_hand          | dealing
= DISCARD discard_confirmed : {face_up}
face_up_card_first seen               | manual rng_manual      | dealing
face_up_card_first at_seat            | manual hand rng_manual rng_hand | dealing
= DISCARD_STACK discard_confirmed hand_confirmed : {face_up}
face_up_card_first seen               | auto rng_blind         | dealing
face_up_card_first at_seat            | auto rng rng_blind     | dealing
= ASK_DECK
face_up_card_first seen               | auto manual rng_blind rng_manual | complete
= ASK_IDLE
face_up_card_first seen               | auto manual rng_blind rng_manual | idle
device_unusable shaker                | auto                   | idle complete
= VOID wagers_returned : {more_face_up}
face_up_card_more seen_again          | auto manual rng_blind rng_manual | dealing
face_up_card_more declared_again      | auto manual hand rng_blind rng_manual rng_hand | dealing
= NEXT next_card_placed : {drawn}
card_drawn_in_error declared          | auto manual hand rng_blind rng_manual rng_hand | betting dealing
card_drawn_in_error declared          | auto manual hand rng_blind rng_manual rng_hand | starting_position
= VOID hands_counted wagers_returned : {wrong_count}
wrong_card_count declared             | auto manual hand rng_blind rng_manual rng_hand | dealing stub_check playing
= VOID_LATE hands_counted wagers_returned wagers_reversed : {wrong_count}
wrong_card_count declared             | auto manual hand rng_blind rng_manual rng_hand | settling
wrong_card_count surrendered          | auto hand rng_blind rng_hand | settling
= RESET hand_reset : {misset}
dealer_hand_misset declared           | auto manual hand rng_blind rng_manual rng_hand | playing
= RESET_LATE hand_reset wagers_reversed : {misset}
dealer_hand_misset declared           | auto manual hand rng_blind rng_manual rng_hand | settling
= REOPEN hand_reset wagers_reversed : {misset}
dealer_hand_misset declared           | auto manual hand rng_blind rng_manual rng_hand | half_settled
= VOID recount hands_counted wagers_returned : {shoe_misdealt}
stub_wrong total_right                | manual manual_plain rng_manual | stub_check
= VOID recount hands_counted wagers_returned : {hand_misdealt}
stub_wrong total_right                | hand hand_sealed rng_hand | stub_check
= VOID recount hands_counted wagers_returned : {auto_misdealt}
stub_wrong total_right                | auto auto_blind rng_blind | stub_check
= REMOVE recount hands_counted wagers_returned deck_removed : {shoe_bad_deck}
stub_wrong not_misdealt               | manual manual_plain rng_manual | stub_check
= REMOVE recount hands_counted wagers_returned deck_removed : {hand_bad_deck}
stub_wrong not_misdealt               | hand hand_sealed rng_hand | stub_check
= REMOVE recount hands_counted wagers_returned deck_removed : {auto_bad_deck}
stub_wrong not_misdealt               | auto auto_blind rng_blind | stub_check
= HOLD recount hands_counted wagers_returned deck_verified : {shoe_misdealt}
stub_wrong total_wrong                | manual manual_plain rng_manual | stub_check
= HOLD recount hands_counted wagers_returned deck_verified : {hand_misdealt}
stub_wrong total_wrong                | hand hand_sealed rng_hand | stub_check
= HOLD recount hands_counted wagers_returned deck_verified : {auto_misdealt}
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
= RESHUFFLE cards_removed path_clear cards_counted : {shuffler_fault}
shuffler_fault jam | two rng_two | idle betting starting_position dealing playing settling complete
shuffler_fault cycle_jam              | two rng_two            | idle dealing settling
shuffler_fault declared_shuffler      | two rng_two            | stub_check
shuffler_fault cycle_jam              | auto hand rng_blind rng_hand | idle
= RESHUFFLE_FAULTED cards_removed path_clear cards_counted : {shuffler_fault}
shuffler_fault fault                  | two rng_two            | idle dealing
= RESHUFFLE_STOPS cards_removed path_clear cards_counted : {shuffler_fault}
shuffler_fault again_jam              | auto hand rng_blind    | betting no_more_bets
= LOOK cards_removed path_clear cards_counted : {shuffler_fault}
shuffler_fault jam                    | auto hand rng_blind rng_hand | idle dealing
= EMPTY cards_removed path_clear cards_counted wagers_returned : {shoe_fault}
shoe_fault shoe_jam | auto two rng rng_blind rng_two | betting no_more_bets starting_position dealing stub_check
shoe_fault short_stack                | auto rng rng_blind     | dealing
shoe_fault late_jam                   | auto rng_blind         | stub_check playing
shoe_fault shoe                       | auto rng_blind         | betting dealing stub_check
= EMPTY_FAULTED cards_removed path_clear cards_counted wagers_returned : {shoe_fault}
shoe_fault shoe_fault                 | auto rng_blind         | betting dealing
= EMPTY_LATE cards_removed path_clear cards_counted wagers_returned wagers_reversed : {shoe_fault}
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
= SIGN sign_seen : {unusable}
device_unusable shuffler              | auto hand rng_blind rng_hand | idle betting dealing settling complete
device_unusable shoe                  | auto two rng_blind rng_two | idle betting dealing playing settling complete
device_unusable declared_shuffler     | auto rng_blind         | idle dealing
device_unusable declared_shoe         | auto rng_blind         | playing
= SIGN_STOPS sign_seen : {unusable}
device_unusable shoe                  | manual rng_manual      | dealing
= RESHUFFLE_DEAD cards_removed path_clear cards_counted : {shuffler_fault}
shuffler_fault shuffler               | two rng_two            | idle dealing
"""

# Chapters 680a and 687a: five cards to every seat with a wager.
FIVE_CARDS: Final = """
= DISCARD discard_confirmed : {face_up}
face_up_card_first seen               | manual manual_blind    | dealing
face_up_card_first at_seat            | manual hand manual_blind hand_blind | dealing
= DISCARD_STACK discard_confirmed hand_confirmed : {face_up}
face_up_card_first seen               | auto auto_blind        | dealing
face_up_card_first at_seat            | auto auto_plain auto_blind | dealing
= VOID wagers_returned : {more_face_up}
face_up_card_more seen_again          | auto manual auto_blind manual_blind | dealing
face_up_card_more declared_again      | auto manual hand auto_blind manual_blind hand_blind | dealing
= NEXT next_card_placed : {drawn}
card_drawn_in_error declared          | auto manual hand auto_blind manual_blind hand_blind | betting dealing
card_drawn_in_error declared          | auto hand auto_blind hand_blind | no_more_bets
card_drawn_in_error declared          | manual_plain           | locked
= VOID hands_counted wagers_returned : {wrong_count}
wrong_card_count declared             | auto manual hand auto_blind manual_blind hand_blind | dealing stub_check playing
wrong_card_count total_right          | auto                   | stub_check
= VOID_LATE hands_counted wagers_returned wagers_reversed : {wrong_count}
wrong_card_count declared             | auto manual hand auto_blind manual_blind hand_blind | settling
= VOID_COUNTED recount hands_counted wagers_returned : {shoe_misdealt}
stub_wrong total_right                | manual_blind manual_plain | fifth
= VOID_COUNTED recount hands_counted wagers_returned : {hand_misdealt}
stub_wrong total_right                | hand_blind             | fifth
= VOID_COUNTED recount hands_counted wagers_returned : {auto_misdealt}
stub_wrong total_right                | auto_blind auto_plain  | fifth
= REMOVE recount hands_counted wagers_returned deck_removed : {shoe_bad_deck}
stub_wrong not_misdealt               | manual_blind manual_plain | fifth
stub_wrong total_wrong                | manual_blind manual_plain | fifth
= REMOVE recount hands_counted wagers_returned deck_removed : {hand_bad_deck}
stub_wrong not_misdealt               | hand_blind             | fifth
stub_wrong total_wrong                | hand_blind             | fifth
= REMOVE recount hands_counted wagers_returned deck_removed : {auto_bad_deck}
stub_wrong not_misdealt               | auto_blind auto_plain  | fifth
stub_wrong total_wrong                | auto_blind auto_plain  | fifth
= ASK_BAD_DECK
stub_wrong not_misdealt               | auto manual            | stub_check
stub_wrong total_wrong                | auto manual            | stub_check
stub_wrong not_misdealt               | hand_sealed            | fifth
stub_wrong total_wrong                | hand_sealed            | fifth
count_wrong blue                      | auto_blind hand_blind  | betting dealing settling
count_wrong blue                      | manual_plain           | locked dealing
= VOID_COUNTED hands_counted wagers_returned : {wrong_count}
wrong_card_count total_right          | hand_sealed            | fifth
= TAKE_AWAY deck_removed : {wrong_deck}
count_wrong blue                      | auto hand              | idle complete
= TAKE_WAITING deck_removed : {wrong_deck}
count_wrong blue                      | auto hand              | betting no_more_bets
= TAKE_DEALT deck_removed : {wrong_deck}
count_wrong blue                      | auto hand              | dealing stub_check playing settling
= TAKE_STORED deck_removed : {wrong_deck}
count_wrong red                       | two                    | idle betting dealing settling complete
count_wrong cycle_count               | two                    | idle dealing settling
count_wrong cycle_count               | auto                   | idle
= ASK_BAD_FREE
count_wrong blue                      | auto_blind             | idle complete
= RESHUFFLE cards_removed path_clear cards_counted : {shuffler_fault}
shuffler_fault jam                    | two two_blind          | idle betting dealing playing settling complete
shuffler_fault cycle_jam              | two two_blind          | idle dealing settling
shuffler_fault declared_shuffler      | two two_blind          | stub_check
shuffler_fault cycle_jam              | auto hand auto_blind hand_blind | idle
= RESHUFFLE_FAULTED cards_removed path_clear cards_counted : {shuffler_fault}
shuffler_fault fault                  | two two_blind          | idle dealing
= LOOK cards_removed path_clear cards_counted : {shuffler_fault}
shuffler_fault jam                    | auto hand auto_blind hand_blind | idle dealing
= RESHUFFLE_DEAD cards_removed path_clear cards_counted : {shuffler_fault}
shuffler_fault shuffler               | two two_blind          | idle dealing
= EMPTY cards_removed path_clear cards_counted wagers_returned : {shoe_fault}
shoe_fault shoe_jam                   | auto two auto_blind two_blind | betting no_more_bets dealing stub_check
shoe_fault short_stack                | auto auto_blind        | dealing
shoe_fault late_jam                   | auto auto_blind        | stub_check playing
shoe_fault shoe                       | auto auto_blind        | betting dealing stub_check
= EMPTY_FAULTED cards_removed path_clear cards_counted wagers_returned : {shoe_fault}
shoe_fault shoe_fault                 | auto auto_blind        | betting dealing
= EMPTY_LATE cards_removed path_clear cards_counted wagers_returned wagers_reversed : {shoe_fault}
shoe_fault late_jam                   | auto auto_blind        | settling
= EMPTIED cards_removed path_clear cards_counted : P1
shoe_fault shoe_jam                   | auto two manual auto_blind two_blind manual_blind | idle
shoe_fault shoe_jam                   | manual manual_blind    | complete
= EMPTIED_FAULTED cards_removed path_clear cards_counted : P1
shoe_fault shoe_fault                 | auto manual auto_blind manual_blind | idle
= LOOK_ON cards_removed path_clear cards_counted : P1
shoe_fault shoe_jam                   | auto two auto_blind two_blind | playing settling complete
shoe_fault declared_shoe              | spare                  | idle dealing settling
= SIGN sign_seen : {unusable}
device_unusable shuffler              | auto hand auto_blind hand_blind | idle betting dealing settling complete
device_unusable shoe                  | auto two auto_blind two_blind | idle betting dealing playing settling complete
device_unusable declared_shuffler     | auto auto_blind        | idle dealing
device_unusable declared_shoe         | auto auto_blind        | playing
= SIGN_STOPS sign_seen : {unusable}
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
"""
