"""The technician of a simulated table: clears, mends, looks behind what sensors see, and has machines test themselves.

Also who reports a machine that does not say by itself what became of its cards. What the box asks for is in `dealer`.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from devices.service import CLEARED, FAULTED, UNVERIFIED
from devices.shuffler.messages import Mode
from firmware_bridge.errors import BadFault, PitboxError
from simulators.house.way_back import Walk
from simulators.world.table import TRAY
from table_controller.table import events as ev
from table_controller.table.machines import COMPLETE, IDLE, READY, REMOVED, SHUFFLED

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from simulators.house.table import House
    from table_controller.table.decisions import Prompt

DEALER: Final = ev.Person("dealer", "dealer-1")
FLOOR: Final = ev.Person("floorperson", "floor-1")
OTHER_FLOOR: Final = ev.Person("floorperson", "floor-2")  # for what two floorpersons do
TECHNICIAN: Final = ev.Person("technician", "tech-1")
QUARANTINE: Final = "quarantine"
# How long people need for anything (s).
PACE: Final = 0.5
# A machine in doubt is left alone for so many looks: mostly it is only read again. As often somebody tries again.
LONG: Final = 60
# A technician's own commands: far above every number that the core gives.
_SERVICE_IDS: Final = 1 << 62


class Technician(ABC):
    """Part of `People`: whoever goes to a machine."""

    def __init__(self, casino: House) -> None:
        self.casino = casino
        self.thorough = False  # who looks into a machine finds what no sensor sees
        self._ids = count(_SERVICE_IDS)
        self._one_technician = asyncio.Lock()
        self._doubted: dict[str, int] = {}  # how often in a row a machine was seen that does not serve for doubt

    @property
    @abstractmethod
    def busy(self) -> bool:
        """Whether somebody is about something."""

    @abstractmethod
    def _go(self, work: Coroutine[Any, Any, None]) -> None:
        """Have somebody go about something."""

    def _cover(self, slot: str) -> None:
        if self.casino.machines[slot].mechanics.lid_on:  # type: ignore[attr-defined]
            return
        self.casino.machines[slot].inject("pick_up")
        self.casino.machines[slot].inject("lid:to=on")

    async def _go_back(self, slot: str) -> None:
        """Go the steps that a box with dossiers asks for before a machine is returned; other houses ask for none."""
        known = self.casino.controller.table.state.slots.get(slot)
        if known is None or known.way is None:
            return
        box: Any = self.casino.box  # one behind a socket: only such a box keeps dossiers
        async with self._one_technician:
            try:
                await Walk(self.casino, box, slot).go()
            except PitboxError as failed:
                self.casino.notes.append(f"{slot}: the technician: {failed.code} {failed}")

    async def _look_at(self, prompt: Prompt) -> None:
        """Whoever says that a machine's path is clear has looked at the machine, and has set right what was wrong."""
        await self._go_back(prompt.slot or "")
        if (prompt.slot or "").startswith("bet_sensor."):  # one that did not do as it was told: what lies on it is seen
            self.casino.machines[prompt.slot or ""].inject("mend")
            self.casino.machines[prompt.slot or ""].inject("take_object")
        if "path_clear" not in prompt.evidence or not (prompt.slot or "").startswith("shuffler."):
            return
        machine: Any = self.casino.machines[prompt.slot or ""]
        machine.inject("mend")
        if machine.firmware.mode is Mode.SORT:
            with suppress(PitboxError):  # one that cannot be told is the technician's
                await self.casino.slots[prompt.slot or ""].driver.set_mode(next(self._ids), Mode.SHUFFLE)

    async def _close_door(self, prompt: Prompt) -> None:
        """A machine gives nothing out while its door is open, nor what it has not drawn in: hands take that back."""
        slot = prompt.slot or "shuffler.1"
        with suppress(BadFault):
            self.casino.machines[slot].inject("door:to=closed")
        self.casino.empty_intake(slot)

    async def _service(self, prompt: Prompt) -> None:
        slot = prompt.slot or ""
        await self._clear(slot, self.casino.machines[slot])

    def mend(self) -> bool:
        """A machine does not serve and no question is open about it: the technician goes there. Tell whether one is."""
        state = self.casino.controller.table.state
        named = {hold.slot for hold in state.holds.values()}
        for name, slot in state.slots.items():
            self._doubted[name] = self._doubted.get(name, 0) + 1 if slot.state == UNVERIFIED else 0
            needs_visit = slot.state in (FAULTED, CLEARED) or self._doubted[name] > LONG
            if slot.kind == "bet_sensor" and state.round.state != IDLE:
                continue  # its latch stands until the round is over
            if self._doubted[name] > LONG and not state.holds and not self.busy and self._report(name, slot.kind):
                self._doubted[name] = 0
                return True
            if needs_visit and name not in named and not self.busy:
                self._doubted[name] = 0
                self._go(self._mend(name))
                return True
        return False

    def _report(self, slot: str, kind: str) -> bool:
        """Say what only people can say of a machine in doubt that has cards inside; tell whether there was something.

        In a round the dealer reports the machine; before it the floorperson orders another shuffle of what lies there.
        """
        state = self.casino.controller.table.state
        inside = [deck for deck in state.decks.values() if deck.place.partition("/")[0] == slot]
        if state.round.state not in (IDLE, COMPLETE) and kind in ("shoe", "shuffler", "shaker"):
            self.casino.controller.submit(ev.Declared(f"{kind}_fault", DEALER, slot=slot))
            return True
        ready = [deck.name for deck in inside if deck.state in (SHUFFLED, READY)]
        if ready:
            self.casino.controller.submit(ev.Ordered("reshuffle", FLOOR, deck=ready[0]))
        return bool(ready)

    async def _mend(self, slot: str) -> None:
        await self._clear(slot, self.casino.machines[slot])
        if not self.casino.dark and self.casino.controller.table.state.slots[slot].state == FAULTED:
            self.casino.controller.submit(ev.SlotOrdered(slot, "clear", TECHNICIAN))
        await self._go_back(slot)
        await self.casino.wait(PACE)
        if self.casino.dark:
            return
        state = self.casino.controller.table.state.slots[slot].state
        if state == CLEARED or (state == UNVERIFIED and self.casino.slots[slot].view.connected):  # it reports once more
            self.casino.controller.submit(ev.SlotOrdered(slot, "acknowledge", FLOOR))

    async def _clear(self, slot: str, machine: Any) -> None:
        """Clear a machine by the book: path, compartments, a look inside, a self-test. One after the other."""
        take_out = "take_deck" if slot.startswith("shuffler.") else "take"
        if not slot.startswith(("shuffler.", "shoe.")):
            await self._repair(slot, machine)
            return
        async with self._one_technician:
            driver = self.casino.slots[slot].driver
            await self._hands_off(machine)
            try:
                machine.inject("mend")
                self._empty_intake(slot, machine)
                machine.inject("clear_path")
                await driver.clear_jam(next(self._ids))
                if slot.startswith("shuffler.") and self.casino.world.count(f"{slot}/gate"):
                    await driver.eject(next(self._ids))
                with suppress(BadFault):  # a manual shoe has no slot to take from
                    machine.inject(take_out)
                self._search(slot)
                machine.inject("clear_path")
                await driver.self_test(next(self._ids))
            except PitboxError as failed:
                self.casino.notes.append(f"{slot}: the technician: {failed.code} {failed}")

    async def _repair(self, slot: str, machine: Any) -> None:
        """Set right a machine that moves no cards, and have it test itself."""
        async with self._one_technician:
            machine.inject("mend")
            try:
                if slot.startswith("bet_sensor."):
                    await self._free_spot(slot, machine)
                elif slot.startswith("shaker."):
                    self._cover(slot)
                await self.casino.slots[slot].driver.self_test(next(self._ids))
            except PitboxError as failed:
                self.casino.notes.append(f"{slot}: the technician: {failed.code} {failed}")

    async def _free_spot(self, slot: str, machine: Any) -> None:
        """Between rounds a sensor is tested on an empty spot, without the latch of the last one."""
        machine.inject("take_object")
        chips = len(self.casino.chips.at(f"{slot}/spot"))
        if chips:
            machine.inject(f"take_bet:chips={chips}")
        latch = machine.firmware.memory.latch
        if latch is not None:
            await self.casino.slots[slot].driver.unlock(next(self._ids), latch.lock_id)

    async def _hands_off(self, machine: Any) -> None:
        """Nobody works at a shoe while a hand draws from it."""
        for _ in range(LONG):
            if not getattr(machine.mechanics, "drawing", False):
                return
            await self.casino.wait(PACE)

    def _search(self, slot: str) -> None:
        """A look behind shelves and well, if somebody looks there: what is found goes to the rest of its deck."""
        if not self.thorough:
            return
        decks = self.casino.controller.table.state.decks
        for card in [*self.casino.world.at(f"{slot}/behind_shelves"), *self.casino.world.at(f"{slot}/behind_well")]:
            gone = card.back not in decks or decks[card.back].state == REMOVED
            self.casino.world.move(card, QUARANTINE if gone else TRAY)

    def _empty_intake(self, slot: str, machine: Any) -> None:
        """What was put in and not drawn in is taken out again, and out of a manual shoe everything."""
        for card in self.casino.world.at(f"{slot}/intake"):
            self.casino.world.move(card, TRAY)
        machine.firmware.hands_moved()
        with suppress(BadFault):  # only a manual shoe has a well that hands reach
            machine.inject("lift")
