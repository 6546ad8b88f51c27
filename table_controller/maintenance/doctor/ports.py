"""Checks of the ports, keys and approved list of a table. Opens no port."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from firmware_bridge.transport.ports import is_path
from table_controller.maintenance.doctor.check_result import FAIL, OK, WARN, CheckResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.config import TableConfig

# A server on the local network answers within this time (s).
TIMEOUT_S: Final = 3.0
_PROC: Final = Path("/proc")


def check_ports(config: TableConfig, box_pid: int | None) -> list[CheckResult]:
    """Check every port; return the failures, or one good result."""
    lines = [check_port_of_slot(slot.name, slot.port, box_pid) for slot in config.slots]
    good = [line for line in lines if line.state == OK]
    bad = [line for line in lines if line.state != OK]
    if good and len(good) == len(lines):
        held = f", in use by the box ({box_pid})" if box_pid else ""
        return [CheckResult("ports", OK, f"all {len(good)} exist and can be opened{held}")]
    return bad


def check_port_of_slot(name: str, url: str, box_pid: int | None) -> CheckResult:
    """Check one port."""
    what = f"port of {name}"
    if url.startswith(("socket://", "rfc2217://")):
        address = urlsplit(url)
        problem = connection_problem(address.hostname or "", address.port or 0)
        if problem is None:
            return CheckResult(what, OK, f"{url} answers")
        return CheckResult(
            what, FAIL, f"{url}: {problem}", "check that the port server is on and its network cable is plugged in"
        )
    if not is_path(url):
        from table_controller.maintenance.doctor.usb_ports import check_usb_port  # noqa: PLC0415 - tables without USB do not load pyusb

        return check_usb_port(what, url, box_pid, holders)
    path = Path(url)
    if not path.exists():
        return CheckResult(what, FAIL, f"{url} is missing",
                    "check that its cable is plugged in and the machine is on: ls -l /dev/serial/by-id")  # fmt: skip
    if not os.access(path, os.R_OK | os.W_OK):
        group = path.group() if _has_group(path) else str(path.stat().st_gid)
        return CheckResult(what, FAIL, f"this user cannot open {url}",
                    f"sudo usermod -aG {group} $USER, then log in again; or run it as the user of the box")  # fmt: skip
    others = [(pid, program) for pid, program in holders(path) if pid not in (box_pid, os.getpid())]
    if others:
        users = ", ".join(f"{program} ({pid})" for pid, program in others)
        return CheckResult(what, FAIL, f"{url} is in use by {users}",
                    f"stop it: it reads bytes meant for the box{_modem_hint(others)}")  # fmt: skip
    return CheckResult(what, OK, url)


def _modem_hint(others: list[tuple[int, str]]) -> str:
    return "; sudo apt remove modemmanager" if any("odemManager" in program for _, program in others) else ""


def _has_group(path: Path) -> bool:
    try:
        path.group()
    except KeyError:
        return False
    return True


def holders(path: Path) -> list[tuple[int, str]]:
    """Return the processes that have a file open; those of other users may be hidden."""
    try:
        target = path.stat()
    except OSError:
        return []
    processes = [each for each in _PROC.iterdir() if each.name.isdigit()]
    holding = [each for each in processes if any(_same(entry, target) for entry in _open_files(each))]
    return sorted((int(each.name), _program(each)) for each in holding)


def _open_files(process: Path) -> Iterable[Path]:
    try:
        return list((process / "fd").iterdir())
    except OSError:  # it has ended, or belongs to another user
        return ()


def _same(entry: Path, target: os.stat_result) -> bool:
    try:
        seen = entry.stat()
    except OSError:
        return False
    if stat.S_ISCHR(target.st_mode):  # a device can have several paths
        return stat.S_ISCHR(seen.st_mode) and seen.st_rdev == target.st_rdev
    return (seen.st_dev, seen.st_ino) == (target.st_dev, target.st_ino)


def _program(process: Path) -> str:
    try:
        return (process / "comm").read_text("utf-8").strip()
    except OSError:
        return "a process"


def connection_problem(host: str, number: int) -> str | None:
    """Connect to a server and disconnect; return the error, or None."""
    try:
        socket.create_connection((host, number), TIMEOUT_S).close()
    except OSError as error:
        return error.strerror or str(error)
    return None


# --- keys and firmware ------------------------------------------------------------------------------------------------


def check_keys(config: TableConfig) -> list[CheckResult]:
    """Check the folders of key files and enrollment; the configuration has checked the files themselves."""
    lines = [
        CheckResult("keys", WARN, f"other users can write to {folder}", f"chmod go-w {folder}")
        for folder in sorted({slot.key_file.parent for slot in config.slots})
        if folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ]
    unenrolled = [f"{slot.name} ({slot.key.serial})" for slot in config.slots if not slot.key.enrolled]
    if unenrolled:
        lines.append(CheckResult("keys", WARN, f"not enrolled at any table: {', '.join(unenrolled)}",
                          "enroll them, so that bench commands cannot use their keys: pitbox enroll"))  # fmt: skip
    return lines or [CheckResult("keys", OK, f"all {len(config.slots)} are private and enrolled")]


def check_approved_list(config: TableConfig) -> list[CheckResult]:
    """Check that the approved list has firmware for every kind of machine at this table."""
    kinds = {slot.kind for slot in config.slots}
    lacking = sorted(kinds - {entry.kind for entry in config.approved})
    if lacking:
        return [CheckResult("approved list", FAIL, f"no firmware is approved for: {', '.join(lacking)}",
                     "install the approved list of the laboratory; without it they stay out of service")]  # fmt: skip
    return [CheckResult("approved list", OK, f"{len(config.approved)} firmwares, for every kind at this table")]
