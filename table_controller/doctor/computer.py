"""The box's own computer: clock, disk, ballast, journal, second copy, people. Only reads."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import PitboxError
from table_controller.controller.clock import BoxClock, discipline
from table_controller.controller.self_check import check_software
from table_controller.doctor.lines import FAIL, OK, WARN, Line
from table_controller.journal import ballast, reader
from table_controller.journal.copy_check import Position, read_position
from table_controller.journal.versions import digests_of
from table_controller.people import load_people

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig
    from table_controller.controller.clock import Discipline
    from table_controller.doctor.lines import State

_MB: Final = 1 << 20
# Megabytes. A day of one table takes about 100; below the least the journal is about to fail.
_LITTLE: Final = 256
_LEAST: Final = 64
# Before this the clock was never set: the battery of a new computer is at 1970 or 2000 (s).
_SENSIBLE: Final = 1_735_689_600  # 2025-01-01
# Records at the end that are checked unless all are: a second's work.
QUICK: Final = 2_000
# So many records may be on their way to the second copy.
_BEHIND: Final = 500
# Roles without which a table cannot go on after a fault.
_NEEDED: Final = ("dealer", "floorperson", "technician")


def clock(told: Discipline | None, *, heard: bool, now_s: float) -> Line:
    """Say whether the clock is known to be right. `heard`: systemd's client has heard a server since power came."""
    if now_s < _SENSIBLE:
        return Line("clock", FAIL, f"shows {time.strftime('%Y-%m-%d', time.gmtime(now_s))}: it was never set",
                    "set it by a time server: timedatectl set-ntp true, or install chrony")  # fmt: skip
    if told is not None and told.kept:
        return Line("clock", OK, f"kept by a time server, wrong by at most {told.at_most_us / 1000:.1f} ms")
    if heard:
        return Line("clock", OK, "a time server was heard since power came; not lately")
    return Line(
        "clock", WARN, "no time server keeps it: after a power cut every deck counts as expired",
        "timedatectl set-ntp true, or install chrony; is the time server reachable?",
    )  # fmt: skip


def this_clock() -> Line:
    """Look at this computer's clock."""
    return clock(discipline(), heard=BoxClock(ask=lambda: None).synchronised(), now_s=time.time())


def disk(folder: Path, ballast_bytes: int = 0) -> list[Line]:
    """Look at room, write protection and ballast where the box keeps its data."""
    if not folder.is_dir():
        return [Line("disk", FAIL, f"{folder} is no folder", f"mkdir -p {folder}, and give it to the box's user")]
    try:
        found = os.statvfs(folder)
    except OSError as error:
        return [Line("disk", FAIL, f"{folder}: {error.strerror}", "is the disk there? dmesg | tail")]
    if found.f_flag & os.ST_RDONLY:
        return [Line("disk", FAIL, f"{folder} is on a disk that is mounted read-only",
                     "a disk that fails is often remounted so: dmesg | tail, then replace it")]  # fmt: skip
    lines = []
    room = found.f_bavail * found.f_frsize // _MB
    state: State = FAIL if room < _LEAST else WARN if room < _LITTLE else OK
    do = "" if state == OK else "make room: old captures and exports first; the table locks when it is used up"
    lines.append(Line("disk", state, f"{folder}: {room:,} MB free", do))
    if not os.access(folder, os.W_OK | os.X_OK):
        lines.append(Line("disk", WARN, f"{folder} cannot be written by this user",
                          "ask as the box's own user: sudo -u pitbox pitbox doctor ..."))  # fmt: skip
    if ballast_bytes:
        lies = folder / "journal" / ballast.NAME
        if lies.exists() or not (folder / "journal").is_dir():
            lines.append(Line("ballast", OK, f"{ballast_bytes // _MB} MB kept for the day that the disk is full"))
        else:
            lines.append(Line("ballast", FAIL, "given up: the disk was full",
                              "make room, then restart the box; it lays the ballast again"))  # fmt: skip
    return lines


