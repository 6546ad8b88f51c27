"""Adjustments of the meter by people: who may, for which reasons, and never while bets are open."""

from __future__ import annotations

from typing import Any

import pytest

from devices.service import SIGNED
from table_controller.ledger.meter import METER_MOST
from table_controller.ledger.money import ACCOUNTS, CENT, CORRECTIONS, DOLLAR, METER, OVERFLOW, parse_dollars
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import Booked, MeterPlay, MeterSet, RequestRefused
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import (
    AUDITOR,
    DEALER,
    FLOOR,
    TECH,
    IdealTable,
    decisions_of,
    findings,
    refusal_text,
)

PEOPLE = (DEALER, FLOOR, TECH, AUDITOR)
GROUND: Any = {"ground": "malfunction", "reason": "sensor_fault"}


def correct(who: ev.Person = FLOOR, second: ev.Person = AUDITOR, amount: int = DOLLAR) -> ev.Event:
    return ev.MeterCorrected(amount, "MC-7", who, second, **GROUND)


def reset(who: ev.Person = FLOOR, second: ev.Person = AUDITOR) -> ev.Event:
    return ev.MeterReset("MR-7", who, second, **GROUND)


def change(who: ev.Person = TECH, second: ev.Person = AUDITOR, limit: int = 5_000_000) -> ev.Event:
    return ev.MeterParameters("MP-7", who, second, limit_cents=limit)


def close(who: ev.Person = FLOOR, second: ev.Person = AUDITOR) -> ev.Event:
    return ev.MeterClosed("ML-7", who, second)


def reopen(who: ev.Person = FLOOR, second: ev.Person = AUDITOR) -> ev.Event:
    return ev.MeterOpened("MO-7", who, second)


def transfer(who: ev.Person = FLOOR, second: ev.Person = AUDITOR, amount: int = CENT) -> ev.Event:
    return ev.OverflowTransferred(amount, "MT-7", who, second)


def with_limit(floor: BettingTable, limit_cents: int) -> BettingTable:
    """Set a limit, as two people may while the meter is closed to play."""
    for event in (close(), change(limit=limit_cents), reopen()):
        assert not decisions_of(RequestRefused, floor.step(event))
    return floor


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("second", PEOPLE)
def test_each_meter_adjustment_needs_its_own_two_credentials(who: ev.Person, second: ev.Person) -> None:
    by_floor = (who, second) == (FLOOR, AUDITOR)
    by_tech = (who, second) == (TECH, AUDITOR)
    deeds = ((correct, by_floor), (reset, by_floor), (close, by_floor), (change, by_tech), (reopen, by_floor))
    for make, allowed in (*deeds, (transfer, by_floor)):
        floor = with_limit(BettingTable("688a-progressive-1"), 1_000_000)
        floor.round()
        if make in (change, reopen):
            floor.step(close())
        if make is transfer:
            floor.step(correct(amount=-DOLLAR))
        entries = floor.book.entries
        decisions = floor.step(make(who, second))
        assert bool(decisions_of(RequestRefused, decisions)) is not (allowed and make is not correct)
        if not allowed:
            assert "credential" in refusal_text(decisions)
            assert floor.book.entries == entries


def test_two_roles_of_one_credential_are_one_person() -> None:
    floor = BettingTable("688a-progressive-1")
    same = ev.Person("auditor", FLOOR.credential)
    two_badges = ev.Person("auditor", "A7", person="f1")
    for make in (correct, reset, close, transfer):
        assert "one person" in refusal_text(floor.step(make(second=same)))
        assert "one person" in refusal_text(floor.step(make(second=two_badges)))


@pytest.mark.parametrize(
    "event",
    [
        ev.MeterCorrected(1, " ", FLOOR, AUDITOR, **GROUND), ev.MeterReset("", FLOOR, AUDITOR, **GROUND),
        ev.MeterClosed("", FLOOR, AUDITOR), ev.OverflowTransferred(1, "", FLOOR, AUDITOR),
    ],
)  # fmt: skip
def test_without_a_document_nothing_is_done(event: ev.Event) -> None:
    assert "document" in refusal_text(BettingTable("688a-progressive-1").step(event))


