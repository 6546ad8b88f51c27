"""The newest dossiers as a page shows them: the rule, the place, cards, causes, and the way back. Only reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadDossier
from table_controller.cli import jam_text
from table_controller.diagnosis import steps as st
from table_controller.diagnosis import store as files
from table_controller.diagnosis.causes import diagnose
from table_controller.journal.wording import plain

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.diagnosis.dossier import Dossier
    from table_controller.diagnosis.findings import Diagnosis
    from table_controller.diagnosis.steps import StepEvent

# So many of the newest are shown; `pitbox fault --list` has them all.
NEWEST: Final = 6
# Steps that tick when a person says so, and what is asked of that person; all others tick by what the machine does.
BY_WORD: Final = {"path_empty": "word", "count": "number", "return": "word"}


def dossiers(folder: Path) -> list[dict[str, Any]]:
    """Return the newest dossiers of a folder, the newest first; one that cannot be read says so."""
    return [_dossier(folder, number) for number in reversed(files.numbers(folder)[-NEWEST:])]


def _dossier(folder: Path, number: int) -> dict[str, Any]:
    try:
        dossier, events = files.read(folder, number), files.steps_of(folder, number)
    except BadDossier as broken:
        return {"number": number, "slot": "", "title": str(broken), "begun": False, "steps": []}
    found = diagnose(dossier)
    return {
        "number": number,
        "slot": dossier.machine.slot,
        "title": jam_text.heading(dossier),
        "rule": list(jam_text.rule_lines(dossier)),
        "path": jam_text.drawing(dossier, found),
        "where": list(jam_text.where_lines(found)),
        "cards": jam_text.cards_line(found.cards),
        "causes": list(jam_text.cause_lines(found)),
        "staff": found.staff,
        "begun": _is_begun(st.replay(events)),
        "steps": _steps(dossier, found, events),
    }


def _is_begun(way: st.Way | None) -> bool:
    """Whether somebody goes on with it: that of a fault begins by itself, and waits for a technician."""
    return way is not None and (not way.began.service or bool(way.technician) or way.next is None)


def _steps(dossier: Dossier, found: Diagnosis, events: list[StepEvent]) -> list[dict[str, str]]:
    """Return the steps of the way back, whichever there are, each with its evidence and how it ticks."""
    way = st.replay(events) or st.Way(st.begin_of(dossier, "", service=not found.staff))
    told = []
    for step in way.steps:
        name = step.name.lower()
        state = "done" if step in way.done else "next" if step is way.next else "later"
        role = st.RETURNS if step is st.Step.RETURN else "floorperson" if found.staff else "technician"
        told.append({
            "name": name, "title": plain(name), "text": step.value, "wanted": st.wanted(way, step), "state": state,
            "ticks": BY_WORD.get(name, "itself"), "role": role,
        })  # fmt: skip
    return told
