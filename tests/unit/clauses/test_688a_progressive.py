"""688a.2(d) and the lock-out of 688a.8 to 688a.10: sensors, latch, chips, lammers; no meter, no hits."""

from __future__ import annotations

from typing import Any

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Deadline, Prompt, RequestRefused
from tests.support.core.ideal_table import (
    DEALER,
    FLOOR,
    IdealTable,
    commanded_acts,
    decisions_of,
    findings,
    refusal_text,
)
from tests.support.core.two_games import ALL_WAGERS, METHODS, PAI_GOW, each_progressive, leave_unanswered, make_table
from tests.support.suite.clauses import clauses

SECTIONS = dict(zip(METHODS, ("688a.8(b)", "688a.9(a)(3)", "688a.10(a)(2)"), strict=True))
LOCKS = dict(zip(METHODS, ("688a.8(b)(2)", "688a.9(a)(3)(ii)", "688a.10(a)(2)(ii)"), strict=True))
LAMMERS = dict(zip(METHODS, ("688a.8(b)(1)", "688a.9(a)(3)(i)", "688a.10(a)(2)(i)"), strict=True))


def table_of(method: str = "automated_shoe", *stops: str, **choices: Any) -> IdealTable:
    """Return a table with every side wager; the named questions stay unanswered."""
    table = make_table(PAI_GOW, method, **ALL_WAGERS | choices)
    table.override = leave_unanswered(*stops)
    return table.start("blue")


# --- the system -------------------------------------------------------------------------------------------------------


@clauses("688a.2(d)(1)")
def test_the_progressive_needs_a_sensor_in_service_at_every_seat() -> None:
    table = table_of()
    assert not table.reasons_against_opening()
    table.play(ev.SlotChanged("bet_sensor.4", "vanish"))
    (no,) = decisions_of(RequestRefused, table.step(ev.OpenRound(DEALER)))
    assert [(reason.key, reason.clause) for reason in no.reasons] == [("sensor_missing", "688a.2(d)(1)")]
    table.play(ev.SlotChanged("bet_sensor.4", "appear"), ev.SlotChanged("bet_sensor.4", "verify"))
    assert not table.reasons_against_opening()
    del table.state.slots["bet_sensor.6"]
    assert table.reasons_against_opening() == {"sensor_missing"}, "a seat without any sensor"
    without = make_table(PAI_GOW).start("blue")
    assert not without.reasons_against_opening(), "where it is not offered, none is needed"


@clauses("688a.2(d)(1)")
def test_a_bet_counts_when_its_sensor_has_confirmed_it_and_then_its_light_burns() -> None:
    table = table_of("automated_shoe", "chips")
    table.bets = {2, 5}
    table.seats = (2, 5)
    decided = table.round()
    assert table.state.progressive.accepted == [2, 5]
    lit = [c.slot for c in decisions_of(Command, decided) if c.act == "light"]
    assert lit == ["bet_sensor.2", "bet_sensor.5"]
    assert "not_latched" in table.keys("light", "bet_sensor.1", seat=1)


# --- lock-out ---------------------------------------------------------------------------------------------------------


@each_progressive("688a.8(b)(2)/1 688a.2(d)(2)", "688a.9(a)(3)(ii)/1", "688a.10(a)(2)(ii)/1")
def test_every_sensor_is_locked_by_the_call_and_nothing_goes_on_without_its_confirmation(method: str) -> None:
    table = table_of(method)
    table.play(ev.OpenRound(DEALER))
    decided = table.step(ev.NoMoreBets(DEALER))
    locks = [c for c in decisions_of(Command, decided) if c.act == "lock"]
    assert [(c.slot, c.safe) for c in locks] == [(f"bet_sensor.{seat}", True) for seat in range(1, 7)]
    assert Deadline("lock", 2.0) in decided
    table.answer_prompt("seats")
    for command in locks[:-1]:
        for event in table.answer(command):
            table.step(event)
    assert (table.phase, table.state.progressive.state) == (mc.NO_MORE_BETS, mc.LOCKING)
    reasons = {reason.key: reason.clause for reason in table.table.permit("arm_dice", "shaker.1", "blue")}
    assert reasons["bets_not_verified"] == f"{LOCKS[method]}/1"
    table.step(ev.Due("lock"))
    asked = table.prompt("seat_undecided")
    assert (asked.seat, asked.role, asked.choices) == (6, "floorperson", ("bet", "no_bet"))
    assert asked.clauses == (f"{LOCKS[method]}/1", "688a.2(d)(2)")
    late = table.step(ev.SeatLatched(6, 1, locks[-1].id, 1, bet=True))
    assert len(findings(late, "late_latch")) == 1
    assert table.state.progressive.state == mc.LOCKING, "a person decides now"
    table.answer_prompt("seat_undecided", "no_bet", who=FLOOR)
    assert table.state.progressive.state == mc.VERIFIED


