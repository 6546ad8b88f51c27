"""Rounds at a live table whose cards are entered: every settlement equals the one that is written from the text."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from table_controller.rulebook.cards import JOKER, NOTATION, format_cards
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt, RequestRefused, WagerSettled
from tests.support.core.ideal_table import DEALER, FLOOR, IdealTable, decisions_of
from tests.support.core.two_games import ALL_WAGERS
from tests.support.oracles.settled_by_text import CHAPTERS, End, Played, PlayedBox, settle_by_text
from tests.support.suite.case_counts import count_cases

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision

ROUNDS = 400
CHOICES: dict[str, dict[str, Any]] = {"face_up_pai_gow": {**ALL_WAGERS, "adjacent_boxes": 1}}
# One of so many card entries is wrong, and found when the dealer compares it with the table.
ERRS = 50


class CardPadDealer:
    """Plays rounds and enters what lies face up: drawn cards, drawn settings and amounts."""

    def __init__(self, game: str, seed: int) -> None:
        self.rng = random.Random(seed)
        self.table = IdealTable(game, **CHOICES.get(game, {})).start("blue", "red")
        self.table.override = self._override
        self.edition = self.table.edition
        self.seen: Counter[str] = Counter()
        self._begin()

    def _begin(self) -> None:
        self.hands: dict[int, tuple[int, ...]] = {}
        self.settings: dict[int, tuple[tuple[int, ...], ...]] = {}
        self.amounts: dict[tuple[int, str], int] = {}
        self.decided: dict[int, str] = {}
        self.replacement = 0
        self.ends: dict[tuple[int, str, int | None], End] = {}

    def _override(self, decision: Decision) -> list[ev.Event] | None:
        """Leave what this dealer answers itself, and draw what players decide."""
        if not isinstance(decision, Prompt):
            return None
        if decision.kind in ("settled", "side_settled", "dealer_set", "disputed"):
            return []
        if decision.kind == "decide":
            assert decision.seat is not None
            self.decided[decision.seat] = self.rng.choice([each for each in decision.choices if each != "surrender"])
            return [ev.Answer(decision.id, self.decided[decision.seat], DEALER)]
        return None

    def play_round(self) -> None:
        """Play one round; compare how each wager ended with the text."""
        self._begin()
        table, rng = self.table, self.rng
        table.seats = tuple(sorted(rng.sample(range(1, 7), rng.randint(1, 6))))
        table.side = {
            name: tuple(seat for seat in table.seats if rng.random() < 0.6)
            for name in table.table.context.submission.wagers
        }
        self._deal()
        table.play(ev.OpenRound(DEALER))
        table.play(ev.NoMoreBets(DEALER))
        for _ in range(200):
            if table.phase == mc.IDLE:
                break
            self._act()
        assert table.phase == mc.IDLE, table.prompts()
        assert self.ends == self._by_text(), (self.hands, self.settings)

    def _deal(self) -> None:
        deck = self.edition.cards
        cards = [*range(52)] * deck.decks + [JOKER] * deck.jokers
        self.rng.shuffle(cards)
        if deck.decks == 1 and self.rng.random() < 0.4:  # high hands are frequent
            cards.sort(key=lambda card: (card & 3, self.rng.random() < 0.2))
        for place in (0, *self.table.seats) if self.edition.hand.dealer_hand else self.table.seats:
            self.hands[place] = tuple(cards[: self.edition.hand.cards])
            cards = cards[self.edition.hand.cards :]
        self.replacement = next(card for card in cards if card != JOKER)

    def _act(self) -> None:
        """Answer the next question: enter what is face up before a seat is settled."""
        prompts = [each for each in self.table.prompts() if self._override(each) == []]
        if not prompts:
            self.table.settle()
            return
        asked = prompts[0]
        if asked.kind == "settled" and not self._is_entered(asked.seat or 0):
            self._enter(asked.seat or 0)
        elif asked.kind == "dealer_set":
            self.table.answer_prompt("dealer_set")
        elif asked.kind == "disputed":
            self.table.answer_prompt("disputed", "enter_again", who=FLOOR)
        elif self._is_wrong(asked):
            self.seen["an entered card was wrong"] += 1
            self.table.step(ev.Answer(asked.id, "disputed", DEALER))
        else:
            self._confirm(asked)

    def _is_entered(self, seat: int) -> bool:
        """Whether amounts and cards of a seat are entered; a folded hand stays face down."""
        amounts = any(at == seat for at, _ in self.amounts)
        return amounts and (self.decided.get(seat) == "fold" or seat in self.table.round_.hands)

    def _is_wrong(self, asked: Prompt) -> bool:
        """Whether an entered hand differs from the cards on the table; the dealer looks before confirming."""
        known = self.table.round_.hands
        return asked.kind == "settled" and any(
            sorted(known[place].cards) != sorted(self.hands[place]) for place in (0, asked.seat or 0) if place in known
        )

    def _confirm(self, asked: Prompt) -> None:
        decided = self.table.step(ev.Answer(asked.id, asked.choices[0], DEALER))
        for each in decisions_of(WagerSettled, decided):
            result = each.result
            self.seen[result.outcome] += 1
            assert result.clauses
            assert result.paid_cents is not None, "every amount was entered"
            self.ends[each.seat, result.wager, None] = End(result.outcome, result.line or None, result.paid_cents)
        self.table.settle()

    def _enter(self, seat: int) -> None:
        """Enter amounts, the dealer's hand, and the seat's hand with its setting."""
        if self.edition.hand.dealer_hand and 0 not in self.table.round_.hands:
            self._send(ev.HandEntered(0, format_cards(self.hands[0]), DEALER))
        self._enter_amounts(seat)
        if self.decided.get(seat) == "fold":
            return
        cards = self.hands[seat]
        if self.rng.randrange(ERRS) == 0:
            cards = self._slip(cards)
        self._send(ev.HandEntered(seat, format_cards(cards), DEALER))
        if JOKER in cards and self.edition.game == "dj_wild" and self.table.round_.replacement_card is None:
            self._send(ev.ReplacementEntered(NOTATION[self.replacement], DEALER))
        if self.edition.hand.split:
            self._set(seat, cards)
        assert [p for p in self.table.prompts("settled") if p.proposals] or self.table.prompts("dealer_set"), seat

    def _slip(self, cards: tuple[int, ...]) -> tuple[int, ...]:
        """Exchange one card for one that no known hand has."""
        used = {card for hand in self.hands.values() for card in hand} | {self.replacement}
        free = [card for card in range(52) if card not in used]
        return (*cards[1:], self.rng.choice(free)) if free else cards

    def _set(self, seat: int, cards: tuple[int, ...]) -> None:
        if self.rng.random() < 0.3:
            self._send(ev.HouseWayAsked(seat, DEALER))
        else:
            mixed, hands = self.rng.sample(cards, len(cards)), []
            for size in self.edition.hand.split:
                hands.append(mixed[:size])
                mixed = mixed[size:]
            self._send(ev.SettingEntered(seat, " | ".join(map(format_cards, hands)), DEALER))
        setting = self.table.round_.hands[seat].setting
        assert setting is not None
        self.settings[seat] = setting

    def _enter_amounts(self, seat: int) -> None:
        ante = 200 * self.rng.randint(1, 50)
        for wager in self.edition.wagers:
            if wager.required or wager.name == self.decided.get(seat):
                cents = 2 * ante if wager.amount == "twice_ante" else ante
            elif seat in self.table.round_.side_wagers.get(wager.name, ()):
                cents = 100 * self.rng.choice((5, 6, 10))
            else:
                continue
            cents = self.amounts.setdefault((seat, wager.name), cents)
            self._send(ev.AmountEntered(wager.name, seat, cents, DEALER))

    def _send(self, event: ev.Event) -> None:
        decided = self.table.step(event)
        assert not decisions_of(RequestRefused, decided), (event, decided)

    def _by_text(self) -> dict[tuple[int, str, int | None], End]:
        context = self.table.table.context
        dealer = self.hands.get(0, ())
        split = self.edition.hand.split
        boxes = tuple(
            PlayedBox(
                seat, _written(self.hands[seat]),
                {wager: cents for (at, wager), cents in self.amounts.items() if at == seat},
                tuple(map(_written, self.settings.get(seat, ()))), self.decided.get(seat) == "fold",
            )
            for seat in self.table.seats
        )  # fmt: skip
        played = Played(
            self.edition.game, boxes, dict(context.submission.paytables), _written(dealer),
            tuple(map(_written, context.terms.set_by_house_way(dealer))) if split else (), NOTATION[self.replacement],
        )  # fmt: skip
        return {key: end for key, end in settle_by_text(played).items() if key[2] is None}


def _written(cards: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(NOTATION[card] for card in cards)


def played(game: str, seed: int, rounds: int) -> CardPadDealer:
    dealer = CardPadDealer(game, seed)
    for _ in range(rounds):
        dealer.play_round()
    assert dealer.table.round_.number == rounds
    assert {"wins", "loses"} <= set(dealer.seen)
    return dealer


@pytest.mark.parametrize("game", CHAPTERS)
def test_some_rounds_settle_as_the_text_orders(game: str, seed: int) -> None:
    played(game, seed, 30)


@pytest.mark.proof
@pytest.mark.parametrize("game", CHAPTERS)
def test_every_settlement_in_play_is_the_one_of_the_text_and_wrong_entries_are_caught(game: str, seed: int) -> None:
    dealer = played(game, seed, count_cases(ROUNDS))
    assert dealer.seen["an entered card was wrong"] > 0
