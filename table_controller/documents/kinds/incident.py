"""The incident report: one hold, the clauses that rule it, what happened, who acted, and how it ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadDocumentKey
from table_controller.documents.document import Document, DocumentSection, DocumentTable, Fact
from table_controller.documents.entries import answered, person
from table_controller.documents.search import DocumentKind
from table_controller.documents.wording import clause_section, machine, moments_of, place_line
from table_controller.journal import records as rec
from table_controller.panel import labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.documents.entries import Answered, Entry
    from table_controller.documents.moments import Moments
    from table_controller.documents.search import DocumentFacts, Trace

# Most lines of the timeline, so that the report fits one page; the newest ones count more.
_FIRST, _LAST = 8, 18


def _opened(entry: Entry) -> list[dict[str, Any]]:
    return list(entry.decisions("HoldOpened"))


def _visit(trace: Trace, entry: Entry) -> bool:
    """Find the record that opened the hold; the report begins there."""
    selection = trace.selection
    for hold in _opened(entry):
        trace.seen.append(str(hold["hold"]))
        chosen = _number(selection.key) if selection.key else hold["hold"]
        if chosen == hold["hold"] and selection.record in (None, entry.seq):
            trace.anchor, trace.about = _about(entry, hold), hold
            return True
    return False


def _about(entry: Entry, hold: dict[str, Any]) -> Entry:
    """Return the record with this hold as the first that it opened."""
    others = [each for each in entry.body["decisions"] if each != hold]
    return entry._replace(body={**entry.body, "decisions": [hold, *others]})


def _number(key: str) -> int:
    if not key.isdecimal() or len(key) > 16:
        raise BadDocumentKey(f"a hold has a number, not {key!r}")
    return int(key)


def _hold(anchor: Entry) -> dict[str, Any]:
    """Return the hold of the report. Of two in one step the chosen one is the first, or else the cause."""
    return _opened(anchor)[0]


def _is_over(entry: Entry, anchor: Entry) -> bool:
    return _cleared(entry, _hold(anchor)["hold"]) is not None


def _cleared(entry: Entry, hold: int) -> dict[str, Any] | None:
    return next((each for each in entry.decisions("HoldCleared") if each["hold"] == hold), None)


def _build(facts: DocumentFacts) -> Document:
    moments, hold = moments_of(facts), _hold(facts.anchor)
    lines = list(_timeline(facts, hold))
    return Document(
        title="Incident report",
        subject=f"Hold {hold['hold']}, opened at record {facts.anchor.seq}",
        place=place_line(facts),
        sections=(
            DocumentSection("Incident", tuple(_incident(facts, hold, moments))),
            clause_section(facts, hold["clauses"]),
            DocumentSection("Ordered by the rule", sentences=tuple(
                labels.sentence(labels.outcome(each)) + "." for each in hold["outcomes"]
            ) or ("The floorperson decides.",)),
            DocumentSection("Timeline", table=_table(lines, moments)),
            DocumentSection("Outcome", sentences=tuple(_outcome(facts, hold, moments))),
        ),
        signatures=("Floorperson", "Reviewed by"),
        notes=(moments.note,) if moments.note else (),
        head=facts.head,
    )  # fmt: skip


def _incident(facts: DocumentFacts, hold: dict[str, Any], moments: Moments) -> Iterator[Fact]:
    trigger = hold["trigger"]
    yield Fact("What happened", labels.sentence(labels.meaning(trigger) or labels.title(trigger)))
    yield Fact("Since", moments.full(facts.anchor.wall_ns))
    if hold.get("slot"):
        yield Fact("Machine", machine(hold["slot"]))
    if hold.get("deck"):
        yield Fact("Deck", hold["deck"])
    if hold.get("seat") is not None:
        yield Fact("Place", labels.place_name(hold["seat"]).capitalize())
    reporter = facts.anchor.event.get("who")
    yield Fact(
        "Reported by", person(reporter) if reporter else machine(hold["slot"]) if hold.get("slot") else "the box"
    )
    report = _fault_report(facts, hold)
    if hold.get("slot"):
        yield Fact("Fault report", f"{report}; print it with pitbox fault {report}" if report else "none")


def _fault_report(facts: DocumentFacts, hold: dict[str, Any]) -> int:
    """Return the number of the fault report of the hold's machine; 0 if there is none."""
    for entry in facts.entries:
        event = entry.event
        if event.get("type") in ("FaultDiagnosed", "ReturnStepChanged") and event.get("slot") == hold.get("slot"):
            number: int = event.get("fault_report", 0)
            if number:
                return number
    return 0


_Line = tuple["Entry", str, str]


