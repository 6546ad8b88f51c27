"""The box of a simulated table as one thing that power can leave: journal, controller, slots. Machines live on.

What the box wrote before the cut arrives; nothing that it would have written after it does. Time goes on.
"""

from __future__ import annotations

import asyncio
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Final

from devices.kinds import kind_named
from firmware_bridge.transport.memory import MemoryTransport
from simulators.hosts.memory import MemoryHost
from simulators.house.disk import DiskWriter, PowerCut
from simulators.house.stand import trust_in
from table_controller.controller.numbers import ServiceNumbers
from table_controller.controller.sign import Sign
from table_controller.controller.slot import Slot
from table_controller.controller.start import start
from table_controller.journal.records import VERSION
from table_controller.journal.versions import digests_of
from table_controller.table.core import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firmware_bridge.handshake import Trust
    from simulators.house.disk import Disk, DiskStore
    from simulators.machine import Machine
    from table_controller.controller.loop import Controller
    from table_controller.rulebook import Edition, Submission
    from table_controller.table import events as ev
    from table_controller.table.decisions import Decision

_NS: Final = 1_000_000_000
# A day in 2031: simulated walls need some clock (ns).
_THE_DAY: Final = 1_925_000_000 * _NS


def _nobody(_: Exception) -> None:
    """The controller takes this over at once."""


class HouseClock:
    """Clocks in virtual time. `ahead_ns` sets the wall clock; `kernel` changes with every power cut."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.kernel = "1"
        self.ahead_ns = 0
        self.right = True

    def now(self) -> tuple[int, int]:
        """Return wall and monotonic time (ns)."""
        now = round(self._loop.time() * _NS)
        return _THE_DAY + now + self.ahead_ns, now

    def synchronised(self) -> bool:
        """Return whether the wall clock is known to be right."""
        return self.right


class Mains:
    """Where power can go: at the n-th write to any wire, just before or just after it. Counts them over all boots."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.writes = 0
        self.cut_at: int | None = None
        self.before = False
        self.box: Box | None = None

    def writing(self, box: Box) -> bool:
        """One write to a wire; tell whether it still goes out."""
        if box is not self.box or not box.powered:
            return False
        self.writes += 1
        if self.writes != self.cut_at:
            return True
        if self.before:
            self.disk.cut()
            return False
        asyncio.get_running_loop().call_soon(self._after, box)
        box.last_words()
        return True

    def _after(self, box: Box) -> None:
        if box is self.box and box.powered:
            self.disk.cut()


class _Cable(MemoryTransport):
    """The box's end of a pipe: it writes as long as the box has power, and is closed once it has none."""

    def __init__(self, box: Box) -> None:
        super().__init__()
        self._box = box
        box.cables.append(self)

    def write(self, data: bytes) -> None:
        box = self._box
        if box.powered and not box.silent and box.mains.writing(box):
            super().write(data)


class Box:
    """One boot of the box. `Box.start` recovers the table from the disk; `powered` says whether it still runs."""

    def __init__(self, mains: Mains) -> None:
        """Use `Box.start`."""
        self.mains = mains
        self.powered = True
        self.silent = False
        self.store: DiskStore
        self.writer: DiskWriter
        self.controller: Controller
        self.sign: Sign
        self.slots: dict[str, Slot[Any, Any]] = {}
        self.cables: list[_Cable] = []

    @classmethod
    def start(
        cls,
        mains: Mains,
        clock: HouseClock,
        edition: Edition,
        submission: Submission,
        machines: Mapping[str, Machine],
        on_step: Callable[[ev.Event, list[Decision]], None],
        listener: Callable[[str, Controller], Callable[[Any], None]],
        *,
        trust: Mapping[str, Trust],
        seed: int,
        snapshot_every: int,
    ) -> Box:
        """Start a box at these machines. PowerCut if the power goes even now; the disk's state is what counts then."""
        box = cls(mains)
        kinds: dict[str, Any] = {slot: machine.kind for slot, machine in machines.items()}
        digests = digests_of(edition, submission, kinds)
        box.store = mains.disk.open(version=VERSION, digests=digests, clocks=clock.now)
        box.writer = DiskWriter(box.store, _nobody)
        mains.box = box
        mains.disk.on_cut = box.power_gone
        table = Table(edition, submission, kinds)
        box.controller = start(table, box.store, box.writer, clock, digests, on_step, snapshot_every=snapshot_every)
        for name, machine in machines.items():
            port = MemoryHost(machine, partial(_Cable, box))
            box.slots[name] = Slot(
                name, kind_named(machine.kind), port.open, trust.get(name) or trust_in(machine),
                listener(name, box.controller), jitter=Random(seed), hold=box.controller.hold,
            )  # fmt: skip
        box.controller.slots = box.slots
        box.sign = Sign(box.controller, box.slots, ServiceNumbers(clock).fresh)
        box.controller.begin()
        return box

    def last_words(self) -> None:
        """The write that is under way is the last one that goes out."""
        self.silent = True

    def power_gone(self) -> None:
        """Nothing of this boot runs any more."""
        self.powered = False
        self.controller.dead()
        self.sign.stop()
        for cable in self.cables:
            cable.close()

    async def bury(self) -> None:
        """Take away what is left of a boot, powered or not."""
        await self.sign.close()
        await self.controller.close()
        for slot in self.slots.values():
            await slot.close()


__all__ = ["Box", "HouseClock", "Mains", "PowerCut"]
