"""Key files and the list of approved firmware: what a host trusts. Files only; no key ever travels.

A key file is TOML: `serial`, `kind`, `key` (64 hex digits) and, once the device belongs to a table, `enrolled`.
"""

from __future__ import annotations

import os
import secrets
import stat
import tomllib
from typing import TYPE_CHECKING, Any

import msgspec

from firmware_bridge.errors import BadApprovedList, BadKeyFile
from firmware_bridge.seal import KEY_SIZE

if TYPE_CHECKING:
    from pathlib import Path


class DeviceKey(msgspec.Struct, frozen=True):
    """One device's own key. `enrolled` names the table and slot it belongs to, or is empty on the bench."""

    serial: str
    kind: str
    key: bytes
    enrolled: str = ""

    def __repr__(self) -> str:
        """Never show the key."""
        return f"DeviceKey(serial={self.serial!r}, kind={self.kind!r}, enrolled={self.enrolled!r})"


class ApprovedFirmware(msgspec.Struct, frozen=True):
    """One firmware that may serve: its kind, version and digest."""

    kind: str
    version: str
    digest: bytes


def load_key(path: Path) -> DeviceKey:
    """Read a key file; BadKeyFile if it is missing, open to others, or not a key."""
    try:
        mode = path.stat().st_mode
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadKeyFile(f"{path}: {_reason(error)}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadKeyFile(f"{path}: others can read or change this key; run: chmod 600 {path}")
    fields = _table(text, path)
    try:
        key = bytes.fromhex(fields["key"])
        found = DeviceKey(fields["serial"], fields["kind"], key, fields.get("enrolled", ""))
    except (KeyError, TypeError, ValueError) as error:
        raise BadKeyFile(f"{path}: a key file has serial, kind and key (64 hex digits)") from error
    if len(key) != KEY_SIZE:
        raise BadKeyFile(f"{path}: a key has {KEY_SIZE * 2} hex digits, this one has {len(key) * 2}")
    return found


def save_key(path: Path, key: DeviceKey) -> None:
    """Write a key file that only its owner can read; never over an existing one."""
    text = f'serial = "{key.serial}"\nkind = "{key.kind}"\nkey = "{key.key.hex()}"\n'
    if key.enrolled:
        text += f'enrolled = "{key.enrolled}"\n'
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)


def new_key(serial: str, kind: str) -> DeviceKey:
    """Make a fresh key from the operating system's entropy."""
    return DeviceKey(serial, kind, secrets.token_bytes(KEY_SIZE))


def load_approved(path: Path) -> frozenset[ApprovedFirmware]:
    """Read the approved list: TOML, `[[firmware]]` entries with kind, version and digest."""
    try:
        fields = _table(path.read_text(), path)
        entries = [
            ApprovedFirmware(entry["kind"], entry["version"], bytes.fromhex(entry["digest"]))
            for entry in fields["firmware"]
        ]
    except (OSError, UnicodeDecodeError, BadKeyFile, KeyError, TypeError, ValueError) as error:
        raise BadApprovedList(f"{path}: {_reason(error)}") from error
    return frozenset(entries)


def save_approved(path: Path, entries: frozenset[ApprovedFirmware]) -> None:
    """Write an approved list."""
    path.write_text(
        "".join(
            f'[[firmware]]\nkind = "{e.kind}"\nversion = "{e.version}"\ndigest = "{e.digest.hex()}"\n'
            for e in sorted(entries, key=lambda e: (e.kind, e.version))
        )
    )


def _table(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadKeyFile(f"{path}: not TOML: {error}") from error


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
