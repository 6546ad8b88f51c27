"""Soak test of a shuffler: cycles with human errors and faults, one deck or two batches in turn.

Every cycle is checked against the simulated world, which knows where every card is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.driver_events import LinkDown
from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.commands import Outcome
from simulators.world.table import IN_PLAY, RAIL, TRAY
from tests.support.machines.card_checks import ask_until_answered, behind_gate, faces_behind_gate, run_command
from tests.support.machines.disturbed_shuffler import DisturbedShuffler

if TYPE_CHECKING:
    from random import Random

    from tests.support.machines.bench import ShufflerTestBench


class ShufflerSoak(DisturbedShuffler):
    """Plays cycles on a bench."""

    def __init__(self, b: ShufflerTestBench, rng: Random, *, identifies: bool) -> None:
        super().__init__(b, rng)
        self.identifies = identifies
        self.whole = sorted(b.machine.size.full_set)
        world = b.machine.world
        # The cards that belong together: those in the machine first, then those in play, if there are two batches.
        self._sets = [{card.id for card in world.at(place)} for place in (b.machine.mechanics.intake, IN_PLAY)]

    def mishaps(self, card: int) -> list[str]:
        """What may happen before a cycle; two batches can mix."""
        words = super().mishaps(card)
        if self._sets[1]:
            words += [
                f"card_migrates:card={card}",
                f"cards_left_inside:count={self.rng.randint(2, 16)},card={card}",
            ] * 2
        return words

    async def play(self) -> None:
        """One cycle with faults, the comparison with the simulated world, and the repair."""
        b, first_event, deck = self.b, len(self.b.events), len(self.whole)
        clean = not self.places_with_cards()
        before, during = self.choose(deck - 3)
        calm = clean and not before and not during and not b.machine.mechanics._pending
        cycles = (await ask_until_answered(b, b.driver.status)).cycles
        command = b.next_id()
        await self.run(b.driver.shuffle(command), during, 27.0 * deck / 53)
        await self.until_idle()
        await self._settle(command, cycles)
        await self.check_idle()
        self._judge(first_event, calm=calm)
        self.figures["cycles"] += 1
        await self._recover()

    async def _settle(self, command: int, cycles: int) -> None:
        """The machine's report of the command is its real outcome, and it was executed at most once."""
        b = self.b
        known = await ask_until_answered(b, lambda: b.driver.outcome(command))
        status = await ask_until_answered(b, b.driver.status)
        assert known.outcome is not Outcome.RUNNING
        assert status.cycles - cycles in (0, 1), "a command was done twice"
        self.figures[f"commands {known.outcome.name.lower()}"] += 1
        if known.outcome is Outcome.DONE:
            assert status.state is m.State.READY
            assert behind_gate(b) > 0
        elif known.outcome in (Outcome.UNKNOWN, Outcome.REFUSED):
            assert status.cycles == cycles
            assert behind_gate(b) == 0

    def _judge(self, first_event: int, *, calm: bool) -> None:
        """A good verdict is given to a good deck only, and always where nothing went wrong."""
        b, deck = self.b, len(self.whole)
        completed = [event for event in b.events[first_event:] if isinstance(event, m.Completed)]
        lost = any(isinstance(event, LinkDown) for event in b.events[first_event:])
        for event in completed:
            assert event.count == behind_gate(b)
            if not verdict(event, deck):
                self.figures["decks found good"] += 1
                faces = faces_behind_gate(b)
                assert len(faces) == deck
                exchanged = bool(self.places_with_cards()) and not self._own_behind_gate()
                assert not self.identifies or faces == self.whole or exchanged
                self.figures["of those with a wrong face, unseen by counting"] += faces != self.whole
                self.figures["of those with a card exchanged inside, unseen"] += exchanged
        if calm and not lost and not self.places_with_cards():
            assert [verdict(event, deck) for event in completed] == [[]], "a false alarm"

    def _own_behind_gate(self) -> bool:
        gate = self.b.machine.world.at(self.b.machine.mechanics.gate)
        return {card.id for card in gate} <= self._sets[0]

    # --- the repair ----------------------------------------------------------------------------------------------

    async def _recover(self) -> None:
        b = self.b
        self.repair()
        await self.empty()
        b.inject("take_deck")
        if (await ask_until_answered(b, b.driver.status)).inside is None and self.rng.random() < 0.8:
            await self.search()
        await run_command(b, lambda command: b.driver.set_mode(command, m.Mode.SHUFFLE))
        self._sort_out()
        if self._sets[1] and self.rng.random() < 0.5:
            b.inject("swap_batches")
            self._sets.reverse()
            self.figures["batches swapped"] += 1
        else:
            b.inject("load")
        await self.back_to_service()
        await self.check_idle()

    def _sort_out(self) -> None:
        """Hands put deck or batches together again from what is outside the machine."""
        world, intake = self.b.machine.world, self.b.machine.mechanics.intake
        own, other = self._sets
        world.torn.clear()
        for place in (RAIL, TRAY, intake):
            for card in world.at(place):
                belongs = TRAY if card.id in own else IN_PLAY if card.id in other else "not of this deck"
                world.move(card, belongs)