@each_progressive("688a.8(b)(2)/1", "688a.9(a)(3)(ii)/1", "688a.10(a)(2)(ii)/1")
def test_a_confirmation_of_another_lock_locks_nothing(method: str) -> None:
    table = table_of(method)
    table.play(ev.OpenRound(DEALER))
    locks = {c.slot: c.id for c in decisions_of(Command, table.step(ev.NoMoreBets(DEALER))) if c.act == "lock"}
    for round_, lock in ((1, locks["bet_sensor.2"]), (2, locks["bet_sensor.1"])):
        decided = table.step(ev.SeatLatched(1, round_, lock, 1, bet=True))
        assert len(findings(decided, "late_latch")) == 1
        assert not table.state.progressive.seats[1].latched


@each_progressive("688a.8(b)(2)/2", "688a.9(a)(3)(ii)/2", "688a.10(a)(2)(ii)/2")
def test_as_many_chips_are_collected_as_bets_were_accepted(method: str) -> None:
    table = table_of(method, "chips")
    table.bets, table.seats = {1, 3}, (1, 3, 6)
    table.round()
    asked = table.prompt("chips")
    assert (asked.role, asked.number, asked.clauses) == ("dealer", True, (f"{LOCKS[method]}/2",))
    assert "bets_not_verified" in table.keys("arm_dice", "shaker.1", "blue")
    for chips in (1, 3):
        decided = table.answer_prompt("chips", number=chips)
        assert len(findings(decided, "chips_differ")) == 1
        assert table.state.progressive.state == mc.BETS_LOCKED
        assert set(table.hold("chips_differ").choices) == {"recount", "void"}, "there is no going on"
        table.answer_prompt("choose", "recount")
        table.answer_prompt("acknowledge")
        assert table.phase == mc.NO_MORE_BETS
    table.answer_prompt("chips", number=2)
    assert table.state.progressive.state == mc.VERIFIED


@each_progressive("688a.8(b)(2)/2", "688a.9(a)(3)(ii)/2", "688a.10(a)(2)(ii)/2")
def test_without_bets_no_chips_are_asked_for(method: str) -> None:
    table = table_of(method)
    decided = table.round()
    assert "chips" not in [p.kind for p in decisions_of(Prompt, decided)]
    assert table.round_.number == 1


# --- lammers ----------------------------------------------------------------------------------------------------------


@each_progressive("688a.8(b)(1)", "688a.9(a)(3)(i)", "688a.10(a)(2)(i)")
def test_a_lammer_is_laid_at_every_seat_with_a_qualifying_wager_before_the_deal(method: str) -> None:
    table = table_of(method, "lammers", "qualifying")
    table.bets, table.side = {1}, {"fortune": (3, 6)}
    decided = table.round()
    assert (table.phase, "arm_dice" in commanded_acts(decided)) == (mc.NO_MORE_BETS, False)
    asked = {p.seat: p for kind in ("lammers", "qualifying") for p in table.prompts(kind)}
    assert sorted(seat or 0 for seat in asked) == [1, 3, 6], "the seats come from the latched bets and the entries"
    assert asked[1].choices == ("laid",), "a bet of five dollars always qualifies"
    assert asked[3].choices == ("yes", "no"), "how large a Fortune Wager is, the dealer sees"
    assert asked[1].clauses == (LAMMERS[method],)
    assert asked[3].clauses == (LAMMERS[method], "688a.1:Qualifying Wager")
    for seat, choice in ((1, "laid"), (3, "yes"), (6, "no")):
        assert table.phase == mc.NO_MORE_BETS
        table.step(ev.Answer(asked[seat].id, choice, DEALER))
    assert table.round_.envy == [1, 3]
    assert table.phase == mc.STARTING_POSITION


