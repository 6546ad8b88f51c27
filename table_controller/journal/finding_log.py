"""What people must be able to find again, the important first: made from steps and notes, kept with every snapshot.

Every kind of finding has its own bounded list, so that no number of refused requests can push out a bad deck.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from table_controller.table.decisions import Cleared, Finding, Found, Refused

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from table_controller.journal.records import Note
    from table_controller.table.decisions import Decision

Severity = Literal["important", "notice", "refusal"]
IMPORTANT: Final = "important"
NOTICE: Final = "notice"
REFUSAL: Final = "refusal"
_ORDER: Final[tuple[Severity, ...]] = (IMPORTANT, NOTICE, REFUSAL)
# So many findings of each kind are kept; all of them are in the journal.
KEPT_PER_KIND: Final = 8
# Findings of a table that runs as it should. Every other kind is important, also one that is new.
_ROUTINE: Final = frozenset({
    "abandoned", "deck_expired", "dice_expired", "dice_out_of_turn", "envy_void", "faces_seen", "late_bet",
    "latch_found", "meter_seen", "no_roll", "number_out_of_turn", "told_twice",
})  # fmt: skip
# Notes that people must be able to find again; the others are read in the journal.
_NOTES: Final[dict[str, Severity]] = {
    "people_edited": IMPORTANT, "wrong_pins": IMPORTANT, "died": IMPORTANT, "failed": IMPORTANT, "halted": IMPORTANT,
    "escalated": IMPORTANT, "manifest": IMPORTANT, "people": NOTICE, "enrolled": NOTICE, "begun": NOTICE,
}  # fmt: skip


class LoggedFinding(msgspec.Struct, frozen=True):
    """One finding: its record, when (wall clock, ns), and what it is. `hold`: of an irregularity that is open."""

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
    """Return what a step found."""
    found = []
    for decision in decisions:
        match decision:
            case Finding(kind, text, _, rounds):
                severity: Severity = NOTICE if kind in _ROUTINE else IMPORTANT
                found.append(LoggedFinding(seq, wall_ns, "finding", kind, severity, text, rounds))
            case Found():
                found.append(_irregularity(seq, wall_ns, decision))
            case Refused():
                found.append(_refusal(seq, wall_ns, decision))
    return found


def _irregularity(seq: int, wall_ns: int, found: Found) -> LoggedFinding:
    text = f"irregularity: {found.trigger.replace('_', ' ')}"
    return LoggedFinding(
        seq, wall_ns, "irregularity", found.trigger, IMPORTANT, text, clauses=found.clauses, hold=found.hold
    )  # fmt: skip


def _refusal(seq: int, wall_ns: int, refused: Refused) -> LoggedFinding:
    why = "; ".join(reason.text for reason in refused.reasons)
    text = f"refused: {refused.what.replace('_', ' ')}" + (f": {why}" if why else "")
    clauses = tuple(reason.clause for reason in refused.reasons)
    return LoggedFinding(seq, wall_ns, "refused", "refused", REFUSAL, text, clauses=clauses)


class FindingLog(msgspec.Struct):
    """The newest findings of each kind, the oldest first."""

    kinds: dict[str, list[LoggedFinding]] = {}

    def take(self, seq: int, wall_ns: int, decisions: Iterable[Decision]) -> None:
        """Take what one step decided. An irregularity that is cleared is important no more."""
        decisions = list(decisions)
        for found in findings_in(seq, wall_ns, decisions):
            self._add(found)
        for decision in decisions:
            if isinstance(decision, Cleared):
                self._cleared(decision.hold)

    def take_note(self, seq: int, wall_ns: int, note: Note) -> None:
        """Take a note, if people must be able to find it again."""
        severity = _NOTES.get(note.kind)
        if severity is not None:
            self._add(LoggedFinding(seq, wall_ns, "note", note.kind, severity, note.text))

    def take_older(self, found: LoggedFinding, open_holds: Container[int]) -> None:
        """Take one that was read back from the journal, unless it is here: a journal from before this log has some."""
        kept = self.kinds.setdefault(_key(found), [])
        if len(kept) >= KEPT_PER_KIND or any(
            one.seq < found.seq or (one.seq, one.text) == (found.seq, found.text) for one in kept
        ):
            return
        is_over = found.hold is not None and found.hold not in open_holds
        kept.insert(0, msgspec.structs.replace(found, severity=NOTICE, hold=None) if is_over else found)

    def listed(self) -> list[LoggedFinding]:
        """Return all of them: the important ones first, and of each severity the newest first."""
        every = [one for kept in self.kinds.values() for one in kept]
        return sorted(every, key=lambda one: (_ORDER.index(one.severity), -one.seq))

    def _add(self, found: LoggedFinding) -> None:
        kept = self.kinds.setdefault(_key(found), [])
        kept.append(found)
        del kept[:-KEPT_PER_KIND]

    def _cleared(self, hold: int) -> None:
        for kept in self.kinds.values():
            kept[:] = [
                msgspec.structs.replace(one, severity=NOTICE, hold=None) if one.hold == hold else one for one in kept
            ]


def _key(found: LoggedFinding) -> str:
    """Return the list that a finding belongs to."""
    return f"{found.what}/{found.kind}"
