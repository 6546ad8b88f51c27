"""The lines of `pitbox doctor` about the computer: clock, disk, journal, copy and people."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from table_controller.access import people_file
from table_controller.controller.clock import KernelClock
from table_controller.journal.copy import Copy, begin_copy
from table_controller.maintenance.doctor import computer
from table_controller.maintenance.doctor.check_result import FAIL, OK, WARN
from tests.support.box.journals import entries, open_journal

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_clock_is_synchronized_set_once_unsynchronized_or_never_set() -> None:
    now = 1_931_544_000.0
    assert (
        computer.judge_clock(
            KernelClock(is_synchronized=True, max_error_us=900), was_synchronized=False, now_s=now
        ).state
        == OK
    )
    assert (
        computer.judge_clock(KernelClock(is_synchronized=False, max_error_us=0), was_synchronized=True, now_s=now).state
        == OK
    )
    unkept = computer.judge_clock(None, was_synchronized=False, now_s=now)
    assert (unkept.state, "chrony" in unkept.do) == (WARN, True)
    assert (
        computer.judge_clock(
            KernelClock(is_synchronized=True, max_error_us=9), was_synchronized=True, now_s=1_000.0
        ).state
        == FAIL
    )
    assert computer.check_clock().what == "clock"


class _Disk:
    """The result of statvfs."""

    def __init__(self, megabytes: int, flag: int = 0) -> None:
        self.f_bavail, self.f_frsize, self.f_flag = megabytes, 1 << 20, flag


def test_disk_room_write_protection_and_ballast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert computer.check_disk(tmp_path / "no")[0].state == FAIL
    for disk, state in ((_Disk(5_000), OK), (_Disk(100), WARN), (_Disk(10), FAIL), (_Disk(5_000, os.ST_RDONLY), FAIL)):
        monkeypatch.setattr(os, "statvfs", lambda _, disk=disk: disk)
        assert computer.check_disk(tmp_path)[0].state == state
    monkeypatch.setattr(os, "statvfs", lambda _: _Disk(5_000))
    (tmp_path / "journal").mkdir()
    assert computer.check_disk(tmp_path, 1 << 20)[-1].state == FAIL
    (tmp_path / "journal" / "ballast").touch()
    assert computer.check_disk(tmp_path, 1 << 20)[-1].state == OK


def test_journal_whole_quick_damaged_and_none(tmp_path: Path) -> None:
    folder = tmp_path / "j"
    assert computer.check_journal(folder).state == WARN
    store = open_journal(folder)
    store.append(entries(store, 40))
    store.close()
    assert computer.check_journal(folder).state == computer.check_journal(folder, whole=True).state == OK
    path = next(folder.glob("journal-*.db"))
    body = path.read_bytes()
    path.write_bytes(body.replace(bytes([7]) * 20, bytes([8]) * 20))
    damaged = computer.check_journal(folder)
    assert damaged.state == FAIL
    assert "second copy" in damaged.do


def test_the_second_copy_is_missing_behind_or_there(tmp_path: Path) -> None:
    source, folder = tmp_path / "j", tmp_path / "copy"
    store = open_journal(source)
    store.append(entries(store, 5))
    assert computer.check_second_copy(source, None).state == WARN
    assert computer.check_second_copy(source, folder).state == FAIL
    folder.mkdir()
    begin_copy(folder)
    copy = Copy(source, folder)
    copy.ship()
    copy.close()
    assert computer.check_second_copy(source, folder).state == OK
    store.append(entries(store, 600))
    store.close()
    behind = computer.check_second_copy(source, folder)
    assert behind.state == WARN
    assert re.match(r"60\d records behind", behind.text)


def test_people_of_every_role_are_needed(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    assert computer.check_people(path).state == FAIL
    cheap = people_file.Cost(n=2, r=1, p=1)
    for number, role in enumerate(("dealer", "floorperson")):
        people_file.add_credential(path, f"p{number}", role, "271828", cost=cheap)
    assert computer.check_people(path).state == WARN
    assert "technician" in computer.check_people(path).text
    people_file.add_credential(path, "p9", "technician", "271828", cost=cheap)
    assert computer.check_people(path).state == OK
    path.chmod(0o644)
    assert computer.check_people(path).state == FAIL
