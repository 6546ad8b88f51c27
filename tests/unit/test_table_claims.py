"""Several claims on one meter: provisional amounts, withdrawn claims without effect, and who may verify a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from table_controller.ledger.money import DOLLAR, ENVY, FIXED, HAND_PAYS, METER, PENDING, format_dollars
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import Booked, HitClaimed, HitRebooked, Prompt, StateChanged
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import (
    AUDITOR,
    DEALER,
    FLOOR,
    PEOPLE,
    IdealTable,
    decisions_of,
    findings,
    refusal_text,
)
from tests.support.core.meters import PROGRESSIVES
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.ledger.hits import Hit
    from table_controller.table.decisions import Decision

WHOLE = "seven_card_straight_flush_any"  # 100 % of the meter in 688a-progressive-1
TENTH = "five_aces"
CENTS = 10_000


def standing_at(floor: BettingTable, amount: int) -> BettingTable:
    """Bring the meter to an amount (micro-dollars), as if it had been played for long."""
    floor.step(
        ev.MeterCorrected(amount - floor.book.balance(METER), "test 1", FLOOR, AUDITOR, "malfunction", "sensor_fault")
    )
    return floor


_OF_A_HIT = ("hit_hand", "hit_light", "hit_dark", "hit_validate", "hit_pay", "hand_pay")


def claim(floor: BettingTable, seat: int, hand: str) -> Hit:
    """Settle until a seat's bet is asked for, and claim a hand for it; other claims stay unverified meanwhile."""
    floor.play_to_settling()
    while seat not in asked(floor, "progressive"):
        prompt = next(each for each in floor.prompts() if each.kind not in _OF_A_HIT)
        for event in floor.answer(prompt):
            floor.step(event)
    floor.answer_for_seat("progressive", seat, hand)
    hit = floor.state.money.hit_of(seat)
    assert hit is not None
    return hit


def confirmed(floor: BettingTable, seat: int) -> None:
    """Confirm a hand and its light as dealer."""
    floor.answer_for_seat("hit_hand", seat)
    floor.answer_for_seat("hit_light", seat)


def documented(floor: BettingTable, seat: int, slip: int) -> list[Decision]:
    """Document a seat's hand pay under a slip."""
    (prompt,) = (each for each in floor.prompts("hand_pay") if each.seat == seat)
    return floor.step(ev.Answer(prompt.id, "documented", FLOOR, slip))


def asked(floor: BettingTable, kind: str) -> list[int | None]:
    return [prompt.seat for prompt in floor.prompts(kind)]


# --- provisional and final --------------------------------------------------------------------------------------------


@clauses("688a.11(h)(4)(i)(B)(3)", "688a.11(h)(4)(i)(B)(4)/1")
def test_a_winner_is_paid_what_he_is_owed_when_an_earlier_claim_turns_out_wrong() -> None:
    """The meter is at $101,000.08; seat 6 claims it by mistake, seat 4 has won it."""
    floor = standing_at(BettingTable("688a-progressive-1", bets=(4, 6)), 101_000 * DOLLAR + 8 * CENTS - 56 * CENTS)
    floor.seats = (1, 4, 6)
    claim(floor, 6, WHOLE)
    winner = claim(floor, 4, WHOLE)
    assert format_dollars(winner.share) == "$10,000.00"
    confirmed(floor, 4)
    assert asked(floor, "hit_validate") == [], "seat 4's amount is provisional: nobody validates or pays it"
    assert "amount_provisional" in floor.keys("pay", seat=4)
    decisions = floor.answer_for_seat("hit_hand", 6, "not_winning")
    (again,) = decisions_of(HitRebooked, decisions)
    assert (again.hit, again.seat, again.hand, format_dollars(again.share)) == (winner.id, 4, WHOLE, "$101,000.08")
    assert [each.entry.kind for each in decisions_of(Booked, decisions)] == [
        "hit_reversed",
        "hit_withdrawn",
        "hit_rebooked",
    ]
    assert winner.state == mc.HIT_LIGHT_SEEN, "hand and light were seen: that remains true"
    floor.answer_for_seat("hit_validate", 4)
    documented(floor, 4, 77)
    floor.finish()
    assert format_dollars(floor.book.balance(HAND_PAYS)) == "$101,000.08"
    assert format_dollars(floor.book.balance(METER)) == "$10,000.00"


