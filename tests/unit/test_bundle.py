"""A support bundle: secrets planted everywhere in a box are not in it, and its manifest is correct."""

from __future__ import annotations

import base64
import io
import json
import re
import tarfile
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.bet_sensor import messages as bet_sensor
from devices.keypad import messages as keypad
from devices.message_registry import all_messages
from devices.path_telemetry import OpticalLevel
from devices.shuffler import messages as shuffler
from firmware_bridge import frame as fr
from firmware_bridge import pcapng
from firmware_bridge.capture import CaptureFile, read_capture
from firmware_bridge.messages import encode
from table_controller.access import people_file
from table_controller.cli import OK, USAGE, main
from table_controller.diagnosis.drift import Wear
from table_controller.diagnosis.fault_report import FaultReport, FrameAtFault, MachineHalt, MachineIdentity
from table_controller.diagnosis.fault_report_store import FaultReportStore
from table_controller.journal import records as rec
from table_controller.journal.store import Policy
from table_controller.maintenance.wear import WEAR_FOLDER, WearStore
from table_controller.table import decisions as de
from table_controller.table import events as ev
from tests.support.box.configs import write_saigon_config
from tests.support.box.journals import open_journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLOOR = ev.Person("floorperson", "SECRET-CREDENTIAL-F17")


class PlantedSecrets:
    """Secrets in every form in which they could be written."""

    def __init__(self) -> None:
        rng = Random(8)
        self.key = rng.randbytes(32)
        self.cards = bytes(rng.sample(range(53), 20))
        self.pin = "918273645"
        self.texts = {
            "pin": self.pin, "password": "mosquitto-pass-5521", "credential": FLOOR.credential,
            "patron": "Patron Jane Doe 4417", "order": "7H 2C KD AS 9S 3D",
        }  # fmt: skip
        self.hashes: list[str] = []

    def forms(self) -> Iterator[tuple[str, bytes]]:
        for name, data in (("key", self.key), ("cards", self.cards)):
            yield name, data
            yield name, data.hex().encode()
            yield name, data.hex().upper().encode()
            yield name, base64.b64encode(data).rstrip(b"=")[:-1]
            yield name, json.dumps(list(data)).encode()
            yield name, json.dumps(list(data), separators=(",", ":")).encode()
        for name, text in self.texts.items():
            yield name, text.encode()
            yield name, text.encode().hex().encode()
            yield name, base64.b64encode(text.encode()).rstrip(b"=")[:-1]
        for each in self.hashes:
            yield "hash", each.encode()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, PlantedSecrets]:
    folder = tmp_path_factory.mktemp("bundle")
    secrets = PlantedSecrets()
    data = folder / "data"
    data.mkdir()
    _config(folder, secrets)
    _people(data / "people.json", secrets)
    _journal(data / "journal", secrets)
    _captures(data, secrets)
    _fault_reports(data / "fault-reports", secrets)
    _wear(data / WEAR_FOLDER, secrets)
    # Stray files: a copy of a key, notes, an export, a core file, a name that is itself a secret.
    (data / "shuffler.1.key.bak").write_text(secrets.key.hex())
    (data / "notes.txt").write_text("\n".join(secrets.texts.values()))
    (data / "core").write_bytes(secrets.key + secrets.cards)
    (data / f"patron {secrets.texts['patron']}").mkdir()
    (data / f"patron {secrets.texts['patron']}" / "x.json").write_text(secrets.texts["patron"])
    return folder, secrets


def _config(folder: Path, secrets: PlantedSecrets) -> None:
    (folder / "pass").write_text(secrets.texts["password"] + "\n")
    (folder / "pass").chmod(0o600)
    broker = (
        f'[mqtt]\nhost = "127.0.0.1"\nport = 1\nusername = "{secrets.texts["credential"]}"\npassword_file = "pass"\n'
    )
    file = write_saigon_config(
        folder, "/dev/none-KIND", lambda: secrets.key, name=f'{secrets.texts["patron"]}"\nid = "t1', more=broker
    )
    remember = f"# remember: PIN {secrets.pin}, key {secrets.key.hex()}, {secrets.texts['patron']}\n"
    file.write_text(remember + file.read_text("utf-8"), "utf-8")


def _people(path: Path, secrets: PlantedSecrets) -> None:
    created = people_file.add_credential(path, "T1", "technician", secrets.pin, cost=people_file.Cost(n=2, r=1, p=1))
    secrets.hashes += [created.hash, created.salt]