@clauses("688a.8(b)(1)", "688a.10(a)(2)(i)")
@pytest.mark.parametrize(
    ("choices", "lammers"),
    [
        ({"paytables": ALL_WAGERS["paytables"] | {"progressive": "688a-progressive-1"}}, [3]),
        ({"settings": {"envy_wagers": "fortune"}}, [3]),
        ({"wagers": ["progressive"], "paytables": {"progressive": "688a-progressive-4"}}, [1]),
        ({"wagers": ["ace_high"], "paytables": {"ace_high": "688a-acehigh-1"}}, []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["manual_shoe", "automated_shoe"])
def test_which_wagers_open_envy(method: str, choices: dict[str, Any], lammers: list[int]) -> None:
    table = table_of(method, "lammers", "qualifying", **choices)
    table.bets, table.side = {1}, {"fortune": (3,)}
    table.round()
    assert [p.seat for p in (*table.prompts("lammers"), *table.prompts("qualifying"))] == lammers


@clauses("688a.8(b)(1)")
def test_where_the_least_fortune_wager_is_five_dollars_every_one_qualifies() -> None:
    table = table_of("manual_shoe", "lammers", least_wagers_cents={"fortune": 500})
    table.side = {"fortune": (3,)}
    table.round()
    assert table.prompt("lammers").choices == ("laid",)
    assert "is not an answer to this question" in refusal_text(table.answer_prompt("lammers", "no"))


@clauses("688a.1:Qualifying Wager")
@each_progressive("688a.8(b)(1)", "688a.9(a)(3)(i)", "688a.10(a)(2)(i)")
def test_no_card_is_dealt_before_every_qualifying_wager_is_answered_and_no_answer_is_a_yes(method: str) -> None:
    """688a.1: without a Qualifying Wager of at least $5 a seat has no envy; the journal keeps that as a finding."""
    table = table_of(method, "qualifying")
    table.side = {"fortune": (3, 6)}
    table.round()
    three, six = table.prompts("qualifying")
    assert {"seats_not_entered", "not_starting"} & table.keys("arm_dice", "shaker.1", "blue")
    assert "is not an answer to this question" in refusal_text(table.step(ev.Answer(three.id, "laid", DEALER)))
    assert "the dealer must answer this" in refusal_text(table.step(ev.Answer(three.id, "yes", FLOOR)))
    decided = table.step(ev.Answer(six.id, "no", DEALER))
    (finding,) = findings(decided, "not_qualifying")
    assert "seat 6, round 1: its wager is below $5" in finding.text
    assert table.phase == mc.NO_MORE_BETS, "seat 3 is open"
    assert table.round_.envy == []
    table.step(ev.Answer(three.id, "yes", DEALER))
    assert (table.phase, table.round_.envy) == (mc.STARTING_POSITION, [3])


@clauses("688a.8(b)(1)")
def test_where_the_amount_is_entered_it_decides_whether_a_wager_qualifies() -> None:
    table = table_of("manual_shoe", "qualifying", "lammers", "side_wagers/ace_high")
    table.side = {"fortune": (1, 3, 6)}
    table.round()
    table.round_.amounts["fortune"] = {1: 500, 3: 499}
    decided = table.answer_prompt("side_wagers/ace_high", "nobody")
    assert [finding.text[:6] for finding in findings(decided, "not_qualifying")] == ["seat 3"]
    assert [p.seat for p in table.prompts("lammers")] == [1]
    assert [p.seat for p in table.prompts("qualifying")] == [6], "only its amount is not known"