@pytest.mark.parametrize("end", ["validated", "withdrawn"])
def test_an_amount_is_final_once_every_earlier_claim_is_validated_or_withdrawn(end: str) -> None:
    floor = standing_at(BettingTable("688a-progressive-1", bets=(1, 3, 6)), 30_000 * DOLLAR)
    hits = [claim(floor, seat, WHOLE) for seat in (6, 3, 1)]
    for seat in (1, 3, 6):
        confirmed(floor, seat)
    assert asked(floor, "hit_validate") == [6]
    floor.answer_for_seat("hit_validate", 6, "hand_pay" if end == "validated" else "refuse")
    assert asked(floor, "hit_validate") == [3]
    floor.answer_for_seat("hit_validate", 3)
    assert asked(floor, "hit_validate") == [1]
    whole = 30_000 * DOLLAR + 84 * CENTS
    shares = [whole, 10_000 * DOLLAR, 10_000 * DOLLAR] if end == "validated" else [whole, whole, 10_000 * DOLLAR]
    assert [hit.share for hit in hits] == shares


def test_a_fixed_award_waits_for_nobody_and_holds_nobody_up() -> None:
    floor = BettingTable("688a-progressive-1", bets=(1, 3, 6))
    claim(floor, 6, WHOLE)
    claim(floor, 3, "full_house")
    claim(floor, 1, TENTH)
    confirmed(floor, 3)
    floor.answer_for_seat("hit_validate", 3)
    floor.answer_for_seat("hit_pay", 3)
    assert floor.book.balance(FIXED) == 4 * DOLLAR
    confirmed(floor, 1)
    assert asked(floor, "hit_validate") == []
    decisions = floor.answer_for_seat("hit_hand", 6, "not_winning")
    assert [each.seat for each in decisions_of(HitRebooked, decisions)] == [1], "what is fixed is not booked again"
    floor.finish()


def test_a_claim_made_after_a_withdrawn_claim_comes_after_all_others() -> None:
    floor = standing_at(BettingTable("688a-progressive-1", bets=(3, 6)), 30_000 * DOLLAR)
    first = claim(floor, 6, TENTH)
    second = claim(floor, 3, WHOLE)
    floor.answer_for_seat("hit_hand", 6, "not_winning")
    again = claim(floor, 6, WHOLE)
    assert again.id > second.id > first.id
    assert (second.share, again.share) == (30_000 * DOLLAR + 56 * CENTS, 10_000 * DOLLAR)
    floor.finish()


def test_a_restart_in_the_middle_of_provisional_claims_changes_nothing() -> None:
    floor = standing_at(BettingTable("688a-progressive-1", bets=(1, 3, 6)), 30_000 * DOLLAR)
    for seat, hand in ((6, WHOLE), (3, TENTH), (1, WHOLE)):
        claim(floor, seat, hand)
    kept = floor.table.snapshot()
    other = Table(floor.edition, floor.table.context.submission, {})
    other.restore(kept)
    answer = ev.Answer(next(p.id for p in floor.prompts("hit_hand") if p.seat == 6), "not_winning", DEALER)
    assert other.step(answer) == floor.step(answer)
    assert other.snapshot() == floor.table.snapshot()


