"""Chooses segments to retire and moves them to the archive. Their heads stay in later records."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.journal.head_file import sync_folder
from table_controller.journal.segment import (
    RetiredSegment,
    empty_log,
    file_name,
    open_read_only,
    records_in,
    remove_database,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_DAY_NS: Final = 24 * 3600 * 1_000_000_000
# At most this many segments are retired at once: a wall clock that jumps ahead by years must not empty the journal.
MAX_AT_ONCE: Final = 2
# Closed segments that always stay, regardless of the limits: the newest one.
ALWAYS_KEPT: Final = 1


class ClosedSegment(msgspec.Struct, frozen=True):
    """A closed segment: its records, the time of the last one, and its size in bytes."""

    path: Path
    retired: RetiredSegment
    wall_ns: int
    size: int


def inspect_closed(number: int, path: Path, newest: int) -> ClosedSegment:
    """Return the facts about a closed segment."""
    with open_read_only(path, newest) as (connection, place):
        ((last,),) = connection.execute("SELECT max(seq) FROM records").fetchall()
        (record,) = records_in(connection, last, last)
    return ClosedSegment(
        path, RetiredSegment(number, place.first, record.seq, record.head.hex()), record.wall_ns, path.stat().st_size
    )


def choose_to_retire(
    segments: Sequence[ClosedSegment], now_ns: int, days: int | None, size: int | None, retain_from: int | None
) -> list[ClosedSegment]:
    """Return the segments to retire, oldest first: too old, or beyond the size limit; none from `retain_from` on."""
    total = sum(segment.size for segment in segments)
    chosen: list[ClosedSegment] = []
    for segment in segments[: len(segments) - ALWAYS_KEPT]:
        old = days is not None and now_ns - segment.wall_ns > days * _DAY_NS
        much = size is not None and total > size
        held = retain_from is not None and segment.retired.last >= retain_from
        if not (old or much) or held or len(chosen) == MAX_AT_ONCE:
            break
        total -= segment.size
        chosen.append(segment)
    return chosen


def retire(segment: ClosedSegment, archive: Path | None) -> None:
    """Remove a segment from the journal; if there is an archive, first copy it there and sync it."""
    empty_log(segment.path)
    if archive is not None:
        target = archive / file_name(segment.retired.segment)
        draft = target.with_suffix(".part")
        shutil.copyfile(segment.path, draft)
        fd = os.open(draft, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        draft.rename(target)
        sync_folder(archive)
    remove_database(segment.path)
    sync_folder(segment.path.parent)
