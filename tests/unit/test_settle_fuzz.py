"""Random rounds: every wager has exactly one result, money adds up, and only rules pay."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import BadHand
from table_controller import rulebook
from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat
from table_controller.rulebook.settlement.round_settlement import settle
from tests.support.core.settled_rounds import terms

if TYPE_CHECKING:
    from table_controller.rulebook.settlement.terms import SettlementTerms

ROUNDS = 150


def dealt(at: SettlementTerms, rng: random.Random) -> DealtRound:
    """Return a random lawful round."""
    edition = at.edition
    deck = [*range(52)] * edition.cards.decks + [JOKER] * edition.cards.jokers
    rng.shuffle(deck)
    size = edition.hand.cards

    def hand() -> tuple[int, ...]:
        return tuple(deck.pop() for _ in range(size))

    dealer = hand() if edition.hand.dealer_hand else ()
    voids = any({"player_may_void", "player_option_dead_hand"} & set(row.outcomes) for row in edition.irregularities)
    leaves = bool(duty_clauses(edition.game, "abandoned"))
    replaces = set(edition.deal.replacement_card.values()) != {"never"}
    seats = []
    for number in sorted(rng.sample(range(1, 7), rng.randint(1, 6))):
        cards = hand()
        fate = rng.choice(["plays", "plays", "plays", "gave_up", "void", "abandoned"])
        wagers = {wager.name: 200 * rng.randint(1, 50) for wager in edition.wagers if wager.required}
        for wager in edition.wagers:
            if wager.option and rng.random() < 0.5:
                wagers[wager.name] = at.table(wager.name).unit_cents or 200 * rng.randint(1, 5)
        if fate == "gave_up" and (edition.surrender is None or set(edition.surrender.barred_by) & set(wagers)):
            fate = "plays"
        if (fate == "void" and not voids) or (fate == "abandoned" and not leaves):
            fate = "plays"
        choices = [wager for wager in edition.wagers if wager.decision]
        if choices and fate == "plays":
            chosen = rng.choice(choices)
            wagers[chosen.name] = wagers["ante"] * (2 if chosen.amount == "twice_ante" else 1)
        setting = _setting(at, cards, rng)
        seats.append(Seat(number=number, cards=cards, wagers=wagers, fate=fate, setting=setting))  # type: ignore[arg-type]
    replacement = next(card for card in deck if card != JOKER) if replaces else None
    return DealtRound(seats=tuple(seats), dealer=dealer, replacement=replacement)


def _setting(at: SettlementTerms, cards: tuple[int, ...], rng: random.Random) -> Any:
    """Sometimes as the house way would advise, sometimes any setting at all, foul ones too."""
    split = at.edition.hand.split
    if not split:
        return None
    if rng.random() < 0.5:
        return at.set_by_house_way(cards)
    mixed, hands = rng.sample(cards, len(cards)), []
    for size in split:
        hands.append(tuple(mixed[:size]))
        mixed = mixed[size:]
    return tuple(hands)


@pytest.mark.parametrize("game", rulebook.GAMES)
def test_every_wager_has_one_end_and_money_adds_up(game: str, seed: int) -> None:
    rng = random.Random(seed)
    at = terms(game)
    outcomes: Counter[str] = Counter()
    for _ in range(ROUNDS):
        dealt_round = dealt(at, rng)
        results = settle(at, dealt_round)
        placed = {(seat.number, wager): cents for seat in dealt_round.seats for wager, cents in seat.wagers.items()}
        ends = [each for each in results if each.envy_of is None]
        assert {(each.seat, each.wager): each.wager_cents for each in ends} == placed
        assert len(ends) == len(placed)
        for each in results:
            outcomes[each.outcome] += 1
            rulebook.clause(each.clauses[0])
            for name in each.clauses:
                rulebook.clause(name)
            for name in each.see:
                rulebook.reading(name)
            if each.outcome != "wins":
                assert each.paid_cents == each.meter_percent == each.cut_cents == 0
                assert each.back_cents == (0 if each.outcome == "loses" else each.wager_cents)
            else:
                assert each.paid_cents > 0 or each.meter_percent > 0
                assert each.back_cents in (0, each.wager_cents)
            assert each.envy_of != each.seat
        assert results == settle(at, dealt_round)
    expected = {"wins", "loses"} | ({"pushes"} if game in ("saigon_5_card", "face_up_pai_gow", "dj_wild") else set())
    assert expected <= set(outcomes)


@pytest.mark.parametrize("game", rulebook.GAMES)
def test_the_order_in_which_seats_are_listed_does_not_matter(game: str, seed: int) -> None:
    rng = random.Random(seed)
    at = terms(game)
    for _ in range(30):
        dealt_round = dealt(at, rng)
        shuffled = DealtRound(
            seats=tuple(rng.sample(dealt_round.seats, len(dealt_round.seats))),
            dealer=dealt_round.dealer,
            replacement=dealt_round.replacement,
        )
        assert settle(at, shuffled) == settle(at, dealt_round)


@pytest.mark.parametrize("game", rulebook.GAMES)
def test_a_card_listed_twice_is_never_settled(game: str, seed: int) -> None:
    rng = random.Random(seed)
    at = terms(game)
    for _ in range(20):
        dealt_round = dealt(at, rng)
        first = dealt_round.seats[0]
        size = 7 if at.edition.cards.decks > 1 else max(2, len(first.cards))  # more often than six decks have it
        wrong = Seat(number=first.number, cards=first.cards[:1] * size, wagers=first.wagers, fate=first.fate)
        with pytest.raises(BadHand):
            settle(
                at,
                DealtRound(
                    seats=(wrong, *dealt_round.seats[1:]),
                    dealer=dealt_round.dealer,
                    replacement=dealt_round.replacement,
                ),
            )
