"""Measures the settling of six seats in the core: every wager of every game, against the rulebook alone.

A round is recorded: its cards, settings and amounts are entered, and every proposal is confirmed, until the last wager
is settled. A sample restores the table and replays what follows the entries; a second row replays the entries too. The
floor evaluates the same round once with the rulebook, without a table. Processor time, as in `benchmarks.core`.
"""

from __future__ import annotations

import random
from time import process_time
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from benchmarks.budgets import BUDGETS
from benchmarks.rows import BenchmarkRow, arguments, interleave, print_table, print_verdict
from table_controller.rulebook import GAMES
from table_controller.rulebook.cards import JOKER, NOTATION, format_cards
from table_controller.rulebook.settlement.payments import amount_of
from table_controller.rulebook.settlement.round_settlement import settle
from table_controller.table import events as ev
from table_controller.table import settling
from table_controller.table import state_machines as mc
from table_controller.table.decisions import RequestRefused, WagerSettled
from tests.support.box.true_round import all_wagers
from tests.support.core.ideal_table import DEALER, IdealTable, decisions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from table_controller.rulebook.settlement.dealt_round import DealtRound
    from table_controller.table.decisions import Prompt

ROUNDS: Final = 40
SEED: Final = 2
SEATS: Final = (1, 2, 3, 4, 5, 6)
CENTS: Final = 600


class RecordedSettling:
    """The settling of one round with six seats and all wagers: the states before it, its events, the known round."""

    def __init__(self, game: str) -> None:
        self.floor = floor = IdealTable(game, **all_wagers(game, SEED))
        self._rng = random.Random(SEED)
        self._bet()
        self.table = floor.table
        self.before_entries = self.table.snapshot()
        floor.log.clear()
        self._enter_all()
        self.before_settling, entries = self.table.snapshot(), len(floor.log)
        self.played: DealtRound
        self._settle()
        self.all_events = [event for event, _ in floor.log]
        self.events = self.all_events[entries:]
        self.settled = sum(len(decisions_of(WagerSettled, decided)) for _, decided in floor.log)

    def _bet(self) -> None:
        """Play to the settling, with every optional wager at every seat."""
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

    def _enter_all(self) -> None:
        """Enter amounts, cards, settings; where cards are dealt seat by seat, they are entered while settling."""
        floor, hand = self.floor, self.floor.edition.hand
        for wager in floor.edition.wagers:
            if not wager.option:
                cents = 2 * CENTS if wager.amount == "twice_ante" else CENTS
                placed = [seat for seat in SEATS if settling.has_wager(floor.table.context, seat, wager.name)]
                self._enter(*(ev.AmountEntered(wager.name, seat, cents, DEALER) for seat in placed))
        deck = floor.edition.cards
        self._cards = [card for card in range(52) for _ in range(deck.decks)] + [JOKER] * deck.jokers
        self._rng.shuffle(self._cards)
        if hand.second_deal:
            return
        for place in (0, *SEATS) if hand.dealer_hand else SEATS:
            self._enter_hand(place)
        jokers = [place for place, known in floor.round_.hands.items() if place and JOKER in known.cards]
        if jokers and not hand.split:
            replacement = next(card for card in self._cards if card != JOKER)
            self._enter(ev.ReplacementEntered(NOTATION[replacement], DEALER))
        for prompt in floor.prompts("dealer_set"):
            floor.step(ev.Answer(prompt.id, prompt.choices[0], DEALER))
        if hand.split:
            self._enter(*(ev.HouseWayAsked(seat, DEALER) for seat in SEATS))

    def _enter_hand(self, place: int) -> None:
        size = self.floor.edition.hand.cards
        self._enter(ev.HandEntered(place, format_cards(self._cards[:size]), DEALER))
        self._cards = self._cards[size:]

    def _settle(self) -> None:
        """Confirm proposals until every wager is settled."""
        floor = self.floor
        while floor.phase == mc.SETTLING:
            prompt = floor.prompts()[0]
            if len(floor.round_.hands) >= len(SEATS):
                self.played = self._with_amounts(settling.dealt_round(floor.table.context))
            if self._is_unknown(prompt):
                self._enter_hand(prompt.seat or 0)
                continue
            for event in floor.answer(prompt):
                floor.step(event)

    def _with_amounts(self, played: DealtRound) -> DealtRound:
        """Return the known round with the amounts that the paytables fix."""
        terms = self.table.context.terms
        fixed = [
            replace(seat, wagers={name: amount_of(terms, seat, name) for name in seat.wagers}) for seat in played.seats
        ]
        return replace(played, seats=tuple(fixed))

    def _is_unknown(self, prompt: Prompt) -> bool:
        return prompt.kind == "settled" and prompt.seat not in self.floor.round_.hands

    def _enter(self, *events: ev.Event) -> None:
        for event in events:
            refused = decisions_of(RequestRefused, self.floor.step(event))
            assert not refused, (event, refused)

    def replay(self, snapshot: bytes, events: Sequence[ev.Event]) -> Callable[[], Sequence[float]]:
        """Return what replays events from a state; the time is that of all of them."""
        step = self.table.step

        def batch() -> Sequence[float]:
            self.table.restore(snapshot)
            start = process_time()
            for event in events:
                step(event)
            return [process_time() - start]

        return batch

    def evaluate(self) -> Sequence[float]:
        """Settle the known round once by the rulebook."""
        terms = self.table.context.terms
        start = process_time()
        settle(terms, self.played)
        return [process_time() - start]


def main() -> None:
    """Measure, print, judge."""
    rounds = arguments(
        "Settling six seats with all wagers in the core, compared with the rulebook alone.",
        "python -m benchmarks.settling --rounds 100",
        ROUNDS,
    )
    for game in GAMES:
        recorded = RecordedSettling(game)
        settled = BenchmarkRow(
            f"{game}, {len(recorded.events)} events", recorded.replay(recorded.before_settling, recorded.events)
        )
        entered = BenchmarkRow(
            f"{game}, with {len(recorded.all_events) - len(recorded.events)} entries",
            recorded.replay(recorded.before_entries, recorded.all_events),
        )
        rows = [settled, entered, BenchmarkRow(f"{game}, the rulebook alone", recorded.evaluate, "floor")]
        interleave(rows, rounds)
        print_table(f"six seats, {recorded.settled} wagers settled", rows, rows[-1:])
        print_verdict(BUDGETS["settling"], f"{game}: six seats with all wagers", 1000 * settled.percentile(0.5))


if __name__ == "__main__":
    main()
