"""575.3 and 688a.3: the cards of a deck, two alternating decks, and when a deck is changed."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.rulebook import check_submission
from table_controller.rulebook import edition as committed
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Deadline, Finding, RequestRefused
from tests.support.core.ideal_table import (
    DEALER,
    FLOOR,
    IdealTable,
    commanded_acts,
    decisions_of,
    findings,
    refusal_text,
)
from tests.support.core.two_games import both, each_method, leave_unanswered, make_table

HOUR = 3600.0


def chapter(table: IdealTable) -> str:
    return table.edition.chapter


@both("575.3(a)", "688a.3(a)")
def test_the_dealer_confirms_52_cards_and_one_joker_before_anything_else(game: str) -> None:
    table = make_table(game)
    for preshuffled in (False, True):
        table.step(ev.DeckReceived("blue", DEALER, preshuffled=preshuffled))
        (asked,) = table.prompts("opening/composition")
        assert [p for p in table.prompts() if p.deck] == [asked]
        assert (asked.role, asked.choices, asked.clauses) == (
            "dealer",
            ("whole", "not_whole"),
            (f"{chapter(table)}.3(a)",),
        )
        table.answer_prompt("opening/composition", "not_whole")
        assert table.deck().state == mc.REMOVED
    assert table.edition.cards.count == 53
    assert (table.edition.cards.jokers, table.edition.cards.cover_cards_least) == (1, 2)


@both("575.3(b)", "688a.3(b)")
def test_two_decks_are_played_only_with_an_automated_shuffler(game: str) -> None:
    edition = committed(game)
    with pytest.raises(
        BadSubmission, match=rf"two decks need a shuffler that stores one of them \({edition.chapter}\.3\(b\)\)"
    ):
        check_submission(edition, {"adjacent_boxes": 1, "two_decks": True})
    alone = make_table(game, "manual_shoe", machine=False).start("blue")
    assert refusal_text(alone.step(ev.DeckReceived("red", DEALER))) == "this table plays with 1 deck"
    table = make_table(game, "manual_shoe", two_decks=True).start("blue", "red")
    assert not table.reasons_against_opening()
    table.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    table.clear_holds()
    table.order("shuffle_by_hand")
    table.settle()
    (no,) = decisions_of(RequestRefused, table.step(ev.OpenRound(DEALER)))
    assert ("two_decks_barred", f"{edition.chapter}.3(b)") in {(reason.key, reason.clause) for reason in no.reasons}


@both("575.3(b)(1)", "688a.3(b)(1)")
def test_two_decks_have_two_back_colors_and_the_dealer_confirms_it(game: str) -> None:
    table = make_table(game, two_decks=True).start("blue")
    before = table.table.snapshot()
    assert "two decks must differ by back color" in refusal_text(table.step(ev.DeckReceived("blue", DEALER)))
    assert table.table.snapshot() == before
    table.step(ev.DeckReceived("red", DEALER))
    asked = table.prompt("opening/composition")
    assert (asked.deck, asked.role) == ("red", "dealer")
    assert f"{chapter(table)}.3(b)(1)" in asked.clauses
    assert [d.name for d in table.table.context.decks_at_table()] == ["blue", "red"]


@both("575.3(b)(1)", "688a.3(b)(1)")
@pytest.mark.parametrize("name", ["Blue", "BLUE ", " blue", "\uff42\uff4c\uff55\uff45", "b\u200blue", "bl-ue"])
def test_one_color_in_another_spelling_is_no_second_color(game: str, name: str) -> None:
    table = make_table(game, two_decks=True).start("blue")
    before = table.table.snapshot()
    refusal = refusal_text(table.step(ev.DeckReceived(name, DEALER)))
    assert "has the back color of deck blue" in refusal
    assert f"{chapter(table)}.3(b)(1)" in refusal
    assert table.table.snapshot() == before


@both("575.3(b)(1)", "688a.3(b)(1)")
@pytest.mark.parametrize("name", ["", " ", "--", "\u200b"])
def test_a_deck_without_a_color_is_no_deck(game: str, name: str) -> None:
    table = make_table(game, two_decks=True).start("blue")
    assert refusal_text(table.step(ev.DeckReceived(name, DEALER))) == "name the deck by its back color"


@both("575.3(b)(1)", "688a.3(b)(1)")
def test_a_color_comes_back_only_when_no_irregularity_names_it_in_any_spelling(game: str) -> None:
    table = make_table(game, two_decks=True).start("blue", "red")
    table.step(ev.IrregularityReported("count_wrong", DEALER, deck="red"))
    while table.deck("red").state != mc.REMOVED:
        (asked,) = (prompt for prompt in table.prompts() if prompt.hold is not None)
        choice = "remove" if "remove" in asked.choices else asked.choices[0]
        table.step(ev.Answer(asked.id, choice, FLOOR))
        table.override = leave_unanswered("acknowledge")
        table.play(*(e for i, cmd in table.state.commands.items() for e in table.answer(Command(i, cmd.slot, cmd.act))))
    assert table.hold().deck == "red"
    assert "an irregularity of the earlier deck" in refusal_text(table.step(ev.DeckReceived("Red", DEALER)))


@both("575.3(b)(2)", "688a.3(b)(2)")
def test_the_other_deck_is_shuffled_and_kept_in_the_shuffler(game: str) -> None:
    table = make_table(game, two_decks=True).start("blue", "red").play_to(mc.BETTING)
    assert (table.round_.deck, table.deck("red").place) == ("blue", "shuffler.1/gate")
    for phase in (mc.BETTING, mc.DEALING, mc.PLAYING, mc.SETTLING):
        table.play_to(phase)
        (stays,) = (reason for reason in table.table.permit("eject", "shuffler.1", "red"))
        assert (stays.key, stays.clause) == ("stored_deck", f"{chapter(table)}.3(b)(2)")
    decided = table.settle()
    assert table.phase == mc.IDLE
    assert "eject" in commanded_acts(decided), "once the round is over it comes out"


@both("575.3(b)(2)", "688a.3(b)(2)")
@pytest.mark.parametrize("preshuffled", [False, True])
def test_no_round_opens_while_the_other_deck_lies_outside_the_shuffler(game: str, preshuffled: bool) -> None:
    table = make_table(game, two_decks=True).start("blue")
    table.loads_shuffler = False
    table.play(ev.DeckReceived("red", DEALER, preshuffled=preshuffled))
    assert table.deck("red").place == "tray"
    (no,) = decisions_of(RequestRefused, table.step(ev.OpenRound(DEALER)))
    (reason,) = no.reasons
    assert (reason.key, reason.clause) == ("other_deck_outside", f"{chapter(table)}.3(b)(2)")
    table.play(ev.CardsInserted("shuffler.1"))
    assert table.deck("red").place == "shuffler.1/gate"
    assert not table.reasons_against_opening()


@both("575.3(b)(3)", "688a.3(b)(3)")
def test_each_deck_is_used_for_every_other_round(game: str) -> None:
    table = make_table(game, two_decks=True).start("blue", "red")
    used = []
    for _ in range(4):
        table.round()
        used.append(table.state.last_deck)
        assert "deck_used_last" in table.keys("open_bets", deck=used[-1])
        assert "deck_used_last" in table.keys("load", "shoe.1", used[-1])
    assert used == ["blue", "red", "blue", "red"]


@both("575.3(b)(3)", "688a.3(b)(3)")
def test_a_deck_that_was_used_last_waits_for_the_other_even_if_that_is_late(game: str) -> None:
    table = make_table(game, two_decks=True).start("blue", "red")
    table.order("remove_deck", deck="red")
    table.settle()
    table.round()
    assert not table.reasons_against_opening(), "one deck alone is played on with (X19)"
    table.override = leave_unanswered("put_in_shoe")
    table.round()
    table.loads_shuffler = False
    table.play(ev.DeckReceived("red", DEALER))
    reasons = {reason.key: reason.clause for reason in table.table.permit("load", "shoe.1", "blue")}
    assert reasons["deck_used_last"] == f"{chapter(table)}.3(b)(3)"


@both("575.3(b)(4)", "688a.3(b)(4)")
def test_one_deck_is_in_the_discard_rack(game: str) -> None:
    table = make_table(game, two_decks=True).start("blue", "red")
    table.loads_shuffler = False
    table.override = leave_unanswered("rack_clear")
    table.round()
    assert table.deck("blue").place == "rack"
    asked = table.prompt("rack_clear")
    assert (asked.role, asked.deck, asked.clauses) == ("dealer", "blue", (f"{chapter(table)}.3(b)(4)",))
    assert "rack_taken" in table.reasons_against_opening()
    assert "rack_taken" in table.keys("collect", deck="red")
    assert "rack_taken" not in table.keys("collect", deck="blue")
    table.answer_prompt("rack_clear")
    assert table.deck("blue").place == "tray"
    assert "rack_taken" not in table.reasons_against_opening()


@each_method(("575.3(c) 575.3(c)(2)", "575.3(c) 575.3(c)(1)", "575.3(c) 575.3(c)(2)"),
             ("688a.3(c) 688a.3(c)(2)", "688a.3(c) 688a.3(c)(1)", "688a.3(c) 688a.3(c)(2)"))  # fmt: skip
def test_a_deck_is_changed_in_time(game: str, method: str) -> None:
    hours = 4 if method == "hand" else 8
    table = make_table(game, method)
    assert [
        d for d in decisions_of(Deadline, table.step(ev.DeckReceived("blue", DEALER))) if d.timer.startswith("deck_age")
    ] == [
        Deadline("deck_age/blue/4", 4 * HOUR),
        Deadline("deck_age/blue/8", 8 * HOUR),
    ]
    table.settle()
    table.start("blue")
    if hours == 8:
        assert not findings(table.step(ev.Due("deck_age/blue/4")), "deck_expired")
        assert not table.reasons_against_opening(), "four hours are for cards dealt by hand"
    table.play_to(mc.DEALING)
    assert len(findings(table.step(ev.Due(f"deck_age/blue/{hours}")), "deck_expired")) == 1
    table.settle()
    assert (table.phase, table.round_.number) == (mc.IDLE, 1), "the round in hand is finished (X10)"
    assert "deck_expired" in table.reasons_against_opening()
    (no,) = decisions_of(RequestRefused, table.step(ev.OpenRound(DEALER)))
    expected = f"{chapter(table)}.3(c)({1 if method == 'hand' else 2})"
    assert expected in {reason.clause for reason in no.reasons if reason.key == "deck_expired"}
    table.order("remove_deck", deck="blue")
    table.settle()
    table.play(ev.DeckReceived("green", DEALER))
    assert not table.reasons_against_opening()


@both("575.3(c)(1)", "688a.3(c)(1)")
def test_a_deck_that_was_ever_dealt_by_hand_is_changed_after_four_hours(game: str) -> None:
    table = make_table(game, "automated_shoe").start("blue")
    table.step(ev.SlotOrdered("shoe.1", "give_up", FLOOR))
    table.clear_holds()
    table.settle()
    table.order("dealing_method", method="hand")
    table.settle()
    table.round()
    assert table.round_.number == 1
    for act in ("repair", "acknowledge"):
        table.play(ev.SlotOrdered("shoe.1", act, ev.Person("technician", "T1") if act == "repair" else FLOOR))
    table.order("dealing_method", method="automated_shoe")
    table.settle()
    assert table.state.dealing == "automated_shoe"
    assert isinstance(findings(table.step(ev.Due("deck_age/blue/4")), "deck_expired")[0], Finding)
    assert "deck_expired" in table.reasons_against_opening()