def journal(folder: Path, *, whole: bool = False) -> Line:
    """Check the newest records, or all of them, against their heads."""
    try:
        if not folder.is_dir() or not reader.segments(folder):
            return Line("journal", WARN, f"{folder} holds none yet", "the box writes it at its first start: pitbox run")
        first, last = reader.bounds(folder)
        verdict = reader.verify(folder, None if whole or last - first < QUICK else last - QUICK)
    except PitboxError as error:
        return Line("journal", FAIL, f"{error.code}: {error}", f"pitbox explain {error.code}")
    except OSError as error:
        return Line("journal", FAIL, f"{folder}: {error.strerror}", "ask as the box's own user")
    if not verdict.ok:
        return Line("journal", FAIL, f"record {verdict.bad}: {verdict.why}",
                    "touch nothing; docs/recovery.md: a damaged journal is restored from its second copy")  # fmt: skip
    return Line("journal", OK, f"records {verdict.first:,} to {verdict.last:,} hold")


def second_copy(source: Path, copy: Path | None, data: Path | None = None) -> Line:
    """Compare how far the second copy is, and what its nightly check found."""
    if copy is None:
        return Line("second copy", WARN, "none is configured: one broken disk loses the meters",
                    "set journal.copy to a folder on another disk or host")  # fmt: skip
    try:
        if not copy.is_dir() or not reader.segments(copy):
            return Line("second copy", FAIL, f"{copy} holds none",
                        "is its disk mounted? the box begins it by itself")  # fmt: skip
        behind = reader.bounds(source)[1] - reader.bounds(copy)[1]
    except PitboxError as error:
        return Line("second copy", FAIL, f"{error.code}: {error}", f"pitbox explain {error.code}")
    except OSError as error:
        return Line("second copy", FAIL, f"{copy}: {error.strerror}", "is its disk mounted?")
    position = Position() if data is None else read_position(data)
    if position.damage is not None:
        code = position.damage.code
        return Line("second copy", FAIL, f"{code}: {position.damage}", f"pitbox explain {code}")
    if behind > _BEHIND:
        return Line("second copy", WARN, f"{behind:,} records behind", "does the box run? is the copy's disk slow?")
    checked = f"; read again up to record {position.next - 1:,} on {position.day}" if position.day else ""
    return Line("second copy", OK, f"{copy}, {max(0, behind)} records behind{checked}")


def people(path: Path) -> Line:
    """See whether somebody of every role can sign on."""
    if not path.exists():
        return Line("people", FAIL, f"{path} is not there: nobody can sign on", "pitbox people add")
    try:
        known = load_people(path)
    except PitboxError as error:
        return Line("people", FAIL, f"{error.code}: {error}", f"pitbox explain {error.code}")
    roles = {each.role for each in known.values() if not each.revoked}
    lacking = [role for role in _NEEDED if role not in roles]
    if lacking:
        return Line("people", WARN, f"no {' and no '.join(lacking)} can sign on", "pitbox people add")
    return Line("people", OK, f"{len(known)} credentials, somebody of every role")


def software(config: TableConfig) -> Line:
    """See whether two people approved what is installed and configured here."""
    try:
        _, finding = check_software(config, digests_of(config.edition, config.submission, config.kinds))
    except PitboxError as error:
        return Line("software", FAIL, f"{error.code}: {error}", f"pitbox explain {error.code}")
    if config.development:
        return Line("software", WARN, finding, "for play, remove table.development, then: pitbox approve")
    return Line("software", OK, finding)


def computer(config: TableConfig, *, whole: bool) -> list[Line]:
    """Return every line about the computer."""
    return [
        software(config),
        this_clock(),
        *disk(config.data, config.journal.policy.ballast_bytes),
        journal(config.journal.folder, whole=whole),
        second_copy(config.journal.folder, config.journal.copy, config.data),
        people(config.people),
    ]
