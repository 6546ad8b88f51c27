"""Shuffle and cut of a batch in Over/Under, the idle table and the approved device; section 5, clause by clause."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.core.chapters import (
    bring_deck,
    continuous,
    ignore,
    open_prompt_kinds,
    reasons_by_key,
    report_all_devices,
    table,
    table_without_machines,
)
from tests.support.core.ideal_table import (
    DEALER,
    FLOOR,
    TECH,
    IdealTable,
    commanded_acts,
    found_irregularity,
    refusal_text,
)
from tests.support.suite.clauses import clauses


def to_the_cut(floor: IdealTable, *more: str) -> IdealTable:
    """End the shoe by a cover card before seat 3 (unless it is over), and play until the next batch is to be cut."""
    ignore(floor, "cut", *more)
    floor.play_to(mc.DEALING)
    if not floor.state.shoe_over:
        floor.step(ev.CoverCardOut(seat=3))
    floor.settle()
    return floor


def offers(floor: IdealTable) -> list[int | None]:
    """Return to whom the cut is offered when every player declines; None is the dealer, who must cut."""
    order: list[int | None] = []
    for _ in range(7):
        prompt = floor.prompt("cut")
        order.append(prompt.seat)
        if prompt.choices == ("cut",):
            return order
        floor.answer_prompt("cut", "decline")
    raise AssertionError(f"an offer without an end: {order}")


# --- (a) --------------------------------------------------------------------------------------------------------------


@clauses("686a.5(a)/1", "686a.7(d)(2)")
def test_a_batch_is_shuffled_before_play_and_after_each_shoe_but_not_after_each_round() -> None:
    floor = ignore(table_without_machines("over_under"), "hand_shuffle")
    bring_deck(floor)
    assert (floor.deck().state, floor.prompt("hand_shuffle").clauses) == (mc.STACKED, ("686a.5(a)/1",))
    assert reasons_by_key(floor, deck="blue")["deck_not_ready"] == "686a.5(a)/1"
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    floor.override = lambda _: None
    floor.settle()
    ignore(floor, "hand_shuffle")
    for _ in range(3):
        floor.round()
        assert (open_prompt_kinds(floor), floor.reasons_against_opening()) == ([], set()), "the shoe serves on"
    floor.play_to(mc.DEALING).step(ev.CoverCardOut(seat=3))
    floor.settle()
    assert (floor.phase, floor.deck().state, open_prompt_kinds(floor)) == (mc.IDLE, mc.RACK, ["hand_shuffle"])
    assert "deck_not_ready" in floor.reasons_against_opening(), "the whole batch is shuffled before the next round"


@clauses("686a.5(a)/1", "686a.5(f)")
def test_a_floorperson_may_order_the_shuffle_after_any_round() -> None:
    floor = table_without_machines("over_under").start()
    floor.round()
    floor.play_to(mc.PLAYING)
    for who in (DEALER, TECH):
        assert "floorperson" in refusal_text(floor.step(ev.Ordered("reshuffle", who, "blue")))
    floor.order("reshuffle", deck="blue")
    ignore(floor, "collected", "hand_shuffle")
    floor.settle()
    assert (floor.phase, open_prompt_kinds(floor), floor.round_.settled) == (mc.COMPLETE, ["collected"], [1, 3, 6])
    floor.answer_prompt("collected")
    assert (floor.phase, floor.deck().state, "shoe_over" in floor.reasons_against_opening()) == (mc.IDLE, mc.RACK, True)
    between = table_without_machines("over_under").start()
    between.round()
    between.order("reshuffle", deck="blue")
    assert refusal_text(between.step(ev.OpenRound(DEALER))) == "open_bets"
    assert open_prompt_kinds(between) == ["collected"]


@clauses("686a.5(a)/1", "686a.5(f)")
def test_a_round_for_which_wagers_lie_is_played_before_an_ordered_shuffle() -> None:
    floor = table_without_machines("over_under").start()
    floor.round()
    floor.play_to(mc.BETTING)
    floor.order("reshuffle", deck="blue")
    floor.play(ev.NoMoreBets(DEALER), until=lambda _: floor.phase == mc.COMPLETE)
    assert floor.round_.settled == [1, 3, 6]
    assert "shoe_over" in floor.reasons_against_opening()


@clauses("686a.5(a)/2")
def test_what_is_not_one_shuffled_stack_of_312_does_not_leave_the_shuffler() -> None:
    floor = ignore(report_all_devices(table("over_under")), "shuffle")
    bring_deck(floor)
    assert reasons_by_key(floor, "eject", "shuffler.1", "blue")["deck_not_shuffled"] == "686a.5(a)/2"
    sorted_ = found_irregularity(floor.step(ev.ShuffleEnded("shuffler.1", 312, shuffled=False)))
    assert (sorted_.trigger, sorted_.outcomes) == ("shuffler_fault", ("reshuffle",))
    assert floor.deck().state == mc.IN_DEVICE
    assert "deck_not_shuffled" in floor.keys("eject", "shuffler.1", "blue")
    right = table("over_under").start("blue", "red")
    assert right.state.book.held["blue"] == {"shoe.1": 311, "rack": 1}
    assert right.state.book.held["red"] == {"shuffler.1/store": 312}


# --- (b), (c) ---------------------------------------------------------------------------------------------------------


@clauses("686a.5(b)", "686a.5(c)", "686a.5(c)(1)")
def test_when_the_game_begins_the_first_player_to_arrive_is_offered_the_cut() -> None:
    floor = ignore(table_without_machines("over_under"), "first_arrival", "cut")
    bring_deck(floor)
    assert (open_prompt_kinds(floor), floor.prompt("first_arrival").clauses) == (
        ["first_arrival"],
        ("686a.5(c)(1)", "686a.5(c)"),
    )
    for wrong in ((), (7,), (1, 2)):
        answer = ev.Answer(floor.prompt("first_arrival").id, "done", DEALER, seats=wrong)
        assert "enter one seat" in refusal_text(floor.step(answer))
    floor.answer_prompt("first_arrival", seats=(4,))
    prompt = floor.prompt("cut")
    assert prompt.seat == 4
    assert {"686a.5(b)", "686a.5(c)", "686a.5(c)(1)"} <= set(prompt.clauses)
    assert reasons_by_key(floor, deck="blue").keys() >= {"deck_not_ready", "not_in_place"}, "uncut it is not loaded"
    assert offers(floor) == [4, 6, 5, 3, 2, 1, None], "if no player accepts, the dealer cuts"
    floor.answer_prompt("cut", number=100)
    assert floor.deck().cut


@clauses("686a.5(c)", "686a.5(c)(2)")
def test_after_a_shoe_the_seat_where_the_cover_card_came_out_is_offered_the_cut() -> None:
    floor = to_the_cut(table_without_machines("over_under").start())
    assert "686a.5(c)(2)" in floor.prompt("cut").clauses
    assert offers(floor) == [3, 1, 6, None], "then counterclockwise among those who sat there"


@clauses("686a.5(c)", "686a.5(c)(2)")
def test_the_second_batch_is_cut_by_where_the_cover_card_came_out_and_not_by_the_first_player() -> None:
    floor = to_the_cut(table("over_under").start("blue", "red"))
    prompt = floor.prompt("cut")
    assert (prompt.deck, prompt.seat, "686a.5(c)(2)" in prompt.clauses) == ("red", 3, True)


@clauses("686a.5(c)(2)", "686a.5(c)(3)")
def test_the_dealer_reports_where_the_cover_card_came_out_since_a_shoe_cannot() -> None:
    for choice, seats, order in (("player", (6,), [6, 3, 1, None]), ("nobody", (), [6, 3, 1, None])):
        floor = ignore(table("over_under").start("blue", "red"), "cover_seat", "cut")
        floor.play_to(mc.DEALING).step(ev.CoverCardOut("shoe.1"))
        prompt = floor.prompt("cover_seat")
        assert (prompt.role, prompt.choices, prompt.clauses[0]) == ("dealer", ("player", "nobody"), "686a.5(c)(2)")
        floor.settle()
        assert "cut" not in open_prompt_kinds(floor), "nobody cuts before it is reported"
        for wrong in ((2,), (1, 3), ()):
            assert "1, 3, 6" in refusal_text(floor.step(ev.Answer(prompt.id, "player", DEALER, seats=wrong)))
        floor.play(ev.Answer(prompt.id, choice, DEALER, seats=seats))
        duty = "686a.5(c)(2)" if choice == "player" else "686a.5(c)(3)"
        assert duty in floor.prompt("cut").clauses
        assert offers(floor) == order
    floor = ignore(table("over_under").start("blue", "red"), "cover_seat", "cut")
    floor.play_to(mc.DEALING).step(ev.CoverCardOut("shoe.1"))
    floor.settle()
    floor.play(ev.Answer(floor.prompt("cover_seat").id, "player", DEALER, seats=(1,)))
    assert offers(floor) == [1, 6, 3, None]


@clauses("686a.5(c)", "686a.5(c)(3)")
def test_a_cover_card_on_no_players_box_sends_the_offer_to_the_far_right() -> None:
    floor = ignore(table_without_machines("over_under").start(), "cut")
    floor.round()
    floor.play_to(mc.BETTING).step(ev.CoverCardOut())
    floor.seats = (2, 5)
    floor.play(ev.NoMoreBets(DEALER))
    prompt = floor.prompt("cut")
    assert (prompt.seat, "686a.5(c)(3)" in prompt.clauses) == (5, True)
    assert offers(floor) == [5, 2, None]


@clauses("686a.5(c)", "686a.5(c)(4)")
def test_after_an_ordered_shuffle_the_offer_begins_at_the_far_right() -> None:
    for floor in (table_without_machines("over_under").start(), table("over_under").start("blue", "red")):
        ignore(floor, "cut")
        floor.play_to(mc.PLAYING)
        floor.order("reshuffle", deck="blue")
        floor.settle()
        prompt = floor.prompt("cut")
        assert (prompt.seat, "686a.5(c)(4)" in prompt.clauses) == (6, True)
        assert offers(floor) == [6, 3, 1, None]


@clauses("686a.5(c)(2)", "686a.5(c)(4)")
def test_an_order_counts_for_the_next_cut_only() -> None:
    floor = table("over_under").start("blue", "red")
    floor.play_to(mc.PLAYING)
    floor.order("reshuffle", deck="blue")
    floor.settle()
    assert floor.deck("red").place == "shoe.1"
    to_the_cut(floor)
    prompt = floor.prompt("cut")
    assert (prompt.deck, prompt.seat, "686a.5(c)(2)" in prompt.clauses) == ("blue", 3, True)


# --- (d), (e) ---------------------------------------------------------------------------------------------------------


@clauses("686a.5(d)/1")
def test_the_cut_is_at_least_ten_cards_from_either_end() -> None:
    floor = to_the_cut(table_without_machines("over_under").start(), "cover_back")
    prompt = floor.prompt("cut")
    assert "686a.5(d)/1" in prompt.clauses
    for number in (None, 0, 9, 303, 312):
        assert "from 10 to 302" in refusal_text(floor.step(ev.Answer(prompt.id, "cut", DEALER, number)))
    floor.step(ev.Answer(prompt.id, "cut", DEALER, 302))
    assert open_prompt_kinds(floor) == ["cover_back"]


@clauses("686a.5(d)/2")
def test_the_cover_card_goes_back_a_quarter_of_the_stack_above_the_bottom_before_the_shoe_is_loaded() -> None:
    floor = to_the_cut(table_without_machines("over_under").start(), "cover_back", "put_in_shoe")
    floor.answer_prompt("cut", number=10)
    prompt = floor.prompt("cover_back")
    assert (prompt.clauses, prompt.choices) == (("686a.5(d)/2",), ("put_back",))
    assert (floor.deck().state, open_prompt_kinds(floor)) == (mc.SHUFFLED, ["cover_back"]), (
        "the shoe is not loaded without it"
    )
    for number in (None, 0, 77, 312):
        assert "from 78 to 311" in refusal_text(floor.step(ev.Answer(prompt.id, "put_back", DEALER, number)))
    floor.step(ev.Answer(prompt.id, "put_back", DEALER, 78))
    assert (floor.deck().state, open_prompt_kinds(floor)) == (mc.READY, ["put_in_shoe"])


@clauses("686a.5(e)")
def test_until_the_shoe_is_loaded_a_floorperson_may_have_the_cards_cut_again() -> None:
    floor = to_the_cut(table_without_machines("over_under").start(), "put_in_shoe", "cover_back")
    floor.answer_prompt("cut", "decline")
    assert floor.prompt("cut").seat == 1
    floor.answer_prompt("cut", number=50)
    floor.answer_prompt("cover_back", number=100)
    assert "floorperson" in refusal_text(floor.step(ev.Ordered("recut", DEALER, "blue")))
    floor.order("recut", deck="blue")
    assert (floor.deck().state, open_prompt_kinds(floor)) == (mc.SHUFFLED, ["cut"])
    assert offers(floor) == [1, 6, None], "who cut last, or whose turn is next; not who declined"
    floor.answer_prompt("cut", number=50)
    assert open_prompt_kinds(floor) == ["cover_back"]
    floor.override = lambda _: None
    floor.settle()
    assert "the shoe is loaded" in refusal_text(floor.order("recut", deck="blue"))


# --- (g), (h) ---------------------------------------------------------------------------------------------------------


@clauses("686a.5(g)")
def test_at_an_idle_table_the_whole_opening_is_repeated() -> None:
    floor = table_without_machines("over_under").start()
    floor.round()
    floor.override = lambda d: [] if getattr(d, "kind", None) else None
    assert "floorperson" in refusal_text(floor.step(ev.Ordered("table_idle", DEALER)))
    floor.order("table_idle")
    assert (floor.deck().state, floor.deck().place) == (mc.RECEIVED, "tray"), "out of shoe and rack"
    assert floor.state.book.held["blue"] == {"tray": 312}
    seen = []
    while floor.prompts():
        (prompt,) = floor.prompts()
        seen.append(prompt.kind.split("/")[1] if "/" in prompt.kind else prompt.kind)
        for event in floor.answer(prompt):
            floor.step(event)
    assert seen == [
        "inspect", "verify_inspection", "spread", "first_look", "wash", "stack", "hand_shuffle", "first_arrival", "cut",
        "cover_back", "put_in_shoe", "burn_shoe",
    ]  # fmt: skip
    assert floor.reasons_against_opening() == set()


@clauses("686a.5(g)")
def test_a_shoe_that_was_loaded_again_after_an_idle_hour_is_burned_once() -> None:
    floor = ignore(table_without_machines("over_under"), "burn_shoe")
    bring_deck(floor)
    assert open_prompt_kinds(floor) == ["burn_shoe"]
    floor.order("table_idle")
    assert "burn_shoe" not in open_prompt_kinds(floor)
    floor.settle()
    assert (open_prompt_kinds(floor), floor.state.burn_due) == (["burn_shoe"], 1)


@clauses("686a.5(h)")
def test_a_continuous_shuffler_waives_cut_cover_card_and_idle_spread() -> None:
    for preshuffled in (False, True):
        floor = report_all_devices(continuous())
        bring_deck(floor, preshuffled=preshuffled)
        assert floor.reasons_against_opening() == set()
        floor.round()
        floor.round()
        kinds = {getattr(d, "kind", None) for _, decided in floor.log for d in decided}
        assert not {"cut", "cover_back", "cover_seat", "first_arrival", "put_in_shoe", "collected"} & kinds
        orders = [act for _, decided in floor.log for act in commanded_acts(decided)]
        assert orders[0] == "shuffle", "nothing is dealt that it has not shuffled"
        assert "not needed with the approved device" in refusal_text(floor.order("table_idle"))
        assert "no cut is needed" in refusal_text(floor.order("recut", deck="blue"))
    approved = table("over_under", reshuffles=True).start("blue", "red")
    approved.round()
    assert "cut" not in {getattr(d, "kind", None) for _, decided in approved.log for d in decided}
    plain = ignore(table("over_under"), "cut", "first_arrival").start("blue", "red")
    assert open_prompt_kinds(plain) == ["first_arrival"], "without approval a machine shuffle is cut as well (O5)"


@clauses("686a.5(h)")
@pytest.mark.parametrize("lacking", [{"reshuffles": False}, {"shuffler_counts": False}])
def test_without_its_approval_or_its_count_there_is_no_continuous_shuffler(lacking: dict[str, bool]) -> None:
    with pytest.raises(BadSubmission, match=r"686a\.5\(h\)"):
        continuous(**lacking)


@clauses("686a.5(h)")
def test_with_the_approved_shuffler_signed_the_cut_is_due_again() -> None:
    floor = table("over_under", reshuffles=True).start("blue", "red")
    floor.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    floor.clear_holds()
    floor.order("shuffle_by_hand")
    floor.settle()
    ignore(floor, "cut", "first_arrival")
    floor.order("remove_deck", deck="red")
    floor.settle()
    floor.order("table_idle")
    floor.settle()
    assert open_prompt_kinds(floor) == ["first_arrival"]
