"""A reference implementation of hand ranking: slow, written from the rules alone, sharing no code with the product.

Cards are their notation. For a wild card every card of the deck is tried; the best five of seven are found by trying
all twenty-one. A worth compares: place of the class in the game's own order, then ranks as the text compares them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DECK = [rank + suit for rank in "AKQJT98765432" for suit in "shdc"]
JOKER = "Jk"
VALUE = dict(zip("23456789TJQKA", range(2, 15), strict=True))

# As the chapters print them, lowest first.
ORDER_688A = (
    "high card", "pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind",
    "straight flush", "royal flush", "five aces",
)  # fmt: skip
ORDER_687A = (
    "high card", "pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind",
    "straight flush", "five of a kind", "royal flush", "five wilds",
)  # fmt: skip
ORDER_575 = (
    "high card", "pair", "two pair", "three of a kind", "straight", "flush", "four of a kind", "straight flush",
    "royal flush", "four aces",
)  # fmt: skip

HandWorth = tuple[int, tuple[int, ...]]


@cache
def _named(ranks: tuple[int, ...], suited: bool) -> tuple[str, tuple[int, ...]]:
    """Name four or five natural cards (ranks sorted, highest first) and give what compares them within the class."""
    size = len(ranks)
    alike = sorted(Counter(ranks).items(), key=lambda item: (-item[1], -item[0]))
    shape = [number for _, number in alike]
    compared = tuple(rank for rank, _ in alike)
    if shape[0] == 1 and size >= 4:
        low_ace = ranks[0] == 14 and ranks[1:] == tuple(range(size, 1, -1))
        if ranks[0] - ranks[-1] == size - 1 or low_ace:
            top = size if low_ace else ranks[0]
            if suited:
                return ("royal flush", ()) if top == 14 else ("straight flush", (top,))
            return "straight", (top,)
        if suited:
            return "flush", ranks
    if shape[0] == 5:
        return "five of a kind", compared
    if shape[0] == 4:
        return "four of a kind", compared
    if shape[:2] == [3, 2]:
        return "full house", compared
    if shape[0] == 3:
        return "three of a kind", compared
    if shape[:2] == [2, 2]:
        return "two pair", compared
    if shape[0] == 2:
        return "pair", compared
    return "high card", compared


def named(cards: Iterable[str]) -> tuple[str, tuple[int, ...]]:
    """Name natural cards."""
    held = list(cards)
    ranks = tuple(sorted((VALUE[card[0]] for card in held), reverse=True))
    return _named(ranks, len({card[1] for card in held}) == 1)


def _placed(order: Sequence[str], name: str, compared: tuple[int, ...], wheels: dict[str, int], size: int) -> HandWorth:
    """Put a named hand into a game's order; `wheels` gives the rank of an ace-low straight."""
    if name in wheels and compared == (size,):
        compared = (wheels[name],)
    elif name == "straight" and compared == (14,):
        compared = (15,)  # above a wheel that is second best
    return order.index(name), compared


# --- the limited joker: an ace, or any card that completes a straight, a flush, a straight flush or a royal -----------


def _tried(others: Sequence[str]) -> set[tuple[str, tuple[int, ...]]]:
    """Every hand that these cards and the joker may be."""
    hands = set()
    for card in DECK:
        name, compared = named([*others, card])
        if card[0] == "A" or name in ("straight", "flush", "straight flush", "royal flush"):
            hands.add((name, compared))
    return hands


@cache
def _with_joker(others: tuple[str, ...]) -> HandWorth:
    return max(_five(*hand) for hand in _tried(others))


def _five(name: str, compared: tuple[int, ...]) -> HandWorth:
    if name == "five of a kind" and compared == (14,):
        return ORDER_688A.index("five aces"), ()
    return _placed(ORDER_688A, name, compared, {"straight": 14, "straight flush": 14}, 5)


def five_688a(cards: Sequence[str]) -> HandWorth:
    """The strength of a five-card high hand."""
    if JOKER in cards:
        return _with_joker(tuple(sorted(card for card in cards if card != JOKER)))
    return _five(*named(cards))


def best_688a(cards: Sequence[str]) -> HandWorth:
    """The best five of seven cards."""
    return max(five_688a(five) for five in combinations(cards, 5))


def four_575(cards: Sequence[str], wheel_flush: int = 14, wheel_straight: int = 14) -> HandWorth:
    """The strength of a four-card high hand; a wheel counts 14 (second best) or 4 (lowest)."""
    wheels = {"straight": wheel_straight, "straight flush": wheel_flush}
    best: HandWorth = (-1, ())
    others = [card for card in cards if card != JOKER]
    for name, compared in _tried(others) if JOKER in cards else [named(cards)]:
        four = "four aces" if name == "four of a kind" and compared == (14,) else name
        best = max(best, _placed(ORDER_575, four, () if four == "four aces" else compared, wheels, 4))
    return best


