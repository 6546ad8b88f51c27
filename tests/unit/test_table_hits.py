"""The life of a hit in the core: claimed and frozen, verified by dealer, light and floorperson, paid or hand paid."""

from __future__ import annotations

from collections import Counter

import pytest

from table_controller.ledger.money import CENT, DOLLAR, ENVY, FIXED, HAND_PAYS, METER, PENDING, RESERVE, SEED, STAKES
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Booked, HitClaimed, Prompt, StateChanged, WagersReturned
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR, TECH, decisions_of, findings, refusal_text
from tests.support.core.meters import PROGRESSIVES, rules_of
from tests.support.suite.clauses import clauses

WHOLE = "seven_card_straight_flush_any"  # 100 % of the meter in 688a-progressive-1


def standing_at(floor: BettingTable, dollars: int) -> BettingTable:
    """Bring the meter to an amount, as if it had been played for long."""
    amount = dollars * DOLLAR - floor.book.balance(METER)
    floor.step(ev.MeterCorrected(amount, "test 1", FLOOR, AUDITOR, "malfunction", "sensor_fault"))
    return floor


# --- claim ------------------------------------------------------------------------------------------------------------


@clauses("688a.11(h)(4)(i)(B)(4)/1", "688a.12(d)/1")
def test_a_claimed_share_is_frozen_out_of_the_meter_and_shown_as_pending() -> None:
    floor = standing_at(BettingTable("688a-progressive-1", bets=(1, 3)), 20_000)
    floor.play_to_settling().until_asked("progressive", 3)
    decisions = floor.answer_prompt("progressive", "five_aces")
    (claimed,) = decisions_of(HitClaimed, decisions)
    share = 2_000 * DOLLAR + 50_000  # ten percent, with 56 cents of this round's bets
    assert (claimed.seat, claimed.hand, claimed.share, claimed.fixed) == (3, "five_aces", share, 0)
    assert claimed.entry.meter_before - claimed.entry.meter_after == share
    assert floor.book.meters.pending == share
    floor.until_asked("settled", 1)  # play goes on with the next seat, and nothing is paid
    assert floor.book.meters.pending == share


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(name, marks=clauses("688a.12(d)/1" if name.startswith("688a") else "687a.12(c)/1"))
        for name in PROGRESSIVES
    ],
)
def test_a_hand_is_paid_by_a_line_of_the_selected_table_and_by_no_other(table: str) -> None:
    """An attempt to bypass the rule: a dealer claims a line of another table, or a hand that no line pays."""
    floor = BettingTable(table, bets=(1, 3)).play_to_settling().until_asked("progressive", 3)
    rules = floor.table.context.meter
    assert rules is not None
    asked = floor.prompt("progressive")
    own = {award.hand for award in rules.awards}
    others = {award.hand for name in PROGRESSIVES for award in rules_of(name).awards} - own
    for hand in sorted({*others, "five_aces_and_a_king"}):
        assert "is not an answer to this question" in refusal_text(floor.step(ev.Answer(asked.id, hand, DEALER)))
    assert not floor.state.money.hits
    award = rules.awards[0]
    (claimed,) = decisions_of(HitClaimed, floor.answer_prompt("progressive", award.hand))
    assert claimed.fixed == award.fixed
    assert claimed.share == claimed.entry.meter_before * award.percent // 100 // CENT * CENT


@clauses("687a.12(c)/3")
@pytest.mark.parametrize("table", [name for name in PROGRESSIVES if name.startswith("687a")])
def test_a_meter_that_is_won_whole_is_seeded_again_in_the_same_entry(table: str) -> None:
    floor = standing_at(BettingTable(table, bets=(1, 3)), 50_000)
    rules = floor.table.context.meter
    assert rules is not None
    floor.claim(3, "royal_flush")
    (claimed,) = decisions_of(HitClaimed, floor.log[-1][1])
    assert claimed.entry.meter_after == floor.book.balance(METER) == rules.reseed
    assert claimed.share > 50_000 * DOLLAR
    assert floor.book.balance(SEED) == -(rules.seed + rules.reseed)


