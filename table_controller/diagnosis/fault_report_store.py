"""The folder of fault reports: numbered files, each written once and completely.

A file gets its name only when it is on disk, and the number of an existing file is never used again. Beyond
MAX_REPORTS or MAX_BYTES the oldest report that is not pinned is deleted, but never one of the newest ALWAYS_KEPT. A
report is pinned until its machine is back in service; beyond MAX_PINNED the oldest pin is removed.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadFaultReport
from table_controller.diagnosis.fault_report import VERSION, FaultReport, decode, encode
from table_controller.journal.former_names import FAULT_REPORTS, renew_body, stamp
from table_controller.table.return_progress import ReturnDecision

if TYPE_CHECKING:
    from pathlib import Path

MAX_REPORTS: Final = 500
MAX_BYTES: Final = 64 << 20
MAX_PINNED: Final = 50
ALWAYS_KEPT: Final = 20
# The folder of fault reports in the data folder, and its name in versions before this one.
FOLDER: Final = "fault-reports"
FORMER_FOLDER: Final = "dossiers"
_STEPS: Final = msgspec.json.Decoder(ReturnDecision)
_NAME: Final = re.compile(r"(\d{6,})\.json\Z")


def folder_in(data: Path) -> Path:
    """Return the folder of fault reports in a data folder: the former one until a box of this version renames it."""
    folder, former = data / FOLDER, data / FORMER_FOLDER
    return former if former.is_dir() and not folder.exists() else folder


def rename_former_folder(data: Path) -> None:
    """Rename the folder that an earlier version made; only the box that has locked the data folder may do this."""
    folder = folder_in(data)
    if folder.name == FORMER_FOLDER:
        folder.rename(data / FOLDER)


class FaultReportStore:
    """The only writer of a folder of fault reports. Readers use `numbers` and `read`."""

    def __init__(
        self, folder: Path, *, most: int = MAX_REPORTS, most_bytes: int = MAX_BYTES, most_pinned: int = MAX_PINNED
    ) -> None:
        self.folder = folder
        self._most, self._most_bytes, self._most_pinned = most, most_bytes, most_pinned
        folder.mkdir(parents=True, exist_ok=True)
        for left_over in folder.glob(".*.tmp"):  # left by a box that was killed while writing
            left_over.unlink(missing_ok=True)

    def add(self, report: FaultReport, number: int = 0) -> int:
        """Store a new report, pinned; return its number once it is on disk. `number` is that of a lost report."""
        number = number or max(numbers(self.folder), default=0) + 1
        while True:
            data = encode(msgspec.structs.replace(report, number=number))
            written = self._write(number, data)
            try:
                os.link(written, self._file(number))  # unlike a rename, this never replaces a file
            except FileExistsError:
                number += 1
                continue
            finally:
                written.unlink(missing_ok=True)
            self._file(number).with_suffix(".pin").touch()
            self._sync()
            self._make_room()
            return number

    def complete(self, number: int, report: FaultReport) -> None:
        """Replace a report with its complete version; only once, and only for the same fault."""
        before = read(self.folder, number)
        if before.complete or (before.at_ns, before.machine.slot) != (report.at_ns, report.machine.slot):
            raise BadFaultReport(f"fault report {number} is already complete, or is about another fault")
        data = encode(msgspec.structs.replace(report, number=number, complete=True))
        self._write(number, data).replace(self._file(number))
        self._sync()

    def pin(self, number: int, *, pinned: bool) -> None:
        """Pin a report, or remove its pin."""
        mark = self._file(number).with_suffix(".pin")
        if pinned:
            read(self.folder, number)
            mark.touch()
        else:
            mark.unlink(missing_ok=True)
        self._sync()

    def note(self, number: int, *lines: ReturnDecision, seq: int = 0) -> None:
        """Append lines about the return to service of a report, with their record; on disk when this returns.

        An incomplete line at the end, from a power cut, is removed first.
        """
        if not self._file(number).exists():
            return
        path = self._file(number).with_suffix(".steps")
        before = path.read_bytes() if path.exists() else b""
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.seek(before.rfind(b"\n") + 1)
            file.truncate()
            for line in lines:
                file.write(stamp(msgspec.json.encode(line), VERSION)[:-1] + b',"seq":%d}\n' % seq)
            file.flush()
            os.fsync(file.fileno())
        self._sync()

    # --- the folder ---------------------------------------------------------------------------------------------------

    def _file(self, number: int) -> Path:
        return file_of(self.folder, number)

    def _write(self, number: int, data: bytes) -> Path:
        """Write bytes to a temporary file and sync it; make the folder if somebody deleted it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f".{number:06d}.{os.getpid()}.tmp"
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return path

    def _sync(self) -> None:
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _make_room(self) -> None:
        kept = numbers(self.folder)
        pinned = [number for number in kept if is_pinned(self.folder, number)]
        for number in pinned[: max(0, len(pinned) - self._most_pinned)]:
            self.pin(number, pinned=False)
        free = [number for number in kept[:-ALWAYS_KEPT] if not is_pinned(self.folder, number)]
        sizes = {number: self._file(number).stat().st_size for number in kept}
        while free and (len(sizes) > self._most or sum(sizes.values()) > self._most_bytes):
            gone = free.pop(0)
            for path in (self._file(gone), self._file(gone).with_suffix(".steps")):
                path.unlink(missing_ok=True)
            del sizes[gone]
        self._sync()


