"""Blocks of cards dealt from a manual shoe with random faults, compared with the truth."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.shoe import messages as m
from devices.shoe.state import verdict
from firmware_bridge.errors import BadFault, CommandRefused
from simulators.world.cards import COVER
from simulators.world.table import TRAY
from tests.support.machines.card_checks import ask_until_answered, run_command, until_true
from tests.support.machines.disturbed_machine import DisturbedMachine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from random import Random

    from firmware_bridge.commands import Settled
    from tests.support.machines.shoes import ManualShoe

DECK: Final = 53


class ManualShoeSoak(DisturbedMachine):
    """Plays blocks of cards on a bench."""

    b: ManualShoe

    def __init__(self, b: ManualShoe, rng: Random) -> None:
        super().__init__(b, rng)
        self._drawn = 0  # the truth: cards drawn since the start of the block
        mechanics = b.machine.mechanics
        out = mechanics._out

        def drawn() -> None:
            self._drawn += sum(card.face != COVER for card in mechanics._in_hand)
            out()

        mechanics._out = drawn  # type: ignore[method-assign]

    async def play(self) -> None:
        """Play one block: load, rounds, stub, with faults, and the recovery."""
        b, rng, first_event = self.b, self.rng, len(self.b.events)
        self.figures["blocks"] += 1
        if await self._order(b.driver.load):
            self._drawn = self._doubles = 0
        for _ in range(rng.randint(1, 4)):
            await self._order(b.driver.start_round)
            await self._hands(rng.randint(1, 14))
            if rng.random() < 0.3:
                await self._order(b.driver.stop)
        await self._order(b.driver.count_stub)
        await self._hands(DECK)
        for stub in (event for event in b.events[first_event:] if isinstance(event, m.Stub)):
            if not verdict(stub, DECK):
                self.figures["decks found complete"] += 1
                assert self._drawn == DECK, "cards are missing from a deck that was called complete"
        await self._recover()

    async def _order(self, method: Callable[[int], Awaitable[Settled]]) -> bool:
        try:
            await run_command(self.b, method)
        except CommandRefused:
            self.figures["commands refused"] += 1
            return False
        return True

    async def _hands(self, cards: int) -> None:
        """Draw cards, with a possible fault before or meanwhile; check at random instants."""
        rng = self.rng
        fault = rng.choice(
            [
                f"double_feed:offset={rng.choice([0, 10, 45, 70])}", f"jam:segment={rng.choice(['exit', 'drop'])}",
                "torn_card",
                f"face_up:depth={rng.randint(0, 9)}", f"cover_card:depth={rng.randint(0, 9)}", "lift", "reboot",
                f"power_cut:seconds={rng.randint(1, 5)}", f"unplug:seconds={rng.choice([1, 20])}",
                f"drop:frames={rng.randint(1, 6)}", f"garbage:bytes={rng.choice([1, 9000])}",
            ]
        ) if rng.random() < 0.25 else None  # fmt: skip
        later = fault is not None and rng.random() < 0.5
        if fault is not None and not later:
            self.inject(fault)
        self.inject(f"draw:cards={cards}")
        for _ in range(rng.randint(1, 6)):
            await asyncio.sleep(rng.uniform(0.01, 1.5))
            self.check_firmware()
        if fault is not None and later:
            self.inject(fault)
        machine = self.b.machine
        await until_true(lambda: not machine.mechanics.drawing and not machine.firmware._throat.is_drawing)
        await self.check_idle()

    async def check_idle(self) -> None:
        """Check that view and firmware agree with the truth while no hand draws."""
        await ask_until_answered(self.b, self.b.driver.status)
        self.check_firmware()
        self.compare("drawn", self.b.view.drawn, self._drawn)

    def inject(self, fault: str) -> None:
        """Apply a fault, if possible."""
        self.figures[fault.partition(":")[0]] += 1
        try:
            self.b.inject(fault)
        except BadFault:  # nothing to draw, a card in the throat
            self.figures["faults that could not happen"] += 1

    def check_firmware(self) -> None:
        """Check that the firmware reports the truth or unknown; an undetected pair is the stated limit."""
        machine = self.b.machine
        machine.world.check()
        if not machine.board.alive:
            return
        status = machine.firmware.handle(m.GetStatus())
        assert isinstance(status, m.Status)
        self.compare("drawn", status.drawn, self._drawn)
        if status.left is not None:  # the block was not counted in
            self.compare("left", status.left, machine.mechanics.left())
        self.compare("on the path", status.in_path, machine.mechanics.in_path())

    async def bring_out(self, state: str) -> bool:
        """Empty the shoe by hand and clear it."""
        b = self.b
        b.inject("clear_path")
        b.inject("lift")
        await ask_until_answered(b, b.driver.status)
        if state in ("DEALING", "COUNTING"):
            await self._order(b.driver.stop)
        await self._order(b.driver.clear_jam)
        return True

    async def _recover(self) -> None:
        """Empty the shoe, and load the deck again."""
        b, world = self.b, self.b.machine.world
        b.inject("mend")
        status = await ask_until_answered(b, b.driver.status)
        await self.bring_out(status.state.name)
        self._drawn = self._doubles = 0
        status = await ask_until_answered(b, b.driver.status)
        assert (status.state, status.counts_certain, status.left, status.drawn) == (m.State.IDLE, True, 0, 0)
        world.torn.clear()
        b.inject("gather")
        assert world.playing_cards(TRAY) == DECK
        b.inject("load")
        await self.back_to_service()
        assert b.service.is_in_service
