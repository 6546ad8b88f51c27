"""The newest fault reports for the technician's page: rule, place, cards, causes, and return to service.

The evidence of a fault is in its report. How far an open return to service is comes from the picture of the table; the
lines stored with a report are read for one that is finished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadFaultReport
from table_controller.cli.render import fault_text
from table_controller.diagnosis import fault_report_store as files
from table_controller.diagnosis.causes import diagnose
from table_controller.panel.labels import STEP_TITLES, with_machine_names
from table_controller.table.return_progress import required_evidence
from table_controller.table.return_steps import RETURNING_ROLE, ReturnStep

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from table_controller.diagnosis.findings import Diagnosis
    from table_controller.table.return_progress import ReturnProgress

# The newest reports are shown; `pitbox fault --list` has them all.
NEWEST: Final = 6
# Steps that a person confirms, and what the person enters; the machine completes all other steps.
CONFIRMED_BY_PERSON: Final = {"path_empty": "word", "count": "number", "return": "word"}


def list_fault_reports(folder: Path, returning: Mapping[int, ReturnProgress]) -> list[dict[str, Any]]:
    """Return the newest fault reports of a folder, newest first; an unreadable one has only an error text.

    `returning`: the open returns to service, by the number of their report.
    """
    return [
        _fault_report(folder, number, returning.get(number)) for number in reversed(files.numbers(folder)[-NEWEST:])
    ]


def _fault_report(folder: Path, number: int, open_: ReturnProgress | None) -> dict[str, Any]:
    try:
        report = files.read(folder, number)
        lines = [] if open_ is not None else files.steps_of(folder, number)
    except BadFaultReport as broken:
        return {"number": number, "slot": "", "title": str(broken), "begun": False, "steps": []}
    diagnosis = diagnose(report)
    progress = fault_text.progress_of(report, diagnosis, open_, lines)
    return {
        "number": number,
        "slot": report.machine.slot,
        "title": with_machine_names(fault_text.heading(report)),
        "rule": list(fault_text.rule_lines(report)),
        "path": fault_text.draw_fault(report, diagnosis),
        "where": list(fault_text.where_lines(diagnosis)),
        "cards": fault_text.cards_line(diagnosis.cards),
        "causes": list(fault_text.cause_lines(diagnosis)),
        "staff": diagnosis.staff,
        "begun": (open_ is not None or bool(lines)) and _is_begun(progress),
        "steps": _steps(progress, diagnosis),
    }


def _is_begun(progress: ReturnProgress) -> bool:
    """Return whether a person has begun: the procedure of a machine fault waits for a technician."""
    return not progress.began.service or bool(progress.technician) or progress.next is None


def _steps(progress: ReturnProgress, diagnosis: Diagnosis) -> list[dict[str, str]]:
    """Return the steps of the return to service, each with its evidence and how it is completed."""
    rows = []
    for step in progress.steps:
        name = step.name.lower()
        state = "done" if step in progress.done else "next" if step is progress.next else "later"
        role = RETURNING_ROLE if step is ReturnStep.RETURN else "floorperson" if diagnosis.staff else "technician"
        rows.append({
            "name": name, "title": STEP_TITLES[name], "text": step.value, "state": state, "role": role,
            "evidence": required_evidence(progress, step), "ticks": CONFIRMED_BY_PERSON.get(name, "itself"),
        })  # fmt: skip
    return rows