def _journal(folder: Path, secrets: PlantedSecrets) -> None:
    text = " / ".join(secrets.texts.values()) + secrets.key.hex() + secrets.cards.hex()
    store = open_journal(folder, policy=Policy(segment_bytes=1 << 24, ballast_bytes=0))
    steps: list[tuple[ev.Event, list[de.Decision]]] = [
        (ev.SlotChanged("shuffler.1", "fault"), [de.StateChanged("slot shuffler.1", "faulted")]),
        (ev.ShuffleFailed("shuffler.1", 430, 20), [de.Finding("card", text, deck=secrets.texts["order"])]),
        (ev.Answer(7, text, FLOOR), [de.HoldCleared(7, FLOOR.credential)]),
        (ev.SlotOrdered("shuffler.1", "clear", FLOOR), [de.RequestRefused(text, ())]),
        (ev.MeterCorrected(5, text, FLOOR, FLOOR), []),
        (ev.BetSensed(3, 9, placed=True), []),
    ]
    mono = 0
    for event, decisions in steps:
        mono += 1_000_000_000
        store.append(
            [(rec.STEP, 1_931_544_000_000_000_000 + mono, mono, store.boot, rec.encode_step(event, decisions))]
        )
    note = msgspec.json.encode(rec.Note("service", text, who=FLOOR))
    store.append([("note", 1_931_544_000_000_000_000, mono, store.boot, note)])
    body = json.dumps({"event": {"type": "ShoeFault", "slot": "shoe.1", "reason": 430, "extra": text}, "decisions": []})
    store.append([(rec.STEP, 1_931_544_000_000_000_000, mono, store.boot, body.encode())])
    store.close()


def _frame(payload: bytes, *, sealed: bool = True) -> bytes:
    return fr.pack_header(fr.SEALED if sealed else 0, fr.EVENT, 300, 300, fr.NO_RE, 9) + payload


def _payloads(secrets: PlantedSecrets) -> list[bytes]:
    cards = shuffler.Findings(7, secrets.cards, b"")
    lines = [secrets.texts["patron"][:16], secrets.texts["order"][:16]]
    return [
        encode(shuffler.Jam(7, shuffler.Phase.FEEDING, shuffler.Segment.LIFT, 20, 20, 0,
                            [OpticalLevel(False, 900, 500)] * 7, [0] * 4)),
        encode(cards),
        msgspec.msgpack.encode([250, secrets.key, secrets.texts["patron"]]),  # an unknown tag
        msgspec.msgpack.encode([tag(shuffler.Door), True, secrets.key]),  # begins like one of ours
        secrets.key,  # no message at all
        encode(keypad.Show(7, keypad.KeypadPrompt.NOTHING, lines)),
        encode(bet_sensor.GetStatus()),
    ]  # fmt: skip


def tag(message: type) -> int:
    result = message.__struct_config__.tag  # type: ignore[attr-defined]
    assert isinstance(result, int)
    return result


def _captures(data: Path, secrets: PlantedSecrets) -> None:
    """Write a capture as our software does, and one of other software with nothing blanked."""
    with (data / "ours.pcapng").open("xb", buffering=0) as file:
        port = CaptureFile(file, all_messages(), lambda: 5).port("shuffler.1")
        for payload in _payloads(secrets):
            port(False, _frame(payload), bytes(8))
    (data / "captures").mkdir()
    raw = pcapng.section("other") + pcapng.interface(secrets.texts["patron"], pcapng.LINK_USER0)
    for payload in _payloads(secrets):
        body = bytes([1, 0, 0, 0]) + _frame(payload) + bytes(8)
        raw += pcapng.packet(0, 5, body, pcapng.INBOUND, secrets.texts["order"])
    (data / "captures" / "theirs.pcapng").write_bytes(raw)


def _fault_reports(folder: Path, secrets: PlantedSecrets) -> None:
    frames = tuple(FrameAtFault(n, False, _frame(payload)) for n, payload in enumerate(_payloads(secrets)))
    good = FaultReport(
        at_ns=5,
        machine=MachineIdentity(slot="shuffler.1", kind="shuffler"),
        opening=frames,
        frames=frames,
        halts=(MachineHalt(what="jam", message="Jam", segment="lift"),),
    )
    FaultReportStore(folder).add(good)
    spoilt = json.loads((folder / "000001.json").read_bytes())
    (folder / "000002.json").write_text(json.dumps(spoilt | {"number": 2, "patron": secrets.texts["patron"]}))


def _wear(folder: Path, secrets: PlantedSecrets) -> None:
    book = WearStore(folder)
    book.write(Wear("SN-shuffler", cards=53))
    kept = json.loads(book.path("SN-shuffler").read_bytes())
    book.path("SN-shuffler").write_text(json.dumps(kept | {"note": secrets.texts["patron"], "key": secrets.key.hex()}))


def _unpacked(members: dict[str, bytes]) -> Iterator[bytes]:
    """Decode every text in the bundle that could be base64: a secret may begin anywhere in it."""
    for data in members.values():
        for text in re.findall(rb"[A-Za-z0-9+/]{16,}={0,2}", data):
            yield base64.b64decode(text + b"=" * (-len(text) % 4), validate=False)


