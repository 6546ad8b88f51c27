"""Waiting until nobody at a simulated table has anything to do: a look around every half second. No hands here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from table_controller.table import machines as mc

if TYPE_CHECKING:
    from simulators.house.table import House

# How often somebody looks around (s), and for how many looks nothing may have been to do.
EVERY: Final = 0.5
QUIET: Final = 8


class Rest:
    """One wait. Somebody looks more than a hundred times a round, and nearly every look only leads to the next one:
    those are callbacks of the loop, and whoever waits is woken for the one that may be the last."""

    def __init__(self, casino: House, seconds: float) -> None:
        self._casino = casino
        self._looks = round(seconds / EVERY)
        self._quiet = 0
        self._loop = asyncio.get_running_loop()
        self._woken: asyncio.Future[None]
        self._timer: asyncio.Handle | None = None

    async def come(self) -> None:
        """Return once nobody has anything to do, or the box has no power; TimeoutError if that takes too long."""
        try:
            while not self._look():
                self._woken = self._loop.create_future()
                self._wait()
                await self._woken
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def _look(self) -> bool:
        """Do what is to be done; tell whether there is nothing more."""
        casino = self._casino
        state = casino.controller.table.state
        if not self._looks:
            raise TimeoutError(f"the table does not come to rest: {state.prompts}")
        self._looks -= 1
        if casino.dark:
            return True
        casino.feed()
        asked = casino.is_awaited() or state.prompts or state.progressive.state == mc.LOCKING
        busy = casino.people.busy or state.commands or asked
        self._quiet = 0 if busy or casino.people.mend() else self._quiet + 1
        return self._quiet > QUIET and not casino.ask_again()

    def _wait(self) -> None:
        self._timer = self._loop.call_later(EVERY * self._casino.pace, self._due)

    def _due(self) -> None:
        """Look after whatever else happens at this instant, as a task that is woken would."""
        if self._quiet < QUIET:
            self._timer = self._loop.call_soon(self._between)
        elif not self._woken.done():
            self._woken.set_result(None)

    def _between(self) -> None:
        """Look, knowing that it is not the last time; what ends the wait all the same is seen by whoever waits."""
        if self._woken.done():
            return
        if self._casino.dark or not self._looks:
            self._woken.set_result(None)
            return
        try:
            self._look()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is whoever's who waits
            self._woken.set_exception(error)
            return
        self._wait()