def _timeline(facts: DocumentFacts, hold: dict[str, Any]) -> Iterator[_Line]:
    """Yield what happened to the hold: states of its machine, answers to its questions, escalations, steps."""
    answers = {each.entry.seq: each for each in answered(facts.entries) if each.prompt.get("hold") == hold["hold"]}
    for entry in facts.entries:
        if entry.seq in answers:
            yield entry, _answer_text(answers[entry.seq], hold["trigger"]), person(answers[entry.seq].who)
        elif entry.kind == rec.NOTE and entry.body.get("hold") == hold["hold"]:
            yield entry, labels.sentence(str(entry.body["text"])), "the box"
        elif hold.get("slot") and entry.event.get("slot") == hold["slot"]:
            yield from _of_machine(entry, hold["slot"])
        yield from _ends(entry, hold)


def _ends(entry: Entry, hold: dict[str, Any]) -> Iterator[_Line]:
    """Yield the end of the hold, and a round that became void in the step that opened it."""
    if entry.states("round") == ["void"]:
        yield entry, "The round is void", "the box"
    cleared = _cleared(entry, hold["hold"])
    if cleared is not None:
        who = entry.event.get("who")
        yield entry, "The hold was cleared", person(who) if who else str(cleared["credential"])


def _answer_text(answer: Answered, trigger: str) -> str:
    prompt = answer.prompt
    question = labels.question(
        prompt["kind"], seat=prompt.get("seat"), deck=prompt.get("deck"), slot=prompt.get("slot"), trigger=trigger
    )
    number = "" if answer.number is None else f", {answer.number}"
    return f"{labels.sentence(question)}: {labels.answer(answer.choice)}{number}"


def _of_machine(entry: Entry, slot: str) -> Iterator[_Line]:
    """Yield a change of the machine's service state, and a person's act on it."""
    event = entry.event
    who = person(event["who"]) if event.get("who") else machine(slot)
    if entry.is_refused:
        return
    for state in entry.states(f"slot {slot}"):
        yield entry, f"{machine(slot)}: {labels.service_text(state)}", who
    if event["type"] == "FaultDiagnosed":
        yield entry, f"Fault report {event['fault_report']} stored", "the box"
    for step in entry.decisions("StepCompleted"):
        yield entry, f"Step completed: {step['step'].replace('_', ' ').lower()}", who


def _table(lines: list[_Line], moments: Moments) -> DocumentTable:
    shown: list[_Line | None] = [*lines]
    if len(lines) > _FIRST + _LAST + 1:
        shown = [*lines[:_FIRST], None, *lines[-_LAST:]]
    rows = []
    for line in shown:
        if line is None:
            left = lines[_FIRST:-_LAST]
            what = f"{len(left)} more lines are in records {left[0][0].seq} to {left[-1][0].seq}"
            rows.append((*("…" for _ in moments.columns), "…", what, "…"))
        else:
            entry, what, who = line
            rows.append((*moments.cells(entry.wall_ns), str(entry.seq), what, who))
    return DocumentTable((*moments.columns, "Record", "What", "Who"), tuple(rows))


def _outcome(facts: DocumentFacts, hold: dict[str, Any], moments: Moments) -> Iterator[str]:
    for entry in facts.entries:
        for finding in entry.decisions("Finding"):
            if entry.seq == facts.anchor.seq:
                rounds = f": rounds {', '.join(map(str, finding['rounds']))}" if finding.get("rounds") else ""
                yield labels.sentence(finding["text"]) + rounds + "."
        cleared = _cleared(entry, hold["hold"])
        if cleared is not None:
            who = person(entry.event["who"]) if entry.event.get("who") else str(cleared["credential"])
            yield f"{who} acknowledged and cleared the hold: {moments.full(entry.wall_ns)}, record {entry.seq}."
            return
    yield f"The hold is still open at record {facts.head.record}: a floorperson must clear it."


INCIDENT: Final = DocumentKind(
    name="incident",
    title="Incident report",
    about="the report of a hold: clauses, timeline, people, outcome",
    key="hold",
    key_help="the hold's number in the journal (default: the newest)",
    roles=("floorperson", "auditor"),
    traced=re.compile(rb'"type":"HoldOpened"'),
    used=re.compile(
        rb'"type":"(?:HoldOpened|HoldCleared|Answer|SlotChanged|SlotOrdered|FaultDiagnosed|ReturnStepChanged'
        rb'|EvidenceReported|StepReported|ReturnTaken)"|"hold":\d'
    ),
    visit=_visit,
    is_over=_is_over,
    build=_build,
    titles=lambda entry: [labels.sentence(labels.title(hold["trigger"])) for hold in _opened(entry)],
)
