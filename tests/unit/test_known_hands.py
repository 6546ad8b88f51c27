"""Known cards in live play: what may be entered when, what is refused, and what the table proposes by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.ledger.money import DOLLAR
from table_controller.rulebook.cards import format_cards
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Booked, Proposal, RequestRefused, WagerSettled
from tests.support.core.ideal_table import (
    DEALER,
    FLOOR,
    WILD_PROGRESSIVE,
    IdealTable,
    decisions_of,
    findings,
    refusal_text,
)
from tests.support.core.two_games import ALL_WAGERS, ASIA, BONUS, PAI_GOW
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision

SAIGON: Final = "saigon_5_card"
UNDER: Final = "over_under"
WILD: Final = "dj_wild"
# A hand of each game for seat 6, and one for the dealer, which share no card.
HAND: Final = {
    ASIA: "8s 8h 8d 8c As Ad Jh", PAI_GOW: "As Ah 2d 9h 5s 2c 5d", SAIGON: "Kc 7h 3s 9s 7d", WILD: "9s 9h 9d 7s 4s",
    UNDER: "Ts 7h 3d",
}  # fmt: skip
DEALERS: Final = {
    ASIA: "Ks Qh Td 7c 4s 3d 2c", PAI_GOW: "Ks Kh 9d 7c 4s Qd Jc", SAIGON: "Ks Qh 6d 4c 2s", WILD: "Ks Qh 8d 6c 3h",
}  # fmt: skip
# How a player set the hand above.
SETTING: Final = {
    ASIA: "8s 8h 8d 8c | As Ad | Jh", PAI_GOW: "As Ah 2d 9h 2c | 5s 5d", SAIGON: "Kc 7h 3s | 9s 7d",
}  # fmt: skip
REVEAL: Final = {ASIA: "575.11(c)", PAI_GOW: "688a.11(c)", SAIGON: "680a.11(c)", WILD: "687a.11(d)"}


def table_at(game: str, phase: str = mc.SETTLING, **choices: Any) -> IdealTable:
    """Return a table in a phase of its first round, with one seat."""
    table = IdealTable(game, **choices).start("blue", "red")
    table.seats = (6,)
    return table.play_to(phase)


def deal_additional(table: IdealTable) -> None:
    """Deal the additional cards of the seat that is asked for."""
    for event in table.answer(table.prompt("additional_cards")):
        table.step(event)


def compare(table: IdealTable) -> None:
    """Confirm that the dealer's hand is set in the house way, if that is asked."""
    for _ in table.prompts("dealer_set"):
        table.answer_prompt("dealer_set")


def enter(table: IdealTable, place: int, cards: str, who: ev.Person = DEALER) -> list[Decision]:
    return table.step(ev.HandEntered(place, cards, who))


def known(game: str, *, setting: bool = True, **choices: Any) -> IdealTable:
    """Return a table whose seat 6 and dealer have known cards, set where the game sets hands."""
    table = table_at(game, **choices)
    enter(table, 0, DEALERS[game])
    enter(table, 6, HAND[game])
    compare(table)
    if setting and game in SETTING:
        table.step(ev.SettingEntered(6, SETTING[game], DEALER))
    return table


def proposals(table: IdealTable, kind: str = "settled") -> dict[str, Proposal]:
    return {each.wager: each for each in table.prompt(kind).proposals}


# --- when cards may be entered ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "phase"),
    [
        (game, phase)
        for game in REVEAL
        for phase in (mc.IDLE, mc.BETTING, mc.NO_MORE_BETS, mc.DEALING, mc.PLAYING)
        if phase != mc.NO_MORE_BETS or game not in (SAIGON, WILD)  # they find no starting position
    ],
)
def test_no_card_is_known_before_the_procedure_exposed_it(game: str, phase: str) -> None:
    table = table_at(game, phase)
    not_yet = f"exposed yet ({REVEAL[game]})"
    if not (game == PAI_GOW and phase == mc.PLAYING):  # its dealer's hand is dealt face up
        assert refusal_text(enter(table, 0, DEALERS[game])) == f"the dealer's cards are not {not_yet}"
    refused = refusal_text(enter(table, 6, HAND[game]))
    there = table.round_.seats == (6,)
    assert refused == f"the cards of seat 6 are not {not_yet}" if there else "seat 6 has no hand" in refused
    assert not table.round_.hands


def test_the_dealers_hand_that_is_dealt_face_up_is_known_before_the_players_set_theirs() -> None:
    table = table_at(PAI_GOW, mc.PLAYING)
    assert enter(table, 0, DEALERS[PAI_GOW]) == []
    assert format_cards(table.round_.hands[0].cards) == DEALERS[PAI_GOW]


def test_where_a_hand_gets_more_cards_it_is_entered_when_it_has_all() -> None:
    table = table_at(UNDER)
    assert refusal_text(enter(table, 6, HAND[UNDER])).startswith("seat 6 has not all its cards yet (686a.")
    deal_additional(table)
    enter(table, 6, HAND[UNDER])
    assert format_cards(table.round_.hands[6].cards) == HAND[UNDER]
    assert proposals(table), "the total decides"
    assert refusal_text(enter(table, 0, "As Ks Qs")) == "Over/Under has no dealer's hand"


def test_cards_of_a_seat_without_a_wager_and_entries_of_another_role_are_refused() -> None:
    table = table_at(WILD)
    assert "seat 3 has no hand in this round" in refusal_text(enter(table, 3, HAND[WILD]))
    assert refusal_text(enter(table, 6, HAND[WILD], FLOOR)).startswith("only the dealer enters this; a floorperson")
    assert not table.round_.hands


@pytest.mark.parametrize("game", [ASIA, PAI_GOW])
def test_a_surrendered_hand_is_never_entered(game: str) -> None:
    table = table_at(game)
    enter(table, 0, DEALERS[game])
    compare(table)
    table.answer_prompt("settled", "surrendered")
    assert "was surrendered and stays face down" in refusal_text(enter(table, 6, HAND[game]))


def test_a_surrendered_over_under_hand_is_face_up_and_settles_its_bonus_wager() -> None:
    """686a.7(g)#2, (h): two more cards are dealt face up after a surrender, and the Bonus Wager is settled by them."""
    table = IdealTable(UNDER, wagers=["bonus"], paytables={"bonus": "686a-bonus"}).start("blue", "red")
    table.seats = (6,)
    table.play_to(mc.BETTING)
    table.step(ev.AmountEntered("bonus", 6, 500, DEALER))
    table.play_to(mc.PLAYING)
    table.answer_prompt("decide", "surrender")
    for each in table.answer(table.prompt("surrender_collected")):
        table.step(each)
    deal_additional(table)
    assert not decisions_of(RequestRefused, enter(table, 6, HAND[UNDER]))
    bonus = proposals(table)["bonus"]
    assert (bonus.outcome, bonus.hand, bonus.clauses[0]) == ("loses", "total 20", "686a.7(g)#2")


