"""Which choices of a table require a device: the checks that several kinds share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook import Edition, Submission
    from table_controller.table.state import StartName


def why_for_start(start: StartName) -> Callable[[Edition, Submission], str]:
    """Return the reason for a device that finds the starting position."""

    def why_required(rules: Edition, submission: Submission) -> str:
        if submission.start != start:
            return ""
        clause = next(each.clause for each in rules.starts if each.name == start)
        return f'rules.start = "{start}" ({clause})'

    return why_required


def offers_progressive(rules: Edition, submission: Submission) -> bool:
    """Return whether the table offers a progressive."""
    return rules.progressive is not None and rules.progressive.wager in submission.wagers