def test_a_correction_is_booked_with_its_document_its_people_and_its_ground() -> None:
    floor = BettingTable("688a-progressive-1")
    decisions = floor.step(correct(amount=-3 * DOLLAR))
    (booked,) = decisions_of(Booked, decisions)
    assert (booked.entry.kind, booked.entry.document) == ("correction", "MC-7")
    assert (floor.book.balance(METER), floor.book.balance(CORRECTIONS)) == (9_997 * DOLLAR, 3 * DOLLAR)
    (finding,) = findings(decisions, "meter_corrected")
    assert finding.text == "from $10,000.00 to $9,997.00 by F1 and A1, MC-7; malfunction: sensor_fault"


# --- reasons and limits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("amount", [-DOLLAR, DOLLAR])
@pytest.mark.parametrize(
    ("ground", "reason", "counterpart", "message"),
    [
        ("", "", "", "not a ground"),
        ("prize_paid", "sensor_fault", "", "not a ground"),
        ("prize_pending", "sensor_fault", "", "not a ground"),
        ("promotion", "", "", "not a ground"),
        ("malfunction", "", "", "not a reason"),
        ("malfunction", "to_other_meter", "", "not a reason"),
        ("transfer", "sensor_fault", "T-2", "not a reason"),
        ("transfer", "to_other_meter", " ", "a document of each meter"),
        ("transfer", "from_other_meter", "", "a document of each meter"),
    ],
)
def test_a_meter_is_adjusted_only_for_a_listed_reason(
    amount: int, ground: str, reason: str, counterpart: str, message: str
) -> None:
    floor = BettingTable("688a-progressive-1")
    floor.round()
    before = floor.held()
    event = ev.MeterCorrected(amount, "MC-7", FLOOR, AUDITOR, ground, reason, counterpart)
    assert message in refusal_text(floor.step(event))
    assert message in refusal_text(floor.step(ev.MeterReset("MR-7", FLOOR, AUDITOR, ground, reason, counterpart)))
    assert floor.held() == before


@pytest.mark.parametrize(("amount", "reason"), [(DOLLAR, "to_other_meter"), (-DOLLAR, "from_other_meter")])
def test_a_transfer_goes_the_direction_that_it_names(amount: int, reason: str) -> None:
    floor = BettingTable("688a-progressive-1")
    wrong = ev.MeterCorrected(amount, "MC-7", FLOOR, AUDITOR, "transfer", reason, "T-2")
    assert "does not" in refusal_text(floor.step(wrong))
    right = ev.MeterCorrected(-amount, "MC-7", FLOOR, AUDITOR, "transfer", reason, "T-2")
    (finding,) = findings(floor.step(right), "meter_corrected")
    assert finding.text.endswith(f"transfer: {reason}, other side T-2")


def test_a_reset_that_lowers_the_meter_is_no_transfer_to_it() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.round()
    event = ev.MeterReset("MR-7", FLOOR, AUDITOR, "transfer", "from_other_meter", "T-2")
    assert "does not lower" in refusal_text(floor.step(event))


def test_no_correction_takes_the_meter_above_its_limit_or_the_digits_of_its_sign() -> None:
    floor = BettingTable("688a-progressive-1")
    assert "its limit is" in refusal_text(floor.step(correct(amount=METER_MOST)))
    with_limit(floor, 1_000_100)
    assert "its limit is $10,001.00" in refusal_text(floor.step(correct(amount=DOLLAR + 1)))
    floor.step(correct(amount=DOLLAR))
    assert floor.book.balance(METER) == 10_001 * DOLLAR


# --- overflow ---------------------------------------------------------------------------------------------------------


