"""Bytes that are not text, and nesting without end, from every side: a clear error, and no task ends."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

from firmware_bridge import frame as fr
from firmware_bridge.errors import BadApprovedList, BadConfiguration, BadKeyFile, BadMessage, PitboxError
from firmware_bridge.handshake import _TO_HOST, _handshake_message
from firmware_bridge.keys import load_approved, load_key
from firmware_bridge.messages import DeviceHello, encode
from table_controller.config import load_config
from table_controller.maintenance.key_files import read_former_list
from table_controller.maintenance.wear import WearStore
from table_controller.uplink.commands import CommandRequest, _problem
from table_controller.uplink.cursor import load_cursor
from tests.support.wire.links import LinkPair, settle

ROOT: Final = Path(__file__).resolve().parents[2]
NESTED: Final = b"[" * 100_000
BAD_TEXT: Final = b'["\xff\xfe\x80"]'
# Modules that decode Python objects or the project's own data, no bytes from outside.
OWN_DATA: Final = (
    "table_controller/rulebook/", "table_controller/config/walk.py", "table_controller/cli/commands/keys.py",
    "devices/keypad/driver.py", "devices/meter_sign/driver.py",
)  # fmt: skip


def bad_hello() -> bytes:
    """A hello whose serial number is no UTF-8."""
    good = encode(DeviceHello("shuffler", "S-SERIAL", "PB-S1", "1.0", bytes(32), [], 1, bytes(16)))
    assert good.count(b"S-SERIAL") == 1
    return good.replace(b"S-SERIAL", b"\xff\xfe\x80\x81\x82\x83\x84\x85")


def frame_of(payload: bytes) -> fr.Frame:
    return fr.Frame(0, fr.HANDSHAKE, 1, 2, fr.NO_RE, 0, payload, b"", b"")


def test_a_hello_that_is_no_text_is_ignored_like_noise() -> None:
    assert _handshake_message(frame_of(bad_hello()), _TO_HOST) is None


async def test_a_message_that_is_no_text_ends_its_session_with_a_clear_error() -> None:
    pair = LinkPair()
    pair.host._decode = _TO_HOST.decode  # any union of messages that hold text
    sealed = pair.far._sealer.seal(0, fr.EVENT, fr.FIRST_SEQ, fr.FIRST_SEQ, fr.NO_RE, bad_hello())
    pair.device_port.push(fr.to_wire(*sealed))
    await settle()
    assert isinstance(pair.host.down, BadMessage)


async def test_an_unsealed_hint_that_is_no_text_changes_nothing() -> None:
    pair = LinkPair()
    pair.device_port.push(fr.to_wire(fr.pack_header(0, fr.HANDSHAKE, 0x0101, 0x0102, fr.NO_RE, 0) + bad_hello()))
    await settle()
    assert pair.host.down is None


@pytest.mark.parametrize("payload", [BAD_TEXT, NESTED[:1024], b'{"id": "\xff"}'])
def test_an_mqtt_command_that_is_no_text_is_refused_with_a_sentence(payload: bytes) -> None:
    asked = CommandRequest("auditor", "ping", payload, False, None, None)
    why, _ = _problem(asked)
    assert why is not None
    assert "payload must be" in why


@pytest.mark.parametrize("data", [BAD_TEXT, NESTED])
def test_files_that_are_no_text_are_named_or_begun_anew(tmp_path: Path, data: bytes) -> None:
    revoked = tmp_path / "revoked.json"
    revoked.write_bytes(data)
    with pytest.raises(BadKeyFile, match=r"revoked\.json"):
        read_former_list(revoked)
    book = WearStore(tmp_path)
    book.path("SN1").write_bytes(data)
    assert book.read("SN1").serial == "SN1"
    assert book.all() == []
    (tmp_path / "uplink.cursor").write_bytes(data)
    assert load_cursor(tmp_path / "uplink.cursor") is None


@pytest.mark.parametrize("data", [b'serial = "\xff"', b"x = " + NESTED])
def test_key_files_lists_and_configurations_that_are_no_text_are_named(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "a.toml"
    file.write_bytes(data)
    file.chmod(0o600)
    expected: list[tuple[type[PitboxError], object]] = [
        (BadKeyFile, load_key), (BadApprovedList, load_approved), (BadConfiguration, load_config),
    ]  # fmt: skip
    for error, load in expected:
        with pytest.raises(error, match=r"a\.toml"):
            load(file)  # type: ignore[operator]


def caught(tree: ast.AST) -> list[tuple[int, str]]:
    """Return every msgspec or tomllib exception that an `except` names directly, with its line."""
    results = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            results += [
                (node.lineno, ast.unparse(part))
                for part in ast.walk(node.type)
                if isinstance(part, ast.Attribute) and ast.unparse(part).startswith(("msgspec.", "tomllib."))
            ]
    return results


def test_nobody_catches_only_some_of_what_a_decoder_raises() -> None:
    wrong = []
    for package in ("firmware_bridge", "devices", "table_controller", "simulators"):
        for file in (ROOT / package).rglob("*.py"):
            name = str(file.relative_to(ROOT))
            if not name.startswith((*OWN_DATA, "simulators/mutants/")):
                wrong += [f"{name}:{line} {what}" for line, what in caught(ast.parse(file.read_text()))]
    assert wrong == [], "use firmware_bridge.decode_errors.UNDECODABLE or BAD_TOML"


def test_the_check_sees_an_except_that_is_too_narrow() -> None:
    assert caught(ast.parse("try:\n    pass\nexcept (OSError, msgspec.DecodeError):\n    pass")) == [
        (3, "msgspec.DecodeError")
    ]