def test_a_void_round_settles_the_progressive_of_players_who_had_not_decided_by_their_cards() -> None:
    """687a.13(d): cards revealed before all raised; nobody can still place a raise, and cards are entered."""
    table = IdealTable(WILD, **WILD_PROGRESSIVE).start("blue", "red")
    table.seats, table.bets = (3, 6), {6}
    table.play_to(mc.PLAYING)
    table.declare("cards_revealed_before_raise")
    assert table.prompts("progressive")
    enter(table, 6, "9s 9h 9d 7s 7d")
    assert proposals(table, "progressive")["progressive"].line == "Full House"
    assert table.prompt("progressive").choices[0] == "full_house"


@pytest.mark.parametrize("game", [ASIA, PAI_GOW])
def test_a_hand_that_was_exposed_is_not_surrendered_any_more(game: str) -> None:
    """575.11(d), 688a.11(d): a player announces it before the dealer exposes the hand. Known cards decide the wager."""
    table = known(game)
    assert table.prompt("settled").choices == ("confirmed", "disputed")
    assert "seat 6 may not surrender now" in refusal_text(table.declare("surrender", seat=6))
    table.answer_prompt("settled", "disputed")  # another seat's cards were entered: these lie face down
    table.answer_prompt("disputed", "enter_again")
    assert table.prompt("settled").choices == ("settled", "surrendered")


# --- which cards ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "why"),
    [
        ("9s 9h 9d 7s", "4 cards; a hand has 5"),
        ("9s 9h 9d 7s 4s 2s", "6 cards; a hand has 5"),
        ("9s 9h 9d 7s 9s", "9s appears 2 times, the cards in use have 1"),
        ("9s 9h 9d 7s Ks", "Ks appears 2 times"),  # the dealer has it
        ("9s 9h 9d 7s 10s", "'10s' is not a card; a ten is written T, as Ts"),
        ("Jk Jk 9d 7s 4s", "Jk appears 2 times, the cards in use have 1"),
        ("", "0 cards; a hand has 5"),
    ],
)
def test_a_hand_that_cannot_be_is_refused_and_nothing_is_lost(cards: str, why: str) -> None:
    table = table_at(WILD)
    enter(table, 0, DEALERS[WILD])
    enter(table, 6, HAND[WILD])
    before = table.table.snapshot()
    assert why in refusal_text(enter(table, 6, cards))
    assert table.table.snapshot() == before


def test_a_game_without_a_joker_has_none() -> None:
    table = table_at(UNDER)
    deal_additional(table)
    assert "this game has none" in refusal_text(enter(table, 6, "Jk 7h 3d"))


def test_the_replacement_card_of_the_joker_is_entered_by_hand() -> None:
    """687a.10(c), 687a.11(f)(1): it lies apart, and is no other card of the round."""
    table = table_at(WILD)
    refused = refusal_text(table.step(ev.ReplacementEntered("Qs", DEALER)))
    assert refused == "no player's known hand has the joker; enter that hand first"
    enter(table, 6, "Jk 9h 9d 7s 4s")
    assert "9h appears 2 times" in refusal_text(table.step(ev.ReplacementEntered("9h", DEALER)))
    assert "2 cards; a hand has 1" in refusal_text(table.step(ev.ReplacementEntered("9c 8c", DEALER)))
    assert table.round_.replacement_card is None
    table.step(ev.ReplacementEntered("9c", DEALER))
    assert format_cards([table.round_.replacement_card or 0]) == "9c"


# --- how the player set the hands -------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", SETTING)
def test_known_cards_alone_settle_no_main_wager_where_the_player_sets_the_hand(game: str) -> None:
    table = known(game, setting=False)
    assert table.prompt("settled").choices[0] == "settled"
    assert not table.prompt("settled").proposals
    table.step(ev.SettingEntered(6, SETTING[game], DEALER))
    asked = table.prompt("settled")
    assert asked.choices[:2] == ("confirmed", "disputed")
    assert asked.proposals
    assert all(proposal.clauses for proposal in asked.proposals)


@pytest.mark.parametrize("game", SETTING)
def test_the_house_way_is_used_for_a_player_only_where_the_player_asks(game: str) -> None:
    table = table_at(game)
    enter(table, 0, DEALERS[game])
    assert "are not known; enter them first" in refusal_text(table.step(ev.HouseWayAsked(6, DEALER)))
    enter(table, 6, HAND[game])
    compare(table)
    assert table.round_.hands[6].setting is None
    table.step(ev.HouseWayAsked(6, DEALER))
    hand = table.round_.hands[6]
    assert hand.is_house_way
    assert hand.setting == table.table.context.terms.set_by_house_way(hand.cards)
    assert table.prompt("settled").proposals


@pytest.mark.parametrize(
    ("hands", "why"),
    [
        ("As Ah 2d 9h 2c | 5s", "each card is set once"),
        ("As Ah 2d 9h 2c | 5s Kd", "each card is set once"),
        ("As Ah 2d 9h 2c 5s 5d", "set into 2 hands"),
        ("As Ah 2d 9h 2c | 5s | 5d", "set into 2 hands"),
    ],
)
def test_a_setting_that_is_none_is_refused(hands: str, why: str) -> None:
    table = known(PAI_GOW, setting=False)
    before = table.table.snapshot()
    assert why in refusal_text(table.step(ev.SettingEntered(6, hands, DEALER)))
    assert table.table.snapshot() == before


def test_games_without_set_hands_take_no_setting() -> None:
    wild = known(WILD)
    for event in (ev.SettingEntered(6, "9s 9h | 9d 7s 4s", DEALER), ev.HouseWayAsked(6, DEALER)):
        assert refusal_text(wild.step(event)) == "nobody sets hands in DJ Wild Stud Poker"


def test_other_cards_forget_the_setting_and_the_same_cards_keep_it() -> None:
    table = known(PAI_GOW)
    enter(table, 6, " ".join(reversed(HAND[PAI_GOW].split())))
    assert table.round_.hands[6].setting is not None
    enter(table, 6, "As Ah 2d 9h 5s 2c 5h")
    assert table.round_.hands[6].setting is None


# --- how the dealer's hand is set -------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", SETTING)
def test_the_dealers_known_hand_is_compared_with_the_house_way_before_the_first_payment(game: str) -> None:
    table = table_at(game)
    enter(table, 0, DEALERS[game])
    asked, right = table.prompt("dealer_set"), table.table.context.terms.house_way(table.round_.hands[0].cards)
    assert not table.prompts("settled"), "nothing is paid before"
    assert asked.shows == f"{' | '.join(format_cards(hand) for hand in right.hands)}: {right.reason}"
    assert asked.clauses == table.table.context.clauses("house_way")
    table.answer_prompt("dealer_set")
    assert table.round_.hands[0].setting == right.hands
    assert table.prompts("settled")


