"""Cards that a shoe identifies: when the table orders them, what it does with them, and what it never orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

import pytest

from table_controller.ledger import cards as book
from table_controller.rulebook.cards import format_cards, parse_cards
from table_controller.table import dealing
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, DealtCards, StateChanged, WagerSettled
from table_controller.table.events import CardEvent
from table_controller.table.state import TableState
from tests.support.core.all_inputs import all_inputs, box_inputs
from tests.support.core.ideal_table import (
    DEALER,
    FLOOR,
    TECH,
    IdealTable,
    decisions_of,
    findings,
    found_irregularity,
    refusal_text,
)
from tests.support.core.setups import restored_copy
from tests.support.core.two_games import ASIA, PAI_GOW
from tests.unit.test_known_hands import DEALERS, HAND, SAIGON, SETTING, UNDER, WILD

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.decisions import Decision

SHOE: Final = "shoe.1"
MANUAL: Final[dict[str, Any]] = {"dealing": "manual_shoe"}
# Every way of dealing from a shoe that is a device.
SHOES: Final[list[tuple[str, dict[str, Any]]]] = [
    *((game, {}) for game in (ASIA, SAIGON, WILD, PAI_GOW)),
    *((game, MANUAL) for game in (ASIA, SAIGON, WILD, PAI_GOW)),
    (UNDER, {}),
]
OTHERS: Final = "2d 3d 4d 5d 6d 7d 8d"  # cards that no hand below has


def table_of(game: str, seats: tuple[int, ...] = (6,), **choices: Any) -> IdealTable:
    """Return a table with a shoe that identifies the cards of `HAND` and `DEALERS`."""
    table = IdealTable(game, **choices).start("blue", "red")
    table.step(ev.ShoeIdentifies(SHOE))
    table.seats = seats
    table.dealt = {6: HAND[game], **({0: DEALERS[game]} if game in DEALERS else {})}
    return table


def to_settling(game: str, **choices: Any) -> IdealTable:
    """Return such a table after the reveal, before the shoe has answered."""
    table = table_of(game, **choices)
    table.override = silent
    return table.play_to(mc.SETTLING)


def silent(decision: Decision) -> list[ev.Event] | None:
    """Nobody answers an order to release cards."""
    return [] if isinstance(decision, Command) and decision.act == "release_cards" else None


def releases(decisions: list[Decision]) -> list[Command]:
    return [each for each in decisions_of(Command, decisions) if each.act == "release_cards"]


def open_release(table: IdealTable) -> tuple[int, int]:
    """Return the id and the place of the only open order to release cards."""
    ((id_, place),) = ((id_, i.number) for id_, i in table.state.commands.items() if i.act == "release_cards")
    return id_, place


def answer(table: IdealTable, cards: str | None = None, *, unread: int = 0) -> list[Decision]:
    """The shoe releases the cards that are ordered, and ends the command."""
    id_, place = open_release(table)
    dealt_by = table.round_.dealt_hands[place].dealt.dealt_by
    cards = table.cards_at(place) if cards is None else cards
    decided = table.step(ev.HandReleased(SHOE, id_, dealt_by, cards, unread))
    return decided + table.step(ev.CommandEnded(id_, "done"))


def refuse(table: IdealTable, reason: int) -> list[Decision]:
    return table.step(ev.CommandEnded(open_release(table)[0], "failed", reason))


def show(table: IdealTable) -> list[Decision]:
    """The dealer shows the hand of the seat that may surrender, if that is asked."""
    return table.answer_prompt("own_reveal", "shown") if table.prompts("own_reveal") else []


def at_seat(game: str, **choices: Any) -> IdealTable:
    """Return a table where the cards of seat 6 are ordered: those of the dealer are known."""
    table = to_settling(game, **choices)
    if game in DEALERS:
        answer(table)
    for _ in table.prompts("dealer_set"):
        table.answer_prompt("dealer_set")
    for prompt in table.prompts("additional_cards"):
        for event in table.answer(prompt):
            table.step(event)
    show(table)
    assert open_release(table)[1] == 6
    return table


def known(table: IdealTable, place: int) -> str:
    return format_cards(table.round_.hands[place].cards)


def same(first: str, second: str) -> bool:
    return sorted(parse_cards(first)) == sorted(parse_cards(second))


# --- when cards are ordered -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "choices"), SHOES)
def test_a_round_is_settled_by_released_cards_and_none_is_ordered_before_its_hand_is_shown(
    game: str, choices: dict[str, Any]
) -> None:
    table = table_of(game, seats=(1, 3, 6), **choices)
    table.dealt = {}
    table.round()
    phase, order = mc.IDLE, list[int]()
    for decision in [each for _, decisions in table.log for each in decisions]:
        if isinstance(decision, StateChanged) and decision.what == "round":
            phase = decision.state
        for command in releases([decision]):
            order.append(command.number)
            assert phase == mc.SETTLING or (phase == mc.PLAYING and (game, command.number) == (PAI_GOW, 0))
    seats = [1, 3, 6] if table.edition.settle_order.start == "far_left" else [6, 3, 1]
    assert order == [*([0] if table.edition.hand.dealer_hand else []), *seats], "only wagered places, in their order"
    assert table.phase == mc.IDLE
    assert not table.state.holds


@pytest.mark.parametrize("game", [SAIGON, WILD, UNDER])
def test_settlements_follow_from_released_cards_as_from_entered_ones(game: str) -> None:
    by_shoe, by_hand = at_seat(game), at_seat(game)
    answer(by_shoe)
    refuse(by_hand, 454)
    by_hand.step(ev.HandEntered(6, HAND[game], DEALER))
    for table in (by_shoe, by_hand):
        assert same(known(table, 6), HAND[game])
        if game in SETTING:
            table.step(ev.SettingEntered(6, SETTING[game], DEALER))
    assert by_shoe.round_.hands[6].by == ("shoe.1" if game not in SETTING else "D1")
    proposals = by_shoe.prompt("settled").proposals
    assert proposals == by_hand.prompt("settled").proposals
    assert proposals
    (first, *_) = decisions_of(WagerSettled, by_shoe.answer_prompt("settled", "confirmed"))
    assert same(first.cards[0], HAND[game])


def test_the_source_of_known_cards_is_the_shoe() -> None:
    table = at_seat(WILD)
    answer(table)
    assert (table.round_.hands[6].by, table.round_.hands[0].by) == (SHOE, SHOE)


def test_the_settlement_waits_for_cards_that_are_ordered() -> None:
    table = to_settling(WILD)
    assert not table.prompts("settled")
    answer(table)
    assert not table.prompts("settled"), "the hand of seat 6 is ordered now"
    answer(table)
    assert table.prompt("settled").choices == ("confirmed", "disputed")


def test_a_dealers_hand_that_is_dealt_face_up_is_ordered_at_once() -> None:
    table = table_of(PAI_GOW)
    table.override = silent
    table.play_to(mc.PLAYING)
    assert open_release(table)[1] == 0
    answer(table)
    assert same(known(table, 0), DEALERS[PAI_GOW])
    assert not releases(table.play_to(mc.SETTLING).log[-1][1])


# --- what is never ordered --------------------------------------------------------------------------------------------


def test_a_shoe_never_releases_a_surrendered_hand_that_lies_face_up_and_the_dealer_enters_it() -> None:
    """686a.7(g)(3), (h): it gets two more cards face up, for its Bonus Wager; only the dealer makes them known."""
    table = table_of(UNDER, seats=(3, 6))
    table.override = silent
    table.play_to(mc.PLAYING)
    table.answer_prompt("decide", "surrender")  # seat 3
    table.answer_prompt("surrender_collected")
    table.answer_prompt("decide", "over_23")
    for event in table.answer(table.prompt("additional_cards")):
        assert not releases(table.step(event))
    assert table.prompt("settled").seat == 3
    assert table.keys("release_cards", SHOE, seat=3) == {"hand_surrendered"}
    table.step(ev.HandEntered(3, "2c 3c 4h", DEALER))
    assert same(known(table, 3), "2c 3c 4h")
    table.answer_prompt("settled")
    for event in table.answer(table.prompt("additional_cards")):
        table.step(event)
    assert open_release(table)[1] == 6, "the hand of a player who plays on is released"


@pytest.mark.parametrize("game", [ASIA, PAI_GOW])
def test_a_player_who_may_surrender_is_waited_for_and_a_surrendered_hand_stays_face_down(game: str) -> None:
    table = to_settling(game)
    answer(table)
    table.answer_prompt("dealer_set")
    assert table.prompt("own_reveal").choices == ("shown", "surrendered")
    assert table.keys("release_cards", SHOE, seat=6) == {"own_reveal_due"}
    assert not releases(table.answer_prompt("own_reveal", "surrendered"))
    assert "hand_surrendered" in table.keys("release_cards", SHOE, seat=6)
    decided = table.settle()
    assert not releases(decided)
    assert table.phase == mc.IDLE


@pytest.mark.parametrize("game", [ASIA, PAI_GOW])
def test_a_shown_hand_cannot_be_surrendered(game: str) -> None:
    table = at_seat(game)
    assert refusal_text(table.declare("surrender", seat=6)).startswith("seat 6 may not surrender now")
    answer(table)
    assert "surrendered" not in table.prompt("settled").choices


def test_without_the_shoe_nobody_is_asked_to_show_a_hand_first() -> None:
    table = to_settling(ASIA)
    refuse(table, 454)
    table.step(ev.SlotChanged(SHOE, "vanish"))
    assert table.prompt("settled").choices == ("settled", "surrendered")


def test_entered_cards_show_that_the_hand_was_shown() -> None:
    table = to_settling(ASIA)
    answer(table)
    table.answer_prompt("dealer_set")
    assert releases(table.step(ev.HandEntered(6, HAND[ASIA], DEALER))), "for comparison"
    answer(table)
    assert table.round_.hands[6].by == "D1"


def fold_of(table: IdealTable) -> Callable[[Decision], list[ev.Event] | None]:
    """Every player folds."""

    def folds(decision: Decision) -> list[ev.Event] | None:
        if getattr(decision, "kind", "") == "decide":
            return [ev.Answer(decision.id, "fold", DEALER)]  # type: ignore[union-attr]
        return silent(decision)

    return folds


def test_a_folded_hand_is_collected_and_never_ordered() -> None:
    table = table_of(WILD)
    table.override = fold_of(table)
    table.play_to(mc.SETTLING)
    answer(table)
    assert table.keys("release_cards", SHOE, seat=6) == {"hand_folded"}
    assert not releases(table.settle())


def test_a_folded_hand_with_a_wager_that_survives_is_ordered() -> None:
    table = table_of(WILD, wagers=["trips"], paytables={"trips": "687a-trips-DJWT-04"})
    table.override = fold_of(table)
    table.play_to(mc.NO_MORE_BETS if table.prompts() else mc.BETTING)
    table.step(ev.AmountEntered("trips", 6, 500, DEALER))
    table.play_to(mc.SETTLING)
    answer(table)
    assert open_release(table)[1] == 6


def test_a_dead_hand_is_not_ordered() -> None:
    table = table_of(WILD, seats=(3, 6))
    table.override = silent
    table.play_to(mc.SETTLING)
    table.round_.dead.append(6)
    answer(table)
    assert open_release(table)[1] == 3
    assert "hand_not_in_play" in table.keys("release_cards", SHOE, seat=6)


@pytest.mark.parametrize("game", [ASIA, PAI_GOW])
def test_stacks_of_places_without_a_wager_stay_face_down(game: str) -> None:
    table = table_of(game)
    table.round()
    places = {each.number for _, decisions in table.log for each in releases(decisions)}
    assert places == {0, 6}
    settling = to_settling(game)
    for seat in range(1, 6):
        assert {"hand_not_in_play", "not_its_turn"} <= settling.keys("release_cards", SHOE, seat=seat)


def test_an_irregularity_stops_the_release_until_it_is_cleared() -> None:
    table = table_of(WILD)
    table.override = silent
    table.play_to(mc.PLAYING)
    for prompt in table.prompts("decide"):
        table.answer_prompt("decide", prompt.choices[0])
    table.declare("other")
    assert "irregularity" in table.keys("release_cards", SHOE, seat=0)
    assert not table.state.commands


def test_a_hand_that_lost_a_card_is_not_ordered() -> None:
    """The shoe knows the card that was taken away and the one that replaced it as parts of two stacks."""
    table = table_of(WILD, seats=(3, 6))
    table.play(ev.OpenRound(DEALER))
    table.play(ev.NoMoreBets(DEALER), until=lambda _: 3 in table.round_.dealt_hands)
    table.declare("face_up_card_first", seat=3)
    table.clear_holds()
    table.override = silent
    table.settle()
    assert table.round_.dealt_hands.keys() == {6, 0}, "the dealer enters the hand of seat 3"
    assert "no_dealt_hand" in table.keys("release_cards", SHOE, seat=3)


def test_after_a_card_whose_stack_is_not_known_was_taken_away_no_hand_is_ordered() -> None:
    table = to_settling(WILD)
    dealing.discard_face_up_card(table.table.context, None)
    assert (table.round_.dealt_hands, table.round_.order_lost) == ({}, True)


@pytest.mark.parametrize("event", [ev.SlotChanged(SHOE, "vanish"), ev.SlotChanged(SHOE, "doubt")])
def test_a_shoe_out_of_service_is_not_asked(event: ev.Event) -> None:
    table = table_of(WILD)
    table.override = silent
    table.play_to(mc.PLAYING)
    table.step(event)
    assert "slot_not_in_service" in table.keys("release_cards", SHOE, seat=0)
    assert not releases(table.settle())


def test_a_shoe_that_no_longer_reports_that_it_identifies_is_not_asked() -> None:
    table = table_of(WILD)
    table.play_to(mc.PLAYING)
    for event in (ev.SlotChanged(SHOE, "vanish"), ev.SlotChanged(SHOE, "appear"), ev.SlotChanged(SHOE, "verify")):
        table.step(event)
    assert "not_identifying" in table.keys("release_cards", SHOE, seat=0)
    assert not releases(table.settle())


def test_nothing_is_ordered_of_a_shoe_without_a_reader() -> None:
    table = IdealTable(WILD).start("blue", "red")
    table.round()
    assert not any(releases(decisions) for _, decisions in table.log)
    assert not table.round_.dealt_hands


# --- which card is whose ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "place", "numbers"),
    [
        (ASIA, 6, range(1, 50)),
        (SAIGON, 1, (1, 5, 9, 13, 17)),
        (SAIGON, 0, (4, 8, 12, 16, 20)),
        (WILD, 1, (1, 2, 3, 4, 5)),
        (WILD, 6, (11, 12, 13, 14, 15)),
        (WILD, 0, (16, 17, 18, 19, 20)),
    ],
)
def test_the_cards_of_a_manual_shoe_are_named_in_the_order_of_the_deal(game: str, place: int, numbers: Any) -> None:
    table = table_of(game, seats=(1, 3, 6), **MANUAL)
    table.override = silent
    table.play_to(mc.SETTLING)
    hands = table.round_.dealt_hands
    if game == ASIA:  # from the starting position clockwise, card by card, also to places without a wager
        every = sorted(number for hand in hands.values() for number in hand.dealt.cards)
        assert every == list(numbers)
        assert all(hand.dealt.cards[1] - hand.dealt.cards[0] == 7 for hand in hands.values())
        return
    assert hands[place].dealt.cards == tuple(numbers)
    assert {hand.dealt.dealt_by for hand in hands.values()} == {table.round_.counted_by}


def test_the_additional_cards_belong_to_the_seat_that_was_dealt_them() -> None:
    table = table_of(UNDER, seats=(1, 3))
    table.dealt = {}
    table.round()
    ordered = [each for _, decisions in table.log for each in releases(decisions)]
    cards = {each.number: each.dealt.cards for each in ordered if isinstance(each.dealt, DealtCards)}
    assert cards == {1: (1, 3, 4), 3: (2, 5, 6)}


def test_each_card_of_a_manual_shoe_is_ordered_with_an_id_of_its_own() -> None:
    table = to_settling(WILD, **MANUAL)
    first, _ = open_release(table)
    answer(table)
    second, _ = open_release(table)
    assert second >= first + table.edition.hand.cards


def test_no_order_is_assumed_when_a_card_was_burned_in_the_middle_of_the_deal() -> None:
    table = table_of(UNDER, seats=(1, 3))
    table.play(ev.OpenRound(DEALER))
    table.override = lambda d: [] if getattr(d, "kind", "") == "dealt" else silent(d)
    table.play(ev.NoMoreBets(DEALER))
    table.step(ev.CardsDrawn(SHOE, 1))
    table.step(ev.DealerChanged(ev.Person("dealer", "D2")))
    table.override = silent
    assert table.prompts("burn_dealer")
    table.answer_prompt("burn_dealer")
    assert table.round_.order_lost
    assert not table.round_.dealt_hands


@pytest.mark.parametrize("what", ["slip", "discarded"])
def test_no_order_is_assumed_when_counts_or_cards_do_not_fit(what: str) -> None:
    table = table_of(SAIGON, **MANUAL)
    table.override = lambda d: [] if getattr(d, "kind", "") == "dealt" else None
    table.play_to(mc.DEALING)
    table.play()
    setattr(table.round_, what, 1)
    table.round_.drawn += 1
    table.answer_prompt("dealt")
    assert not table.round_.dealt_hands


# --- bad answers ------------------------------------------------------------------------------------------------------

REFUSALS: Final = {
    453: "it dealt no such cards (PB-453)",
    454: "it has erased their values (PB-454)",
    442: "it did not release them (PB-442)",
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_a_refusal_is_a_finding_and_the_dealer_enters_the_cards(reason: int) -> None:
    table = at_seat(WILD)
    decided = refuse(table, reason)
    (finding,) = findings(decided, "cards_not_released")
    assert finding.text == f"Shoe 1, the cards of seat 6: {REFUSALS[reason]}; the dealer enters them"
    assert not table.state.holds
    assert not releases(decided), "a refusal is final"
    assert table.prompt("settled").choices == ("settled",)
    table.step(ev.HandEntered(6, HAND[WILD], DEALER))
    assert table.prompt("settled").proposals


@pytest.mark.parametrize(
    ("reason", "text"), [(455, "it identified one card twice"), (456, "it identified more cards than it counted")]
)
def test_a_card_identified_twice_stops_the_round_until_a_floorperson_decides(reason: int, text: str) -> None:
    table = at_seat(WILD)
    decided = refuse(table, reason)
    held = found_irregularity(decided)
    assert (held.trigger, held.slot, held.seat) == ("cards_contradict", SHOE, 6)
    assert findings(decided, "cards_contradict")[0].text.startswith(f"Shoe 1, the cards of seat 6: {text}")
    assert not table.prompts("settled")
    table.clear_holds()
    assert table.prompt("settled").choices == ("settled",)


IMPOSSIBLE: Final = {
    "a card too few": ("9s 9h 9d 7s", "4 cards and 0 that it could not identify; a hand has 5"),
    "a card too many": ("9s 9h 9d 7s 4s 5s", "6 cards and 0 that it could not identify; a hand has 5"),
    "a card twice": ("9s 9s 9d 7s 4s", "9s appears 2 times"),
    "a card of the dealer": ("Ks 9h 9d 7s 4s", "Ks"),
    "no card": ("9s 9h 9d 7s Xx", "'Xx' is not a card"),
}


@pytest.mark.parametrize("how", IMPOSSIBLE)
def test_cards_that_cannot_be_are_not_used(how: str) -> None:
    cards, why = IMPOSSIBLE[how]
    table = at_seat(WILD)
    decided = answer(table, cards)
    assert found_irregularity(decided).trigger == "cards_contradict"
    assert why in findings(decided, "cards_contradict")[0].text
    assert 6 not in table.round_.hands
    table.clear_holds()
    assert not releases(table.step(ev.HandEntered(6, HAND[WILD], DEALER)))
    assert table.prompt("settled").proposals, "nothing is lost: the dealer entered them"


def test_a_joker_in_a_game_without_one_is_not_used() -> None:
    table = at_seat(UNDER)
    assert "this game has none" in findings(answer(table, "Ts 7h Jk"), "cards_contradict")[0].text


def test_unread_cards_are_entered_and_compared() -> None:
    table = at_seat(WILD)
    decided = answer(table, "9s 9h 9d", unread=2)
    assert "it could not identify 2 of them" in findings(decided, "cards_unread")[0].text
    assert not table.state.holds
    assert 6 not in table.round_.hands
    table.step(ev.HandEntered(6, HAND[WILD], DEALER))
    assert table.prompt("settled").proposals


def test_entered_cards_without_one_that_the_shoe_read_are_contested() -> None:
    table = at_seat(WILD)
    answer(table, "9s 9h 2d", unread=2)
    table.step(ev.HandEntered(6, HAND[WILD], DEALER))
    assert table.prompt("cards_differ").choices == ("entered", "enter_again"), "the shoe's are not a whole hand"


def test_cards_that_nobody_ordered_are_not_used() -> None:
    table = at_seat(WILD)
    id_, _ = open_release(table)
    dealt_by = table.round_.dealt_hands[6].dealt.dealt_by
    for command, dealt in ((id_ + 1, dealt_by), (id_, dealt_by + 1)):
        decided = table.step(ev.HandReleased(SHOE, command, dealt, HAND[WILD]))
        assert findings(decided, "cards_not_ordered")[0].text == (
            "Shoe 1 released cards that nobody ordered; they are not used"
        )
        assert 6 not in table.round_.hands
    answer(table)
    assert findings(table.step(ev.HandReleased(SHOE, id_, dealt_by, OTHERS)), "cards_not_ordered")
    assert same(known(table, 6), HAND[WILD])


def test_cards_that_arrive_after_the_round_became_void_are_not_kept() -> None:
    table = at_seat(WILD)
    id_, _ = open_release(table)
    dealt_by = table.round_.dealt_hands[6].dealt.dealt_by
    table.declare("wrong_card_count")
    assert table.phase == mc.VOID
    table.step(ev.HandReleased(SHOE, id_, dealt_by, HAND[WILD]))
    assert 6 not in table.round_.hands


# --- lost answers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["done", "revoked"])
def test_an_answer_that_was_lost_is_ordered_again_but_not_for_ever(outcome: Any) -> None:
    table = at_seat(WILD)
    for _ in range(2):
        (again,) = releases(table.step(ev.CommandEnded(open_release(table)[0], outcome)))
        assert again.number == 6
    decided = table.step(ev.CommandEnded(open_release(table)[0], outcome))
    assert not releases(decided)
    assert findings(decided, "cards_not_released")[0].text.endswith("its answers were lost; the dealer enters them")
    assert table.prompts("settled")


def test_an_unknown_outcome_does_not_delay_the_dealer() -> None:
    table = at_seat(WILD)
    id_, _ = open_release(table)
    table.step(ev.CommandEnded(id_, "unknown"))
    assert table.state.slots[SHOE].state == "unverified"
    assert table.prompt("settled").choices == ("settled",)
    table.step(ev.CommandEnded(id_, "done"))
    (again,) = releases(table.step(ev.SlotChanged(SHOE, "verify")))
    assert again.number == 6, "back in service, the shoe is asked once more"
    assert not table.prompts("settled")


def test_a_lost_link_with_the_order_open_costs_nothing() -> None:
    table = at_seat(WILD)
    id_, _ = open_release(table)
    for event in (ev.SlotChanged(SHOE, "vanish"), ev.CommandEnded(id_, "unknown")):
        table.step(event)
    table.step(ev.HandEntered(6, HAND[WILD], DEALER))
    assert table.prompt("settled").proposals
    assert not table.state.holds


def test_a_shoe_taken_out_of_service_ends_its_order() -> None:
    table = at_seat(WILD)
    table.step(ev.SlotOrdered(SHOE, "give_up", FLOOR))
    assert "release_cards" not in {i.act for i in table.state.commands.values()}


def test_a_restart_keeps_which_cards_are_whose() -> None:
    table = at_seat(WILD)
    before = dict(table.round_.dealt_hands)
    table.step(ev.BoxStarted(2))
    assert table.round_.dealt_hands == before
    copy = restored_copy(table, table.table.snapshot())
    assert copy.round_.dealt_hands == before
    assert isinstance(copy.state, TableState)


# --- the shoe and the dealer differ -----------------------------------------------------------------------------------

OTHER: Final = "9s 9h 9d 7s 4c"


def contested(*, entered_first: bool) -> IdealTable:
    table = at_seat(WILD)
    if entered_first:
        table.step(ev.HandEntered(6, OTHER, DEALER))
        answer(table)
    else:
        answer(table)
        table.step(ev.HandEntered(6, OTHER, DEALER))
    return table


@pytest.mark.parametrize("entered_first", [False, True])
@pytest.mark.parametrize("choice", ["released", "entered", "enter_again"])
def test_a_floorperson_decides_which_cards_hold(choice: str, entered_first: bool) -> None:
    table = contested(entered_first=entered_first)
    prompt = table.prompt("cards_differ")
    assert (prompt.role, prompt.seat) == ("floorperson", 6)
    assert prompt.shows == "Shoe 1 released 4s 7s 9d 9h 9s; the dealer entered 9s 9h 9d 7s 4c"
    assert not table.prompts("settled"), "nothing is settled meanwhile"
    assert "a floorperson decides first" in refusal_text(table.step(ev.HandEntered(6, HAND[WILD], DEALER)))
    assert refusal_text(table.step(ev.Answer(prompt.id, choice, DEALER))) == "the floorperson must answer this"
    decided = table.answer_prompt("cards_differ", choice)
    assert findings(decided, "cards_ruled")[0].text.endswith(f"{choice} by F1")
    expected = {"released": HAND[WILD], "entered": OTHER}.get(choice)
    assert (6 in table.round_.hands) is (expected is not None)
    if expected is not None:
        assert same(known(table, 6), expected)
        assert table.prompt("settled").proposals
    else:
        table.step(ev.HandEntered(6, "9s 9h 9d 7s 4d", DEALER))
        assert not table.prompts("cards_differ"), "the ruling ended the comparison"


def test_the_same_cards_entered_again_change_nothing() -> None:
    table = at_seat(WILD)
    answer(table)
    table.step(ev.HandEntered(6, HAND[WILD], DEALER))
    assert table.round_.hands[6].by == SHOE
    assert not table.round_.contested


def test_cards_of_the_dealer_may_be_contested_too() -> None:
    table = to_settling(WILD)
    answer(table)
    refuse(table, 454)
    table.step(ev.HandEntered(0, "Ks Qh 8d 6c 3c", DEALER))
    prompt = table.prompt("cards_differ")
    assert prompt.seat == 0
    assert not table.prompts("settled")
    table.answer_prompt("cards_differ", "released")
    assert same(known(table, 0), DEALERS[WILD])


def test_a_ruling_that_another_entry_made_impossible_leaves_the_cards_to_be_entered() -> None:
    table = contested(entered_first=False)
    table.step(ev.HandEntered(0, "Ks Qh 8d 6c 4c", DEALER))  # with a card that was entered for seat 6
    (of_dealer,) = [each for each in table.prompts("cards_differ") if each.seat == 0]
    table.step(ev.Answer(of_dealer.id, "entered", FLOOR))
    (prompt,) = table.prompts("cards_differ")
    decided = table.step(ev.Answer(prompt.id, "entered", FLOOR))
    assert "not possible" in findings(decided, "cards_ruled")[0].text
    assert 6 not in table.round_.hands


# --- test mode, other events ------------------------------------------------------------------------------------------


def test_what_a_shoe_in_test_mode_reports_is_not_recorded() -> None:
    assert {ev.HandReleased, ev.ShoeIdentifies} <= set(get_args(CardEvent))
    table = IdealTable(WILD).start("blue")
    shoe = table.state.slots[SHOE]
    shoe.deck = None
    table.state.book.move_all("blue", book.TRAY)
    table.deck().place = "tray"
    table.step(ev.TestModeOrdered(SHOE, "begin", TECH))
    assert shoe.is_testing
    assert table.keys("release_cards", SHOE, seat=0) >= {"slot_not_in_service"}
    assert table.table.ignores(ev.HandReleased(SHOE, 1, 1, HAND[WILD]))


# --- every event of everybody -----------------------------------------------------------------------------------------


def too_early(table: IdealTable, decisions: list[Decision]) -> list[int]:
    """Return the places whose cards were ordered although the procedure has not exposed them."""
    round_, game = table.round_, table.edition.game
    hidden = {*round_.dead, *round_.surrendered, *(s for s, d in round_.decided.items() if d in ("fold", "surrender"))}
    shown = {0, *round_.seats} - hidden if table.phase == mc.SETTLING else set[int]()
    if table.phase == mc.PLAYING and game == PAI_GOW:
        shown = {0}
    return [each.number for each in releases(decisions) if each.number not in shown]


PHASES: Final = (mc.BETTING, mc.NO_MORE_BETS, mc.DEALING, mc.STUB_CHECK, mc.PLAYING, mc.SETTLING)
# Phases that a game does not have, or passes in one step.
WITHOUT: Final = {SAIGON: (mc.NO_MORE_BETS,), WILD: (mc.NO_MORE_BETS,), UNDER: (mc.NO_MORE_BETS, mc.STUB_CHECK)}


@pytest.mark.parametrize(
    ("game", "choices", "phase"),
    [(game, choices, phase) for game, choices in SHOES for phase in PHASES if phase not in WITHOUT.get(game, ())],
)
def test_no_event_of_anybody_brings_a_card_out_early(game: str, choices: dict[str, Any], phase: str) -> None:
    table = table_of(game, seats=(1, 3, 6), **choices)
    table.override = silent
    table.play_to(phase)
    snapshot = table.table.snapshot()
    for event in [*all_inputs(table), *box_inputs()]:
        other = restored_copy(table, snapshot)
        assert not too_early(other, other.step(event)), event
    for event in all_inputs(table):  # and one after the other
        assert not too_early(table, table.step(event)), event
