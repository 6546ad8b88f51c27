"""How a simulated technician goes the steps of a fault, at a box that keeps dossiers: machine, hands, and a test deck.

Houses without such a box ask for no steps, and nobody gets here. The cards of the table stay where they are: what is
sent through the machine is the technician's own deck.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulators.world.table import TRAY

if TYPE_CHECKING:
    from simulators.house.far_table import FarBox
    from simulators.house.table import House

# Where the test deck lies, and its back.
TOOLBOX: Final = "toolbox"
_BACK: Final = "test"
# More looks than the whole way has steps, with those that have to be done again.
_MOST: Final = 60
_PACE: Final = 0.5


class Walk:
    """One way back to service. `go` ends when the box holds no step open, or gave up asking."""

    def __init__(self, casino: House, box: FarBox, slot: str) -> None:
        self._casino, self._box, self._slot = casino, box, slot
        self._machine: Any = casino.machines[slot]
        self._cards = casino.edition.cards.count

    async def go(self) -> None:
        """Do whichever step is next, until none is."""
        for _ in range(_MOST):
            procedure = self._casino.controller.table.state.slots[self._slot].way
            if procedure is None or self._casino.dark:
                break
            await getattr(self, f"_{procedure.step.partition(':')[0]}")(procedure.dossier)
            await self._casino.wait(_PACE)
        self._put_away()

    async def _dossier(self, _: int) -> None:
        """The box is still writing."""

    async def _begin(self, dossier: int) -> None:
        self._machine.inject("mend")
        await self._box.step(dossier, "begin", "tech-1")

    async def _clear(self, _: int) -> None:
        self._empty_intake()
        self._machine.inject("clear_path")
        await self._order("clear_jam")

    async def _path_empty(self, dossier: int) -> None:
        await self._box.step(dossier, "path_empty", "tech-1")

    async def _sensor_test(self, _: int) -> None:
        await self._order("self_test")

    async def _motor_jog(self, dossier: int) -> None:
        self._empty_intake()
        for motor in (await self._box.step(dossier, None, None))["motors"]:
            await self._order("jog", motor=motor)

    async def _one_card(self, _: int) -> None:
        await self._through(1)

    async def _full_deck(self, _: int) -> None:
        await self._through(self._cards)

    async def _count(self, dossier: int) -> None:
        await self._box.step(dossier, "count", "tech-1", cards=self._cards)

    async def _return(self, dossier: int) -> None:
        await self._box.step(dossier, "return", "floor-1")

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
        into = self._machine.mechanics.intake if shuffler else self._machine._entry
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
        """Nothing lies in the machine's intake, gate or slot; test cards go back to the toolbox."""
        world = self._casino.world
        if self._slot.startswith("shuffler.") and world.count(self._machine.mechanics.gate):
            await self._order("eject")
        self._put_away()

    def _empty_intake(self) -> None:
        """Cards that were put in and not drawn in lie on the tray again."""
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
