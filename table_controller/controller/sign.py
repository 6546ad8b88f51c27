"""Keeps the meter signs at what the ledger says is on disk. Shows amounts; computes none, and moves no cent."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.meter_sign.messages import KIND
from devices.report import Reported
from firmware_bridge.errors import PitboxError
from table_controller.ledger.money import CENT
from table_controller.table import machines as mc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from table_controller.controller.loop import Controller, Step
    from table_controller.controller.slot import Slot

log = logging.getLogger(__name__)

# Amounts are shown again after so long (s), also unchanged: a sign that hears nothing calls itself stale.
AGAIN: Final = 5.0


class Amounts(msgspec.Struct, frozen=True):
    """What a sign shows, in whole cents: what the meter holds beyond them stays in the meter."""

    value: int
    pending: int
    won: int


def amounts(controller: Controller) -> Amounts:
    """Return what a sign must show now: the meter, hits that are not paid yet, and the last one of this round."""
    money = controller.table.state.money
    hits = [hit for hit in money.hits.values() if hit.state != mc.HIT_WITHDRAWN]
    won = hits[-1].amount if hits else 0
    return Amounts(money.book.meters.current // CENT, money.book.meters.pending // CENT, won // CENT)


class Sign:
    """Every meter sign of one table. One order to a sign at a time; when it ends, the newest amounts follow."""

    def __init__(self, controller: Controller, slots: Mapping[str, Slot[Any, Any]], fresh: Callable[[], int]) -> None:
        self._controller = controller
        self._signs = {name: slot for name, slot in slots.items() if slot.kind.name == KIND}
        self._fresh = fresh
        self._shown: dict[str, Amounts] = {}
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._seq = 0
        self._sequence: dict[str, int] = {}  # the last one that each sign was told; it rises with every order
        self._timer: asyncio.TimerHandle | None = None
        if self._signs and controller.table.context.meter is not None:  # without a meter there is nothing to show
            controller.followers.append(self._step)
            self._again()

    def _step(self, step: Step) -> None:
        """Something is on disk: only that is ever shown."""
        self._seq = step.seq
        self._show_all()

    def told(self, slot: str, event: Any) -> None:
        """A sign has reported: whatever it showed before, it is told anew."""
        if slot in self._signs and isinstance(event, Reported):
            self._shown.pop(slot, None)
            self._sequence[slot] = max(self._sequence.get(slot, 0), event.inventory.sequence)
            self._show(slot)

    def _again(self) -> None:
        self._shown.clear()
        self._show_all()
        self._timer = asyncio.get_running_loop().call_later(AGAIN, self._again)

    def _show_all(self) -> None:
        for name in self._signs:
            self._show(name)

    def _show(self, name: str) -> None:
        if not self._seq or name in self._busy or self._controller.halted is not None:
            return
        if name not in self._sequence:
            return  # it has not reported yet: by which number it goes, only it knows
        wanted = amounts(self._controller)
        if self._signs[name].view.connected and self._shown.get(name) != wanted:
            self._busy[name] = asyncio.get_running_loop().create_task(self._order(name, wanted))

    async def _order(self, name: str, wanted: Amounts) -> None:
        self._sequence[name] = sequence = self._sequence.get(name, 0) + 1
        try:
            await self._signs[name].driver.show(self._fresh(), sequence, wanted.value, wanted.pending, wanted.won)
        except PitboxError as error:
            log.warning("%s does not show the meter: %s %s", name, error.code, error)
        else:
            self._shown[name] = wanted
        finally:
            del self._busy[name]
        if self._shown.get(name) == wanted != amounts(self._controller):
            self._show(name)

    def cancel(self) -> None:
        """Show nothing any more; `close` waits until nothing runs."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._busy.values():
            task.cancel()

    async def close(self) -> None:
        """Show nothing any more."""
        self.cancel()
        if tasks := list(self._busy.values()):
            await asyncio.wait(tasks)
