"""Counters of events at the table since the box started, as Prometheus text.

The box's own metrics have the present state (slots, meters, head of the journal). Counters begin at zero with every
start.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from table_controller.table import state_machines as mc
from table_controller.table.decisions import HoldOpened, RequestRefused, StateChanged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from table_controller.controller.controller import DurableStep

TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_Sample = tuple["Mapping[str, str]", int]


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
    lines: list[str] = []

    def write(name: str, kind: str, meaning: str, samples: Iterable[_Sample]) -> None:
        lines.extend((f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"))
        lines.extend(f"{name}{_labels(labels)} {value}" for labels, value in samples)

    write("pitbox_panels", "gauge", "open pages of the panel", [({}, panels)])
    write("pitbox_steps_total", "counter", "events processed since the box started", [({}, tally.steps)])
    write("pitbox_rounds_total", "counter", "rounds that ended since the box started",
          [({"ended": "complete"}, tally.rounds), ({"ended": "void"}, tally.voided)])  # fmt: skip
    write("pitbox_refusals_total", "counter", "refused requests", [({}, tally.refused)])
    write("pitbox_irregularities_total", "counter", "irregularities by what triggered them",
          [({"trigger": trigger}, number) for trigger, number in sorted(tally.irregularities.items())])  # fmt: skip
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{key}="{_escaped(value)}"' for key, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
