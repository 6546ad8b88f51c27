"""Waits until nobody at a simulated table has anything to do, with a look every half second."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from simulators.casino.table import CasinoTable

# Interval between looks (s), and number of looks in a row without work.
LOOK_INTERVAL_S: Final = 0.5
QUIET_LOOKS: Final = 8


class QuiescenceWait:
    """One wait. A round has more than a hundred looks, so most are loop callbacks; the waiting task is woken only for
    the look that may be the last."""

    def __init__(self, casino: CasinoTable, seconds: float) -> None:
        self._casino = casino
        self._looks = round(seconds / LOOK_INTERVAL_S)
        self._quiet = 0
        self._loop = asyncio.get_running_loop()
        self._woken: asyncio.Future[None]
        self._timer: asyncio.Handle | None = None

    async def wait(self) -> None:
        """Return once nobody has anything to do, or the box is down; TimeoutError if that takes too long."""
        try:
            while not self._look():
                self._woken = self._loop.create_future()
                self._wait()
                await self._woken
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def _look(self) -> bool:
        """Start pending work; return whether there is none left."""
        casino = self._casino
        state = casino.controller.table.state
        if not self._looks:
            raise TimeoutError(f"the table does not become idle: {state.prompts}")
        self._looks -= 1
        if casino.is_box_down:
            return True
        casino.load_shuffler()
        asked = casino.is_answer_pending() or state.prompts or state.progressive.state == mc.LOCKING
        busy = casino.people.is_busy or state.commands or asked
        self._quiet = 0 if busy or casino.people.repair_idle_machine() else self._quiet + 1
        return self._quiet > QUIET_LOOKS and not casino.request_reports_again()

    def _wait(self) -> None:
        self._timer = self._loop.call_later(LOOK_INTERVAL_S * self._casino.pace, self._due)

    def _due(self) -> None:
        """Look after all other work of this instant, as a woken task would."""
        if self._quiet < QUIET_LOOKS:
            self._timer = self._loop.call_soon(self._between)
        elif not self._woken.done():
            self._woken.set_result(None)

    def _between(self) -> None:
        """Look when it cannot be the last time; errors and the end of the wait wake the waiting task."""
        if self._woken.done():
            return
        if self._casino.is_box_down or not self._looks:
            self._woken.set_result(None)
            return
        try:
            self._look()
        except Exception as error:  # noqa: BLE001 - raised in the waiting task
            self._woken.set_exception(error)
            return
        self._wait()
