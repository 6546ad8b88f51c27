"""What a journal holds about a round besides its own records: later answers, findings that name it, its archive.

Reads records; decides nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.chain import SNAPSHOT
from table_controller.journal.segment import Announced

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.rounds import Story

OPENED: Final = {"type": "Moved", "what": "round", "state": "betting"}
# In the body of a step whose findings name rounds; a quick look spares decoding the others.
_ROUNDS: Final = re.compile(rb'"rounds":\[\d')


def look_further(folder: Path, story: Story, first: int) -> None:
    """Find what came after a round's end and is about it: answers until the next one opens, and later findings."""
    is_next = False
    for record in reader.read(folder, first, newest=rec.VERSION):
        is_following = not is_next and not story.is_answered
        body = rec.current_body(record.kind, record.body)
        if record.kind != rec.STEP or not (is_following or _ROUNDS.search(body)):
            continue
        said = msgspec.json.decode(body)
        is_next = is_next or OPENED in said["decisions"]
        if is_following and not is_next:
            story.follow(record, said)
        story.name(record, said)


def where_retired(folder: Path, number: int) -> str:
    """Return where a round is that left the journal with its segment, as far as the journal itself records it."""
    before = reader.begin(folder).number - 1
    found = [
        retired.archive
        for record in reader.read(folder, reader.begin(folder).first)
        if record.kind == SNAPSHOT
        for retired in msgspec.json.decode(record.body, type=Announced).retired
        if retired.segment == before
    ]
    archive = next(iter(found), "")
    if archive:
        return f"; round {number} left it with its segment for the archive: pitbox journal show {archive} {number}"
    return f"; round {number} left it with its segment, and no archive is recorded: the second copy may have it"
