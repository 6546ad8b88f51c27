"""Reports between the last settlement and the end of the round, and what a void round returns first (X18)."""

from __future__ import annotations

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HoldOpened, RequestRefused, StateChanged, WagersReturned
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import DEALER, FLOOR, PEOPLE, IdealTable, decisions_of
from tests.support.core.setups import table_at
from tests.support.suite.clauses import clauses

MISSET = [
    pytest.param("asia_poker", marks=clauses("575.13(i)")),
    pytest.param("face_up_pai_gow", marks=clauses("688a.13(h)")),
]
MISCOUNTED = [
    pytest.param("asia_poker", marks=clauses("575.13(h)", "575.13(k)")),
    pytest.param("saigon_5_card", marks=clauses("680a.13(c)")),
    pytest.param("dj_wild", marks=clauses("687a.13(c)")),
    pytest.param("face_up_pai_gow", marks=clauses("688a.13(g)", "688a.13(j)")),
]


def all_settled(game: str) -> IdealTable:
    """Return a table where the last wager is settled and the cards are not collected yet."""
    floor = table_at(game, "auto", mc.COMPLETE)
    while not floor.prompts("collected"):
        floor.step(floor.answer(floor.prompts()[0])[0])
    assert floor.phase == mc.COMPLETE
    return floor


def asked(floor: IdealTable) -> list[tuple[str, str, int | None]]:
    """Answer questions about open irregularities with the first choice; return role, kind and seat of each."""
    results: list[tuple[str, str, int | None]] = []
    while holding := [prompt for prompt in floor.prompts() if prompt.hold is not None]:
        prompt = holding[0]
        choice = "void" if "void" in prompt.choices else prompt.choices[0]
        number = floor._number(prompt) if prompt.number else None
        results.append((prompt.role, prompt.kind, prompt.seat))
        floor.step(ev.Answer(prompt.id, choice, PEOPLE[prompt.role], number))
    return results


# --- after the last settlement ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", MISSET)
def test_a_hand_set_wrong_is_reported_after_the_last_settlement_and_every_seat_is_settled_anew(game: str) -> None:
    floor = all_settled(game)
    (before,) = floor.prompts("collected")
    decided = floor.declare("dealer_hand_misset")
    assert decisions_of(StateChanged, decided)[0].state == mc.SETTLING
    assert decisions_of(HoldOpened, decided)[0].outcomes == ("reset_dealer_hand", "continue_round")
    assert decisions_of(RequestRefused, floor.step(ev.Answer(before.id, "done", DEALER))), "no card is collected before"
    assert decisions_of(RequestRefused, floor.step(ev.OpenRound(DEALER))), "and no bets are opened"
    assert [(role, kind, seat) for role, kind, seat in asked(floor) if kind == "seat_reopened"] == [
        ("floorperson", "seat_reopened", 6), ("floorperson", "seat_reopened", 3), ("floorperson", "seat_reopened", 1),
    ]  # fmt: skip
    assert floor.round_.settled == []
    again = []
    while floor.prompts("settled"):
        again.append(floor.prompt("settled").seat)
        floor.answer_prompt("settled", "settled")
    assert again == [6, 3, 1]
    floor.settle()
    assert floor.phase == mc.IDLE
    assert floor.state.book.balance("blue", "seats") == 0
    floor.round()
    assert floor.phase == mc.IDLE


@pytest.mark.parametrize("game", MISSET)
def test_once_the_cards_are_collected_nothing_of_the_round_can_be_reported(game: str) -> None:
    floor = all_settled(game)
    floor.answer_prompt("collected")
    assert decisions_of(RequestRefused, floor.declare("dealer_hand_misset"))
    assert not floor.state.holds


@pytest.mark.parametrize("game", MISCOUNTED)
def test_a_wrong_number_of_cards_found_when_all_is_settled_reverses_every_seat(game: str) -> None:
    floor = all_settled(game)
    decided = floor.declare("wrong_card_count", seat=3)
    assert [one.round for one in decisions_of(WagersReturned, decided)] == [floor.round_.number]
    assert [each for each in asked(floor) if each[1].startswith("wagers")] == [
        ("floorperson", "wagers_reversed", 1), ("floorperson", "wagers_reversed", 3),
        ("floorperson", "wagers_reversed", 6), ("dealer", "wagers_returned", 3),
    ]  # fmt: skip
    floor.settle()
    assert floor.phase == mc.IDLE


