"""The shoe of Over/Under: loading, burning, the cover card and the end of the shoe; section 7 (a) to (d)."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command
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
    IdealTable,
    commanded_acts,
    decisions_of,
    findings,
    found_irregularity,
    refusal_text,
)
from tests.support.suite.clauses import clauses

KINDS = ["furniture", "devices"]


def shoe(kind: str) -> IdealTable:
    """A table with a plain shoe and one batch, or with a shoe that counts, a shuffler and two batches; no deck yet."""
    return table_without_machines("over_under") if kind == "furniture" else report_all_devices(table("over_under"))


def batches(kind: str) -> tuple[str, ...]:
    return ("blue",) if kind == "furniture" else ("blue", "red")


# --- (a) --------------------------------------------------------------------------------------------------------------


@clauses("686a.7(a)", "686a.3(a)")
def test_cards_are_dealt_from_a_shoe_or_a_continuous_shuffler_and_from_nothing_else() -> None:
    for method in ("hand", "manual_shoe", "automated_shoe"):
        with pytest.raises(BadSubmission) as caught:
            check_submission(edition("over_under"), {"adjacent_boxes": 1, "dealing": method, "shuffler": "none"})
        assert "allows dealing_shoe, continuous_shuffler (686a.7(a))" in caught.value.objections[0]
    assert continuous().state.dealing == "continuous_shuffler"
    floor = table_without_machines("over_under").start()
    assert "dealt by" in refusal_text(floor.order("dealing_method", method="hand"))


@clauses("686a.7(a)")
@pytest.mark.parametrize("kind", KINDS)
def test_the_shoe_is_loaded_only_with_a_batch_that_was_shuffled_and_cut(kind: str) -> None:
    floor = ignore(shoe(kind), "cut", "put_in_shoe")
    for batch in batches(kind):
        bring_deck(floor, batch)
    assert "put_in_shoe" not in open_prompt_kinds(floor)
    if kind == "devices":
        assert reasons_by_key(floor, "load", "shoe.1", "blue")["deck_not_ready"] == "686a.5(a)/1"
    floor.override = lambda d: [] if getattr(d, "kind", None) == "put_in_shoe" else None
    floor.settle()
    assert (floor.deck().state, floor.prompt("put_in_shoe").clauses) == (mc.READY, ("686a.7(a)",))
    assert reasons_by_key(floor, deck="blue")["not_in_place"] == "686a.7(a)"
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    floor.override = lambda _: None
    floor.settle()
    assert floor.reasons_against_opening() == set()


# --- (c) --------------------------------------------------------------------------------------------------------------


@clauses("686a.7(c)/1")
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_card_of_every_full_batch_is_burned_before_a_round(kind: str) -> None:
    floor = ignore(shoe(kind), "burn_shoe")
    for batch in batches(kind):
        bring_deck(floor, batch)
    prompt = floor.prompt("burn_shoe")
    assert (prompt.role, prompt.clauses) == ("dealer", ("686a.7(c)/1",))
    assert reasons_by_key(floor, deck="blue")["burn_due"] == "686a.7(c)/1"
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    floor.play(ev.Answer(prompt.id, "done", DEALER))
    assert (floor.state.book.balance("blue", "rack"), floor.reasons_against_opening()) == (1, set())
    for _ in range(3):
        floor.round()
        assert open_prompt_kinds(floor) == [], "once for a shoe, not once for a round"
    floor.play_to(mc.DEALING).step(ev.CoverCardOut(seat=3))
    floor.settle()
    assert open_prompt_kinds(floor) == ["burn_shoe"], "and again for the next one"


@clauses("686a.7(c)/1", "686a.7(c)/2")
def test_a_continuous_shuffler_brings_the_card_to_burn_before_any_other() -> None:
    floor = report_all_devices(continuous())
    bring_deck(floor)
    ignore(floor, "burn_shoe", "burn_dealer")
    for duty, clause in (("burn_shoe", "686a.7(c)/1"), ("burn_dealer", "686a.7(c)/2")):
        floor.play_to(mc.DEALING)
        floor.settle()
        commands = [c.number for _, decided in floor.log for c in decisions_of(Command, decided) if c.act == "dispense"]
        assert (open_prompt_kinds(floor), floor.prompt(duty).clauses, commands[-1]) == ([duty], (clause,), 1)
        key = "burn_due" if duty == "burn_shoe" else "dealer_burn_due"
        assert reasons_by_key(floor, "dispense", "shuffler.1", "blue", cards=3) == {key: clause}, (
            "nothing else comes before it"
        )
        floor.answer_prompt(duty)
        assert floor.state.book.balance("blue", "rack") == 1
        assert [issued.number for issued in floor.state.commands.values()] == [3]
        floor.settle()
        assert (floor.phase, floor.state.book.held["blue"]) == (mc.IDLE, {"shuffler.1/store": 312})
        floor.round()
        assert open_prompt_kinds(floor) == [], "once for a batch and once for a dealer, not once for a round"
        floor.step(ev.DealerChanged(DEALER))


@clauses("686a.7(c)/2")
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_dealer_burns_a_card_before_dealing(kind: str) -> None:
    floor = shoe(kind)
    floor.start(*batches(kind))
    floor.round()
    ignore(floor, "burn_dealer")
    racked = floor.state.book.balance("blue", "rack")
    floor.step(ev.DealerChanged(ev.Person("dealer", "D2")))
    prompt = floor.prompt("burn_dealer")
    assert (prompt.role, prompt.clauses) == ("dealer", ("686a.7(c)/2",))
    assert reasons_by_key(floor, deck="blue")["dealer_burn_due"] == "686a.7(c)/2"
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    floor.answer_prompt("burn_dealer")
    assert (floor.state.book.balance("blue", "rack"), floor.reasons_against_opening()) == (racked + 1, set())


@clauses("686a.7(c)/2")
def test_a_dealer_who_comes_in_the_middle_of_a_round_burns_before_the_next_card() -> None:
    floor = ignore(table_without_machines("over_under").start(), "burn_dealer").play_to(mc.NO_MORE_BETS)
    floor.step(ev.DealerChanged(DEALER))
    floor.settle()
    assert (open_prompt_kinds(floor), floor.round_.dealt) == (["burn_dealer"], 0), "no card before the burn"
    floor.override = lambda _: None
    floor.play_to(mc.SETTLING)
    assert open_prompt_kinds(floor) == ["additional_cards"]
    floor.step(ev.DealerChanged(DEALER))
    assert open_prompt_kinds(floor) == ["burn_dealer"], "nor an additional one"
    floor.answer_prompt("burn_dealer")
    assert open_prompt_kinds(floor) == ["additional_cards"]


@clauses("686a.7(c)/1", "686a.7(c)/2")
def test_a_new_dealer_at_a_new_shoe_burns_two_cards() -> None:
    for early in (True, False):
        floor = ignore(table_without_machines("over_under"), "burn_shoe", "burn_dealer", "put_in_shoe")
        bring_deck(floor)
        if early:
            floor.step(ev.DealerChanged(DEALER))
            assert "burn_dealer" not in open_prompt_kinds(floor), "there is no card to burn yet"
        floor.answer_prompt("put_in_shoe")
        if not early:
            floor.step(ev.DealerChanged(DEALER))
        assert open_prompt_kinds(floor) == ["burn_shoe"]
        floor.answer_prompt("burn_shoe")
        assert open_prompt_kinds(floor) == ["burn_dealer"]
        floor.answer_prompt("burn_dealer")
        assert (open_prompt_kinds(floor), floor.state.book.balance("blue", "rack")) == ([], 2)


# --- (d) --------------------------------------------------------------------------------------------------------------


@clauses("686a.7(d)", "686a.5(f)")
@pytest.mark.parametrize("phase", [mc.DEALING, mc.PLAYING, mc.SETTLING])
@pytest.mark.parametrize("kind", KINDS)
def test_the_round_of_the_cover_card_is_finished_and_none_follows_from_this_shoe(kind: str, phase: str) -> None:
    floor = shoe(kind)
    floor.start(*batches(kind)).play_to(phase)
    floor.step(ev.CoverCardOut(seat=3))
    assert floor.phase == phase, "it is set aside, and the hand goes on"
    ignore(floor, "collected")
    floor.settle()
    assert (floor.phase, floor.round_.settled) == (mc.COMPLETE, [1, 3, 6])
    assert floor.round_.dealt == 9
    assert reasons_by_key(floor, deck="blue")["shoe_over"] == "686a.7(d)"
    floor.answer_prompt("collected")
    assert floor.phase == mc.IDLE
    assert "shoe_over" in floor.reasons_against_opening()
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"


@pytest.mark.parametrize("role", ["technician", "auditor"])
def test_only_the_dealer_or_a_floorperson_ends_a_shoe(role: ev.Role) -> None:
    floor = table_without_machines("over_under").start().play_to(mc.DEALING)
    assert "only the dealer or a floorperson can report" in refusal_text(
        floor.step(ev.CoverCardOut(who=ev.Person(role, "X1")))
    )
    assert not floor.state.shoe_over
    for who in (DEALER, FLOOR):
        other = table_without_machines("over_under").start().play_to(mc.DEALING)
        other.step(ev.CoverCardOut(seat=3, who=who))
        assert other.state.shoe_over


@clauses("686a.7(d)")
@pytest.mark.parametrize("phase", [mc.BETTING, mc.NO_MORE_BETS])
def test_a_cover_card_that_comes_as_the_first_card_of_a_round_lets_that_round_be_played(phase: str) -> None:
    floor = table_without_machines("over_under").start()
    floor.round()
    floor.play_to(phase).step(ev.CoverCardOut())
    if phase == mc.BETTING:
        floor.step(ev.NoMoreBets(DEALER))
    ignore(floor, "collected")
    floor.settle()
    assert (floor.phase, floor.round_.settled, open_prompt_kinds(floor)) == (mc.COMPLETE, [1, 3, 6], ["collected"])


@clauses("686a.7(d)(1)", "686a.2(d)(2)")
@pytest.mark.parametrize("kind", KINDS)
def test_at_the_end_of_the_shoe_the_whole_batch_must_reach_its_mark_in_the_rack(kind: str) -> None:
    floor = shoe(kind)
    ignore(floor, "collected")
    for batch in batches(kind):
        bring_deck(floor, batch)
    floor.play_to(mc.DEALING).step(ev.CoverCardOut(seat=3))
    floor.settle()
    prompt = floor.prompt("collected")
    assert (prompt.role, prompt.choices) == ("dealer", ("full", "not_full"))
    assert {"686a.7(d)(1)", "686a.2(d)(2)"} <= set(prompt.clauses)
    floor.step(ev.Answer(prompt.id, "full", DEALER))
    assert (floor.deck().state, floor.state.holds) == (mc.RACK, {})
    assert floor.state.book.held["blue"] == {"rack": 312}, "what was left in the shoe lies there as well"


@clauses("686a.7(d)(1)", "686a.2(d)(2)")
@pytest.mark.parametrize(("choice", "state"), [("reverify", mc.RACK), ("remove", mc.REMOVED)])
def test_a_rack_that_does_not_reach_its_mark_keeps_the_batch_from_play_until_the_floorperson_acts(
    choice: str, state: str
) -> None:
    floor = ignore(table_without_machines("over_under").start(), "collected")
    floor.round()
    floor.play_to(mc.DEALING).step(ev.CoverCardOut(seat=3))
    floor.settle()
    decided = floor.answer_prompt("collected", "not_full")
    assert (found_irregularity(decided).trigger, found_irregularity(decided).outcomes) == (
        "count_wrong",
        ("hold_deck", "ask_floorperson"),
    )
    assert findings(decided, "affected_rounds")[0].rounds == (1, 2)
    assert floor.deck().state == mc.HELD
    assert (open_prompt_kinds(floor), floor.prompt("choose").role) == (["choose"], "floorperson")
    assert {"any_irregularity", "deck_unverified"} <= floor.keys("open_bets", deck="blue")
    floor.answer_prompt("choose", choice)
    ignore(floor, "hand_shuffle")
    floor.clear_holds()
    assert floor.deck().state == (mc.STACKED if state == mc.RACK else state)
    assert floor.deck().verified is (choice == "reverify"), "found whole, or gone"


@clauses("686a.7(d)(1)")
@pytest.mark.parametrize("count", [311, 313])
def test_a_batch_that_the_shuffler_counts_wrong_is_held_for_the_floorperson(count: int) -> None:
    floor = ignore(report_all_devices(table("over_under")), "shuffle")
    bring_deck(floor)
    wrong = found_irregularity(floor.step(ev.ShuffleEnded("shuffler.1", count, shuffled=True)))
    assert (wrong.trigger, wrong.outcomes) == ("count_wrong", ("hold_deck", "ask_floorperson"))
    assert (floor.deck().state, floor.prompt("choose").choices) == (mc.HELD, ("reverify", "remove"))


@clauses("686a.7(d)(2)")
def test_with_two_batches_the_one_just_dealt_is_shuffled_before_it_is_dealt_again() -> None:
    floor = table("over_under").start("blue", "red")
    for batch in ("blue", "red"):
        floor.play_to(mc.DEALING)
        assert floor.round_.deck == batch
        floor.step(ev.CoverCardOut("shoe.1", 3))
        before = len(floor.log)
        floor.settle()
        assert "shuffle" in [act for _, decided in floor.log[before:] for act in commanded_acts(decided)]
    assert floor.deck("blue").place == "shoe.1"
    floor.loads_shuffler = False
    floor.play_to(mc.DEALING).step(ev.CoverCardOut("shoe.1", 3))
    floor.settle()
    assert "deck_not_ready" in floor.keys("load", "shoe.1", "blue")


@clauses("686a.7(d)(2)")
def test_after_an_ordered_removal_a_new_batch_is_opened_before_the_next_shoe() -> None:
    floor = table_without_machines("over_under").start()
    floor.play_to(mc.DEALING).step(ev.CoverCardOut(seat=3))
    ignore(floor, "hand_shuffle")
    floor.settle()
    floor.order("remove_deck", deck="blue")
    floor.settle()
    assert (floor.deck().state, floor.reasons_against_opening() >= {"deck_not_ready"}) == (mc.REMOVED, True)
    floor.override = lambda _: None
    bring_deck(floor, "green")
    assert floor.reasons_against_opening() == set()
    assert FLOOR.credential in floor.deck("green").confirmed.values()
