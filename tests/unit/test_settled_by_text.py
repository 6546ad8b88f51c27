"""Whole rounds settled by the rulebook and by a second settlement that is written from the text alone."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from table_controller import rulebook
from table_controller.rulebook.cards import JOKER, NOTATION, parse_cards
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat
from table_controller.rulebook.settlement.round_settlement import settle
from tests.support.core.settled_rounds import terms
from tests.support.oracles.settled_by_text import CHAPTERS, End, Key, Played, PlayedBox, settle_by_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.settlement.terms import SettlementTerms

ROUNDS = 1000
# Hands that are hardly ever dealt, for lines that would else stay untried.
RARE = {
    "asia_poker": (
        "8s 8h 8d 8c Ks Kh Kd", "8s 8h 8d 8c As Ah Jk", "As Ah Ad Ac Jk 5s 4d", "9s 8h 7d 6c 4s 3h 2d",
        "9s 8h 7d 5c 4s 3h 2d", "9s 8h 7d 6c 4s 3h Jk", "As Ks Qs Jk Ts 3d 3h", "9s 9h 9d 9c 4s 3h 2d",
        "9s 8s 7s 6s 5s Jk 2d", "9s 8s 7s 6s Jk 2d 3d",
    ),
    "saigon_5_card": (
        "As Ah Ad Ac Jk", "As Ks Qs Js Ts", "As Ks Qs Jk Ts", "9s 8s 7s 6s 5s", "9s 9h 9d 9c 5s", "9s 9h 9d 5c 5s",
        "9s 8h 7d 6c 5s", "9s 9h 9d 5c 2s", "9s 9h 5d 5c 2s",
    ),
    "over_under": (
        "2s 2h 2d", "As Ah Ad", "2s 2h 3d", "As Ah Td", "2s 2h 4d", "As Ah 9d", "2s 2h 5d", "As Ah 8d", "3s 3h 4d",
        "As Ah 7d", "3s 3h 5d", "As Ah 6d", "Ts 8h Jd", "Ts 9h 8d", "4s 4h 4d", "5s 6h 7d", "9s 8h 4d",
    ),
    "dj_wild": (
        "2s 2h 2d 2c Jk", "9s 9h 9d 9c 2s", "9s 9h 9d Jk 2s", "As Ks Qs Js Ts", "As Ks Qs Jk Ts", "As Ks Qs 2h Ts",
        "6s 5s 4s 3s 2s", "6s 5s 4s 3s 2h", "7s 6s 5s 4s Jk", "9s 9h 9d 9c 5s", "9s 9h 9d 5c 5s", "2s 2h 9d 5c 4h",
    ),
    "face_up_pai_gow": (
        "As Ah Ad Ac Jk Kd 9s", "As Ks Qs Js Ts Kd Qd", "As Ks Qs Js Jk Kd Qd", "As Ks Qs Js Ts Kd Jk",
        "9s 8s 7s 6s 5s 4s 3s", "9s 8s 7s 6s 5s 4s Jk", "9s 9h 9d 9c Jk 3d 2h", "9s 9h 9d 9c Kh 3d 2h",
        "As Kd Qh 9c 8s 5d 3h", "Jk Kd Qh 9c 8s 5d 3h",
    ),
}  # fmt: skip


def written(cards: Sequence[int]) -> tuple[str, ...]:
    return tuple(NOTATION[card] for card in cards)


def drawn_terms(game: str, rng: random.Random) -> SettlementTerms:
    """A table that offers everything, with a drawn paytable for each wager that has several."""
    edition = rulebook.edition(game)
    drawn: dict[str, Any] = {
        "paytables": {wager.name: rng.choice(wager.tables) for wager in edition.wagers if len(wager.tables) > 1}
    }
    if game == "dj_wild":
        drawn["folded_progressive"] = rng.random() < 0.5
    return terms(game, **drawn)


def drawn_cards(rng: random.Random, at: SettlementTerms, places: int, first: Sequence[int]) -> list[tuple[int, ...]]:
    """Hands for all places: dealt from the whole deck, or from a part of it in which high hands are frequent.

    The first place gets the cards that are given.
    """
    edition, kind = at.edition, rng.random()
    deck = [*range(52)] * edition.cards.decks + [JOKER] * edition.cards.jokers
    rng.shuffle(deck)
    if kind < 0.35 and edition.cards.decks == 1 and not first:  # few ranks
        ranks = rng.sample(range(13), -(-(edition.hand.cards * places + 1) // 4))
        deck = [card for card in deck if card == JOKER or card >> 2 in ranks]
    elif kind < 0.7 and edition.cards.decks == 1 and not first:  # most hands of one suit
        deck.sort(key=lambda card: (card & 3, rng.random() < 0.15))
        cut = rng.randrange(len(deck))
        deck = deck[cut:] + deck[:cut]
    if first:
        deck = [*first, *(card for card in deck if card not in first)]
    size = edition.hand.cards
    return [tuple(deck[size * place : size * (place + 1)]) for place in range(places)]


def drawn_setting(at: SettlementTerms, cards: tuple[int, ...], rng: random.Random) -> tuple[tuple[int, ...], ...]:
    """As the house way sets them, or any way at all, foul ones too."""
    if rng.random() < 0.6:
        return at.set_by_house_way(cards)
    mixed, hands = list(rng.sample(cards, len(cards))), []
    for size in at.edition.hand.split:
        hands.append(tuple(mixed[:size]))
        mixed = mixed[size:]
    return tuple(hands)


def drawn_round(
    at: SettlementTerms, rng: random.Random, first: Sequence[int] = (), *, to_dealer: bool = False
) -> DealtRound:
    """A whole round; seat 1 or the dealer has the cards that are given, and seat 1 then has every wager."""
    edition = at.edition
    others = sorted(rng.sample(range(2, 7), rng.randint(1, 5)))
    numbers = [1, *others] if first or rng.random() < 0.5 else others
    hands = drawn_cards(rng, at, len(numbers) + 1, first)
    if to_dealer:
        hands.reverse()
    dealer = hands.pop() if edition.hand.dealer_hand else ()
    seats = tuple(
        drawn_seat(at, rng, number, cards, whole=bool(first) and number == 1)
        for number, cards in zip(numbers, hands, strict=False)
    )
    used = {*dealer, *(card for seat in seats for card in seat.cards)}
    replacement = rng.choice([card for card in range(52) if card not in used]) if edition.game == "dj_wild" else None
    return DealtRound(seats=seats, dealer=dealer, replacement=replacement)


def drawn_seat(at: SettlementTerms, rng: random.Random, number: int, cards: tuple[int, ...], *, whole: bool) -> Seat:
    edition = at.edition
    wagers: dict[str, int | None] = {wager.name: 200 * rng.randint(1, 50) for wager in edition.wagers if wager.required}
    for wager in edition.wagers:
        if wager.option and (whole or rng.random() < 0.6):
            wagers[wager.name] = at.table(wager.name).unit_cents or 100 * rng.choice((2, 4, 5, 6, 10))
    may_give_up = edition.game == "dj_wild" or (
        edition.surrender is not None and not set(edition.surrender.barred_by) & set(wagers)
    )
    gave_up = may_give_up and not whole and rng.random() < 0.25
    choices = [wager for wager in edition.wagers if wager.decision]
    if choices and not gave_up:
        chosen = rng.choice(choices)
        wagers[chosen.name] = (wagers["ante"] or 0) * (2 if chosen.amount == "twice_ante" else 1)
    setting = drawn_setting(at, cards, rng) if edition.hand.split else None
    return Seat(number=number, cards=cards, wagers=wagers, setting=setting, fate="gave_up" if gave_up else "plays")


def by_text(at: SettlementTerms, played: DealtRound) -> dict[Key, End]:
    """Settle a round by the text; the dealer's hands are given as the house way sets them."""
    dealer = at.set_by_house_way(played.dealer) if at.edition.hand.split else ()
    boxes = tuple(
        PlayedBox(
            seat.number, written(seat.cards), {name: cents or 0 for name, cents in seat.wagers.items()},
            tuple(map(written, seat.setting or ())), seat.fate == "gave_up",
        )
        for seat in played.seats
    )  # fmt: skip
    return settle_by_text(
        Played(
            at.edition.game, boxes, dict(at.submission.paytables), written(played.dealer),
            tuple(map(written, dealer)), None if played.replacement is None else NOTATION[played.replacement],
            bool(at.submission.folded_progressive),
        )
    )  # fmt: skip


