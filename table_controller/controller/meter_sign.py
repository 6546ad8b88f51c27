"""Shows the durable amounts of the meter on the meter signs, and reports to the core which signs show them.

A sign is a device that reads back its display, or the /sign page of the panel that reads back its document. That page
shows the odds as well. What a sign has not confirmed for `STALE_AFTER_S` counts as not shown.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

import msgspec

from devices.driver_events import Reported
from devices.meter_sign.driver import MeterSignDriver
from devices.meter_sign.messages import Stale, Status
from firmware_bridge.errors import PitboxError
from table_controller.controller.lock_window import LockWindow
from table_controller.controller.shown_money import is_public
from table_controller.controller.slot import slots_of
from table_controller.ledger.money import CENT, format_dollars
from table_controller.rulebook.posting.build import build_posting
from table_controller.rulebook.settlement.terms import SettlementTerms
from table_controller.table import events as ev
from table_controller.table.meter_visibility import PAGE
from table_controller.table.view import ODDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from devices.kinds import DriverEvent
    from table_controller.controller.controller import Controller, DurableStep
    from table_controller.controller.slot import AnySlot

log = logging.getLogger(__name__)

# How often the amounts are sent again (s), even unchanged: often enough that one lost command makes no sign stale.
REFRESH_S: Final = 2.0
# A sign that has not confirmed the amount for this time (s) does not show it.
STALE_AFTER_S: Final = 5.0
# How often the age of the confirmations is checked (s).
CHECK_EVERY_S: Final = 1.0
STALE: Final = "stale"


class SignAmounts(msgspec.Struct, frozen=True):
    """The amounts on a sign, in whole cents; fractions of a cent stay in the meter."""

    value: int
    pending: int
    won: int


def sign_amounts(controller: Controller) -> SignAmounts:
    """Return the durable amounts for a sign: the meter, unpaid hits, and the last validated hit of this round."""
    money = controller.shown_money
    assert money is not None, "a table without a meter has no amounts"
    validated = [hit for hit in money.hits if is_public(hit.state)]
    won = validated[-1].amount if validated else 0
    return SignAmounts(money.public.current // CENT, money.public.pending // CENT, won // CENT)


class MeterSigns:
    """All meter signs of one table. Each sign gets one command at a time; when it ends, the newest amounts follow."""

    def __init__(self, controller: Controller, slots: Mapping[str, AnySlot], next_id: Callable[[], int]) -> None:
        self._controller = controller
        self._signs = slots_of(slots, MeterSignDriver)
        self._fresh = next_id
        self._loop = asyncio.get_running_loop()
        self._shown: dict[str, SignAmounts] = {}
        self._confirmed: dict[str, float] = {}  # sign -> when it last confirmed the amount
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._seq = 0
        self._sequence: dict[str, int] = {}  # sign -> its last sequence number; rises with every command
        self._shown_at = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._lock_window = LockWindow()
        context = controller.table.context
        self._posting = build_posting(SettlementTerms(context.edition, context.submission)).number
        self._has_meter = context.meter is not None  # without a meter there are no amounts
        if self._has_meter:
            controller.followers.append(self._step)
        if self._has_meter or context.submission.posted_on_sign:
            self._look()

    def _step(self, step: DurableStep) -> None:
        """Show the amounts of a durable step."""
        self._seq = step.seq
        self._show_all()

    def handle_device_event(self, slot: str, event: DriverEvent) -> None:
        """After a sign has reported or is stale, send it the amounts again."""
        if slot not in self._signs:
            return
        if isinstance(event, Reported):
            self._shown.pop(slot, None)
            assert isinstance(event.inventory, Status)
            self._sequence[slot] = max(self._sequence.get(slot, 0), event.inventory.sequence)
            self._show(slot)
        elif isinstance(event, Stale):
            self._report(slot, STALE)
            self._shown.pop(slot, None)
            self._show(slot)

    def on_page_report(self, text: str, posting: str) -> str:
        """Handle what the /sign page reads in its document: amount and number of the posting; return what is wrong."""
        wrong = []
        if self._has_meter:
            if text == format_dollars(sign_amounts(self._controller).value * CENT):
                self._confirm(PAGE)
            else:
                wrong.append("this is not the amount of the meter")
        if self._controller.table.context.submission.posted_on_sign:
            if posting == self._posting:
                self._confirm(ODDS)
            else:
                wrong.append("this is not the posting of this table")
        return "; ".join(wrong)

    # --- reports to the core ------------------------------------------------------------------------------------------

    def _confirm(self, sign: str) -> None:
        if self._closed:
            return
        self._confirmed[sign] = self._loop.time()
        self._report(sign, "")

    def _report(self, sign: str, cause: str) -> None:
        """Report a change of what a sign shows."""
        if not self._closed and self._controller.table.state.signs.get(sign) != cause:
            self._controller.submit(ev.SignShown(sign, cause))

    def _look(self) -> None:
        """Send the amounts again when it is time, and find stale signs."""
        now = self._loop.time()
        if now - self._shown_at >= REFRESH_S:
            self._shown_at = now
            self._shown.clear()
            self._show_all()
        for sign, confirmed in list(self._confirmed.items()):
            if now - confirmed > STALE_AFTER_S:
                del self._confirmed[sign]
                if not self._controller.table.state.signs.get(sign):
                    self._report(sign, STALE)
        self._timer = self._loop.call_later(CHECK_EVERY_S, self._look)

    # --- commands to the signs ----------------------------------------------------------------------------------------

    def _show_all(self) -> None:
        if not self._has_meter:
            return
        for name in self._signs:
            self._show(name)

    def _show(self, name: str) -> None:
        if not self._seq or name in self._busy or self._closed or self._controller.halted is not None:
            return
        if name not in self._sequence:
            return  # it has not reported yet, so its sequence number is unknown
        if not self._signs[name].view.connected or self._lock_window.is_open(self._controller.table.state):
            return
        required = sign_amounts(self._controller)
        if self._shown.get(name) != required:
            self._busy[name] = self._loop.create_task(self._order(name, required))

    async def _order(self, name: str, required: SignAmounts) -> None:
        self._sequence[name] = sequence = self._sequence.get(name, 0) + 1
        try:
            await self._signs[name].driver.show(self._fresh(), sequence, required.value, required.pending, required.won)
        except PitboxError as error:
            log.warning("%s does not show the meter: %s %s", name, error.code, error)
            failed = error.code
        else:
            self._shown[name] = required
            failed = ""
        finally:
            del self._busy[name]
        if not failed:
            self._confirm(name)
        elif self._signs[name].view.connected:
            self._report(name, failed)
        if self._shown.get(name) == required != sign_amounts(self._controller):
            self._show(name)

    # --- the end ------------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Stop showing and reporting; `close` waits for open commands."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for task in self._busy.values():
            task.cancel()

    async def close(self) -> None:
        """Stop showing and wait for open commands."""
        self.cancel()
        if tasks := list(self._busy.values()):
            await asyncio.wait(tasks)
