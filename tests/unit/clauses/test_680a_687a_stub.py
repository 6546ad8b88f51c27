"""The stub of Saigon 5 Card and DJ Wild: racked unseen, or counted every five rounds; sections 8 to 10."""

from __future__ import annotations

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, WagersReturned
from tests.support.core.chapters import by_method, ignore, open_prompt_kinds, reasons_by_key, table
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

LEFT = 53 - 5 * 4  # three seats and the dealer


def kinds(floor: IdealTable, since: int = 0) -> list[str]:
    """Return the kinds of the questions, in order."""
    return [k for _, decided in floor.log[since:] for d in decided if (k := getattr(d, "kind", None)) is not None]


def rounds(floor: IdealTable, number: int) -> list[str]:
    """Play rounds; return how each stub ended: counted or racked unseen."""
    ends = []
    for _ in range(number):
        since = len(floor.log)
        floor.round()
        ends += [kind for kind in kinds(floor, since) if kind in ("stub", "rack_stub")]
    return ends


# --- racked unseen ----------------------------------------------------------------------------------------------------


@by_method("680a.8(d) 687a.8(e)/2", "680a.9(c) 687a.9(e)/2", "680a.10(c) 687a.10(c)/2")
def test_with_a_counting_shuffler_the_stub_is_racked_unseen_before_anybody_plays(game: str, dealing: str) -> None:
    chapter = {"saigon_5_card": "680a", "dj_wild": "687a"}[game]
    clause = {
        "680a": {"manual_shoe": "8(d)", "hand": "9(c)", "automated_shoe": "10(c)"},
        "687a": {"manual_shoe": "8(e)/2", "hand": "9(e)/2", "automated_shoe": "10(c)/2"},
    }[chapter][dealing]
    floor = ignore(table(game, dealing).start(), "rack_stub").play_to(mc.STUB_CHECK)
    floor.settle()
    prompt = floor.prompt("rack_stub")
    assert (floor.phase, prompt.role, prompt.clauses) == (mc.STUB_CHECK, "dealer", (f"{chapter}.{clause}",))
    assert (prompt.number, open_prompt_kinds(floor)) == (False, ["rack_stub"]), "no card of it is looked at or counted"
    before = floor.state.book.held["blue"]
    assert before["seats"] == 20
    floor.answer_prompt("rack_stub")
    assert floor.phase == mc.PLAYING
    assert floor.state.book.held["blue"] == {"seats": 20, "rack": LEFT}
    assert rounds(table(game, dealing).start(), 6) == ["rack_stub"] * 6, "the shuffler counts, however many rounds"


@by_method("", "", "680a.10(c) 687a.10(c)/2")
def test_an_automated_shoe_is_emptied_after_the_deal_and_not_before(game: str, dealing: str) -> None:
    floor = table(game, dealing).start()
    ignore(floor, "dispense", "give_stub").play_to(mc.DEALING)
    assert "deal_not_over" in reasons_by_key(floor, "give_stub", "shoe.1", "blue")
    floor.override = lambda d: [] if isinstance(d, Command) and d.act == "give_stub" else None
    floor.settle()
    assert [issued.act for issued in floor.state.commands.values()] == ["give_stub"]
    assert (floor.phase, open_prompt_kinds(floor)) == (mc.STUB_CHECK, []), "nobody racks what is still in the shoe"
    floor.step(ev.StubOut("shoe.1", LEFT))
    assert open_prompt_kinds(floor) == ["rack_stub"]
    assert floor.state.slots["shoe.1"].deck is None


@by_method("", "", "680a.10(c) 687a.10(c)/2")
@pytest.mark.parametrize("seen", [LEFT - 1, LEFT + 1])
def test_a_stub_that_the_shoe_counts_wrong_is_not_racked_unseen(game: str, dealing: str, seen: int) -> None:
    floor = table(game, dealing).start()
    ignore(floor, "give_stub", "stub").play_to(mc.STUB_CHECK)
    decided = floor.step(ev.StubOut("shoe.1", seen))
    assert findings(decided, "stub_differs")[0].text == f"Shoe 1 counted a stub of {seen} cards, {LEFT} expected"
    assert open_prompt_kinds(floor) == ["stub"], "people count it"


# --- counted every five rounds ----------------------------------------------------------------------------------------


