"""What must hold of every ranking: order and names of suits do not matter, and a card more never makes a hand worse."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.games.dj_wild import hands as dj_wild
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.games.saigon_5_card import hands as saigon
from table_controller.rulebook.hands import hand_features

CARD = st.integers(0, JOKER)


def hands(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(CARD, min_size=size, max_size=size, unique=True)


def turned(cards: list[int], suits: list[int]) -> list[int]:
    return [card if card == JOKER else card & ~3 | suits[card & 3] for card in cards]


def worths(cards: list[int]) -> list[object]:
    """Return every game's evaluation of a hand of this size."""
    results: list[object] = [
        pai_gow.strength(cards),
        hand_features.with_limited_joker(cards),
        hand_features.with_wild_joker(cards),
    ]
    match len(cards):
        case 4:
            results += [asia.strength()(cards), asia.strength(wheel_lowest_straight=True)(cards)]
        case 5:
            best = saigon.best_set(cards)
            results += [dj_wild.strength(cards), dj_wild.paid_class(cards), best.qualifies, best.point_count]
            results += [hand_features.with_wild_twos(cards)]
        case 7:
            results += [
                pai_gow.seven_card_features(cards),
                pai_gow.seven_card_features(cards, fully_wild=True),
                asia.bonus_features(cards),
            ]
            results += [pai_gow.is_ace_high(cards)]
    return results


@given(st.integers(4, 7).flatmap(hands), st.randoms(use_true_random=False))
def test_the_order_of_cards_does_not_matter(cards: list[int], rng: st.DataObject) -> None:
    shuffled = list(cards)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert worths(shuffled) == worths(cards)


@given(st.integers(4, 7).flatmap(hands), st.permutations(range(4)))
def test_the_names_of_suits_do_not_matter(cards: list[int], suits: list[int]) -> None:
    assert worths(turned(cards, suits)) == worths(cards)


@given(hands(7))
def test_a_card_more_never_makes_a_hand_worse(cards: list[int]) -> None:
    for size in (5, 6):
        fewer, more = cards[:size], cards[: size + 1]
        assert pai_gow.strength(more) >= pai_gow.strength(fewer)
        for hold in (hand_features.with_limited_joker, hand_features.with_wild_joker):
            assert (
                hold(fewer)
                & ~hold(more)
                & ~hand_features.feature_bits("royal_flush_natural", "seven_card_natural_straight_flush")
                == 0
            )


@given(hands(7))
def test_seven_cards_are_worth_their_best_five(cards: list[int]) -> None:
    assert pai_gow.strength(cards) == max(pai_gow.strength(five) for five in combinations(cards, 5))


@given(hands(7))
def test_the_fully_wild_joker_holds_all_that_the_limited_one_does(cards: list[int]) -> None:
    assert pai_gow.seven_card_features(cards) & ~pai_gow.seven_card_features(cards, fully_wild=True) == 0


@given(hands(5), CARD)
def test_a_joker_for_any_card_never_makes_a_wild_hand_worse(cards: list[int], place: int) -> None:
    if JOKER not in cards:
        wild = [JOKER if at == place % 5 else card for at, card in enumerate(cards)]
        assert dj_wild.strength(wild) >= dj_wild.strength(cards)
