"""Every permit reason at every actuation that it bars: granted without it, refused by exactly this with it."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import RequestRefused
from table_controller.table.permits import ACTS, REASONS
from tests.support.core.ideal_table import DEALER, decisions_of
from tests.support.core.permitted import GRANTED, OBJECTIONS, put_hit_in
from tests.support.core.setups import table_at
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOVES: Final = "shuffle eject insert load dispense start_round give_stub arm_dice draw"
_OTHER_RELEASES: Final = "release-of-the-dealer release-of-three release-of-a-raise"
# The acts that each reason blocks, by the table of `GRANTED` that shows it.
BARS: Final = {
    "slot_not_in_service": f"{_MOVES} clear_out light release_cards",
    "device_busy": f"{_MOVES} clear_out return_to_service test release_cards",
    "dead_device_unsigned": "open_bets insert load dispense start_round arm_dice draw method use",
    "device_not_signed": "method",
    "device_not_back": "use",
    "shuffler_missing": "open_bets",
    "shoe_missing": "open_bets",
    "start_device_missing": "open_bets",
    "sensor_missing": "open_bets",
    "hand_without_shuffler": "open-by-hand",
    "button_barred": "open-with-button",
    "not_cleared": "return_to_service",
    "steps_open": "return_to_service",
    "holds_cards": "test",
    "irregularity": f"{_MOVES} collect return_to_service release_cards",
    "any_irregularity": "open_bets",
    "not_stacked": "shuffle",
    "deck_not_shuffled": "eject",
    "stored_deck": "eject",
    "deck_not_ready": "load insert open_bets",
    "deck_not_named": "clear_out",
    "deck_not_in_play": "dispense start_round give_stub",
    "deck_unverified": "eject insert load dispense start_round open_bets",
    "deck_expired": "load insert open_bets open-by-hand open-a-batch",
    "faces_due": "shuffle-seen open-seen",
    "deck_used_last": "load insert-stored open_bets",
    "other_deck_outside": "open-of-two",
    "two_decks_barred": "open_bets",
    "second_batch_missing": "load-a-batch insert-a-batch open-a-batch",
    "look_due": "load insert open_bets",
    "shoe_occupied": "load insert insert-stored",
    "insertion_barred": "insert insert-a-batch",
    "no_shoe_to_fill": "insert insert-a-batch",
    "shoe_busy": "insert",
    "not_in_place": "open_bets open-by-hand",
    "rack_taken": "open_bets collect",
    "shoe_over": "open-a-batch",
    "burn_due": "open-a-batch dispense-from-store start-a-batch",
    "dealer_burn_due": "open-a-batch dispense-from-store start-a-batch",
    "count_due": "load-uncounted insert-uncounted open-uncounted",
    "round_open": "open_bets insert method use test",
    "prompt_open": "open_bets",
    "bets_not_verified": "dispense start_round arm_dice draw",
    "seats_not_entered": "dispense start_round arm_dice draw",
    "dice_not_fresh": "arm_dice open_bets",
    "shaker_unattended": "arm_dice",
    "not_starting": "arm_dice draw",
    "start_unknown": "dispense start_round",
    "not_dealing": "dispense start_round",
    "stack_not_taken": "dispense give_stub",
    "wrong_stack": "dispense",
    "deal_not_over": "give_stub",
    "not_identifying": f"release_cards {_OTHER_RELEASES}",
    "no_dealt_hand": f"release_cards {_OTHER_RELEASES}",
    "release_ended": f"release_cards {_OTHER_RELEASES}",
    "hand_not_in_play": "release_cards release-of-three release-of-a-raise",
    "hand_surrendered": "release_cards",
    "hand_incomplete": "release-of-three",
    "cards_face_down": f"release_cards {_OTHER_RELEASES}",
    "not_its_turn": "release_cards release-of-three release-of-a-raise",
    "own_reveal_due": "release_cards",
    "hand_folded": "release-of-a-raise",
    "hand_settled": "release_cards release-of-three release-of-a-raise",
    "not_latched": "light",
    "not_booked": "light",
    "bets_latched": "unlock",
    "not_settling": "pay",
    "pay_irregular": "pay",
    "not_claimed": "pay",
    "hand_not_confirmed": "pay",
    "light_not_seen": "pay",
    "not_validated": "pay",
    "amount_provisional": "pay",
    "not_from_table": "pay",
    "hand_pay_open": "collect",
    "bets_not_settled": "collect",
    "copy_not_reached": "open_bets",
    "meter_in_play": "correct_meter reset_meter change_meter close_meter open_meter transfer_overflow",
    "odds_not_posted": "open-with-posted-odds",
    "limit_not_posted": "open-with-posted-odds",
    "meter_not_seen": "open_bets open-for-a-submitted-rate",
    "meter_closed": "open_bets open-for-a-submitted-rate",
    "rate_differs": "open-for-a-submitted-rate",
    "meter_not_closed": "change_meter",
}
# Further reasons that always come with a reason.
FURTHER_REASONS: Final = {
    ("deck_used_last", "open_bets"): {"not_in_place"},
    ("rack_taken", "open_bets"): {"other_deck_outside"},
    # One step after another: without a verified hand the light is not confirmed either.
    ("hand_not_confirmed", "pay"): {"light_not_seen", "not_validated"},
    ("light_not_seen", "pay"): {"not_validated"},
    ("hand_not_in_play", "release_cards"): {"not_its_turn"},  # it is in no order
    ("hand_not_in_play", "release of three"): {"not_its_turn"},
    ("hand_not_in_play", "release of a raise"): {"not_its_turn"},
    ("hand_surrendered", "release_cards"): {"not_its_turn"},
    ("amount_provisional", "pay"): {"not_from_table"},  # a fixed amount is final at once
}
# Of a refusal: the clause, who may clear it, and with what evidence; at the first table of `BARS`.
REFUSAL_TABLE: Final = """
slot_not_in_service | 688a.13(m) | floorperson | return the device to service
device_busy | 688a.13(m) | technician | wait until the device reports the outcome
dead_device_unsigned | 688a.13(m) | floorperson | cover the device or put up the sign
device_not_signed | 688a.13(m) | floorperson | take the device out of service and cover or sign it
device_not_back | 688a.13(m) | floorperson | return the device to service
shuffler_missing | 688a.13(k) | floorperson | return it to service, or take it out of service and sign it
shoe_missing | 688a.13(l) | floorperson | return it to service, or take it out of service and sign it
start_device_missing | 688a.5(i)(1)(iii) | floorperson | return it to service, or order another method
sensor_missing | 688a.2(d)(1) | floorperson | have a sensor in service at every seat
hand_without_shuffler | 688a.9(a)(1) | floorperson | return the shuffler to service, or deal from a shoe
button_barred | 575.5(g)(3) | floorperson | use both, or order another method
not_cleared | 688a.13(m) | technician | clear the fault, or repair the device
steps_open | 688a.13(m) | technician | do every step; next, in fault report 4: clear: take every card off the path, close the door, have the machine empty itself
holds_cards | 688a.13(m) | dealer | take the cards out
irregularity | 688a.13(m) | floorperson | do its steps and acknowledge it
any_irregularity | 688a.7(c) | floorperson | do its steps and acknowledge it
not_stacked | 688a.4(a) | dealer | inspect, spread, wash and stack the deck
deck_not_shuffled | 688a.5(a)/2 | dealer | let the shuffler finish a whole cycle
stored_deck | 688a.3(b)(2) | dealer | finish the round
deck_not_ready | 688a.5(a)/1 | dealer | shuffle and cut the deck
deck_not_named | 688a.5(a)/2 | floorperson | report the irregularity of this deck
deck_not_in_play | 688a.5(a)/1 | floorperson | use the deck of this round
deck_unverified | X8 | floorperson | count the deck and find it complete, or use another
deck_expired | 688a.3(c)(2) | floorperson | open a new deck
faces_due | 680a.3(a) | floorperson | look at every face
deck_used_last | 688a.3(b)(3) | dealer | use the other deck
other_deck_outside | 688a.3(b)(2) | dealer | put the other deck into the shuffler, or have it removed
two_decks_barred | 688a.3(b) | floorperson | remove one deck, or use the shuffler
second_batch_missing | 686a.3(b) | floorperson | open a second batch, or order shuffling by hand
look_due | 688a.5(g) | dealer | let the first player see the deck
shoe_occupied | 688a.10(a)(1) | dealer | empty the shoe
insertion_barred | 688a.5(a)/2 | dealer | put the deck into the shoe
no_shoe_to_fill | 688a.5(a)/2 | floorperson | return the shoe to service
shoe_busy | 688a.5(a)/2 | floorperson | wait for the shoe, or clear its irregularity
not_in_place | 688a.10(a)(1) | dealer | put the deck into the shoe, or take it in hand
rack_taken | 688a.3(b)(4) | dealer | clear the rack
shoe_over | 686a.7(d) | dealer | shuffle the batch
burn_due | 686a.7(c)/1 | dealer | burn a card and confirm it
dealer_burn_due | 686a.7(c)/2 | dealer | burn a card and confirm it
count_due | 680a.10(d) | dealer | count the deck
round_open | 688a.7(c) | dealer | finish the round
prompt_open | 688a.7(c) | dealer | answer the question
bets_not_verified | 688a.10(a)(2)(ii)/1 | dealer | wait for every sensor, then collect a chip for each bet
seats_not_entered | 688a.7(d) | dealer | enter the seats
dice_not_fresh | 688a.2(c)(1)(i)/2 | floorperson | replace the dice
shaker_unattended | 688a.2(c)(1) | dealer | the new dealer must confirm it
not_starting | 688a.5(i) | dealer | call no more bets and wait for the lock-out
start_unknown | 688a.5(i) | dealer | roll the dice, draw the number, or place the button
not_dealing | 688a.10(a)(2) | dealer | finish no more bets, lock-out and starting position
stack_not_taken | 688a.10(c) | dealer | take the stack
wrong_stack | 688a.10(c) | dealer | deal the next stack
deal_not_over | 688a.10(d) | dealer | finish the deal
not_identifying | 688a.11(e) | dealer | enter the cards
no_dealt_hand | 688a.10(c) | dealer | enter the cards once they are exposed
release_ended | 688a.11(e) | dealer | enter the cards, if they are not known
hand_not_in_play | 688a.7(d) | dealer | leave its cards face down
hand_surrendered | 688a.11(d)/1 | dealer | leave its cards as they lie
hand_incomplete | 686a.7(h) | dealer | deal the additional cards
cards_face_down | 688a.11(c) | dealer | reveal the dealer's hand
not_its_turn | 688a.11(e) | dealer | settle the seats in their order
own_reveal_due | 688a.11(d)/1 | dealer | show the hand and confirm it
hand_folded | 687a.11(c) | dealer | leave the cards in the discard rack
hand_settled | 688a.11(e) | dealer | report an error to the floorperson
not_latched | 688a.11(h)(4)(i)(B)(2) | dealer | wait for the sensor
not_booked | 688a.12(d)/2 | dealer | wait until the bet is accepted
bets_latched | 688a.10(a)(2)(ii)/1 | dealer | finish the round
not_settling | 688a.11(e) | dealer | reveal the dealer's hand
pay_irregular | 688a.7(c) | floorperson | do its steps and acknowledge it
not_claimed | 688a.11(h)(4)(i)(A) | dealer | enter the winning hand
hand_not_confirmed | 688a.11(h)(4)(i)(B)(1) | dealer | verify that the hand wins
light_not_seen | 688a.11(h)(4)(i)(B)(2) | dealer | check the light; if it is off, a floorperson looks up the bet
not_validated | 688a.11(h)(4)(i)(B)(3) | floorperson | confirm the jackpot
amount_provisional | 688a.11(h)(4)(i)(B)(3) | floorperson | confirm or refuse the earlier claim
not_from_table | 688a.11(h)(4)(i)(B)(4)/1 | floorperson | order the hand pay
hand_pay_open | 688a.11(h)(4)(i)(B)(4)/2 | floorperson | enter the slip number
bets_not_settled | 688a.11(h)(4)(i)(A) | dealer | settle every bet and pay every hit
copy_not_reached | 688a.2(d) | floorperson | connect the copy, or confirm its absence together with a technician
meter_in_play | 688a.2(d) | dealer | finish the round
odds_not_posted | 575.2(b)(6) | floorperson | open the /sign page on a display at the table (the page: stale)
limit_not_posted | 575.2(b)(7) | floorperson | open the /sign page on a display at the table (the page: stale)
meter_not_seen | 688a.2(d) | floorperson | get every meter sign to show the amount; without one, open the /sign page on a display at the table (Sign page: stale)
meter_closed | 688a.2(d) | floorperson | two people open it, with a document; after an unreasonable contribution: a floorperson and a technician
rate_differs | 687a.12(c)/1 | technician | two people close the meter, set the rate of the Rules Submission, and open the meter
meter_not_closed | 688a.2(d) | floorperson | two people close it, with a document
"""  # noqa: E501 - a table that is read
REFUSALS: Final = {
    key: texts
    for key, *texts in ([part.strip() for part in line.split("|")] for line in REFUSAL_TABLE.strip().splitlines())
}
# Refusals that are themselves what a clause asks for.
PROVES: Final = {
    "dead_device_unsigned": "688a.13(m)", "device_not_signed": "688a.13(m)", "hand_without_shuffler": "688a.9(a)(1)",
    "stored_deck": "688a.3(b)(2)", "deck_not_ready": "688a.10(a)(1)", "deck_expired": "688a.3(c)(2)",
    "deck_used_last": "688a.3(b)(3)", "two_decks_barred": "688a.3(b)", "second_batch_missing": "686a.3(b)",
    "rack_taken": "688a.3(b)(4)", "insertion_barred": "688a.5(a)/2", "no_shoe_to_fill": "688a.5(a)/2",
    "shoe_over": "686a.7(d)", "burn_due": "686a.7(c)/1", "count_due": "680a.10(d)",
    "bets_not_verified": "688a.10(a)(2)(ii)/1", "dice_not_fresh": "688a.2(c)(1)(i)/2", "start_unknown": "688a.5(i)",
    "not_dealing": "688a.10(a)(2)", "sensor_missing": "688a.2(d)(1)", "other_deck_outside": "688a.3(b)(2)",
    "dealer_burn_due": "686a.7(c)/2", "shaker_unattended": "688a.2(c)(1)",
    "hand_not_confirmed": "688a.11(h)(4)(i)(B)(1)", "light_not_seen": "688a.11(h)(4)(i)(B)(2)",
    "not_validated": "688a.11(h)(4)(i)(B)(3)", "not_from_table": "688a.11(h)(4)(i)(B)(4)/1",
    "hand_pay_open": "688a.11(h)(4)(i)(B)(4)/2", "meter_not_seen": "688a.2(d)",
    "odds_not_posted": "575.2(b)(6)", "limit_not_posted": "575.2(b)(7)",
}  # fmt: skip
PAIRS: Final = [(key, table.replace("-", " ")) for key, tables in BARS.items() for table in tables.split()]


def granted(table: str) -> None:
    """Check that nothing blocks the act."""
    assert GRANTED[table]().keys() == set()


def refused(key: str, table: str) -> None:
    """Check that this reason blocks the act, and no other."""
    asked = GRANTED[table]()
    OBJECTIONS[key](asked)
    assert asked.keys() == {key} | FURTHER_REASONS.get((key, table), set())


def check_refusal_text(key: str) -> None:
    """Check the clause of the refusal, who may clear it, and with what."""
    asked = GRANTED[BARS[key].split()[0].replace("-", " ")]()
    OBJECTIONS[key](asked)
    reason = next(reason for reason in asked.reasons() if reason.key == key)
    assert [reason.clause, reason.clears, reason.evidence] == REFUSALS[key]
    assert len(reason.text.split()) >= 3, "a sentence for people"


def checks() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], Callable[[], None]]]:
    """Yield what rule mutation runs: each test over each parameter, with its act and its reason."""
    for key, table in PAIRS:
        yield f"test_refused_by_exactly_this[{key}-{table}]", (_act(table),), (key,), partial(refused, key, table)
    for key, tables in BARS.items():
        first = tables.split()[0].replace("-", " ")
        yield f"test_the_text_of_a_refusal[{key}]", (_act(first),), (key,), partial(check_refusal_text, key)
    for table in GRANTED:
        yield f"test_granted[{table}]", (_act(table),), (), partial(granted, table)


@cache
def _act(table: str) -> str:
    return GRANTED[table]().act


@pytest.mark.parametrize("table", list(GRANTED))
def test_granted(table: str) -> None:
    granted(table)


@pytest.mark.parametrize(
    ("key", "table"),
    [pytest.param(key, table, marks=[clauses(PROVES[key])] if key in PROVES else []) for key, table in PAIRS],
)
def test_refused_by_exactly_this(key: str, table: str) -> None:
    refused(key, table)


@pytest.mark.parametrize("key", list(BARS))
def test_the_text_of_a_refusal(key: str) -> None:
    check_refusal_text(key)


def test_every_actuation_and_every_reason_is_asked_for() -> None:
    assert set(BARS) == set(OBJECTIONS) == set(REFUSALS) == {reason.key for reason in REASONS}
    assert {_act(table) for table in GRANTED} == set(ACTS)


@clauses("688a.2(d)(1)")
def test_a_seat_without_any_sensor_bars_the_round_like_one_that_does_not_serve() -> None:
    asked = GRANTED["open_bets"]()
    del asked.floor.state.slots["bet_sensor.4"]
    assert asked.keys() == {"sensor_missing"}


@clauses("688a.11(h)(4)(i)(B)(4)/1")
@pytest.mark.parametrize("table", ["pay", "pay all the same"])
def test_what_an_attendant_pays_is_not_paid_from_the_table(table: str) -> None:
    asked = GRANTED[table]()
    put_hit_in(mc.HIT_HAND_PAY)(asked)
    assert asked.keys() == {"not_from_table"}


@pytest.mark.parametrize(
    ("state", "keys"),
    [
        (mc.HIT_CLAIMED, {"bets_not_settled"}),
        (mc.HIT_CONFIRMED, {"bets_not_settled"}),
        (mc.HIT_LIGHT_SEEN, {"bets_not_settled"}),
        (mc.HIT_VALIDATED, {"bets_not_settled"}),
        (mc.HIT_HAND_PAY, {"hand_pay_open"}),
        (mc.HIT_PAID, set()),
        (mc.HIT_DOCUMENTED, set()),
        (mc.HIT_WITHDRAWN, set()),
    ],
)
def test_cards_stay_on_the_table_until_a_hit_is_paid_or_has_fallen(state: str, keys: set[str]) -> None:
    asked = GRANTED["collect"]()
    put_hit_in(state)(asked)
    assert asked.keys() == keys


@pytest.mark.parametrize("act", ["correct_meter", "reset_meter", "change_meter", "close_meter", "transfer_overflow"])
def test_no_hand_is_at_the_meter_while_bets_are_open_or_locked(act: str) -> None:
    for state in (mc.OPEN, mc.LOCKING, mc.BETS_LOCKED, mc.VERIFIED):
        asked = GRANTED[act]()
        asked.floor.state.progressive.state = state
        assert asked.keys() == {"meter_in_play"}


@clauses("686a.7(c)/1", "686a.7(c)/2")
@pytest.mark.parametrize("table", ["dispense to burn", "dispense for a dealer"])
def test_a_continuous_shuffler_delivers_the_card_to_burn_and_no_other(table: str) -> None:
    asked = GRANTED[table]()
    assert asked.keys() == set()
    key = "burn_due" if asked.floor.state.burn_shoe else "dealer_burn_due"
    assert asked._replace(cards=2).keys() == {key}


def test_a_refusal_lists_every_reason() -> None:
    floor = table_at("face_up_pai_gow", "auto", "idle")
    floor.step(ev.SlotChanged("shuffler.1", "doubt"))
    floor.step(ev.SlotChanged("bet_sensor.4", "doubt"))
    floor.step(ev.Due("dice_age"))
    floor.step(ev.Due("deck_age/blue/8"))
    floor.step(ev.IrregularityReported("count_wrong", DEALER, deck="blue"))
    floor.step(ev.LateBet(2))
    (refusal,) = decisions_of(RequestRefused, floor.step(ev.OpenRound(DEALER)))
    assert refusal.what == "open_bets"
    assert {reason.key for reason in refusal.reasons} == {
        "shuffler_missing", "sensor_missing", "dice_not_fresh", "any_irregularity", "prompt_open",
        # The deck is held, so there is none to open with.
        "deck_not_ready", "not_in_place",
    }  # fmt: skip
    assert all(reason.clause and reason.text and reason.clears and reason.evidence for reason in refusal.reasons)
    assert floor.phase == "idle"


def test_a_permit_is_checked_again_when_the_command_is_sent() -> None:
    floor = table_at("face_up_pai_gow", "auto", "dealing")
    (id_,) = (id_ for id_, issued in floor.state.commands.items() if issued.act == "dispense")
    floor.step(ev.IrregularityReported("wrong_card_count", DEALER))
    assert "irregularity" in floor.keys("dispense", "shoe.1", "blue", cards=7)
    floor.step(ev.CommandEnded(id_, "revoked"))
    assert not [one for one in floor.state.commands.values() if one.act == "dispense"]
