"""Defects of the core that random days at full tables found, each as one test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, HoldOpened, Prompt, StateChanged
from tests.support.core.ideal_table import (
    AUDITOR,
    DEALER,
    FLOOR,
    TECH,
    IdealTable,
    commanded_acts,
    findings,
    found_irregularity,
    refusal_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.decisions import Decision

CONTINUOUS: dict[str, Any] = {
    "dealing": "continuous_shuffler", "shuffler": "continuous", "reshuffles": True, "two_decks": False,
    "slots": {"shuffler.1": "shuffler"},
}  # fmt: skip
# Numbers are drawn, and no bets are sensed.
GENERATOR: dict[str, Any] = {
    "start": "rng", "wagers": [], "paytables": {}, "slots": {"shuffler.1": "shuffler", "shoe.1": "shoe", "rng.1": "rng"}
}  # fmt: skip


@pytest.mark.parametrize("who", [TECH, AUDITOR])
def test_a_change_of_dealers_is_reported_by_people_at_the_table(who: ev.Person) -> None:
    floor = IdealTable("over_under").start("blue", "red")
    assert "only a dealer can take over" in refusal_text(floor.step(ev.DealerChanged(who)))
    assert floor.state.burn_due == 0
    floor.step(ev.DealerChanged(DEALER))
    assert floor.state.burn_due == 1


@pytest.mark.parametrize(("trigger", "slot"), [("shuffler_fault", "shaker.1"), ("shoe_fault", "shuffler.1")])
def test_a_fault_is_reported_of_a_device_that_can_have_it(trigger: str, slot: str) -> None:
    floor = IdealTable("asia_poker").start("blue", "red").play_to(mc.BETTING)
    assert refusal_text(floor.declare(trigger, slot=slot)) == f"{trigger} needs the slot of such a device"
    assert found_irregularity(floor.declare(trigger, slot=trigger.replace("_fault", ".1"))).trigger == trigger


def test_a_batch_found_wrong_in_a_continuous_shuffler_voids_the_round_that_was_dealt_from_it() -> None:
    floor = IdealTable("over_under", **CONTINUOUS).start("blue").play_to(mc.SETTLING)
    short = floor.state.book.balance("blue", "rack") - 1
    floor.step(ev.DiscardsTakenIn("shuffler.1", short))
    floor.answer_prompt("choose", "reverify")
    assert floor.phase == mc.VOID
    floor.clear_holds()
    floor.settle()
    assert StateChanged("round", mc.COMPLETE) in floor.round()


def test_a_preshuffled_batch_goes_into_the_continuous_shuffler() -> None:
    floor = IdealTable("over_under", **CONTINUOUS)
    floor.start("blue")
    floor.order("remove_deck", deck="blue")
    floor.settle()
    floor.play(ev.DeckReceived("green", DEALER, preshuffled=True))
    assert floor.deck("green").place == "shuffler.1"
    assert StateChanged("round", mc.COMPLETE) in floor.round()


def test_a_round_whose_batch_was_given_out_in_the_middle_of_it_cannot_go_on() -> None:
    floor = IdealTable("over_under", **CONTINUOUS).start("blue").play_to(mc.SETTLING)
    assert found_irregularity(floor.step(ev.DeckGivenOut("shuffler.1"))).trigger == "unknown_cards"
    assert floor.prompt("choose").choices == ("void", "void_and_remove")


def _without_word(act: str) -> IdealTable:
    """Return a table where the first command of a kind ended without its device's result event."""
    floor = IdealTable("face_up_pai_gow" if act == "draw" else "asia_poker", **GENERATOR if act == "draw" else {})
    silent: list[int] = []

    def mute(decision: Decision) -> list[ev.Event] | None:
        if isinstance(decision, Command) and decision.act == act and not silent:
            silent.append(decision.id)
            return [ev.CommandEnded(decision.id, "done")]
        return None

    floor.override = mute
    floor.start("blue", "red")
    if not silent:
        floor.play_to(mc.BETTING)
        floor.play(ev.NoMoreBets(DEALER), until=lambda _: bool(silent))
        floor.step(ev.CommandEnded(silent[0], "done"))
    return floor


