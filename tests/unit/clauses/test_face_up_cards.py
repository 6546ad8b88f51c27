"""Cards found face up: one alone or several at once, in the deal or outside of it, declared or seen by a shoe."""

from __future__ import annotations

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HoldOpened, RequestRefused, WagersReturned
from tests.support.core.ideal_table import DEALER, FLOOR, decisions_of
from tests.support.core.setups import table_at
from tests.support.suite.clauses import clauses

SHOE = "shoe.1"
MORE = {
    "asia_poker": "575.13(f)/2",
    "saigon_5_card": "680a.13(a)/2",
    "dj_wild": "687a.13(a)/2",
    "face_up_pai_gow": "688a.13(e)/2",
}
FIRST = {game: clause.replace("/2", "/1") for game, clause in MORE.items()}
GAMES = [pytest.param(game, marks=clauses(FIRST[game], MORE[game])) for game in MORE]
KINDS = ("auto", "manual", "hand")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("game", GAMES)
def test_several_cards_declared_at_once_void_the_round_with_the_first_report(game: str, kind: str) -> None:
    floor = table_at(game, kind, mc.DEALING)
    decided = floor.declare("face_up_card_more", seat=3)
    (irregularity,) = decisions_of(HoldOpened, decided)
    assert (irregularity.trigger, irregularity.clauses) == ("face_up_card_more", (MORE[game],))
    assert floor.phase == mc.VOID
    assert decisions_of(WagersReturned, decided)


@pytest.mark.parametrize("game", GAMES)
def test_a_stack_with_several_cards_face_up_voids_the_round_also_if_no_card_was_reported_alone(game: str) -> None:
    floor = table_at(game, "auto", mc.DEALING)
    (irregularity,) = decisions_of(HoldOpened, floor.step(ev.StackOut(SHOE, floor.edition.hand.cards, 2)))
    assert (irregularity.trigger, irregularity.clauses) == ("face_up_card_more", (MORE[game],))
    assert floor.phase == mc.VOID


@pytest.mark.parametrize("game", GAMES)
def test_a_card_that_the_shoe_reports_alone_and_again_with_its_stack_is_one_card(game: str) -> None:
    floor = table_at(game, "auto", mc.DEALING)
    place = floor.round_.to_deal[0]
    floor.step(ev.FaceUpSeen(SHOE))
    assert decisions_of(HoldOpened, floor.step(ev.StackOut(SHOE, floor.edition.hand.cards, 1))) == []
    hold = floor.hold("face_up_card_first")
    assert (hold.seat, hold.clauses, floor.phase) == (place, (FIRST[game],), mc.DEALING)
    assert floor.round_.face_up == 1


@pytest.mark.parametrize("game", GAMES)
def test_a_stack_with_one_card_face_up_that_was_not_reported_alone_is_still_the_first(game: str) -> None:
    floor = table_at(game, "auto", mc.DEALING)
    place = floor.round_.to_deal[0]
    floor.step(ev.StackOut(SHOE, floor.edition.hand.cards, 1))
    assert (floor.hold("face_up_card_first").seat, floor.phase) == (place, mc.DEALING)


@pytest.mark.parametrize("game", GAMES)
def test_a_second_card_in_the_same_stack_voids_the_round(game: str) -> None:
    floor = table_at(game, "auto", mc.DEALING)
    floor.step(ev.FaceUpSeen(SHOE))
    assert floor.phase == mc.DEALING
    floor.step(ev.FaceUpSeen(SHOE))
    assert floor.phase == mc.VOID


@pytest.mark.parametrize("before", [mc.BETTING, mc.NO_MORE_BETS])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("game", GAMES)
def test_a_card_seen_before_the_deal_goes_to_the_floorperson_and_is_not_part_of_the_deal(
    game: str, kind: str, before: str
) -> None:
    floor = table_at(game, kind, before)
    (irregularity,) = decisions_of(HoldOpened, floor.declare("face_up_card_first", seat=3))
    assert (irregularity.outcomes, irregularity.clauses) == (("ask_floorperson",), ("rule 2",))
    assert floor.prompt("choose").role == "floorperson"
    floor.clear_holds()  # the floorperson lets the round go on
    floor.play_to(mc.DEALING)
    (first,) = decisions_of(HoldOpened, floor.declare("face_up_card_first", seat=3))
    assert (first.trigger, first.clauses) == ("face_up_card_first", (FIRST[game],)), "it is the first of this deal"
    assert floor.phase == mc.DEALING


