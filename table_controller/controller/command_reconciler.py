"""Finds the result of commands whose outcome is unknown: asks the device when it is back, never sends them again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from devices.service import UNVERIFIED
from firmware_bridge.commands import REMEMBERED, Outcome, Settled
from firmware_bridge.errors import PitboxError
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.driver_events import Reported
    from table_controller.controller.slot import AnySlot
    from table_controller.table.core import Table

_ENDS: Final = {Outcome.DONE: "done", Outcome.FAILED: "failed", Outcome.REFUSED: "failed"}
# A busy or unverified device is read again after this time (s), which doubles up to the longest.
FIRST_RETRY_S: Final = 1.0
LONGEST_RETRY_S: Final = 60.0


class CommandReconciler:
    """Asks devices for the results of commands and submits each result as the end of its command."""

    def __init__(self, table: Table, submit: Callable[[ev.Event], None]) -> None:
        self._table = table
        self._submit = submit
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def reconcile(self, slot: AnySlot) -> None:
        """After an event of a device: if it has reported but is unverified or has an open command, start to ask it."""
        if self._doubtful(slot) and slot.name not in self._tasks:
            task = asyncio.get_running_loop().create_task(self._read(slot))
            self._tasks[slot.name] = task
            task.add_done_callback(lambda _: self._tasks.pop(slot.name, None))

    def _doubtful(self, slot: AnySlot) -> bool:
        if slot.driver.reported is None:
            return False
        state = self._table.state
        known = state.slots[slot.name]
        unverified = known.state == UNVERIFIED and not known.is_testing  # no report ends a test
        return unverified or (bool(state.commands) and bool(self._in_doubt(slot.name)))

    def on_settled(self, settled: Settled) -> None:
        """Submit the end of a command whose outcome was unknown, now that the device has reported it."""
        issued = self._table.state.commands.get(settled.command)
        if issued is not None and issued.unknown and settled.outcome in _ENDS:
            self._submit(ev.CommandEnded(settled.command, _ENDS[settled.outcome], settled.reason))  # type: ignore[arg-type]

    def _in_doubt(self, slot: str) -> list[int]:
        return [id_ for id_, issued in self._table.state.commands.items() if issued.unknown and issued.slot == slot]

    async def _read(self, slot: AnySlot) -> None:
        """Ask for unknown outcomes and read the device, until it is in service or faulted, or its link fails."""
        wait = FIRST_RETRY_S
        with suppress(PitboxError):  # the link failed: the next report starts this again
            while self._doubtful(slot):
                await self._ask(slot)
                if not self._in_doubt(slot.name):
                    await slot.driver.report()
                if self._doubtful(slot):
                    await asyncio.sleep(wait)
                    wait = min(2 * wait, LONGEST_RETRY_S)

    async def _ask(self, slot: AnySlot) -> None:
        for id_ in self._in_doubt(slot.name):
            answer = await slot.driver.outcome(id_)  # this also arrives as an event, which ends the command
            known = slot.driver.reported
            if answer.outcome is Outcome.UNKNOWN and known is not None and was_never_received(id_, known):
                self._submit(ev.CommandEnded(id_, "revoked"))

    def close(self) -> list[asyncio.Task[None]]:
        """Cancel all questions; return the tasks to wait for."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        return tasks


def was_never_received(command: int, report: Reported) -> bool:
    """Return whether a device that does not remember a command certainly never received it.

    A device remembers its last commands, and ids only grow: it would have forgotten an older command first.
    """
    known = [settled.command for settled in report.report.commands]
    return command not in known and (len(known) < REMEMBERED or min(known) < command)