@pytest.mark.parametrize(
    ("act", "trigger"),
    [("shuffle", "shuffler_fault"), ("load", "shoe_fault"), ("dispense", "shoe_fault"), ("draw", "command_failed")],
)
def test_a_command_that_ends_without_its_result_event_counts_as_failed(act: str, trigger: str) -> None:
    floor = _without_word(act)
    triggers = [d.trigger for _, decisions in floor.log for d in decisions if hasattr(d, "trigger")]
    assert triggers == [trigger]


def test_a_stub_that_came_out_uncounted_is_counted_by_people() -> None:
    floor = _without_word("give_stub")
    assert floor.phase == mc.STUB_CHECK
    assert floor.prompt("stub").role == "dealer"


def test_the_stored_deck_makes_room_for_the_deck_of_a_round_that_must_be_shuffled_again() -> None:
    floor = IdealTable("face_up_pai_gow").start("blue", "red").play_to(mc.BETTING)
    deck, other = ("blue", "red") if floor.round_.deck == "blue" else ("red", "blue")
    assert floor.deck(other).place == "shuffler.1/gate"
    assert "stored_deck" in floor.keys("eject", "shuffler.1", other)
    floor.step(ev.IrregularityReported("count_wrong", FLOOR, deck=deck))
    floor.answer_prompt("choose", "reverify")
    assert commanded_acts(floor.answer_prompt("deck_counted", "whole") + floor.answer_prompt("acknowledge")) == [
        "eject"
    ]
    assert StateChanged("round", mc.COMPLETE) in floor.settle() + floor.play(ev.NoMoreBets(DEALER))


@pytest.mark.parametrize("cover", [True, False])
def test_a_round_that_is_open_is_still_played_when_its_shoe_ends_before_the_deal(*, cover: bool) -> None:
    floor = IdealTable("over_under").start("blue", "red")
    floor.round()
    floor.play_to(mc.BETTING)
    floor.step(ev.CoverCardOut("shoe.1") if cover else ev.Ordered("reshuffle", FLOOR, deck=floor.round_.deck))
    assert StateChanged("round", mc.COMPLETE) in floor.play(ev.NoMoreBets(DEALER))
    assert floor.state.round.number == 2


def test_a_deck_that_was_found_wrong_twice_is_free_once_it_was_counted_for_both() -> None:
    floor = IdealTable("asia_poker").start("blue", "red")
    floor.loads_shuffler = False
    floor.round()
    deck = floor.state.last_deck or ""
    floor.loads_shuffler = True
    floor.override = lambda d: (
        [ev.ShuffleEnded("shuffler.1", 52, shuffled=True), ev.CommandEnded(d.id, "done")]
        if isinstance(d, Command) and d.act == "shuffle"
        else []
    )
    floor.play()
    floor.step(ev.IrregularityReported("count_wrong", FLOOR, deck=deck))
    assert len(floor.state.holds) == 2
    floor.clear_holds()
    assert floor.deck(deck).state == mc.STACKED


def test_a_device_whose_report_was_not_good_can_be_asked_again() -> None:
    floor = IdealTable("asia_poker").start("blue", "red")
    floor.step(ev.SlotChanged("shaker.1", "doubt"))
    assert "only a floorperson can" in refusal_text(floor.step(ev.SlotOrdered("shaker.1", "acknowledge", TECH)))
    assert commanded_acts(floor.step(ev.SlotOrdered("shaker.1", "acknowledge", FLOOR))) == ["return_to_service"]
    assert floor.state.slots["shaker.1"].state == "unverified", "only its report makes it serve"
    assert "device_busy" in floor.keys("return_to_service", "shaker.1")