@pytest.mark.parametrize("game", SETTING)
def test_a_dealers_hand_that_is_set_in_another_way_is_refused_with_the_right_one_and_its_reason(game: str) -> None:
    table = table_at(game)
    enter(table, 0, DEALERS[game])
    right = table.table.context.terms.house_way(table.round_.hands[0].cards)
    cards, sizes = sorted(table.round_.hands[0].cards), table.edition.hand.split
    wrong, at = [], 0
    for size in sizes:  # the low cards first
        wrong.append(cards[at : at + size])
        at += size
    before = table.table.snapshot()
    entry = " | ".join(format_cards(hand) for hand in wrong)
    refused = refusal_text(table.step(ev.SettingEntered(0, entry, DEALER)))
    assert right.reason in refused or "dealer: the hands are foul" in refused
    assert table.table.snapshot() == before
    again = " | ".join(format_cards(hand) for hand in right.hands)
    table.step(ev.SettingEntered(0, again, DEALER))
    assert not table.prompts("dealer_set")
    assert table.prompts("settled")


# --- what is proposed, confirmed and disputed -------------------------------------------------------------------------


@pytest.mark.parametrize("game", DEALERS)
def test_a_confirmed_proposal_is_journaled_with_clause_cards_and_result(game: str) -> None:
    table = known(game)
    shown = proposals(table)
    settled = decisions_of(WagerSettled, table.answer_prompt("settled", "confirmed"))
    assert {each.result.wager: each.result for each in settled} == shown
    assert {each.cards[1] for each in settled} == {DEALERS[game]}
    assert all(each.seat == 6 and each.round == 1 and each.result.hand for each in settled)
    assert table.round_.settled == [6]


def test_a_disputed_settlement_waits_for_a_floorperson() -> None:
    table = known(WILD)
    decided = table.answer_prompt("settled", "disputed")
    assert findings(decided, "settlement_disputed")
    asked = table.prompt("disputed")
    assert (asked.role, asked.choices) == ("floorperson", ("stands", "enter_again", "dealer_settles"))
    assert asked.proposals, "the floorperson sees hand and clause"
    assert not table.prompts("settled")
    assert table.round_.settled == []
    assert "a floorperson rules first" in refusal_text(enter(table, 6, "9s 9h 9d 7s 5s"))
    assert "the floorperson must answer" in refusal_text(table.answer_prompt("disputed", who=DEALER))
    settled = decisions_of(WagerSettled, table.answer_prompt("disputed", "stands", who=FLOOR))
    assert [each.seat for each in settled] == [6] * len(asked.proposals)
    assert table.round_.settled == [6]


def test_after_a_dispute_the_cards_are_entered_again() -> None:
    table = known(WILD)
    table.answer_prompt("settled", "disputed")
    table.answer_prompt("disputed", "enter_again", who=FLOOR)
    assert not table.round_.hands
    assert table.prompt("settled").choices == ("settled",)
    enter(table, 0, DEALERS[WILD])
    enter(table, 6, "4s 5h 7d 9s Tc")
    assert {each.outcome for each in proposals(table).values()} == {"loses"}


def test_after_a_dispute_the_dealer_settles_without_the_cards() -> None:
    table = known(WILD)
    table.answer_prompt("settled", "disputed")
    table.answer_prompt("disputed", "dealer_settles", who=FLOOR)
    asked = table.prompt("settled")
    assert (asked.choices, asked.proposals) == (("settled",), ())
    assert decisions_of(WagerSettled, table.answer_prompt("settled")) == []
    assert table.round_.settled == [6]


def test_side_wagers_are_proposed_with_their_line_and_odds() -> None:
    table = IdealTable(PAI_GOW, **ALL_WAGERS).start("blue", "red")
    table.seats, table.side = (6,), {"fortune": (6,), "ace_high": (6,)}
    table.play_to(mc.SETTLING)
    enter(table, 0, DEALERS[PAI_GOW])
    enter(table, 6, "As Ah Ad 9h 9s 2c 5d")
    compare(table)
    table.step(ev.AmountEntered("fortune", 6, 1000, DEALER))
    table.step(ev.SettingEntered(6, "As Ah Ad 2c 5d | 9h 9s", DEALER))
    table.answer_prompt("settled", "confirmed")
    shown = proposals(table, "side_settled")
    fortune = shown["fortune"]
    assert (fortune.outcome, fortune.line, fortune.odds) == ("wins", "Full House", (5, 1))
    assert fortune.paid_cents == 5000
    assert shown["ace_high"].outcome == "loses"
    decided = table.answer_prompt("side_settled", "disputed")
    assert findings(decided, "settlement_disputed")
    settled = decisions_of(WagerSettled, table.answer_prompt("side_disputed", "stands", who=FLOOR))
    assert {each.result.wager for each in settled} == {"fortune", "ace_high"}


# --- amounts ----------------------------------------------------------------------------------------------------------


def test_amounts_are_within_the_limits_of_the_table() -> None:
    table = IdealTable(WILD, least_wagers_cents={"ante": 500}, most_wagers_cents={"ante": 10_000}).start("blue", "red")
    table.play_to(mc.SETTLING)
    for cents, why in ((499, "below the table minimum of 500"), (10_001, "above the table maximum of 10000")):
        assert why in refusal_text(table.step(ev.AmountEntered("ante", 6, cents, DEALER)))
    assert "has no wager fortune" in refusal_text(table.step(ev.AmountEntered("fortune", 6, 500, DEALER)))
    assert "seat 2 has no main wager" in refusal_text(table.step(ev.AmountEntered("ante", 2, 500, DEALER)))
    assert not table.round_.amounts
    table.step(ev.AmountEntered("ante", 6, 500, DEALER))
    enter(table, 0, DEALERS[WILD])
    enter(table, 6, HAND[WILD])
    assert proposals(table)["ante"].paid_cents == 500, "with the amount the payment is known"
    table.answer_prompt("settled", "confirmed")
    assert refusal_text(table.step(ev.AmountEntered("ante", 6, 600, DEALER))).startswith("seat 6 is settled")


def stating(results: dict[str, tuple[int, ...]]) -> ev.SeatsSettled:
    return ev.SeatsSettled(DEALER, results.get("wins", ()), results.get("loses", ()), results.get("pushes", ()))


# --- many seats at once -----------------------------------------------------------------------------------------------


