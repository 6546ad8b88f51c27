"""The outbox without a broker: its start, its messages and their order, and its cursor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from table_controller.controller.controller import DurableStep
from table_controller.journal.records import STEP, encode_step
from table_controller.table import events as ev
from table_controller.table.decisions import Deadline, HoldCleared
from table_controller.uplink.cursor import load_cursor
from table_controller.uplink.outbox import TAIL, Outbox
from tests.support.box.journals import newest, open_journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from table_controller.journal.store import Store

pytestmark = pytest.mark.realtime  # the journal is read in a thread


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    result = open_journal(tmp_path / "journal")
    yield result
    result.close()


def steps(store: Store, count: int, *, quiet: bool = False) -> list[DurableStep]:
    """Append steps with or without events, and return them as followers get them."""
    event = ev.Due("x")
    decided: list[list[Any]] = [[Deadline("x", 1.0) if quiet else HoldCleared(n, "floor-1")] for n in range(count)]
    records = store.append([(STEP, 7_000, 0, store.boot, encode_step(event, each)) for each in decided])
    return [DurableStep(r.seq, r.wall_ns, event, each, r.head) for r, each in zip(records, decided, strict=True)]


async def everything(outbox: Outbox) -> list[Any]:
    """Take all messages and return them."""
    results: list[Any] = []
    while taken := await outbox.next_batch(20):
        results += [msgspec.json.decode(out.payload) for out in taken if out.payload is not None]
        outbox.acknowledge(taken[-1].mark)
    return results


async def test_memory_and_journal_give_the_same_bytes_in_the_order_of_the_records(tmp_path: Path, store: Store) -> None:
    first, second = Outbox(store, tmp_path / "one"), Outbox(store, tmp_path / "two")
    await first.open()
    await everything(first)  # up to here it is published
    for step in steps(store, 10) + steps(store, 3, quiet=True) + steps(store, 5):
        first.add_step(step)
    live = await everything(first)
    await second.open()
    read = await everything(second)
    assert [event["seq"] for event in live] == [*range(3, 13), *range(16, 21)]
    assert read[-15:] == live
    assert first.acknowledged == second.acknowledged
    assert first.behind == 0


async def test_events_evicted_from_memory_are_read_again_and_nothing_is_published_twice(
    tmp_path: Path, store: Store
) -> None:
    outbox = Outbox(store, tmp_path / "cursor")
    await outbox.open()
    for step in steps(store, TAIL + 200):
        outbox.add_step(step)
    seqs = [event["seq"] for event in await everything(outbox)]
    assert seqs == list(range(2, newest(store).seq + 1))


async def test_what_was_not_acknowledged_comes_again(tmp_path: Path, store: Store) -> None:
    outbox = Outbox(store, tmp_path / "cursor")
    await outbox.open()
    await everything(outbox)
    for step in steps(store, 6):
        outbox.add_step(step)
    taken = await outbox.next_batch(20)
    outbox.acknowledge(taken[1].mark)
    outbox.rewind()
    again = await outbox.next_batch(20)
    assert [out.payload for out in again] == [out.payload for out in taken[2:]]


async def test_records_that_no_step_announces_are_read_after_a_moment(tmp_path: Path, store: Store) -> None:
    outbox = Outbox(store, tmp_path / "cursor")
    await outbox.open()
    await everything(outbox)
    store.append([("of the future", 0, 0, store.boot, b"{}")])
    assert await outbox.next_batch(20) == [], "it may be a step that is about to be announced"
    async with asyncio.timeout(20):
        while not (taken := await outbox.next_batch(20)):  # noqa: ASYNC110 - only time makes it due
            await asyncio.sleep(0.05)
    assert b"of the future" in (taken[0].payload or b"")


async def test_the_cursor_outlives_a_restart_and_a_spoilt_or_foreign_one_begins_at_the_beginning(
    tmp_path: Path, store: Store
) -> None:
    path = tmp_path / "cursor"
    outbox = Outbox(store, path)
    await outbox.open()
    steps(store, 4)
    whole = await everything(outbox)
    await outbox.save()
    assert load_cursor(path) == outbox.acknowledged
    again = Outbox(store, path)
    await again.open()
    assert again.acknowledged == outbox.acknowledged
    assert await everything(again) == []
    for spoilt in (b"", b"{", b'{"journal": 7}', path.read_bytes().replace(store.journal.hex().encode(), b"ab" * 16)):
        path.write_bytes(spoilt)
        again = Outbox(store, path)
        await again.open()
        assert again.history_difference is None
        assert await everything(again) == whole


async def test_a_cursor_beyond_the_end_is_reported_until_it_is_acknowledged(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "cursor"
    outbox = Outbox(store, path)
    await outbox.open()
    await everything(outbox)
    await outbox.save()
    path.write_bytes(path.read_bytes().replace(b'"seq":2', b'"seq":900'))
    for _ in range(2):  # not acknowledged, it is published again
        outbox = Outbox(store, path)
        await outbox.open()
        assert outbox.history_difference is not None
        assert "ends with record 2, and 900 was acknowledged" in outbox.history_difference.text
        (notice,) = await outbox.next_batch(20)
        assert b"history_differs" in (notice.payload or b"")
        await outbox.save()
    outbox.acknowledge(notice.mark)
    await everything(outbox)
    await outbox.save()
    outbox = Outbox(store, path)
    await outbox.open()
    assert outbox.history_difference is None


async def test_a_disk_that_cannot_be_written_leaves_the_cursor_of_before(tmp_path: Path, store: Store) -> None:
    outbox = Outbox(store, tmp_path / "nowhere" / "cursor")
    await outbox.open()
    await everything(outbox)
    with pytest.raises(OSError, match="nowhere"):
        await outbox.save()
    (tmp_path / "nowhere").mkdir()
    await outbox.save()
    assert load_cursor(tmp_path / "nowhere" / "cursor") == outbox.acknowledged
