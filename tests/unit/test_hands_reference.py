"""The fast evaluation of every hand against a slow reference that tries every card for a wild one.

The reference ranks by its own lists, so agreement means: equal where equal, higher where higher, over all hands.
"""

from __future__ import annotations

import random
from array import array
from itertools import combinations, islice, pairwise, permutations
from math import comb
from typing import TYPE_CHECKING

import pytest

from table_controller.rulebook.cards import JOKER, NOTATION, parse_cards
from table_controller.rulebook.games.asia_poker import hands
from table_controller.rulebook.games.dj_wild import hands as dj_wild
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.games.saigon_5_card import hands as saigon
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import HandClass, class_of
from table_controller.rulebook.payback.hand_classes import hand_classes
from tests.support.oracles import reference_hands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.support.oracles.reference_hands import HandWorth

SUITS = list(permutations(range(4)))
# Every card under every renaming of the suits.
ANEW = [[*(card & ~3 | suits[card & 3] for card in range(JOKER)), JOKER] for suits in SUITS]
CLASS_NAMES = {each: each.name.lower().replace("_", " ") for each in HandClass}


def written(cards: Iterable[int]) -> list[str]:
    return [NOTATION[card] for card in cards]


def agree(rankings: dict[int, HandWorth]) -> None:
    """Check that fast numbers and slow lists have the same order; each fast number has one list already."""
    in_order = [rankings[fast] for fast in sorted(rankings)]
    assert all(lower < higher for lower, higher in pairwise(in_order))


def compared(rankings: dict[int, HandWorth], cards: Sequence[int], fast: int, slow: HandWorth) -> None:
    assert rankings.setdefault(fast, slow) == slow, f"{' '.join(written(cards))}: {fast:x} {rankings[fast]} {slow}"


def renamed(cards: Sequence[int]) -> set[tuple[int, ...]]:
    """Return every hand that differs from this one only by the names of its suits."""
    return {tuple(sorted([anew[card] for card in cards])) for anew in ANEW}


def every(step: int, size: int, *, joker: bool = True) -> Iterable[tuple[tuple[int, ...], int]]:
    return islice(hand_classes(size, joker=joker), 0, None, step)


def five_card_rankings(step: int) -> int:
    """Compare one class in `step`, every hand of it; return how many hands that were."""
    seen = 0
    limited: dict[int, HandWorth] = {}
    wild: dict[int, HandWorth] = {}
    for cards, weight in every(step, 5):
        words = written(cards)
        slow_limited, slow_wild = reference_hands.five_688a(words), reference_hands.five_687a(words)
        column = JOKER not in cards and reference_hands.natural_687a(words) == reference_hands.ORDER_687A[slow_wild[0]]
        alike = renamed(cards)
        assert len(alike) == weight
        seen += weight
        text = {(pai_gow.strength(hand), dj_wild.strength(hand), *dj_wild.paid_class(hand)) for hand in alike}
        assert len(text) == 1, f"{words}: the names of the suits matter"
        ((in_688a, in_687a, paid, paid_column),) = text
        compared(limited, cards, in_688a, slow_limited)
        compared(wild, cards, in_687a, slow_wild)
        assert CLASS_NAMES[paid] == reference_hands.ORDER_687A[slow_wild[0]]
        assert (paid_column == "natural") is column, words
    agree(limited)
    agree(wild)
    return seen


def what_five_cards_hold(step: int) -> int:
    seen = 0
    for cards, weight in every(step, 5):
        words = written(cards)
        slow = (
            reference_hands.held_features(words, fully_wild=False),
            reference_hands.held_features(words, fully_wild=True),
        )
        text = {(saigon.bonus_features(hand), hand_features.with_wild_joker(hand)) for hand in renamed(cards)}
        assert len(text) == 1, f"{words}: the names of the suits matter"
        ((limited, wild),) = text
        assert set(hand_features.feature_names(limited)) == slow[0], words
        assert set(hand_features.feature_names(wild)) == slow[1], words
        seen += weight
    return seen


def four_card_rankings(step: int) -> int:
    seen = 0
    for low_flush, low_straight in ((False, False), (True, False), (False, True), (True, True)):
        fast = hands.strength(wheel_lowest_straight_flush=low_flush, wheel_lowest_straight=low_straight)
        rankings: dict[int, HandWorth] = {}
        for cards, weight in every(step, 4):
            slow = reference_hands.four_575(written(cards), 4 if low_flush else 14, 4 if low_straight else 14)
            for hand in renamed(cards):
                compared(rankings, hand, fast(hand), slow)
            seen += weight
        agree(rankings)
    return seen


def seven_card_rankings(number: int, seed: int, best: Callable[[Sequence[int]], HandWorth]) -> None:
    rng = random.Random(seed)
    rankings: dict[int, HandWorth] = {}
    for _ in range(number):
        cards = rng.sample(range(53), 7)
        compared(rankings, cards, pai_gow.strength(cards), best(cards))
    agree(rankings)


def best_of_seven(cards: Sequence[int]) -> HandWorth:
    return reference_hands.best_688a(written(cards))


# What a card adds to the number of a hand, by its place among five in order: every hand of five has its own number.
PLACES = [[comb(card, place) for card in range(53)] for place in range(1, 6)]


