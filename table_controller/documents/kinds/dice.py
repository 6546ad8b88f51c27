"""The dice inspection: who put dice into the shaker or confirmed them, why, and when they must leave the table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from table_controller.documents.document import Document, DocumentSection, Fact
from table_controller.documents.entries import answered, person
from table_controller.documents.moments import duration
from table_controller.documents.search import DocumentKind
from table_controller.documents.wording import NOT_RECORDED, clause_section, machine, moments_of, place_line
from table_controller.table.starting_position import DICE_TIMER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.documents.entries import Answered, Entry
    from table_controller.documents.moments import Moments
    from table_controller.documents.search import DocumentFacts, Trace

_NS: Final = 1_000_000_000
_RESULTS: Final = {"replaced": "new dice were put in", "same": "the same dice stay in use"}


def _is_answer(entry: Entry) -> bool:
    """Whether a step may be an accepted answer about dice; its prompt is in an older record."""
    return entry.event.get("type") == "Answer" and entry.event["choice"] in _RESULTS and not entry.is_refused


def _visit(trace: Trace, entry: Entry) -> bool:
    """Find the answer, then its prompt, then the inspection before it."""
    if trace.anchor is None:
        if _is_answer(entry):
            trace.seen.append(str(entry.seq))
            chosen = trace.selection.record in (None, entry.seq) and trace.selection.key in ("", str(entry.seq))
            trace.anchor = entry if chosen else None
        return False
    if any(each["id"] == trace.anchor.event["prompt"] for each in entry.decisions("Prompt")):
        trace.about["asked"] = True
        return trace.anchor.event["choice"] == "replaced" and entry.event.get("type") == "BoxStarted"
    return bool(trace.about.get("asked")) and _is_answer(entry)


def _build(facts: DocumentFacts) -> Document:
    moments = moments_of(facts)
    dice = [each for each in answered(facts.entries) if each.prompt["kind"] == "dice"]
    answer = next(each for each in dice if each.entry.seq == facts.anchor.seq)
    return Document(
        title="Dice inspection",
        subject=f"{machine(answer.prompt['slot'])}, inspected at record {facts.anchor.seq}",
        place=place_line(facts),
        sections=(
            DocumentSection("Inspection", tuple(_inspection(facts, answer, dice, moments))),
            clause_section(facts, answer.prompt["clauses"]),
        ),
        signatures=("Floorperson",),
        notes=(moments.note,) if moments.note else (),
        head=facts.head,
    )


def _inspection(facts: DocumentFacts, answer: Answered, dice: list[Answered], moments: Moments) -> Iterator[Fact]:
    at = facts.anchor.wall_ns
    yield Fact("Result", _RESULTS[answer.choice])
    yield Fact("Inspected by", person(answer.who))
    yield Fact("Inspected", moments.full(at))
    yield Fact("Reason", _reason(facts, answer))
    before = [each for each in dice if each.entry.seq < facts.anchor.seq]
    if before:
        age = duration((at - before[-1].entry.wall_ns) / _NS)
        yield Fact("Inspection before", f"{moments.full(before[-1].entry.wall_ns)}, {age} earlier")
    timers = [each for each in facts.anchor.decisions("Deadline") if each["timer"] == DICE_TIMER and each["seconds"]]
    if timers:
        yield Fact("Dice must leave the table by", moments.full(at + int(timers[-1]["seconds"]) * _NS))
    elif answer.choice == "same":
        yield Fact("Dice must leave the table by", "unchanged: the time of these dice goes on")
    else:
        yield Fact("Dice must leave the table by", NOT_RECORDED)


def _reason(facts: DocumentFacts, answer: Answered) -> str:
    """Return why the question was asked, from the step that asked it."""
    asked = next(
        entry for entry in facts.entries
        if any(each["id"] == answer.prompt["id"] for each in entry.decisions("Prompt"))
    )  # fmt: skip
    match asked.event.get("type"):
        case "DiceOpened":
            return "the shaker was opened, so the dice may have been exchanged"
        case "Due":
            return "the time of the dice on the table was over"
        case "BoxStarted":
            return "the table was opened, or the box was restarted"
    return "the dice in the shaker were not confirmed"


DICE: Final = DocumentKind(
    name="dice",
    title="Dice inspection",
    about="an inspection of the dice",
    roles=("floorperson", "auditor"),
    traced=re.compile(rb'"choice":"(?:replaced|same)"|"kind":"dice"'),
    used=re.compile(rb'"choice":"(?:replaced|same)"|"kind":"dice"'),
    visit=_visit,
    is_over=lambda entry, anchor: entry.seq >= anchor.seq,
    build=_build,
    titles=lambda entry: ["Dice: " + _RESULTS[entry.event["choice"]]] if _is_answer(entry) else [],
)