def test_many_seats_are_settled_at_once_and_known_cards_are_not_contradicted() -> None:
    table = IdealTable(SAIGON).start("blue", "red")
    table.play_to(mc.SETTLING)
    enter(table, 0, DEALERS[SAIGON])
    enter(table, 6, HAND[SAIGON])
    compare(table)
    table.step(ev.SettingEntered(6, SETTING[SAIGON], DEALER))
    right = proposals(table)["ante"]
    wrong = {"wins": "loses", "loses": "wins", "pushes": "wins"}[right.outcome]
    refused = refusal_text(table.step(stating({wrong: (6, 3, 1)})))
    assert refused.startswith(f"seat 6: {right.hand}; the ante {right.outcome} and not {wrong} ({right.clauses[0]}")
    assert table.round_.settled == []
    assert "settle seats 6 first" in refusal_text(table.step(ev.SeatsSettled(DEALER, wins=(1,))))
    assert "each seat once" in refusal_text(table.step(ev.SeatsSettled(DEALER, wins=(6,), loses=(6,))))
    assert "each seat once" in refusal_text(table.step(ev.SeatsSettled(DEALER)))
    assert refusal_text(table.step(ev.SeatsSettled(FLOOR, wins=(6,)))) == "only the dealer enters this"
    others = {"wins": (6, 1), "loses": (3,)} if right.outcome == "wins" else {right.outcome: (6,), "wins": (3, 1)}
    settled = decisions_of(WagerSettled, table.step(stating(others)))
    assert [each.seat for each in settled] == [6, 3, 1]
    assert [bool(each.result.hand) for each in settled] == [True, False, False]
    assert table.round_.settled == [6, 3, 1]


def test_nothing_is_settled_at_once_before_the_reveal_or_before_a_seat_has_its_cards() -> None:
    table = table_at(WILD, mc.PLAYING)
    assert refusal_text(table.step(ev.SeatsSettled(DEALER, wins=(6,)))) == "no seat is to be settled now"
    under = IdealTable(UNDER).start("blue", "red")
    under.play_to(mc.SETTLING)
    assert refusal_text(under.step(ev.SeatsSettled(DEALER, wins=(1,)))) == "no seat is to be settled now"
    deal_additional(under)
    assert refusal_text(under.step(ev.SeatsSettled(DEALER, wins=(1, 3)))).startswith("settle seats 1 first")
    under.step(ev.SeatsSettled(DEALER, wins=(1,)))
    assert under.round_.settled == [1]


def test_known_hands_survive_a_snapshot() -> None:
    table = known(PAI_GOW)
    before = table.table.snapshot()
    table.table.restore(before)
    assert table.round_.hands[6].setting is not None
    assert table.table.snapshot() == before


# --- a progressive bet -----------------------------------------------------------------------------------------------


def with_bet(cards: str) -> IdealTable:
    """Return a table whose seat 6 has a progressive bet and known cards, its other wagers settled."""
    table = IdealTable(PAI_GOW, **ALL_WAGERS).start("blue", "red")
    table.seats, table.bets = (6,), {6}
    table.play_to(mc.SETTLING)
    enter(table, 6, cards)
    table.answer_prompt("settled")
    return table


def test_known_cards_decide_what_a_progressive_bet_won() -> None:
    table = with_bet("As Ah Ad 9h 9s 2c 5d")
    asked = table.prompt("progressive")
    assert asked.choices == ("full_house", "disputed")
    assert "is not an answer" in refusal_text(table.answer_prompt("progressive", "no_win"))
    assert "is not an answer" in refusal_text(table.answer_prompt("progressive", "royal_flush"))
    decided = table.answer_prompt("progressive", "full_house")
    assert [each.result.line for each in decisions_of(WagerSettled, decided)] == ["Full House"]
    hit = table.state.money.hit_of(6)
    assert hit is not None
    assert hit.hand == "full_house"
    table.answer_prompt("hit_hand")
    table.answer_prompt("hit_light")
    shown = "As Ah Ad 9h 9s 2c 5d; Full House; $25.00"
    assert table.prompt("hit_validate").shows == shown, "the floorperson sees hand, line and amount"


def test_cards_that_win_nothing_claim_nothing() -> None:
    table = with_bet("As Kh Qd 9h 7s 2c 5d")
    assert table.prompt("progressive").choices == ("no_win", "disputed")


def test_a_disputed_claim_is_ruled_by_a_floorperson() -> None:
    table = with_bet("As Ah Ad 9h 9s 2c 5d")
    assert findings(table.answer_prompt("progressive", "disputed"), "settlement_disputed")
    assert not table.prompts("progressive")
    assert table.state.money.bets[6].state == "open"
    ruling = table.prompt("claim_disputed")
    assert (ruling.role, ruling.shows) == ("floorperson", "As Ah Ad 9h 9s 2c 5d")
    assert ruling.choices == ("stands", "enter_again", "ranked_otherwise", "cards_mixed")
    assert refusal_text(enter(table, 6, "As Kh Qd 9h 7s 2c 5d")).startswith("the settlement of seat 6 is disputed")
    table.answer_prompt("claim_disputed", "stands")
    assert table.prompt("progressive").choices == ("full_house",)


@pytest.mark.parametrize("reason", ["ranked_otherwise", "cards_mixed"])
def test_a_floorpersons_ruling_against_the_cards_has_a_reason_and_stays_visible(reason: str) -> None:
    table = with_bet("As Ah Ad 9h 9s 2c 5d")
    table.answer_prompt("progressive", "disputed")
    (ruled,) = findings(table.answer_prompt("claim_disputed", reason), "dispute_ruled")
    assert ruled.text == f"round 1, seat 6, progressive: {reason} by F1; As Ah Ad 9h 9s 2c 5d: Full House"
    asked = table.prompt("progressive")
    assert asked.choices[0] == "no_win"
    assert len(asked.choices) > 2
    visible = f"As Ah Ad 9h 9s 2c 5d; {reason.replace('_', ' ')}, ruled by F1"
    assert asked.shows == visible
    table.answer_prompt("progressive", "four_of_a_kind")
    table.answer_prompt("hit_hand")
    table.answer_prompt("hit_light")
    assert table.prompt("hit_validate").shows == f"{visible}; Four of a Kind; $100.00", "whoever validates sees it too"


def test_a_dispute_may_have_the_cards_entered_again() -> None:
    table = with_bet("As Ah Ad 9h 9s 2c 5d")
    assert "seat 6 is settled" in refusal_text(enter(table, 6, "As Ah Ad Ac 9s 2c 5d")), "the dealer changes no card"
    table.answer_prompt("progressive", "disputed")
    table.answer_prompt("claim_disputed", "enter_again")
    assert table.prompt("progressive").choices == ("no_win",)
    enter(table, 6, "As Ah Ad Ac 9s 2c 5d")
    assert table.prompt("progressive").choices == ("four_of_a_kind", "disputed")


# --- a winning claim needs the cards ----------------------------------------------------------------------------------


