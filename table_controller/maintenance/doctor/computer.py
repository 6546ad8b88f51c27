"""Checks of the computer of the box: software, clock, disk, ballast, journal, second copy, people."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import PitboxError
from table_controller.access.people_file import load_credentials
from table_controller.controller.clock import BoxClock, read_kernel_clock
from table_controller.host.self_check import check_software
from table_controller.journal import ballast, reader
from table_controller.journal.copy_check import Position, read_position
from table_controller.journal.versions import digests_of
from table_controller.maintenance.doctor.check_result import FAIL, OK, WARN, CheckResult

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig
    from table_controller.controller.clock import KernelClock
    from table_controller.maintenance.doctor.check_result import CheckState

_MB: Final = 1 << 20
# Free megabytes for a warning and for a failure. A day of one table needs about 100.
_LITTLE: Final = 256
_LEAST: Final = 64
# An earlier time means that the clock was never set: a new computer starts at 1970 or 2000 (s).
_SENSIBLE: Final = 1_735_689_600  # 2025-01-01
# How many of the last records are checked unless all are: about a second.
QUICK: Final = 2_000
# How many records the second copy may be behind.
_BEHIND: Final = 500
# Roles that a table needs to continue after a fault.
_NEEDED: Final = ("dealer", "floorperson", "technician")


def judge_clock(kernel: KernelClock | None, *, was_synchronized: bool, now_s: float) -> CheckResult:
    """Return whether the clock is synchronized. `was_synchronized`: systemd-timesyncd reached a server since boot."""
    if now_s < _SENSIBLE:
        return CheckResult("clock", FAIL, f"shows {time.strftime('%Y-%m-%d', time.gmtime(now_s))}: it was never set",
                    "use a time server: timedatectl set-ntp true, or install chrony")  # fmt: skip
    if kernel is not None and kernel.is_synchronized:
        return CheckResult("clock", OK, f"synchronized, wrong by at most {kernel.max_error_us / 1000:.1f} ms")
    if was_synchronized:
        return CheckResult("clock", OK, "was synchronized since the boot, but not lately")
    return CheckResult(
        "clock", WARN, "not synchronized by a time server: after a power cut every deck counts as expired",
        "timedatectl set-ntp true, or install chrony; is the time server reachable?",
    )  # fmt: skip


def check_clock() -> CheckResult:
    """Check the clock of this computer."""
    return judge_clock(
        read_kernel_clock(),
        was_synchronized=BoxClock(read_clock=lambda: None).is_clock_synchronized(),
        now_s=time.time(),
    )


def check_disk(folder: Path, ballast_bytes: int = 0) -> list[CheckResult]:
    """Check free space, write protection and ballast of the data folder."""
    if not folder.is_dir():
        return [
            CheckResult(
                "disk", FAIL, f"{folder} is not a folder", f"mkdir -p {folder}, and give it to the user of the box"
            )
        ]
    try:
        disk_state = os.statvfs(folder)
    except OSError as error:
        return [CheckResult("disk", FAIL, f"{folder}: {error.strerror}", "check the disk: dmesg | tail")]
    if disk_state.f_flag & os.ST_RDONLY:
        return [CheckResult("disk", FAIL, f"{folder} is on a disk that is mounted read-only",
                     "this often happens when a disk fails: check dmesg | tail, then replace it")]  # fmt: skip
    lines = []
    room = disk_state.f_bavail * disk_state.f_frsize // _MB
    state: CheckState = FAIL if room < _LEAST else WARN if room < _LITTLE else OK
    do = "" if state == OK else "make room: old captures and exports first; the table locks when the disk is full"
    lines.append(CheckResult("disk", state, f"{folder}: {room:,} MB free", do))
    if not os.access(folder, os.W_OK | os.X_OK):
        lines.append(CheckResult("disk", WARN, f"this user cannot write to {folder}",
                          "run it as the user of the box: sudo -u pitbox pitbox doctor ..."))  # fmt: skip
    if ballast_bytes:
        file = folder / "journal" / ballast.NAME
        if file.exists() or not (folder / "journal").is_dir():
            lines.append(CheckResult("ballast", OK, f"{ballast_bytes // _MB} MB are reserved for a full disk"))
        else:
            lines.append(CheckResult("ballast", FAIL, "it was freed because the disk was full",
                              "make room, then restart the box; it creates the ballast again"))  # fmt: skip
    return lines


def check_journal(folder: Path, *, whole: bool = False) -> CheckResult:
    """Check the chain of the newest records, or of all."""
    try:
        if not folder.is_dir() or not reader.segments(folder):
            return CheckResult(
                "journal", WARN, f"{folder} has none yet", "the box creates it at its first start: pitbox run"
            )
        first, last = reader.bounds(folder)
        verdict = reader.verify(folder, None if whole or last - first < QUICK else last - QUICK)
    except PitboxError as error:
        return CheckResult("journal", FAIL, f"{error.code}: {error}", f"pitbox explain {error.code}")
    except OSError as error:
        return CheckResult("journal", FAIL, f"{folder}: {error.strerror}", "run it as the user of the box")
    if not verdict.ok:
        return CheckResult("journal", FAIL, f"record {verdict.bad}: {verdict.why}",
                    "change nothing; restore the journal from its second copy as in docs/recovery.md")  # fmt: skip
    return CheckResult("journal", OK, f"records {verdict.first:,} to {verdict.last:,} are intact")


def check_second_copy(source: Path, copy: Path | None, data: Path | None = None) -> CheckResult:
    """Check how far the second copy is behind, and the result of its nightly check."""
    if copy is None:
        return CheckResult("second copy", WARN, "none is configured: if the disk fails, the meters are lost",
                    "set journal.copy to a folder on another disk or host")  # fmt: skip
    try:
        if not copy.is_dir() or not reader.segments(copy):
            return CheckResult("second copy", FAIL, f"{copy} has none",
                        "check that its disk is mounted; the box writes the copy")  # fmt: skip
        behind = reader.bounds(source)[1] - reader.bounds(copy)[1]
    except PitboxError as error:
        return CheckResult("second copy", FAIL, f"{error.code}: {error}", f"pitbox explain {error.code}")
    except OSError as error:
        return CheckResult("second copy", FAIL, f"{copy}: {error.strerror}", "check that its disk is mounted")
    position = Position() if data is None else read_position(data)
    if position.damage is not None:
        code = position.damage.code
        return CheckResult("second copy", FAIL, f"{code}: {position.damage}", f"pitbox explain {code}")
    if behind > _BEHIND:
        return CheckResult(
            "second copy",
            WARN,
            f"{behind:,} records behind",
            "check that the box runs and that the disk of the copy is not slow",
        )
    checked = f"; checked up to record {position.next - 1:,} on {position.day}" if position.day else ""
    return CheckResult("second copy", OK, f"{copy}, {max(0, behind)} records behind{checked}")


def check_people(path: Path) -> CheckResult:
    """Check whether somebody of every required role can sign on."""
    if not path.exists():
        return CheckResult("people", FAIL, f"{path} is missing: nobody can sign on", "pitbox people add")
    try:
        known = load_credentials(path)
    except PitboxError as error:
        return CheckResult("people", FAIL, f"{error.code}: {error}", f"pitbox explain {error.code}")
    roles = {each.role for each in known.values() if not each.revoked}
    lacking = [role for role in _NEEDED if role not in roles]
    if lacking:
        return CheckResult("people", WARN, f"no {' and no '.join(lacking)} can sign on", "pitbox people add")
    return CheckResult("people", OK, f"{len(known)} credentials, every required role")


def check_approved_software(config: TableConfig) -> CheckResult:
    """Check whether two people approved the installed software and the configuration."""
    try:
        _, finding = check_software(config, digests_of(config.edition, config.submission, config.kinds))
    except PitboxError as error:
        return CheckResult("software", FAIL, f"{error.code}: {error}", f"pitbox explain {error.code}")
    if config.development:
        return CheckResult("software", WARN, finding, "for play, remove table.development, then: pitbox approve")
    return CheckResult("software", OK, finding)


def check_computer(config: TableConfig, *, whole: bool) -> list[CheckResult]:
    """Run every check of the computer."""
    return [
        check_approved_software(config),
        check_clock(),
        *check_disk(config.data, config.journal.policy.ballast_bytes),
        check_journal(config.journal.folder, whole=whole),
        check_second_copy(config.journal.folder, config.journal.copy, config.data),
        check_people(config.people),
    ]
