"""Escalates holds that nobody clears, in the journal and in the log, again and again.

The table stays stopped; the escalation calls the people who should have come.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from table_controller.journal import records as rec
from table_controller.journal.record_text import to_words
from table_controller.table.decisions import HoldCleared, HoldOpened

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.controller import DurableStep
    from table_controller.table.core import Table

log = logging.getLogger(__name__)


class Escalation:
    """`escalation_counts` counts the escalations of each open hold; `first_seen` is when this start saw it (loop time).

    The time that the box was off does not count.
    """

    def __init__(self, after: float, table: Table, note: Callable[[rec.Note], None]) -> None:
        self.escalation_counts: dict[int, int] = {}
        self.first_seen: dict[int, float] = {}
        self._after = after
        self._table = table
        self._note = note
        self._loop = asyncio.get_running_loop()
        self._timers: dict[int, asyncio.TimerHandle] = {}
        for hold in table.state.holds:
            self._watch(hold)

    def on_step(self, step: DurableStep) -> None:
        """Follow new and cleared holds."""
        for decision in step.decisions:
            if isinstance(decision, HoldOpened):
                self._watch(decision.hold)
            elif isinstance(decision, HoldCleared):
                self._forget(decision.hold)

    def _watch(self, hold: int) -> None:
        if hold not in self._timers:
            self.first_seen[hold] = self._loop.time()
            self._timers[hold] = self._loop.call_later(self._after, self._due, hold)

    def _forget(self, hold: int) -> None:
        timer = self._timers.pop(hold, None)
        if timer is not None:
            timer.cancel()
        self.escalation_counts.pop(hold, None)
        self.first_seen.pop(hold, None)

    def _due(self, hold: int) -> None:
        open_hold = self._table.state.holds.get(hold)
        if open_hold is None:
            self._forget(hold)
            return
        self.escalation_counts[hold] = times = self.escalation_counts.get(hold, 0) + 1
        minutes = (self._loop.time() - self.first_seen[hold]) / 60
        who = open_hold.acknowledges
        text = f"irregularity {hold} ({to_words(open_hold.trigger)}) has waited for the {who} for {minutes:.0f} minutes"
        log.error("escalated: %s", text)
        self._note(rec.Note("escalated", f"{text}; escalated {times} times", slot=open_hold.slot, hold=hold))
        self._timers[hold] = self._loop.call_later(self._after, self._due, hold)

    def close(self) -> None:
        """Cancel all timers."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