def test_overflow_above_the_limit_has_its_own_meter_and_two_people_return_it() -> None:
    floor = with_limit(BettingTable("688a-progressive-1", bets=(1, 3)), 1_000_030)
    floor.round()
    meters = floor.book.meters
    assert (meters.current, meters.overflow, meters.reserve) == (10_000 * DOLLAR + 30 * CENT, 26 * CENT, 0)
    assert "its limit is" in refusal_text(floor.step(transfer(amount=26 * CENT)))
    floor.step(correct(amount=-30 * CENT))
    assert "overflow would fall below zero" in refusal_text(floor.step(transfer(amount=27 * CENT)))
    (booked,) = decisions_of(Booked, floor.step(transfer(amount=26 * CENT)))
    assert (booked.entry.kind, booked.entry.document) == ("transfer", "MT-7")
    assert (floor.book.balance(METER), floor.book.balance(OVERFLOW)) == (10_000 * DOLLAR + 26 * CENT, 0)


def test_a_void_round_takes_its_overflow_back_to_the_last_cent() -> None:
    floor = with_limit(BettingTable("688a-progressive-1", bets=(1, 3)), 1_000_030)
    floor.round()
    before = floor.held()
    floor.play_to(mc.DEALING)
    assert floor.book.balance(OVERFLOW) == (26 + 56) * CENT
    floor.declare("wrong_card_count")
    assert floor.held() == before
    floor.settle()
    assert floor.held() == before


# --- unreasonable contributions ---------------------------------------------------------------------------------------


def chattering(changes: int) -> BettingTable:
    """Return a table with open bets whose sensor at seat 3 has reported this many changes."""
    floor = BettingTable("688a-progressive-1", bets=(1, 3))
    floor.play_to(mc.BETTING)
    for sequence in range(1, changes + 1):
        floor.step(ev.BetSensed(3, sequence, bool(sequence % 2)))
    return floor


def test_a_bet_of_a_sensor_that_chatters_is_not_booked_and_closes_the_meter() -> None:
    floor = chattering(101)
    decided = floor.play(ev.NoMoreBets(DEALER), until=lambda d: isinstance(d, MeterPlay))
    (finding,) = findings(decided, "unreasonable_contribution")
    assert "101 changes" in finding.text
    assert set(floor.state.money.bets) == {1}
    assert floor.book.balance(METER) == 10_000 * DOLLAR + 28 * CENT
    assert floor.hold("unreasonable_contribution").seat == 3
    floor.settle()
    floor.clear_holds()
    floor.settle()
    assert floor.phase == mc.IDLE
    assert "meter_closed" in floor.reasons_against_opening()
    assert "technician" in refusal_text(floor.step(reopen()))
    (play,) = decisions_of(MeterPlay, floor.step(reopen(second=TECH)))
    assert (play.open, play.cause, play.credentials) == (True, mc.UNREASONABLE, ("F1", "T1"))
    assert "meter_closed" not in floor.reasons_against_opening()


def test_a_hundred_changes_of_a_chip_are_still_a_hand() -> None:
    floor = chattering(100)
    floor.play(ev.NoMoreBets(DEALER))
    assert not floor.state.money.closed
    assert floor.book.balance(METER) == 10_000 * DOLLAR + 56 * CENT


def test_changes_whose_frames_were_lost_count() -> None:
    floor = chattering(1)
    floor.step(ev.BetSensed(3, 102, placed=True))
    floor.play(ev.NoMoreBets(DEALER), until=lambda d: isinstance(d, MeterPlay))
    assert floor.state.money.closed == mc.UNREASONABLE


@pytest.mark.parametrize("rate", [0, -5, 10_001])
def test_a_rate_that_no_bet_can_give_books_nothing(rate: int) -> None:
    floor = BettingTable("687a-progressive-1", bets=(3,))
    floor.play_to(mc.BETTING)
    floor.state.money.rate_bp = rate  # as a damaged state would have it
    before = floor.held()
    floor.play(ev.NoMoreBets(DEALER), until=lambda d: isinstance(d, MeterPlay))
    assert floor.state.money.closed == mc.UNREASONABLE
    assert floor.held() == before


