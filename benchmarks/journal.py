"""Measures durable bets against bare SQLite with the same settings, syncs per commit, restart and recovery.

All rows share one process and one disk. The floor is one transaction with one row, without a chain or a callback: on
the calling thread, or in its own thread, because a sync must not block the loop. Ours chains records, keeps the head,
groups commits and calls back in order. strace counts syncs in two processes that differ only in the number of commits,
so that opening and closing cancel out.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.budgets import BUDGETS
from benchmarks.rows import BenchmarkRow, arguments, interleave, print_table, print_verdict
from table_controller.controller.recorder import SNAPSHOT_EVERY
from table_controller.journal import reader
from table_controller.journal.records import VERSION
from table_controller.journal.recovery import recover
from table_controller.journal.store import Policy, Store
from table_controller.journal.writer import GroupCommitWriter
from tests.support.box.journals import quick_folder
from tests.support.box.recorded_table import RecordedTable
from tests.support.core.ideal_table import IdealTable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from table_controller.journal.chain import Record

BATCH: Final = 40
ROUNDS: Final = 60
AT_ONCE: Final = 8
# Commits of every row before the measurement, until each log has its full size: from then on it is overwritten and no
# longer grows, as on a running box.
WARM: Final = 600
# About the size of a bet's record with its contribution (bytes).
BODY: Final = bytes(200)
BETS: Final = ("bet", 1_700_000_000_000_000_000, 1, 1, BODY)
NO_BALLAST: Final = Policy(ballast_bytes=0)
COMMITS: Final = (100, 300)
LENGTHS: Final = (1_000, 10_000, 100_000)
# Lengths of journals with real steps of a table, which are played first: about 3,000 records a second.
TYPED: Final = (1_000, 10_000, 50_000)
GAME: Final = "face_up_pai_gow"
NEVER: Final = 10**9


def _bare(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(
        "CREATE TABLE records (seq INTEGER PRIMARY KEY, kind TEXT, wall INTEGER, mono INTEGER, boot INTEGER, body BLOB,"
        " head BLOB)"
    )
    return connection


def _bare_commit(connection: sqlite3.Connection, count: int) -> float:
    rows = [(*BETS, bytes(32))] * count
    start = perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO records (kind, wall, mono, boot, body, head) VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.execute("COMMIT")
    return perf_counter() - start


def _store_commit(store: Store, count: int) -> float:
    start = perf_counter()
    store.append([BETS] * count)
    took = perf_counter() - start
    store.checkpoint()
    return took


async def _written(writer: GroupCommitWriter, count: int) -> float:
    """Return the time from handing bets over until the last of them is durable."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    left = count

    def durable(_: Record) -> None:
        nonlocal left
        left -= 1
        if not left:
            done.set_result(None)

    start = perf_counter()
    for _ in range(count):
        writer.append(*BETS, durable)
    await done
    return perf_counter() - start


