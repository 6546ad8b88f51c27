"""Key files and the approved list: what is accepted or refused, with the reason; no key is ever shown."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from firmware_bridge.errors import BadApprovedList, BadKeyFile
from firmware_bridge.handshake import Trust
from firmware_bridge.keys import (
    ApprovedFirmware,
    DeviceKey,
    load_approved,
    load_key,
    new_key,
    save_approved,
    save_key,
)

if TYPE_CHECKING:
    from pathlib import Path

KEY = DeviceKey("S-1", "shuffler", bytes(range(32)), "table 12 shuffler.1")
HEX = KEY.key.hex()
GOOD = f'serial = "S-1"\nkind = "shuffler"\nkey = "{HEX}"\n'
names = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=32)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a key file."""
    return tmp_path / "S-1.toml"


def write(path: Path, text: str | bytes, mode: int = 0o600) -> Path:
    """Write a file with these permissions."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


@pytest.mark.parametrize("key", [KEY, DeviceKey("S-1", "shuffler", bytes(32))], ids=["enrolled", "bench"])
def test_a_key_comes_back_as_it_was_saved(path: Path, key: DeviceKey) -> None:
    save_key(path, key)
    assert load_key(path) == key


def test_any_name_survives_the_file(path: Path) -> None:
    @given(names, names, texts)
    def check(serial: str, kind: str, enrolled: str) -> None:
        path.unlink(missing_ok=True)
        key = DeviceKey(serial, kind, KEY.key, enrolled)
        save_key(path, key)
        assert load_key(path) == key

    check()


def test_a_saved_key_is_private_to_its_owner_under_any_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        save_key(path, KEY)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


def test_saving_never_overwrites(path: Path) -> None:
    save_key(path, KEY)
    with pytest.raises(FileExistsError):
        save_key(path, new_key("S-2", "shoe"))
    assert load_key(path) == KEY


def test_saving_does_not_follow_a_link_that_somebody_laid_out(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        save_key(path, KEY)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666, 0o777])
def test_a_key_that_others_can_touch_is_refused_with_the_remedy(path: Path, mode: int) -> None:
    write(path, GOOD, mode)
    with pytest.raises(BadKeyFile, match=f"chmod 600 {path}"):
        load_key(path)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_a_key_that_only_its_owner_can_touch_is_taken(path: Path, mode: int) -> None:
    assert load_key(write(path, GOOD, mode)).key == KEY.key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "serial",
        "not toml at all {",
        b"\xff\xfe\x00",
        GOOD.replace(HEX, HEX[:-2]),
        GOOD.replace(HEX, HEX + "00"),
        GOOD.replace(HEX, ""),
        GOOD.replace(HEX, "zz" * 32),
        GOOD.replace(f'"{HEX}"', "12"),
        GOOD.replace("serial", "serail"),
        GOOD.replace("kind", "sort"),
        GOOD.replace("key", "keys"),
        GOOD.replace('"S-1"', "1"),
        GOOD.replace('"S-1"', '""'),
        GOOD.replace("S-1", "S" * 33),
        GOOD.replace("S-1", "Ünïcode"),
        GOOD.replace('"shuffler"', '["shuffler"]'),
        GOOD + "enrolled = 7\n",
    ],
    ids=range(18),
)
def test_what_is_not_a_key_file_is_refused_by_name_and_without_a_secret(path: Path, text: str | bytes) -> None:
    with pytest.raises(BadKeyFile) as refused:
        load_key(write(path, text))
    assert str(path) in str(refused.value)
    assert refused.value.code == "PB-612"
    assert HEX[:16] not in str(refused.value)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadKeyFile, match="No such file"):
        load_key(tmp_path / "none.toml")
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadKeyFile, match="directory"):
        load_key(tmp_path / "folder")


def test_new_keys_are_whole_and_different() -> None:
    keys = {new_key("S-1", "shuffler").key for _ in range(50)}
    assert len(keys) == 50
    assert {len(key) for key in keys} == {32}


def test_a_key_is_never_shown() -> None:
    trust = Trust("shuffler", {KEY.serial: KEY}, frozenset())
    drawn = io.StringIO()
    Console(file=drawn, width=400).print(KEY, {"trust": trust}, [KEY])
    for shown in (repr(KEY), str(KEY), f"{KEY!r}", repr(trust), drawn.getvalue()):
        assert "S-1" in shown
        assert HEX not in shown
        assert repr(KEY.key)[2:-1] not in shown
        assert "x1f" not in shown


APPROVED = frozenset(
    [
        ApprovedFirmware("shuffler", "1.0", b"a" * 32),
        ApprovedFirmware("shuffler", "1.0", b"b" * 32),
        ApprovedFirmware("shoe", "2.1", b"c" * 32),
    ]
)


@pytest.mark.parametrize("entries", [APPROVED, frozenset[ApprovedFirmware]()], ids=["three", "none"])
def test_an_approved_list_comes_back_as_it_was_saved(path: Path, entries: frozenset[ApprovedFirmware]) -> None:
    save_approved(path, entries)
    assert load_approved(path) == entries


def test_the_same_approved_list_is_the_same_bytes(path: Path, tmp_path: Path) -> None:
    save_approved(path, APPROVED)
    save_approved(tmp_path / "other", frozenset(sorted(APPROVED, key=lambda e: e.digest, reverse=True)))
    assert path.read_bytes() == (tmp_path / "other").read_bytes()


ENTRY = f'[[firmware]]\nkind = "shuffler"\nversion = "1.0"\ndigest = "{"ab" * 32}"\n'


@pytest.mark.parametrize(
    "text",
    [
        "][",
        b"\xff\xfe",
        "firmware = 3",
        'firmware = ["shuffler"]',
        "[firmware]\nkind = 1\n",
        ENTRY.replace("kind", "kin"),
        ENTRY.replace("version", "vers"),
        ENTRY.replace("digest", "sha"),
        ENTRY.replace("ab", "xy"),
        ENTRY.replace("ab" * 32, "ab" * 31),
        ENTRY.replace('"1.0"', "1.0"),
        ENTRY.replace('"shuffler"', "7"),
        ENTRY.replace("firmware", "firmwares"),
    ],
    ids=range(13),
)
def test_what_is_not_an_approved_list_is_refused_by_name(path: Path, text: str | bytes) -> None:
    with pytest.raises(BadApprovedList) as refused:
        load_approved(write(path, text))
    assert str(path) in str(refused.value)


def test_a_missing_approved_list_is_refused(path: Path) -> None:
    with pytest.raises(BadApprovedList, match="No such file"):
        load_approved(path)
