"""kill -9 of a process that writes the journal, at random instants and at every sync: nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import msgspec
import pytest

from table_controller.journal import reader
from tests.support.box.journals import open_journal
from tests.support.suite.case_counts import count_cases
from tests.support.suite.required_tools import need, need_tool

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.chain import Record

pytestmark = pytest.mark.realtime

# Appends as fast as the disk takes it, in groups that gather by themselves, with snapshots, checkpoints and new
# segments, and writes every acknowledged number and head to its standard output, unbuffered.
CHILD: Final = """
import asyncio, os, sys
from table_controller.journal import store as store_module
from table_controller.journal.store import Policy, Store
from table_controller.journal.writer import GroupCommitWriter

store_module.CHECKPOINT_BYTES = 200_000

async def main(folder, groups):
    store = Store.open(folder, version=1, digests={}, policy=Policy(segment_bytes=150_000, ballast_bytes=0))
    writer = GroupCommitWriter(store, lambda error: os._exit(3))

    def acknowledged(record):
        os.write(1, b"%d %s\\n" % (record.seq, record.head.hex().encode()))

    acknowledged(store.last())
    for number in range(int(groups)):
        for _ in range(number % 7 + 1):
            writer.append("bet", number, number, store.boot, bytes(number % 300), acknowledged)
        if number % 20 == 19:
            writer.snapshot(bytes(500), acknowledged)
        await asyncio.sleep(0 if number % 3 else 0.001)
    await writer.close()
    store.close()

asyncio.run(main(*sys.argv[1:]))
"""


def acknowledged_records(output: bytes) -> dict[int, str]:
    """Return the records that the process had acknowledged; the last line may be cut off."""
    lines = output.decode().splitlines(keepends=True)
    pairs = (line.split() for line in lines if line.endswith("\n"))
    return {int(seq): head for seq, head in pairs}


def check(folder: Path, acknowledged: dict[int, str]) -> list[Record]:
    """Restart; every acknowledged record must be there, in one whole chain."""
    store = open_journal(folder)
    verdict = store.verify()
    assert verdict.ok, verdict
    records = list(store.read(1))
    store.close()
    heads = {record.seq: record.head.hex() for record in records}
    lost = [seq for seq, head in acknowledged.items() if heads.get(seq) != head]
    assert not lost, f"acknowledged and not there: {lost[:5]}"
    return records


async def kills(folder: Path, count: int, seed: int) -> tuple[int, int]:
    """Kill one writer after the other on one journal. Returns how many records were acknowledged, and boots cut off."""
    rng = random.Random(seed)
    acknowledged: dict[int, str] = {}
    for _ in range(count):
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, str(folder), "100000", stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        first = await child.stdout.readline()
        await asyncio.sleep(rng.uniform(0.0, 0.15))
        os.kill(child.pid, signal.SIGKILL)
        remaining, _ = await child.communicate()
        assert child.returncode == -signal.SIGKILL
        acknowledged |= acknowledged_records(first + remaining)
        check(folder, acknowledged)
    records = check(folder, acknowledged)
    starts = [msgspec.json.decode(record.body)["clean"] for record in records if record.kind == "start"]
    return len(acknowledged), starts.count(False)


async def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    acknowledged, cut_off = await kills(tmp_path, 10, seed)
    assert acknowledged > 10
    assert cut_off == 10


@pytest.mark.proof
async def test_many_killed_writers(tmp_path: Path, seed: int) -> None:
    writers = count_cases(100)
    acknowledged, cut_off = await kills(tmp_path, writers, seed + 1)
    segments = len(reader.segments(tmp_path))
    print(f"{writers} writers killed at random instants: {acknowledged} acknowledged records,")
    print(f"{segments} segments, none lost")
    assert cut_off == writers
    assert segments > 1


def killed_at_sync(folder: Path, number: int) -> bool:
    """Kill a writer when it enters its n-th sync and check the journal. Returns whether it came that far."""
    strace = need_tool("strace", "strace")
    syncs = "fdatasync,fsync"
    injected = [strace, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={syncs}"]
    injected += ["-e", f"inject={syncs}:signal=SIGKILL:when={number}"]
    done = subprocess.run(
        [*injected, sys.executable, "-c", CHILD, str(folder), "60"], capture_output=True, check=False, timeout=60
    )
    traced = b"ptrace" not in done.stderr.lower()
    need(traced, f"this system lets nobody trace its processes: {done.stderr.decode().strip()}")
    check(folder, acknowledged_records(done.stdout))
    return done.returncode != 0


def test_a_writer_killed_at_a_sync_loses_nothing(tmp_path: Path) -> None:
    for number in (1, 4, 9, 14):
        assert killed_at_sync(tmp_path / str(number), number)


@pytest.mark.proof
def test_a_writer_killed_at_every_sync_loses_nothing(tmp_path: Path) -> None:
    killed = 0
    for number in range(1, 61):
        killed += killed_at_sync(tmp_path / str(number), number)
    print(f"a writer killed as it entered each of its first {killed} syncs: nothing that was acknowledged was lost")
    assert killed > 15, "opening alone syncs more than ten times"
