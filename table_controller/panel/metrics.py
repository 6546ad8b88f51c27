"""Counters of events at the table since the box started, as Prometheus text.

The box's own metrics have the present state (slots, meters, head of the journal). Counters begin at zero with every
start.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from table_controller.host.metrics import counter, metric
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HoldOpened, RequestRefused, StateChanged

if TYPE_CHECKING:
    from table_controller.controller.controller import DurableStep


class EventCounters:
    """Counters of events. `seq` is the newest durable step."""

    def __init__(self) -> None:
        self.steps = 0
        self.seq = 0
        self.rounds = 0
        self.voided = 0
        self._ending = ""
        self.refused = 0
        self.irregularities: Counter[str] = Counter()

    def add_step(self, step: DurableStep) -> None:
        """Count a durable step."""
        self.steps += 1
        self.seq = step.seq
        for decision in step.decisions:
            if isinstance(decision, HoldOpened):
                self.irregularities[decision.trigger] += 1
            elif isinstance(decision, RequestRefused):
                self.refused += 1
            elif isinstance(decision, StateChanged) and decision.what == "round":
                self._round(decision.state)

    def _round(self, state: str) -> None:
        """Count a round when its cards are collected; until then a complete round may become void."""
        if state in (mc.COMPLETE, mc.VOID):
            self._ending = state
        elif state == mc.IDLE:
            self.rounds += self._ending == mc.COMPLETE
            self.voided += self._ending == mc.VOID
            self._ending = ""


def counters_text(tally: EventCounters, panels: int) -> str:
    """Return the counters as text; `panels` is the number of open pages."""
    rounds = [(tally.rounds, {"ended": "complete"}), (tally.voided, {"ended": "void"})]
    triggers = [(number, {"trigger": trigger}) for trigger, number in sorted(tally.irregularities.items())]
    lines = (
        *metric("panels", "open pages of the panel", panels),
        *counter("steps_total", "events processed since the box started", tally.steps),
        *counter("rounds_total", "rounds that ended since the box started", rounds),
        *counter("refusals_total", "refused requests", tally.refused),
        *counter("irregularities_total", "irregularities by what triggered them", triggers),
    )
    return "\n".join(lines) + "\n"
