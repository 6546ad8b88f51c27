"""Counts what happens at the table and writes it as Prometheus text. No clock, no network.

Counters begin at zero with every start of the box, as the format expects; the journal has what was before.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from devices.service import STATES
from table_controller.ledger.money import DOLLAR
from table_controller.table import machines as mc
from table_controller.table.decisions import Found, Moved, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from table_controller.controller.loop import Step
    from table_controller.table.core import Table

TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_Sample = tuple["Mapping[str, str]", "int | str"]


class Tally:
    """What has happened since the box started."""

    def __init__(self) -> None:
        self.steps = 0
        self.seq = 0
        self.rounds = 0
        self.voided = 0
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
                self.rounds += decision.state == mc.COMPLETE
                self.voided += decision.state == mc.VOID


def metrics_text(table: Table | None, tally: Tally, *, halted: bool, panels: int) -> str:
    """Return everything as one text; without a table, what is left to say."""
    lines: list[str] = []

    def write(name: str, kind: str, meaning: str, samples: Iterable[_Sample]) -> None:
        lines.extend((f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"))
        lines.extend(f"{name}{_labels(labels)} {value}" for labels, value in samples)

    write("pitbox_up", "gauge", "1 if the table goes on, 0 if the box is locked", [({}, int(not halted))])
    write("pitbox_panels", "gauge", "pages that follow the table", [({}, panels)])
    write("pitbox_steps_total", "counter", "events taken since the box started", [({}, tally.steps)])
    write("pitbox_journal_seq", "gauge", "number of the newest durable step", [({}, tally.seq)])
    write("pitbox_rounds_total", "counter", "rounds that ended since the box started",
          [({"ended": "complete"}, tally.rounds), ({"ended": "void"}, tally.voided)])  # fmt: skip
    write("pitbox_refusals_total", "counter", "requests that the rules did not allow", [({}, tally.refused)])
    write("pitbox_irregularities_total", "counter", "irregularities by what triggered them",
          [({"trigger": trigger}, number) for trigger, number in sorted(tally.found.items())])  # fmt: skip
    if table is not None:
        state = table.state
        held = Counter(slot.state for slot in state.slots.values())
        write("pitbox_slots", "gauge", "device slots by service state", [({"state": s}, held[s]) for s in STATES])
        write("pitbox_holds", "gauge", "irregularities that are not cleared", [({}, len(state.holds))])
        write("pitbox_prompts", "gauge", "questions that nobody has answered", [({}, len(state.prompts))])
        write("pitbox_round_number", "gauge", "number of the round in hand", [({}, state.round.number)])
        if table.context.progressive:
            meters = state.money.book.meters
            write("pitbox_meter_dollars", "gauge", "what the progressive meter shows", [({}, _exact(meters.current))])
            write("pitbox_meter_pending_dollars", "gauge", "claimed and not paid", [({}, _exact(meters.pending))])
            write("pitbox_meter_paid_dollars_total", "counter", "ever paid", [({}, _exact(meters.cumulative))])
    return "\n".join(lines) + "\n"


def _exact(amount: int) -> str:
    """Return micro-dollars as dollars, digit by digit: no float touches money."""
    whole, rest = divmod(abs(amount), DOLLAR)
    return f"{'-' if amount < 0 else ''}{whole}.{rest:06d}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    said = (f'{key}="{_escaped(value)}"' for key, value in labels.items())
    return "{" + ",".join(said) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
