"""The technician of a simulated table: clears and repairs machines, searches them, and runs their self-tests.

Also reports machines in doubt that hold cards. `dealer` handles the prompts of the box.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

from devices.service import CLEARED, FAULTED, UNVERIFIED
from devices.shuffler.messages import Mode
from firmware_bridge.errors import BadFault, PitboxError
from simulators.casino.technician_repair import TechnicianRepair
from simulators.world.table import TRAY
from table_controller.table import events as ev
from table_controller.table.state_machines import COMPLETE, IDLE, READY, REMOVED, SHUFFLED

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from devices.bet_sensor.driver import BetSensorDriver
    from devices.kinds import CardPathDriver
    from devices.shuffler.driver import ShufflerDriver
    from simulators.casino.table import CasinoTable
    from table_controller.table.decisions import Prompt

DEALER: Final = ev.Person("dealer", "dealer-1")
FLOOR: Final = ev.Person("floorperson", "floor-1")
OTHER_FLOOR: Final = ev.Person("floorperson", "floor-2")  # for acts that need two floorpersons
TECHNICIAN: Final = ev.Person("technician", "tech-1")
QUARANTINE: Final = "quarantine"
# Time that people need for an action (s).
ACTION_TIME_S: Final = 0.5
# Number of looks before the technician visits an unverified machine, since most recover; also a limit of retries.
MANY_LOOKS: Final = 60
# Ids of a technician's own commands: far above every id of the core.
_SERVICE_IDS: Final = 1 << 62


class Technician(ABC):
    """Part of `SimulatedPeople`: the work at machines."""

    def __init__(self, casino: CasinoTable) -> None:
        self.casino = casino
        self.is_thorough = False  # a search also finds cards that no sensor detects
        self._ids = count(_SERVICE_IDS)
        self._one_technician = asyncio.Lock()
        self._doubted: dict[str, int] = {}  # number of looks in a row in which a machine was unverified

    @property
    @abstractmethod
    def is_busy(self) -> bool:
        """Whether a person is doing something."""

    @abstractmethod
    def _go(self, work: Coroutine[Any, Any, None]) -> None:
        """Start an activity of a person."""

    def _cover(self, slot: str) -> None:
        if self.casino.machines[slot].mechanics.lid_on:  # type: ignore[attr-defined]
            return
        self.casino.machines[slot].inject("pick_up")
        self.casino.machines[slot].inject("lid:to=on")

    async def _go_back(self, slot: str) -> None:
        """Do the return-to-service steps that a box with fault reports requires; other boxes require none."""
        known = self.casino.controller.table.state.slots.get(slot)
        if known is None or known.return_procedure is None:
            return
        box: Any = self.casino.box  # a remote box: only such a box has fault reports
        async with self._one_technician:
            try:
                await TechnicianRepair(self.casino, box, slot).run()
            except PitboxError as failed:
                self.casino.notes.append(f"{slot}: the technician: {failed.code} {failed}")

    async def _look_at(self, prompt: Prompt) -> None:
        """Before an acknowledgment, look at the machine and repair it."""
        await self._go_back(prompt.slot or "")
        if (prompt.slot or "").startswith("bet_sensor."):  # a sensor that failed: repair it and remove foreign objects
            self.casino.machines[prompt.slot or ""].inject("mend")
            self.casino.machines[prompt.slot or ""].inject("take_object")
        if "path_clear" not in prompt.evidence or not (prompt.slot or "").startswith("shuffler."):
            return
        machine: Any = self.casino.machines[prompt.slot or ""]
        machine.inject("mend")
        if machine.firmware.mode is Mode.SORT:
            with suppress(PitboxError):  # an unreachable machine is repaired later
                shuffler = cast("ShufflerDriver", self.casino.slots[prompt.slot or ""].driver)
                await shuffler.set_mode(next(self._ids), Mode.SHUFFLE)

    async def _close_door(self, prompt: Prompt) -> None:
        """Close the door, without which a machine gives nothing out, and take back cards that it has not drawn in."""
        slot = prompt.slot or "shuffler.1"
        with suppress(BadFault):
            self.casino.machines[slot].inject("door:to=closed")
        self.casino.empty_intake(slot)

    async def _service(self, prompt: Prompt) -> None:
        slot = prompt.slot or ""
        await self._clear(slot, self.casino.machines[slot])

    def repair_idle_machine(self) -> bool:
        """Send the technician to a machine that is out of service without an open hold; return whether there is one."""
        state = self.casino.controller.table.state
        named = {hold.slot for hold in state.holds.values()}
        for name, slot in state.slots.items():
            self._doubted[name] = self._doubted.get(name, 0) + 1 if slot.state == UNVERIFIED else 0
            needs_visit = slot.state in (FAULTED, CLEARED) or self._doubted[name] > MANY_LOOKS
            if slot.kind == "bet_sensor" and state.round.state != IDLE:
                continue  # its latch is kept until the round is over
            if (
                self._doubted[name] > MANY_LOOKS
                and not state.holds
                and not self.is_busy
                and self._report(name, slot.kind)
            ):
                self._doubted[name] = 0
                return True
            if needs_visit and name not in named and not self.is_busy:
                self._doubted[name] = 0
                self._go(self._mend(name))
                return True
        return False

    def _report(self, slot: str, kind: str) -> bool:
        """Report an unverified machine that holds cards; return whether there was something to report.

        In a round the dealer reports the machine; before it the floorperson orders another shuffle of its deck.
        """
        state = self.casino.controller.table.state
        inside = [deck for deck in state.decks.values() if deck.place.partition("/")[0] == slot]
        if state.round.state not in (IDLE, COMPLETE) and kind in ("shoe", "shuffler", "shaker"):
            self.casino.controller.submit(ev.IrregularityReported(f"{kind}_fault", DEALER, slot=slot))
            return True
        ready = [deck.name for deck in inside if deck.state in (SHUFFLED, READY)]
        if ready:
            self.casino.controller.submit(ev.Ordered("reshuffle", FLOOR, deck=ready[0]))
        return bool(ready)

    async def _mend(self, slot: str) -> None:
        await self._clear(slot, self.casino.machines[slot])
        if not self.casino.is_box_down and self.casino.controller.table.state.slots[slot].state == FAULTED:
            self.casino.controller.submit(ev.SlotOrdered(slot, "clear", TECHNICIAN))
        await self._go_back(slot)
        await self.casino.wait(ACTION_TIME_S)
        if self.casino.is_box_down:
            return
        state = self.casino.controller.table.state.slots[slot].state
        if state == CLEARED or (state == UNVERIFIED and self.casino.slots[slot].view.connected):  # it reports again
            self.casino.controller.submit(ev.SlotOrdered(slot, "acknowledge", FLOOR))

    async def _clear(self, slot: str, machine: Any) -> None:
        """Clear a machine: path, compartments, search, self-test. One machine at a time."""
        take_out = "take_deck" if slot.startswith("shuffler.") else "take"
        if not slot.startswith(("shuffler.", "shoe.")):
            await self._repair(slot, machine)
            return
        async with self._one_technician:
            driver = cast("CardPathDriver", self.casino.slots[slot].driver)
            await self._hands_off(machine)
            try:
                machine.inject("mend")
                self._empty_intake(slot, machine)
                machine.inject("clear_path")
                await driver.clear_jam(next(self._ids))
                if slot.startswith("shuffler.") and self.casino.world.count(f"{slot}/gate"):
                    await cast("ShufflerDriver", driver).eject(next(self._ids))
                with suppress(BadFault):  # a manual shoe has no slot to take from
                    machine.inject(take_out)
                self._search(slot)
                machine.inject("clear_path")
                await driver.self_test(next(self._ids))
            except PitboxError as failed:
                self.casino.notes.append(f"{slot}: the technician: {failed.code} {failed}")

    async def _repair(self, slot: str, machine: Any) -> None:
        """Repair a machine that moves no cards, and run its self-test."""
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
        """Empty the spot and end its latch, as a self-test between rounds requires."""
        machine.inject("take_object")
        chips = len(self.casino.chips.at(f"{slot}/spot"))
        if chips:
            machine.inject(f"take_bet:chips={chips}")
        latch = machine.firmware.memory.latch
        if latch is not None:
            sensor = cast("BetSensorDriver", self.casino.slots[slot].driver)
            await sensor.unlock(next(self._ids), latch.lock_id)

    async def _hands_off(self, machine: Any) -> None:
        """Wait until no hand draws from a shoe."""
        for _ in range(MANY_LOOKS):
            if not getattr(machine.mechanics, "drawing", False):
                return
            await self.casino.wait(ACTION_TIME_S)

    def _search(self, slot: str) -> None:
        """Search behind shelves and well, if thorough; found cards go to their deck."""
        if not self.is_thorough:
            return
        decks = self.casino.controller.table.state.decks
        for card in [*self.casino.world.at(f"{slot}/behind_shelves"), *self.casino.world.at(f"{slot}/behind_well")]:
            gone = card.back not in decks or decks[card.back].state == REMOVED
            self.casino.world.move(card, QUARANTINE if gone else TRAY)

    def _empty_intake(self, slot: str, machine: Any) -> None:
        """Take out cards that were not drawn in, and all cards of a manual shoe."""
        for card in self.casino.world.at(f"{slot}/intake"):
            self.casino.world.move(card, TRAY)
        machine.firmware.hands_moved()
        with suppress(BadFault):  # only a manual shoe has a well that hands reach
            machine.inject("lift")
