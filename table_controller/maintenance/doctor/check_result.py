"""The result of one check of `pitbox doctor`."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

CheckState = Literal["ok", "warn", "fail"]
OK: Final = "ok"
WARN: Final = "warn"
FAIL: Final = "fail"
# Exit codes for scripts: the worst result decides.
EXIT: Final = {OK: 0, WARN: 1, FAIL: 2}


class CheckResult(msgspec.Struct, frozen=True):
    """One result: what was checked, its state, a text, and what to do if the state is not ok."""

    what: str
    state: CheckState
    text: str
    do: str = ""


def exit_code(lines: list[CheckResult]) -> int:
    """Return the exit code."""
    return max((EXIT[line.state] for line in lines), default=0)
