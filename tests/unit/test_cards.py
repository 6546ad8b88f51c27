"""Cards as people write them: every card has one notation, and invalid cards are named."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadHand
from table_controller.rulebook import cards
from table_controller.rulebook.cards import JOKER, NOTATION, hand, misfits, parse, rank, show, suit


def refused(text: str, size: int = 5, **deck: int) -> str:
    with pytest.raises(BadHand) as caught:
        hand(text, size, **deck)
    assert caught.value.code == "PB-621"
    return str(caught.value)


def test_every_card_has_one_notation() -> None:
    assert len(set(NOTATION)) == 53
    for card, word in enumerate(NOTATION):
        assert parse(word) == (card,)
        assert show([card]) == word
    assert parse("As") == (51,)
    assert parse("2c Jk") == (0, JOKER)
    assert (rank(51), suit(51)) == (cards.ACE, cards.SUITS.index("s"))


def test_capitals_and_spaces_do_not_matter() -> None:
    assert parse("  aS tD\t9H jK ") == parse("As Td 9h Jk")
    assert parse("") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("As Ks Qs Js 1s", "'1s' is no card"),
        ("As Ks Qs Js 10s", "'10s' is no card; a ten is written T, as Ts"),
        ("AsKsQsJsTs", "'AsKsQsJsTs' is no card; leave a space between cards"),
        ("As Ks Qs Js Tx", "'Tx' is no card"),
        ("As, Ks Qs Js Ts", "'As,' is no card"),
        ("Xs Ks Ys Js Ts", "'Xs' is no card; 'Ys' is no card"),
        ("As Ks Qs Js As", "As lies there 2 times, there is 1"),
        ("Jk Jk Qs Js Ts", "Jk lies there 2 times, there is 1"),
        ("As Ks Qs Js", "4 cards, and a hand has 5"),
        ("As", "1 card, and a hand has 5"),
        ("", "0 cards, and a hand has 5"),
        ("As Ks Qs Js Ts 9s", "6 cards, and a hand has 5"),
        ("As As Ks", "As lies there 2 times, there is 1; 3 cards, and a hand has 5"),
    ],
)
def test_what_is_wrong_with_a_hand_is_said(text: str, message: str) -> None:
    assert refused(text) == message


def test_a_game_without_jokers_has_none() -> None:
    assert refused("2c 3c Jk", 3, jokers=0, copies=6) == "Jk lies there once, there is none in this game"


def test_six_decks_have_six_of_a_card() -> None:
    six = parse("As As As As As As")
    assert [*misfits(six, jokers=0, copies=6)] == []
    assert [*misfits((*six, 51), jokers=0, copies=6)] == ["As lies there 7 times, there are 6"]
