"""Examining, deciding, the reveal and the order of settling in Saigon 5 Card and DJ Wild; section 11."""

from __future__ import annotations

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.core.chapters import by_method, each, ignore, open_prompt_kinds, table, table_without_machines
from tests.support.core.ideal_table import DEALER, FLOOR, IdealTable, refusal_text
from tests.support.suite.clauses import clauses

# The first question to players once they may look at their cards.
FIRST = {"saigon_5_card": "hands_set", "dj_wild": "decide"}


def answers(floor: IdealTable, *kinds: str) -> list[tuple[str, int | None]]:
    """Answer the open questions one by one until another kind is asked; return the kinds and seats."""
    given = []
    while floor.prompts() and floor.prompts()[0].kind in kinds:
        (prompt,) = floor.prompts()
        given.append((prompt.kind, prompt.seat))
        (event,) = floor.answer(prompt)
        floor.step(event)
    return given


@by_method("680a.11(a) 687a.11(a)", "680a.11(a) 687a.11(a)", "680a.11(a) 687a.11(a)")
def test_nobody_examines_cards_before_the_deal_and_the_stub_are_done(game: str, dealing: str) -> None:
    floor = table(game, dealing).start()
    ignore(floor, "dealt", "dispense")
    floor.play_to(mc.DEALING)
    floor.play()
    assert FIRST[game] not in open_prompt_kinds(floor), "cards are still dealt"
    ignore(floor, "rack_stub")
    floor.settle()
    assert (floor.phase, open_prompt_kinds(floor)) == (mc.STUB_CHECK, ["rack_stub"])
    floor.step(ev.Answer(floor.prompt("rack_stub").id, "done", DEALER))
    assert (floor.phase, open_prompt_kinds(floor)) == (mc.PLAYING, [FIRST[game]])


@clauses("680a.11(c)")
def test_the_dealer_shows_his_hand_after_every_player_has_set() -> None:
    floor = table_without_machines("saigon_5_card").start().play_to(mc.PLAYING)
    assert (open_prompt_kinds(floor), floor.prompt("hands_set").clauses) == (
        ["hands_set"],
        ("680a.11(b)(1)", "680a.11(b)(2)", "680a.11(a)"),
    )
    floor.answer_prompt("hands_set")
    assert (open_prompt_kinds(floor), floor.prompt("reveal").clauses) == (["reveal"], ("680a.11(c)",))
    assert "not_settling" in floor.keys("pay")
    floor.answer_prompt("reveal")
    assert (floor.phase, "not_settling" in floor.keys("pay")) == (mc.SETTLING, False)


@clauses("687a.11(b)")
def test_every_player_is_asked_from_the_far_left_to_raise_or_fold() -> None:
    floor = table_without_machines("dj_wild").start()
    floor.seats = (6, 1, 4)
    floor.play_to(mc.PLAYING)
    for seat, choice in ((1, "raise"), (4, "fold"), (6, "raise")):
        prompt = floor.prompt("decide")
        assert (prompt.seat, prompt.choices, prompt.clauses) == (seat, ("raise", "fold"), ("687a.11(b)", "687a.11(a)"))
        assert "is not an answer to this question" in refusal_text(floor.step(ev.Answer(prompt.id, "check", DEALER)))
        floor.answer_prompt("decide", choice)
    assert floor.round_.decided == {1: "raise", 4: "fold", 6: "raise"}


@clauses("687a.11(c)")
def test_forfeited_wagers_and_cards_are_taken_before_the_reveal() -> None:
    floor = table_without_machines("dj_wild").start().play_to(mc.PLAYING)
    for choice in ("fold", "raise", "fold"):
        floor.answer_prompt("decide", choice)
    assert (open_prompt_kinds(floor), floor.prompt("folded").clauses) == (["folded"], ("687a.11(c)",))
    floor.answer_prompt("folded")
    assert open_prompt_kinds(floor) == ["reveal"]
    stay = table_without_machines("dj_wild").start().play_to(mc.PLAYING)
    for _ in stay.seats:
        stay.answer_prompt("decide", "raise")
    assert open_prompt_kinds(stay) == ["reveal"], "where nobody folds, nothing is forfeited"


@clauses("687a.11(d)")
def test_the_dealer_reveals_and_announces_only_when_all_have_raised_or_folded() -> None:
    floor = table_without_machines("dj_wild").start().play_to(mc.PLAYING)
    for _ in floor.seats:
        assert (open_prompt_kinds(floor), floor.phase) == (["decide"], mc.PLAYING)
        assert "not_settling" in floor.keys("pay")
        floor.answer_prompt("decide")
    prompt = floor.prompt("reveal")
    assert (prompt.role, prompt.clauses) == ("dealer", ("687a.11(d)",))
    assert "the dealer must answer this" in refusal_text(floor.step(ev.Answer(prompt.id, "done", FLOOR)))
    floor.answer_prompt("reveal")
    assert floor.phase == mc.SETTLING


@clauses("687a.11(d)")
def test_a_player_who_leaves_undecided_is_decided_by_the_floorperson_before_the_reveal() -> None:
    floor = table_without_machines("dj_wild").start().play_to(mc.PLAYING)
    floor.declare("player_leaves", seat=1)
    floor.answer_prompt("player_left", "abandoned")
    assert floor.prompt("decide").seat == 3, "a hand that is out is not asked"


@each("680a.11(d)", "687a.11(e)")
def test_players_are_settled_one_by_one_from_the_far_right_counterclockwise(game: str) -> None:
    floor = table_without_machines(game).start()
    floor.seats = (2, 6, 3)
    floor.play_to(mc.SETTLING)
    clause = {"saigon_5_card": "680a.11(d)", "dj_wild": "687a.11(e)"}[game]
    assert floor.prompt("settled").clauses == (clause,)
    assert answers(floor, "settled") == [("settled", 6), ("settled", 3), ("settled", 2)]
    assert floor.phase == mc.COMPLETE


@clauses("687a.11(e)")
def test_the_other_reading_of_the_printed_order_is_a_setting() -> None:
    floor = table_without_machines("dj_wild", settings={"settle_direction": "far_left_clockwise"}).start()
    floor.seats = (2, 6, 3)
    floor.play_to(mc.SETTLING)
    assert [seat for _, seat in answers(floor, "settled")] == [2, 3, 6]


@each("680a.11(d)", "687a.11(e)")
def test_the_next_round_waits_until_the_last_player_is_settled_and_the_cards_are_racked(game: str) -> None:
    floor = ignore(table_without_machines(game).start(), "collected").play_to(mc.SETTLING)
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    answers(floor, "settled")
    assert (floor.phase, open_prompt_kinds(floor)) == (mc.COMPLETE, ["collected"])
    assert "round_open" in floor.reasons_against_opening()
    floor.settle()
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
