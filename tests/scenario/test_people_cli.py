"""`pitbox people` and `pitbox keys` as a person types them: real processes, a PIN typed on a real terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.keys import load_key
from simulators.casino.box_process import PITBOX
from simulators.casino.table_layout import table_slots, table_toml
from table_controller.access.pin_check import PinChecker
from tests.support.box.configs import write_config
from tests.support.box.processes import LIMIT, pitbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime


def _pins(folder: Path, *lines: str) -> str:
    file = folder / "pins"
    file.write_text("".join(f"{line}\n" for line in lines))
    file.chmod(0o600)
    return str(file)


def _typed(words: list[str], *lines: str) -> tuple[int, str]:
    """Run `pitbox` on a terminal and type these lines, each when it is asked for."""
    master, slave = pty.openpty()
    process = subprocess.Popen([*PITBOX, *words], stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    shown, left = b"", list(lines)
    try:
        while True:
            try:
                shown += os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if left and shown.endswith(b": "):
                os.write(master, left.pop(0).encode() + b"\n")
        return process.wait(LIMIT), shown.decode()
    finally:
        os.close(master)
        if process.poll() is None:
            process.kill()
            process.wait()


def test_people_are_added_listed_and_revoked_and_a_configuration_names_their_file(tmp_path: Path) -> None:
    slots = table_slots("saigon_5_card")
    write_config(tmp_path, table_toml("saigon_5_card", {slot: f"/dev/{slot}" for slot in slots}))
    (tmp_path / "data").mkdir()
    where = ["--config", str(tmp_path / "table.toml")]
    pins = ["--pin-file", _pins(tmp_path, "F17 739164", "D4 481516", "d4 999999")]
    assert "F17: floorperson, added" in pitbox("people", "add", "F17", "--role", "floorperson", *where, *pins)
    pitbox("people", "add", "D4", "--role", "dealer", "--person", "4711", *where, *pins)
    assert "never used twice" in pitbox("people", "add", "f17", "--role", "dealer", *where, *pins, expect=2)
    parsed = json.loads(pitbox("people", "list", "--json", *where))
    assert [(each["id"], each["person"], each["role"]) for each in parsed] == [
        ("F17", "F17", "floorperson"), ("D4", "4711", "dealer"),
    ]  # fmt: skip
    assert not any("pin" in key or "hash" in key for each in parsed for key in each)
    pitbox("people", "revoke", "D4", *where)
    listed = pitbox("people", "list", "--people", str(tmp_path / "data/people.json")).splitlines()
    assert listed[0].split() == ["credential", "person", "role", "added", "revoked"]
    assert [len(line.split()) for line in listed[1:]] == [4, 5]
    assert "was revoked on" in pitbox("people", "pin", "D4", *where, *pins, expect=2)
    checked = pitbox("config", "check", str(tmp_path / "table.toml"))
    assert "nobody has a valid credential as a dealer" in checked
    assert "as a floorperson" not in checked


def test_a_pin_is_typed_twice_on_a_terminal_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "people.json"
    words = ["people", "add", "T1", "--role", "technician", "--people", str(file)]
    code, shown = _typed(words, "739164", "739165")
    assert (code, file.exists()) == (2, False), shown
    assert "the two PINs differ" in shown
    code, shown = _typed(words, "739164", "739164")
    assert code == 0, shown
    code, shown = _typed(["people", "pin", "T1", "--people", str(file)], "208642", "208642")
    assert code == 0, shown
    assert "208642" not in shown
    assert PinChecker(file).check("T1", "208642").role == "technician"


def test_a_pin_comes_from_no_pipe_and_no_file_that_others_can_read(tmp_path: Path) -> None:
    words = ["people", "add", "T1", "--role", "technician", "--people", str(tmp_path / "people.json")]
    done = subprocess.run(
        [*PITBOX, *words], input="739164\n" * 2, text=True, capture_output=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 2
    assert "use --pin-file" in done.stderr
    pins = _pins(tmp_path, "T1 739164")
    (tmp_path / "pins").chmod(0o644)
    assert "chmod 600" in pitbox(*words, "--pin-file", pins, expect=2)
    assert "no line begins with T1" in pitbox(*words, "--pin-file", _pins(tmp_path, "T2 739164"), expect=2)
    assert "No such file" in pitbox(*words, "--pin-file", str(tmp_path / "none"), expect=2)
    assert not (tmp_path / "people.json").exists()
    assert "PB-622" in pitbox("people", "list", "--people", str(tmp_path / "people.json"), expect=2)


def test_a_key_is_made_once_for_its_owner_alone_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "shuffler.1.key"
    created = pitbox("keys", "new", "shuffler", "S-20417", "--out", str(file))
    key = load_key(file)
    assert (key.kind, key.serial, key.enrolled) == ("shuffler", "S-20417", "")
    assert file.stat().st_mode & 0o777 == 0o600
    assert key.key.hex() not in created + pitbox("keys", "show", str(file))
    assert "never overwritten" in pitbox("keys", "new", "shuffler", "S-1", "--out", str(file), expect=2)
    assert load_key(file) == key
    assert "No such file" in pitbox("keys", "new", "shuffler", "S-1", "--out", str(tmp_path / "no/a.key"), expect=2)
    assert "cannot be a file name" in pitbox("keys", "new", "shuffler", "../S 1", expect=2)
    assert "is not a serial number" in pitbox("keys", "new", "shuffler", "x" * 99, "--out", "k", expect=2)
    assert "invalid choice" in pitbox("keys", "new", "toaster", "S-1", expect=2)
