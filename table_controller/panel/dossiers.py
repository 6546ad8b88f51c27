"""The newest dossiers as a page shows them: the rule, the place, cards, causes, and the way back. Only reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadDossier
from table_controller.cli import jam_text
from table_controller.diagnosis import store as files
from table_controller.diagnosis.causes import diagnose

if TYPE_CHECKING:
    from pathlib import Path

# So many of the newest are shown; `pitbox jam --list` has them all.
NEWEST: Final = 6


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
        "begun": bool(events),
        "steps": list(jam_text.step_lines(dossier, found, events)),
    }