class EveryFive:
    """The slow ranking of all five-card hands, computed once per class; used to look up the best five of seven."""

    def __init__(self) -> None:
        first, second, third, fourth, fifth = PLACES
        worths = [(reference_hands.five_688a(written(cards)), cards) for cards, _ in every(1, 5)]
        self._in_order = sorted({worth for worth, _ in worths})
        order = {worth: place for place, worth in enumerate(self._in_order)}
        self._orders = array("H", [0xFFFF]) * comb(53, 5)
        for worth, cards in worths:
            for a, b, c, d, e in renamed(cards):
                self._orders[first[a] + second[b] + third[c] + fourth[d] + fifth[e]] = order[worth]
        assert len(order) < 0xFFFF
        assert 0xFFFF not in self._orders

    def best(self, cards: Sequence[int]) -> HandWorth:
        """Return the best five of seven cards of all twenty-one choices."""
        first, second, third, fourth, fifth = PLACES
        orders = self._orders
        place = max(
            [orders[first[a] + second[b] + third[c] + fourth[d] + fifth[e]]
             for a, b, c, d, e in combinations(sorted(cards), 5)]
        )  # fmt: skip
        return self._in_order[place]


def what_seven_cards_hold(number: int, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(number):
        cards = rng.sample(range(53), 7)
        words = written(cards)
        for wild in (False, True):
            fast = set(hand_features.feature_names(pai_gow.seven_card_features(cards, fully_wild=wild)))
            assert fast == reference_hands.held_features(words, fully_wild=wild), words


def rare_sevens() -> Iterable[list[str]]:
    """Return rare hands: around royals, seven in sequence, five alike; with and without joker."""
    seeds = ("As Ks Qs Js Ts Kd Qd", "8s 9s Ts Js Qs Ks As", "As 2s 3s 4s 5s 6s 7s", "As Ah Ad Ac Ks Kh Kd",
             "8s 8h 8d 8c As Ah Ad", "9s 8h 7d 6c 4s 3h 2d", "Ks Kh Kd Kc 2s 2h 2d")  # fmt: skip
    for text in seeds:
        cards = text.split()
        yield cards
        for place in range(7):
            for other in (*reference_hands.DECK, reference_hands.JOKER):
                if other not in cards:
                    yield [*cards[:place], other, *cards[place + 1 :]]
                    if other != reference_hands.JOKER:
                        joker = (place + 3) % 7
                        yield [
                            reference_hands.JOKER if at == joker else other if at == place else card
                            for at, card in enumerate(cards)
                        ]


# --- a sample, in every test run --------------------------------------------------------------------------------------


@pytest.mark.parametrize("work", [five_card_rankings, what_five_cards_hold])
def test_a_sample_of_five_card_hands(work: Callable[[int], int]) -> None:
    assert work(211) > 8000


def test_a_sample_of_four_card_hands() -> None:
    assert four_card_rankings(37) > 25_000


def test_a_sample_of_seven_card_hands(seed: int) -> None:
    seven_card_rankings(3000, seed, best_of_seven)
    what_seven_cards_hold(800, seed)


def test_rare_seven_card_hands() -> None:
    number = 0
    for words in islice(rare_sevens(), 0, None, 3):
        cards = [NOTATION.index(word) for word in words]
        for wild in (False, True):
            fast = set(hand_features.feature_names(pai_gow.seven_card_features(cards, fully_wild=wild)))
            assert fast == reference_hands.held_features(words, fully_wild=wild), words
        number += 1
    assert number > 1400


@pytest.mark.parametrize("size", [1, 2])
def test_all_low_and_medium_hands(size: int) -> None:
    by_game: tuple[dict[int, HandWorth], dict[int, HandWorth]] = ({}, {})
    for cards in combinations(range(53), size):
        slow = reference_hands.two_cards(written(cards))
        for rankings, strength in zip(by_game, (pai_gow.strength, hands.strength()), strict=True):
            compared(rankings, cards, strength(cards), slow)
    for rankings in by_game:
        agree(rankings)


# --- all of them, in `make proof` -------------------------------------------------------------------------------------


@pytest.mark.proof
@pytest.mark.parametrize("work", [five_card_rankings, what_five_cards_hold])
def test_all_five_card_hands(work: Callable[[int], int]) -> None:
    assert work(1) == comb(53, 5) == 2_869_685


@pytest.mark.proof
def test_all_four_card_hands_with_the_wheel_in_every_place() -> None:
    assert four_card_rankings(1) == 4 * comb(53, 4)


@pytest.mark.proof
def test_a_million_seven_card_hands(seed: int) -> None:
    every_five = EveryFive()
    rng = random.Random(seed + 1)
    for _ in range(20_000):
        cards = rng.sample(range(53), 7)
        assert every_five.best(cards) == best_of_seven(cards), written(cards)
    seven_card_rankings(1_000_000, seed, every_five.best)


@pytest.mark.proof
def test_what_two_hundred_thousand_seven_card_hands_hold(seed: int) -> None:
    what_seven_cards_hold(200_000, seed)


def test_every_class_has_a_name_that_the_reference_knows() -> None:
    known = {*reference_hands.ORDER_688A, *reference_hands.ORDER_687A, *reference_hands.ORDER_575}
    assert {*CLASS_NAMES.values()} == known
    royal = pai_gow.strength(parse_cards("As Ks Qs Js Ts"))
    assert class_of(royal) is HandClass.ROYAL_FLUSH