# --- exact reversal ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("low", [8_100 * DOLLAR + 28 * CENTS, 10_000 * DOLLAR, 10_000 * DOLLAR - 1, 123_456_789_012])
def test_a_dealer_alone_cannot_raise_a_meter(low: int) -> None:
    floor = standing_at(BettingTable("688a-progressive-1", bets=(3,)), low)
    floor.play_to_settling().until_asked("progressive", 3)
    before = floor.held()
    floor.answer_prompt("progressive", WHOLE)
    floor.answer_for_seat("hit_hand", 3, "not_winning")
    assert floor.held() == before


def test_a_dealer_alone_cannot_raise_a_meter_that_a_paid_hit_has_lowered_in_this_round() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3, 6))
    claim(floor, 6, TENTH)
    confirmed(floor, 6)
    floor.answer_for_seat("hit_validate", 6)
    documented(floor, 6, 5)
    floor.until_asked("progressive", 3)
    before = floor.held()
    assert before[METER] < 10_000 * DOLLAR
    floor.answer_prompt("progressive", WHOLE)
    floor.answer_for_seat("hit_hand", 3, "not_winning")
    assert floor.held() == before


@pytest.mark.parametrize("at", ["low", "seed", "high", "limit"])
@pytest.mark.parametrize("table", list(PROGRESSIVES))
def test_a_void_round_with_any_claims_leaves_every_account_unchanged(table: str, at: str) -> None:
    """Every line by every seat, on meters below, at and above their seed, and at their limit."""
    floor = BettingTable(table, bets=(1, 2, 3, 4, 5, 6))
    floor.seats = (1, 2, 3, 4, 5, 6)
    rules = floor.table.context.meter
    assert rules is not None
    amount = {"low": rules.seed * 81 // 100 + 28 * CENTS, "seed": rules.seed}.get(at, rules.seed * 7 + 123_457)
    standing_at(floor, amount)
    if at == "limit":
        limit = -(-amount // CENTS) + 30
        tech = ev.Person("technician", "T1")
        for event in (
            ev.MeterClosed("MP-1", FLOOR, AUDITOR),
            ev.MeterParameters("MP-1", tech, AUDITOR, limit_cents=limit),
            ev.MeterOpened("MP-1", FLOOR, AUDITOR),
        ):
            assert not refused_all(floor.step(event))
    hands = [award.hand for award in rules.awards]
    for first in range(len(hands)):
        before = floor.held()
        floor.play(ev.OpenRound(DEALER))
        for number, seat in enumerate((6, 5, 4, 3, 2, 1)):
            claim(floor, seat, hands[(first + number) % len(hands)])
        floor.declare("wrong_card_count")
        assert floor.held() == before
        floor.settle()


def refused_all(decisions: list[Decision]) -> list[str]:
    return [type(each).__name__ for each in decisions if type(each).__name__ == "RequestRefused"]


def test_a_meter_at_its_seed_is_at_its_seed_after_a_void_round_with_two_claims() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3, 6))
    claim(floor, 6, TENTH)
    claim(floor, 3, WHOLE)
    floor.declare("wrong_card_count")
    assert format_dollars(floor.book.balance(METER)) == "$10,000.00"
    assert floor.book.balance(PENDING) == 0


def test_a_validated_amount_that_changes_is_validated_again() -> None:
    floor = standing_at(BettingTable("688a-progressive-1", bets=(1, 3, 6)), 30_000 * DOLLAR)
    hit = claim(floor, 6, WHOLE)
    confirmed(floor, 6)
    floor.answer_for_seat("hit_validate", 6)
    (old,) = (each.id for each in floor.prompts("hand_pay"))
    decisions = void_hand(floor, 3)
    assert format_dollars(hit.share) == "$30,000.56"
    assert StateChanged(f"hit {hit.id}", "light_seen") in decisions
    assert old not in {prompt.id for prompt in floor.prompts()}, "a hand pay of the old amount cannot be documented"
    floor.finish()
    assert format_dollars(floor.book.balance(HAND_PAYS)) == "$30,000.56"


