"""What the controller needs of a journal, whatever it is made of: a disk and a thread, or neither in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from table_controller.journal.chain import Entry, Record, Verdict
    from table_controller.journal.segment import Snapshot


class JournalReader(Protocol):
    """A journal as recovery reads it."""

    def read(self, first: int, last: int | None = None) -> Iterator[Record]:
        """Read records in order, the chain checked on the way."""

    def latest_snapshot(self) -> Snapshot | None:
        """Return the newest snapshot."""


class Journal(JournalReader, Protocol):
    """A journal that is open for writing: `Store`, or a simulated disk's."""

    @property
    def boot(self) -> int:
        """The number of this run; its records carry it."""

    def append(self, entries: Sequence[Entry]) -> list[Record]:
        """Make records durable, all or none."""

    def snapshot(self, seq: int, body: bytes, *, may_rotate: bool = True) -> Record:
        """Keep the state after a record."""

    def last(self) -> Record | None:
        """Return the newest durable record."""

    def verify(self, from_seq: int | None = None, against: bytes | None = None) -> Verdict:
        """Check the chain."""

    def end(self) -> None:
        """Write that this run ended in order; nothing is appended after it."""

    def close(self) -> None:
        """End in order, and let the journal go."""


class JournalWriter(Protocol):
    """The loop's side of a journal: `Writer`, or its inline counterpart in virtual time."""

    failed: Exception | None
    next_seq: int

    @property
    def waiting(self) -> int:
        """How many records are not yet known to be durable."""

    def append(
        self, kind: str, wall_ns: int, mono_ns: int, boot: int, body: bytes, on_durable: Callable[[Record], None]
    ) -> int:
        """Hand a record over; never blocks. Returns the number that it will have."""

    def snapshot(self, body: bytes, on_durable: Callable[[Record], None], *, may_rotate: bool = True) -> int:
        """Hand over a snapshot of the state after the record appended last; it may begin a new part of the journal."""

    def hold(self) -> None:
        """Keep what is appended from here on, until `release`: something more urgent than the disk is under way."""

    def release(self) -> None:
        """Give the disk what was kept, as one group."""

    async def close(self) -> None:
        """Wait until everything is durable and told."""
