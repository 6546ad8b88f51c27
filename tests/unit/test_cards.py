"""Cards as people write them: every card has one notation, and what is not a card is named."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadHand
from table_controller.rulebook import cards
from table_controller.rulebook.cards import (
    JOKER,
    NOTATION,
    excess_cards,
    format_cards,
    parse_cards,
    parse_hand,
    rank,
    suit,
)


def refused(text: str, size: int = 5, **deck: int) -> str:
    with pytest.raises(BadHand) as caught:
        parse_hand(text, size, **deck)
    assert caught.value.code == "PB-621"
    return str(caught.value)


def test_every_card_has_one_notation() -> None:
    assert len(set(NOTATION)) == 53
    for card, word in enumerate(NOTATION):
        assert parse_cards(word) == (card,)
        assert format_cards([card]) == word
    assert parse_cards("As") == (51,)
    assert parse_cards("2c Jk") == (0, JOKER)
    assert (rank(51), suit(51)) == (cards.ACE, cards.SUITS.index("s"))


def test_capitals_and_spaces_do_not_matter() -> None:
    assert parse_cards("  aS tD\t9H jK ") == parse_cards("As Td 9h Jk")
    assert parse_cards("") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("As Ks Qs Js 1s", "'1s' is not a card"),
        ("As Ks Qs Js 10s", "'10s' is not a card; a ten is written T, as Ts"),
        ("AsKsQsJsTs", "'AsKsQsJsTs' is not a card; leave a space between cards"),
        ("As Ks Qs Js Tx", "'Tx' is not a card"),
        ("As, Ks Qs Js Ts", "'As,' is not a card"),
        ("Xs Ks Ys Js Ts", "'Xs' is not a card; 'Ys' is not a card"),
        ("As Ks Qs Js As", "As appears 2 times, the cards in use have 1"),
        ("Jk Jk Qs Js Ts", "Jk appears 2 times, the cards in use have 1"),
        ("As Ks Qs Js", "4 cards; a hand has 5"),
        ("As", "1 card; a hand has 5"),
        ("", "0 cards; a hand has 5"),
        ("As Ks Qs Js Ts 9s", "6 cards; a hand has 5"),
        ("As As Ks", "As appears 2 times, the cards in use have 1; 3 cards; a hand has 5"),
    ],
)
def test_errors_in_a_hand_are_named(text: str, message: str) -> None:
    assert refused(text) == message


def test_a_game_without_jokers_has_none() -> None:
    assert refused("2c 3c Jk", 3, jokers=0, copies=6) == "Jk appears once, this game has none"


def test_six_decks_have_six_of_a_card() -> None:
    six = parse_cards("As As As As As As")
    assert [*excess_cards(six, jokers=0, copies=6)] == []
    assert [*excess_cards((*six, 51), jokers=0, copies=6)] == ["As appears 7 times, the cards in use have 6"]