def two_cards(cards: Sequence[str]) -> HandWorth:
    """A low hand of 688a, a medium hand of 575: a pair or two cards; the joker is an ace."""
    name, compared = named("As" if card == JOKER else card for card in cards)
    return ORDER_688A.index(name), compared


# --- 2s and joker wild ------------------------------------------------------------------------------------------------


def five_687a(cards: Sequence[str]) -> HandWorth:
    """The strength of five cards with every wild card tried as every card. A flush has five different ranks (X17)."""
    wild = [card for card in cards if card == JOKER or card[0] == "2"]
    natural = [card for card in cards if card not in wild]
    if len(wild) == 5:
        return ORDER_687A.index("five wilds"), ()
    if len(wild) < 2:
        others = DECK
    elif len({card[1] for card in natural}) == 1:  # its suit makes a flush, any other does not
        others = [card for card in DECK if card[1] == natural[0][1]]
        others += [card for card in DECK if card[1] == ("h" if natural[0][1] == "s" else "s")]
    else:  # no flush is possible, so suits do not matter
        others = [card for card in DECK if card[1] == natural[0][1]]
    best: HandWorth = (-1, ())
    for chosen in combinations_with_replacement(others, len(wild)):
        name, compared = named([*natural, *chosen])
        best = max(best, _placed(ORDER_687A, name, compared, {}, 5))
    return best


def natural_687a(cards: Sequence[str]) -> str:
    """The class of five cards at face value."""
    return named(cards)[0]


# --- what seven cards hold --------------------------------------------------------------------------------------------


def _runs(length: int) -> list[set[int]]:
    low = [set(range(bottom, bottom + length)) for bottom in range(2, 16 - length)]
    return [*low, {14, *range(2, length + 1)}]


RUN5, RUN7 = _runs(5), _runs(7)
ROYAL = {10, 11, 12, 13, 14}


def _alike(cards: Sequence[str]) -> frozenset[str]:
    return _alike_by_rank("".join(sorted(card[0] for card in cards)))


@cache
def _alike_by_rank(ranks: str) -> frozenset[str]:
    shape = sorted(Counter(ranks).values(), reverse=True)
    groups = set()
    for name, needed in (
        ("pair", (2,)), ("two_pair", (2, 2)), ("three_pair", (2, 2, 2)), ("three_of_a_kind", (3,)),
        ("full_house", (3, 2)), ("four_of_a_kind", (4,)), ("five_of_a_kind", (5,)),
    ):  # fmt: skip
        if len(shape) >= len(needed) and all(had >= need for had, need in zip(shape, needed, strict=False)):
            groups.add(name)
    if ranks.count("A") == 5:
        groups.add("five_aces")
    return frozenset(groups)


def _in_sequence(cards: Sequence[str]) -> set[str]:
    """Straights and flushes of natural cards; a joker's replacement card is among them."""
    features = set()
    ranks = {VALUE[card[0]] for card in cards}
    if any(run <= ranks for run in RUN5):
        features.add("straight")
    for suit in "shdc":
        held = {VALUE[card[0]] for card in cards if card[1] == suit}
        if len(held) < 5:
            continue
        features.add("flush")
        if any(run <= held for run in RUN5):
            features.add("straight_flush")
        if held >= ROYAL:
            features.add("royal_flush")
        if any(run <= held for run in RUN7):
            features.add("seven")
    return features


def held_features(cards: Sequence[str], *, fully_wild: bool) -> set[str]:
    """What a hand holds; the joker is tried as every card, for groups as an ace only unless it is fully wild."""
    naturals = [card for card in cards if card != JOKER]
    natural = _in_sequence(naturals)
    features = natural | _alike(naturals)
    if JOKER in cards:
        for card in DECK:
            if fully_wild or card[0] == "A":
                features |= _alike([*naturals, card])
            if card not in naturals:
                features |= _in_sequence([*naturals, card])
    joker = JOKER in cards
    if "royal_flush" in features:
        features.add("royal_flush_with_joker" if joker else "royal_flush_natural")
    if "straight_flush" in natural:
        features.add("natural_straight_flush")
    if "straight_flush" in features and joker:
        features.add("straight_flush_with_joker")
    if "seven" in features:
        features.remove("seven")
        features |= {"seven_card_straight_flush_any"}
        features.add("seven_card_straight_flush_with_joker" if joker else "seven_card_natural_straight_flush")
    if "royal_flush" in features and _royal_match(cards):
        features.add("royal_flush_plus_royal_match")
    return features


def _royal_match(cards: Sequence[str]) -> bool:
    for suit in "shdc":
        for other in "shdc":
            match = {"K" + other, "Q" + other}
            if suit != other and match <= set(cards) and len(cards) == 7:
                others = [card for card in cards if card not in match]
                if all(card == JOKER or (card[1] == suit and VALUE[card[0]] in ROYAL) for card in others):
                    return True
    return False
