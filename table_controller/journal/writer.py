"""Group commit: one thread makes records durable while the event loop runs.

Records appended during a commit become the next commit. Callbacks run on the loop, in the order of the records.
"""

from __future__ import annotations

import asyncio
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import DiskFailed, JournalFailed
from table_controller.journal.chain import check_limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.journal.chain import NewRecord, Record
    from table_controller.journal.store import Store

# At most this many records in one transaction, so that the first does not wait long for the others.
MAX_GROUP: Final = 256
# At most this many records wait for the disk; beyond that the disk counts as failed, before memory fills up.
MAX_BACKLOG: Final = 20_000


# A record, or the body of a snapshot of the state after the record before it; the callback; and whether the snapshot
# may begin a new segment.
_Item = tuple["NewRecord | None", "bytes | None", "Callable[[Record], None]", bool]


class GroupCommitWriter:
    """The loop's side of the journal. After a failure (`failed`) it writes nothing more and runs no callbacks.

    Calls `on_failed` once, on the loop, with the first error. Calls `on_ballast_freed` when the disk was full and the
    ballast was freed: all records are durable, but the table must lock.
    """

    def __init__(
        self,
        store: Store,
        on_failed: Callable[[Exception], None],
        on_ballast_freed: Callable[[], None] | None = None,
    ) -> None:
        self._store = store
        self.on_failed = on_failed
        self.on_ballast_freed = on_ballast_freed
        self.failed: Exception | None = None
        last = store.last()
        self.next_seq = 1 if last is None else last.seq + 1
        self._waiting = 0
        self._closed = False
        self._kept: list[_Item] | None = None  # appended while the writer is paused
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many appended records are not confirmed durable."""
        return self._waiting

    def append(
        self, kind: str, wall_ns: int, mono_ns: int, boot: int, body: bytes, on_durable: Callable[[Record], None]
    ) -> int:
        """Queue a record; never blocks. Returns its number; calls `on_durable` when it is on disk."""
        check_limits(kind, body)
        return self._put(((kind, wall_ns, mono_ns, boot, body), None, on_durable, False))

    def snapshot(self, body: bytes, on_durable: Callable[[Record], None], *, may_rotate: bool = True) -> int:
        """Queue a snapshot of the state after the last appended record; never blocks. Returns the number of its record.

        With `may_rotate` it begins a new segment if the present one is full.
        """
        return self._put((None, body, on_durable, may_rotate))

    def _put(self, item: _Item) -> int:
        if self._closed:
            raise JournalFailed("the journal is closed")
        seq = self.next_seq
        self.next_seq += 1
        if self.failed is None and self._waiting >= MAX_BACKLOG:
            self._fail(DiskFailed(f"{self._waiting} records wait for the journal's disk, which is too slow"))
        if self.failed is None:
            self._waiting += 1
            if self._kept is None:
                self._queue.put(item)
            else:
                self._kept.append(item)
        return seq

    def pause(self) -> None:
        """Keep new records in memory until `resume`.

        The thread shares the interpreter with the loop, and would slow it down while the loop reads answers of devices.
        The kept records become one commit.
        """
        if self._kept is None:
            self._kept = []

    def resume(self) -> None:
        """Pass the kept records to the thread."""
        kept, self._kept = self._kept, None
        for item in kept or ():
            self._queue.put(item)

    # --- on the loop --------------------------------------------------------------------------------------------------

    def _deliver(self, done: list[tuple[_Item, Record]]) -> None:
        for item, record in done:
            self._waiting -= 1
            if self.failed is not None:  # it is on disk, but the table is locked
                continue
            try:
                item[2](record)
            except Exception as error:  # noqa: BLE001 - an error in one callback must not stop the next
                context = {"message": f"the callback of record {record.seq} failed", "exception": error}
                self._loop.call_exception_handler(context)

    def _fail(self, error: Exception) -> None:
        if self.failed is None:
            self.failed = error
            self.on_failed(error)

    def _freed(self) -> None:
        if self.on_ballast_freed is not None:
            self.on_ballast_freed()

    async def close(self) -> None:
        """Wait until every record is durable and its callback has run, then end the thread. The store stays open."""
        if not self._closed:
            self.resume()
            self._closed = True
            self._queue.put(None)
        await asyncio.shield(self._ended)
        self._thread.join()

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while (group := self._gather()) is not None:
                laid = self._store.ballast.is_allocated
                try:
                    self._commit(group)
                    self._store.checkpoint(idle=self._queue.empty())
                finally:
                    if laid and not self._store.ballast.is_allocated:
                        self._loop.call_soon_threadsafe(self._freed)
        except Exception as error:  # noqa: BLE001 - the loop must get every error
            self._loop.call_soon_threadsafe(self._fail, error)
            while self._queue.get() is not None:  # nothing after a failure is written
                pass
        finally:
            self._loop.call_soon_threadsafe(self._end)

    def _gather(self) -> list[_Item] | None:
        """Wait for the next record; return it with all that are queued, or None at the end."""
        first = self._queue.get()
        if first is None:
            return None
        group = [first]
        while len(group) < MAX_GROUP and group[-1][1] is None:
            try:
                item = self._queue.get_nowait()
            except Empty:
                break
            if item is None:
                self._queue.put(None)
                break
            group.append(item)
        return group

    def _commit(self, group: list[_Item]) -> None:
        """Make a group durable, then run its callbacks on the loop. A snapshot ends its group as a separate commit."""
        store = self._store
        done: list[tuple[_Item, Record]] = []
        body = group[-1][1]
        plain = group if body is None else group[:-1]
        try:
            records = store.append([item[0] for item in plain if item[0] is not None], write_head=False)
            done += zip(plain, records, strict=True)
            if body is not None:
                last = store.last()
                assert last is not None
                done.append((group[-1], store.snapshot(last.seq, body, may_rotate=group[-1][3])))
        finally:
            if done:
                self._loop.call_soon_threadsafe(self._deliver, done)
        store.write_head()  # no callback waits for the head file