def test_the_next_hit_of_the_round_finds_the_meter_as_the_first_has_left_it() -> None:
    floor = standing_at(BettingTable("688a-progressive-1", bets=(1, 3, 6)), 30_000)
    first = floor.claim(6, WHOLE)  # the far right is settled first
    second = floor.claim(3, WHOLE)
    third = floor.claim(1, "five_aces")
    assert first.share == 30_000 * DOLLAR + 840_000
    assert second.share == 10_000 * DOLLAR
    assert third.share == 1_000 * DOLLAR
    assert [entry.seat for entry in floor.entries() if entry.kind == "hit"] == [6, 3, 1]
    floor.finish()
    assert floor.book.meters.paid_by_attendant == first.share + second.share + third.share
    assert floor.book.balance(METER) == 9_000 * DOLLAR


def test_a_seat_without_a_bet_is_not_asked_and_nothing_can_be_claimed_for_it() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    decided = floor.round()
    asked = [prompt.seat for prompt in decisions_of(Prompt, decided) if prompt.kind == "progressive"]
    assert asked == [3]
    assert "not_claimed" in floor.keys("pay", seat=1)


# --- verified ---------------------------------------------------------------------------------------------------------

STEPS = [
    ("hit_hand", "dealer", {"hand_not_confirmed", "light_not_seen", "not_validated"}, "688a.11(h)(4)(i)(B)(1)"),
    ("hit_light", "dealer", {"light_not_seen", "not_validated"}, "688a.11(h)(4)(i)(B)(2)"),
    ("hit_validate", "floorperson", {"not_validated"}, "688a.11(h)(4)(i)(B)(3)"),
]


@clauses("688a.11(h)(4)(i)(B)(1)", "688a.11(h)(4)(i)(B)(2)", "688a.11(h)(4)(i)(B)(3)", "688a.11(h)(4)(i)(B)(4)/1")
def test_nothing_is_paid_before_hand_light_and_floorperson_confirm_in_this_order() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    floor.claim(3, "royal_flush")
    for kind, role, reasons, clause in STEPS:
        assert floor.keys("pay", seat=3) == reasons
        refusal = {reason.key: reason for reason in floor.table.permit("pay", seat=3)}
        assert clause in {reason.clause for reason in refusal.values()}
        prompt = floor.prompt(kind)
        assert (prompt.role, prompt.clauses[0]) == (role, clause)
        assert not floor.prompts("hit_pay")
        others = (FLOOR, TECH, AUDITOR) if role == "dealer" else (DEALER, TECH, AUDITOR)
        for who in others:
            assert f"the {role} must answer this" in refusal_text(floor.answer_prompt(kind, who=who))
        floor.answer_prompt(kind)
    assert floor.keys("pay", seat=3) == set()
    assert floor.book.balance(FIXED) == 0
    floor.answer_prompt("hit_pay")
    assert (floor.book.balance(FIXED), floor.book.balance(PENDING)) == (500 * DOLLAR, 0)
    floor.finish()


@pytest.mark.parametrize(("kind", "choice"), [("hit_hand", "not_winning"), ("hit_validate", "refuse")])
def test_a_claim_that_falls_goes_back_whole_and_the_dealer_is_asked_again(kind: str, choice: str) -> None:
    floor = standing_at(BettingTable("688a-progressive-1", bets=(3,)), 20_000)
    floor.play_to_settling().until_asked("progressive", 3)
    before = floor.held()
    floor.answer_prompt("progressive", WHOLE)
    floor.until_asked(kind)
    decisions = floor.answer_prompt(kind, choice)
    assert floor.held() == before
    assert findings(decisions, "claim_withdrawn")
    assert not floor.prompts("hit_pay")
    floor.until_asked("progressive", 3)  # and may answer otherwise
    floor.answer_prompt("progressive", "full_house")
    floor.finish()
    assert floor.book.balance(FIXED) == 4 * DOLLAR


