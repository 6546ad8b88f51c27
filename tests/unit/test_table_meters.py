"""What people do to the meter by hand: who may, with what, and never while bets are open."""

from __future__ import annotations

import pytest

from table_controller.ledger.money import CENT, CORRECTIONS, DOLLAR, METER
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.decisions import Booked, MeterSet, Refused
from tests.support.core import AUDITOR, DEALER, FLOOR, TECH, Floor, findings, of, refused
from tests.support.hits import BettingFloor

PEOPLE = (DEALER, FLOOR, TECH, AUDITOR)


def correct(who: ev.Person = FLOOR, second: ev.Person = AUDITOR, amount: int = DOLLAR) -> ev.Event:
    return ev.MeterCorrected(amount, "MC-7", who, second)


def reset(who: ev.Person = FLOOR, second: ev.Person = AUDITOR) -> ev.Event:
    return ev.MeterReset("MR-7", who, second)


def change(who: ev.Person = TECH, second: ev.Person = AUDITOR, limit: int = 5_000_000) -> ev.Event:
    return ev.MeterParameters("MP-7", who, second, limit_cents=limit)


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("second", PEOPLE)
def test_each_deed_has_its_own_two_credentials(who: ev.Person, second: ev.Person) -> None:
    by_floor = (who, second) == (FLOOR, AUDITOR)
    by_tech = (who, second) == (TECH, AUDITOR)
    for make, allowed in ((correct, by_floor), (reset, by_floor), (change, by_tech)):
        floor = BettingFloor("688a-progressive-1")
        decisions = floor.step(make(who, second))
        assert bool(of(Refused, decisions)) is not allowed
        if not allowed:
            assert "credential" in refused(decisions)
            assert floor.book.entries == 1


def test_two_roles_of_one_credential_are_one_person() -> None:
    floor = BettingFloor("688a-progressive-1")
    same = ev.Person("auditor", FLOOR.credential)
    assert "one person" in refused(floor.step(correct(second=same)))
    two_badges = ev.Person("auditor", "A7", person="f1")
    assert "one person" in refused(floor.step(correct(second=two_badges)))


@pytest.mark.parametrize("event", [ev.MeterCorrected(1, " ", FLOOR, AUDITOR), ev.MeterReset("", FLOOR, AUDITOR)])
def test_without_a_document_nothing_is_done(event: ev.Event) -> None:
    assert "document" in refused(BettingFloor("688a-progressive-1").step(event))


def test_a_correction_is_booked_with_its_document_and_its_people() -> None:
    floor = BettingFloor("688a-progressive-1")
    decisions = floor.step(correct(amount=-3 * DOLLAR))
    (booked,) = of(Booked, decisions)
    assert (booked.entry.kind, booked.entry.document) == ("correction", "MC-7")
    assert (floor.book.at(METER), floor.book.at(CORRECTIONS)) == (9_997 * DOLLAR, 3 * DOLLAR)
    (found,) = findings(decisions, "meter_corrected")
    assert found.text == "from $10,000.00 to $9,997.00 by F1 and A1, MC-7"


def test_no_correction_takes_what_is_not_there() -> None:
    floor = BettingFloor("688a-progressive-1")
    assert "cannot pay" in refused(floor.step(correct(amount=-10_001 * DOLLAR)))
    assert floor.book.at(METER) == 10_000 * DOLLAR


def test_a_reset_brings_the_meter_to_its_seed() -> None:
    floor = BettingFloor("688a-progressive-1")
    floor.round()
    assert floor.book.at(METER) == 10_000 * DOLLAR + 56 * CENT
    (booked,) = of(Booked, floor.step(reset()))
    assert (booked.entry.kind, booked.entry.meter_after) == ("reset", 10_000 * DOLLAR)


@pytest.mark.parametrize("phase", [mc.BETTING, mc.NO_MORE_BETS, mc.DEALING, mc.PLAYING, mc.SETTLING])
def test_nobody_touches_the_meter_while_bets_are_open_or_unsettled(phase: str) -> None:
    floor = BettingFloor("688a-progressive-1")
    floor.to(phase)
    before = floor.held()
    for act, event in (("correct_meter", correct()), ("reset_meter", reset()), ("change_meter", change())):
        assert floor.keys(act) == {"meter_in_play"}
        (said,) = of(Refused, floor.step(event))
        assert [reason.key for reason in said.reasons] == ["meter_in_play"]
    assert floor.held() == before
    assert floor.state.money.limit is None


def test_a_printed_rate_cannot_be_set() -> None:
    floor = BettingFloor("688a-progressive-1")
    event = ev.MeterParameters("MP-7", TECH, AUDITOR, rate_bp=100)
    assert "printed (688a.12(d)/2)" in refused(floor.step(event))


@pytest.mark.parametrize("rate", [0, -1, 10_001])
def test_a_rate_is_a_part_of_a_bet(rate: int) -> None:
    floor = BettingFloor("687a-progressive-1")
    assert "a rate is" in refused(floor.step(ev.MeterParameters("MP-7", TECH, AUDITOR, rate_bp=rate)))


def test_an_open_rate_is_set_between_rounds_and_holds_for_the_next_bets() -> None:
    floor = BettingFloor("687a-progressive-1", bets=(3,))
    floor.round()
    assert floor.book.at(METER) == 2_000 * DOLLAR + 15 * CENT
    (told,) = of(MeterSet, floor.step(ev.MeterParameters("MP-7", TECH, AUDITOR, rate_bp=2_050)))
    assert (told.rate_bp, told.document, told.credentials) == (2_050, "MP-7", ("T1", "A1"))
    floor.round()
    assert floor.book.at(METER) == 2_000 * DOLLAR + 15 * CENT + 205_000


def test_a_limit_holds_the_meter_and_the_rest_waits_for_the_next_seed() -> None:
    floor = BettingFloor("688a-progressive-1", bets=(1, 3))
    floor.step(change(limit=1_000_030))
    floor.round()
    meters = floor.book.meters
    assert (meters.current, meters.reserve) == (10_000 * DOLLAR + 30 * CENT, 26 * CENT)


@pytest.mark.parametrize("limit", [999_999, 10**10])
def test_a_limit_is_not_below_what_is_there_and_not_above_what_the_sign_shows(limit: int) -> None:
    floor = BettingFloor("688a-progressive-1")
    assert "a limit is" in refused(floor.step(change(limit=limit)))


def test_a_meter_is_seeded_by_the_first_step_that_is_not_refused() -> None:
    floor = Floor("face_up_pai_gow")
    (said,) = of(Refused, floor.step(correct()))
    assert "none that was seeded" in said.what
    assert floor.state.money.book.entries == 0
    (seed,) = of(Booked, floor.step(ev.SlotChanged("shoe.1", "appear")))
    assert seed.entry.kind == "seed"


def test_a_table_without_a_meter_has_nothing_to_touch() -> None:
    floor = Floor("saigon_5_card").start()
    for event in (correct(), reset(), change()):
        assert "no meter" in refused(floor.step(event))
