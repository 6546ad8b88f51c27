"""Hands for simulated players: cards that are a given line of a progressive paytable, or that win nothing.

The cards are drawn by the shape of the line, and the rulebook ranks them; a line that the remaining cards cannot be is
not dealt.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadHand
from table_controller.rulebook.cards import JOKER, RANKS, SUITS, format_cards
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat
from table_controller.rulebook.settlement.round_settlement import settle_seat
from table_controller.table import events as ev
from table_controller.table.hits import NO_WIN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from table_controller.rulebook.cards import Card
    from table_controller.table.context import Context

# How often cards are drawn for one hand before it counts as impossible.
_DRAWS: Final = 300
_ACE: Final = len(RANKS) - 1


def _card(rank: int, suit: int) -> Card:
    return rank * len(SUITS) + suit


def _suited(rng: Random, ranks: Collection[int]) -> list[Card]:
    suit = rng.randrange(len(SUITS))
    return [_card(rank, suit) for rank in ranks]


def _run(rng: Random, length: int) -> range:
    """Return the ranks of a straight, never the highest one."""
    low = rng.randrange(len(RANKS) - length)
    return range(low, low + length)


def _equal(rng: Random, *groups: int) -> list[Card]:
    """Return groups of equal cards of different ranks below the ace, which other hands may need."""
    ranks = rng.sample(range(_ACE), len(groups))
    return [
        _card(rank, suit)
        for rank, size in zip(ranks, groups, strict=True) for suit in rng.sample(range(len(SUITS)), size)
    ]  # fmt: skip


def _royal(rng: Random) -> list[Card]:
    return _suited(rng, range(_ACE - 4, _ACE + 1))


def _royal_and_match(rng: Random) -> list[Card]:
    """Return a royal flush, with a king and queen of another suit."""
    royal, match = rng.sample(range(len(SUITS)), 2)
    return [_card(rank, royal) for rank in range(_ACE - 4, _ACE + 1)] + [_card(_ACE - 1, match), _card(_ACE - 2, match)]


def _with_joker(rng: Random) -> list[Card]:
    return [*_suited(rng, _run(rng, 7))[1:], JOKER]


def _offsuit_run(rng: Random) -> list[Card]:
    return [_card(rank, rng.randrange(len(SUITS))) for rank in _run(rng, 5)]


# How the cards that make each line are drawn; the rest of the hand is any other cards.
_SHAPES: Final[dict[str, Callable[[Random], list[Card]]]] = {
    NO_WIN: lambda _: [],
    "seven_card_straight_flush_any": lambda rng: _suited(rng, _run(rng, 7)),
    "seven_card_natural_straight_flush": lambda rng: _suited(rng, _run(rng, 7)),
    "seven_card_straight_flush_with_joker": _with_joker,
    "royal_flush_plus_royal_match": _royal_and_match,
    "five_aces": lambda _: [*(_card(_ACE, suit) for suit in range(len(SUITS))), JOKER],
    "five_of_a_kind": lambda rng: [*_equal(rng, 4), JOKER],
    "royal_flush": _royal,
    "straight_flush": lambda rng: _suited(rng, _run(rng, 5)),
    "four_of_a_kind": lambda rng: _equal(rng, 4),
    "full_house": lambda rng: _equal(rng, 3, 2),
    "flush": lambda rng: _suited(rng, rng.sample(range(len(RANKS)), 5)),
    "straight": _offsuit_run,
    "three_of_a_kind": lambda rng: _equal(rng, 3),
}


def deal_hand(c: Context, hand: str, used: Collection[Card], rng: Random) -> tuple[Card, ...] | None:
    """Return cards, none of them used, that the rulebook ranks as a hand of the paytable, or as no win; None: none."""
    size, cards_of_deck = c.edition.hand.cards, JOKER + c.edition.cards.jokers
    free = [card for card in range(cards_of_deck) if card not in used]
    for _ in range(_DRAWS):
        shape = _SHAPES[hand](rng)
        if not set(shape) <= set(free) or len(set(shape)) != len(shape):
            continue
        others = [card for card in free if card not in shape and card < _card(_ACE, 0)]  # aces are left to other hands
        others = others if len(shape) + len(others) >= size else [card for card in free if card not in shape]
        if len(shape) + len(others) < size:
            return None
        cards = tuple(shape + rng.sample(others, size - len(shape)))
        if line_of(c, cards) == hand:
            return cards
    return None


def line_of(c: Context, cards: tuple[Card, ...]) -> str:
    """Return the paytable's hand that the cards of a seat are by the rulebook, or NO_WIN."""
    rules, printed = c.meter, c.edition.progressive
    assert rules is not None
    assert printed is not None
    stays = next((wager.name for wager in c.edition.wagers if wager.decision), None)
    names = [wager.name for wager in c.edition.wagers if wager.required or wager.name == stays]
    seat = Seat(number=1, wagers=dict.fromkeys((*names, printed.wager)), cards=cards)
    try:
        verdicts = settle_seat(c.terms, DealtRound(seats=(seat,)), seat)
    except BadHand:
        return ""
    lines = {verdict.line for verdict in verdicts if verdict.wager == printed.wager and verdict.outcome == "wins"}
    return next((award.hand for award in rules.awards if award.label in lines), NO_WIN)


def enter_dealt(c: Context, seat: int, hand: str, who: ev.Person, rng: Random | None = None) -> ev.HandEntered | None:
    """Return the entry of a seat's cards that are a hand and contradict nothing that is known; None: there are none."""
    round_ = c.state.round
    used = {card for place, known in round_.hands.items() if place != seat for card in known.cards}
    used |= set() if round_.replacement_card is None else {round_.replacement_card}
    cards = deal_hand(c, hand, used, rng or Random(f"{round_.number} {seat} {hand}"))
    return None if cards is None else ev.HandEntered(seat, format_cards(cards), who)
