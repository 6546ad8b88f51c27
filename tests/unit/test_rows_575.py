"""Asia Poker: every irregularity of chapter 575 at the table, from the moment it arrives until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.irregular import Case, cells, check, parse
from tests.support.rows import params

GAME = "asia_poker"

# trigger and how it arrives | kinds of table | phases | what follows, and the evidence | by which clauses and readings
CASES = parse(GAME, """
dice_not_flat no_roll               | auto manual hand     | starting_position            | NO_ROLL no_roll_called | 575.13(a)
dice_not_flat declared              | auto manual hand     | starting_position            | NO_ROLL no_roll_called | 575.13(a)
dice_not_flat no_roll               | auto                 | betting dealing settling     | NOTHING |
dice_not_flat declared              | auto                 | no_more_bets dealing         | REFUSED |
dice_not_flat declared              | rng button           | starting_position            | NOTHING |
die_out_of_shaker no_roll           | auto manual hand     | starting_position            | NO_ROLL no_roll_called dice_inside | 575.13(b)
die_out_of_shaker declared          | auto                 | starting_position            | NO_ROLL no_roll_called dice_inside | 575.13(b)
die_out_of_shaker no_roll           | auto                 | no_more_bets dealing         | NOTHING |
wrong_start_announced announced     | auto manual hand     | starting_position            | CORRECT start_corrected | X7
wrong_start_announced declared      | auto                 | starting_position dealing    | REFUSED |
wrong_start_dealt declared          | auto manual hand     | dealing stub_check playing   | VOID first_card_seen wagers_returned | 575.13(c)
wrong_start_dealt declared          | auto hand            | settling                     | VOID_LATE first_card_seen wagers_returned wagers_reversed | 575.13(c)
wrong_start_dealt declared          | rng button           | dealing stub_check playing   | ASK_START first_card_seen | X7
wrong_start_dealt declared          | rng button           | settling                     | ASK_START_LATE first_card_seen wagers_reversed | X7 X18
wrong_start_dealt declared          | auto rng button      | betting starting_position    | ASK |
player_card_exposed declared        | auto manual rng      | dealing stub_check playing settling | PLAYER hand_confirmed | 575.13(d)
player_card_exposed declared        | hand                 | stub_check playing settling  | PLAYER hand_confirmed | 575.13(d)
player_card_exposed declared        | hand                 | dealing                      | VOID hand_confirmed wagers_returned | 575.13(j)
player_card_exposed declared        | auto manual hand     | starting_position            | ASK |
dealer_card_exposed declared        | auto manual rng      | dealing stub_check playing   | VOID hand_confirmed wagers_returned | 575.13(e)
dealer_card_exposed declared        | hand                 | stub_check playing           | VOID hand_confirmed wagers_returned | 575.13(e)
dealer_card_exposed declared        | hand                 | dealing                      | VOID hand_confirmed wagers_returned | 575.13(j)
dealer_card_exposed declared        | auto hand            | starting_position settling   | ASK |
card_exposed_hand_deal declared     | hand                 | dealing                      | VOID hand_confirmed wagers_returned | 575.13(j)
card_exposed_hand_deal declared     | hand                 | starting_position stub_check | ASK |
card_exposed_hand_deal declared     | auto manual          | dealing                      | ASK |
face_up_card_first seen             | manual               | dealing                      | DISCARD discard_confirmed | 575.13(f)/1
face_up_card_first at_seat          | manual hand          | dealing                      | DISCARD discard_confirmed | 575.13(f)/1
face_up_card_first seen             | auto                 | dealing                      | DISCARD_STACK discard_confirmed hand_confirmed | 575.13(f)/1
face_up_card_first at_seat          | auto rng             | dealing                      | DISCARD_STACK discard_confirmed hand_confirmed | 575.13(f)/1
face_up_card_first seen             | auto manual          | betting starting_position stub_check settling | ASK |
face_up_card_first seen             | auto manual          | complete                     | ASK_DECK |
face_up_card_first seen             | auto manual          | idle                         | ASK_IDLE |
face_up_card_more seen_again        | auto manual          | dealing                      | VOID wagers_returned | 575.13(f)/2
face_up_card_more declared_again    | auto manual hand     | dealing                      | VOID wagers_returned | 575.13(f)/2
face_up_card_more declared_again    | auto hand            | starting_position stub_check | ASK |
card_drawn_in_error declared        | auto manual hand     | dealing                      | NEXT next_card_placed | 575.13(g)
card_drawn_in_error declared        | auto hand            | starting_position stub_check | ASK |
wrong_card_count declared           | auto manual hand     | dealing stub_check playing   | VOID hands_counted wagers_returned | 575.13(h) 575.13(k)
wrong_card_count declared           | auto manual hand     | settling                     | VOID_LATE hands_counted wagers_returned wagers_reversed | 575.13(h) 575.13(k)
wrong_card_count surrendered        | auto hand            | settling                     | VOID_LATE hands_counted wagers_returned wagers_reversed | 575.13(h) 575.13(k)
wrong_card_count declared           | auto                 | starting_position            | ASK |
dealer_hand_misset declared         | auto manual hand     | playing settling             | RESET hand_reset | 575.13(i)
dealer_hand_misset declared         | auto                 | stub_check                   | ASK |
stub_wrong total_right              | manual manual_plain  | stub_check                   | VOID recount hands_counted wagers_returned | 575.8(e)/1
stub_wrong total_right              | hand hand_sealed     | stub_check                   | VOID recount hands_counted wagers_returned | 575.9(d)/1
stub_wrong total_right              | auto auto_blind      | stub_check                   | VOID recount hands_counted wagers_returned | 575.10(d)/1
stub_wrong not_misdealt             | manual manual_plain  | stub_check                   | REMOVE recount hands_counted wagers_returned deck_removed | 575.8(e)/2
stub_wrong not_misdealt             | hand hand_sealed     | stub_check                   | REMOVE recount hands_counted wagers_returned deck_removed | 575.9(d)/2
stub_wrong not_misdealt             | auto auto_blind      | stub_check                   | REMOVE recount hands_counted wagers_returned deck_removed | 575.10(d)/2
stub_wrong total_wrong              | manual manual_plain  | stub_check                   | HOLD recount hands_counted wagers_returned deck_verified | 575.8(e)/1
stub_wrong total_wrong              | hand hand_sealed     | stub_check                   | HOLD recount hands_counted wagers_returned deck_verified | 575.9(d)/1
stub_wrong total_wrong              | auto auto_blind      | stub_check                   | HOLD recount hands_counted wagers_returned deck_verified | 575.10(d)/1
count_wrong blue                    | auto hand manual_plain | idle complete              | COUNT recount deck_verified | X8
count_wrong blue                    | auto hand manual_plain | betting no_more_bets starting_position | COUNT_WAITING recount deck_verified | X8
count_wrong blue                    | auto hand manual_plain | dealing stub_check playing settling | COUNT_DEALT recount deck_verified | X8
count_wrong red                     | two                  | idle betting dealing settling complete | COUNT_STORED recount deck_verified | X8
count_wrong cycle_count             | two                  | idle dealing settling        | COUNT_STORED recount deck_verified | X8
count_wrong cycle_count             | auto                 | idle                         | COUNT_STORED recount deck_verified | X8
shuffler_fault jam                  | two                  | idle betting starting_position dealing playing settling complete | RESHUFFLE cards_removed path_clear cards_counted | 575.13(l)
shuffler_fault cycle_jam            | two                  | idle dealing settling        | RESHUFFLE cards_removed path_clear cards_counted | 575.13(l)
shuffler_fault declared_shuffler    | two                  | stub_check                   | RESHUFFLE cards_removed path_clear cards_counted | 575.13(l)
shuffler_fault fault                | two                  | idle dealing                 | RESHUFFLE_FAULTED cards_removed path_clear cards_counted | 575.13(l)
shuffler_fault jam                  | auto hand            | idle dealing                 | LOOK cards_removed path_clear cards_counted | 575.13(l)
shuffler_fault cycle_jam            | auto hand            | idle                         | RESHUFFLE cards_removed path_clear cards_counted | 575.13(l)
shoe_fault shoe_jam                 | auto two rng         | betting no_more_bets starting_position dealing stub_check | EMPTY cards_removed path_clear cards_counted wagers_returned | 575.13(m)
shoe_fault short_stack              | auto rng             | dealing                      | EMPTY cards_removed path_clear cards_counted wagers_returned | 575.13(m)
shoe_fault shoe_fault               | auto                 | betting dealing              | EMPTY_FAULTED cards_removed path_clear cards_counted wagers_returned | 575.13(m)
shoe_fault late_jam                 | auto                 | stub_check playing           | EMPTY cards_removed path_clear cards_counted wagers_returned | 575.13(m)
shoe_fault late_jam                 | auto                 | settling                     | EMPTY_LATE cards_removed path_clear cards_counted wagers_returned wagers_reversed | 575.13(m)
shoe_fault shoe_jam                 | auto two manual      | idle                         | EMPTIED cards_removed path_clear cards_counted | P1
shoe_fault shoe_jam                 | manual               | complete                     | EMPTIED cards_removed path_clear cards_counted | P1
shoe_fault shoe_fault               | auto manual          | idle                         | EMPTIED_FAULTED cards_removed path_clear cards_counted | P1
shoe_fault shoe_jam                 | auto two             | playing settling complete    | LOOK_ON cards_removed path_clear cards_counted | P1
shoe_fault shoe_jam                 | manual               | betting dealing settling     | ASK |
shoe_fault shoe_fault               | manual               | dealing                      | ASK_FAULTED |
device_unusable shuffler            | auto hand            | idle betting dealing settling complete | SIGN sign_seen | 575.13(n)
device_unusable shoe                | auto two             | idle betting dealing playing settling complete | SIGN sign_seen | 575.13(n)
device_unusable declared_shuffler   | auto                 | idle dealing                 | SIGN sign_seen | 575.13(n)
device_unusable declared_shoe       | auto                 | playing                      | SIGN sign_seen | 575.13(n)
device_unusable shoe                | manual               | dealing                      | SIGN_STOPS sign_seen | 575.13(n)
device_unusable shaker              | auto                 | betting dealing settling     | ASK |
device_unusable rng                 | rng                  | betting settling             | ASK |
device_unusable shaker              | auto                 | idle complete                | ASK_IDLE |
shoe_fault shoe                     | auto                 | betting dealing stub_check   | EMPTY cards_removed path_clear cards_counted wagers_returned | 575.13(m)
shuffler_fault shuffler             | two                  | idle dealing                 | RESHUFFLE_DEAD cards_removed path_clear cards_counted | 575.13(l)
cards_revealed_before_raise declared | auto                | dealing playing              | ASK |
shoe_short declared                 | auto                 | dealing settling             | ASK |
additional_cards_missed declared    | auto                 | playing                      | ASK |
other declared                      | auto                 | betting dealing settling     | ASK |
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: Case) -> None:
    for cell in cells(case):
        check(cell)