COUNTED = ("680a.8(e) 687a.8(e)#2", "680a.9(d) 687a.9(f)", "680a.10(d) 687a.10(d)")


def clause_of(game: str, dealing: str) -> str:
    """Return the clause that requires the count."""
    at = ("manual_shoe", "hand", "automated_shoe").index(dealing)
    return COUNTED[at].split()[0 if game == "saigon_5_card" else 1]


@by_method(*COUNTED)
def test_without_a_counting_shuffler_every_fifth_stub_is_counted(game: str, dealing: str) -> None:
    floor = table(game, dealing, counts=False).start()
    assert rounds(floor, 11) == (["rack_stub"] * 4 + ["stub"]) * 2 + ["rack_stub"]
    floor = table(game, dealing, counts=False).start()
    rounds(floor, 4)
    ignore(floor, "stub").play_to(mc.STUB_CHECK)
    floor.settle()
    prompt = floor.prompt("stub")
    assert (floor.phase, prompt.role, prompt.number) == (mc.STUB_CHECK, "dealer", True)
    assert clause_of(game, dealing) in prompt.clauses
    assert "enter a number" in refusal_text(floor.step(ev.Answer(prompt.id, "done", DEALER)))
    assert open_prompt_kinds(floor) == ["stub"], "the fifth uncounted round waits"
    assert ("not_settling" in floor.keys("pay"), floor.state.uncounted) == (True, 4)


@by_method(*COUNTED)
def test_void_rounds_count_and_a_fifth_that_was_never_counted_keeps_the_deck_from_play(game: str, dealing: str) -> None:
    floor = table(game, dealing, counts=False).start()
    for number in range(1, 6):
        floor.play_to(mc.DEALING if number == 5 else mc.STUB_CHECK)
        floor.declare("wrong_card_count")
        floor.override = lambda d: (
            [] if getattr(d, "number", None) and getattr(d, "kind", "") == "cards_together" else None
        )
        floor.settle()
        if number < 5:
            assert (floor.phase, floor.state.uncounted) == (mc.IDLE, number)
    assert floor.prompt("cards_together").number, "in the fifth round the whole deck is counted instead"
    floor.override = lambda _: None
    floor.settle()
    assert (floor.phase, floor.state.uncounted, floor.reasons_against_opening()) == (mc.IDLE, 0, set())


@by_method(*COUNTED)
def test_no_sixth_round_is_opened_before_a_count(game: str, dealing: str) -> None:
    floor = table(game, dealing, counts=False, two_decks=True).start("blue", "red")
    rounds(floor, 4)
    ignore(floor, "stub", "finding").play_to(mc.STUB_CHECK)
    floor.settle()
    for _ in range(2):
        floor.count_stub(LEFT - 1)
    floor.answer_prompt("finding", "not_misdealt")
    ignore(floor, "count_deck")
    floor.settle()
    assert (floor.deck("blue").state, floor.state.uncounted) == (mc.REMOVED, 5)
    assert reasons_by_key(floor, deck="red")["count_due"] == clause_of(game, dealing)
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    assert (open_prompt_kinds(floor), floor.prompt("count_deck").deck) == (["count_deck"], "red")
    floor.override = lambda _: None
    floor.settle()
    assert (floor.state.uncounted, floor.reasons_against_opening()) == (0, set())


@by_method(*COUNTED)
def test_the_count_begins_when_the_counting_shuffler_drops_out(game: str, dealing: str) -> None:
    floor = table(game, dealing).start()
    rounds(floor, 6)
    if dealing == "hand":
        floor.override = lambda d: (
            [ev.ShuffleEnded("shuffler.1", None, shuffled=True), ev.CommandEnded(d.id, "done")]
            if isinstance(d, Command) and d.act == "shuffle"
            else None
        )
    else:
        floor.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
        floor.clear_holds()
        floor.order("shuffle_by_hand")
        floor.settle()
    assert rounds(floor, 1) == ["rack_stub"], "the deck that the shuffler had counted before"
    assert rounds(floor, 5) == ["rack_stub"] * 4 + ["stub"]


# --- right ------------------------------------------------------------------------------------------------------------