def without_cards(game: str = PAI_GOW, **choices: Any) -> IdealTable:
    """Return a table that asks for the progressive hand of seat 6, whose cards are not known."""
    table = IdealTable(game, **(choices or ALL_WAGERS)).start("blue", "red")
    table.seats, table.bets = (6,), {6}
    table.play_to(mc.SETTLING)
    table.answer_prompt("settled")
    return table


def claiming(table: IdealTable, hand: str) -> ev.Answer:
    return ev.Answer(table.prompt("progressive").id, hand, DEALER)


@clauses("688a.11(h)(4)(i)(A)")
def test_a_line_is_claimed_only_with_known_cards() -> None:
    table = without_cards()
    assert table.prompt("progressive").choices == ("no_win",)
    before = table.table.snapshot()
    refused = refusal_text(table.step(claiming(table, "full_house")))
    assert refused == (
        "seat 6: a hand wins only by its cards; first enter its cards (enter_hand, card pad) (688a.11(h)(4)(i)(A))"
    )
    assert "is not an answer" in refusal_text(table.step(claiming(table, "a_pair_of_shoes")))
    assert table.table.snapshot() == before
    enter(table, 6, "As Ah Ad 9h 9s 2c 5d")
    assert table.prompt("progressive").choices == ("full_house", "disputed")
    assert "is not an answer" in refusal_text(table.step(claiming(table, "no_win"))), "known cards that win are no loss"
    assert "is not an answer" in refusal_text(table.step(claiming(table, "five_aces")))


def test_a_hand_that_the_dealer_mucks_needs_no_cards() -> None:
    table = without_cards()
    table.answer_prompt("progressive", "no_win")
    assert table.state.money.bets[6].state == "lost"
    refused = refusal_text(enter(table, 6, "As Ah Ad 9h 9s 2c 5d"))
    assert refused.startswith("seat 6 is settled; report an error to the floorperson")


@clauses("687a.11(f)(1)(i)")
def test_a_joker_without_its_replacement_card_claims_nothing() -> None:
    table = without_cards(WILD, **WILD_PROGRESSIVE)
    enter(table, 6, "9s 9h Jk 7s 4s")
    assert table.prompt("progressive").choices == ("no_win",)
    refused = refusal_text(table.step(claiming(table, "three_of_a_kind")))
    assert "first enter the card that replaces its joker (enter_replacement, card pad) (687a.11(f)(1)(i))" in refused
    table.step(ev.ReplacementEntered("9d", DEALER))
    assert table.prompt("progressive").choices == ("three_of_a_kind", "disputed")
    table.answer_prompt("progressive", "three_of_a_kind")
    table.answer_prompt("hit_hand")
    table.answer_prompt("hit_light")
    shown = "9s 9h Jk 7s 4s; joker replaced by 9d; Three-of-a-Kind; $9.00"
    assert table.prompt("hit_validate").shows == shown


def test_the_fully_wild_joker_of_the_paytable_ranks_the_hand() -> None:
    """688a's table 2 has five of a kind by a fully wild joker (F6); table 1 has not."""
    lines = {}
    for paytable in ("688a-progressive-1", "688a-progressive-2"):
        table = without_cards(wagers=["progressive"], paytables={"progressive": paytable})
        enter(table, 6, "9s 9h 9d 9c Jk 2c 5d")
        lines[paytable] = table.prompt("progressive").choices[0]
    assert lines == {"688a-progressive-1": "four_of_a_kind", "688a-progressive-2": "five_of_a_kind"}


def test_a_dispute_of_the_main_wager_does_not_free_the_claim_from_the_cards() -> None:
    table = IdealTable(PAI_GOW, **ALL_WAGERS).start("blue", "red")
    table.seats, table.bets = (6,), {6}
    table.play_to(mc.SETTLING)
    enter(table, 0, DEALERS[PAI_GOW])
    compare(table)
    enter(table, 6, "As Ah Ad 9h 9s 2c 5d")
    table.step(ev.HouseWayAsked(6, DEALER))
    table.answer_prompt("settled", "disputed")
    table.answer_prompt("disputed", "dealer_settles")
    table.answer_prompt("settled")
    assert table.prompt("progressive").choices == ("full_house", "disputed")


def withdrawn(by: str) -> IdealTable:
    """Return a table where the claim of a full house is withdrawn: by the dealer, or a floorperson."""
    table = with_bet("As Ah Ad 9h 9s 2c 5d")
    table.answer_prompt("progressive", "full_house")
    steps = {"not_winning": ("hit_hand",), "refuse": ("hit_hand", "hit_light", "hit_validate")}[by]
    for kind in steps[:-1]:
        table.answer_prompt(kind)
    assert findings(table.answer_prompt(steps[-1], by), "claim_withdrawn")
    return table


@pytest.mark.parametrize("by", ["not_winning", "refuse"])
def test_a_claim_by_wrong_cards_is_withdrawn_and_its_cards_are_corrected(by: str) -> None:
    table = withdrawn(by)
    assert table.prompt("progressive").choices == ("full_house", "disputed"), "the cards still win"
    assert "is not an answer" in refusal_text(table.step(claiming(table, "no_win")))
    (corrected,) = findings(enter(table, 6, "As Ah Qd 9h 7s 2c 5d"), "claimed_cards_corrected")
    assert corrected.text == "round 1, seat 6: As Ah Ad 9h 9s 2c 5d by D1 is now As Ah Qd 9h 7s 2c 5d by D1"
    assert table.prompt("progressive").choices == ("no_win", "disputed")
    table.answer_prompt("progressive", "no_win")
    assert table.state.money.bets[6].state == "lost"
    assert table.state.money.hit_of(6) is None


def test_a_hit_that_stands_keeps_its_cards_although_its_seat_is_settled_again() -> None:
    table = with_bet("As Ah Ad 9h 9s 2c 5d")
    table.answer_prompt("progressive", "full_house")
    table.declare("dealer_hand_misset")
    table.clear_holds()
    assert 6 not in table.round_.settled
    refused = refusal_text(enter(table, 6, "As Ah Ad Ac 9s 2c 5d"))
    assert refused.startswith("a hit is claimed by the cards of seat 6; withdraw that claim first (688a.11(h)(4)(i)(A)")
    table.step(ev.SettingEntered(6, "As Ah Ad 2c 5d | 9h 9s", DEALER))
    assert table.round_.hands[6].setting is not None, "how the player set the same cards"


@clauses("687a.11(b)(3)")
def test_a_folded_hand_claims_by_its_cards() -> None:
    table = IdealTable(WILD, **WILD_PROGRESSIVE).start("blue", "red")
    table.seats, table.bets = (6,), {6}
    table.play_to(mc.PLAYING)
    while not table.prompts("decide"):
        for event in table.answer(table.prompts()[0]):
            table.step(event)
    table.answer_prompt("decide", "fold")
    for _ in range(20):
        if table.prompts("progressive"):
            break
        for event in table.answer(table.prompts()[0]):
            table.step(event)
    assert table.prompt("progressive").choices == ("no_win",)
    enter(table, 6, "9s 9h 9d 7s 4s")
    assert table.prompt("progressive").choices == ("three_of_a_kind", "disputed")


