"""A box whose journal cannot be taken: it stops and locks every machine that answers, says why, and does nothing else.

No core, no journal: nothing that needs a record can happen here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as bet_sensor
from devices.report import Reported
from firmware_bridge.errors import PitboxError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from table_controller.controller.clock import Clock
    from table_controller.controller.slot import Slot

# Numbers that no journal knows: far above all that starts give out, told apart by the time (microseconds).
BARE: Final = 1 << 61
_OPEN: Final = (bet_sensor.State.AWAITING, bet_sensor.State.PLACED)


def bare_stop(slot: Slot[Any, Any], round_: int, number: int) -> Awaitable[Any] | None:
    """Tell a machine that answers to stand still, without any core; None if it has nothing to stop, or is not there."""
    driver, kind = slot.driver, slot.kind.name
    if driver.reported is None:
        return None
    try:
        if kind in ("shuffler", "shoe"):
            return driver.stop(number)  # type: ignore[no-any-return]
        if kind == "shaker":
            return driver.disarm(number)  # type: ignore[no-any-return]
        if kind == bet_sensor.KIND:
            return driver.lock(round_, number)  # type: ignore[no-any-return]
    except PitboxError:
        return None  # its link is down: it is met again as a device that nobody lets serve
    return None


class LockedBox:
    """`cause` is what people are shown, with its code; `stopped` is what was made safe so far."""

    def __init__(self, cause: PitboxError, clock: Clock) -> None:
        self.cause = cause
        self.slots: dict[str, Slot[Any, Any]] = {}
        self.stopped: list[str] = []
        self._next = BARE + clock.now()[0] // 1000
        self._tasks: set[asyncio.Future[Any]] = set()

    def listener(self, name: str) -> Callable[[Any], None]:
        """Return who takes a slot's events: only its reports matter."""
        return lambda event: self._reported(name, event) if isinstance(event, Reported) else None

    def _reported(self, name: str, event: Reported) -> None:
        """A device is there: whatever it does, it is told to stop; a sensor that takes bets is locked."""
        driver, kind = self.slots[name].driver, self.slots[name].kind.name
        self._next += 1
        work: Awaitable[Any]
        if kind in ("shuffler", "shoe"):
            work = driver.stop(self._next)
        elif kind == "shaker":
            work = driver.disarm(self._next)
        elif kind == bet_sensor.KIND and event.inventory.state in _OPEN:
            work = driver.lock(event.inventory.round, self._next)
        else:
            return
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._made_safe(name, done))

    def _made_safe(self, name: str, done: asyncio.Future[Any]) -> None:
        self._tasks.discard(done)
        if not done.cancelled() and not isinstance(done.exception(), PitboxError):
            done.result()
            self.stopped.append(name)

    async def close(self) -> None:
        """Listen no more."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
