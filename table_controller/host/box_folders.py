"""Checks whether the box can write to its folders, as its user and under the limits of its systemd unit.

The shipped unit makes the whole file system read-only except for the folders of the service. `drop_in` returns a
drop-in file that opens the others, for an administrator to install.
"""

from __future__ import annotations

import os
import pwd
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import FolderNotWritable, code_of
from table_controller.host.notices import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.config import TableConfig

CODE: Final = code_of(FolderNotWritable.number)
# The shipped unit reads NAME.toml in this folder for its instance NAME.
CONFIGURATION: Final = Path("/etc/pitbox")
# The base folder that systemd opens for each of these properties of a unit.
_OWN: Final = {
    "StateDirectory": Path("/var/lib"), "CacheDirectory": Path("/var/cache"), "LogsDirectory": Path("/var/log"),
    "RuntimeDirectory": Path("/run"), "ConfigurationDirectory": Path("/etc"),
}  # fmt: skip
# A unit may see other content in these folders; ReadWritePaths does not open them.
_HOMES: Final = (Path("/home"), Path("/root"), Path("/run/user"))
_TEMPORARY: Final = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - named, not used
_RUN: Final = Path("/run")
# systemctl answers at once unless systemd hangs (s).
_PATIENCE_S: Final = 10.0
_PROPERTIES: Final = ("LoadState", "User", "ProtectSystem", "ProtectHome", "PrivateTmp", "ReadWritePaths", *_OWN)
_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "%": "%%", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


class BoxFolder(msgspec.Struct, frozen=True):
    """A folder that the box writes to, and the key of table.toml that names it."""

    key: str
    folder: Path


class UnitLimits(msgspec.Struct, frozen=True):
    """The limits of a unit: the user of its processes, and where they can write."""

    unit: str
    user: str
    is_strict: bool  # everything except `writable` is read-only
    hides_homes: bool
    has_own_tmp: bool
    writable: tuple[Path, ...]


def folders_of(config: TableConfig) -> list[BoxFolder]:
    """Return every folder that the box of a table writes to, each once."""
    named = [
        ("data.folder", config.data),
        ("journal.copy", config.journal.copy),
        ("journal.archive", config.journal.policy.archive),
        ("control.socket", config.control.socket.parent),
        ("people.file", config.people.parent),
        *((f"device.{slot.name}.key", slot.key_file.parent) for slot in config.slots),
    ]
    folders: dict[Path, BoxFolder] = {}
    for key, folder in named:
        if folder is not None:
            folders.setdefault(Path(os.path.normpath(folder)), BoxFolder(key, Path(os.path.normpath(folder))))
    return list(folders.values())


def unit_name(path: Path) -> str | None:
    """Return the unit that runs a table.toml; None if the file is not in the folder of the shipped unit."""
    return f"pitbox@{path.stem}" if path.parent == CONFIGURATION and path.suffix == ".toml" else None


# --- checked from outside ---------------------------------------------------------------------------------------------


def unit_limits(unit: str) -> UnitLimits | None:
    """Return the limits of a unit with all its drop-ins; None without systemd or without this unit."""
    asked = ["systemctl", "show", f"{unit}.service", *(f"--property={name}" for name in _PROPERTIES)]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)  # noqa: S603 - ours
    except (OSError, subprocess.TimeoutExpired):
        return None
    shown = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
    if done.returncode != 0 or shown.get("LoadState") != "loaded":
        return None
    return limits_of(unit, shown)


def limits_of(unit: str, shown: dict[str, str]) -> UnitLimits:
    """Return the limits from the properties of a unit."""
    writable = [Path(word.lstrip("-+")) for word in _words(shown.get("ReadWritePaths", ""))]
    for name, base in _OWN.items():
        writable += [base / word.partition(":")[0] for word in shown.get(name, "").split()]
    return UnitLimits(
        unit, shown.get("User") or "root", shown.get("ProtectSystem") == "strict",
        shown.get("ProtectHome") in ("yes", "tmpfs"), shown.get("PrivateTmp") == "yes", tuple(writable),
    )  # fmt: skip


def _words(shown: str) -> list[str]:
    """Return the paths of a property; systemd quotes those with spaces."""
    try:
        return shlex.split(shown)
    except ValueError:
        return shown.split()


def why_closed(limits: UnitLimits, folder: Path) -> str:
    """Return why the unit does not let the box write to a folder; empty if it does."""
    if limits.hides_homes and _below(folder, _HOMES):
        return "the unit hides home folders (ProtectHome)"
    if limits.has_own_tmp and _below(folder, _TEMPORARY):
        return "the unit has its own temporary folder (PrivateTmp), which is deleted with the box"
    if limits.is_strict and not _below(folder, (*limits.writable, _RUN)):
        return "the unit does not open it (ProtectSystem=strict)"
    return ""