def test_a_bet_at_a_seat_that_the_table_does_not_have_is_not_booked() -> None:
    slots: Any = {**IdealTable("face_up_pai_gow").slots, "bet_sensor.7": "bet_sensor"}
    floor = IdealTable("face_up_pai_gow", slots).start()
    floor.bets = {1, 7}
    floor.play(ev.OpenRound(DEALER), ev.NoMoreBets(DEALER), until=lambda d: isinstance(d, MeterPlay))
    assert set(floor.state.money.bets) == {1}
    assert floor.state.money.closed == mc.UNREASONABLE


# --- closed to play ---------------------------------------------------------------------------------------------------


def test_a_closed_meter_bars_opening_and_its_accounts_are_in_the_record() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.round()
    (play,) = decisions_of(MeterPlay, floor.step(close()))
    assert (play.open, play.cause, play.document, play.credentials) == (False, mc.BY_PEOPLE, "ML-7", ("F1", "A1"))
    assert play.accounts == {account: floor.book.balance(account) for account in ACCOUNTS}
    assert sum(play.accounts.values()) == 0
    assert floor.reasons_against_opening() == {"meter_closed"}
    assert "already closed" in refusal_text(floor.step(close()))
    floor.step(reopen())
    assert floor.reasons_against_opening() == set()
    assert "already open" in refusal_text(floor.step(reopen()))


def test_accounts_that_do_not_sum_to_zero_keep_the_meter_closed() -> None:
    floor = IdealTable("face_up_pai_gow").start()
    floor.step(close())
    floor.state.money.book.held[METER] += 1
    for event in (reopen(), change()):
        assert "do not sum to zero" in refusal_text(floor.step(event))
    assert floor.state.money.closed == mc.BY_PEOPLE


def test_a_closed_meter_stays_closed_over_a_restart() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.step(close())
    again = Table(floor.edition, floor.table.context.submission, floor.slots)
    again.restore(floor.table.snapshot())
    again.step(ev.BoxStarted(2))
    assert again.state.money.closed == mc.BY_PEOPLE


# --- parameters -------------------------------------------------------------------------------------------------------


def another_rate(floor: BettingTable, rate_bp: int) -> None:
    """Continue the table under a Rules Submission with another rate, as an edited table.toml does."""
    from msgspec.structs import replace

    submission = replace(floor.table.context.submission, progressive_rate_bp=rate_bp)
    floor.table = Table(floor.edition, submission, floor.slots, state=floor.state)


def set_rate(rate_bp: int, submission: str = "RS-2027/3") -> ev.Event:
    return ev.MeterParameters("MP-7", TECH, AUDITOR, rate_bp=rate_bp, submission=submission)


def test_a_rate_changes_only_with_the_rules_submission_and_with_the_meter_closed() -> None:
    floor = BettingTable("687a-progressive-1", bets=(3,))
    floor.round()
    assert floor.book.balance(METER) == 2_000 * DOLLAR + 15 * CENT
    another_rate(floor, 2_050)
    assert floor.reasons_against_opening() == {"rate_differs"}
    (refusal,) = decisions_of(RequestRefused, floor.step(set_rate(2_050)))
    assert [reason.key for reason in refusal.reasons] == ["meter_not_closed"]
    floor.step(close())
    assert "name the Rules Submission" in refusal_text(floor.step(set_rate(2_050, "")))
    assert "can be set: 2050" in refusal_text(floor.step(set_rate(2_000)))
    (event,) = decisions_of(MeterSet, floor.step(set_rate(2_050)))
    assert (event.rate_bp, event.document, event.credentials) == (2_050, "MP-7", ("T1", "A1"))
    assert (event.submission, sum(event.accounts.values())) == ("RS-2027/3", 0)
    assert event.accounts[METER] == floor.book.balance(METER)
    floor.step(reopen())
    floor.round()
    assert floor.book.balance(METER) == 2_000 * DOLLAR + 15 * CENT + 205_000


def test_another_rate_in_the_configuration_moves_no_cent_by_itself() -> None:
    floor = BettingTable("687a-progressive-1", bets=(3,))
    another_rate(floor, 2_050)
    assert floor.table.context.meter is not None
    assert floor.table.context.meter.rate_bp == 1_500
    (refusal,) = decisions_of(RequestRefused, floor.step(ev.OpenRound(DEALER)))
    assert [reason.key for reason in refusal.reasons] == ["rate_differs"]


