"""The journal's writer in virtual time, onto a simulated disk: it replaces `GroupCommitWriter`, without a thread."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import JournalFailed
from simulators.casino.disk import PowerCut
from table_controller.journal.chain import check_limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.casino.disk import DiskStore
    from table_controller.journal.chain import NewRecord, Record

# Times of syncs on real disks (s), and of occasional stalls.
SYNC_TIME_S: Final = (0.0002, 0.004)
STALL_TIME_S: Final = (0.02, 0.4)
STALL_SHARE: Final = 0.01

_Waiting = tuple["NewRecord | None", "bytes | None", "Callable[[Record], None]"]


class DiskWriter:
    """The writer in virtual time: a commit takes a seeded time, and the next group gathers meanwhile; no thread."""

    def __init__(
        self,
        store: DiskStore,
        on_failed: Callable[[Exception], None],
        on_ballast_freed: Callable[[], None] | None = None,
    ) -> None:
        self._store = store
        self.on_failed = on_failed
        self.on_ballast_freed = on_ballast_freed
        self.failed: Exception | None = None
        last = store.last()
        assert last is not None
        self.next_seq = last.seq + 1
        self.dead = False
        self._closed = False
        self._held = False
        self._loop = asyncio.get_running_loop()
        self._queue: list[_Waiting] = []
        self._group: list[_Waiting] = []
        self._timer: asyncio.Handle | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def waiting(self) -> int:
        """Number of records that are not known to be durable."""
        return len(self._queue) + len(self._group)

    def append(
        self, kind: str, wall_ns: int, mono_ns: int, boot: int, body: bytes, on_durable: Callable[[Record], None]
    ) -> int:
        """Queue a record; return its future number."""
        check_limits(kind, body)
        return self._put(((kind, wall_ns, mono_ns, boot, body), None, on_durable))

    def snapshot(
        self,
        body: bytes,
        on_durable: Callable[[Record], None],
        *,
        may_rotate: bool = True,  # noqa: ARG002 - no segments
    ) -> int:
        """Queue a snapshot of the state after the last appended record."""
        return self._put((None, body, on_durable))

    def _put(self, item: _Waiting) -> int:
        if self._closed:
            raise JournalFailed("the journal is closed")
        self.next_seq += 1
        if self.failed is None and not self.dead:
            self._queue.append(item)
            self._idle.clear()
            if self._timer is None and not self._held:
                self._timer = self._loop.call_soon(self._begin)
        return self.next_seq - 1

    def pause(self) -> None:
        """Queue records without writing them, until `release`."""
        self._held = True

    def resume(self) -> None:
        """Start to write the queued records."""
        self._held = False
        if self._queue and self._timer is None and not self.dead:
            self._timer = self._loop.call_soon(self._begin)

    def _latency(self) -> float:
        rng = self._store.disk.rng
        return rng.uniform(*(STALL_TIME_S if rng.random() < STALL_SHARE else SYNC_TIME_S))

    def _begin(self) -> None:
        """Write a group: everything up to a snapshot, or one snapshot."""
        snapshot = next((index for index, item in enumerate(self._queue) if item[1] is not None), len(self._queue))
        size = snapshot or 1
        self._group, self._queue = self._queue[:size], self._queue[size:]
        try:
            body = self._group[0][1]
            if body is None:
                records = self._store.chained([item[0] for item in self._group if item[0] is not None])
                self._store.disk.write(self._store, records, None)
            else:
                last = self._store.last()
                assert last is not None
                records, kept = self._store.announced(last.seq, body)
                self._store.disk.write(self._store, records, kept)
        except PowerCut:
            self._die()
            return
        except Exception as error:  # noqa: BLE001 - as in the thread: the owner is notified
            self._fail(error)
            return
        self._timer = self._loop.call_later(self._latency(), self._finish, records)

    def _finish(self, records: list[Record]) -> None:
        try:
            self._store.finish()
        except PowerCut:
            self._die()
            return
        except Exception as error:  # noqa: BLE001
            self._fail(error)
            return
        done, self._group = self._group, []
        for (_, _, on_durable), record in zip(done, records, strict=True):
            try:
                on_durable(record)
            except Exception as error:  # noqa: BLE001
                context = {"message": f"the callback of record {record.seq} failed", "exception": error}
                self._loop.call_exception_handler(context)
        self._timer = None
        if self._queue and not self.dead:
            if not self._held:
                self._timer = self._loop.call_soon(self._begin)
        else:
            self._idle.set()

    def _die(self) -> None:
        self.dead = True
        self._stop()

    def _fail(self, error: Exception) -> None:
        self.failed = error
        self._stop()
        self.on_failed(error)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._queue, self._group = [], []
        self._idle.set()

    async def close(self) -> None:
        """Wait until everything is durable and acknowledged, or power is cut."""
        self.resume()
        self._closed = True
        await self._idle.wait()
