"""mypy finds every place that lacks a case for a new event, a new decision or a new request."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from tools import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EVENTS: Final = "table_controller/table/events.py"
DECISIONS: Final = "table_controller/table/decisions.py"
REQUESTS: Final = "table_controller/access/requests.py"
# Every place that must have a case for each event, for each decision, or for each request.
PLACES: Final = {
    "table_controller/table/core.py": "NewEvent",
    "table_controller/uplink/event_mapping.py": "NewDecision",
    "table_controller/journal/record_text.py": "NewDecision",
    "table_controller/access/request_handler.py": "NewSigned",
    "table_controller/access/session.py": "NewQuestion",
}


def with_new_members(file: str, base: str, folder: Path, **unions: str) -> list[str]:
    """Return the arguments by which mypy reads a copy of a file whose unions have one more member each."""
    source = (ROOT / file).read_text("utf-8")
    for new, union in unions.items():
        (begin,) = re.findall(rf"^{union} = (?:\(\n    )?", source, re.MULTILINE)
        member = f'class {new}({base}, frozen=True):\n    """A new member."""\n\n\n{begin}{new} | '
        source = source.replace(begin, member)
    copy = folder / f"new_{file.replace('/', '_')}"
    copy.write_text(source, "utf-8")
    return ["--shadow-file", file, str(copy)]


def test_mypy_names_each_place_that_lacks_a_case(tmp_path: Path) -> None:
    shadows = [
        *with_new_members(EVENTS, "BaseEvent", tmp_path, NewEvent="BoxEvent"),
        *with_new_members(DECISIONS, "BaseDecision", tmp_path, NewDecision="Decision"),
        *with_new_members(REQUESTS, "Request", tmp_path, NewSigned="HandledRequest", NewQuestion="ConnectionRequest"),
    ]
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), *shadows, *PLACES]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    assert len(errors) == len(PLACES), checked.stdout + checked.stderr
    for place, new in PLACES.items():
        (error,) = [line for line in errors if line.startswith(place)]
        assert "assert_never" in error or "_handle_signed" in error
        assert new in error