def test_a_limit_is_set_only_with_the_meter_closed() -> None:
    floor = BettingTable("688a-progressive-1")
    (refusal,) = decisions_of(RequestRefused, floor.step(change()))
    assert [reason.key for reason in refusal.reasons] == ["meter_not_closed"]
    assert floor.state.money.limit is None


def test_an_unreasonable_contribution_is_no_closing_by_people() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.state.money.closed = mc.UNREASONABLE
    (refusal,) = decisions_of(RequestRefused, floor.step(change()))
    assert [reason.key for reason in refusal.reasons] == ["meter_not_closed"]


# --- signs ------------------------------------------------------------------------------------------------------------


@pytest.mark.clauses("688a.2(d)")
@pytest.mark.parametrize("cause", ["stale", "PB-498", "gone"])
def test_no_round_opens_while_no_sign_shows_the_meter(cause: str) -> None:
    floor = BettingTable("688a-progressive-1")
    (finding,) = findings(floor.step(ev.SignShown("/sign", cause)), "meter_not_seen")
    assert cause in finding.text
    (refusal,) = decisions_of(RequestRefused, floor.step(ev.OpenRound(DEALER)))
    (reason,) = refusal.reasons
    assert (reason.key, reason.clears) == ("meter_not_seen", "floorperson")
    assert cause in reason.evidence
    assert findings(floor.step(ev.SignShown("/sign")), "meter_seen")
    assert floor.reasons_against_opening() == set()


def test_one_good_sign_is_enough_and_a_device_must_be_in_service() -> None:
    slots: Any = {**IdealTable("face_up_pai_gow").slots, "meter_sign.1": "meter_sign"}
    floor = IdealTable("face_up_pai_gow", slots).start()
    floor.step(ev.SignShown("/sign", "stale"))
    assert floor.reasons_against_opening() == set()
    floor.step(ev.SlotChanged("meter_sign.1", "fault"))
    assert "meter_not_seen" in floor.reasons_against_opening()
    floor.step(ev.SignShown("meter_sign.1"))  # its display is right again, but it is not returned to service
    assert "meter_not_seen" in floor.reasons_against_opening()
    floor.step(ev.SlotOrdered("meter_sign.1", "clear", TECH))
    floor.play(ev.SlotOrdered("meter_sign.1", "acknowledge", FLOOR))
    assert floor.reasons_against_opening() == set()
    assert findings(floor.step(ev.SlotChanged("meter_sign.1", "vanish")), "meter_not_seen")
    assert floor.reasons_against_opening() == {"meter_not_seen"}
    floor.play(ev.SlotChanged("meter_sign.1", "appear"), ev.SlotChanged("meter_sign.1", "verify"))
    assert floor.reasons_against_opening() == {"meter_not_seen"}, "it is back, and has shown nothing yet"
    floor.step(ev.SignShown("meter_sign.1"))
    assert floor.reasons_against_opening() == set()


def test_a_page_somewhere_does_not_stand_for_a_sign_of_the_table_that_shows_a_wrong_amount_or_nothing() -> None:
    """An attempt to bypass the rule: a browser reports the right amount while the table's sign shows a wrong one."""
    slots: Any = {**IdealTable("face_up_pai_gow").slots, "meter_sign.1": "meter_sign"}
    floor = IdealTable("face_up_pai_gow", slots).start()
    for event in (ev.SignShown("meter_sign.1", "PB-498"), ev.SignShown("meter_sign.1", "stale")):
        assert findings(floor.step(event), "meter_not_seen")
        floor.step(ev.SignShown("/sign"))
        assert floor.reasons_against_opening() == {"meter_not_seen"}
        (reason,) = floor.table.permit("open_bets", deck="blue")
        assert event.cause in reason.evidence
        assert findings(floor.step(ev.SignShown("meter_sign.1")), "meter_seen")
        assert floor.reasons_against_opening() == set()
    floor.step(ev.SlotChanged("meter_sign.1", "vanish"))
    assert floor.reasons_against_opening() == {"meter_not_seen"}


