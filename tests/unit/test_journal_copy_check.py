"""The nightly check of the second copy: a slice each night, the whole copy over time, and damage that is found."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import CopyCorrupted, JournalError
from table_controller.journal import copier as copier_module
from table_controller.journal import copy_check, reader
from table_controller.journal.copier import Copier, CopyState
from table_controller.journal.copy import Copy, begin_copy
from table_controller.journal.copy_check import CopyCheck, read_position
from table_controller.maintenance.doctor import computer
from table_controller.maintenance.doctor.check_result import FAIL, OK
from tests.support.box.journals import entries, newest, open_journal

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.store import Store

NIGHT = datetime(2031, 3, 17, 4, 30)  # noqa: DTZ001 - a wall clock's local time
LEAST = 200


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small copy takes several nights, too."""
    monkeypatch.setattr(copy_check, "LEAST_RECORDS", LEAST)
    monkeypatch.setattr(copy_check, "CHUNK", 50)


class Nights:
    """A journal with a copy, and one night after the other."""

    def __init__(self, folder: Path, records: int = 1000) -> None:
        self.now = NIGHT
        self.data, self.source, self.copy = folder, folder / "journal", folder / "copy"
        self.copy.mkdir()
        begin_copy(self.copy)
        self.store: Store = open_journal(self.source)
        for _ in range(records // 50):
            self.store.append(entries(self.store, 50, 200))
            self.store.snapshot(newest(self.store).seq, b"state %d" % newest(self.store).seq)
        shipped = Copy(self.source, self.copy)
        self.last = shipped.ship().seq
        shipped.close()

    def check(self) -> CopyCheck:
        """The check as a start of the box makes it."""
        return CopyCheck(self.source, self.copy, self.data, lambda: self.now)

    def night(self, check: CopyCheck) -> int:
        """Let a night pass; return how many records were read."""
        steps = 0
        while check.is_due:
            check.step()
            steps += 1
            assert steps < 1000, "a night's work has no end"
        self.now += timedelta(days=1)
        return steps

    def flip(self, seq: int, column: str = "body") -> None:
        """Flip one byte of a record in the copy, as a disk does."""
        number = max(n for n, path in reader.segments(self.copy) if first_of(path) <= seq)
        path = dict(reader.segments(self.copy))[number]
        with sqlite3.connect(path) as database:
            ((value,),) = database.execute(f"SELECT {column} FROM records WHERE seq = ?", (seq,)).fetchall()
            spoilt = bytes([value[0] ^ 1]) + value[1:]
            database.execute(f"UPDATE records SET {column} = ? WHERE seq = ?", (spoilt, seq))
        database.close()


def first_of(path: Path) -> int:
    with sqlite3.connect(path) as database:
        ((first,),) = database.execute("SELECT first FROM place").fetchall()
    database.close()
    return int(first)


def test_a_slice_each_night_covers_the_whole_copy_over_restarts(tmp_path: Path) -> None:
    table = Nights(tmp_path)
    seen: list[int] = []
    for _ in range(2 * (table.last // LEAST + 1)):
        check = table.check()  # a start of the box each day
        assert check.is_due
        before = check.position.next
        table.night(check)
        assert check.position.damage is None
        assert check.position.next - max(before, 1) <= LEAST or before > table.last
        seen.append(read_position(tmp_path).next)
        assert not CopyCheck(table.source, table.copy, tmp_path, lambda: table.now - timedelta(days=1)).is_due
    assert max(seen) == table.last + 1, "the end was reached"
    assert read_position(tmp_path).whole, "and it began again from the first"
    table.store.close()


def test_it_waits_for_the_night(tmp_path: Path) -> None:
    table = Nights(tmp_path, 100)
    table.now = NIGHT.replace(hour=3)
    assert not table.check().is_due
    table.now = NIGHT.replace(hour=17)  # the box was off in the night
    assert table.check().is_due
    table.store.close()


@pytest.mark.parametrize("column", ["body", "head"])
@pytest.mark.parametrize("place", [3, 477, 1000])
def test_a_flipped_byte_anywhere_in_the_copy_is_found_within_the_month(tmp_path: Path, place: int, column: str) -> None:
    table = Nights(tmp_path)
    table.flip(place, column)
    for _ in range(table.last // LEAST + 1):
        table.night(table.check())
    result = table.check().position.damage  # also after a restart
    assert isinstance(result, CopyCorrupted)
    assert f"record {place}" in str(result) or f"record {place + 1}" in str(result)
    assert reader.verify(table.source).ok, "the journal itself is whole"
    line = computer.check_second_copy(table.source, table.copy, tmp_path)
    assert line.state == FAIL
    assert "PB-725" in line.text
    table.flip(place, column)  # it was repaired
    table.night(table.check())
    assert table.check().position.damage is None
    assert computer.check_second_copy(table.source, table.copy, tmp_path).state == OK
    table.store.close()


def test_a_snapshot_that_rots_is_found(tmp_path: Path) -> None:
    table = Nights(tmp_path, 100)
    with sqlite3.connect(reader.segments(table.copy)[0][1]) as database:
        database.execute("UPDATE snapshots SET body = 'rot' || substr(body, 4)")
    database.close()
    table.night(table.check())
    assert table.check().position.bad
    table.store.close()


def test_a_copy_made_anew_from_another_history_is_found(tmp_path: Path) -> None:
    """The journal's own heads reveal a copy that was rewritten and chained again."""
    table, other = Nights(tmp_path), open_journal(tmp_path / "other")
    other.append(entries(other, 1100, 3))
    check = CopyCheck(other.folder, table.copy, tmp_path, lambda: table.now)
    table.night(check)
    assert "the journal has another record there" in check.position.why
    other.close()
    table.store.close()


def test_an_unreachable_copy_gives_no_verdict_on_its_records(tmp_path: Path) -> None:
    table = Nights(tmp_path, 100)
    check = table.check()
    table.copy.rename(tmp_path / "unplugged")
    with pytest.raises(JournalError):
        check.step()
    assert check.position.damage is None
    assert check.is_due, "it is tried again"
    table.store.close()


class _FailingCheck(CopyCheck):
    """A check that is due and cannot be done; `begun` is set when it was tried."""

    def __init__(self, table: Nights) -> None:
        super().__init__(table.source, table.copy, table.data, lambda: table.now)
        self.begun = threading.Event()

    @property
    def is_due(self) -> bool:
        return True

    def step(self) -> None:
        self.begun.set()
        raise OSError(5, "Input/output error")


@pytest.mark.realtime
async def test_a_record_that_comes_while_the_check_waits_is_copied_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copier_module, "CHECK_PAUSE_S", 0.001)
    monkeypatch.setattr(copier_module, "RETRY_S", 3_600.0)
    table = Nights(tmp_path, 30)
    check = _FailingCheck(table)
    copier = Copier(table.store, Copy(table.source, table.copy), lambda _: None, check)
    assert await asyncio.to_thread(check.begun.wait, 30)
    table.store.append(entries(table.store, 1))
    copier.on_durable(newest(table.store))
    async with asyncio.timeout(30):
        while copier.state.behind:  # noqa: ASYNC110 - the thread has no other way to be seen
            await asyncio.sleep(0.01)
    await copier.close()
    table.store.close()


@pytest.mark.realtime
async def test_the_copier_reports_damage_to_the_box_during_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(copier_module, "CHECK_PAUSE_S", 0.001)
    table = Nights(tmp_path, 300)
    table.flip(120)
    reported: list[CopyState] = []
    result = asyncio.Event()

    def on_state(state: CopyState) -> None:
        reported.append(state)
        if state.damage:
            result.set()

    copier = Copier(table.store, Copy(table.source, table.copy), on_state, table.check())
    async with asyncio.timeout(30):
        await result.wait()
    with caplog.at_level(logging.ERROR):
        table.store.append(entries(table.store, 1))
        copier.on_durable(newest(table.store))
        await copier.close()
    assert not caplog.records, "shipping goes on meanwhile"
    assert copier.state.problem is not None
    assert copier.state.problem[0] == "PB-725"
    assert "PB-725" in reported[-1].sentence
    assert copier.state.behind == 0
    table.store.close()
