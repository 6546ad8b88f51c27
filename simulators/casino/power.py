"""The power of a simulated table's box, its clocks, and the plan of the shipped box. Machines have their own power.

Bytes that the box wrote before a power cut arrive; nothing is written after it. Time continues.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import CredentialRefused
from firmware_bridge.transport.memory import MemoryTransport
from simulators.casino.device_bench import trust_for
from simulators.casino.disk import PowerCut
from simulators.engine.ports.memory import MemoryPort
from table_controller.access.people_file import PeopleFile
from table_controller.controller.plan import Plan, SlotPlan
from table_controller.journal.table_terms import SiteTerms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware_bridge.handshake import Trust
    from simulators.casino.disk import Disk
    from simulators.engine.machine import SimulatedMachine
    from table_controller.access.people_file import CredentialHolder
    from table_controller.controller.box import Box
    from table_controller.controller.plan import PeopleSource
    from table_controller.host.quota import Origin
    from table_controller.rulebook import Edition, Submission

_NS: Final = 1_000_000_000
# Start of the simulated wall clock, a day in 2031 (ns).
_THE_DAY: Final = 1_925_000_000 * _NS


class SimulatedClock:
    """Clocks in virtual time. `ahead_ns` shifts the wall clock; `kernel` changes with every power cut."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.kernel = "1"
        self.ahead_ns = 0
        self.is_synchronized = True

    def now(self) -> tuple[int, int]:
        """Return wall and monotonic time (ns)."""
        now = round(self._loop.time() * _NS)
        return _THE_DAY + now + self.ahead_ns, now

    def is_clock_synchronized(self) -> bool:
        """Return whether the wall clock is synchronized."""
        return self.is_synchronized


class Mains:
    """The mains power of the box. It can be cut at the n-th write to any device, just before or just after it.

    Writes are counted over all boots. `is_on`: the box has power. A cut ends the running box.
    """

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.writes = 0
        self.cut_at: int | None = None
        self.before = False
        self.is_on = False
        self._is_silent = False  # the last write was sent, and power is cut at once
        self._boots = 0
        self._box: Box | None = None
        self._cables: list[_Cable] = []
        disk.on_cut = self.switch_off

    def switch_on(self, box: Box) -> None:
        """Give power to the next box."""
        self.is_on, self._is_silent, self._box = True, False, box
        self._boots += 1

    def switch_off(self) -> None:
        """Cut the power: the box stops and its cables are closed."""
        if not self.is_on:
            return
        self.is_on = False
        if self._box is not None:
            self._box.lose_power()
        for cable in self._cables:
            cable.close()
        self._cables.clear()

    def cable(self) -> MemoryTransport:
        """Return the box's end of a new cable."""
        cable = _Cable(self)
        self._cables = [each for each in self._cables if not each.closed] + [cable]
        return cable

    def allow_write(self) -> bool:
        """Count one write to a device; return whether it is still sent."""
        if not self.is_on or self._is_silent:
            return False
        self.writes += 1
        if self.writes != self.cut_at:
            return True
        if self.before:
            self.disk.cut()
            return False
        asyncio.get_running_loop().call_soon(self._after, self._boots)
        self._is_silent = True
        return True

    def _after(self, boot: int) -> None:
        if boot == self._boots and self.is_on:
            self.disk.cut()


class _Cable(MemoryTransport):
    """The box's end of a cable: it sends as long as the box has power, and is closed after a cut."""

    def __init__(self, mains: Mains) -> None:
        super().__init__()
        self._mains = mains

    def write(self, data: bytes) -> None:
        if not self.closed and self._mains.allow_write():
            super().write(data)


class NoCredentials:
    """The credentials of a table whose people are all simulated: nobody signs on with a PIN."""

    path = None

    def read(self) -> PeopleFile:
        """Return an empty people file."""
        return PeopleFile({})

    def check(self, id_: str, _pin: str, _place: Origin | str = "") -> CredentialHolder:
        """Refuse every credential."""
        raise CredentialRefused(f"{id_} is not known: this simulated table has no people file")

    def is_known_address(self, _name: str) -> bool:
        """Return False: nobody has signed on."""
        return False

    def stored_id(self, _id: str) -> str | None:
        """Return None: nobody has a credential."""
        return None

    def is_valid(self, _id: str, _role: str, _proof: str = "") -> bool:
        """Return True: simulated people keep their credentials."""
        return True


# What documents of a simulated table print; hand pays from $1,200.00 on are marked.
SIMULATED_SITE: Final = SiteTerms(
    site="Riverside Hall", zone="America/New_York", reporting_cents=120_000,
    makers={"shuffler.1": "Example Gaming", "shoe.1": "Example Gaming"},
)  # fmt: skip


def make_plan(
    edition: Edition,
    submission: Submission,
    machines: Mapping[str, SimulatedMachine],
    mains: Mains,
    *,
    trust: Mapping[str, Trust],
    credentials: PeopleSource,
) -> Plan:
    """Return the plan of a box with these machines, each on a port in memory that depends on mains power."""
    places = tuple(
        SlotPlan(name, machine.kind, MemoryPort(machine, mains.cable).open, trust.get(name) or trust_for(machine), name)
        for name, machine in machines.items()
    )
    return Plan("simulated table", edition, submission, places, credentials, is_development=True, site=SIMULATED_SITE)


__all__ = ["Mains", "NoCredentials", "PowerCut", "SimulatedClock", "make_plan"]