def test_every_sign_of_the_table_shows_the_amount_and_not_one_of_two() -> None:
    slots: Any = {**IdealTable("face_up_pai_gow").slots, "meter_sign.1": "meter_sign", "meter_sign.2": "meter_sign"}
    floor = IdealTable("face_up_pai_gow", slots).start()
    assert floor.reasons_against_opening() == set()
    floor.step(ev.SignShown("meter_sign.2", "PB-498"))
    assert floor.reasons_against_opening() == {"meter_not_seen"}


def test_the_page_takes_the_place_of_a_sign_that_is_out_of_order_and_covered() -> None:
    slots: Any = {**IdealTable("face_up_pai_gow").slots, "meter_sign.1": "meter_sign"}
    floor = IdealTable("face_up_pai_gow", slots).start()
    floor.step(ev.SlotOrdered("meter_sign.1", "give_up", FLOOR))
    assert floor.reasons_against_opening() >= {"dead_device_unsigned", "meter_not_seen"}, (
        "it may still show a wrong amount"
    )
    floor.clear_holds()
    floor.step(ev.SlotOrdered("meter_sign.1", "sign", FLOOR))
    assert floor.state.slots["meter_sign.1"].state == SIGNED
    assert floor.reasons_against_opening() == set()
    floor.step(ev.SignShown("/sign", "stale"))
    assert floor.reasons_against_opening() == {"meter_not_seen"}


def test_a_start_of_the_box_knows_of_no_sign() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.step(ev.BoxStarted(2))
    assert "meter_not_seen" in floor.reasons_against_opening()


def test_a_round_that_is_open_goes_on_when_its_sign_is_lost() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.play_to(mc.BETTING)
    floor.step(ev.SignShown("/sign", "stale"))
    floor.play(ev.NoMoreBets(DEALER))
    assert floor.phase == mc.IDLE
    assert floor.book.balance(METER) == 10_000 * DOLLAR + 56 * CENT


def test_a_table_without_a_meter_needs_no_sign() -> None:
    assert IdealTable("saigon_5_card").start().reasons_against_opening() == set()


@pytest.mark.parametrize("sign", ["shoe.1", "meter_sign.1"])
def test_a_device_that_is_no_sign_shows_nothing(sign: str) -> None:
    floor = BettingTable("688a-progressive-1")
    assert "no meter sign" in refusal_text(floor.step(ev.SignShown(sign)))
    assert sign not in floor.state.signs


# --- amounts and limits -----------------------------------------------------------------------------------------------


def test_no_correction_takes_more_than_the_account_holds() -> None:
    floor = BettingTable("688a-progressive-1")
    assert "below zero" in refusal_text(floor.step(correct(amount=-10_001 * DOLLAR)))
    assert floor.book.balance(METER) == 10_000 * DOLLAR


def test_a_reset_brings_the_meter_to_its_seed() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.round()
    assert floor.book.balance(METER) == 10_000 * DOLLAR + 56 * CENT
    (booked,) = decisions_of(Booked, floor.step(reset()))
    assert (booked.entry.kind, booked.entry.meter_after) == ("reset", 10_000 * DOLLAR)


@pytest.mark.parametrize("phase", [mc.BETTING, mc.NO_MORE_BETS, mc.DEALING, mc.PLAYING, mc.SETTLING])
def test_nobody_touches_the_meter_while_bets_are_open_or_unsettled(phase: str) -> None:
    floor = BettingTable("688a-progressive-1")
    floor.play_to(phase)
    before = floor.held()
    deeds = (("correct_meter", correct()), ("reset_meter", reset()), ("change_meter", change()))
    more = (("close_meter", close()), ("open_meter", reopen()), ("transfer_overflow", transfer()))
    for act, event in (*deeds, *more):
        assert "meter_in_play" in floor.keys(act)
        (refusal,) = decisions_of(RequestRefused, floor.step(event))
        assert "meter_in_play" in [reason.key for reason in refusal.reasons]
    assert floor.held() == before
    assert floor.state.money.limit is None


