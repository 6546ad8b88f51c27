"""Defects of the core that the search of tiny tables found, each as the shortest sequence that showed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from table_controller.table import state_machines as mc
from table_controller.table.decisions import HoldOpened, RequestRefused, StateChanged
from table_controller.table.events import DealerChanged
from tests.support.core.ideal_table import DEALER, IdealTable, decisions_of
from tests.support.core.search_trouble import SearchTrouble
from tests.support.core.state_search import replay_moves
from tests.support.core.tiny_tables import model
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from tests.support.core.search_moves import SearchModel

SHUFFLER: Final = ("shuffler.1",)
BETS_IN: Final = ("open round", "no more bets", "seats=done (1, 2)")
OPENED: Final = StateChanged("round", mc.BETTING)


def asked(table: SearchModel, kind: str) -> bool:
    return any(prompt.kind == kind for prompt in table.table.state.prompts.values())


ALONE: Final = ("order remove_deck blue", "deck_removed=done", "acknowledge=acknowledged")


@pytest.mark.parametrize(
    ("name", "story"),
    [
        pytest.param("over/under, two batches", ALONE, marks=clauses("686a.9(e)")),
        pytest.param("over/under, continuous", (), marks=clauses("686a.9(e)")),
    ],
)
def test_nobody_shuffles_by_hand_while_the_dead_shuffler_is_unsigned(name: str, story: tuple[str, ...]) -> None:
    """With one batch of two missing, shuffling by hand was permitted despite other reasons against it."""
    table = model(name, SearchTrouble(given_up=SHUFFLER, orders=True))
    decided = replay_moves(table, *story, "shuffler.1 given up", "order shuffle_by_hand")
    (refused,) = decisions_of(RequestRefused, decided)
    assert "dead_device_unsigned" in {reason.key for reason in refused.reasons}
    assert table.table.state.shuffling == "machine"


def test_a_deck_that_was_put_in_place_while_it_was_the_only_one_is_dealt() -> None:
    """A second deck passed its opening while the one that was used last lay in the shoe: neither could be dealt."""
    table = model("saigon, automated shoe, two decks", SearchTrouble(declared=("wrong_card_count",)))
    decided = replay_moves(
        table, *BETS_IN, "declared wrong_card_count", "wagers_returned=done", "cards_together=done",
        "acknowledge=acknowledged", "put_in_shoe=done", "cards into the shuffler", "open round",
        "declared wrong_card_count", "choose=void_and_remove", "wagers_returned=done", "deck_removed=done",
        "acknowledge=acknowledged", "put_in_shoe=done", "deck red", "cards into the shuffler", "open round",
    )  # fmt: skip
    assert OPENED in decided
    assert table.table.state.round.deck == table.table.state.last_deck == "blue"


def test_a_draw_whose_end_was_unknown_is_repeated_after_a_fault() -> None:
    """The generator faulted while its answer was on the way: the table waited forever for the number."""
    table = model("pai gow, automated shoe, bets", SearchTrouble(ends=("rng.1",), links=("rng.1",), holds=2))
    replay_moves(table, *BETS_IN, "chips=done 2", "rng.1 draw: unknown", "rng.1 faults", "rng.1 draw: asked, done",
         "rng.1 cleared", "rng.1 acknowledged", "rng.1 return_to_service: done", "rng.1 reports well")  # fmt: skip
    assert [issued.act for issued in table.table.state.commands.values()] == ["draw"]


def test_a_draw_of_a_generator_that_was_given_up_is_repeated_after_its_repair() -> None:
    """The command of a dead device was forgotten, but not that it had been sent."""
    table = model("pai gow, automated shoe, bets", SearchTrouble(given_up=("rng.1",)))
    replay_moves(table, *BETS_IN, "chips=done 2", "rng.1 given up", "choose=continue", "rng.1 repaired",
         "acknowledge=acknowledged", "rng.1 return_to_service: done", "rng.1 reports well")  # fmt: skip
    assert [issued.act for issued in table.table.state.commands.values()] == ["draw"]


@clauses("686a.9(c)")
def test_a_player_who_is_passed_over_twice_is_one_late_player() -> None:
    table = model("over/under, dealing shoe", SearchTrouble(declared=("additional_cards_missed",)))
    missed = ("declared additional_cards_missed", "choose=late_cards", "acknowledge=acknowledged")
    replay_moves(table, *BETS_IN, "dealt=done", "decide=over_23", "decide=over_23", *missed, *missed)
    assert table.table.state.round.late == [2]


def test_a_shoe_that_was_emptied_before_its_burn_does_not_burn_twice() -> None:
    """Every batch that left before its first card was burned added one card to the next burn."""
    table = model("over/under, dealing shoe", SearchTrouble(ages=True))
    another = ("blue is 24 h old", "order remove_deck blue", "deck_removed=done", "acknowledge=acknowledged",
               "deck blue", "hand_shuffle=done", "cut=cut 1", "cover_back=put_back 1", "put_in_shoe=done")  # fmt: skip
    replay_moves(table, *another, *another)
    assert table.table.state.burn_due == 1


@pytest.mark.parametrize("chapter", ["over/under, continuous", "over/under, dealing shoe"])
def test_a_shuffle_ordered_after_the_round_opened_waits_for_its_end(chapter: str) -> None:
    """The order made the shoe over at once, and the round that had been opened from it was never dealt."""
    table = model(chapter, SearchTrouble(orders=True))
    round_ = ("dealt=done", "decide=over_23", "decide=over_23", "additional_cards=done", "settled=settled",
              "additional_cards=done", "settled=settled")  # fmt: skip
    burned = ("burn_shoe=done",) if chapter.endswith("continuous") else ()  # it brings the card in the deal
    begin = (*BETS_IN, *burned)
    replay_moves(table, *begin, *round_, "open round", "no more bets", "order reshuffle blue", "seats=done (1, 2)")
    assert table.table.state.round.state == mc.DEALING
    assert table.table.state.shoe_over


def prepared(chapter: str) -> SearchModel:
    table = model(chapter, SearchTrouble())
    table.prepared()
    return table


def test_a_continuous_shuffler_takes_a_preshuffled_batch_as_a_stack() -> None:
    """A batch that came shuffled waited for a cut and a shoe, and the continuous shuffler never got it."""
    table = model("over/under, continuous", SearchTrouble(opening=True))
    decided = replay_moves(
        table, "deck blue preshuffled", "opening/composition=whole", "cards into the shuffler", "open round"
    )
    assert OPENED in decided


def test_a_deck_that_a_shuffler_gave_out_unbidden_is_counted_before_it_is_dealt() -> None:
    """The floorperson could continue the round with cards that a person had in hand."""
    table = model("over/under, continuous", SearchTrouble(unbidden=SHUFFLER))
    replay_moves(table, "open round", "shuffler.1 unbidden: DeckGivenOut")
    (hold,) = table.table.state.holds.values()
    assert set(hold.choices) == {"void", "void_and_remove"}
    assert not table.table.state.decks["blue"].verified


def test_wrong_cards_of_a_continuous_shuffler_void_the_round_that_is_dealt_from_them() -> None:
    """The batch was held forever: its round went on as after a jam, and nothing led to its release."""
    table = model("over/under, continuous", SearchTrouble(unbidden=SHUFFLER))
    replay_moves(
        table, *BETS_IN, "shuffler.1 dispense: done", "shuffler.1 unbidden: DiscardsTakenIn", "choose=reverify"
    )
    state = table.table.state
    assert state.round.state == mc.VOID
    (hold,) = state.holds.values()
    assert hold.steps == ["wagers_returned", "let_out", "deck_counted", "acknowledge"]


@clauses("680a.5(f)")
def test_a_spread_at_an_idle_table_verifies_no_deck_that_was_found_wrong() -> None:
    """A deck that was counted wrong became verified again by the first player's inspection."""
    table = model("saigon, hand", SearchTrouble(people=True, orders=True))
    replay_moves(table, *BETS_IN, "dealt=done", "rack_stub=done", "hands_set=done", "reveal=done", "settled=settled",
         "settled=settled", "collected=done", "cards into the shuffler", "order reshuffle blue",
         "cards_together=done 7", "acknowledge=acknowledged", "choose=reshuffle", "cards_together=done 7",
         "acknowledge=acknowledged", "order table_idle")  # fmt: skip
    assert table.table.state.decks["blue"].state == mc.STACKED
    assert not table.table.state.decks["blue"].verified


