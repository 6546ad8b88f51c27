"""Keeps the meter signs at what the ledger holds on disk, and reports to the core which of them show it.

Shows amounts; computes none, and moves no cent. A sign is a device that reads its own glass, or the panel's page that
reads its own document; what neither has confirmed for `STALE_AFTER` counts as not shown.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.meter_sign.messages import KIND, Stale
from devices.report import Reported
from firmware_bridge.errors import PitboxError
from table_controller.controller.lock_window import LockWindow
from table_controller.ledger.money import CENT, dollars
from table_controller.table import events as ev
from table_controller.table.signs import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from table_controller.controller.loop import Controller, Step
    from table_controller.controller.slot import Slot

log = logging.getLogger(__name__)

# Amounts are shown again after so long (s), also unchanged: often enough that one lost order makes no sign stale.
AGAIN: Final = 2.0
# A sign that has not confirmed the amount for so long (s) does not show it.
STALE_AFTER: Final = 5.0
# How often the age of what was confirmed is looked at (s).
LOOK: Final = 1.0
STALE: Final = "stale"


class Amounts(msgspec.Struct, frozen=True):
    """What a sign shows, in whole cents: what the meter holds beyond them stays in the meter."""

    value: int
    pending: int
    won: int


def amounts(controller: Controller) -> Amounts:
    """Return what a sign must show now: the meter, hits that are not paid yet, and the last final one of this round.

    As they are on disk: the core may be ahead of it.
    """
    money = controller.shown_money
    assert money is not None, "a table without a meter has no amounts"
    final = [hit for hit in money.hits if money.is_final(hit)]
    won = final[-1].amount if final else 0
    return Amounts(money.meters.current // CENT, money.meters.pending // CENT, won // CENT)


class Sign:
    """Every meter sign of one table. One order to a sign at a time; when it ends, the newest amounts follow."""

    def __init__(self, controller: Controller, slots: Mapping[str, Slot[Any, Any]], fresh: Callable[[], int]) -> None:
        self._controller = controller
        self._signs = {name: slot for name, slot in slots.items() if slot.kind.name == KIND}
        self._fresh = fresh
        self._loop = asyncio.get_running_loop()
        self._shown: dict[str, Amounts] = {}
        self._confirmed: dict[str, float] = {}  # when each sign last confirmed the amount
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._seq = 0
        self._sequence: dict[str, int] = {}  # the last one that each sign was given; it rises with every order
        self._shown_at = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._lock_window = LockWindow()
        if controller.table.context.meter is not None:  # without a meter there is nothing to show
            controller.followers.append(self._step)
            self._look()

    def _step(self, step: Step) -> None:
        """Something is on disk: only that is ever shown."""
        self._seq = step.seq
        self._show_all()

    def told(self, slot: str, event: Any) -> None:
        """A sign has reported: whatever it showed before, it is told anew."""
        if slot not in self._signs:
            return
        if isinstance(event, Reported):
            self._shown.pop(slot, None)
            self._sequence[slot] = max(self._sequence.get(slot, 0), event.inventory.sequence)
            self._show(slot)
        elif isinstance(event, Stale):
            self._report(slot, STALE)
            self._shown.pop(slot, None)
            self._show(slot)

    def page_shown(self, text: str) -> bool:
        """The panel's page reports what can be read in its document; return whether that is the amount of the meter."""
        right = text == dollars(amounts(self._controller).value * CENT)
        if right and not self._closed and self._controller.table.context.meter is not None:
            self._confirm(PAGE)
        return right

    # --- what the core hears ------------------------------------------------------------------------------------------

    def _confirm(self, sign: str) -> None:
        self._confirmed[sign] = self._loop.time()
        self._report(sign, "")

    def _report(self, sign: str, cause: str) -> None:
        """Report what a sign shows, where that is news."""
        if not self._closed and self._controller.table.state.signs.get(sign) != cause:
            self._controller.submit(ev.SignShown(sign, cause))

    def _look(self) -> None:
        """Show the amounts again when it is time, and find the signs that have grown stale."""
        now = self._loop.time()
        if now - self._shown_at >= AGAIN:
            self._shown_at = now
            self._shown.clear()
            self._show_all()
        for sign, confirmed in list(self._confirmed.items()):
            if now - confirmed > STALE_AFTER:
                del self._confirmed[sign]
                if not self._controller.table.state.signs.get(sign):
                    self._report(sign, STALE)
        self._timer = self._loop.call_later(LOOK, self._look)

    # --- what the signs are given -------------------------------------------------------------------------------------

    def _show_all(self) -> None:
        for name in self._signs:
            self._show(name)

    def _show(self, name: str) -> None:
        if not self._seq or name in self._busy or self._closed or self._controller.halted is not None:
            return
        if name not in self._sequence:
            return  # it has not reported yet: by which number it goes, only it knows
        if not self._signs[name].view.connected or self._lock_window.is_open(self._controller.table.state):
            return
        wanted = amounts(self._controller)
        if self._shown.get(name) != wanted:
            self._busy[name] = self._loop.create_task(self._order(name, wanted))

    async def _order(self, name: str, wanted: Amounts) -> None:
        self._sequence[name] = sequence = self._sequence.get(name, 0) + 1
        try:
            await self._signs[name].driver.show(self._fresh(), sequence, wanted.value, wanted.pending, wanted.won)
        except PitboxError as error:
            log.warning("%s does not show the meter: %s %s", name, error.code, error)
            failed = error.code
        else:
            self._shown[name] = wanted
            failed = ""
        finally:
            del self._busy[name]
        if not failed:
            self._confirm(name)
        elif self._signs[name].view.connected:
            self._report(name, failed)
        if self._shown.get(name) == wanted != amounts(self._controller):
            self._show(name)

    # --- the end ------------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Show and report nothing from here on; `close` waits until nothing runs."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._busy.values():
            task.cancel()

    async def close(self) -> None:
        """Show nothing any more."""
        self.cancel()
        if tasks := list(self._busy.values()):
            await asyncio.wait(tasks)