def by_rulebook(at: SettlementTerms, played: DealtRound) -> dict[Key, End]:
    results = settle(at, played)
    ends = {
        (each.seat, each.wager, each.envy_of): End(each.outcome, each.line, each.paid_cents, each.meter_percent)
        for each in results
    }
    assert len(ends) == len(results), "one result per wager and envy bonus"
    return ends


def compare(at: SettlementTerms, played: DealtRound, seen: Counter[str]) -> None:
    """Settle a round in both ways, and count how its wagers end."""
    expected = by_text(at, played)
    assert by_rulebook(at, played) == expected, played
    seen.update(end.outcome for end in expected.values())
    seen.update("envy" for _, _, of in expected if of is not None)
    seen.update(end.line for end in expected.values() if end.line)


@pytest.mark.parametrize("game", CHAPTERS)
def test_a_round_ends_as_the_text_orders(game: str, seed: int) -> None:
    rng = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(ROUNDS):
        at = drawn_terms(game, rng)
        compare(at, drawn_round(at, rng), seen)
    assert {"wins", "loses"} <= seen.keys()
    assert ("envy" in seen) is (rulebook.edition(game).envy is not None)


@pytest.mark.parametrize("game", CHAPTERS)
def test_every_printed_line_pays_in_some_round(game: str) -> None:
    """The same rounds in every run: each rare hand with each paytable, at a seat with every wager."""
    rng = random.Random(4)
    seen: Counter[str] = Counter()
    tables = [(wager.name, table) for wager in rulebook.edition(game).wagers for table in wager.tables]
    for (name, table), rare in product(tables, RARE[game]):
        at = terms(game, paytables={name: table})
        compare(at, drawn_round(at, rng, parse_cards(rare)), seen)
        compare(at, drawn_round(at, rng, parse_cards(rare), to_dealer=at.edition.hand.dealer_hand), seen)
        compare(at, drawn_round(at, rng), seen)
    labels = {line.label for table in rulebook.paytables(game) for line in table.lines}
    assert labels - seen.keys() == set()