def test_a_stack_that_is_under_way_is_not_the_card_that_completes_another() -> None:
    """A card is found face up while the next stack comes out: that one goes to its own place, and the card follows."""
    floor = IdealTable("dj_wild").start("blue", "red")
    floor.settle()
    dispensed: list[Decision] = []
    floor.play(ev.OpenRound(DEALER))

    def third(decision: Decision) -> bool:
        dispensed.extend([decision] if isinstance(decision, Command) and decision.act == "dispense" else [])
        return len(dispensed) == 3

    floor.play(ev.NoMoreBets(DEALER), until=third)
    floor.declare("face_up_card_first", seat=1, deck=floor.round_.deck)
    floor.clear_holds()
    before = len(floor.log)
    floor.settle()
    stacks = [event.count for event, _ in floor.log[before:] if isinstance(event, ev.StackOut)]
    assert stacks == [5, 1, 5]
    stub = next(event.count for event, _ in floor.log[before:] if isinstance(event, ev.StubOut))
    assert sum([5, 5, *stacks]) + stub == floor.edition.cards.count


def refused_batch() -> IdealTable:
    """A shuffler that refused its batch: the door is open, and the cards lie in the intake."""
    floor = IdealTable("over_under").start("blue")
    floor.loads_shuffler = False
    floor.play(ev.DeckReceived("red", DEALER))
    floor.step(ev.CardsInserted("shuffler.1"))
    (shuffle,) = floor.state.commands
    floor.step(ev.CommandEnded(shuffle, "failed", 422))
    assert floor.hold().trigger == "shuffler_fault"
    return floor


def test_cards_that_hands_take_back_while_the_shuffler_is_to_give_them_out_are_out() -> None:
    """People were asked forever: a machine cannot eject what it never drew in."""
    floor = refused_batch()
    floor.answer_prompt("let_out")
    (clear_out,) = (id_ for id_, issued in floor.state.commands.items() if issued.act == "clear_out")
    floor.step(ev.IntakeEmptied("shuffler.1"))
    floor.step(ev.CommandEnded(clear_out, "failed", 424))
    assert (floor.deck("red").state, floor.deck("red").place) == (mc.STACKED, "tray")
    assert floor.prompts("cards_together")
    floor.clear_holds()
    floor.loads_shuffler = True
    floor.settle()
    assert floor.deck("red").verified


def test_an_intake_emptied_by_a_cycle_is_not_taken_for_a_removal_by_hand() -> None:
    floor = IdealTable("over_under").start("blue")
    floor.loads_shuffler = False
    floor.play(ev.DeckReceived("red", DEALER))
    floor.step(ev.CardsInserted("shuffler.1"))
    floor.step(ev.IntakeEmptied("shuffler.1"))
    assert floor.deck("red").state == mc.IN_DEVICE


def test_a_shuffler_that_keeps_what_it_refused_is_given_up() -> None:
    """The floorperson's remedy: hands take the cards from a machine out of service, and the table goes on."""
    floor = refused_batch()
    floor.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    floor.clear_holds()
    assert (floor.deck("red").state, floor.deck("red").place) == (mc.STACKED, "tray")
    assert not floor.state.holds


def few_shakes() -> IdealTable:
    """Return a table where a lid came off too soon and the dealer is asked to cover the shaker."""
    floor = IdealTable("asia_poker").start("blue", "red").play_to(mc.BETTING)
    floor.play(ev.NoMoreBets(DEALER), until=lambda d: isinstance(d, Command) and d.act == "arm_dice")
    (armed,) = floor.state.commands
    floor.step(ev.CommandEnded(armed, "done"))
    assert not commanded_acts(floor.step(ev.NoRollReported("shaker.1", "too_few_shakes"))), (
        "an open shaker refuses, and that is a hold"
    )
    assert floor.prompt("cover_shaker").role == "dealer"
    return floor


def test_a_shaker_is_armed_again_once_its_lid_is_on_and_no_hold_comes_of_few_shakes() -> None:
    floor = few_shakes()
    assert not floor.state.holds
    assert commanded_acts(floor.answer_prompt("cover_shaker")) == ["arm_dice"]
    assert StateChanged("round", mc.COMPLETE) in floor.settle()


