"""Over/Under: every irregularity of chapter 686a at the table, from arrival until people have cleared it."""

from __future__ import annotations

import pytest

from tests.support.core.irregularities import IrregularityCase, cells, check, parse
from tests.support.core.row_params import params
from tests.support.core.setups import NEW_DEALER, NEW_SHOE, table_at
from tests.support.suite.clauses import clauses

GAME = "over_under"

# = what follows, its evidence : by which clauses and readings; then trigger and how it arrives | tables | phases
CASES = parse(GAME, """
= DISCARD_DEALER discard_confirmed : 686a.9(a)/1
face_up_card_first seen               | shoe shoe_blind        | betting locked dealing playing settling
face_up_card_first at_seat            | shoe plain continuous shoe_blind | betting no_more_bets dealing playing settling
= DISCARD_DEALER discard_confirmed : 686a.9(a)/2
face_up_card_more seen_again          | shoe shoe_blind        | dealing playing settling
face_up_card_more declared_again      | shoe plain shoe_blind  | no_more_bets locked
face_up_card_more declared_again      | shoe plain continuous shoe_blind | betting dealing playing settling
= FINISH rack_shuffled card_burned : 686a.9(b)
shoe_short declared                   | shoe plain shoe_blind  | no_more_bets locked
shoe_short declared                   | shoe plain continuous shoe_blind | betting dealing playing settling
shoe_short declared                   | continuous             | new_shoe new_dealer
= MISSED hand_confirmed : 686a.9(c)
additional_cards_missed declared      | shoe plain continuous shoe_blind | playing settling
= COUNT recount deck_verified : X8 O11
count_wrong blue                      | shoe plain shoe_blind  | idle complete new_shoe
= COUNT_WAITING recount deck_verified : X8 O11
count_wrong blue                      | plain                  | betting no_more_bets locked
= COUNT_DEALT recount deck_verified : X8 O11
count_wrong blue                      | shoe plain shoe_blind  | dealing playing settling
= COUNT_STORED recount deck_verified : X8 O11
count_wrong red                       | shoe shoe_blind        | idle betting locked dealing settling complete
count_wrong cycle_count               | shoe                   | idle dealing settling
count_wrong blue                      | continuous | idle complete
= RESHUFFLE cards_removed path_clear cards_counted : 686a.9(d)
shuffler_fault jam                    | shoe shoe_blind        | idle betting locked dealing playing settling complete
shuffler_fault jam                    | shoe shoe_blind        | new_shoe
shuffler_fault cycle_jam              | shoe shoe_blind        | idle dealing settling
shuffler_fault declared_shuffler      | shoe shoe_blind        | playing
shuffler_fault jam                    | continuous | idle complete
= RESHUFFLE_FAULTED cards_removed path_clear cards_counted : 686a.9(d)
shuffler_fault fault                  | shoe shoe_blind        | idle dealing
shuffler_fault fault                  | continuous | idle complete
= RESHUFFLE_DEAD cards_removed path_clear cards_counted : 686a.9(d)
shuffler_fault shuffler               | shoe shoe_blind        | idle dealing
= RESHUFFLE_STOPS cards_removed path_clear cards_counted : 686a.9(d)
shuffler_fault jam                    | continuous | betting no_more_bets locked
= REFEED cards_removed path_clear cards_counted table_seen : 686a.9(d)
shuffler_fault jam                    | continuous | dealing playing settling new_shoe new_dealer
shuffler_fault declared_shuffler      | continuous | dealing
= REFEED_FAULTED cards_removed path_clear cards_counted table_seen : 686a.9(d)
shuffler_fault fault                  | continuous | dealing settling
= SIGN sign_seen : 686a.9(e)
device_unusable shuffler              | shoe shoe_blind        | idle betting dealing settling complete
device_unusable declared_shuffler     | shoe shoe_blind        | dealing
device_unusable jam_given_up          | continuous             | playing settling
device_unusable shuffler              | continuous | idle complete
= SIGN_STOPS sign_seen : 686a.9(e)
device_unusable shuffler              | continuous | betting dealing settling
= ASK_DECK
face_up_card_first seen               | shoe shoe_blind        | complete
device_unusable shoe                  | shoe shoe_blind        | idle complete
shoe_fault shoe_jam                   | shoe shoe_blind        | idle complete
= ASK_IDLE
face_up_card_first seen               | shoe shoe_blind        | idle new_shoe
= ASK
additional_cards_missed declared      | shoe plain shoe_blind  | locked dealing
device_unusable shoe                  | shoe shoe_blind        | betting dealing settling
shoe_fault shoe_jam                   | shoe shoe_blind        | betting dealing settling
wrong_card_count declared             | shoe plain shoe_blind  | dealing playing settling
card_drawn_in_error declared          | shoe shoe_blind        | dealing
player_card_exposed declared          | shoe shoe_blind        | playing
dealer_card_exposed declared          | shoe shoe_blind        | playing
dealer_hand_misset declared           | shoe shoe_blind        | settling
wrong_start_dealt declared            | shoe shoe_blind        | dealing
cards_revealed_before_raise declared  | shoe shoe_blind        | playing
card_exposed_hand_deal declared       | shoe shoe_blind        | dealing
other declared                        | shoe plain shoe_blind  | betting dealing settling
device_unusable shaker                | full                   | betting settling
device_unusable rng                   | full                   | betting settling
device_unusable button                | full                   | betting settling
device_unusable sensor                | full                   | betting settling
device_unusable keypad                | full                   | betting settling
device_unusable sign                  | full                   | betting settling
""")  # fmt: skip


@pytest.mark.parametrize("case", params(CASES))
def test_row(case: IrregularityCase) -> None:
    for cell in cells(case):
        check(cell)


@clauses("686a.7(c)/1", "686a.7(c)/2")
@pytest.mark.parametrize(
    ("kind", "phase", "duty", "other"),
    [
        ("plain", "locked", "burn_dealer", "burn_shoe"),
        ("shoe", "locked", "burn_dealer", "burn_shoe"),
        ("continuous", NEW_DEALER, "burn_dealer", "burn_shoe"),
        ("continuous", NEW_SHOE, "burn_shoe", "burn_dealer"),
    ],
)
def test_a_burn_that_is_due_waits_while_the_round_stands_still_and_is_asked_for_again(
    kind: str, phase: str, duty: str, other: str
) -> None:
    floor = table_at(GAME, kind, phase)
    assert (getattr(floor.state, duty), getattr(floor.state, other)) == (1, 0)
    floor.declare("other")
    assert not floor.prompts("burn_shoe")
    assert not floor.prompts("burn_dealer")
    floor.clear_holds()
    assert getattr(floor.state, duty) == 1
    if kind == "continuous":  # it brings the one card to burn, and no other
        assert [(one.act, one.number) for one in floor.state.commands.values()] == [("dispense", 1)]
    else:
        assert floor.prompt(duty).role == "dealer"
    decided = floor.settle()
    assert floor.phase == "idle"
    assert getattr(floor.state, duty) == 0
    assert floor.keys("open_bets", deck="blue") == set(), decided


@clauses("686a.7(c)/1")
@pytest.mark.parametrize("kind", ["shoe", "shoe_blind", "plain"])
def test_no_round_opens_from_a_new_shoe_before_its_first_card_is_burned(kind: str) -> None:
    floor = table_at(GAME, kind, NEW_SHOE)
    assert floor.keys("open_bets", deck="blue") == {"burn_due", "prompt_open"}
    floor.answer_prompt("burn_shoe")
    assert floor.keys("open_bets", deck="blue") == set()
