"""Soak test of an automated shoe: blocks of cards with human errors and faults, checked against the simulated world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.driver_events import LinkDown
from devices.shoe import messages as m
from devices.shoe.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault
from simulators.world.cards import COVER
from simulators.world.table import LAYOUT, RAIL, TRAY
from tests.support.machines.card_checks import ask_until_answered, run_command, until_true
from tests.support.machines.disturbed_machine import DisturbedMachine
from tests.support.machines.shoes import check_reported_cards, in_slot

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from random import Random

    from simulators.world.cards import Card
    from tests.support.machines.shoes import Shoe

DECK: Final = 53


class ShoeSoak(DisturbedMachine):
    """Plays blocks of cards on a device bench."""

    b: Shoe

    def __init__(self, b: Shoe, rng: Random) -> None:
        super().__init__(b, rng)
        self._calm = True  # nothing goes wrong in this block
        self._originals = {card.id for card in b.machine.world.at(b.machine.mechanics.intake)}
        self._laid = 0  # the truth: cards that the machine has laid into the slot in its life
        deliver = b.machine.mechanics._deliver

        def delivered(cards: list[Card]) -> None:
            self._laid += sum(card.face != COVER for card in cards)
            deliver(cards)

        b.machine.mechanics._deliver = delivered  # type: ignore[method-assign]

    async def play(self) -> None:
        """One block: load, stacks, stub, with faults; then the comparison with the simulated world, and the repair."""
        b, rng, first_event = self.b, self.rng, len(self.b.events)
        self._calm = (
            rng.random() < 0.25
            and not self.places_with_cards()
            and (await ask_until_answered(b, b.driver.status)).counts_certain
        )
        b.machine.mechanics._pending.clear()
        size, pairs = b.machine.world.playing_cards(b.machine.mechanics.intake), self._doubles
        await self._step(b.driver.load, 6.0)
        cards = rng.choice([5, 7, rng.randint(1, 10)])
        for _ in range(rng.randint(1, 8)):
            await self._stack(cards)
        b.inject("take")
        await self._step(b.driver.count_stub, 4.0)
        self._judge_block(first_event, size, self._doubles - pairs)
        self.figures["blocks"] += 1
        await self._recover()

    async def _stack(self, cards: int) -> None:
        """Order a stack and compare what is reported of it with what came out."""
        b, first_event = self.b, len(self.b.events)
        before, pairs = self._laid, self._doubles
        await self._step(lambda command: b.driver.dispense(command, cards), 1.5)
        came = self._laid - before
        unseen = self._doubles - pairs
        for event in b.events[first_event:]:
            if isinstance(event, m.Dispensed) and not verdict(event, cards):
                self.figures["stacks found right"] += 1
                self.figures["of those with a pair that no sensor could see"] += came != cards
                assert cards <= came <= cards + unseen, f"a stack of {came} cards was called a stack of {cards}"
        if self.rng.random() < 0.9:
            b.inject(self.rng.choice(["take", "take", "take:cards=2"]) if not self._calm else "take")

    def _out(self) -> int:
        """The truth: cards that have come out of the machine and are not back in the tray."""
        return in_slot(self.b) + self.b.machine.world.playing_cards(LAYOUT)

    # --- one command, and what happens meanwhile -----------------------------------------------------------------

    async def _step(self, method: Callable[[int], Awaitable[Any]], seconds: float) -> None:
        b, rng = self.b, self.rng
        wrong = not self._calm and rng.random() < 0.3
        during = self._something() if wrong else None
        command, stacks = b.next_id(), b.machine.firmware._stacks
        await self.run(method(command), [during] if during else [], seconds, pause=seconds / 6)
        await self.until_idle()
        known = await ask_until_answered(b, lambda: b.driver.outcome(command))
        assert known.outcome is not Outcome.RUNNING
        assert b.machine.firmware._stacks - stacks in (0, 1), "a stack was dispensed twice"
        self.figures[f"commands {known.outcome.name.lower()}"] += 1
        b.inject("door:to=closed")
        await self.check_idle()

    def _something(self) -> str | None:
        """Draw a fault: what concerns cards and mechanics happens now, the rest is returned to happen later."""
        rng, card = self.rng, self.rng.randint(0, 9)
        segment = rng.choice(["feed", "store", "draw", "exit", "drop"])
        sensed = rng.choice(["feed", "draw", "exit"])
        now = [
            f"jam:segment={segment},card={card}", f"torn_card:segment={sensed},card={card}",
            f"double_feed:segment={rng.choice(['feed', 'draw'])},card={card},offset={rng.choice([0, 10, 30, 60])}",
            f"card_left_inside:card={rng.randint(1, 50)}", f"wear:segment={sensed},percent={rng.choice([10, 20, 300])}",
            f"dust:sensor={sensed},percent={rng.choice([10, 30, 60])}", "missing_card", "foreign_card",
            f"face_up:depth={rng.randint(0, 40)}", f"cover_card:depth={rng.randint(0, 50)}",
            f"withhold:message={rng.choice(['Load', 'Dispense', 'CountStub'])}", f"draw:cards={rng.randint(1, 3)}",
        ]  # fmt: skip
        later = [*self.disturbances(), "take", "draw:cards=2"]
        fault = rng.choice(now + later)
        self.figures[fault.partition(":")[0]] += 1
        if fault in later:
            return fault
        self.inject(fault)
        return None

    def inject(self, fault: str) -> None:
        """Let a fault happen, if it can."""
        try:
            self.b.inject(fault)
        except BadFault:  # no deck in reach, a card in the throat: it could not have happened
            self.figures["faults that could not happen"] += 1

    # --- what must be true -------------------------------------------------------------------------------------

    def check_firmware(self) -> None:
        """The firmware's counts are the truth or unknown at every instant; an unseen pair is the stated limit."""
        machine = self.b.machine
        machine.world.check()
        if not machine.board.alive:
            return
        status = machine.firmware.handle(m.GetStatus())
        assert isinstance(status, m.Status)
        mechanics = machine.mechanics
        self.compare("left", status.left, mechanics.left())
        self.compare("on the path", status.in_path, mechanics.in_path())
        self.compare("laid into the slot", status.delivered, mechanics.delivered)

    async def check_idle(self) -> None:
        """With nothing moving, view and firmware agree with the world."""
        b, mechanics = self.b, self.b.machine.mechanics
        await self._hands_off()
        await ask_until_answered(b, b.driver.status)  # reports sent earlier have arrived now
        self.check_firmware()
        self.compare("left", b.view.left, mechanics.left())
        self.compare("on the path", b.view.in_path, mechanics.in_path())
        if not self._doubles:
            await check_reported_cards(b)
        if b.service.is_in_service:
            assert not b.view.unsettled
            assert b.view.state in (m.State.IDLE, m.State.READY)
            assert self._doubles or (b.view.counts_certain and mechanics.in_path() == 0)

    async def _hands_off(self) -> None:
        """Wait until hands have finished what they began, or the firmware has given up waiting for it."""
        machine = self.b.machine
        await until_true(lambda: not machine.mechanics.drawing and not machine.firmware._throat.is_drawing)

    def _judge_block(self, first_event: int, size: int, unseen: int) -> None:
        """A block is called complete only if every card of it is out, and always where nothing went wrong."""
        b, events = self.b, self.b.events[first_event:]
        loaded = [event for event in events if isinstance(event, m.Loaded)]
        stubs = [event for event in events if isinstance(event, m.Stub)]
        amiss = [
            event for event in events if isinstance(event, m.Unbalanced | m.Jam | m.Fault | m.Stopped | m.ShortStack)
        ]
        for stub in stubs:
            if not verdict(stub, DECK) and not amiss:
                self.figures["decks found complete"] += 1
                assert self._out() == DECK, "cards are missing from a deck that was called complete"
                assert not unseen, "a pair that went as one was found by nobody"
                assert b.machine.mechanics.left() == b.machine.mechanics.in_path() == 0
        if self._calm and not any(isinstance(event, LinkDown) for event in events):
            assert not amiss, "a false alarm"
            assert [event.count for event in loaded] == [size]
            assert [event.drawn for event in stubs] in ([size], [])

    # --- the repair ----------------------------------------------------------------------------------------------

    async def _recover(self) -> None:
        b, world = self.b, self.b.machine.world
        b.inject("mend")
        b.inject("door:to=closed")
        await self.empty()
        if not (await ask_until_answered(b, b.driver.status)).counts_certain and self.rng.random() < 0.8:
            await self.search()
        b.inject("gather")
        world.torn.clear()
        world.face_up.clear()
        for place in (RAIL, TRAY, b.machine.mechanics.intake):
            for card in world.at(place):
                world.move(card, TRAY if card.id in self._originals else "not of this deck")
        b.inject("load")
        await self.back_to_service()
        await self.check_idle()

    async def bring_out(self, state: str) -> bool:
        """Take the cards in the slot; clear an interrupted machine; have the rest delivered."""
        b = self.b
        await self._hands_off()
        b.inject("take")
        if state in ("HALTED", "DOUBTFUL"):
            if self.rng.random() < 0.8:  # else somebody is in a hurry
                b.inject("clear_path")
            await run_command(b, b.driver.clear_jam)
        elif state == "READY":
            await run_command(b, self.rng.choice([b.driver.count_stub, b.driver.clear_jam]))
        else:
            return True
        return False

    async def search(self) -> m.Status:
        """A technician opens the empty machine, and afterwards nothing is inside."""
        status: m.Status = await super().search()
        assert (status.counts_certain, status.left) == (True, 0)
        assert self.b.machine.mechanics.left() == self.b.machine.mechanics.in_path() == 0
        self._doubles = 0
        return status