def void_hand(floor: BettingTable, seat: int) -> list[Decision]:
    """Expose a card of a seat whose player declares the hand void; return the decisions."""
    decided = floor.declare("player_card_exposed", seat=seat)
    while floor.state.holds:
        prompt = next(each for each in floor.prompts() if each.hold is not None)
        choice = "void" if prompt.kind == "choose" else prompt.choices[0]
        decided += floor.step(ev.Answer(prompt.id, choice, PEOPLE[prompt.role]))
    return decided


def test_a_documented_hand_pay_keeps_its_amount_when_an_earlier_validated_claim_becomes_void() -> None:
    floor = standing_at(BettingTable("688a-progressive-1", bets=(3, 6)), 30_000 * DOLLAR)
    for seat in (6, 3):
        claim(floor, seat, TENTH)
        confirmed(floor, seat)
        floor.answer_for_seat("hit_validate", seat)
    documented(floor, 3, 5)
    paid = floor.book.balance(HAND_PAYS)
    void_hand(floor, 6)
    assert floor.book.balance(HAND_PAYS) == paid
    assert floor.book.balance(PENDING) == 0
    floor.finish()


# --- envy -------------------------------------------------------------------------------------------------------------


@clauses("688a.11(h)(2)(ii)")
@pytest.mark.parametrize(("void", "left"), [(6, 0), (3, 25), (1, 25)])
def test_a_void_hand_neither_gives_nor_keeps_envy(void: int, left: int) -> None:
    floor = BettingTable("688a-progressive-4", bets=(1, 3, 6))
    claim(floor, 6, "four_of_a_kind")
    floor.until_asked("progressive_envy", 6)
    floor.answer_for_seat("progressive_envy", 6, seats=(1, 3))
    assert floor.book.balance(ENVY) == 2 * 25 * DOLLAR
    void_hand(floor, void)
    assert floor.book.balance(ENVY) == left * DOLLAR
    floor.finish()
    assert floor.book.balance(ENVY) == left * DOLLAR


def test_a_void_hand_that_was_not_paid_yet_brings_no_envy_and_gets_none() -> None:
    floor = BettingTable("688a-progressive-4", bets=(1, 3, 6))
    claim(floor, 6, "four_of_a_kind")
    claim(floor, 3, "straight_flush")
    floor.until_asked("progressive_envy", 6)
    void_hand(floor, 6)
    floor.finish()
    assert floor.book.balance(ENVY) == 100 * DOLLAR, "seat 3's hand, paid to seat 1 alone"


# --- persons ----------------------------------------------------------------------------------------------------------

TWO_BADGES = ev.Person("floorperson", "F9", person="d1")  # D1's second credential


def to_state(floor: BettingTable, kind: str, hand: str = TENTH, light: str = "lit") -> Hit:
    """Bring a claim of seat 3 to a question."""
    hit = claim(floor, 3, hand)
    floor.answer_for_seat("hit_hand", 3)
    floor.answer_for_seat("hit_light", 3, light)
    while not asked(floor, kind):
        (prompt,) = floor.prompts("hit_dark") + floor.prompts("hit_validate")
        floor.step(ev.Answer(prompt.id, prompt.choices[0], FLOOR))
    return hit


@clauses("688a.11(h)(4)(i)(B)(3)", "688a.11(h)(4)(i)(B)(4)/2")
@pytest.mark.parametrize(("kind", "light"), [("hit_dark", "dark"), ("hit_validate", "lit"), ("hand_pay", "lit")])
def test_the_person_who_claimed_a_hand_cannot_verify_it_with_a_second_credential(kind: str, light: str) -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    hit = to_state(floor, kind, light=light)
    before, held = hit.state, floor.held()
    (prompt,) = floor.prompts(kind)
    for choice in prompt.choices:
        why = refusal_text(floor.step(ev.Answer(prompt.id, choice, TWO_BADGES, 77 if prompt.number else None)))
        assert "F9 confirmed this hand as dealer; another person must answer this as floorperson" in why
    assert (hit.state, floor.held()) == (before, held)


