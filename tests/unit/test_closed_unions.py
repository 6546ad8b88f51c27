"""mypy finds every place that lacks a case for a new event or a new decision."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

from tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EVENTS: Final = "table_controller/table/events.py"
DECISIONS: Final = "table_controller/table/decisions.py"
# Every place that must have a case for each event, or for each decision.
PLACES: Final = {
    "table_controller/table/core.py": "NewEvent",
    "table_controller/uplink/event_mapping.py": "NewDecision",
    "table_controller/journal/record_text.py": "NewDecision",
}


def with_new_member(file: str, union: str, new: str, folder: Path) -> list[str]:
    """Return the arguments by which mypy reads a copy of a file whose union has one more member."""
    source = (ROOT / file).read_text("utf-8")
    base = "BaseEvent" if file == EVENTS else "BaseDecision"
    begin = f"{union} = (\n"
    assert source.count(begin) == 1
    member = f'class {new}({base}, frozen=True):\n    """A new member."""\n\n\n{begin}    {new} |'
    copy = folder / f"{new}.py"
    copy.write_text(source.replace(begin, member), "utf-8")
    return ["--shadow-file", file, str(copy)]


def test_mypy_names_each_place_that_lacks_a_case(tmp_path: Path) -> None:
    shadows = [
        *with_new_member(EVENTS, "BoxEvent", "NewEvent", tmp_path),
        *with_new_member(DECISIONS, "Decision", "NewDecision", tmp_path),
    ]
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), *shadows, *PLACES]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    assert len(errors) == len(PLACES), checked.stdout + checked.stderr
    for place, new in PLACES.items():
        (error,) = [line for line in errors if line.startswith(place)]
        assert "assert_never" in error
        assert new in error
