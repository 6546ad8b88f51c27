"""The access and service log: who opened, tested, repaired, enrolled or returned which machine, when and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from table_controller.documents.document import Document, DocumentSection, DocumentTable
from table_controller.documents.entries import person
from table_controller.documents.search import DocumentKind
from table_controller.documents.wording import machine, moments_of, place_line
from table_controller.journal import records as rec
from table_controller.journal.record_text import to_words
from table_controller.panel import labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.documents.entries import Entry
    from table_controller.documents.search import DocumentFacts, Trace

# So many entries fit one page.
_ENTRIES: Final = 30
_NOTES: Final = ("service", "door", "enrolled", "manifest", "software", "configuration", "wear")
_ACTS: Final = {
    "give_up": "taken out of service", "sign": "out-of-order sign put up", "repair": "repaired",
    "clear": "fault cleared", "acknowledge": "fault acknowledged", "begin": "test mode begun",
    "leave": "test mode left",
}  # fmt: skip
_EVENTS: Final = {
    "MachineHalted": "halted: {what}", "FaultDiagnosed": "fault report {fault_report}: {what}",
    "ReturnTaken": "return to service begun, fault report {fault_report}",
    "ReturnLeft": "return to service left, fault report {fault_report}",
    "StepReported": "step confirmed: {step}, fault report {fault_report}",
    "SlotOrdered": "{act}", "TestModeOrdered": "{act}", "DiceOpened": "the shaker was opened",
    "DeviceEnrolled": "enrolled: serial number {serial}",
}  # fmt: skip


# Numbers of commands, which only programs need.
_COMMAND_ID: Final = re.compile(r" command \d{6,}")


class _Row(tuple[str, ...]):
    """One line of the log: machine, who, what."""

    __slots__ = ()


def _rows(entry: Entry) -> Iterator[_Row]:
    """Yield the lines that an entry adds to the log."""
    if entry.kind == rec.NOTE:
        yield from _of_note(entry.body)
        return
    if entry.is_refused:
        return
    event = entry.event
    pattern = _EVENTS.get(event.get("type", ""))
    if pattern is not None:
        who = " and ".join(person(event[key]) for key in ("who", "second") if event.get(key)) or "the machine"
        yield _Row((machine(event["slot"]), who, labels.sentence(pattern.format_map(_words(event)))))
    for moved in entry.decisions("EvidenceShown"):
        if moved["evidence"].get("type") == "DoorMoved":
            opened = "opened" if moved["evidence"]["open"] else "closed"
            slot = event.get("slot")
            yield _Row(
                (machine(slot), moved.get("by") or "the machine", f"Door {opened}, fault report {moved['report']}")
            )


def _of_note(body: dict[str, Any]) -> Iterator[_Row]:
    if body.get("kind") not in _NOTES:
        return
    who = " and ".join(person(body[key]) for key in ("who", "second") if body.get(key))
    who = who or ("nobody named" if body["kind"] == "door" else "the box")
    kind, text = to_words(body["kind"]), labels.with_machine_names(str(body.get("text", "")))
    text = _COMMAND_ID.sub(" its command", text)
    what = text.replace("_", " ") if body["kind"] == "service" else f"{kind}: {text}" if kind not in text else text
    yield _Row((machine(body.get("slot")) if body.get("slot") else "Box", who, labels.sentence(what)))


def _words(event: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an event in words."""
    return {
        key: _ACTS.get(value) or to_words(value) if isinstance(value, str) and key != "serial" else value
        for key, value in event.items()
    }


def _visit(trace: Trace, entry: Entry) -> bool:
    """Count lines back from the newest record, or from the chosen one, until a page is full."""
    record = trace.selection.record
    if record is not None and entry.seq > record:
        return False
    lines = sum(1 for _ in _rows(entry))
    if not lines:
        return False
    trace.anchor = trace.anchor or entry
    trace.about["lines"] = trace.about.get("lines", 0) + lines
    return bool(trace.about["lines"] >= _ENTRIES)


def _build(facts: DocumentFacts) -> Document:
    moments = moments_of(facts)
    rows = [(entry, row) for entry in facts.entries for row in _rows(entry)][-_ENTRIES:]
    first = rows[0][0].seq
    return Document(
        title="Access and service log",
        subject=f"Records {first} to {facts.anchor.seq}",
        place=place_line(facts),
        sections=(
            DocumentSection("Entries, the oldest first", table=DocumentTable(
                (*moments.columns, "Record", "Machine", "Who", "What"),
                tuple((*moments.cells(entry.wall_ns), str(entry.seq), *row) for entry, row in rows),
            )),
        ),
        notes=(f"Earlier entries: the log up to record {first - 1}.", *((moments.note,) if moments.note else ())),
        head=facts.head,
    )  # fmt: skip


_PATTERN: Final = re.compile(
    rb'"type":"(?:MachineHalted|FaultDiagnosed|ReturnTaken|ReturnLeft|StepReported|SlotOrdered|TestModeOrdered'
    rb'|DiceOpened|DeviceEnrolled|DoorMoved)"|"kind":"(?:service|door|enrolled|manifest|software|configuration|wear)"'
)
SERVICE_LOG: Final = DocumentKind(
    name="service-log",
    title="Access and service log",
    about="who opened, tested, repaired or enrolled a machine; --record is the newest entry of the page",
    roles=("technician", "floorperson", "auditor"),
    traced=_PATTERN,
    used=_PATTERN,
    visit=_visit,
    is_over=lambda entry, anchor: entry.seq >= anchor.seq,
    build=_build,
)