@by_method("680a.8(f) 687a.8(f)", "680a.9(e) 687a.9(e)#2", "680a.10(e) 687a.10(e)")
@pytest.mark.parametrize("seats", [(2,), (1, 4, 5), (1, 2, 3, 4, 5, 6)])
def test_what_was_dealt_and_what_is_left_make_53_and_the_round_goes_on(
    game: str, dealing: str, seats: tuple[int, ...]
) -> None:
    floor = table(game, dealing, counts=False).start()
    rounds(floor, 4)
    floor.seats = seats
    ignore(floor, "stub").play_to(mc.STUB_CHECK)
    floor.settle()
    right = 53 - 5 * (len(seats) + 1)
    chapter = {"saigon_5_card": "680a", "dj_wild": "687a"}[game]
    clause = {
        "680a": {"manual_shoe": "8(f)", "hand": "9(e)", "automated_shoe": "10(e)"},
        "687a": {"manual_shoe": "8(f)", "hand": "9(e)#2", "automated_shoe": "10(e)"},
    }[chapter][dealing]
    assert f"{chapter}.{clause}" in floor.prompt("stub").clauses
    floor.answer_prompt("stub", number=right)
    assert (floor.phase, floor.state.holds) == (mc.PLAYING, {})
    assert floor.state.book.held["blue"] == {"seats": 53 - right, "rack": right}, "the stub lies in the rack"
    floor.settle()
    assert floor.state.uncounted == 0
    wrong = table(game, dealing, counts=False).start()
    rounds(wrong, 4)
    wrong.seats = seats
    ignore(wrong, "stub").play_to(mc.STUB_CHECK)
    wrong.settle()
    wrong.answer_prompt("stub", number=right - 1)
    assert wrong.phase == mc.STUB_CHECK, "any other number does not"


# --- wrong ------------------------------------------------------------------------------------------------------------

WRONG = (
    "680a.8(g){} 687a.8(g){}", "680a.9(f){} 687a.9(f)#2{}", "680a.10(f){} 687a.10(f){}",
)  # fmt: skip


def counted_wrong(game: str, dealing: str) -> IdealTable:
    """Return a fifth round whose stub was counted wrong once."""
    floor = table(game, dealing, counts=False).start()
    rounds(floor, 4)
    ignore(floor, "stub", "finding").play_to(mc.STUB_CHECK)
    floor.settle()
    floor.answer_prompt("stub", number=LEFT - 1)
    again = "stub_recount" if dealing == "automated_shoe" else "stub"  # where the shoe counted too: the floorperson
    assert (open_prompt_kinds(floor), floor.state.holds) == ([again], {}), (
        "a stub that was counted wrongly is no irregularity"
    )
    return floor


@by_method(*(part.format("/1", "/1") for part in WRONG))
def test_misdealt_and_yet_53_voids_the_round_and_keeps_the_deck(game: str, dealing: str) -> None:
    floor = counted_wrong(game, dealing)
    floor.count_stub(LEFT - 1)
    floor.answer_prompt("finding", "misdealt_total_right")
    assert floor.hold().outcomes == ("void_round", "return_wagers", "reshuffle")
    assert floor.hold().clauses[0].endswith("/1")
    assert floor.phase == mc.VOID
    returned = [w for _, decided in floor.log for w in decisions_of(WagersReturned, decided)]
    assert [(w.round, w.settled, w.seat) for w in returned] == [(5, (), None)]
    floor.override = lambda _: None
    floor.settle()
    assert (floor.deck().state, floor.reasons_against_opening()) == (mc.READY, set()), "shuffled again, and still here"


@by_method(*(part.format("/2", "/2") for part in WRONG))
@pytest.mark.parametrize("finding", ["not_misdealt", "misdealt_total_wrong"])
def test_not_misdealt_or_not_53_voids_the_round_and_the_deck_leaves(game: str, dealing: str, finding: str) -> None:
    floor = counted_wrong(game, dealing)
    floor.count_stub(LEFT - 1)
    decided = floor.answer_prompt("finding", finding)
    assert found_irregularity(decided).outcomes == ("void_round", "return_wagers", "remove_deck")
    assert found_irregularity(decided).clauses[0].endswith("/2")
    assert findings(decided, "affected_rounds")[0].rounds == (1, 2, 3, 4, 5)
    assert (floor.phase, floor.deck().verified) == (mc.VOID, False)
    floor.override = lambda _: None
    floor.settle()
    assert floor.deck().state == mc.REMOVED
    assert "eject" not in commanded_acts(floor.settle())
