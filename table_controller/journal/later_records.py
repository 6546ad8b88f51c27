"""Records that concern a round after its end: late answers, findings that name it, and where it was archived."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.chain import SNAPSHOT
from table_controller.journal.segment import SnapshotRecord

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.round_report import RoundReport

ROUND_OPENED: Final = {"type": "StateChanged", "what": "round", "state": "betting"}
# Matches the body of a step whose findings name rounds; the other steps need no decoding.
_ROUNDS: Final = re.compile(rb'"rounds":\[\d')


def add_later_records(folder: Path, story: RoundReport, first: int) -> None:
    """Add to a report what came after the round: answers until the next round opens, and later findings."""
    is_next = False
    for record in reader.read(folder, first, newest=rec.VERSION):
        is_following = not is_next and not story.is_answered
        body = rec.current_body(record.kind, record.body)
        if record.kind != rec.STEP or not (is_following or _ROUNDS.search(body)):
            continue
        content = msgspec.json.decode(body)
        is_next = is_next or ROUND_OPENED in content["decisions"]
        if is_following and not is_next:
            story.add_late_answer(record, content)
        story.add_later_finding(record, content)


def where_retired(folder: Path, number: int) -> str:
    """Return where to find a round whose segment was retired, as far as the journal records it."""
    before = reader.first_place(folder).number - 1
    archives = [
        retired.archive
        for record in reader.read(folder, reader.first_place(folder).first)
        if record.kind == SNAPSHOT
        for retired in msgspec.json.decode(record.body, type=SnapshotRecord).retired
        if retired.segment == before
    ]
    archive = next(iter(archives), "")
    if archive:
        return f"; round {number} moved to the archive with its segment: pitbox journal show {archive} {number}"
    return f"; round {number} was retired with its segment, and no archive is recorded: look in the second copy"
