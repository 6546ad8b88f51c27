"""Measures the settling of six seats in the core: every wager of every game, against the bare evaluation by the rulebook.

All cards, settings and amounts are entered beforehand, and the table is restored to that moment for every sample; what
is measured are the steps by which the dealer confirms the proposals, seat by seat, until every wager is settled. The
floor evaluates the same round once with the rulebook, without a table. Processor time, as in `benchmarks.core`.
"""

from __future__ import annotations

import random
from time import process_time
from typing import TYPE_CHECKING, Final

from benchmarks.budgets import BUDGETS
from benchmarks.rows import BenchmarkRow, arguments, interleave, print_table, print_verdict
from table_controller.rulebook import GAMES
from table_controller.rulebook.cards import JOKER, NOTATION, format_cards
from table_controller.rulebook.settlement.round_settlement import settle
from table_controller.table import events as ev
from table_controller.table import settling
from table_controller.table import state_machines as mc
from table_controller.table.decisions import RequestRefused
from tests.support.box.true_round import all_wagers
from tests.support.core.ideal_table import DEALER, IdealTable, decisions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.table.decisions import Prompt

ROUNDS: Final = 20
SEED: Final = 1
SEATS: Final = (1, 2, 3, 4, 5, 6)
CENTS: Final = 600
# What the dealer confirms when a seat is settled; the settling of a hit takes other people, and ends the measurement.
CONFIRMED: Final = ("settled", "side_settled", "progressive", "envy_hand", "envy_paid")


class KnownRound:
    """A table in the settling of a round with six seats, all wagers, and everything known; and how it is settled."""

    def __init__(self, game: str) -> None:
        self.floor = IdealTable(game, **all_wagers(game, SEED))
        self._rng = random.Random(SEED)
        self._prepare()
        self.table = self.floor.table
        self.snapshot = self.table.snapshot()
        self.played = settling.dealt_round(self.table.context)
        self.events = self._settle()

    def _prepare(self) -> None:
        """Play to the settling, and enter everything."""
        floor, rules = self.floor, self.floor.edition
        optional = [wager for wager in rules.wagers if wager.option]
        floor.seats = SEATS
        floor.side = {wager.name: SEATS for wager in optional}
        floor.bets = set(SEATS) if rules.progressive is not None else set()
        floor.start("blue", "red").play_to(mc.BETTING)
        for wager in optional:
            if wager.amount != "table_unit":
                self._enter(*(ev.AmountEntered(wager.name, seat, CENTS, DEALER) for seat in SEATS))
        floor.play_to(mc.SETTLING)
        for wager in rules.wagers:
            if not wager.option:
                cents = 2 * CENTS if wager.amount == "twice_ante" else CENTS
                placed = [seat for seat in SEATS if settling.has_wager(floor.table.context, seat, wager.name)]
                self._enter(*(ev.AmountEntered(wager.name, seat, cents, DEALER) for seat in placed))
        self._deal()

    def _deal(self) -> None:
        floor, hand = self.floor, self.floor.edition.hand
        for _ in SEATS if hand.second_deal else ():
            for event in floor.answer(floor.prompt("additional_cards")):
                floor.step(event)
            floor.answer_prompt("settled", "settled") if False else None
        deck = floor.edition.cards
        cards = [card for card in range(52) for _ in range(deck.decks)] + [JOKER] * deck.jokers
        self._rng.shuffle(cards)
        for place in (0, *SEATS) if hand.dealer_hand else SEATS:
            self._enter(ev.HandEntered(place, format_cards(cards[: hand.cards]), DEALER))
            cards = cards[hand.cards :]
        if any(JOKER in known.cards for place, known in floor.round_.hands.items() if place) and not hand.split:
            self._enter(ev.ReplacementEntered(NOTATION[next(card for card in cards if card != JOKER)], DEALER))
        for prompt in floor.prompts("dealer_set"):
            floor.step(ev.Answer(prompt.id, prompt.choices[0], DEALER))
        if hand.split:
            self._enter(*(ev.HouseWayAsked(seat, DEALER) for seat in SEATS))

    def _enter(self, *events: ev.Event) -> None:
        for event in events:
            refused = decisions_of(RequestRefused, self.floor.step(event))
            assert not refused, (event, refused)