@clauses("688a.13(h)")
def test_hands_that_envy_kept_and_that_were_collected_lie_there_again() -> None:
    floor = BettingTable("688a-progressive-4", bets=(6,)).play_to_settling().until_asked("collected")
    assert floor.round_.hands_collected
    floor.declare("dealer_hand_misset")
    assert floor.state.book.balance("blue", "seats") == 7 * 4, "three players and the dealer"
    floor.clear_holds()
    floor.settle()
    assert floor.phase == mc.IDLE
    assert floor.state.book.balance("blue", "seats") == 0


@pytest.mark.parametrize("game", MISSET)
def test_nothing_else_reopens_a_round_whose_wagers_are_settled(game: str) -> None:
    floor = all_settled(game)
    for trigger in ("player_card_exposed", "surrender", "face_up_card_first", "card_drawn_in_error", "player_leaves"):
        assert decisions_of(RequestRefused, floor.declare(trigger, seat=3)), trigger
    assert floor.phase == mc.COMPLETE


# --- returned wagers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trigger", ["other", "dealer_card_exposed", "face_up_card_first", "count_wrong"])
@pytest.mark.parametrize("game", ["asia_poker", "saigon_5_card", "dj_wild", "face_up_pai_gow"])
def test_a_void_that_a_floorperson_chooses_reverses_what_was_settled(game: str, trigger: str) -> None:
    floor = table_at(game, "auto", mc.SETTLING)
    floor.answer_prompt("settled", "settled")
    floor.declare(trigger, deck="blue" if trigger == "count_wrong" else None)
    questions = asked(floor)
    assert ("floorperson", "wagers_reversed", 6) in questions
    kinds = [kind for _, kind, _ in questions]
    assert kinds.index("wagers_reversed") < kinds.index("wagers_returned")
    assert kinds.count("wagers_reversed") == 1, "of the seat that was settled, and of no other"


@pytest.mark.parametrize("game", ["asia_poker", "saigon_5_card", "dj_wild", "face_up_pai_gow"])
def test_every_settled_seat_is_reversed_by_itself_and_by_a_floorperson(game: str) -> None:
    floor = table_at(game, "auto", mc.SETTLING)
    for _ in range(2):
        floor.answer_prompt("settled", "settled")
    floor.declare("wrong_card_count", seat=1)
    for seat in (3, 6):
        prompt = floor.prompt("wagers_reversed")
        assert (prompt.role, prompt.seat) == ("floorperson", seat)
        assert decisions_of(RequestRefused, floor.step(ev.Answer(prompt.id, "done", DEALER)))
        assert not floor.prompts("wagers_returned")
        floor.step(ev.Answer(prompt.id, "done", FLOOR))
    floor.answer_prompt("wagers_returned")
    floor.clear_holds()
    floor.settle()
    assert floor.phase == mc.IDLE


@clauses("687a.13(c)")
def test_wagers_of_folded_hands_that_were_taken_go_back_when_the_round_is_void() -> None:
    floor = table_at("dj_wild", "auto", mc.PLAYING)
    for choice in ("fold", "raise", "fold"):
        floor.answer_prompt("decide", choice)
    floor.answer_prompt("folded")
    floor.declare("wrong_card_count", seat=3)
    assert [seat for _, kind, seat in asked(floor) if kind == "wagers_reversed"] == [1, 6]


def test_a_surrendered_ante_that_was_taken_goes_back_when_the_round_is_void() -> None:
    floor = table_at("over_under", "shoe", mc.PLAYING)
    floor.answer_prompt("decide", "surrender")
    floor.answer_prompt("surrender_collected")
    floor.declare("wrong_card_count", seat=3)
    assert [seat for _, kind, seat in asked(floor) if kind == "wagers_reversed"] == [1]


# --- a hand that was shown --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "game",
    [
        pytest.param("asia_poker", marks=clauses("575.13(d)")),
        pytest.param("face_up_pai_gow", marks=clauses("688a.13(d)")),
    ],
)
def test_a_hand_that_was_settled_is_void_by_a_floorperson_alone_and_is_reversed_first(game: str) -> None:
    """An attempt to bypass the rule: dealer and player agree on an exposed card to get a lost wager back."""
    floor = table_at(game, "auto", mc.SETTLING)
    floor.answer_prompt("settled", "settled")
    floor.declare("player_card_exposed", seat=6)
    prompt = floor.prompt("choose")
    assert prompt.role == "floorperson"
    assert decisions_of(RequestRefused, floor.step(ev.Answer(prompt.id, "void", DEALER)))
    assert floor.round_.dead == []
    assert asked(floor) == [
        ("floorperson", "choose", 6), ("floorperson", "wagers_reversed", 6), ("dealer", "wagers_returned", 6),
        ("floorperson", "acknowledge", 6),
    ]  # fmt: skip
    assert floor.round_.dead == [6]
    floor.settle()
    assert floor.phase == mc.IDLE