def test_an_open_shaker_is_covered_despite_other_holds_or_lost_devices() -> None:
    floor = few_shakes()
    floor.declare("other")
    floor.step(ev.SlotChanged("shaker.1", "vanish"))
    floor.step(ev.SlotChanged("shaker.1", "appear"))
    floor.step(ev.SlotChanged("shaker.1", "verify"))
    assert "arm_dice" not in commanded_acts(floor.clear_holds())
    assert commanded_acts(floor.answer_prompt("cover_shaker")) == ["arm_dice"]


def test_an_open_shaker_is_covered_also_when_its_round_is_void() -> None:
    floor = few_shakes()
    floor.declare("other")
    floor.answer_prompt("choose", "void")
    assert floor.phase == mc.VOID
    assert floor.prompt("cover_shaker").role == "dealer"


def test_a_deck_reported_as_removed_is_noticed_when_the_shuffler_reports_it() -> None:
    """Its cable was out when the floorperson reported it; it returned with cards that no count included."""
    floor = IdealTable("saigon_5_card").start("blue", "red")
    (stored,) = (deck.name for deck in floor.state.decks.values() if deck.place == "shuffler.1/gate")
    floor.step(ev.SlotChanged("shuffler.1", "vanish"))
    floor.order("remove_deck", deck=stored)
    floor.clear_holds()
    assert floor.deck(stored).state == mc.REMOVED
    floor.step(ev.SlotChanged("shuffler.1", "appear"))
    floor.step(ev.SlotChanged("shuffler.1", "verify"))
    decided = floor.step(ev.CardsBehindGate("shuffler.1"))
    assert (found_irregularity(decided).trigger, found_irregularity(decided).slot) == ("unknown_cards", "shuffler.1")
    assert floor.state.slots["shuffler.1"].state == "faulted"
    assert "device_cleared" in floor.hold().steps, "nothing is reported clear that nobody inspected"
    floor.clear_holds()
    floor.step(ev.SlotChanged("shuffler.1", "verify"))
    assert floor.state.slots["shuffler.1"].state == "in_service"


@pytest.mark.parametrize("state", ["known", "absent", "faulted", "out of order"])
def test_cards_behind_a_gate_are_no_news_where_they_are_known_or_looked_for(state: str) -> None:
    floor = IdealTable("saigon_5_card")
    if state != "absent":
        floor.start("blue", "red") if state == "known" else floor.start("blue")
    if state == "faulted":
        floor.step(ev.SlotChanged("shuffler.1", "fault"))
    if state == "out of order":
        floor.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    held = len(floor.state.holds)
    decided = floor.step(ev.CardsBehindGate("shuffler.1"))
    assert len(floor.state.holds) == held
    assert not [d for d in decided if hasattr(d, "trigger")]


@pytest.mark.parametrize("under_way", [False, True])
def test_a_deck_that_its_shoe_reports_gone_is_not_dealt(*, under_way: bool) -> None:
    """A shoe was emptied at another deck's account, reported itself empty, and the next round was dealt from it."""
    floor = IdealTable("face_up_pai_gow").start("blue", "red")
    floor.settle()
    if under_way:
        floor.play_to(mc.BETTING)
    deck = floor.state.slots["shoe.1"].deck or ""
    floor.step(ev.SlotChanged("shoe.1", "doubt"))
    floor.step(ev.SlotChanged("shoe.1", "verify"))
    hold = found_irregularity(floor.step(ev.ShoeEmpty("shoe.1")))
    assert (hold.trigger, hold.deck) == ("unknown_cards", deck)
    assert not floor.deck(deck).verified
    assert floor.state.slots["shoe.1"].deck is None
    assert "dispense" not in commanded_acts(floor.play(ev.NoMoreBets(DEALER) if under_way else ev.OpenRound(DEALER)))
    floor.clear_holds()
    floor.settle()
    assert floor.deck(deck).verified, "it was counted"
    assert StateChanged("round", mc.COMPLETE) in floor.round()


