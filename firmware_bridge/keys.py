"""Key files and the list of approved firmware. A key is never sent over a link.

A key file is TOML: `serial`, `kind`, `key` (64 hex digits) and, once the device belongs to a table, `enrolled`.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import tomllib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.decode_errors import BAD_TOML
from firmware_bridge.errors import BadApprovedList, BadKeyFile
from firmware_bridge.messages import Name
from firmware_bridge.seal import KEY_SIZE

if TYPE_CHECKING:
    from pathlib import Path

# SHA-256, as in a device's hello.
DIGEST_SIZE: Final = 32


class DeviceKey(msgspec.Struct, frozen=True):
    """The key of one device. `enrolled` names its table and slot; empty on the bench."""

    serial: str
    kind: str
    key: bytes
    enrolled: str = ""

    def __repr__(self) -> str:
        """Hide the key."""
        return f"DeviceKey(serial={self.serial!r}, kind={self.kind!r}, enrolled={self.enrolled!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Hide the key from rich, too."""
        return [("serial", self.serial), ("kind", self.kind), ("enrolled", self.enrolled)]


class ApprovedFirmware(msgspec.Struct, frozen=True):
    """One approved firmware: its kind, version and digest."""

    kind: str
    version: str
    digest: bytes


class _KeyFile(msgspec.Struct, forbid_unknown_fields=True):
    serial: Name
    kind: Name
    key: str
    enrolled: str = ""


class _ApprovedEntry(msgspec.Struct, forbid_unknown_fields=True):
    kind: Name
    version: Name
    digest: str


class _ApprovedFile(msgspec.Struct, forbid_unknown_fields=True):
    firmware: list[_ApprovedEntry] = []  # an empty list approves nothing, which is safe


def load_key(path: Path) -> DeviceKey:
    """Read a key file; BadKeyFile if it is missing, accessible to other users, or malformed."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # reading a pipe would block
            raise BadKeyFile(f"{path}: not a file")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadKeyFile(f"{path}: {_reason(error)}") from error
    fields = _table(text, path)
    try:
        parsed = msgspec.convert(fields, _KeyFile)
        key = bytes.fromhex(parsed.key)
    except ValueError as error:  # msgspec's errors are ValueErrors; they name the field, never its value
        raise BadKeyFile(f"{path}: a key file has serial, kind and key (64 hex digits)") from error
    if len(key) != KEY_SIZE:
        raise BadKeyFile(f"{path}: a key has {KEY_SIZE * 2} hex digits, this one has {len(key) * 2}")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):  # checked last: the advice fits only a valid key file
        raise BadKeyFile(f"{path}: others can read or change this key; run: chmod 600 {path}")
    return DeviceKey(parsed.serial, parsed.kind, key, parsed.enrolled)


def save_key(path: Path, key: DeviceKey) -> None:
    """Write a key file that only its owner can read. Never overwrites a file."""
    text = f"serial = {_quoted(key.serial)}\nkind = {_quoted(key.kind)}\nkey = {_quoted(key.key.hex())}\n"
    if key.enrolled:
        text += f"enrolled = {_quoted(key.enrolled)}\n"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)


def new_key(serial: str, kind: str) -> DeviceKey:
    """Return a new random key from the operating system's entropy."""
    return DeviceKey(serial, kind, secrets.token_bytes(KEY_SIZE))


def load_approved(path: Path) -> frozenset[ApprovedFirmware]:
    """Read the approved list: TOML, `[[firmware]]` entries with kind, version and digest."""
    try:
        listed = msgspec.convert(_table(path.read_text("utf-8"), path), _ApprovedFile).firmware
        entries = frozenset(ApprovedFirmware(e.kind, e.version, bytes.fromhex(e.digest)) for e in listed)
    except (OSError, BadKeyFile, ValueError) as error:
        raise BadApprovedList(f"{path}: {_reason(error)}") from error
    for entry in entries:
        if len(entry.digest) != DIGEST_SIZE:
            raise BadApprovedList(
                f"{path}: the digest of {entry.kind} {entry.version} needs {2 * DIGEST_SIZE} hex digits"
            )
    return entries


def save_approved(path: Path, entries: frozenset[ApprovedFirmware]) -> None:
    """Write an approved list."""
    lines: list[str] = []
    for entry in sorted(entries, key=lambda entry: (entry.kind, entry.version, entry.digest)):
        lines += ["[[firmware]]", f"kind = {_quoted(entry.kind)}", f"version = {_quoted(entry.version)}"]
        lines += [f"digest = {_quoted(entry.digest.hex())}"]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _quoted(text: str) -> str:
    """Return a text as a TOML string; JSON's escapes are valid TOML, except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _table(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except BAD_TOML as error:
        raise BadKeyFile(f"{path}: not TOML: {error}") from error


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