def file_of(folder: Path, number: int) -> Path:
    """Return the file name of a report, which need not exist."""
    return folder / f"{number:06d}.json"


def numbers(folder: Path) -> list[int]:
    """Return the numbers of the reports in a folder, the oldest first."""
    if not folder.is_dir():
        return []
    return sorted(int(match[1]) for path in folder.iterdir() if (match := _NAME.match(path.name)))


def is_pinned(folder: Path, number: int) -> bool:
    """Return whether a report is pinned."""
    return file_of(folder, number).with_suffix(".pin").exists()


class _Numbered(msgspec.Struct):
    """A line's record; 0 in files of earlier versions."""

    seq: int = 0


def steps_of(folder: Path, number: int) -> list[ReturnDecision]:
    """Return the decisions about the return to service of a report, the oldest first."""
    try:
        return [_STEPS.decode(renew_body(FAULT_REPORTS, "step", line, VERSION)) for line in _lines(folder, number)]
    except UNDECODABLE as error:
        raise BadFaultReport(f"the steps of fault report {number} cannot be read: {error}") from error


def last_line(folder: Path, number: int) -> tuple[int, int]:
    """Return the record of a report's last line, and how many lines that record has; zeros if there is none."""
    try:
        seqs = [msgspec.json.decode(line, type=_Numbered).seq for line in _lines(folder, number)]
    except UNDECODABLE as error:
        raise BadFaultReport(f"the steps of fault report {number} cannot be read: {error}") from error
    return (seqs[-1], seqs.count(seqs[-1])) if seqs else (0, 0)


def _lines(folder: Path, number: int) -> list[bytes]:
    """Return the lines of a report's steps; an incomplete line is ignored."""
    path = file_of(folder, number).with_suffix(".steps")
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if line.endswith(b"\n")]


def read(folder: Path, number: int) -> FaultReport:
    """Read one report; BadFaultReport if it does not exist or is incomplete."""
    path = file_of(folder, number)
    try:
        report = decode(path.read_bytes())
    except FileNotFoundError:
        raise BadFaultReport(f"there is no fault report {number} in {folder}") from None
    except OSError as error:
        raise BadFaultReport(f"{path}: {error.strerror or error}") from error
    except UNDECODABLE as error:
        raise BadFaultReport(f"{path} cannot be read: {error}") from error
    if report.number != number:
        raise BadFaultReport(f"{path} contains fault report {report.number}")
    return report