def test_a_shoe_that_reports_itself_empty_as_it_should_is_no_irregularity() -> None:
    floor = IdealTable("face_up_pai_gow").start("blue", "red").play_to(mc.PLAYING)
    assert floor.step(ev.ShoeEmpty("shoe.1")) == []
    floor.declare("shoe_fault", slot="shoe.1")
    holds = len(floor.state.holds)
    floor.step(ev.ShoeEmpty("shoe.1"))
    assert len(floor.state.holds) == holds


def _counts(cards: int) -> Callable[[Decision], list[ev.Event] | None]:
    """Return an answer to a shuffle command: the shuffler reports this count."""

    def count(decision: Decision) -> list[ev.Event] | None:
        if isinstance(decision, Command) and decision.act == "shuffle":
            return [ev.ShuffleEnded(decision.slot, cards, shuffled=True), ev.CommandEnded(decision.id, "done")]
        return None

    return count


def _hands_count_whole(floor: IdealTable, batch: str) -> None:
    """Count a doubted batch whole by hand; it waits for its shuffle."""
    floor.loads_shuffler = False
    floor.step(ev.IrregularityReported("count_wrong", FLOOR, deck=batch))
    floor.answer_prompt("choose", "reverify")
    floor.clear_holds()
    assert floor.deck(batch).verified


def test_rounds_before_a_count_by_hand_are_listed_until_another_check_finds_the_same() -> None:
    """People counted a short batch as whole, and the rounds dealt from it before were forgotten."""
    floor = IdealTable("over_under").start("blue", "red")
    floor.round()
    floor.round()
    batch = floor.state.slots["shoe.1"].deck or ""
    _hands_count_whole(floor, batch)
    _hands_count_whole(floor, batch)
    assert floor.deck(batch).doubted == [1, 2], "hands that count the same cards again are no other check"
    floor.settle()
    floor.loads_shuffler, floor.override = True, _counts(floor.edition.cards.count - 1)
    (finding,) = findings(floor.play(until=lambda d: isinstance(d, HoldOpened)), "affected_rounds")
    assert (finding.deck, finding.rounds) == (batch, (1, 2))
    assert "if only a hand count found it complete" in finding.text


@pytest.mark.parametrize("counts", [True, False])
def test_a_round_is_no_longer_in_doubt_after_a_machine_count_or_two_hand_counts(*, counts: bool) -> None:
    floor = IdealTable("over_under", shuffler_counts=counts).start("blue", "red")
    doubted: list[tuple[str, list[int], list[int]]] = []
    for _ in range(3):
        floor.round()
        batch = floor.state.slots["shoe.1"].deck or ""
        _hands_count_whole(floor, batch)
        before = list(floor.deck(batch).doubted)
        floor.loads_shuffler = True
        floor.settle()
        doubted.append((batch, before, list(floor.deck(batch).doubted)))
    one, other = doubted[0][0], doubted[1][0]
    kept = [[], [], []] if counts else [[1], [2], [3]]  # a machine's count is sure; hands wait for the next hands
    assert doubted == [(one, [1], kept[0]), (other, [2], kept[1]), (one, [3], kept[2])]


@pytest.mark.parametrize("kind", [{}, CONTINUOUS])
def test_a_shoe_whose_cover_card_comes_before_its_first_round_is_collected_and_shuffled(kind: dict[str, Any]) -> None:
    """No round opened from it and no question was asked: only a floorperson's order helped."""
    floor = IdealTable("over_under", **kind).start(*(["blue"] if kind else ["blue", "red"]))
    batch = floor.deck(floor.state.slots["shuffler.1" if kind else "shoe.1"].deck or "")
    decided = floor.step(ev.CoverCardOut(who=DEALER))
    assert "shoe_over" in floor.reasons_against_opening()
    asked = [d.kind for d in decided + floor.settle() if isinstance(d, Prompt)]
    assert asked.count("collected") == 1
    assert (batch.rounds, batch.verified) == ([], True)
    assert StateChanged("round", mc.COMPLETE) in floor.round()