@clauses("688a.11(h)(4)(i)(B)(2)")
@pytest.mark.parametrize(("answer", "paid"), [("bet_recorded", True), ("refuse", False)])
def test_a_light_that_does_not_burn_is_for_the_floorperson(answer: str, paid: bool) -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    floor.claim(3, "full_house")
    floor.answer_prompt("hit_hand")
    assert findings(floor.answer_prompt("hit_light", "dark"), "light_dark")
    assert not floor.prompts("hit_validate")
    assert floor.prompt("hit_dark").role == "floorperson"
    assert "light_not_seen" in floor.keys("pay", seat=3)
    floor.answer_prompt("hit_dark", answer)
    assert bool(floor.prompts("hit_validate")) is paid
    floor.finish()
    assert floor.book.balance(FIXED) == (4 * DOLLAR if paid else 0)


# --- paid -------------------------------------------------------------------------------------------------------------


@clauses("688a.11(h)(4)(i)(B)(4)/1")
@pytest.mark.parametrize("table", list(PROGRESSIVES))
def test_a_share_of_the_meter_cannot_be_paid_from_the_table(table: str) -> None:
    floor = BettingTable(table, bets=(3,))
    rules = floor.table.context.meter
    assert rules is not None
    for award in rules.awards:
        if not award.percent:
            continue
        hit = floor.claim(3, award.hand)
        floor.until_asked("hit_validate")
        assert floor.prompt("hit_validate").choices == ("hand_pay", "refuse")
        floor.answer_prompt("hit_validate")
        assert "not_from_table" in floor.keys("pay", seat=3)
        floor.finish()
        assert floor.book.balance(FIXED) == 0
        assert floor.entries()[-1].kind in ("hand_pay_paid", "envy")
        assert hit.state == mc.HIT_DOCUMENTED


@clauses("688a.11(h)(4)(i)(B)(4)/2")
def test_the_cards_of_a_hand_pay_stay_on_the_table_until_it_is_documented() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    hit = floor.claim(3, "five_aces")
    deck = floor.round_.deck
    for kind in ("hit_hand", "hit_light", "hit_validate"):
        floor.answer_prompt(kind)
    floor.settle_others()
    assert [prompt.kind for prompt in floor.prompts()] == ["hand_pay"]
    assert floor.phase == mc.SETTLING
    (reason,) = (r for r in floor.table.permit("collect", deck=deck) if r.key == "hand_pay_open")
    assert (reason.clause, reason.clears) == ("688a.11(h)(4)(i)(B)(4)/2", "floorperson")
    assert "the floorperson must answer this" in refusal_text(floor.answer_prompt("hand_pay", number=77, who=DEALER))
    assert "a number" in refusal_text(floor.answer_prompt("hand_pay", number=0))
    (booked,) = decisions_of(Booked, floor.answer_prompt("hand_pay", number=77))
    assert (booked.entry.document, booked.entry.hit) == ("slip 77", hit.id)
    assert "hand_pay_open" not in floor.keys("collect", deck=deck)
    floor.finish()
    assert floor.book.meters.paid_by_attendant == hit.share


def test_a_floorperson_may_have_a_fixed_award_paid_by_hand() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    floor.claim(3, "royal_flush")
    floor.until_asked("hit_validate")
    assert floor.prompt("hit_validate").choices == ("table", "hand_pay", "refuse")
    floor.answer_prompt("hit_validate", "hand_pay")
    assert "not_from_table" in floor.keys("pay", seat=3)
    floor.finish()
    assert (floor.book.balance(FIXED), floor.book.balance(HAND_PAYS)) == (0, 500 * DOLLAR)


def test_table_four_pays_amount_and_share_gives_the_bet_back_and_seeds_from_its_reserve() -> None:
    floor = standing_at(BettingTable("688a-progressive-4", bets=(1, 3)), 12_000)
    hit = floor.claim(3, "seven_card_natural_straight_flush")
    reserve = 2 * 50_000  # one percent of two bets of five dollars
    assert (hit.fixed, hit.share) == (5_000 * DOLLAR, 12_000 * DOLLAR + reserve)
    assert (hit.from_reserve, floor.book.balance(RESERVE)) == (reserve, 0)
    floor.finish()
    assert floor.book.balance(HAND_PAYS) == hit.amount
    assert floor.book.balance(STAKES) == 5 * DOLLAR
    assert floor.book.balance(METER) == 10_000 * DOLLAR


