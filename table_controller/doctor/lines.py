"""A line of a check-up: what was looked at, how it stands, and what to do next. Looks at nothing itself."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

State = Literal["ok", "warn", "fail"]
OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"
# For scripts: the worst line decides.
EXIT: Final = {OK: 0, WARN: 1, FAIL: 2}


class Line(msgspec.Struct, frozen=True):
    """One finding. Whatever is not ok says what to do."""

    what: str
    state: State
    said: str
    do: str = ""


def worst(lines: list[Line]) -> int:
    """Return the exit code."""
    return max((EXIT[line.state] for line in lines), default=0)
