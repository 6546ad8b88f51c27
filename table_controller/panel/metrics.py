"""Counts what has happened at the table since the box started, as Prometheus text. No clock, no network.

What *is* (slots, meters, the journal's head) the box's own page says; here is only what happens. Counters begin at zero
with every start, as the format expects; the journal has what was before.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from table_controller.table import machines as mc
from table_controller.table.decisions import Found, Moved, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from table_controller.controller.loop import Step

TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_Sample = tuple["Mapping[str, str]", int]


class Tally:
    """What has happened. `seq` is the newest step that is on disk."""

    def __init__(self) -> None:
        self.steps = 0
        self.seq = 0
        self.rounds = 0
        self.voided = 0
        self._ending = ""
        self.refused = 0
        self.found: Counter[str] = Counter()

    def take(self, step: Step) -> None:
        """Count a step that is on disk."""
        self.steps += 1
        self.seq = step.seq
        for decision in step.decisions:
            if isinstance(decision, Found):
                self.found[decision.trigger] += 1
            elif isinstance(decision, Refused):
                self.refused += 1
            elif isinstance(decision, Moved) and decision.what == "round":
                self._round(decision.state)

    def _round(self, state: str) -> None:
        """Count a round when it is over: until its cards are collected a complete one may still become void."""
        if state in (mc.COMPLETE, mc.VOID):
            self._ending = state
        elif state == mc.IDLE:
            self.rounds += self._ending == mc.COMPLETE
            self.voided += self._ending == mc.VOID
            self._ending = ""


def tally_text(tally: Tally, panels: int) -> str:
    """Return the counters as text; `panels` is how many pages follow the table."""
    lines: list[str] = []

    def write(name: str, kind: str, meaning: str, samples: Iterable[_Sample]) -> None:
        lines.extend((f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"))
        lines.extend(f"{name}{_labels(labels)} {value}" for labels, value in samples)

    write("pitbox_panels", "gauge", "pages that follow the table", [({}, panels)])
    write("pitbox_steps_total", "counter", "events taken since the box started", [({}, tally.steps)])
    write("pitbox_rounds_total", "counter", "rounds that ended since the box started",
          [({"ended": "complete"}, tally.rounds), ({"ended": "void"}, tally.voided)])  # fmt: skip
    write("pitbox_refusals_total", "counter", "requests that the rules did not allow", [({}, tally.refused)])
    write("pitbox_irregularities_total", "counter", "irregularities by what triggered them",
          [({"trigger": trigger}, number) for trigger, number in sorted(tally.found.items())])  # fmt: skip
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{key}="{_escaped(value)}"' for key, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