def test_a_printed_rate_cannot_be_set() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.step(close())
    event = ev.MeterParameters("MP-7", TECH, AUDITOR, rate_bp=100)
    assert "prints the rate of progression (688a.12(d)/2)" in refusal_text(floor.step(event))


@pytest.mark.parametrize("rate", [0, -1, 10_001])
def test_a_rate_is_a_part_of_a_bet(rate: int) -> None:
    floor = BettingTable("687a-progressive-1")
    floor.step(close())
    assert "can be set: 1500" in refusal_text(floor.step(set_rate(rate)))


@pytest.mark.parametrize("limit", [999_999, 10**10])
def test_a_limit_is_not_below_what_is_there_and_not_above_what_the_sign_shows(limit: int) -> None:
    floor = BettingTable("688a-progressive-1")
    floor.step(close())
    assert "the limit must be" in refusal_text(floor.step(change(limit=limit)))


def test_a_meter_is_seeded_by_the_first_step_that_is_not_refused() -> None:
    floor = IdealTable("face_up_pai_gow")
    (refusal,) = decisions_of(RequestRefused, floor.step(correct()))
    assert "no seeded meter" in refusal.what
    assert floor.state.money.book.entries == 0
    (seed,) = decisions_of(Booked, floor.step(ev.SlotChanged("shoe.1", "appear")))
    assert seed.entry.kind == "seed"


def test_a_table_without_a_meter_has_nothing_to_touch() -> None:
    floor = IdealTable("saigon_5_card").start()
    for event in (correct(), reset(), change()):
        assert "no seeded meter" in refusal_text(floor.step(event))


# --- documents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", ["MC-7", " mc-7", "MC-7 "])
def test_a_document_moves_money_once_also_after_a_restart(again: str) -> None:
    floor = BettingTable("688a-progressive-1")
    floor.step(correct(amount=1_000_000))
    after = floor.book.meters.current
    floor.table.restore(floor.table.snapshot())
    for deed in (
        ev.MeterCorrected(5_000_000, again, FLOOR, AUDITOR, **GROUND), ev.MeterReset(again, FLOOR, AUDITOR, **GROUND),
        ev.OverflowTransferred(1, again, FLOOR, AUDITOR),
    ):  # fmt: skip
        (result,) = decisions_of(RequestRefused, floor.step(deed))
        assert "was used before; each document is used once" in result.what
    assert floor.book.meters.current == after
    floor.step(ev.MeterCorrected(5_000_000, "MC-8", FLOOR, AUDITOR, **GROUND))
    assert floor.book.meters.current == after + 5_000_000


def test_a_refused_adjustment_does_not_use_up_its_document() -> None:
    floor = BettingTable("688a-progressive-1")
    floor.step(correct(amount=-(10**15)))
    assert floor.book.documents == []
    floor.step(correct(amount=1_000_000))
    assert floor.book.documents == ["mc-7"]


@pytest.mark.parametrize(
    ("text", "signed", "amount"),
    [
        ("+12.50", True, 12_500_000), ("-0.01", True, -10_000), ("+10,043.764500", True, 10_043_764_500),
        ("12.50", False, 12_500_000), ("$1,000.00", False, 1_000_000_000), ("+$5.00", True, 5_000_000),
    ],
)  # fmt: skip
def test_amounts_are_read_as_people_write_them(text: str, signed: bool, amount: int) -> None:
    assert parse_dollars(text, signed=signed) == amount


@pytest.mark.parametrize(
    ("text", "signed"),
    [
        ("100", True), ("+100", True), ("12.50", True), ("+12.5", True), ("+1.2345678", True), ("ten", True),
        ("", True), ("+12.50", False), ("-1.00", False), ("1e3", False), ("+1,00.00", True), ("+ 1.00", True),
        ("\u0663.\u0660\u0660", False),
    ],
)  # fmt: skip
def test_an_amount_that_could_mean_something_else_is_refused(text: str, signed: bool) -> None:
    with pytest.raises(ValueError, match="write dollars and cents"):
        parse_dollars(text, signed=signed)