def test_a_stub_that_comes_out_twice_is_an_unordered_stack() -> None:
    """Every further stub counted as one more wrong count of the first."""
    table = model("dj wild, automated shoe, bets", SearchTrouble(unbidden=("shoe.1",)))
    deal = ("shoe.1 dispense: done",) * 3
    decided = replay_moves(
        table, *BETS_IN, "start_game=done", "chips=done", *deal, "shoe.1 give_stub: done", "shoe.1 unbidden: StubOut"
    )
    assert [irregularity.trigger for irregularity in decisions_of(HoldOpened, decided)] == ["unordered_stack"]
    assert table.table.state.round.stub_counts == 0


GIVEN_UP: Final = ("shoe.1 given up", "cards_together=done 8", "sign_seen=covered", "acknowledge=acknowledged",
                   "acknowledge=acknowledged", "hand_shuffle=done", "cut=cut 1", "put_in_shoe=done")  # fmt: skip


def test_cards_in_a_plain_shoe_find_their_way_into_the_device_that_was_repaired() -> None:
    """The deck was in the plain shoe, the device needed it, and nobody was asked to move it."""
    table = model("asia, manual shoe", SearchTrouble(given_up=("shoe.1",)))
    replay_moves(table, *GIVEN_UP, "shoe.1 repaired", "shoe.1 acknowledged", "shoe.1 return_to_service: done",
         "shoe.1 reports well", "put_in_shoe=done", "shoe.1 load: done")  # fmt: skip
    assert table.table.state.decks["blue"].place == "shoe.1"