def test_a_withdrawn_claim_may_be_made_again_by_the_same_cards() -> None:
    table = withdrawn("refuse")
    table.answer_prompt("progressive", "full_house")
    hit = table.state.money.hit_of(6)
    assert hit is not None
    assert hit.state == "claimed"


# --- envy -------------------------------------------------------------------------------------------------------------

FORTUNE: Final[dict[str, Any]] = {"wagers": ["fortune"], "paytables": {"fortune": "688a-fortune-1"}}


def with_envy(amounts: dict[int, int]) -> IdealTable:
    """Return a table where seats 1, 3 and 6 have Fortune wagers; seat 3 has four aces, and all cards are known."""
    table = IdealTable(PAI_GOW, **FORTUNE).start("blue", "red")
    table.side = {"fortune": (1, 3, 6)}
    table.play_to(mc.BETTING)
    for seat, cents in amounts.items():
        table.step(ev.AmountEntered("fortune", seat, cents, DEALER))
    table.play_to(mc.SETTLING)
    enter(table, 0, DEALERS[PAI_GOW])
    compare(table)
    for seat, cards in ((1, "2s 4h 6d 8s Th Jd Qs"), (3, "As Ah Ad Ac 9s 2c 5d"), (6, "2h 3h 5s 7s 8h Js Ts")):
        enter(table, seat, cards)
        table.step(ev.HouseWayAsked(seat, DEALER))
    return table


def settle_until_envy(table: IdealTable) -> dict[int | None, tuple[str, ...]]:
    """Settle until envy is to be paid; return what could be answered about each hand."""
    judged = {}
    for _ in range(40):
        if table.prompts("envy_paid") or table.phase != mc.SETTLING:
            break
        asked = table.prompts()[0]
        if asked.kind == "envy_hand":
            judged[asked.seat] = asked.choices
        for event in table.answer(asked):
            table.step(event)
    return judged


@pytest.mark.parametrize(("ruling", "recorded"), [("stands", [(1, 3)]), ("dealer_settles", [])])
def test_a_dealer_disputes_proposed_envy_and_a_floorperson_rules(ruling: str, recorded: list[tuple[int, int]]) -> None:
    table = with_envy({1: 500, 3: 500, 6: 499})
    settle_until_envy(table)
    asked = table.prompt("envy_paid")
    assert asked.choices == ("confirmed", "disputed")
    table.answer_prompt("envy_paid", "disputed")
    assert table.prompt("envy_disputed").proposals == asked.proposals
    assert not table.prompts("envy_paid")
    decided = table.answer_prompt("envy_disputed", ruling)
    assert findings(decided, "dispute_ruled")
    if ruling == "dealer_settles":
        assert table.prompt("envy_paid").proposals == ()
        decided = table.answer_prompt("envy_paid", "done")
    assert [(each.seat, each.result.envy_of) for each in decisions_of(WagerSettled, decided)] == recorded
    assert not table.prompts("envy_paid")


@pytest.mark.parametrize(("ruling", "paid"), [("no", True), ("announced", False)])
def test_a_dealer_disputes_whether_a_known_hand_pays_envy(ruling: str, paid: bool) -> None:
    """A card of seat 1 was entered wrong: what the floorperson sees there counts, and its cards decide no more."""
    table = with_envy({1: 500, 3: 500, 6: 500})
    while not table.prompts("envy_hand") or table.prompt("envy_hand").seat != 1:
        for event in table.answer(table.prompts()[0]):
            table.step(event)
    table.answer_prompt("envy_hand", "disputed")
    assert table.prompt("envy_hand_disputed").choices == ("no", "announced")
    assert refusal_text(enter(table, 1, "2s 4h 6d 8s Th Jd Qh"))
    table.answer_prompt("envy_hand_disputed", ruling)
    assert (1 in table.round_.hands) is paid
    settle_until_envy(table)
    assert bool(table.prompt("envy_paid").proposals) is paid
    assert (1 in table.round_.envy_hands) is not paid


def test_a_floorperson_corrects_the_cards_of_a_settled_seat_that_are_in_the_way_of_another_hand() -> None:
    """A wrong card of seat 6 was harmless there, but seat 3 really has it, and wins the progressive by it."""
    table = IdealTable(WILD, **WILD_PROGRESSIVE).start("blue", "red")
    table.seats, table.bets = (3, 6), {3}
    table.play_to(mc.SETTLING)
    enter(table, 0, DEALERS[WILD])
    enter(table, 6, "9s 9h Jd 7s 4s")  # its jack is the one of clubs
    table.answer_prompt("settled", "confirmed")
    assert "Jd appears 2 times" in refusal_text(enter(table, 3, "Jd Js Jh Td Tc"))
    assert refusal_text(enter(table, 6, "9s 9h Jc 7s 4s")).startswith("seat 6 is settled")
    corrected = enter(table, 6, "9s 9h Jc 7s 4s", FLOOR)
    (finding,) = findings(corrected, "settled_cards_corrected")
    assert finding.text.endswith("seat 6: 9s 9h Jd 7s 4s by D1 is now 9s 9h Jc 7s 4s by F1")
    assert not decisions_of(WagerSettled, corrected), "what is settled stays"
    enter(table, 3, "Jd Js Jh Td Tc")
    table.answer_prompt("settled", "confirmed")
    assert table.prompt("progressive").choices == ("full_house", "disputed")
    table.answer_prompt("progressive")
    assert "a hit is claimed by the cards of seat 3" in refusal_text(enter(table, 3, "Jd Js Jh Td 9c", FLOOR))
    assert findings(enter(table, 3, "Jd Js Jh Td Ts", FLOOR), "settled_cards_corrected"), "it is a full house as well"
    otherwise = enter(table, 6, "9s 9h 9c 9d 4s", FLOOR)
    assert findings(otherwise, "settled_cards_corrected")[0].text.endswith("; check what was settled by them")