class _BareThread:
    """The minimum that keeps a sync off the loop: a queue, a thread with bare SQLite, and a callback."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._queue: SimpleQueue[asyncio.Future[None] | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while (done := self._queue.get()) is not None:
            _bare_commit(self._connection, 1)
            self._loop.call_soon_threadsafe(done.set_result, None)

    async def commit(self) -> float:
        done = self._loop.create_future()
        start = perf_counter()
        self._queue.put(done)
        await done
        return perf_counter() - start

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()


async def _bare_thread(connection: sqlite3.Connection) -> _BareThread:
    return _BareThread(connection)


async def _writer(store: Store) -> GroupCommitWriter:
    def failed(error: Exception) -> None:
        sys.exit(f"the journal failed: {error}")

    return GroupCommitWriter(store, failed)


def _times(runner: asyncio.Runner, once: Callable[[], Awaitable[float]]) -> list[float]:
    async def batch() -> list[float]:
        return [await once() for _ in range(BATCH)]

    return runner.run(batch())


def _batch(once: Callable[[], float]) -> list[float]:
    return [once() for _ in range(BATCH)]


def _commits(folder: Path, rounds: int) -> None:
    (folder / "thread").mkdir()
    with closing(_bare(folder)) as bare, closing(_bare(folder / "thread")) as other, asyncio.Runner() as runner:
        plain = Store.open(folder / "plain", version=1, digests={}, policy=NO_BALLAST)
        threaded = Store.open(folder / "threaded", version=1, digests={}, policy=NO_BALLAST)
        writer = runner.run(_writer(threaded))
        bare_thread = runner.run(_bare_thread(other))
        floor = BenchmarkRow("bare SQLite, 1 bet", partial(_batch, partial(_bare_commit, bare, 1)), "floor")
        floor_8 = BenchmarkRow("bare SQLite, 8 bets", partial(_batch, partial(_bare_commit, bare, AT_ONCE)), "floor")
        store = BenchmarkRow("store, 1 bet", partial(_batch, partial(_store_commit, plain, 1)))
        hop = BenchmarkRow("bare SQLite in a thread, 1 bet", partial(_times, runner, bare_thread.commit), "floor")
        one = BenchmarkRow("writer, 1 bet", partial(_times, runner, partial(_written, writer, 1)))
        eight = BenchmarkRow("writer, 8 at once", partial(_times, runner, partial(_written, writer, AT_ONCE)))
        rows = [floor, floor_8, store, hop, one, eight]
        for _ in range(WARM // BATCH):
            for row in rows:
                row.measure()
        interleave(rows, rounds)
        runner.run(writer.close())
        bare_thread.close()
        plain.close()
        threaded.close()
    print_table("a bet handed over -> known to be durable", rows, [floor, hop, one])
    for row, count in ((floor, 1), (one, 1), (eight, AT_ONCE)):
        print(f"  {row.name}: {count * len(row.samples) / sum(row.samples):,.0f} durable bets/s in a row")
    rate = AT_ONCE / eight.ratio(one)
    print_verdict(BUDGETS["bet"], "store / bare SQLite, p50", store.ratio(floor))
    print_verdict(BUDGETS["bet"], "writer / bare SQLite in a thread, p50", one.ratio(hop))
    print_verdict(BUDGETS["bet"], "writer, hop and all / bare SQLite on the thread that asks, p50", one.ratio(floor))
    print_verdict(BUDGETS["eight bets"], "8 at once / 1 bet, p50", eight.ratio(one))
    print_verdict(BUDGETS["eight bets, rate"], "8 at once / 1 bet, bets/s at p50", rate)


# --- syncs ------------------------------------------------------------------------------------------------------------


def _child(folder: str, commits: int) -> None:
    """Run under strace: so many commits of one bet, one after the other."""

    async def main() -> None:
        store = Store.open(folder, version=1, digests={}, policy=NO_BALLAST)
        writer = await _writer(store)
        for _ in range(commits):
            await _written(writer, 1)
        await writer.close()
        store.close()

    asyncio.run(main())


def _syncs(folder: Path, commits: int) -> Counter[str]:
    output = folder / "strace"
    trace = ["strace", "-f", "-qq", "-o", str(output), "-e", "trace=fsync,fdatasync,sync_file_range,msync,syncfs,sync"]
    child = [sys.executable, "-c", f"from benchmarks.journal import _child; _child({str(folder / 'j')!r}, {commits})"]
    subprocess.run([*trace, *child], check=True, cwd=Path(__file__).parent.parent)
    lines = output.read_text().splitlines()
    shutil.rmtree(folder / "j")
    return Counter(line.split(None, 1)[1].split("(")[0] for line in lines if "(" in line and "resumed" not in line)


def _count_syncs(folder: Path) -> None:
    if shutil.which("strace") is None:
        print("syncs per commit: not counted, strace is not installed (apt install strace)")
        return
    few, many = (_syncs(folder, commits) for commits in COMMITS)
    more = many - few
    more.subtract(few - many)
    commits = COMMITS[1] - COMMITS[0]
    kinds = ", ".join(f"{count} {name}" for name, count in more.items() if count)
    print(f"{commits} more commits made {kinds} more (strace)")
    print_verdict(BUDGETS["bet, syncs"], "syncs per commit", more.total() / commits)


# --- restart ----------------------------------------------------------------------------------------------------------


def _restart(folder: Path) -> None:
    """Measure opening by journal length, with a snapshot shortly before the end and without one."""
    print("opening a journal with 100 records after its snapshot, and verifying all of it")
    for length in LENGTHS:
        times = []
        for kept in (False, True):
            where = folder / f"{length} {kept}"
            store = Store.open(where, version=1, digests={}, policy=NO_BALLAST)
            for _ in range(length // 1000):
                store.append([BETS] * 1000)
                store.checkpoint()
            last = store.last()
            assert last is not None
            if kept:
                store.snapshot(last.seq, bytes(50_000))
            store.append([BETS] * 100)
            store.close()
            start = perf_counter()
            store = Store.open(where, version=1, digests={}, policy=NO_BALLAST)
            times.append(perf_counter() - start)
            store.close()
        start = perf_counter()
        verdict = reader.verify(where)
        took = perf_counter() - start
        assert verdict.ok
        print(
            f"  {length:>7,} records: opened in {times[0] * 1000:.0f} ms without a snapshot, {times[1] * 1000:.0f} ms"
            f" with; verify reads {verdict.last / took:,.0f} records/s"
        )


# --- recovery ---------------------------------------------------------------------------------------------------------


def _played(target: Path, length: int, every: int) -> RecordedTable:
    """Write a journal of at least so many records of played rounds, with a snapshot every so many steps."""
    with quick_folder() as quick:
        recorded = RecordedTable(quick / "j", GAME, every=every, quick=True).open_table()
        while (last := recorded.store.last()) is None or last.seq < length:
            recorded.round()
        recorded.store.close()
        shutil.copytree(quick / "j", target)
    return recorded


def _recovery(folder: Path) -> None:
    """Measure recovery: open, verify, load the snapshot, replay, and compare every decision."""
    print(f"recovery of a journal with a table's own steps ({GAME}); a snapshot every {SNAPSHOT_EVERY} steps or never")
    for length in TYPED:
        for every in (NEVER, SNAPSHOT_EVERY):
            where = folder / f"typed {length} {every}"
            recorded = _played(where, length, every)
            table = IdealTable(GAME).table
            start = perf_counter()
            store = Store.open(where, version=VERSION, digests=recorded.digests, policy=NO_BALLAST)
            opened = perf_counter()
            recovered = recover(store, table, recorded.digests)
            done = perf_counter()
            assert table.snapshot() == recorded.floor.table.snapshot(), "the recovered table differs"
            store.close()
            rate = f"{recovered.steps / (done - opened):,.0f} events/s" if recovered.steps else "nothing to replay"
            name = "without a snapshot" if every == NEVER else "with snapshots"
            print(
                f"  {length:>7,} records {name}: {(done - start) * 1000:,.0f} ms in all, opened and verified in"
                f" {(opened - start) * 1000:.0f} ms, {recovered.steps:,} steps replayed, {rate}"
            )


def main() -> None:
    """Measure, count, print, judge."""
    rounds = arguments(
        "Durable bets compared with bare SQLite (WAL, synchronous=FULL), syncs per commit, restart. Ratios count.",
        "python -m benchmarks.journal --rounds 20",
        ROUNDS,
    )
    # TMPDIR chooses the disk. A disk in memory has no syncs to measure.
    with TemporaryDirectory() as name:
        folder = Path(name)
        free = os.statvfs(folder)
        assert free.f_bavail * free.f_frsize > 1 << 29, "half a gigabyte of free space is needed"
        _commits(folder, rounds)
        _count_syncs(folder)
        _restart(folder)
        _recovery(folder)


if __name__ == "__main__":
    main()
