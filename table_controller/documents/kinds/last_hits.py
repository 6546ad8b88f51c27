"""The last 25 hits of the progressive, the newest first, with their amounts and present states."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from table_controller.documents.document import Document, DocumentSection, DocumentTable
from table_controller.documents.search import DocumentKind
from table_controller.documents.wording import cents, hand_label, moments_of, place_line
from table_controller.journal.record_text import to_words

if TYPE_CHECKING:
    from table_controller.documents.entries import Entry
    from table_controller.documents.search import DocumentFacts, Trace

HITS: Final = 25
_STATE: Final = "hit "


def _visit(trace: Trace, entry: Entry) -> bool:
    """Count claims back from the newest record, or from the chosen one."""
    record = trace.selection.record
    if record is not None and entry.seq > record:
        return False
    trace.anchor = trace.anchor or entry
    trace.about["claims"] = trace.about.get("claims", 0) + len(list(entry.decisions("HitClaimed")))
    return bool(trace.about["claims"] >= HITS)


def _build(facts: DocumentFacts) -> Document:
    moments = moments_of(facts)
    claims, states, amounts = {}, {}, {}
    for entry in facts.entries:
        for claim in entry.decisions("HitClaimed", "HitRebooked"):
            if claim["type"] == "HitClaimed":
                claims[claim["hit"]] = (entry, claim)
                states[claim["hit"]] = "claimed"
            amounts[claim["hit"]] = claim["fixed"] + claim["share"]
        for moved in entry.decisions("StateChanged"):
            if moved["what"].startswith(_STATE):
                states[int(moved["what"].removeprefix(_STATE))] = moved["state"]
    newest = [claims[hit] for hit in sorted(claims, reverse=True)[:HITS]]
    rows = tuple(
        (
            *moments.cells(entry.wall_ns), str(entry.seq), str(claim["round"]), str(claim["seat"]),
            hand_label(facts, claim["hand"]), cents(amounts[claim["hit"]]), to_words(states[claim["hit"]]).capitalize(),
        )
        for entry, claim in newest
    )  # fmt: skip
    return Document(
        title=f"Last {HITS} hits",
        subject=f"{len(rows)} hits up to record {facts.anchor.seq}",
        place=place_line(facts),
        sections=(
            DocumentSection("Hits of the progressive, the newest first", table=DocumentTable(
                (*moments.columns, "Record", "Round", "Seat", "Hand", "Amount", "State"), rows
            )),
        ),
        notes=("pitbox hits prints the last 25 of each level.", *((moments.note,) if moments.note else ())),
        head=facts.head,
    )  # fmt: skip


_PATTERN: Final = re.compile(rb'"type":"Hit(?:Claimed|Rebooked)"|"what":"hit \d')
LAST_HITS: Final = DocumentKind(
    name="hits",
    title=f"Last {HITS} hits",
    about=f"the last {HITS} hits of the progressive",
    roles=("floorperson", "auditor"),
    traced=_PATTERN,
    used=_PATTERN,
    visit=_visit,
    is_over=lambda entry, anchor: entry.seq >= anchor.seq,
    build=_build,
)