def test_a_floorperson_corrects_the_replacement_card_of_a_settled_bet_that_is_in_the_way_of_another_hand() -> None:
    """The ten of clubs was entered for that of diamonds: seat 6 lost with either, and seat 3 has the real one."""
    table = IdealTable(WILD, **WILD_PROGRESSIVE).start("blue", "red")
    table.seats, table.bets = (3, 6), {3, 6}
    table.play_to(mc.SETTLING)
    enter(table, 0, DEALERS[WILD])
    enter(table, 6, "9s Jk 7d 5s 4s")
    early = table.step(ev.ReplacementEntered("Tc", FLOOR))
    assert refusal_text(early).startswith("only the dealer enters this")
    table.step(ev.ReplacementEntered("Tc", DEALER))
    table.answer_prompt("settled", "confirmed")
    table.answer_prompt("progressive", "no_win")
    assert "Tc appears 2 times" in refusal_text(enter(table, 3, "Ah Tc 8c 6d 4d"))
    assert refusal_text(table.step(ev.ReplacementEntered("Td", DEALER))).startswith("seat 6 is settled")
    assert "appears 2 times" in refusal_text(table.step(ev.ReplacementEntered("7d", FLOOR)))
    corrected = table.step(ev.ReplacementEntered("Td", FLOOR))
    (finding,) = findings(corrected, "settled_cards_corrected")
    assert finding.text.endswith("replacement card of seat 6: Tc is now Td by F1")
    assert not decisions_of(WagerSettled, corrected), "what is settled stays"
    enter(table, 3, "Ah Tc 8c 6d 4d")
    assert {"ante", "blind", "raise"} == set(proposals(table))


def test_the_amount_of_an_optional_wager_is_entered_until_that_wager_is_settled() -> None:
    """575.11(h): the main wager is settled before the Bonus Wager, whose amount may still be unknown then, or wrong."""
    table = IdealTable(ASIA, **BONUS).start("blue", "red")
    table.seats, table.side = (6,), {"bonus": (6,)}
    table.play_to(mc.SETTLING)
    enter(table, 0, DEALERS[ASIA])
    enter(table, 6, HAND[ASIA])
    compare(table)
    table.step(ev.SettingEntered(6, SETTING[ASIA], DEALER))
    table.answer_prompt("settled", "confirmed")
    assert refusal_text(table.step(ev.AmountEntered("asia_poker", 6, 500, DEALER))).startswith("seat 6 is settled")
    table.step(ev.AmountEntered("bonus", 6, 500, DEALER))
    paid = proposals(table, "side_settled")["bonus"].paid_cents
    table.step(ev.AmountEntered("bonus", 6, 1000, DEALER))
    assert paid
    assert proposals(table, "side_settled")["bonus"].paid_cents == 2 * paid
    table.answer_prompt("side_settled", "confirmed")
    assert refusal_text(table.step(ev.AmountEntered("bonus", 6, 500, DEALER)))


def test_known_cards_decide_which_hands_pay_envy_to_which_seats_and_how_much() -> None:
    table = with_envy({1: 500, 3: 500, 6: 499})
    judged = settle_until_envy(table)
    assert judged == {1: ("no", "disputed"), 3: ("announced", "disputed"), 6: ("no", "disputed")}
    (bonus,) = table.prompt("envy_paid").proposals
    assert (bonus.envy_to, bonus.envy_of, bonus.wager) == (1, 3, "fortune"), (
        "$4.99 opens no envy, and nobody envies himself"
    )
    assert bonus.paid_cents
    settled = decisions_of(WagerSettled, table.answer_prompt("envy_paid"))
    assert [(each.seat, each.result.envy_of) for each in settled] == [(1, 3)]


PROGRESSIVE_ENVY: Final[dict[str, Any]] = {
    "wagers": ["progressive"], "paytables": {"progressive": "688a-progressive-4"},
}  # fmt: skip
# Four aces, which pay envy of $25.00; a hand that pays none; and a straight flush, $100.00.
ENVY_HANDS: Final = {1: "As Ah Ad Ac 9s 2c 5d", 3: "2s 4h 6d 8s Th Jd Qs", 6: "4c 5c 6c 7c 8c Kd Jh"}


def envy_paid(table: IdealTable, known: tuple[int, ...]) -> tuple[list[tuple[str, int | None, tuple[str, ...]]], int]:
    """Enter these hands when their bets or their envy are asked for, and settle; return the questions and the envy."""
    asked = []
    for _ in range(80):
        if table.phase != mc.SETTLING:
            break
        prompt = table.prompts()[0]
        seat = prompt.seat or 0
        kinds = ("progressive", "envy_line", "envy_hand")
        if prompt.kind in kinds and seat in known and seat not in table.round_.hands:
            enter(table, seat, ENVY_HANDS[seat])
            continue
        if prompt.kind in ("envy_line", "envy_hand"):
            asked.append((prompt.kind, prompt.seat, prompt.choices))
        for event in table.answer(prompt):
            table.step(event)
    entries = [each.entry for _, decided in table.log for each in decisions_of(Booked, decided)]
    return asked, sum(one.amount for entry in entries if entry.kind == "envy" for one in entry.transfers)


@clauses("688a.11(h)(2)(ii)", "688a.12(d)/3")
@pytest.mark.parametrize(
    ("bets", "known", "dollars"),
    [
        ({1, 3, 6}, (1, 3, 6), 2 * 25 + 2 * 100),  # two hands, each paid to both others
        ({3, 6}, (1, 3, 6), 2 * 25 + 100),  # seat 1 has no bet: it gets nothing, and its aces pay
        ({3}, (1, 3, 6), 25 + 100),
        ({1}, (1, 3, 6), 100),  # nobody else bets: the aces are paid to nobody
        ({6}, (1, 3, 6), 25),
    ],
)
def test_known_cards_pay_progressive_envy_to_every_other_bettor(
    bets: set[int], known: tuple[int, ...], dollars: int
) -> None:
    table = IdealTable(PAI_GOW, **PROGRESSIVE_ENVY).start("blue", "red")
    table.bets = bets
    table.play_to(mc.SETTLING)
    asked, paid = envy_paid(table, known)
    assert paid == dollars * DOLLAR
    lines = {1: "four_of_a_kind", 3: "no", 6: "straight_flush"}
    assert {(seat, choices) for _, seat, choices in asked} == {
        (seat, (lines[seat], "disputed")) for seat in lines if seat not in bets and bets - {seat}
    }, "the cards name the line of a hand without a bet"


@clauses("688a.11(h)(4)(i)(C)")
def test_a_hand_that_is_not_known_is_asked_about_and_not_guessed() -> None:
    table = IdealTable(PAI_GOW, **PROGRESSIVE_ENVY).start("blue", "red")
    table.bets = {6}
    table.play_to(mc.SETTLING)
    asked, paid = envy_paid(table, (6,))
    lines = ("no", "seven_card_natural_straight_flush", "royal_flush_plus_royal_match")
    assert [(seat, choices[:3]) for _, seat, choices in asked] == [(3, lines), (1, lines)]
    assert paid == 0, "the dealer named no hand"


