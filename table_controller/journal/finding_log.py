"""The log of findings that people must be able to look up: built from steps and notes, stored in every snapshot.

Each kind of finding has its own bounded list, so that many refused requests cannot displace a bad deck.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from table_controller.table.decisions import Finding, HoldCleared, HoldOpened, RequestRefused

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from table_controller.journal.records import Note
    from table_controller.table.decisions import Decision

Severity = Literal["important", "notice", "refusal"]
IMPORTANT: Final = "important"
NOTICE: Final = "notice"
REFUSAL: Final = "refusal"
_ORDER: Final[tuple[Severity, ...]] = (IMPORTANT, NOTICE, REFUSAL)
# The newest findings of each kind in this log; the journal has all.
KEPT_PER_KIND: Final = 8
# Findings of normal operation. Every other kind is important, including new kinds.
_ROUTINE: Final = frozenset({
    "abandoned", "deck_expired", "dice_expired", "dice_out_of_turn", "envy_void", "faces_seen", "late_bet",
    "latch_found", "meter_seen", "no_roll", "number_out_of_turn", "odds_seen", "told_twice",
})  # fmt: skip
# Notes that belong to this log; other notes are only in the journal.
_NOTES: Final[dict[str, Severity]] = {
    "people_edited": IMPORTANT, "wrong_pins": IMPORTANT, "died": IMPORTANT, "failed": IMPORTANT, "halted": IMPORTANT,
    "escalated": IMPORTANT, "manifest": IMPORTANT, "people": NOTICE, "enrolled": NOTICE, "begun": NOTICE,
}  # fmt: skip


class LoggedFinding(msgspec.Struct, frozen=True):
    """One finding with its record number and time (wall clock, ns). `hold`: the hold of an open irregularity."""

    seq: int
    wall_ns: int
    what: str  # finding, irregularity, refused, note
    kind: str
    severity: Severity
    text: str
    rounds: tuple[int, ...] = ()
    clauses: tuple[str, ...] = ()
    hold: int | None = None


def findings_in(seq: int, wall_ns: int, decisions: Iterable[Decision]) -> list[LoggedFinding]:
    """Return the findings in the decisions of a step."""
    findings = []
    for decision in decisions:
        match decision:
            case Finding(kind, text, _, rounds):
                severity: Severity = NOTICE if kind in _ROUTINE else IMPORTANT
                findings.append(LoggedFinding(seq, wall_ns, "finding", kind, severity, text, rounds))
            case HoldOpened():
                findings.append(_irregularity(seq, wall_ns, decision))
            case RequestRefused():
                findings.append(_refusal(seq, wall_ns, decision))
    return findings


def _irregularity(seq: int, wall_ns: int, irregularity: HoldOpened) -> LoggedFinding:
    trigger = irregularity.trigger
    text = f"irregularity: {trigger.replace('_', ' ')}"
    return LoggedFinding(
        seq, wall_ns, "irregularity", trigger, IMPORTANT, text, clauses=irregularity.clauses, hold=irregularity.hold
    )  # fmt: skip


def _refusal(seq: int, wall_ns: int, refused: RequestRefused) -> LoggedFinding:
    why = "; ".join(reason.text for reason in refused.reasons)
    text = f"refused: {refused.what.replace('_', ' ')}" + (f": {why}" if why else "")
    clauses = tuple(reason.clause for reason in refused.reasons)
    return LoggedFinding(seq, wall_ns, "refused", "refused", REFUSAL, text, clauses=clauses)


class FindingLog(msgspec.Struct):
    """The newest findings of each kind, the oldest first."""

    kinds: dict[str, list[LoggedFinding]] = {}

    def add_step(self, seq: int, wall_ns: int, decisions: Iterable[Decision]) -> None:
        """Add the findings of one step. A cleared irregularity is no longer important."""
        decisions = list(decisions)
        for finding in findings_in(seq, wall_ns, decisions):
            self._add(finding)
        for decision in decisions:
            if isinstance(decision, HoldCleared):
                self._cleared(decision.hold)

    def add_note(self, seq: int, wall_ns: int, note: Note) -> None:
        """Add a note if its kind belongs to this log."""
        severity = _NOTES.get(note.kind)
        if severity is not None:
            self._add(LoggedFinding(seq, wall_ns, "note", note.kind, severity, note.text))

    def add_older(self, finding: LoggedFinding, open_holds: Container[int]) -> None:
        """Add an older finding that was read from the journal, unless it is in the log."""
        kept = self.kinds.setdefault(_key(finding), [])
        if len(kept) >= KEPT_PER_KIND or any(
            one.seq < finding.seq or (one.seq, one.text) == (finding.seq, finding.text) for one in kept
        ):
            return
        is_over = finding.hold is not None and finding.hold not in open_holds
        kept.insert(0, msgspec.structs.replace(finding, severity=NOTICE, hold=None) if is_over else finding)

    def list_by_severity(self) -> list[LoggedFinding]:
        """Return all findings: the important ones first, and the newest first within a severity."""
        every = [one for kept in self.kinds.values() for one in kept]
        return sorted(every, key=lambda one: (_ORDER.index(one.severity), -one.seq))

    def _add(self, finding: LoggedFinding) -> None:
        kept = self.kinds.setdefault(_key(finding), [])
        kept.append(finding)
        del kept[:-KEPT_PER_KIND]

    def _cleared(self, hold: int) -> None:
        for kept in self.kinds.values():
            kept[:] = [
                msgspec.structs.replace(one, severity=NOTICE, hold=None) if one.hold == hold else one for one in kept
            ]


def _key(finding: LoggedFinding) -> str:
    """Return the key of the list that a finding belongs to."""
    return f"{finding.what}/{finding.kind}"
