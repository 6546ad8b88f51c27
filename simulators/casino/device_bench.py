"""A device bench: one simulated machine in a real slot, and all events of its driver."""

from __future__ import annotations

import asyncio
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from devices.driver_events import Reported
from devices.kinds import D, DriverEvent, Kind, V
from devices.service import Service
from devices.shuffler.driver import ShufflerDriver
from devices.shuffler.state import ShufflerView
from firmware_bridge.handshake import Trust
from simulators.engine.machine import SimulatedMachine, approved_firmware
from simulators.kinds.shuffler.machine import SimulatedShuffler
from table_controller.controller.slot import Slot

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from firmware_bridge.supervisor import Supervisor
    from firmware_bridge.wire import Capture, Transport

M = TypeVar("M", bound=SimulatedMachine)
_E = TypeVar("_E")


def trust_for(machine: SimulatedMachine) -> Trust:
    """Return the trust of a table that has enrolled this machine."""
    return Trust(machine.kind, {machine.key.serial: machine.key}, frozenset([approved_firmware(machine.kind)]))


class DeviceBench(Generic[M, D, V]):
    """A machine on its bench: `view` is the driver's view, `service` its service state, `machine` the truth."""

    def __init__(
        self,
        machine: M,
        kind: Kind[D, V],
        open_port: Callable[[], Awaitable[Transport]],
        *,
        trust: Trust | None = None,
        capture: Capture | None = None,
        on_event: Callable[[DriverEvent], None] | None = None,
    ) -> None:
        self.machine = machine
        self.events: list[Any] = []
        self.trust = trust or trust_for(machine)
        self.service = Service()
        self.slot = Slot(
            machine.slot,
            kind,
            open_port,
            self.trust,
            self._on_driver_event,
            capture=capture,
            jitter=Random(machine.seed),
        )
        self.driver: D = self.slot.driver
        self._on_event = on_event
        self._ids = count(1)
        self._watchers: list[tuple[Callable[[Any], bool], asyncio.Future[Any]]] = []

    @property
    def view(self) -> V:
        """The view of the machine."""
        return self.slot.view

    @property
    def supervisor(self) -> Supervisor:
        """The supervisor of the link."""
        return self.slot.supervisor

    def _on_driver_event(self, event: DriverEvent) -> None:
        self.service.apply_report(self.slot.kind.trigger(event), unsettled=bool(self.view.unsettled))
        self.events.append(event)
        for fits, future in self._watchers:
            if not future.done() and fits(event):
                future.set_result(event)
        self._watchers = [(fits, future) for fits, future in self._watchers if not future.done()]
        if self._on_event is not None:
            self._on_event(event)

    def next_id(self) -> int:
        """Return a fresh command id."""
        return next(self._ids)

    def inject(self, text: str) -> str:
        """Apply a fault by its name."""
        return self.machine.inject(text)

    def events_of(self, kind: type[_E]) -> list[_E]:
        """Return every event of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, fits: Callable[[Any], bool], seconds: float = 120.0) -> Any:
        """Wait for the next event that fits."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._watchers.append((fits, future))
        async with asyncio.timeout(seconds):
            return await future

    async def until_reported(self) -> Reported:
        """Wait for the next report after a (re)connect."""
        reported: Reported = await self.until(lambda event: isinstance(event, Reported))
        return reported

    async def close(self) -> None:
        """Close the link and switch the machine off; check that every card is in exactly one place."""
        await self.slot.close()
        self.machine.board.power_off()
        self.machine.world.check()


# The bench of most scenarios.
ShufflerBench = DeviceBench[SimulatedShuffler, ShufflerDriver, ShufflerView]