@clauses("687a.12(c)/2")
@pytest.mark.parametrize(("replacement", "line"), [("8c", "straight_flush"), ("Kd", "none")])
def test_envy_of_a_joker_waits_for_its_replacement_card(replacement: str, line: str) -> None:
    table = IdealTable(WILD, **WILD_PROGRESSIVE).start("blue", "red")
    table.bets = {3}
    table.play_to(mc.SETTLING)
    for _ in range(40):
        if [prompt for prompt in table.prompts("envy_line") if prompt.seat == 6]:
            break
        for event in table.answer(table.prompts()[0]):
            table.step(event)

    def offered() -> tuple[str, ...]:
        (prompt,) = (each for each in table.prompts("envy_line") if each.seat == 6)
        return prompt.choices

    every = offered()
    assert len(every) > 2
    enter(table, 6, "4c 5c 6c 7c Jk")
    assert offered() == every, "not known yet"
    table.step(ev.ReplacementEntered(replacement, DEALER))
    assert offered() == (line,)
    assert refusal_text(enter(table, 6, "4c 5c 6c 7c 9d")).startswith("seat 6 is settled"), "its cards are known"


# --- entries that a later event could make impossible -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("wager", "cents", "why"),
    [("blind", 700, "blind = 700 cents must be 500"), ("raise", 700, "raise = 700 cents must be")],
)
def test_an_amount_that_contradicts_another_is_refused_and_nothing_changes(wager: str, cents: int, why: str) -> None:
    table = IdealTable(WILD, settings={"blind_amount": "equal_to_ante"}).start("blue", "red")
    table.seats = (6,)
    table.play_to(mc.SETTLING)
    enter(table, 0, DEALERS[WILD])
    enter(table, 6, HAND[WILD])
    table.step(ev.AmountEntered("ante", 6, 500, DEALER))
    before = table.table.snapshot()
    assert why in refusal_text(table.step(ev.AmountEntered(wager, 6, cents, DEALER)))
    assert table.table.snapshot() == before
    assert proposals(table)["ante"].paid_cents == 500


def test_a_wager_that_the_player_did_not_choose_has_no_amount() -> None:
    table = table_at(WILD, mc.PLAYING)
    assert "has no Raise Wager" in refusal_text(table.step(ev.AmountEntered("raise", 6, 1000, DEALER)))


def test_an_amount_before_the_lock_gives_nobody_a_wager_that_the_dealer_then_enters_for_others() -> None:
    """575: the dealer enters the seats of the Bonus Wager, which bars surrender; an amount alone does not."""
    table = IdealTable(ASIA, wagers=["bonus"], paytables={"bonus": "575-bonus-A"}).start("blue", "red")
    table.seats = (6,)
    table.play_to(mc.BETTING)
    table.step(ev.AmountEntered("bonus", 6, 500, DEALER))
    table.play_to(mc.SETTLING)
    assert table.round_.side_wagers == {"bonus": []}
    enter(table, 0, DEALERS[ASIA])
    compare(table)
    assert "surrendered" in table.prompt("settled").choices
    table.answer_prompt("settled", "surrendered")
    assert table.prompts("surrender_collected")


def test_a_dispute_of_what_the_dealers_cards_alone_decide_is_entered_again() -> None:
    table = table_at(PAI_GOW)
    enter(table, 0, "As Kh Qd 9c 8s 5d 3h")
    compare(table)
    assert proposals(table)["face_up_pai_gow_poker"].outcome == "pushes", "688a.11(f)(2)(iii): the dealer's ace high"
    table.answer_prompt("settled", "disputed")
    table.answer_prompt("disputed", "enter_again", who=FLOOR)
    assert not table.round_.hands
    assert table.prompt("settled").choices[0] == "settled"


def test_a_seat_with_optional_wagers_is_the_last_of_those_that_are_settled_at_once() -> None:
    """688a.11(h): its optional wagers are settled before the next seat."""
    table = IdealTable(PAI_GOW, **ALL_WAGERS).start("blue", "red")
    table.side = {"fortune": (3,)}
    table.play_to(mc.SETTLING)
    refused = refusal_text(table.step(ev.SeatsSettled(DEALER, wins=(6, 3, 1))))
    assert refused.startswith("settle seat 3 with its optional wagers before the next seat (688a.11(h)")
    table.step(ev.SeatsSettled(DEALER, wins=(6, 3)))
    assert table.round_.settled == [6, 3]
    assert not table.prompts("settled"), "seat 1 waits for the optional wagers of seat 3"


# --- entries that no table may fall over ------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 6])
@pytest.mark.parametrize(("game", "nothing"), [(ASIA, "||"), (PAI_GOW, "|"), (SAIGON, "|")])
def test_hands_without_cards_are_no_setting(game: str, nothing: str, place: int) -> None:
    table = table_at(game)
    assert "hand has" in refusal_text(table.step(ev.SettingEntered(place, nothing, DEALER)))
    assert not table.round_.hands
    if place:
        refused = refusal_text(table.step(ev.HouseWayAsked(place, DEALER)))
        assert "the cards of seat 6 are not known" in refused


def test_a_seat_that_two_irregularities_reopen_is_settled_again_once() -> None:
    table = known(ASIA)
    table.answer_prompt("settled", "confirmed")
    table.declare("dealer_hand_misset")
    table.declare("dealer_hand_misset")
    table.clear_holds()
    assert not table.round_.settled
    assert proposals(table)


def test_no_wager_of_a_hand_that_is_out_of_the_round_is_settled() -> None:
    table = IdealTable(ASIA, **BONUS).start("blue", "red")
    table.seats, table.side = (3, 6), {"bonus": (3, 6)}
    table.play_to(mc.SETTLING)
    table.declare("player_leaves", seat=3)
    wins = ev.SeatsSettled(DEALER, wins=(3,), wager="bonus")
    assert refusal_text(table.step(wins)) == "no seat is to be settled now", "a floorperson decides about it first"
    table.answer_prompt("player_left", "abandoned")
    assert refusal_text(table.step(wins)) == "the hand of seat 3 is out of the round (575.7(d))"


def test_a_bonus_is_not_settled_before_its_hand_has_all_its_cards() -> None:
    table = table_at(UNDER, mc.BETTING, wagers=["bonus"], paytables={"bonus": "686a-bonus"})
    table.step(ev.AmountEntered("bonus", 6, 500, DEALER))
    table.play_to(mc.SETTLING)
    stated = ev.SeatsSettled(DEALER, wins=(6,), wager="bonus")
    assert refusal_text(table.step(stated)).startswith("seat 6 has not all its cards yet (686a.")


def test_another_ante_changes_the_wagers_that_follow_from_it() -> None:
    """Neither amount could be corrected alone, because each contradicted the other."""
    table = known(WILD)
    for wager, cents in (("ante", 500), ("raise", 1000), ("ante", 700)):
        table.step(ev.AmountEntered(wager, 6, cents, DEALER))
    assert [proposals(table)[name].paid_cents for name in ("ante", "raise")] == [700, 1400]
    assert "must be 1400 (687a.7(d)(1)" in refusal_text(table.step(ev.AmountEntered("raise", 6, 1000, DEALER)))
