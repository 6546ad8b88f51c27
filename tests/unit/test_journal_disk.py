"""The simulated disk: power cuts at every sync point; acknowledged records survive, in one chain."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import DiskFull, JournalNewer
from simulators.casino.disk import Disk, PowerCut
from simulators.casino.disk_writer import DiskWriter
from simulators.engine.virtual_time import run_virtual

if TYPE_CHECKING:
    from table_controller.journal.chain import Record
    from table_controller.journal.interfaces import Journal, JournalWriter


async def boot(disk: Disk, acknowledged: list[Record], seed: int) -> None:
    """Run one boot that appends until the power goes or its work is done."""
    rng = Random(seed)
    failed: list[Exception] = []
    try:
        store = disk.open(version=1, digests={})
    except PowerCut:
        return
    _: Journal = store
    assert store.verify().ok
    for record in acknowledged:
        assert disk.records[record.seq - 1] == record, "an acknowledged record was lost or changed"
    writer = DiskWriter(store, failed.append)
    __: JournalWriter = writer
    for number in range(rng.randint(1, 30)):
        if writer.dead:
            break
        if rng.random() < 0.1:
            writer.snapshot(b"s%d" % number, acknowledged.append)
        else:
            writer.append("event", number, number, store.boot, rng.randbytes(8), acknowledged.append)
        if rng.random() < 0.5:
            await asyncio.sleep(rng.choice([0.0, 0.001, 0.01]))
    if rng.random() < 0.3:
        disk.cut()
    await writer.close()
    assert not failed
    if not writer.dead and disk.cuts == 0:
        assert writer.waiting == 0


def life(seed: int) -> tuple[int, int]:
    rng = Random(seed)
    disk = Disk(seed)
    acknowledged: list[Record] = []
    for number in range(4):
        disk.cut_at = disk.points + rng.randint(1, 30)
        run_virtual(boot(disk, acknowledged, seed * 10 + number))
        disk.cut()
    run_virtual(boot(disk, acknowledged, seed))
    return disk.cuts, len(acknowledged)


@pytest.mark.parametrize("part", range(2))
def test_no_power_cut_loses_what_was_acknowledged(part: int) -> None:
    cuts = reported = 0
    for seed in range(part * 100, part * 100 + 100):
        one, two = life(seed)
        cuts, reported = cuts + one, reported + two
    assert cuts > 300
    assert reported > 1000


async def test_in_the_same_seed_everything_happens_at_the_same_time() -> None:
    async def once() -> tuple[list[tuple[float, int]], bytes]:
        disk, loop = Disk(7), asyncio.get_running_loop()
        start, times = loop.time(), list[tuple[float, int]]()
        store = disk.open(version=1, digests={})
        writer = DiskWriter(store, lambda error: None)
        for number in range(20):
            writer.append(
                "event", 0, 0, 1, b"%d" % number, lambda record: times.append((loop.time() - start, record.seq))
            )
            await asyncio.sleep(0.0005)
        await writer.close()
        store.close()
        return [(round(at, 9), seq) for at, seq in times], disk.records[-1].head

    first = await once()
    assert first == await once()
    assert len({at for at, _ in first[0]}) < 20, "while one commit runs, the next group gathers"


async def test_a_full_disk_is_reported_once_and_nothing_is_acknowledged_after_it() -> None:
    disk = Disk()
    store = disk.open(version=1, digests={})
    failed: list[Exception] = []
    records: list[Record] = []
    writer = DiskWriter(store, failed.append)
    disk.fault = DiskFull("no room")
    writer.append("event", 0, 0, 1, b"", records.append)
    writer.append("event", 0, 0, 1, b"", records.append)
    await writer.close()
    assert [type(error) for error in failed] == [DiskFull]
    assert records == []
    store.close()
    disk.fault = None
    again = disk.open(version=1, digests={})
    assert [record.kind for record in disk.records] == ["genesis", "start", "start"]
    again.close()


def test_an_older_version_does_not_open_what_a_newer_one_wrote() -> None:
    disk = Disk()
    disk.open(version=2, digests={}).close()
    with pytest.raises(JournalNewer):
        disk.open(version=1, digests={})
