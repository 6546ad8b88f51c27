"""The anchor: a file outside the journal's folder with the head of the journal, so that a missing journal is detected.

An empty folder can mean a new table or a disk that is not mounted, and an older journal in its place looks complete.
The anchor is in the data folder and has the format of a head file; its head is never newer than the journal on disk.
The head file of the second copy serves as another anchor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import JournalDamaged, JournalForeign, JournalGone, JournalShort
from table_controller.journal import reader
from table_controller.journal.error_mapping import map_errors
from table_controller.journal.head_file import HeadFile, JournalHead, create_head_file, read_head
from table_controller.journal.segment import open_read_only
from table_controller.journal.takeover import check_mark

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from table_controller.journal.chain import Record

NAME: Final = "anchor"
_REMEDIES: Final = (
    "mount its disk; or restore it from the copy (pitbox journal restore); or, if it is lost, begin another one under "
    "two credentials (pitbox journal begin)"
)


def read_anchor(data: Path) -> JournalHead | None:
    """Return the head in the data folder; None if there is none yet. JournalDamaged if the file cannot be read."""
    try:
        return read_head(data, NAME)
    except ValueError:
        raise JournalDamaged(f"{data / NAME}: the head of the journal in this file cannot be read") from None


def check_anchor(data: Path, journal: Path, copy: Path | None, traces: Sequence[Path] = ()) -> None:
    """Raise an error if the journal is missing, or ends before the head in its anchor or its copy.

    JournalGone: there is no journal, and a head or the `traces` of a running box show that there was one.
    JournalShort: the journal is older than the head, or its end is lost. JournalForeign: it is another table's.
    CopyTakenOver: its copy was restored into another box.
    """
    with map_errors(data):
        anchor = read_anchor(data)
        copied = _copied_head(copy)
        remembered = max((tip for tip in (anchor, copied) if tip is not None), key=lambda tip: tip.seq, default=None)
        segments = reader.segments(journal) if journal.is_dir() else []
        if not segments:
            if remembered is not None and remembered.seq:
                where = data / NAME if remembered is anchor else copy
                raise JournalGone(f"{journal} has no journal, and {where} names record {remembered.seq}; {_REMEDIES}")
            if traces:
                raise JournalGone(f"{journal} has no journal, and {traces[0]} shows that this box had one; {_REMEDIES}")
            return
        with open_read_only(segments[-1][1], reader.ANY_VERSION) as (_, place):
            own = place.journal
        if anchor is not None and anchor.journal != own:
            raise JournalForeign(f"{journal} is another journal than the one that {data / NAME} names")
        for tip, where in ((anchor, data / NAME), (copied, copy)):
            if tip is not None and tip.journal == own:  # the copier reports a copy of another journal
                _check_reach(journal, tip, f"{where}")
        for folder in (journal, copy):
            if folder is not None and (folder is journal or (copied is not None and copied.journal == own)):
                check_mark(folder, journal)


def _copied_head(copy: Path | None) -> JournalHead | None:
    """Return the head of the second copy; None if it cannot be read now."""
    if copy is None:
        return None
    try:
        return read_head(copy)
    except (OSError, ValueError):  # unreachable or damaged: the copier reports it
        return None


def _check_reach(journal: Path, tip: JournalHead, where: str) -> None:
    first, last = reader.bounds(journal)
    if last < tip.seq:
        raise JournalShort(f"{journal} ends at record {last}, and {where} names record {tip.seq}")
    if tip.seq < max(first, 1):
        return  # retired since, or the head file is still empty
    (record,) = reader.read(journal, tip.seq, tip.seq)
    if record.head != tip.head:
        raise JournalShort(f"{journal} contains another record {tip.seq} than the one that {where} names")


def create_anchor(data: Path, journal: bytes, last: Record) -> None:
    """Create the anchor of a journal in place of any earlier one; on disk when this returns."""
    with map_errors(data):
        create_head_file(data, journal, NAME)
        update_anchor(data, journal, last)


def update_anchor(data: Path, journal: bytes, last: Record) -> None:
    """Write the head of a durable record into the anchor; on disk when this returns."""
    with map_errors(data):
        file = HeadFile(data, NAME)
        try:
            file.write(JournalHead(journal, last.seq, last.head))
            file.sync()
        finally:
            file.close()
