"""How a simulated technician returns a machine to service, at a box with fault reports, with hands and a test deck.

Boxes without fault reports require no steps. The cards of the table stay where they are: the technician sends a test
deck through the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulators.world.table import TRAY

if TYPE_CHECKING:
    from simulators.casino.remote_table import RemoteBox
    from simulators.casino.table import CasinoTable

# Place and back of the test deck.
TOOLBOX: Final = "toolbox"
_BACK: Final = "test"
# Limit of steps, including repeated ones.
_MOST: Final = 60
_PACE: Final = 0.5


class TechnicianRepair:
    """One return to service. `run` ends when no step is open, or the limit is reached."""

    def __init__(self, casino: CasinoTable, box: RemoteBox, slot: str) -> None:
        self._casino, self._box, self._slot = casino, box, slot
        self._machine: Any = casino.machines[slot]
        self._cards = casino.edition.cards.count

    async def run(self) -> None:
        """Do the next step until none is open."""
        for _ in range(_MOST):
            procedure = self._casino.controller.table.state.slots[self._slot].return_procedure
            if procedure is None or self._casino.is_box_down:
                break
            await getattr(self, f"_{procedure.next_text.partition(':')[0]}")(procedure.fault_report)
            await self._casino.wait(_PACE)
        self._put_away()

    async def _report(self, _: int) -> None:
        """Wait: the box is still writing the fault report."""

    async def _begin(self, report: int) -> None:
        self._machine.inject("mend")
        await self._box.do_return_step(report, "begin", "tech-1")

    async def _clear(self, _: int) -> None:
        self._empty_intake()
        self._machine.inject("clear_path")
        await self._order("clear_jam")

    async def _path_empty(self, report: int) -> None:
        await self._box.do_return_step(report, "path_empty", "tech-1")

    async def _sensor_test(self, _: int) -> None:
        await self._order("self_test")

    async def _motor_jog(self, report: int) -> None:
        self._empty_intake()
        for motor in (await self._box.do_return_step(report, None, None))["motors"]:
            await self._order("jog", motor=motor)

    async def _one_card(self, _: int) -> None:
        await self._through(1)

    async def _full_deck(self, _: int) -> None:
        await self._through(self._cards)

    async def _count(self, report: int) -> None:
        await self._box.do_return_step(report, "count", "tech-1", cards=self._cards)

    async def _return(self, report: int) -> None:
        await self._box.do_return_step(report, "return", "floor-1")

    # --- the test deck ------------------------------------------------------------------------------------------------

    async def _through(self, cards: int) -> None:
        """Send test cards through the machine, and take them out again."""
        await self._empty()
        world = self._casino.world
        mine = [card for card in world.at(TOOLBOX) if card.back == _BACK]
        if not mine:
            whole = tuple(range(53)) if self._cards == 53 else tuple(range(52)) * (self._cards // 52)
            world.make_deck(TOOLBOX, _BACK, whole)
            mine = world.at(TOOLBOX)
        shuffler = self._slot.startswith("shuffler.")
        into = self._machine.mechanics.intake if shuffler else self._machine.entry
        for card in mine[:cards]:
            world.move(card, into)
        self._machine.firmware.hands_moved()
        if not shuffler:
            await self._order("load")
            await self._order("count_stub")
        elif self._casino.submission.shuffler == "continuous":
            await self._order("count_all")
            await self._order("clear_jam")
        else:
            await self._order("shuffle")
        await self._empty()

    async def _empty(self) -> None:
        """Empty the machine's intake, gate and slot; put test cards back into the toolbox."""
        world = self._casino.world
        if self._slot.startswith("shuffler.") and world.count(self._machine.mechanics.gate):
            await self._order("eject")
        self._put_away()

    def _empty_intake(self) -> None:
        """Put cards that were not drawn in back into the tray."""
        self._move_out(f"{self._slot}/intake")
        self._machine.firmware.hands_moved()

    def _put_away(self) -> None:
        for place in ("intake", "presented", "slot"):
            self._move_out(f"{self._slot}/{place}")
        self._machine.firmware.hands_moved()

    def _move_out(self, place: str) -> None:
        for card in self._casino.world.at(place):
            self._casino.world.move(card, TOOLBOX if card.back == _BACK else TRAY)

    async def _order(self, call: str, **arguments: Any) -> None:
        await self._box.order(self._slot, call, arguments)
