"""Fault reports on disk: numbered, whole or absent, never overwritten, and deleted by age when room is short."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
import pytest

from firmware_bridge.errors import BadFaultReport
from table_controller.diagnosis import fault_report_store as st
from table_controller.diagnosis.fault_report import VERSION, decode, encode
from tests.support.box.fault_reports import shuffler_report

if TYPE_CHECKING:
    from pathlib import Path

FAULT = shuffler_report("jam", "lift", complete=False)


def test_fault_reports_are_numbered_from_one_and_read_back_unchanged(tmp_path: Path) -> None:
    kept = st.FaultReportStore(tmp_path / "fault-reports")
    assert [kept.add(FAULT) for _ in range(3)] == [1, 2, 3]
    assert st.numbers(tmp_path / "fault-reports") == [1, 2, 3]
    assert st.read(tmp_path / "fault-reports", 2) == msgspec.structs.replace(FAULT, number=2)
    assert st.FaultReportStore(tmp_path / "fault-reports").add(FAULT) == 4, "another start goes on counting"


def test_the_next_fault_never_overwrites_an_existing_report(tmp_path: Path) -> None:
    kept = st.FaultReportStore(tmp_path)
    kept.add(FAULT)
    before = st.file_of(tmp_path, 1).read_bytes()
    st.file_of(tmp_path, 2).write_bytes(b"somebody else's")
    assert kept.add(FAULT) == 3
    assert (st.file_of(tmp_path, 1).read_bytes(), st.file_of(tmp_path, 2).read_bytes()) == (before, b"somebody else's")


def test_a_number_used_during_a_write_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, link = st.FaultReportStore(tmp_path), os.link

    def raced(source: Path, to: Path) -> None:
        if to.name == "000001.json" and not to.exists():
            to.write_bytes(b"first")
        link(source, to)

    monkeypatch.setattr(os, "link", raced)
    assert kept.add(FAULT) == 2
    assert st.file_of(tmp_path, 1).read_bytes() == b"first"


def test_a_fault_report_is_completed_once_and_by_its_own_fault_only(tmp_path: Path) -> None:
    kept = st.FaultReportStore(tmp_path)
    number = kept.add(FAULT)
    with pytest.raises(BadFaultReport, match="another fault"):
        kept.complete(number, msgspec.structs.replace(FAULT, at_ns=99))
    kept.complete(number, msgspec.structs.replace(FAULT, waited_us=5))
    assert st.read(tmp_path, number) == msgspec.structs.replace(FAULT, waited_us=5, complete=True, number=number)
    with pytest.raises(BadFaultReport, match="already complete"):
        kept.complete(number, FAULT)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_torn_file_is_reported_and_blocks_nothing(tmp_path: Path, share: float) -> None:
    kept = st.FaultReportStore(tmp_path)
    kept.add(FAULT)
    kept.add(FAULT)
    whole = st.file_of(tmp_path, 1).read_bytes()
    st.file_of(tmp_path, 1).write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(BadFaultReport, match="cannot be read"):
        st.read(tmp_path, 1)
    assert st.read(tmp_path, 2).number == 2
    assert kept.add(FAULT) == 3


def test_a_half_written_file_of_a_killed_box_is_no_fault_report(tmp_path: Path) -> None:
    (tmp_path / ".000001.77.tmp").write_bytes(encode(FAULT)[:100])
    assert st.numbers(tmp_path) == []
    assert st.FaultReportStore(tmp_path).add(FAULT) == 1
    assert [path.name for path in tmp_path.glob(".*.tmp")] == []


def test_a_missing_number_and_a_file_under_anothers_number_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFaultReport, match="no fault report 5"):
        st.read(tmp_path, 5)
    st.FaultReportStore(tmp_path).add(FAULT)
    st.file_of(tmp_path, 5).write_bytes(st.file_of(tmp_path, 1).read_bytes())
    with pytest.raises(BadFaultReport, match="contains fault report 1"):
        st.read(tmp_path, 5)


@pytest.mark.parametrize(
    "bad",
    [b"[]", b'{"version": 1}', encode(FAULT).replace(b'"version": %d' % VERSION, b'"version": %d' % (VERSION + 1))],
)
def test_a_file_that_is_no_fault_report_of_this_version_is_not_read(bad: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(bad)


def test_the_oldest_that_is_not_pinned_leaves_and_never_one_of_the_newest(tmp_path: Path) -> None:
    kept = st.FaultReportStore(tmp_path, most=25)
    for _ in range(25):
        kept.add(FAULT)
    assert len(st.numbers(tmp_path)) == 25
    assert kept.add(FAULT) == 26
    assert len(st.numbers(tmp_path)) == 26, "all are pinned: their machines are not back"
    for number in (2, 3):
        kept.pin(number, pinned=False)
    kept.add(FAULT)
    assert st.numbers(tmp_path) == [1, *range(4, 28)]
    small = st.FaultReportStore(tmp_path, most=1, most_bytes=1)
    for number in range(1, 28):
        small.pin(number, pinned=False) if number != 1 else None
    small.add(FAULT)
    assert st.numbers(tmp_path) == [1, *range(9, 29)], "the pinned one and the newest twenty stay"


def test_pins_are_bounded_too(tmp_path: Path) -> None:
    kept = st.FaultReportStore(tmp_path, most=22, most_pinned=22)
    for _ in range(30):
        kept.add(FAULT)
    assert st.numbers(tmp_path) == list(range(9, 31))
