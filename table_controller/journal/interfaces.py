"""The interfaces of a journal that the controller uses: a real disk and thread, or a simulated disk in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from table_controller.journal.chain import ChainVerdict, NewRecord, Record
    from table_controller.journal.segment import StoredSnapshot


class JournalReader(Protocol):
    """The part of a journal that recovery reads."""

    def read(self, first: int, last: int | None = None) -> Iterator[Record]:
        """Read records in order and check their chain."""

    def latest_snapshot(self) -> StoredSnapshot | None:
        """Return the newest snapshot."""


class Journal(JournalReader, Protocol):
    """A journal that is open for writing: `Store`, or a simulated disk."""

    @property
    def boot(self) -> int:
        """The number of this run; its records carry it."""

    def append(self, entries: Sequence[NewRecord]) -> list[Record]:
        """Make records durable, all or none."""

    def snapshot(self, seq: int, body: bytes, *, may_rotate: bool = True) -> Record:
        """Store the state after a record."""

    def last(self) -> Record | None:
        """Return the newest durable record."""

    def verify(self, from_seq: int | None = None, expected_head: bytes | None = None) -> ChainVerdict:
        """Check the chain."""

    def end(self) -> None:
        """Record that this run ended in order; no record follows."""

    def close(self) -> None:
        """End in order, and close the journal."""


class JournalWriter(Protocol):
    """The controller's side of a journal: `GroupCommitWriter`, or its inline counterpart in virtual time."""

    failed: Exception | None
    next_seq: int

    @property
    def waiting(self) -> int:
        """How many appended records are not confirmed durable."""

    def append(
        self, kind: str, wall_ns: int, mono_ns: int, boot: int, body: bytes, on_durable: Callable[[Record], None]
    ) -> int:
        """Queue a record; never blocks. Returns its number."""

    def snapshot(self, body: bytes, on_durable: Callable[[Record], None], *, may_rotate: bool = True) -> int:
        """Queue a snapshot of the state after the last appended record; it may begin a new segment."""

    def pause(self) -> None:
        """Keep new records in memory until `resume`, while something more urgent than the disk runs."""

    def resume(self) -> None:
        """Write the kept records as one group."""

    async def close(self) -> None:
        """Wait until every record is durable and its callback has run."""
