"""`table.toml`: read, validated whole, frozen. An unknown key is named with its path and the nearest known one.

So far it says which game is played and which devices stand where. Nothing is opened here.
"""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from devices.kinds import KINDS
from firmware_bridge.errors import BadConfiguration, SerialTwice
from firmware_bridge.keys import ApprovedFirmware, DeviceKey, load_approved, load_key

if TYPE_CHECKING:
    from pathlib import Path

Game = Literal["asia_poker", "saigon_5_card", "over_under", "dj_wild", "face_up_pai_gow"]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table itself."""

    name: str
    game: Game
    approved: str  # the list of approved firmware; like every path, relative to the file it stands in


class _Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One slot, as the file has it."""

    port: str
    key: str


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file. `device` is by kind, then by number: [device.shuffler.1] is slot shuffler.1."""

    table: _Table
    device: dict[str, dict[str, _Device]]


class SlotConfig(msgspec.Struct, frozen=True):
    """One slot: what kind of device stands there, at which port, and the key of the one that is enrolled."""

    name: str
    kind: str
    port: str
    key: DeviceKey


class TableConfig(msgspec.Struct, frozen=True):
    """A table's configuration, with keys and approved list read."""

    name: str
    game: str
    slots: tuple[SlotConfig, ...]
    approved: frozenset[ApprovedFirmware]


def load_config(path: Path) -> TableConfig:
    """Read a configuration whole; BadConfiguration, BadKeyFile or BadApprovedList say what is wrong and where."""
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadConfiguration(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{path}: not TOML: {error}") from error
    _check_keys(raw, path)
    try:
        file = msgspec.convert(raw, _File)
    except msgspec.ValidationError as error:
        raise BadConfiguration(f"{path}: {_said(error)}") from error
    slots = tuple(
        _slot(path, kind, number, device) for kind, numbers in file.device.items() for number, device in numbers.items()
    )
    _check_slots(slots, path)
    return TableConfig(file.table.name, file.table.game, slots, load_approved(path.parent / file.table.approved))


def _slot(path: Path, kind: str, number: str, device: _Device) -> SlotConfig:
    return SlotConfig(f"{kind}.{number}", kind, device.port, load_key(path.parent / device.key))


def _check_slots(slots: tuple[SlotConfig, ...], path: Path) -> None:
    """One device stands in one slot, at one port, and is of the slot's kind."""
    by_serial: dict[str, str] = {}
    by_port: dict[str, str] = {}
    for slot in slots:
        if slot.key.kind != slot.kind:
            raise BadConfiguration(f"{path}: device.{slot.name}.key is the key of a {slot.key.kind}")
        other = by_serial.setdefault(slot.key.serial, slot.name)
        if other != slot.name:
            raise SerialTwice(f"{path}: {other} and {slot.name} both name serial number {slot.key.serial}")
        other = by_port.setdefault(slot.port, slot.name)
        if other != slot.name:
            raise BadConfiguration(f"{path}: {other} and {slot.name} are at the same port, {slot.port}")


# --- keys that nobody knows -------------------------------------------------------------------------------------------

_SECTIONS: Final = {"table": _Table, "device": None}


def _check_keys(raw: dict[str, Any], path: Path) -> None:
    """Raise BadConfiguration for the first key that is not known, with its full path and what was probably meant."""
    _known(raw, list(_SECTIONS), "", path)
    if isinstance(raw.get("table"), dict):
        _known(raw["table"], list(_Table.__struct_fields__), "table.", path)
    if not isinstance(raw.get("device"), dict):
        return
    _known(raw["device"], list(KINDS), "device.", path)
    for kind, numbers in raw["device"].items():
        if not isinstance(numbers, dict):
            raise BadConfiguration(f"{path}: device.{kind} needs a number, as in [device.{kind}.1]")
        for number, device in numbers.items():
            if not (number.isascii() and number.isdigit() and number[0] != "0" and len(number) <= 2):
                raise BadConfiguration(f"{path}: device.{kind}.{number}: slots are numbered 1 to 99")
            if not isinstance(device, dict):
                raise BadConfiguration(f"{path}: device.{kind}.{number} is a section with port and key")
            _known(device, list(_Device.__struct_fields__), f"device.{kind}.{number}.", path)


def _known(section: dict[str, Any], known: list[str], where: str, path: Path) -> None:
    for key in section:
        if key not in known:
            near = get_close_matches(key, known, 1)
            meant = f"did you mean {where}{near[0]}?" if near else f"known here: {', '.join(known)}"
            raise BadConfiguration(f"{path}: unknown key {where}{key}; {meant}")


def _said(error: msgspec.ValidationError) -> str:
    """Return msgspec's sentence with the path as the file has it."""
    return str(error).replace("`$.", "`").replace(" - at `$`", "")
