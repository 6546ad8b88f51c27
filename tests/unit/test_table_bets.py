"""The life of a progressive bet in the core: latched, accepted with what it adds, lit, settled or returned."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from table_controller.ledger.money import BETS, CENT, DOLLAR, METER, RESERVE
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import (
    BetAccepted,
    BetReturned,
    BetSettled,
    Booked,
    Command,
    Decision,
    HitClaimed,
    StateChanged,
    WagersReturned,
)
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import DEALER, IdealTable, commanded_acts, decisions_of, findings
from tests.support.core.meters import PROGRESSIVES
from tests.support.suite.clauses import clauses

TABLES = [
    pytest.param(name, marks=clauses("688a.12(d)/2") if name.startswith("688a") else clauses("687a.12(c)/1"))
    for name in PROGRESSIVES
]


def accepted(floor: BettingTable) -> list[Decision]:
    """Open a round and call no more bets; return the decisions of the step in which the bets were accepted."""
    floor.play(ev.OpenRound(DEALER))
    there = lambda decision: isinstance(decision, BetAccepted)  # noqa: E731
    floor.play(ev.NoMoreBets(DEALER), until=there)
    return floor.log[-1][1]


def test_a_new_meter_is_seeded_by_an_entry_of_its_own() -> None:
    floor = BettingTable("688a-progressive-3")
    (seed,) = floor.entries()
    assert (seed.kind, seed.number, seed.meter_before, seed.meter_after) == ("seed", 1, 0, 2_000 * DOLLAR)


def test_a_table_without_a_progressive_books_nothing() -> None:
    floor = IdealTable("saigon_5_card").start("blue", "red")
    floor.round()
    assert not [each for _, decisions in floor.log for each in decisions_of(Booked, decisions)]
    assert floor.state.money.book.held == {}


@pytest.mark.parametrize("table", TABLES)
def test_every_accepted_bet_raises_the_meter_by_the_rate_and_the_reserve_by_its_own(table: str) -> None:
    floor = BettingTable(table, bets=(1, 3, 6))
    rules = floor.table.context.meter
    assert rules is not None
    decisions = accepted(floor)
    bets = decisions_of(BetAccepted, decisions)
    assert [(bet.seat, bet.round, bet.amount) for bet in bets] == [(seat, 1, rules.unit) for seat in (1, 3, 6)]
    assert floor.book.balance(METER) == rules.seed + 3 * rules.unit * rules.rate_bp // 10_000
    assert floor.book.balance(RESERVE) == 3 * rules.unit * rules.reserve_bp // 10_000
    assert floor.book.balance(BETS) == -3 * rules.unit


@clauses("688a.11(h)(4)(i)(B)(2)", "688a.2(d)(1)")
def test_bet_and_contribution_are_one_decision_and_the_light_follows_it_in_the_same_step() -> None:
    floor = BettingTable("688a-progressive-1", bets=(1, 2, 3, 4, 5, 6))
    floor.seats = (1, 2, 3, 4, 5, 6)
    decisions = accepted(floor)
    kinds = [(type(d).__name__, getattr(d, "act", "")) for d in decisions if isinstance(d, BetAccepted | Command)]
    assert kinds == [("BetAccepted", "")] * 6 + [("Command", "light")] * 6
    assert not any(d.safe for d in decisions_of(Command, decisions) if d.act == "light"), "a light waits for the disk"
    for bet in decisions_of(BetAccepted, decisions):
        assert sum(t.amount for t in bet.entry.transfers) == bet.amount == DOLLAR
        assert bet.entry.clauses == ("688a.12(d)/2",)


def test_a_light_is_not_permitted_before_its_bet_is_booked() -> None:
    floor = BettingTable("687a-progressive-1", bets=(1,))
    floor.play(ev.OpenRound(DEALER))
    floor.play(
        ev.NoMoreBets(DEALER),
        until=lambda d: isinstance(d, StateChanged) and d == StateChanged("progressive", "locked"),
    )
    assert floor.keys("light", "bet_sensor.1", seat=1) == {"not_booked"}  # latched, and Start Game was not pressed
    floor.answer_prompt("start_game")
    assert floor.keys("light", "bet_sensor.1", seat=1) == set()


def by(dealing: str) -> dict[str, Any]:
    """Return a table with this dealing method and its devices."""
    return {"dealing": dealing, "shuffler": "deck", "shuffler_counts": True, "two_decks": True}


def nothing_is_dealt(floor: BettingTable) -> bool:
    """Return whether the round is before its deal and nothing was dealt."""
    before = floor.phase == mc.NO_MORE_BETS and floor.round_.dealt == 0
    if floor.state.dealing == "automated_shoe":
        before = before and "bets_not_verified" in floor.keys("dispense", "shoe.1", floor.round_.deck, cards=5)
    return before and not floor.prompts("dealt")


@pytest.mark.parametrize(
    ("dealing", "clause"),
    [
        pytest.param("manual_shoe", "687a.8(c)", marks=clauses("687a.8(c)")),
        pytest.param("hand", "687a.9(b)/2", marks=clauses("687a.9(b)/2")),
        pytest.param("automated_shoe", "687a.10(a)(2)", marks=clauses("687a.10(a)(2)")),
    ],
)
def test_start_game_lights_and_collection_come_before_the_deal(dealing: str, clause: str) -> None:
    floor = BettingTable("687a-progressive-1", bets=(1, 6), **by(dealing))
    floor.play(ev.OpenRound(DEALER))
    floor.play(ev.NoMoreBets(DEALER), until=lambda d: d == StateChanged("progressive", "locked"))
    floor.answer_prompt("seats")
    assert floor.state.money.bets == {}
    assert floor.book.entries == 1
    assert floor.prompt("start_game").clauses[0] == clause
    assert nothing_is_dealt(floor)
    decisions = floor.answer_prompt("start_game")
    assert [bet.seat for bet in decisions_of(BetAccepted, decisions)] == [1, 6]
    assert commanded_acts(decisions) == ["light", "light"]
    assert nothing_is_dealt(floor)
    floor.answer_prompt("chips")
    assert floor.phase == mc.DEALING


@pytest.mark.parametrize(
    "dealing",
    [
        pytest.param("manual_shoe", marks=clauses("688a.8(b)(2)/1")),
        pytest.param("hand", marks=clauses("688a.9(a)(3)(ii)/1")),
        pytest.param("automated_shoe", marks=clauses("688a.10(a)(2)(ii)/1")),
    ],
)
def test_no_card_is_dealt_before_every_sensor_has_confirmed(dealing: str) -> None:
    floor = BettingTable("688a-progressive-1", bets=(1,), **by(dealing))
    floor.override = lambda d: [] if isinstance(d, Command) and (d.act, d.slot) == ("lock", "bet_sensor.3") else None
    floor.play(ev.OpenRound(DEALER))
    floor.play(ev.NoMoreBets(DEALER))
    assert floor.state.progressive.state == mc.LOCKING
    assert nothing_is_dealt(floor)
    floor.step(ev.Due("lock"))
    assert floor.prompt("seat_undecided").role == "floorperson"
    assert nothing_is_dealt(floor)
    assert floor.book.entries == 1


@pytest.mark.parametrize(
    "table",
    [
        pytest.param("688a-progressive-1", marks=clauses("688a.2(d)(2)")),
        pytest.param("687a-progressive-1", marks=clauses("687a.1:Progressive Bonus wager")),
    ],
)
def test_a_chip_after_the_lock_out_adds_nothing_and_a_round_without_one_is_played(table: str) -> None:
    floor = BettingTable(table, bets=())
    floor.round()
    assert (floor.phase, floor.book.entries) == (mc.IDLE, 1)
    floor.bets = {3}
    accepted(floor)
    before = floor.held()
    floor.step(ev.LateBet(1))
    floor.step(ev.BetSensed(1, 9, placed=True))
    floor.step(ev.SeatLatched(1, 2, floor.state.progressive.seats[1].lock, 9, bet=True))
    assert floor.held() == before
    assert list(floor.state.money.bets) == [3]


def test_a_withdrawn_chip_adds_nothing() -> None:
    floor = BettingTable("688a-progressive-1", bets=())
    floor.play(ev.OpenRound(DEALER))
    floor.step(ev.BetSensed(3, 1, placed=True))
    floor.step(ev.BetSensed(3, 2, placed=False))
    floor.play(ev.NoMoreBets(DEALER))
    assert floor.book.entries == 1


def test_a_bet_that_the_floorperson_decided_is_booked_like_any_other_and_has_no_light() -> None:
    floor = BettingTable("688a-progressive-1", bets=(1,))
    floor.override = lambda d: [] if isinstance(d, Command) and (d.act, d.slot) == ("lock", "bet_sensor.3") else None
    floor.play(ev.OpenRound(DEALER))
    floor.play(ev.NoMoreBets(DEALER))
    assert floor.book.entries == 1  # nothing is accepted while a seat is undecided
    floor.step(ev.Due("lock"))
    decisions = floor.answer_prompt("seat_undecided", "bet")
    assert [bet.seat for bet in decisions_of(BetAccepted, decisions)] == [1, 3]
    assert [command.slot for command in decisions_of(Command, decisions)] == ["bet_sensor.1"]


@pytest.mark.parametrize(
    "dealing",
    [
        pytest.param("manual_shoe", marks=clauses("688a.8(b)(2)/2")),
        pytest.param("hand", marks=clauses("688a.9(a)(3)(ii)/2")),
        pytest.param("automated_shoe", marks=clauses("688a.10(a)(2)(ii)/2")),
    ],
)
def test_chips_that_are_not_as_many_as_bets_stop_the_deal_and_a_void_gives_everything_back(dealing: str) -> None:
    floor = BettingTable("688a-progressive-1", **by(dealing))
    before = floor.held()
    floor.play(ev.OpenRound(DEALER))
    floor.play(ev.NoMoreBets(DEALER), until=lambda d: bool(floor.prompts("chips")))
    floor.until_asked("chips")
    floor.answer_prompt("chips", number=3)
    assert floor.hold().trigger == "chips_differ"
    assert nothing_is_dealt(floor)
    floor.answer_prompt("choose", "void")
    assert floor.held() == before
    floor.clear_holds()


# --- settled ----------------------------------------------------------------------------------------------------------


@clauses("688a.11(h)(4)(i)(A)", "688a.7(e)(3)")
def test_every_accepted_bet_is_asked_for_after_its_main_wager_and_a_losing_one_stays() -> None:
    floor = BettingTable("688a-progressive-1", bets=(1, 6))
    floor.play_to_settling()
    before = floor.held()
    floor.answer_prompt("settled")  # seat 6, from the far right
    assert [prompt.kind for prompt in floor.prompts()] == ["progressive"]  # no other seat is settled before this answer
    prompt = floor.prompt("progressive")
    assert (prompt.seat, prompt.role) == (6, "dealer")
    assert prompt.choices == ("no_win",)  # a hand wins only by its cards, and they are not known
    (settled,) = decisions_of(BetSettled, floor.answer_prompt("progressive"))
    assert (settled.seat, settled.outcome) == (6, "lost")
    assert settled.clauses[0] == "688a.11(h)(4)(i)(A)"
    floor.until_asked("settled", 3)
    floor.finish()
    assert floor.held() == before
    assert floor.state.money.bets == {}


@pytest.mark.parametrize(("survives", "asked"), [(True, True), (False, False)])
@clauses("687a.11(b)(3)")
def test_a_folded_hand_plays_the_progressive_only_if_the_submission_allows_it(survives: bool, asked: bool) -> None:
    floor = BettingTable("687a-progressive-1", bets=(3,), folded_progressive=survives)
    floor.play_to(mc.PLAYING)
    floor.until_asked("decide", 3)
    floor.answer_prompt("decide", "fold")
    decided = floor.settle()
    (settled,) = decisions_of(BetSettled, decided)
    assert settled.outcome == "lost"
    assert (settled.clauses == ("687a.11(b)(3)",)) is not asked
    kinds = [getattr(d, "kind", "") for d in decided]
    assert ("progressive" in kinds) is asked


def test_the_bet_of_a_player_who_left_is_lost_and_what_it_added_stays() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    floor.play_to(mc.PLAYING)
    floor.declare("player_leaves", seat=3)
    floor.answer_prompt("player_left", "abandoned")
    (settled,) = decisions_of(BetSettled, floor.settle())
    assert (settled.outcome, settled.clauses[0]) == ("lost", "688a.7(b)/2")
    assert floor.book.balance(METER) == 10_000 * DOLLAR + 28 * CENT


# --- returned ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [mc.DEALING, mc.PLAYING, mc.SETTLING])
@pytest.mark.parametrize("table", list(PROGRESSIVES))
def test_a_void_round_gives_bets_back_and_takes_its_own_contributions_out_of_the_meter(table: str, phase: str) -> None:
    floor = BettingTable(table, bets=(1, 3, 6))
    before = floor.held()
    floor.play_to(phase)
    assert floor.held() != before
    decisions = floor.declare("wrong_card_count")
    (wagers,) = decisions_of(WagersReturned, decisions)
    returned = decisions_of(BetReturned, decisions)
    assert [bet.seat for bet in returned] == [1, 3, 6]
    assert all(bet.clauses == wagers.clauses == bet.entry.clauses and bet.entry.round == 1 for bet in returned)
    assert floor.held() == before
    floor.settle()
    assert floor.held() == before


@clauses("688a.13(l)")
def test_a_shoe_that_jams_in_the_deal_costs_nobody_a_bet_and_the_meter_nothing() -> None:
    floor = BettingTable("688a-progressive-4", bets=(1, 2, 3, 6))
    floor.seats = (1, 2, 3, 6)
    before = floor.held()
    floor.play_to(mc.DEALING)
    decisions = floor.step(ev.SlotChanged("shoe.1", "fault"))
    assert len(decisions_of(BetReturned, decisions)) == 4
    assert floor.held() == before


def test_the_bet_of_one_hand_that_its_player_voids_goes_back_alone() -> None:
    floor = BettingTable("688a-progressive-1", bets=(1, 3))
    floor.play_to(mc.PLAYING)
    floor.declare("player_card_exposed", seat=3)
    decisions = floor.answer_prompt("choose", "void")
    assert [bet.seat for bet in decisions_of(BetReturned, decisions)] == [3]
    assert floor.book.balance(METER) == 10_000 * DOLLAR + 28 * CENT
    floor.settle()


def test_a_bet_without_a_wager_goes_back_with_what_it_added() -> None:
    floor = BettingTable("688a-progressive-1", bets=(2, 3))
    decided: list[Decision] = floor.play(ev.OpenRound(DEALER)) + floor.play(ev.NoMoreBets(DEALER))
    assert findings(decided, "bet_without_wager")
    (back,) = decisions_of(BetReturned, decided)
    assert (back.seat, back.amount) == (2, DOLLAR)
    assert floor.book.balance(METER) == 10_000 * DOLLAR + 28 * CENT


def test_bets_of_a_round_that_nobody_plays_go_back() -> None:
    floor = BettingTable("688a-progressive-1", bets=(2, 3))
    before = floor.held()
    floor.play(ev.OpenRound(DEALER), until=lambda _: False)
    floor.play(ev.NoMoreBets(DEALER), until=lambda d: isinstance(d, BetAccepted))
    floor.answer_prompt("seats", "nobody")
    assert floor.held() == before
    floor.settle()
    assert floor.phase == mc.IDLE


@clauses("687a.13(d)")
def test_cards_revealed_before_the_raises_void_the_round_and_still_settle_the_progressive() -> None:
    floor = BettingTable("687a-progressive-1", bets=(1, 3))
    floor.play_to(mc.PLAYING)
    before = floor.held()
    decisions = floor.declare("cards_revealed_before_raise")
    (wagers,) = decisions_of(WagersReturned, decisions)
    assert "progressive" in wagers.settled
    assert not decisions_of(BetReturned, decisions)
    assert floor.held() == before  # what the bets added stays
    asked = {prompt.kind: prompt.seat for prompt in floor.prompts()}
    assert asked["progressive"] == 3  # from the far right
    assert "optional_settled" not in asked  # not before every bet is settled and every hit paid
    floor.answer_prompt("progressive", "four_of_a_kind")
    for kind in ("hit_hand", "hit_light", "hit_validate"):
        assert "optional_settled" not in {prompt.kind for prompt in floor.prompts()}
        floor.answer_prompt(kind)
    assert floor.keys("pay", seat=3) == set()
    floor.answer_prompt("progressive")
    floor.answer_prompt("hit_pay")
    floor.until_asked("optional_settled")
    assert floor.book.meters.paid_by_table == 300 * DOLLAR
    floor.settle()
    assert floor.phase == mc.IDLE


def test_what_was_decided_can_be_written_down_and_read_back_and_is_the_whole_book() -> None:
    floor = BettingTable("688a-progressive-4", bets=(1, 3, 6))
    floor.claim(6, "royal_flush_plus_royal_match")
    floor.claim(3, "full_house")
    floor.finish()
    money = BetAccepted | BetReturned | BetSettled | HitClaimed | Booked
    reported = [each for _, decisions in floor.log for each in decisions if isinstance(each, money)]
    written = msgspec.msgpack.encode(reported)
    assert msgspec.msgpack.decode(written, type=list[money]) == reported
    accounts: Counter[str] = Counter()
    for entry in (each.entry for each in reported if isinstance(each, Booked)):
        for transfer in entry.transfers:
            accounts[transfer.source] -= transfer.amount
            accounts[transfer.to] += transfer.amount
    assert {account: amount for account, amount in accounts.items() if amount} == floor.held()


def test_a_hit_goes_on_from_a_snapshot() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    floor.claim(3, "five_aces")
    floor.answer_prompt("hit_hand")
    floor.table.restore(floor.table.snapshot())
    floor.finish()
    assert floor.book.meters.paid_by_attendant == 1_000 * DOLLAR + 20_000


def test_snapshots_hold_the_money() -> None:
    floor = BettingTable("688a-progressive-4", bets=(1, 3, 6))
    floor.play_to_settling()
    held, bets = floor.held(), floor.state.money.bets
    snapshot = floor.table.snapshot()
    other: Any = BettingTable("688a-progressive-4")
    other.table.restore(snapshot)
    assert other.held() == held
    assert other.state.money.bets == bets
    assert other.table.snapshot() == snapshot
