"""Every permit reason at every actuation that it bars: granted without it, refused by exactly this with it."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final

import pytest

from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.decisions import Refused
from table_controller.table.permits import ACTS, REASONS
from tests.support.clauses import clauses
from tests.support.core import DEALER, of
from tests.support.permitted import GRANTED, STANDS, hit_is
from tests.support.setups import at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOVES: Final = "shuffle eject load dispense start_round give_stub arm_dice draw"
# The acts that each reason blocks, by the table of `GRANTED` that shows it.
BARS: Final = {
    "slot_not_in_service": f"{_MOVES} clear_out light",
    "device_busy": f"{_MOVES} clear_out return_to_service test",
    "dead_device_unsigned": "open_bets load dispense start_round arm_dice draw method use",
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
    "irregularity": f"{_MOVES} collect return_to_service",
    "any_irregularity": "open_bets",
    "not_stacked": "shuffle",
    "deck_not_shuffled": "eject",
    "stored_deck": "eject",
    "deck_not_ready": "load open_bets",
    "deck_not_named": "clear_out",
    "deck_not_in_play": "dispense start_round give_stub",
    "deck_unverified": "eject load dispense start_round open_bets",
    "deck_expired": "load open_bets open-by-hand open-a-batch",
    "faces_due": "shuffle-seen open-seen",
    "deck_used_last": "load open_bets",
    "other_deck_outside": "open-of-two",
    "two_decks_barred": "open_bets",
    "second_batch_missing": "load-a-batch open-a-batch",
    "look_due": "load open_bets",
    "shoe_occupied": "load",
    "not_in_place": "open_bets open-by-hand",
    "rack_taken": "open_bets collect",
    "shoe_over": "open-a-batch",
    "burn_due": "open-a-batch dispense-from-store start-a-batch",
    "dealer_burn_due": "open-a-batch dispense-from-store start-a-batch",
    "count_due": "load-uncounted open-uncounted",
    "round_open": "open_bets method use test",
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
    "meter_not_seen": "open_bets open-for-a-submitted-rate",
    "meter_closed": "open_bets open-for-a-submitted-rate",
    "rate_differs": "open-for-a-submitted-rate",
    "meter_not_closed": "change_meter",
}
# Further reasons that always come with a reason.
BESIDES: Final = {
    ("deck_used_last", "open_bets"): {"not_in_place"},
    ("rack_taken", "open_bets"): {"other_deck_outside"},
    # One step after another: without a verified hand the light is not confirmed either.
    ("hand_not_confirmed", "pay"): {"light_not_seen", "not_validated"},
    ("light_not_seen", "pay"): {"not_validated"},
    ("amount_provisional", "pay"): {"not_from_table"},  # a fixed amount is final at once
}
# Of a refusal: the clause, who may clear it, and with what evidence; at the first table of `BARS`.
TOLD: Final = """
slot_not_in_service | 688a.13(m) | floorperson | cause cleared, acknowledged, and a good report of the device
device_busy | 688a.13(m) | technician | the command's outcome, asked of the device
dead_device_unsigned | 688a.13(m) | floorperson | cover or sign seen
device_not_signed | 688a.13(m) | floorperson | given up, and cover or sign seen
device_not_back | 688a.13(m) | floorperson | returned to service
shuffler_missing | 688a.13(k) | floorperson | returned to service, or given up and signed
shoe_missing | 688a.13(l) | floorperson | returned to service, or given up and signed
start_device_missing | 688a.5(i)(1)(iii) | floorperson | returned to service, or another method
sensor_missing | 688a.2(d)(1) | floorperson | a sensor at every seat, in service
hand_without_shuffler | 688a.9(a)(1) | floorperson | the shuffler in service, or dealing from a shoe
button_barred | 575.5(g)(3) | floorperson | both in use, or another method
not_cleared | 688a.13(m) | technician | the cause cleared, or the device repaired
steps_open | 688a.13(m) | technician | every step done, by its evidence; next in dossier 4: one card
holds_cards | 688a.13(m) | dealer | the cards taken out
irregularity | 688a.13(m) | floorperson | its steps done and acknowledged
any_irregularity | 688a.7(c) | floorperson | its steps done and acknowledged
not_stacked | 688a.4(a) | dealer | inspection, spread, wash and stack
deck_not_shuffled | 688a.5(a)/2 | dealer | a whole cycle of the shuffler
stored_deck | 688a.3(b)(2) | dealer | the round ended
deck_not_ready | 688a.5(a)/1 | dealer | shuffle and cut
deck_not_named | 688a.5(a)/2 | floorperson | the irregularity that names it
deck_not_in_play | 688a.5(a)/1 | floorperson | the deck of this round
deck_unverified | X8 | floorperson | a right count, or another deck
deck_expired | 688a.3(c)(2) | floorperson | a new deck, opened
faces_due | 680a.3(a) | floorperson | every face seen
deck_used_last | 688a.3(b)(3) | dealer | the other deck
other_deck_outside | 688a.3(b)(2) | dealer | the other deck in the shuffler, or removed
two_decks_barred | 688a.3(b) | floorperson | one deck removed, or the shuffler in use
second_batch_missing | 686a.3(b) | floorperson | a second batch, opened, or shuffling by hand
look_due | 688a.5(g) | dealer | the look of the first player
shoe_occupied | 688a.10(a)(1) | dealer | the shoe emptied
not_in_place | 688a.10(a)(1) | dealer | the deck in the shoe, or in the hand
rack_taken | 688a.3(b)(4) | dealer | the rack cleared
shoe_over | 686a.7(d) | dealer | the batch shuffled
burn_due | 686a.7(c)/1 | dealer | the burn confirmed
dealer_burn_due | 686a.7(c)/2 | dealer | the burn confirmed
count_due | 680a.10(d) | dealer | the deck counted
round_open | 688a.7(c) | dealer | the round ended
prompt_open | 688a.7(c) | dealer | the answer
bets_not_verified | 688a.10(a)(2)(ii)/1 | dealer | every sensor's latch, chips = bets
seats_not_entered | 688a.7(d) | dealer | the seats, entered
dice_not_fresh | 688a.2(c)(1)(i)/2 | floorperson | new dice
shaker_unattended | 688a.2(c)(1) | dealer | the new dealer's own word
not_starting | 688a.5(i) | dealer | no more bets, and bets locked
start_unknown | 688a.5(i) | dealer | dice, number or button
not_dealing | 688a.10(a)(2) | dealer | the steps before the deal
stack_not_taken | 688a.10(c) | dealer | the stack taken
wrong_stack | 688a.10(c) | dealer | the next stack of the deal
deal_not_over | 688a.10(d) | dealer | the deal finished
not_latched | 688a.11(h)(4)(i)(B)(2) | dealer | the sensor's latch
not_booked | 688a.12(d)/2 | dealer | the bet, accepted
bets_latched | 688a.10(a)(2)(ii)/1 | dealer | the round ended
not_settling | 688a.11(e) | dealer | the reveal
pay_irregular | 688a.7(c) | floorperson | its steps done and acknowledged
not_claimed | 688a.11(h)(4)(i)(A) | dealer | the claim
hand_not_confirmed | 688a.11(h)(4)(i)(B)(1) | dealer | the hand, verified
light_not_seen | 688a.11(h)(4)(i)(B)(2) | dealer | the light, or the bet's record seen by a floorperson
not_validated | 688a.11(h)(4)(i)(B)(3) | floorperson | the validation
amount_provisional | 688a.11(h)(4)(i)(B)(3) | floorperson | the earlier claim, validated or withdrawn
not_from_table | 688a.11(h)(4)(i)(B)(4)/1 | floorperson | the hand pay
hand_pay_open | 688a.11(h)(4)(i)(B)(4)/2 | floorperson | the documentation
bets_not_settled | 688a.11(h)(4)(i)(A) | dealer | every bet settled, every hit paid
copy_not_reached | 688a.2(d) | floorperson | the copy reached, or its absence confirmed by floorperson and technician
meter_in_play | 688a.2(d) | dealer | the round ended
meter_not_seen | 688a.2(d) | floorperson | every meter sign in service and showing the amount; without one, the /sign page on a display at the table (/sign: stale)
meter_closed | 688a.2(d) | floorperson | opened by two people with a document: a floorperson and a technician, after an unreasonable contribution
rate_differs | 687a.12(c)/1 | technician | the meter closed, the rate set by two people with the Rules Submission, the meter opened
meter_not_closed | 688a.2(d) | floorperson | the meter closed by two people
"""  # noqa: E501 - a table that is read
SAID: Final = {
    key: texts for key, *texts in ([part.strip() for part in line.split("|")] for line in TOLD.strip().splitlines())
}
# Refusals that are themselves what a clause asks for.
PROVES: Final = {
    "dead_device_unsigned": "688a.13(m)", "device_not_signed": "688a.13(m)", "hand_without_shuffler": "688a.9(a)(1)",
    "stored_deck": "688a.3(b)(2)", "deck_not_ready": "688a.10(a)(1)", "deck_expired": "688a.3(c)(2)",
    "deck_used_last": "688a.3(b)(3)", "two_decks_barred": "688a.3(b)", "second_batch_missing": "686a.3(b)",
    "rack_taken": "688a.3(b)(4)", "shoe_over": "686a.7(d)", "burn_due": "686a.7(c)/1", "count_due": "680a.10(d)",
    "bets_not_verified": "688a.10(a)(2)(ii)/1", "dice_not_fresh": "688a.2(c)(1)(i)/2", "start_unknown": "688a.5(i)",
    "not_dealing": "688a.10(a)(2)", "sensor_missing": "688a.2(d)(1)", "other_deck_outside": "688a.3(b)(2)",
    "dealer_burn_due": "686a.7(c)/2", "shaker_unattended": "688a.2(c)(1)",
    "hand_not_confirmed": "688a.11(h)(4)(i)(B)(1)", "light_not_seen": "688a.11(h)(4)(i)(B)(2)",
    "not_validated": "688a.11(h)(4)(i)(B)(3)", "not_from_table": "688a.11(h)(4)(i)(B)(4)/1",
    "hand_pay_open": "688a.11(h)(4)(i)(B)(4)/2", "meter_not_seen": "688a.2(d)",
}  # fmt: skip
PAIRS: Final = [(key, table.replace("-", " ")) for key, tables in BARS.items() for table in tables.split()]


def granted(table: str) -> None:
    """Check that nothing blocks the act."""
    assert GRANTED[table]().keys() == set()


def refused(key: str, table: str) -> None:
    """Check that this reason blocks the act, and no other."""
    asked = GRANTED[table]()
    STANDS[key](asked)
    assert asked.keys() == {key} | BESIDES.get((key, table), set())


def told(key: str) -> None:
    """Check the clause of the refusal, who may clear it, and with what."""
    asked = GRANTED[BARS[key].split()[0].replace("-", " ")]()
    STANDS[key](asked)
    reason = next(reason for reason in asked.reasons() if reason.key == key)
    assert [reason.clause, reason.clears, reason.evidence] == SAID[key]
    assert len(reason.text.split()) >= 3, "a sentence for people"


def checks() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], Callable[[], None]]]:
    """Yield what rule mutation runs: each test over each parameter, with its act and its reason."""
    for key, table in PAIRS:
        yield f"test_refused_by_exactly_this[{key}-{table}]", (_act(table),), (key,), partial(refused, key, table)
    for key, tables in BARS.items():
        first = tables.split()[0].replace("-", " ")
        yield f"test_what_a_refusal_says[{key}]", (_act(first),), (key,), partial(told, key)
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
def test_what_a_refusal_says(key: str) -> None:
    told(key)


def test_every_actuation_and_every_reason_is_asked_for() -> None:
    assert set(BARS) == set(STANDS) == set(SAID) == {reason.key for reason in REASONS}
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
    hit_is(mc.HIT_HAND_PAY)(asked)
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
    hit_is(state)(asked)
    assert asked.keys() == keys


@pytest.mark.parametrize("act", ["correct_meter", "reset_meter", "change_meter", "close_meter", "transfer_overflow"])
def test_no_hand_is_at_the_meter_while_bets_are_open_or_locked(act: str) -> None:
    for state in (mc.OPEN, mc.LOCKING, mc.BETS_LOCKED, mc.VERIFIED):
        asked = GRANTED[act]()
        asked.floor.state.progressive.state = state
        assert asked.keys() == {"meter_in_play"}


@clauses("686a.7(c)/1", "686a.7(c)/2")
@pytest.mark.parametrize("table", ["dispense to burn", "dispense for a dealer"])
def test_a_continuous_shuffler_brings_the_card_to_burn_and_none_besides(table: str) -> None:
    asked = GRANTED[table]()
    assert asked.keys() == set()
    key = "burn_due" if asked.floor.state.burn_shoe else "dealer_burn_due"
    assert asked._replace(cards=2).keys() == {key}


def test_a_refusal_lists_everything_that_stands_against_it() -> None:
    floor = at("face_up_pai_gow", "auto", "idle")
    floor.step(ev.SlotChanged("shuffler.1", "doubt"))
    floor.step(ev.SlotChanged("bet_sensor.4", "doubt"))
    floor.step(ev.Due("dice_age"))
    floor.step(ev.Due("deck_age/blue/8"))
    floor.step(ev.Declared("count_wrong", DEALER, deck="blue"))
    floor.step(ev.LateBet(2))
    (refusal,) = of(Refused, floor.step(ev.OpenRound(DEALER)))
    assert refusal.what == "open_bets"
    assert {reason.key for reason in refusal.reasons} == {
        "shuffler_missing", "sensor_missing", "dice_not_fresh", "any_irregularity", "prompt_open",
        # The deck is held, so there is none to open with.
        "deck_not_ready", "not_in_place",
    }  # fmt: skip
    assert all(reason.clause and reason.text and reason.clears and reason.evidence for reason in refusal.reasons)
    assert floor.phase == "idle"


def test_what_was_permitted_when_it_was_decided_is_asked_again_when_it_is_sent() -> None:
    floor = at("face_up_pai_gow", "auto", "dealing")
    (id_,) = (id_ for id_, issued in floor.state.commands.items() if issued.act == "dispense")
    floor.step(ev.Declared("wrong_card_count", DEALER))
    assert "irregularity" in floor.keys("dispense", "shoe.1", "blue", cards=7)
    floor.step(ev.CommandEnded(id_, "revoked"))
    assert not [one for one in floor.state.commands.values() if one.act == "dispense"]