def make_bundle(folder: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, bytes], str]:
    words = ["--data", str(folder / "data"), "--config", str(folder / "table.toml"), "--out", str(out)]
    assert main(["bundle", *words]) == OK
    with tarfile.open(out) as tar:
        members = {each.name: (tar.extractfile(each) or io.BytesIO()).read() for each in tar.getmembers()}
    return members, capsys.readouterr().out


def test_no_secret_is_in_the_bundle_nor_in_what_is_printed(
    planted: tuple[Path, PlantedSecrets], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, secrets = planted
    lying = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert all(secret in lying for secret in (secrets.key, secrets.cards, secrets.pin.encode())), "nothing was planted"
    members, printed = make_bundle(folder, tmp_path / "b.tar.gz", capsys)
    whole = b"\n".join([*members.values(), *(name.encode() for name in members), printed.encode(), *_unpacked(members)])
    for name, form in secrets.forms():
        assert form not in whole, f"the {name} is in the bundle as {form!r}"
    assert b"F17" not in whole
    assert b"BetSensed" not in whole
    assert b"MeterCorrected" not in whole


def test_it_holds_the_useful_files_and_a_correct_manifest(
    planted: tuple[Path, PlantedSecrets], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = planted
    members, printed = make_bundle(folder, tmp_path / "b.tar.gz", capsys)
    manifest = json.loads(members.pop("pitbox-bundle/MANIFEST.json"))
    assert {f"pitbox-bundle/{entry['name']}" for entry in manifest["files"]} == set(members)
    for entry in manifest["files"]:
        content = members[f"pitbox-bundle/{entry['name']}"]
        assert entry["sha256"] == sha256(content).hexdigest()
        assert entry["size"] == len(content)
        assert entry["name"] in printed
    names = {entry["name"] for entry in manifest["files"]}
    assert names >= {
        "configuration.json", "doctor.json", "history.json", "software.json", "journal/machines.jsonl",
        "wear/SN-shuffler.json", "fault-reports/000001.json", "captures/01.pcapng", "captures/02.pcapng",
    }  # fmt: skip
    assert "fault-reports/000002.json" not in names
    assert any("fault report 2" in line for line in manifest["left_out"])
    steps = [json.loads(line) for line in members["pitbox-bundle/journal/machines.jsonl"].splitlines()]
    assert any(step.get("event", {}).get("type") == "ShuffleFailed" for step in steps)
    assert any(step.get("by") == "floorperson" for step in steps)
    history = json.loads(members["pitbox-bundle/history.json"])
    assert [fault["slot"] for fault in history["faults"]] == ["shuffler.1", "shoe.1"]


def test_a_capture_in_it_can_be_read_and_names_the_jam(
    planted: tuple[Path, PlantedSecrets], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = planted
    members, _ = make_bundle(folder, tmp_path / "b.tar.gz", capsys)
    for number in ("01", "02"):
        path = tmp_path / f"{number}.pcapng"
        path.write_bytes(members[f"pitbox-bundle/captures/{number}.pcapng"])
        packets = list(read_capture(path))
        jams = [p for p in packets if not p.blanked and p.frame.payload[1:2] == bytes([tag(shuffler.Jam)])]
        assert len(jams) == 1
        assert {p.slot for p in packets} <= {"shuffler.1", "port"}
        assert all(any(p.frame.payload) is False or p.blanked or p in jams or len(p.frame.payload) < 6 for p in packets)


def test_the_same_data_gives_the_same_bundle_but_never_over_another(
    planted: tuple[Path, PlantedSecrets], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = planted
    one, _ = make_bundle(folder, tmp_path / "1.tar.gz", capsys)
    two, _ = make_bundle(folder, tmp_path / "2.tar.gz", capsys)
    assert one == two
    words = ["--data", str(folder / "data"), "--out", str(tmp_path / "1.tar.gz")]
    assert main(["bundle", *words]) == USAGE
    assert "already" in capsys.readouterr().err
    assert (tmp_path / "1.tar.gz").stat().st_mode & 0o077 == 0


def test_a_folder_without_anything_is_still_a_bundle_and_no_folder_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bundle", "--data", str(tmp_path), "--out", str(tmp_path / "b.tar.gz")]) == OK
    assert "journal: there is none" in capsys.readouterr().out
    assert main(["bundle", "--data", str(tmp_path / "no"), "--out", str(tmp_path / "c.tar.gz")]) == USAGE
    assert "PB-" in capsys.readouterr().err


def test_unreadable_journal_is_named_and_the_rest_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "journal-000001.db").write_bytes(b"no database" * 100)
    any_wear: dict[str, Any] = {"serial": "SN1"}
    (tmp_path / WEAR_FOLDER).mkdir()
    (tmp_path / WEAR_FOLDER / "SN1.json").write_text(json.dumps(any_wear))
    assert main(["bundle", "--data", str(tmp_path), "--out", str(tmp_path / "b.tar.gz")]) == OK
    shown = capsys.readouterr().out
    assert "journal: it cannot be read (PB-" in shown
    assert "wear/SN1.json" in shown
