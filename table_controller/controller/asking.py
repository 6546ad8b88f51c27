"""What became of commands whose outcome nobody knows: asked of the device when it is back, never sent again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from devices.service import UNVERIFIED
from firmware_bridge.commands import REMEMBERED, Outcome, Settled
from firmware_bridge.errors import PitboxError
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.report import Reported
    from table_controller.controller.slot import Slot
    from table_controller.table.core import Table

_ENDS: Final = {Outcome.DONE: "done", Outcome.FAILED: "failed", Outcome.REFUSED: "failed"}
# A device that is busy, or in doubt for another reason, is read again after so long (s), and then ever more seldom.
ASK_AGAIN: Final = 1.0
SELDOM: Final = 60.0


class Asking:
    """Asks, and hands what it learns to `submit` as the command's one end. A device in doubt is read anew."""

    def __init__(self, table: Table, submit: Callable[[ev.Event], None]) -> None:
        self._table = table
        self._submit = submit
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def look_after(self, slot: Slot[Any, Any]) -> None:
        """Something was heard of a device: if it has reported and does not serve for doubt, see to it."""
        if self._doubtful(slot) and slot.name not in self._tasks:
            task = asyncio.get_running_loop().create_task(self._read(slot))
            self._tasks[slot.name] = task
            task.add_done_callback(lambda _: self._tasks.pop(slot.name, None))

    def _doubtful(self, slot: Slot[Any, Any]) -> bool:
        if slot.driver.reported is None:
            return False
        state = self._table.state
        known = state.slots[slot.name]
        tested = known.way is not None and known.way.testing  # what it says meanwhile is nobody's
        unverified = known.state == UNVERIFIED and not tested
        return unverified or (bool(state.commands) and bool(self._in_doubt(slot.name)))

    def settled(self, told: Settled) -> None:
        """A device told how a command ended: the end of one in doubt, whoever asked."""
        issued = self._table.state.commands.get(told.command)
        if issued is not None and issued.unknown and told.outcome in _ENDS:
            self._submit(ev.CommandEnded(told.command, _ENDS[told.outcome], told.reason))  # type: ignore[arg-type]

    def _in_doubt(self, slot: str) -> list[int]:
        return [id_ for id_, issued in self._table.state.commands.items() if issued.unknown and issued.slot == slot]

    async def _read(self, slot: Slot[Any, Any]) -> None:
        """Ask about what is in doubt and read the device anew, until it serves, or is faulted, or its link falls."""
        wait = ASK_AGAIN
        with suppress(PitboxError):  # the link fell: the next report begins anew
            while self._doubtful(slot):
                await self._ask(slot)
                if not self._in_doubt(slot.name):
                    await slot.driver.report()
                if self._doubtful(slot):
                    await asyncio.sleep(wait)
                    wait = min(2 * wait, SELDOM)

    async def _ask(self, slot: Slot[Any, Any]) -> None:
        for id_ in self._in_doubt(slot.name):
            answer = await slot.driver.outcome(id_)  # the listener is told it too, and that ends the command
            known = slot.driver.reported
            if answer.outcome is Outcome.UNKNOWN and known is not None and never_came(id_, known):
                self._submit(ev.CommandEnded(id_, "revoked"))

    def close(self) -> list[asyncio.Task[None]]:
        """Ask no more; return what is to be waited for."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        return tasks


def never_came(command: int, report: Reported) -> bool:
    """Tell whether a device that does not remember a command certainly never got it.

    It remembers the last ones that it got, and ids only grow: had it come, something older would be forgotten first.
    """
    known = [settled.command for settled in report.report.commands]
    return command not in known and (len(known) < REMEMBERED or min(known) < command)
