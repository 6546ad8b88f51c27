"""Records what a marked test shows about its clauses: the live core refuses, settles by it, asks, runs, or does not.

`tests/deciding_tests` names one test for each clause and what it shows. The test fails if it shows less, so the
clause table claims no more than the tests show.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tests
from table_controller.table import events as ev
from table_controller.table.core import Table
from table_controller.table.decisions import HoldOpened, Prompt, RequestRefused, WagerSettled

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision, DenialReason

DECIDING_TESTS: Final = Path(tests.__file__).resolve().parent / "deciding_tests"
# The environment variable that names the file to which every marked test appends what it showed.
RECORD: Final = "PITBOX_CLAUSE_RECORD"
# What a test can show about one of its clauses, the strongest first.
REFUSED: Final = "refused"  # the live core refused something, or stopped the table, and cited the clause
SETTLED: Final = "settled"  # the live core settled a wager by known cards, and cited the clause in the result
ASKED: Final = "asked"  # the live core asked a person and cited the clause
DRIVEN: Final = "driven"  # the live core ran in the test, and cited the clause nowhere
COMPUTED: Final = "computed"  # the live core did not run
SHOWN: Final = (REFUSED, SETTLED, ASKED, DRIVEN, COMPUTED)


class ClauseEvidence:
    """What the live core did during one test."""

    def __init__(self) -> None:
        self.driven = False
        self.asked: set[str] = set()
        self.refused: set[str] = set()
        self.settled: set[str] = set()
        self.sentences: list[str] = []

    def see_step(self, table: Table, event: ev.Event, decisions: list[Decision]) -> None:
        """Record the decisions of an event."""
        self.driven = True
        for decision in decisions:
            match decision:
                case Prompt():
                    self.asked.update(decision.clauses)
                case HoldOpened():
                    self.refused.update(decision.clauses)
                case WagerSettled() if decision.result.hand:  # without a hand, the dealer stated it
                    self.settled.update(decision.result.clauses)
                case RequestRefused():
                    self.sentences.append(decision.what)
                    self.see_reasons(decision.reasons)
                    self._see_answer(table, event, decision.what)

    def _see_answer(self, table: Table, event: ev.Event, sentence: str) -> None:
        """Record an answer that was refused for its number or seats, or because the clause requires a floorperson.

        A refusal of a wrong role for a dealer's prompt, or of an unknown choice, is no evidence for a clause.
        """
        prompt = table.state.prompts.get(event.prompt) if isinstance(event, ev.Answer) else None
        if prompt is None or "is not an answer to this question" in sentence:
            return
        if not sentence.endswith(" must answer this") or prompt.role == "floorperson":
            self.refused.update(prompt.clauses)

    def see_reasons(self, reasons: tuple[DenialReason, ...]) -> None:
        """Record the reasons against an act."""
        self.driven = True
        self.refused.update(reason.clause for reason in reasons)

    def shows(self, clause: str) -> str:
        """Return the strongest evidence of this test about a clause."""
        if clause in self.refused or any(cites(sentence, clause) for sentence in self.sentences):
            return REFUSED
        if clause in self.settled:
            return SETTLED
        if clause in self.asked:
            return ASKED
        return DRIVEN if self.driven else COMPUTED


def cites(sentence: str, clause: str) -> bool:
    """Whether a sentence cites a clause, alone or in a list: `(575.7(c), 575.7(e))`."""
    return re.search(rf"(?:\(|, ){re.escape(clause)}(?:\)|, )", sentence) is not None


_watching: list[ClauseEvidence] = []


def watch_core() -> None:
    """Watch every step and every permit of the live core from now on."""
    go_on, permit = Table.advance, Table.permit

    def watched_go_on(self: Table, event: ev.Event) -> list[Decision]:
        decisions = go_on(self, event)
        for evidence in _watching:
            evidence.see_step(self, event, decisions)
        return decisions

    def watched_permit(self: Table, *arguments: Any, **more: Any) -> tuple[DenialReason, ...]:
        reasons = permit(self, *arguments, **more)
        for evidence in _watching:
            evidence.see_reasons(reasons)
        return reasons

    Table.advance = watched_go_on  # type: ignore[method-assign]
    Table.permit = watched_permit  # type: ignore[method-assign]


def begin() -> ClauseEvidence:
    """Begin to watch one test."""
    _watching.append(ClauseEvidence())
    return _watching[-1]


def end(evidence: ClauseEvidence, test: str, clauses: list[str]) -> str | None:
    """End a test: record its evidence on request, or return how it falls short of the claim."""
    _watching.remove(evidence)
    shown = {clause: evidence.shows(clause) for clause in clauses}
    path = os.environ.get(RECORD)
    if path:
        with Path(path).open("a") as file:
            file.write(json.dumps({"test": test, "shown": shown}) + "\n")
        return None
    for clause, what in shown.items():
        claimed = deciding_tests().get(clause, {})
        if claimed.get("test") == test and SHOWN.index(what) > SHOWN.index(claimed["shows"]):
            return (
                f"{clause}: tests/deciding_tests claims {claimed['shows']!r} of this test; it shows {what!r}."
                " Repair the test or the core, or write the claims again: python -m tools.clause_table --record"
            )
    return None


@cache
def deciding_tests() -> dict[str, dict[str, str]]:
    """Return for each clause its deciding test (`test`) and what that test shows (`shows`)."""
    by_clause: dict[str, dict[str, str]] = {}
    for path in sorted(DECIDING_TESTS.glob("*.toml")):
        by_clause |= tomllib.loads(path.read_text())
    return by_clause
