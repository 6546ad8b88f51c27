"""Shuffle, cut and the idle table in Saigon 5 Card and DJ Wild: section 5, clause by clause."""

from __future__ import annotations

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.core.chapters import (
    GAMES,
    bring_deck,
    each,
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

CHAPTERS = {game: chapter for chapter, game in GAMES.items()}


def reasons_against_round(floor: IdealTable, deck: str = "blue") -> dict[str, str]:
    """Return every reason against a round from a deck, with its clause."""
    return reasons_by_key(floor, deck=deck)


# --- (a) --------------------------------------------------------------------------------------------------------------


@each("680a.5(a)/1", "687a.5(a)/1")
def test_no_round_is_dealt_from_a_deck_that_waits_for_its_shuffle(game: str) -> None:
    machine, hands = report_all_devices(table(game)), ignore(table_without_machines(game), "hand_shuffle")
    machine.loads_shuffler = False
    for floor in (bring_deck(machine), bring_deck(hands)):
        assert floor.deck().state == mc.STACKED
        assert reasons_against_round(floor)["deck_not_ready"] == f"{CHAPTERS[game]}.5(a)/1"
        assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    assert hands.prompt("hand_shuffle").clauses == (f"{CHAPTERS[game]}.5(a)/1",)
    assert "deck_not_ready" in machine.keys("load", "shoe.1", "blue")
    machine.loads_shuffler = True
    machine.play()
    assert (machine.deck().state, reasons_against_round(machine)) == (mc.READY, {})


@each("680a.5(a)/1", "687a.5(a)/1")
def test_after_every_round_the_deck_is_shuffled_again(game: str) -> None:
    floor = table(game).start()
    for number in (1, 2):
        floor.loads_shuffler = False
        floor.round()
        assert (floor.round_.number, floor.deck().state) == (number, mc.RACK)
        assert "deck_not_ready" in reasons_against_round(floor)
        before = len(floor.log)
        floor.loads_shuffler = True
        floor.play()
        orders = [act for _, decided in floor.log[before:] for act in commanded_acts(decided)]
        assert orders.index("shuffle") < orders.index("load"), "shuffled before it is loaded"
        assert reasons_against_round(floor) == {}


@each("680a.5(a)/1", "687a.5(a)/1")
def test_a_floorperson_may_order_a_shuffle_and_nobody_deals_before_it(game: str) -> None:
    floor = table(game).start()
    assert reasons_against_round(floor) == {}
    assert "floorperson" in refusal_text(floor.step(ev.Ordered("reshuffle", DEALER, "blue")))
    assert "floorperson" in refusal_text(floor.step(ev.Ordered("reshuffle", TECH, "blue")))
    ordered = found_irregularity(floor.order("reshuffle", deck="blue"))
    assert (ordered.outcomes, ordered.clauses) == (("reshuffle",), (f"{CHAPTERS[game]}.5(a)/1",))
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    before = len(floor.log)
    floor.settle()
    assert "shuffle" in [act for _, decided in floor.log[before:] for act in commanded_acts(decided)]
    assert (floor.deck().state, reasons_against_round(floor)) == (mc.READY, {})


@each("680a.5(a)/1", "687a.5(a)/1")
def test_a_preshuffled_deck_is_played_once_and_then_shuffled_like_any_other(game: str) -> None:
    floor = table_without_machines(game)
    bring_deck(floor, preshuffled=True)
    assert all("hand_shuffle" not in str(decided) for _, decided in floor.log)
    assert reasons_against_round(floor) == {}
    ignore(floor, "hand_shuffle")
    floor.round()
    assert (open_prompt_kinds(floor), "deck_not_ready" in reasons_against_round(floor)) == (["hand_shuffle"], True)


@each("680a.5(a)/2", "687a.5(a)/2")
def test_what_is_not_one_shuffled_stack_does_not_leave_the_shuffler(game: str) -> None:
    floor = ignore(report_all_devices(table(game)), "shuffle")
    bring_deck(floor)
    assert floor.deck().state == mc.IN_DEVICE
    reasons = reasons_by_key(floor, "eject", "shuffler.1", "blue")
    assert reasons["deck_not_shuffled"] == f"{CHAPTERS[game]}.5(a)/2"
    command = next(iter(floor.state.commands))
    sorted_ = found_irregularity(floor.step(ev.ShuffleEnded("shuffler.1", 53, shuffled=False)))
    assert (sorted_.trigger, sorted_.outcomes) == ("shuffler_fault", ("reshuffle",))
    floor.step(ev.CommandEnded(command, "done"))
    assert floor.deck().state != mc.READY
    assert "deck_not_shuffled" in floor.keys("eject", "shuffler.1", "blue")
    assert "any_irregularity" in reasons_against_round(floor)


@each("680a.5(a)/2", "687a.5(a)/2")
def test_a_whole_cycle_leaves_one_stack_that_goes_straight_to_the_shoe(game: str) -> None:
    floor = table(game).start()
    orders = [act for _, decided in floor.log for act in commanded_acts(decided)]
    assert orders == ["shuffle", "eject", "load"]
    assert floor.state.book.held["blue"] == {"shoe.1": 53}


# --- (b) --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 52, 54])
@each("680a.5(b)", "687a.5(b)")
def test_a_deck_that_the_shuffler_counts_wrong_leaves_the_table(game: str, count: int) -> None:
    floor = ignore(report_all_devices(table(game)), "shuffle")
    bring_deck(floor)
    command = next(iter(floor.state.commands))
    wrong = found_irregularity(floor.step(ev.ShuffleEnded("shuffler.1", count, shuffled=True)))
    assert (wrong.trigger, wrong.deck, wrong.outcomes) == ("count_wrong", "blue", ("remove_deck",))
    assert wrong.clauses == (f"{CHAPTERS[game]}.5(b)",)
    assert {"deck_unverified", "any_irregularity"} <= set(reasons_against_round(floor))
    assert "deck_unverified" in floor.keys("eject", "shuffler.1", "blue") & floor.keys("load", "shoe.1", "blue")
    floor.step(ev.CommandEnded(command, "done"))
    floor.clear_holds()
    assert floor.deck().state == mc.REMOVED, "there is no answer that keeps it"
    floor.override = lambda _: None
    bring_deck(floor, "green")
    assert reasons_against_round(floor, "green") == {}


@each("680a.5(b)", "687a.5(b)")
def test_a_shuffler_that_reads_wrong_cards_is_trusted_though_their_number_is_right(game: str) -> None:
    floor = ignore(report_all_devices(table(game)), "shuffle")
    bring_deck(floor)
    wrong = found_irregularity(floor.step(ev.ShuffleEnded("shuffler.1", 53, shuffled=True, rejected=True)))
    assert (wrong.trigger, wrong.outcomes) == ("count_wrong", ("remove_deck",))
    right = ignore(report_all_devices(table(game)), "shuffle")
    bring_deck(right).step(ev.ShuffleEnded("shuffler.1", 53, shuffled=True))
    assert (right.state.holds, right.deck().state, right.deck().verified) == ({}, mc.READY, True)


# --- (c), (d) ---------------------------------------------------------------------------------------------------------


@each("680a.5(c)(1)", "687a.5(c)(1)")
def test_cards_shuffled_by_machine_are_dealt_without_a_cut(game: str) -> None:
    for dealing in ("automated_shoe", "manual_shoe", "hand"):
        floor = table(game, dealing).start()
        assert refusal_text(floor.order("recut", deck="blue")).endswith(f"without a cut ({CHAPTERS[game]}.5(c)(1))")
        floor.round()
        floor.round()
        assert floor.round_.number == 2
        assert not any(getattr(d, "kind", None) == "cut" for _, decided in floor.log for d in decided)
        assert not floor.deck().cut


@each("680a.5(c)(2)", "687a.5(c)(2)")
def test_cards_shuffled_by_hand_or_beforehand_are_cut_before_they_are_loaded(game: str) -> None:
    for preshuffled in (False, True):
        floor = ignore(table_without_machines(game), "cut")
        bring_deck(floor, preshuffled=preshuffled)
        assert (open_prompt_kinds(floor), floor.deck().state) == (["cut"], mc.SHUFFLED)
        assert {f"{CHAPTERS[game]}.5(c)(2)", f"{CHAPTERS[game]}.5(d)"} <= set(floor.prompt("cut").clauses)
        assert {"deck_not_ready", "not_in_place"} <= set(reasons_against_round(floor))
        assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
        floor.play(ev.Answer(floor.prompt("cut").id, "cut", DEALER, 26))
        assert reasons_against_round(floor) == {}


@each("680a.5(d)", "687a.5(d)")
def test_the_dealer_cuts_at_least_ten_cards_below_the_top_and_loads(game: str) -> None:
    floor = ignore(table_without_machines(game), "cut", "put_in_shoe")
    bring_deck(floor)
    prompt = floor.prompt("cut")
    assert (prompt.role, prompt.choices, prompt.seat) == ("dealer", ("cut",), None), "nobody else is offered it"
    for number in (None, 0, 9, 53, 60):
        assert "from 10 to 52" in refusal_text(floor.step(ev.Answer(prompt.id, "cut", DEALER, number)))
    assert floor.deck().state == mc.SHUFFLED
    floor.step(ev.Answer(prompt.id, "cut", DEALER, 10))
    assert (floor.deck().state, open_prompt_kinds(floor)) == (mc.READY, ["put_in_shoe"]), (
        "the cover card stays at the bottom"
    )


# --- (e) --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [mc.IDLE, mc.BETTING, mc.NO_MORE_BETS])
@each("680a.5(e)", "687a.5(e)")
def test_until_the_first_card_a_floorperson_may_have_the_cards_cut_again(game: str, phase: str) -> None:
    floor = table_without_machines(game).start().play_to(phase)
    before = floor.table.snapshot()
    assert "floorperson" in refusal_text(floor.step(ev.Ordered("recut", DEALER, "blue")))
    assert floor.table.snapshot() == before
    ignore(floor, "cut")
    floor.order("recut", deck="blue")
    assert (floor.deck().state, "cut" in open_prompt_kinds(floor)) == (mc.SHUFFLED, True)
    floor.settle()
    assert floor.phase == {mc.NO_MORE_BETS: mc.LOCKED}.get(phase, phase)
    assert floor.round_.dealt == 0, "no card is dealt before the cut"
    floor.override = lambda _: None
    floor.settle()
    floor.play_to(mc.PLAYING)
    assert refusal_text(floor.order("recut", deck="blue")).startswith("recut: "), "cards have been dealt"


@each("680a.5(e)", "687a.5(e)")
def test_what_the_machine_shuffled_was_not_cut_and_is_not_cut_again(game: str) -> None:
    floor = table(game).start()
    assert "it is dealt without a cut" in refusal_text(floor.order("recut", deck="blue"))
    assert floor.deck().state == mc.READY


# --- (f), (g) ---------------------------------------------------------------------------------------------------------


@each("680a.5(f)", "687a.5(f)")
def test_at_an_idle_table_the_cards_are_spread_looked_at_washed_shuffled_and_cut_again(game: str) -> None:
    floor = table_without_machines(game).start()
    floor.round()
    steps = ["spread/dealer", "first_look/first_player", "wash/dealer", "stack/dealer"]
    ignore(floor, *(f"opening/{step}" for step in steps), "hand_shuffle", "cut", "put_in_shoe")
    assert "floorperson" in refusal_text(floor.step(ev.Ordered("table_idle", DEALER)))
    floor.order("table_idle")
    assert (floor.deck().state, floor.deck().place) == (mc.INSPECTED, "tray"), "out of shoe and rack"
    assert {"deck_not_ready", "not_in_place"} <= set(reasons_against_round(floor))
    seen = []
    while floor.prompts():
        (prompt,) = floor.prompts()
        seen.append(prompt.kind.removeprefix("opening/"))
        for event in floor.answer(prompt):
            floor.step(event)
    assert seen == [*steps, "hand_shuffle", "cut", "put_in_shoe"]
    assert reasons_against_round(floor) == {}


@each("680a.5(f)", "687a.5(f)")
def test_a_deck_in_shoe_or_shuffler_is_inspected_too_after_an_idle_time(game: str) -> None:
    floor = table(game, two_decks=True).start("blue", "red")
    assert (floor.deck("blue").place, floor.deck("red").place) == ("shoe.1", "shuffler.1/gate")
    ignore(floor, "opening/first_look/first_player")
    floor.order("table_idle")
    assert "look_due" in floor.keys("load", "shoe.1", "red")
    floor.settle()
    assert sorted(p.deck or "" for p in floor.prompts("opening/first_look/first_player")) == ["blue", "red"]
    assert "deck_not_ready" in floor.reasons_against_opening()
    floor.override = lambda _: None
    floor.settle()
    assert floor.reasons_against_opening() == set()


@each("680a.5(f)", "687a.5(f)")
def test_a_table_is_not_idle_while_a_round_is_played(game: str) -> None:
    floor = table_without_machines(game).start().play_to(mc.PLAYING)
    assert "a round or an irregularity is open" in refusal_text(floor.order("table_idle"))


@each("680a.5(g)", "687a.5(g)")
def test_an_approved_device_waives_cut_recut_and_idle_spread_but_not_the_count(game: str) -> None:
    floor = ignore(report_all_devices(table(game, reshuffles=True)), "shuffle")
    bring_deck(floor)
    count = found_irregularity(floor.step(ev.ShuffleEnded("shuffler.1", 52, shuffled=True)))
    assert count.clauses == (f"{CHAPTERS[game]}.5(b)",), "the count rule stays"
    floor = table(game, reshuffles=True).start()
    assert "not needed with the approved device" in refusal_text(floor.order("table_idle"))
    assert "no cut is needed" in refusal_text(floor.order("recut", deck="blue"))
    before = report_all_devices(table(game, reshuffles=True))
    bring_deck(before, preshuffled=True)
    assert not any(getattr(d, "kind", None) == "cut" for _, decided in before.log for d in decided)
    assert reasons_against_round(before) == {}
    plain = ignore(report_all_devices(table(game)), "cut")
    assert open_prompt_kinds(bring_deck(plain, preshuffled=True)) == ["cut"], "without approval the cut is due"


@each("680a.5(g)", "687a.5(g)")
def test_nothing_is_waived_while_the_approved_device_is_out_of_use(game: str) -> None:
    floor = table(game, "manual_shoe", reshuffles=True).start()
    floor.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    floor.clear_holds()
    floor.order("shuffle_by_hand")
    ignore(floor, "cut")
    floor.round()
    assert open_prompt_kinds(floor) == ["cut"]
