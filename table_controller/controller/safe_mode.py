"""Safe mode, for a box whose journal cannot be used: stops and locks every machine that answers.

It runs without core and journal, so nothing that needs a record can happen.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from devices.driver_events import Reported
from devices.service import Service
from firmware_bridge.errors import PitboxError
from table_controller.controller.kinds import CONTROLLER_KINDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from devices.kinds import DriverEvent
    from table_controller.controller.clock import Clock
    from table_controller.controller.slot import AnySlot

# Command ids that no journal has: far above all others; the time (microseconds) makes them different.
EMERGENCY_ID_BASE: Final = 1 << 61


def stop_without_core(slot: AnySlot, round_: int, number: int) -> Awaitable[object] | None:
    """Send the stop or lock of a connected machine without the core; return None if there is nothing to stop."""
    make_safe = CONTROLLER_KINDS[slot.kind.name].make_safe
    if slot.driver.reported is None or make_safe is None:
        return None
    try:
        return make_safe.send(slot.driver, number, round_)
    except PitboxError:
        return None  # its link is down: it starts out of service when it returns


class SafeMode:
    """`cause` is the error that people see; `stopped_slots` are the slots that were made safe."""

    def __init__(self, cause: PitboxError, clock: Clock) -> None:
        self.cause = cause
        self.slots: dict[str, AnySlot] = {}
        self.services: defaultdict[str, Service] = defaultdict(Service)  # service state of each slot
        self.stopped_slots: list[str] = []
        self._next = EMERGENCY_ID_BASE + clock.now()[0] // 1000
        self._tasks: set[asyncio.Future[Any]] = set()

    def device_event_handler(self, name: str) -> Callable[[DriverEvent], None]:
        """Return the function that handles the events of a slot."""
        return lambda event: self._on_device_event(name, event)

    def _on_device_event(self, name: str, event: DriverEvent) -> None:
        slot = self.slots[name]
        self.services[name].apply_report(slot.kind.trigger(event), unsettled=bool(slot.view.unsettled))
        if isinstance(event, Reported):
            self._reported(name, event)

    def _reported(self, name: str, event: Reported) -> None:
        """Stop a device that has reported; lock a sensor that takes bets."""
        slot = self.slots[name]
        make_safe = CONTROLLER_KINDS[slot.kind.name].make_safe
        round_ = None if make_safe is None else make_safe.unsafe_round(event.inventory)
        if round_ is None:
            return
        self._next += 1
        work = stop_without_core(slot, round_, self._next)
        if work is None:
            return
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._made_safe(name, done))

    def _made_safe(self, name: str, done: asyncio.Future[Any]) -> None:
        self._tasks.discard(done)
        if not done.cancelled() and not isinstance(done.exception(), PitboxError):
            done.result()
            self.stopped_slots.append(name)

    async def close(self) -> None:
        """Cancel all commands."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