@pytest.mark.parametrize("game", GAMES)
def test_a_shoe_that_sees_a_card_while_bets_are_open_does_not_count_it_for_the_deal(game: str) -> None:
    floor = table_at(game, "auto", mc.BETTING)
    floor.step(ev.FaceUpSeen(SHOE))
    floor.step(ev.FaceUpSeen(SHOE))
    assert [hold.clauses for hold in floor.state.holds.values()] == [("rule 2",)]
    floor.clear_holds()
    floor.play_to(mc.DEALING)
    floor.step(ev.FaceUpSeen(SHOE))
    assert floor.hold().clauses[0] == FIRST[game]
    assert floor.phase == mc.DEALING


@pytest.mark.parametrize("game", GAMES)
def test_correcting_the_number_of_cards_to_one_does_not_undo_a_void_round(game: str) -> None:
    """An attempt to bypass the rule: the same cards are reported again as one card, to another person."""
    floor = table_at(game, "auto", mc.DEALING)
    floor.declare("face_up_card_more", seat=3)
    assert decisions_of(RequestRefused, floor.declare("face_up_card_first", seat=3))
    assert decisions_of(RequestRefused, floor.step(ev.IrregularityReported("face_up_card_first", FLOOR, seat=3)))
    floor.clear_holds()
    floor.settle()
    assert floor.phase == mc.IDLE
    assert floor.deck().state != mc.IN_PLAY
    assert not floor.round_.settled


@pytest.mark.parametrize("kind", ["shoe", "shoe_blind", "plain"])
@pytest.mark.parametrize("phase", [mc.BETTING, mc.LOCKED])
@clauses("686a.9(a)/1")
def test_over_under_discards_a_face_up_card_also_before_the_deal(kind: str, phase: str) -> None:
    """The chapter has no limit to the deal: a card found face up at any time is not used in that round."""
    floor = table_at("over_under", kind, phase)
    decided = floor.declare("face_up_card_first")
    assert [(one.outcomes, one.clauses) for one in decisions_of(HoldOpened, decided)] == [
        (("discard_card", "continue_round"), ("686a.9(a)/1",))
    ]
    rack = floor.state.book.balance("red" if floor.round_.deck == "red" else "blue", "rack")
    if "shoe.1" in floor.slots:
        assert not decisions_of(HoldOpened, floor.step(ev.CardsDrawn("shoe.1", 1))), (
            "the dealer does what was asked for"
        )
    floor.answer_prompt("card_discarded")
    assert floor.state.book.balance(floor.round_.deck or "", "rack") == rack + 1
    floor.answer_prompt("acknowledge")
    since = len(floor.log)
    floor.play(ev.NoMoreBets(DEALER)) if phase == mc.BETTING else floor.settle()
    assert floor.phase == mc.IDLE
    assert not [one for _, later in floor.log[since:] for one in decisions_of(HoldOpened, later)], (
        "the shoe's count is as it must be"
    )


@clauses("686a.9(b)")
@pytest.mark.parametrize("kind", ["shoe", "plain", "continuous"])
def test_a_shoe_that_is_found_too_short_before_the_deal_is_filled_from_the_rack(kind: str) -> None:
    floor = table_at("over_under", kind, mc.BETTING)
    decided = floor.declare("shoe_short")
    assert [one.clauses for one in decisions_of(HoldOpened, decided)] == [("686a.9(b)",)]
    floor.clear_holds()
    floor.play(ev.NoMoreBets(DEALER))
    assert floor.phase == mc.IDLE
    floor.round()
    assert floor.phase == mc.IDLE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("game", GAMES)
def test_a_card_that_shoe_and_dealer_report_both_is_one_card(game: str, kind: str) -> None:
    """One card face up voids nothing, however often it is reported before it is racked."""
    floor = table_at(game, kind, mc.DEALING)
    floor.step(ev.FaceUpSeen(SHOE)) if kind != "hand" else floor.declare("face_up_card_first", seat=3)
    (refusal,) = decisions_of(RequestRefused, floor.declare("face_up_card_first", seat=3))
    assert "face_up_card_more" in refusal.what, "if there is another card, the dealer reports several"
    assert (floor.phase, floor.round_.face_up) == (mc.DEALING, 1)
    decided = floor.declare("face_up_card_more", seat=3)
    assert [one.clauses for one in decisions_of(HoldOpened, decided)] == [(MORE[game],)]
    assert floor.phase == mc.VOID
