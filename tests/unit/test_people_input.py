"""`pitbox people` with bad input: each is refused with a sentence that names what is wrong, and nothing is changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import BadCredential, ChangeNotAuthorized
from table_controller import cli
from table_controller.access import people_file
from table_controller.access.people_authority import change_credential
from table_controller.access.people_file import Author, Cost

if TYPE_CHECKING:
    from pathlib import Path

CHEAP = Cost(n=2, r=1, p=1)
PIN = "739164"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.json"
    for id_, role in (("A1", "auditor"), ("A2", "auditor"), ("F1", "floorperson"), ("D1", "dealer")):
        people_file.add_credential(path, id_, role, PIN, cost=CHEAP)
    pins = tmp_path / "pins"
    pins.write_text("".join(f"{id_} {PIN}\n" for id_ in ("A1", "D9", "D10", "d1")) + "T1 123456\n")
    pins.chmod(0o600)
    return path


def _run(file: Path, *words: str) -> int:
    return cli.main(["people", *words, "--people", str(file), "--pin-file", str(file.with_name("pins"))])


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("add", "d1", "--role", "dealer", "--as", "A1"), cli.USAGE, "PB-632"),
        (("add", "T1", "--role", "technician", "--as", "A1"), cli.USAGE, "too easy to guess"),
        (("add", "D 9", "--role", "dealer", "--as", "A1"), cli.USAGE, "no line begins with"),
        (("add", "D9", "--role", "dealer", "--person", "Jane Doe", "--as", "A1"), cli.USAGE, "the number of a person"),
        (("add", "D9", "--role", "dealer"), cli.REFUSED, "PB-633"),
        (("add", "D9", "--role", "dealer", "--as", "nobody"), cli.USAGE, "no line begins with nobody"),
        (("add", "D9", "--role", "dealer", "--as", "D10"), cli.TRUST, "PB-320"),
        (("revoke", "D8", "--as", "A1"), cli.USAGE, "there is no credential D8"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(
    file: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, message: str
) -> None:
    before = people_file.load_credentials(file)
    assert _run(file, *words) == code
    output = capsys.readouterr().err
    assert message in output
    assert PIN not in output
    assert people_file.load_credentials(file) == before


def test_a_role_that_does_not_exist_is_refused_with_those_that_do(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        _run(file, "add", "D9", "--role", "king", "--as", "A1")
    assert "dealer" in capsys.readouterr().err
    with pytest.raises(BadCredential, match="'king' is not a role; roles: dealer"):
        people_file.add_credential(file, "D9", "king", PIN)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: data.replace(b'"D1"', b'"\xff\xfe"', 1), "not a people file"),
        (lambda data: data.replace(b'"role": "dealer"', b'"role": "king"', 1), "people file"),
        (lambda data: data.replace(b'"role": "dealer"', b'"rank": 1, "role": "dealer"', 1), "rank"),
        (lambda data: data.replace(b'"format": 1', b'"color": 1, "format": 1', 1), "color"),
        (lambda data: data.replace(b'"what": "added"', b'"what": "eaten"', 1), "eaten"),
        (lambda data: data.replace(b'"id": "D1"', b'"id": "A1"', 1), "is in the file twice"),
        (lambda data: data[:-20], "not a people file"),
    ],
)  # fmt: skip
def test_a_file_that_was_spoiled_is_refused_whole(
    file: Path, capsys: pytest.CaptureFixture[str], spoil: object, message: str
) -> None:
    data = spoil(file.read_bytes())  # type: ignore[operator]
    assert data != file.read_bytes()
    file.write_bytes(data)
    for words in (("add", "D9", "--role", "dealer", "--as", "A1"), ("revoke", "F1", "--as", "A1")):
        assert _run(file, *words) == cli.USAGE
        output = capsys.readouterr().err
        assert "PB-622" in output
        assert message in output
    assert file.read_bytes() == data


def test_who_may_change_what(file: Path) -> None:
    def who(id_: str) -> Author:
        return Author(people_file.load_credentials(file)[id_.casefold()].holder, "tester")

    with pytest.raises(ChangeNotAuthorized, match="only an auditor may add"):
        change_credential(file, "add", "D9", who("F1"), role="dealer", pin=PIN)
    with pytest.raises(ChangeNotAuthorized, match="the holder of the credential"):
        change_credential(file, "pin", "D1", who("F1"), pin="481516")
    with pytest.raises(ChangeNotAuthorized, match="except an auditor's"):
        change_credential(file, "revoke", "A1", who("F1"))
    with pytest.raises(ChangeNotAuthorized, match="an auditor may revoke"):
        change_credential(file, "revoke", "F1", who("D1"))
    change_credential(file, "pin", "D1", who("D1"), pin="481516")
    change_credential(file, "revoke", "D1", who("F1"))
    stale = who("A2")
    change_credential(file, "revoke", "A2", who("A1"))
    with pytest.raises(ChangeNotAuthorized, match="in the meantime"):
        change_credential(file, "revoke", "F1", stale)
    with pytest.raises(BadCredential, match="the last auditor"):
        change_credential(file, "revoke", "A1", who("A1"))
    changes = [(change.what, change.by) for change in people_file.load_people_file(file).changes[4:]]
    assert changes == [("pin_changed", "D1"), ("revoked", "F1"), ("revoked", "A1")]


def test_no_pin_is_hashed_for_a_change_that_is_not_allowed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    real = people_file.pin_hash

    def counting(pin: str, salt: bytes, cost: Cost) -> bytes:
        hashed.append(pin)
        return real(pin, salt, cost)

    monkeypatch.setattr(people_file, "pin_hash", counting)
    floor = Author(people_file.load_credentials(file)["f1"].holder, "tester")
    with pytest.raises(ChangeNotAuthorized):
        change_credential(file, "add", "D9", floor, role="dealer", pin=PIN)
    with pytest.raises(ChangeNotAuthorized):
        change_credential(file, "pin", "D1", floor, pin="481516")
    assert hashed == [], "a slow hash for anybody who asks would be a way to keep the box busy"


def test_wrong_pins_that_wait_for_a_journal_are_bounded(file: Path) -> None:
    for _ in range(people_file.MOST_REFUSED_KEPT + 50):
        people_file.record_refused_pin(file, "A1", "tester")
    people_file.record_refused_pin(file, PIN, "tester")
    refused = [change for change in people_file.load_people_file(file).changes if change.what == "pin_refused"]
    assert len(refused) == people_file.MOST_REFUSED_KEPT
    assert sum(change.times for change in refused) == people_file.MOST_REFUSED_KEPT + 51
    assert PIN not in json.dumps(json.loads(file.read_text()))