def test_the_person_who_confirmed_a_hand_for_another_dealer_cannot_validate_it() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    claim(floor, 3, TENTH)
    floor.answer_prompt("hit_hand", who=ev.Person("dealer", "D2", person="P7"))
    floor.answer_prompt("hit_light")
    assert "as dealer" in refusal_text(
        floor.answer_prompt("hit_validate", who=ev.Person("floorperson", "F7", person="p7"))
    )
    floor.answer_prompt("hit_validate")


def test_the_person_who_checked_a_bet_cannot_document_its_hand_pay() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    to_state(floor, "hand_pay", light="dark")
    assert "F1 looked up this bet" in refusal_text(floor.answer_prompt("hand_pay", number=77))
    own = ev.Person("floorperson", "F8", person="F1")
    assert "F8 looked up this bet" in refusal_text(floor.answer_prompt("hand_pay", number=77, who=own))
    floor.answer_prompt("hand_pay", number=77, who=ev.Person("floorperson", "F2"))
    assert floor.book.balance(HAND_PAYS) > 0


@pytest.mark.parametrize("light", ["lit", "dark"])
def test_the_person_who_validated_a_payout_cannot_pay_it_as_dealer(light: str) -> None:
    floor = BettingTable("688a-progressive-1", bets=(3,))
    to_state(floor, "hit_pay", "full_house", light)
    assert "another person must pay it as dealer" in refusal_text(
        floor.answer_prompt("hit_pay", who=ev.Person("dealer", "D9", person="f1"))
    )
    floor.answer_prompt("hit_pay")
    assert floor.book.balance(FIXED) == 4 * DOLLAR


def test_a_deck_is_opened_by_two_persons_not_by_two_credentials() -> None:
    floor = IdealTable("face_up_pai_gow")
    floor.step(ev.DeckReceived("green", DEALER))
    while (prompt := next(each for each in floor.prompts() if each.deck == "green")).role == "dealer":
        floor.step(ev.Answer(prompt.id, prompt.choices[0], DEALER))
    assert prompt.role == "floorperson"
    why = refusal_text(floor.step(ev.Answer(prompt.id, prompt.choices[0], TWO_BADGES)))
    assert "the same person confirmed" in why
    assert "another person must confirm this" in why


# --- slips ------------------------------------------------------------------------------------------------------------


def test_a_slip_number_documents_one_hand_pay() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3, 6))
    for seat in (6, 3):
        claim(floor, seat, TENTH)
        confirmed(floor, seat)
        floor.answer_for_seat("hit_validate", seat)
    documented(floor, 6, 77)
    assert "slip 77 is used for another hand pay" in refusal_text(documented(floor, 3, 77))
    documented(floor, 3, 78)
    floor.finish()
    floor.play(ev.OpenRound(DEALER))
    claim(floor, 3, TENTH)
    confirmed(floor, 3)
    floor.answer_for_seat("hit_validate", 3)
    assert "slip 78" in refusal_text(documented(floor, 3, 78)), "nor in a later round"
    documented(floor, 3, 79)
    floor.finish()


def test_claims_are_published_with_their_order_and_a_rebooked_hit_keeps_its_number() -> None:
    floor = BettingTable("688a-progressive-1", bets=(3, 6))
    claim(floor, 6, TENTH)
    claim(floor, 3, TENTH)
    floor.answer_for_seat("hit_hand", 6, "not_winning")
    reported = [each for _, decided in floor.log for each in decided if isinstance(each, (HitClaimed, HitRebooked))]
    assert [(each.seat, each.hit == reported[1].hit) for each in reported] == [(6, False), (3, True), (3, True)]
    assert findings(floor.log[-1][1], "claim_withdrawn")
    assert not [p for p in decisions_of(Prompt, floor.log[-1][1]) if p.kind == "hit_validate"]