def _below(folder: Path, bases: tuple[Path, ...]) -> bool:
    return any(folder == base or base in folder.parents for base in bases)


def unit_notices(config: TableConfig) -> list[Notice]:
    """Return a notice for every folder that the installed unit or its user cannot write to."""
    unit = unit_name(config.path)
    limits = None if unit is None else unit_limits(unit)
    return [] if limits is None else list(_judged(config, limits))


def _judged(config: TableConfig, limits: UnitLimits) -> Iterator[Notice]:
    for each in folders_of(config):
        why = why_closed(limits, each.folder)
        if why:
            can_open = not _below(each.folder, (*_HOMES, *_TEMPORARY))
            do = install_commands(config.path) if can_open else "name another folder, for example below /srv or /mnt"
            text = f"{each.key}: {limits.unit} cannot write to {each.folder}: {why}"
            yield Notice(each.key, CODE, text, do, True)
        elif each.folder.is_dir() and _may_write(limits.user, each.folder) is False:
            text = f"{each.key}: user {limits.user} of {limits.unit} cannot write to {each.folder}"
            yield Notice(each.key, CODE, text, f"chown {limits.user}: {each.folder}", True)


def _may_write(user: str, folder: Path) -> bool | None:
    """Return whether a user can write to a folder; None if only root or that user can find out."""
    try:
        known = pwd.getpwnam(user)
    except KeyError:
        return None
    if os.geteuid() == known.pw_uid:
        return os.access(folder, os.W_OK | os.X_OK)
    if os.geteuid() != 0:
        return None
    groups = os.getgrouplist(user, known.pw_gid)
    tried = subprocess.run(  # noqa: S603 - fixed arguments
        ["/usr/bin/test", "-w", str(folder), "-a", "-x", str(folder)],
        user=known.pw_uid, group=known.pw_gid, extra_groups=groups, cwd="/", check=False, timeout=_PATIENCE_S,
    )  # fmt: skip
    return tried.returncode == 0


# --- checked by the box -----------------------------------------------------------------------------------------------


def box_notices(config: TableConfig) -> list[Notice]:
    """Return a notice for every folder that this process cannot write to. Missing folders are reported elsewhere."""
    notices = []
    for each in folders_of(config):
        if not each.folder.is_dir() or os.access(each.folder, os.W_OK | os.X_OK):
            continue
        closed = bool(os.statvfs(each.folder).f_flag & os.ST_RDONLY)
        under_systemd = "INVOCATION_ID" in os.environ
        if closed and under_systemd:
            why, do = "the systemd unit does not open it, or its disk is read-only", install_commands(config.path)
        elif closed:
            why, do = "its disk is read-only", "check the disk: dmesg | tail"
        else:
            user = _own_name()
            why, do = f"it does not belong to user {user}", f"chown {user}: {each.folder}"
        text = f"{each.key}: this box cannot write to {each.folder}: {why}"
        notices.append(Notice(each.key, CODE, text, do, True))
    return notices


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


# --- the drop-in ------------------------------------------------------------------------------------------------------


def drop_in_path(path: Path) -> Path:
    """Return the path of the drop-in of a table."""
    return Path(f"/etc/systemd/system/pitbox@{path.stem}.service.d/folders.conf")


def install_commands(path: Path) -> str:
    """Return the commands that install the drop-in."""
    target, unit = drop_in_path(path), f"pitbox@{path.stem}"
    return (
        f"as root: mkdir -p {target.parent} && pitbox config unit {path} > {target} && systemctl daemon-reload && "
        f"systemctl restart {unit}"
    )


def drop_in(config: TableConfig) -> str:
    """Return a drop-in for the unit of a table that opens every folder that its table.toml names."""
    shipped = UnitLimits("", "", True, True, True, (Path("/var/lib/pitbox"), CONFIGURATION))
    outside = [each for each in folders_of(config) if why_closed(shipped, each.folder)]
    lines = [
        f"# Folders that the box of {config.id} may write to; from pitbox config unit. Install it when folders change:",
        *(f"#   {command}" for command in install_commands(config.path).removeprefix("as root: ").split(" && ")),
        "[Unit]", "# Mount folders of other computers first.",
        "After=remote-fs.target", "[Service]",
    ]  # fmt: skip
    for each in outside:
        if _below(each.folder, (*_HOMES, *_TEMPORARY)):
            lines.append(f"# {each.key}: a drop-in cannot open a home folder or /tmp; name another folder.")
            continue
        # The - lets the box start without the folder.
        lines += [f"# {each.key}", f'ReadWritePaths="-{str(each.folder).translate(_ESCAPED)}"']
    socket = config.control.socket.parent
    if socket != _RUN and _below(socket, (_RUN,)):
        lines += ["# control.socket", f'RuntimeDirectory="{str(socket.relative_to(_RUN)).translate(_ESCAPED)}"']
    return "\n".join(lines) + "\n"