def test_a_round_that_was_opened_from_a_plain_shoe_is_dealt_from_it() -> None:
    """The device was repaired after no more bets: the round waited forever for its cards to be in the device."""
    table = model("asia, manual shoe", SearchTrouble(given_up=("shoe.1",)))
    replay_moves(table, *GIVEN_UP, *BETS_IN[:2], "shoe.1 repaired", BETS_IN[2], "dice: 7", "announce=done 7")
    assert table.table.state.round.state == mc.DEALING
    assert asked(table, "dealt")


def test_a_batch_in_play_that_lies_where_nobody_deals_from_is_collected() -> None:
    """Dealt from a plain shoe between two rounds, when the device came back: no round could follow."""
    floor = IdealTable(
        "over_under", {"shoe.1": "shoe"}, shuffler="none", shuffler_counts=False, two_decks=False
    ).start()
    floor.round()
    deck = floor.deck()
    assert deck.state == mc.IN_PLAY
    deck.place = "shoe"  # a plain one
    floor.state.slots["shoe.1"].deck = None
    floor.step(DealerChanged(DEALER))
    assert floor.prompts("collected")


def test_a_card_burned_in_need_is_not_owed_by_the_continuous_shuffler() -> None:
    """Every burn after the rack was shuffled made the next deal one card larger than anybody waits for."""
    table = model("over/under, continuous", SearchTrouble(declared=("shoe_short",)))
    short = ("declared shoe_short", "rack_shuffled=done", "card_burned=done", "acknowledge=acknowledged")
    replay_moves(table, *BETS_IN, "burn_shoe=done", "dealt=done", *short)
    assert table.table.state.round.ready == 0
