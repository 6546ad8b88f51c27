"""The DJ Wild progressive at the table, without money: Start Game, lock-out, lights, chips, replacement card."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Deadline
from tests.support.core.chapters import METHODS, ignore, open_prompt_kinds, reasons_by_key, table, wild
from tests.support.core.ideal_table import (
    DEALER,
    FLOOR,
    WILD_PROGRESSIVE,
    IdealTable,
    commanded_acts,
    decisions_of,
    findings,
    refusal_text,
)
from tests.support.suite.clauses import clauses

LOCKOUT = {"manual_shoe": "687a.8(c)", "hand": "687a.9(b)/2", "automated_shoe": "687a.10(a)(2)"}
REPLACED = {"manual_shoe": "687a.8(e)/1", "hand": "687a.9(e)/1", "automated_shoe": "687a.10(c)/3"}


def each_method(clause: dict[str, str], *more: str) -> pytest.MarkDecorator:
    """Run a test for every dealing method as `dealing`; each case names its clause."""
    return pytest.mark.parametrize(
        "dealing", [pytest.param(name, id=name, marks=clauses(clause[name], *more)) for name in METHODS]
    )


def opened(dealing: str, *bets: int) -> IdealTable:
    """Return a table with open bets and chips on the sensors of these seats."""
    floor = wild(dealing).start().play_to(mc.BETTING)
    floor.bets = set(bets)
    for seat in bets:
        floor.step(ev.BetSensed(seat, 1, placed=True))
    return floor


# --- offered or not ---------------------------------------------------------------------------------------------------


@clauses("687a.1:Progressive Bonus wager")
def test_the_progressive_is_an_option_and_without_it_no_sensor_is_opened() -> None:
    floor = table("dj_wild").start()
    floor.round()
    commands = [c.slot for _, decided in floor.log for c in decisions_of(Command, decided)]
    assert not any(slot.startswith("bet_sensor") for slot in commands)
    floor = wild().start().play_to(mc.BETTING)
    sensors = [c.slot for _, decided in floor.log for c in decisions_of(Command, decided) if c.act == "open_bets"]
    assert sensors == [f"bet_sensor.{seat}" for seat in range(1, 7)]
    floor.play(ev.NoMoreBets(DEALER))
    assert floor.round_.number == 1
    assert floor.phase == mc.IDLE, "a round without a progressive bet is played like any other"


@clauses("687a.1:Progressive Bonus wager")
def test_until_the_text_gaps_are_filled_the_progressive_is_not_offered() -> None:
    with pytest.raises(BadSubmission) as caught:
        check_submission(edition("dj_wild"), {"adjacent_boxes": 1, "wagers": ["progressive"]})
    message = " ".join(caught.value.objections)
    for reading in ("W10", "W11", "W14", "W21"):
        assert reading in message


@clauses("687a.1:Progressive Bonus wager", "687a.7(c)")
def test_a_bet_is_made_before_the_deal_and_may_be_taken_back_until_the_latch() -> None:
    floor = opened("automated_shoe", 1, 3)
    floor.step(ev.BetSensed(3, 2, placed=False))
    floor.bets = {1}
    floor.play(ev.NoMoreBets(DEALER), until=lambda _: floor.state.progressive.state == mc.BETS_LOCKED)
    assert floor.state.progressive.accepted == [1], "what lies there at the latch counts"
    floor.step(ev.BetSensed(3, 3, placed=True))
    floor.step(ev.LateBet(3))
    assert floor.state.progressive.accepted == [1], "and nothing that is laid later"


# --- the lock-out -----------------------------------------------------------------------------------------------------


@each_method(LOCKOUT, "687a.7(c)")
def test_the_call_locks_every_sensor_in_the_same_step_and_a_late_chip_goes_back(dealing: str) -> None:
    floor = opened(dealing, 1, 3)
    decided = floor.step(ev.NoMoreBets(DEALER))
    locks = [c for c in decisions_of(Command, decided) if c.act == "lock"]
    assert [(c.slot, c.safe, c.number) for c in locks] == [(f"bet_sensor.{seat}", True, 1) for seat in range(1, 7)]
    assert [d.timer for d in decisions_of(Deadline, decided)] == ["lock"]
    for lock in locks:
        seat = int(lock.slot[-1])
        floor.step(ev.SeatLatched(seat, 1, lock.id, 1, seat in floor.bets))
    floor.step(ev.BetSensed(5, 9, placed=True))
    late = floor.step(ev.LateBet(5))
    assert findings(late, "late_bet")[0].text.startswith("seat 5")
    assert floor.state.progressive.accepted == [1, 3], "no bet comes in after the latch"
    (chip,) = floor.prompts("late_chip")
    assert (chip.role, chip.seat, chip.choices, chip.clauses) == ("dealer", 5, ("returned",), (LOCKOUT[dealing],))
    assert "bets_latched" in floor.keys("unlock")


@each_method(LOCKOUT)
def test_start_game_lights_the_bets_and_the_chips_are_collected_before_any_card(dealing: str) -> None:
    floor = ignore(opened(dealing, 1, 3), "start_game", "chips")
    floor.play(ev.NoMoreBets(DEALER))
    key = floor.prompt("start_game")
    assert (open_prompt_kinds(floor), key.role, key.clauses) == (["start_game"], "dealer", (LOCKOUT[dealing],))
    assert "light" not in [act for _, decided in floor.log for act in commanded_acts(decided)], "not before the key"
    before = len(floor.log)
    floor.play(ev.Answer(key.id, "done", DEALER))
    lit = [c for _, decided in floor.log[before:] for c in decisions_of(Command, decided) if c.act == "light"]
    assert [c.slot for c in lit] == ["bet_sensor.1", "bet_sensor.3"]
    assert (open_prompt_kinds(floor), floor.prompt("chips").clauses) == (["chips"], (LOCKOUT[dealing],))
    assert (floor.phase, floor.round_.dealt) == (mc.NO_MORE_BETS, 0)
    if dealing != "hand":
        act = "dispense" if dealing == "automated_shoe" else "start_round"
        assert reasons_by_key(floor, act, "shoe.1", "blue", cards=5)["bets_not_verified"] == LOCKOUT[dealing]
    floor.play(*floor.answer(floor.prompt("chips")), until=lambda _: floor.phase == mc.PLAYING)
    assert (floor.state.progressive.state, floor.round_.dealt) == (mc.VERIFIED, 20)


@each_method(LOCKOUT)
def test_without_a_bet_on_any_sensor_there_is_no_key_to_press(dealing: str) -> None:
    floor = opened(dealing)
    floor.play(ev.NoMoreBets(DEALER), until=lambda _: floor.phase == mc.PLAYING)
    kinds = [getattr(d, "kind", None) for _, decided in floor.log for d in decided]
    assert not {"start_game", "chips"} & set(kinds)
    assert "light" not in [act for _, decided in floor.log for act in commanded_acts(decided)]
    assert floor.round_.dealt == 20


@each_method(LOCKOUT)
def test_a_sensor_that_does_not_confirm_keeps_the_cards_back_until_the_floorperson_decides(dealing: str) -> None:
    floor = opened(dealing, 1, 3)
    floor.override = lambda d: (
        [] if isinstance(d, Command) and d.act == "lock" and d.slot == "bet_sensor.3" else None
    )  # fmt: skip
    floor.play(ev.NoMoreBets(DEALER))
    assert (floor.phase, floor.round_.dealt, open_prompt_kinds(floor)) == (mc.NO_MORE_BETS, 0, [])
    floor.step(ev.Due("lock"))
    undecided = floor.prompt("seat_undecided")
    assert (undecided.role, undecided.seat, undecided.clauses) == ("floorperson", 3, (LOCKOUT[dealing],))
    assert "the floorperson must answer this" in refusal_text(floor.step(ev.Answer(undecided.id, "bet", DEALER)))
    floor.play(ev.Answer(undecided.id, "no_bet", FLOOR), until=lambda _: floor.phase == mc.PLAYING)
    assert floor.state.progressive.accepted == [1]


@each_method(LOCKOUT)
def test_with_a_sensor_out_of_service_no_bets_are_opened(dealing: str) -> None:
    floor = wild(dealing).start()
    floor.step(ev.SlotChanged("bet_sensor.4", "vanish"))
    assert reasons_by_key(floor, deck="blue") == {"sensor_missing": LOCKOUT[dealing]}
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"


@each_method(LOCKOUT)
def test_no_light_burns_for_a_seat_whose_bet_was_not_latched(dealing: str) -> None:
    floor = ignore(opened(dealing, 1), "start_game")
    floor.play(ev.NoMoreBets(DEALER))
    assert reasons_by_key(floor, "light", "bet_sensor.2", seat=2) == {
        "not_latched": LOCKOUT[dealing],
        "not_booked": "687a.12(c)/1",
    }
    assert "not_latched" not in reasons_by_key(floor, "light", "bet_sensor.1", seat=1)


# --- the replacement card ---------------------------------------------------------------------------------------------


@each_method(REPLACED)
@pytest.mark.parametrize("bet", [True, False])
def test_one_card_is_laid_aside_for_the_joker_and_belongs_to_the_sum(dealing: str, bet: bool) -> None:
    floor = opened(dealing, *((3,) if bet else ()))
    ignore(floor, "replacement")
    floor.play(ev.NoMoreBets(DEALER))
    expected = bet or dealing != "automated_shoe"  # offered, or registered where the section requires it (W9)
    assert ("replacement" in open_prompt_kinds(floor)) is expected
    if not expected:
        assert floor.phase == mc.IDLE
        return
    prompt = floor.prompt("replacement")
    assert (floor.phase, prompt.role, prompt.clauses[0]) == (mc.STUB_CHECK, "dealer", REPLACED[dealing])
    floor.play(ev.Answer(prompt.id, "done", DEALER), until=lambda _: floor.phase == mc.PLAYING)
    assert floor.state.book.held["blue"] == {"seats": 20, "replacement": 1, "rack": 32}


@each_method(REPLACED)
def test_a_table_without_the_progressive_lays_no_card_aside(dealing: str) -> None:
    floor = table("dj_wild", dealing).start()
    floor.play_to(mc.PLAYING)
    assert floor.state.book.held["blue"] == {"seats": 20, "rack": 33}


@clauses("687a.10(c)/2", "687a.10(c)/3")
def test_from_an_automated_shoe_the_rest_is_taken_in_hand_before_the_card_is_laid_aside() -> None:
    floor = opened("automated_shoe", 3)
    floor.override = lambda d: (
        [] if getattr(d, "kind", None) == "replacement" or getattr(d, "act", None) == "give_stub" else None
    )  # fmt: skip
    floor.play(ev.NoMoreBets(DEALER))
    assert (floor.phase, open_prompt_kinds(floor)) == (mc.STUB_CHECK, []), "the shoe is emptied first"
    floor.step(ev.StubOut("shoe.1", 33))
    assert floor.prompt("replacement").clauses == ("687a.10(c)/3", "687a.10(c)/2")
    assert floor.state.book.balance("blue", "stub") == 33


@pytest.mark.parametrize(
    "dealing",
    [
        pytest.param("manual_shoe", marks=clauses("687a.8(f)")),
        pytest.param("hand", marks=clauses("687a.9(e)#2")),
        pytest.param("automated_shoe", marks=clauses("687a.10(e)")),
    ],
)
def test_hands_replacement_card_and_stub_make_53(dealing: str) -> None:
    floor = wild(dealing, **WILD_PROGRESSIVE, shuffler_counts=False).start()
    floor.bets = {3}
    for _ in range(4):
        floor.round()
    ignore(floor, "stub").play_to(mc.BETTING)
    floor.play(ev.NoMoreBets(DEALER))
    floor.answer_prompt("stub", number=33)
    again = "stub_recount" if dealing == "automated_shoe" else "stub"
    assert (open_prompt_kinds(floor), floor.phase) == ([again], mc.STUB_CHECK), (
        "33 without the card that was laid aside"
    )
    floor.count_stub(32)
    assert (floor.phase, floor.state.holds) == (mc.PLAYING, {})