def test_nothing_is_paid_while_an_irregularity_stops_the_round() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    floor.claim(3, "full_house")
    for kind in ("hit_hand", "hit_light", "hit_validate"):
        floor.answer_prompt(kind)
    assert floor.prompts("hit_pay")
    floor.declare("other")
    assert floor.keys("pay", seat=3) == {"pay_irregular"}
    assert not floor.prompts("hit_pay")


def test_nothing_is_paid_when_no_round_is_settled() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    floor.play_to(mc.PLAYING)
    assert "not_settling" in floor.keys("pay", seat=3)
    assert floor.keys("collect", deck=floor.round_.deck) >= {"bets_not_settled"}


# --- envy -------------------------------------------------------------------------------------------------------------


@clauses("688a.12(d)/3", "688a.11(h)(2)(ii)")
def test_envy_goes_to_every_other_bettor_once_per_hand_and_never_for_ones_own() -> None:
    floor = BettingTable("688a-progressive-4", bets=(1, 3, 6))
    floor.claim(6, "four_of_a_kind")
    floor.claim(3, "royal_flush")
    floor.until_asked("progressive_envy", 6)
    assert "seats 1, 3" in refusal_text(floor.answer_for_seat("progressive_envy", 6, seats=(1, 3, 6)))
    assert "seats 1, 3" in refusal_text(floor.answer_for_seat("progressive_envy", 6, seats=(1,)))
    floor.answer_for_seat("progressive_envy", 6, seats=(1, 3))
    assert floor.book.balance(ENVY) == 2 * 25 * DOLLAR
    floor.finish()
    assert floor.book.balance(ENVY) == (2 * 25 + 2 * 250) * DOLLAR
    assert floor.book.meters.paid_by_table == (100 + 500 + 2 * 25 + 2 * 250) * DOLLAR


@clauses("688a.11(h)(4)(i)(C)")
def test_a_qualifying_hand_without_a_bet_is_asked_for_and_paid_to_the_bettors() -> None:
    floor = BettingTable("688a-progressive-4", bets=(1,))
    floor.play_to_settling().until_asked("envy_hand", 6)
    asked = floor.prompt("envy_hand").choices
    assert asked[:2] == ("no", "seven_card_natural_straight_flush")
    assert asked[-1] == "four_of_a_kind"
    floor.answer_for_seat("envy_hand", 6, "straight_flush")
    floor.until_asked("progressive_envy", 6)
    assert floor.round_.envy_hands == [6]
    floor.finish()
    assert floor.book.balance(ENVY) == 100 * DOLLAR
    judged = [
        p.seat
        for _, decided in floor.log
        for p in decisions_of(Prompt, decided)
        if p.kind in ("envy_hand", "envy_line")
    ]
    assert judged == [6, 3], "each hand once, and the bettor's own is known from his bet"


@clauses("688a.11(h)(4)(i)(C)", "688a.11(h)(2)(ii)")
def test_envy_that_only_a_progressive_bet_opens_is_asked_for_once_and_booked() -> None:
    floor = BettingTable("688a-progressive-4", bets=(1, 3, 6))
    floor.claim(6, "four_of_a_kind")
    floor.finish()
    asked = Counter(p.kind for _, decided in floor.log for p in decisions_of(Prompt, decided) if "envy" in p.kind)
    assert asked == {"progressive_envy": 1}, "the bets are not asked for again, and there is one payment"
    assert floor.book.balance(ENVY) == 2 * 25 * DOLLAR


@clauses("688a.11(h)(2)(ii)")
def test_with_a_fortune_wager_its_own_envy_is_paid_too() -> None:
    tables = {"progressive": "688a-progressive-4", "fortune": "688a-fortune-1"}
    floor = BettingTable("688a-progressive-4", bets=(1,), wagers=["progressive", "fortune"], paytables=tables)
    floor.side = {"fortune": (3,)}
    floor.play_to_settling().until_asked("envy_hand", 6)
    floor.answer_for_seat("envy_hand", 6, "royal_flush")
    floor.finish()
    asked = [p.kind for _, decided in floor.log for p in decisions_of(Prompt, decided) if "envy" in p.kind]
    assert asked == ["envy_hand", "envy_hand", "progressive_envy", "envy_paid"]
    assert floor.book.balance(ENVY) == 250 * DOLLAR


