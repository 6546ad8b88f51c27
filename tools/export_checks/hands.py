"""Ranks the cards of a progressive bet by its paytable, and checks that a claimed hand is what its cards are.

Written from the printed rules, independent of the box: a hand is the first line, from the top, that its cards fit.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tools.export_checks.basics import Json, need

RANKS, SUITS, JOKER = "23456789TJQKA", "cdhs", "Jk"
ROYAL = frozenset("TJQKA")
MATCH = frozenset("KQ")
# How many cards of which groups of equal rank a line needs.
GROUPS = {
    "three_of_a_kind": (3,), "full_house": (3, 2), "four_of_a_kind": (4,), "five_of_a_kind": (5,),
}  # fmt: skip
# A floorperson's rulings by which the dealer names the hand; the other answers leave it to the cards.
NAMES_IT = ("ranked_otherwise", "cards_mixed")


class Hand(NamedTuple):
    """The cards of a hand that are no wild cards, and how many are wild."""

    cards: tuple[str, ...]
    wild: int
    limited: bool  # a wild card is an ace, or completes a straight, a flush, a straight flush or a royal flush

    @property
    def suited(self) -> list[frozenset[str]]:
        """The ranks of each suit."""
        return [frozenset(card[0] for card in self.cards if card[1] == suit) for suit in SUITS]


def line_of(words: str, replacement: str, ranking: str, lines: list[str]) -> str:
    """Return the first line that the cards fit, or an empty text. `ranking`: what is wild, by the table's terms."""
    cards = [replacement if card == JOKER and ranking.startswith("five") else card for card in words.split()]
    wild = [card for card in cards if card == JOKER or (ranking == "five_wild_twos" and card[0] == "2")]
    natural = tuple(card for card in cards if card not in wild)
    hand = Hand(natural, len(wild), ranking == "seven_limited_joker")
    return next((line for line in lines if _fits(hand, line)), "")


def _fits(hand: Hand, line: str) -> bool:
    if line in GROUPS:
        return _has_groups(hand, GROUPS[line])
    if line == "five_aces":
        return sum(card[0] == "A" for card in hand.cards) + hand.wild >= 5
    if line == "straight":
        return _is_run({card[0] for card in hand.cards}, 5, hand.wild)
    joker = {"seven_card_natural_straight_flush": 0}.get(line, hand.wild)
    if line.startswith("seven_card"):
        needs_wild = line.endswith("with_joker")
        return (joker > 0 or not needs_wild) and any(_is_run(ranks, 7, joker) for ranks in hand.suited)
    if line == "straight_flush":
        return any(_is_run(ranks, 5, hand.wild) for ranks in hand.suited)
    if line == "flush":
        return any(len(ranks) + hand.wild >= 5 for ranks in hand.suited)
    royal = any(len(ROYAL - ranks) <= hand.wild for ranks in hand.suited)
    if line == "royal_flush":
        return royal
    if line == "royal_flush_plus_royal_match":
        return royal and MATCH in hand.suited
    need(False, f"no rule is known for the line {line}")
    return False


def _has_groups(hand: Hand, sizes: tuple[int, ...]) -> bool:
    counts = Counter(card[0] for card in hand.cards)
    if hand.limited:
        counts["A"] += hand.wild
    largest = sorted(counts.values(), reverse=True) + [0] * len(sizes)
    lacking = sum(max(0, size - has) for size, has in zip(sizes, largest, strict=False))
    return lacking <= (0 if hand.limited else hand.wild)


def _is_run(ranks: set[str] | frozenset[str], length: int, wild: int) -> bool:
    """Return whether ranks and wild cards make a run; an ace is also the lowest card."""
    order = "A" + RANKS
    runs = (set(order[low : low + length]) for low in range(len(order) - length + 1))
    return any(len(run - ranks) <= wild for run in runs)


class HandCheck:
    """The cards that the dealer entered in a round, and a floorperson's rulings about claims."""

    def __init__(self) -> None:
        self.cards: dict[int, str] = {}
        self.replacement = ""
        self.ruled: dict[int, str] = {}

    def entered(self, event: Json) -> None:
        """Take an accepted entry of cards."""
        if event["type"] == "HandEntered":
            self.cards[event["place"]] = _sorted(event["cards"])
        elif event["type"] == "SettingEntered":
            self.cards[event["place"]] = _sorted(event["hands"].replace("|", " "))
        elif event["type"] == "ReplacementEntered":
            self.replacement = _sorted(event["card"])

    def answered(self, kind: str, seat: int | None, choice: str) -> None:
        """Take an answer that forgets cards, or a ruling that lets the dealer name the hand."""
        if choice == "enter_again" and kind in ("disputed", "claim_disputed"):
            self.cards.pop(seat or 0, None)
            if kind == "disputed":
                self.cards.pop(0, None)
        elif kind == "settled" and choice == "surrendered":
            self.cards.pop(seat or 0, None)
        elif kind == "claim_disputed" and choice in NAMES_IT and seat is not None:
            self.ruled[seat] = choice

    def check_claim(self, seat: int, hand: str, ranking: str, awards: list[Json]) -> None:
        """Check that a claimed hand is what its cards are, unless a floorperson let the dealer name it."""
        if seat in self.ruled:
            return
        cards = self.cards.get(seat)
        need(cards, f"{hand} is claimed for seat {seat}, and nobody entered its cards")
        assert cards is not None
        need(self.replacement or JOKER not in cards.split() or not ranking.startswith("five"),
             f"{hand} is claimed for seat {seat} by a joker without its replacement card")  # fmt: skip
        line = line_of(cards, self.replacement, ranking, [award["hand"] for award in awards])
        need(line == hand, f"{hand} is claimed for seat {seat}, and its cards {cards} are {line or 'no line'}")

    def check_envy(self, seat: int, line: str, ranking: str, awards: list[Json]) -> None:
        """Check that a hand whose cards were entered pays envy by the line that they are; a wild joker is limited."""
        cards = self.cards.get(seat)
        if cards is None or seat in self.ruled:
            return
        limited = "seven_limited_joker" if ranking.startswith("seven") else ranking
        right = line_of(cards, self.replacement, limited, [award["hand"] for award in awards])
        need(right == line, f"envy is paid for {line} of seat {seat}, and its cards {cards} are {right or 'no line'}")


def _sorted(words: str) -> str:
    """Return cards in one notation, in one order."""
    cards = (JOKER if word.lower() == JOKER.lower() else word[0].upper() + word[1:].lower() for word in words.split())
    return " ".join(sorted(cards))
