"""The anchor: what is remembered of a journal outside its folder, so that a journal that vanished is missed.

An empty folder is a new table's, or a disk that is not mounted; an old journal in its place looks whole by itself. The
anchor lies in the data folder, has the form of a tip, and never knows more than is on disk; the second copy's own tip
is another one. Knows no records' meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import JournalDamaged, JournalForeign, JournalGone, JournalShort
from table_controller.journal import reader
from table_controller.journal.segment import reading
from table_controller.journal.takeover import check_mark
from table_controller.journal.tip import Tip, TipFile, create_tip, read_tip
from table_controller.journal.trouble import plainly

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from table_controller.journal.chain import Record

NAME: Final = "anchor"
_WAYS: Final = (
    "mount its disk; or restore it from the copy (pitbox journal restore); or, if it is lost, begin another one under "
    "two credentials (pitbox journal begin)"
)


def read_anchor(data: Path) -> Tip | None:
    """Return what the data folder remembers; None: nothing yet. JournalDamaged if it cannot be read."""
    try:
        return read_tip(data, NAME)
    except ValueError:
        raise JournalDamaged(f"{data / NAME}: what this box remembers of its journal cannot be read") from None


def check(data: Path, journal: Path, copy: Path | None, traces: Sequence[Path] = ()) -> None:
    """Raise if a journal is not there, or ends before what its anchor or its copy remembers. Only reads.

    JournalGone: there is none, and there was one, by what is remembered or by the `traces` that a running box leaves.
    JournalShort: an older one lies in its place, or its end is lost. JournalForeign: another table's does.
    CopyTakenOver: its copy was restored into another box.
    """
    with plainly(data):
        anchor = read_anchor(data)
        copied = _copied(copy)
        remembered = max((tip for tip in (anchor, copied) if tip is not None), key=lambda tip: tip.seq, default=None)
        found = reader.segments(journal) if journal.is_dir() else []
        if not found:
            if remembered is not None and remembered.seq:
                where = data / NAME if remembered is anchor else copy
                raise JournalGone(f"{journal} holds no journal, and {where} remembers record {remembered.seq}; {_WAYS}")
            if traces:
                raise JournalGone(f"{journal} holds no journal, and {traces[0]} is of a box that had one; {_WAYS}")
            return
        with reading(found[-1][1], reader.ANY_VERSION) as (_, place):
            own = place.journal
        if anchor is not None and anchor.journal != own:
            raise JournalForeign(f"{journal} is another journal than the one that {data / NAME} remembers")
        for tip, where in ((anchor, data / NAME), (copied, copy)):
            if tip is not None and tip.journal == own:  # a copy of another journal is told by whoever copies
                _reaches(journal, tip, f"{where}")
        for folder in (journal, copy):
            if folder is not None and (folder is journal or (copied is not None and copied.journal == own)):
                check_mark(folder, journal)


def _copied(copy: Path | None) -> Tip | None:
    """Return how far the second copy is known to reach; None if it cannot be asked now."""
    if copy is None:
        return None
    try:
        return read_tip(copy)
    except (OSError, ValueError):  # out of reach or damaged: whoever copies says so
        return None


def _reaches(journal: Path, tip: Tip, where: str) -> None:
    first, last = reader.bounds(journal)
    if last < tip.seq:
        raise JournalShort(f"{journal} ends at record {last}, and {where} remembers record {tip.seq}")
    if tip.seq < max(first, 1):
        return  # retired since, or nothing was remembered yet
    (record,) = reader.read(journal, tip.seq, tip.seq)
    if record.head != tip.head:
        raise JournalShort(f"{journal} holds another record {tip.seq} than the one that {where} remembers")


def lay(data: Path, journal: bytes, last: Record) -> None:
    """Remember a journal from now on, whatever was remembered before; on disk when this returns."""
    with plainly(data):
        create_tip(data, journal, NAME)
        keep(data, journal, last)


def keep(data: Path, journal: bytes, last: Record) -> None:
    """Remember a record that is on disk; on disk when this returns."""
    with plainly(data):
        file = TipFile(data, NAME)
        try:
            file.write(Tip(journal, last.seq, last.head))
            file.sync()
        finally:
            file.close()