@clauses("687a.12(c)/2")
def test_envy_of_the_wild_game_goes_to_other_progressive_bettors() -> None:
    floor = BettingTable("687a-progressive-2", bets=(1, 3))
    floor.claim(3, "straight_flush")
    floor.finish()
    assert floor.book.balance(ENVY) == 1_000 * DOLLAR


def test_a_bet_of_a_dollar_opens_no_envy_in_688a_and_tables_without_the_column_ask_nothing() -> None:
    floor = BettingTable("688a-progressive-1", bets=(1,))
    floor.claim(1, "four_of_a_kind")
    decided = floor.settle()
    assert not [d for d in decided if getattr(d, "kind", "") in ("envy_line", "progressive_envy")]


def test_a_player_of_two_boxes_is_not_paid_for_his_own_other_box() -> None:
    floor = BettingTable("688a-progressive-4", bets=(1, 5, 6), adjacent_boxes=2)
    floor.seats, floor.boxes = (1, 5, 6), [(5, 6)]
    floor.claim(6, "four_of_a_kind")
    floor.until_asked("progressive_envy", 6)
    refused = refusal_text(floor.answer_for_seat("progressive_envy", 6, seats=(1, 5)))
    assert refused == "envy for seat 6 is paid to seats 1"
    floor.answer_for_seat("progressive_envy", 6, seats=(1,))
    floor.finish()
    assert floor.book.balance(ENVY) == 25 * DOLLAR


# --- void -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paid", [False, True])
@pytest.mark.parametrize("table", list(PROGRESSIVES))
def test_a_round_found_void_after_a_hit_takes_claim_and_payment_back_before_the_bets(table: str, paid: bool) -> None:
    floor = standing_at(BettingTable(table, bets=(1, 3, 6)), 50_000)
    before = floor.held()
    rules = floor.table.context.meter
    assert rules is not None
    floor.claim(6, rules.awards[0].hand)
    floor.claim(3, rules.awards[-1].hand)
    if paid:
        for kind in ("hit_hand", "hit_light", "hit_validate"):
            floor.answer_for_seat(kind, 3)
        floor.answer_for_seat("hit_pay", 3)
        assert floor.book.balance(FIXED) == rules.awards[-1].fixed
    decisions = floor.declare("wrong_card_count")
    assert decisions_of(WagersReturned, decisions)
    assert floor.held() == before
    kinds = [each.entry.kind for each in decisions_of(Booked, decisions)]
    assert kinds == (["award_returned"] if paid else ["hit_withdrawn"]) + ["hit_withdrawn"] + ["bet_returned"] * 3
    floor.settle()
    assert floor.phase == mc.IDLE


def test_a_documented_hand_pay_is_kept_in_a_void_round_and_published() -> None:
    floor = BettingTable("688a-progressive-1", bets=(1, 3, 6))
    hit = floor.claim(6, WHOLE)
    floor.until_asked("hand_pay")
    floor.answer_prompt("hand_pay", number=5)
    decisions = floor.declare("wrong_card_count")
    assert findings(decisions, "hand_pay_stands")
    assert hit.state == mc.HIT_DOCUMENTED
    assert floor.book.balance(HAND_PAYS) == hit.share
    assert [each.entry.seat for each in decisions_of(Booked, decisions)] == [1, 3]
    assert floor.book.balance(METER) == 10_000 * DOLLAR  # not below the seed; the casino pays what the meter cannot
    floor.settle()
    assert floor.phase == mc.IDLE


def test_state_changes_of_a_hit_are_published() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    hit = floor.claim(3, "full_house")
    decided = floor.settle()
    states = [moved.state for moved in decisions_of(StateChanged, decided) if moved.what == f"hit {hit.id}"]
    assert states == ["hand_confirmed", "light_seen", "validated", "paid"]
