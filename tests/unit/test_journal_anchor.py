"""The anchor outside the journal's folder: a journal that vanished, was rolled back or swapped is refused."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import msgspec
import pytest

from firmware_bridge.errors import JournalDamaged, JournalError, JournalForeign, JournalGone, JournalShort
from simulators.casino.table_layout import table_slots, table_toml
from table_controller.access import people_file
from table_controller.access.people_file import Cost
from table_controller.cli import FAULT, OK, TRUST, main
from table_controller.config import load_config
from table_controller.host.data_folder import former_files
from table_controller.host.serve import _anchored
from table_controller.journal import anchor, reader
from table_controller.journal import records as rec
from table_controller.journal.copy import Copy, begin_copy
from table_controller.table.events import Person
from table_controller.uplink.cursor import Cursor, save_cursor
from tests.support.box.configs import write_config
from tests.support.box.journals import entries, open_journal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a journal of some records, stopped in order; `older` is the journal as it was before."""
    folder = tmp_path / "data"
    folder.mkdir()
    for kept in ("older", None):
        store = open_journal(folder / "journal")
        store.append(entries(store, 20))
        store.close()
        _anchored(store, folder)
        if kept is not None:
            shutil.copytree(folder / "journal", tmp_path / kept)
    return folder


def refused(data: Path, copy: Path | None = None) -> type[JournalError]:
    with pytest.raises(JournalError) as caught:
        anchor.check_anchor(data, data / "journal", copy)
    return type(caught.value)


def test_a_journal_that_reaches_its_anchor_is_taken_also_when_it_went_on(data: Path) -> None:
    anchor.check_anchor(data, data / "journal", None)
    store = open_journal(data / "journal")
    store.append(entries(store, 5))
    store.close()
    anchor.check_anchor(data, data / "journal", None)  # a box that was cut off: the anchor is older, never newer
    anchor.check_anchor(data / "..", data / "journal", None)  # a journal of before there were anchors


@pytest.mark.parametrize("left", [(), ("journal",), ("journal", "journal/tip"), ("journal", "journal/ballast")])
def test_a_missing_journal_is_detected_in_every_remaining_state_of_its_folder(
    data: Path, left: tuple[str, ...]
) -> None:
    shutil.rmtree(data / "journal")
    for name in left:
        (data / name).mkdir() if name == "journal" else (data / name).write_bytes(b"\0")
    with pytest.raises(JournalGone, match=r"names record \d+; mount its disk"):
        anchor.check_anchor(data, data / "journal", None)


def test_files_left_by_a_box_prove_a_former_journal_without_an_anchor(data: Path) -> None:
    shutil.rmtree(data / "journal")
    (data / "anchor").unlink()
    for name in ("people.json", "lock", "control.sock"):  # of people, and of a box that never came to run a table
        (data / name).touch()
    assert not former_files(data)
    anchor.check_anchor(data, data / "journal", None, former_files(data))
    for name in ("fault-reports", "dossiers", "revoked.json", "uplink.cursor"):
        (data / name).touch()
        with pytest.raises(JournalGone, match=rf"{name} shows that this box had one; mount its disk"):
            anchor.check_anchor(data, data / "journal", None, former_files(data))
        (data / name).unlink()


def test_an_older_journal_in_its_place_is_short_though_it_holds_by_itself(data: Path, tmp_path: Path) -> None:
    shutil.rmtree(data / "journal")
    shutil.copytree(tmp_path / "older", data / "journal")
    assert reader.verify(data / "journal").ok
    assert refused(data) is JournalShort
    store = open_journal(data / "journal")  # the old journal was continued past the anchored number
    store.append(entries(store, 50))
    store.close()
    assert refused(data) is JournalShort
    shutil.rmtree(data / "journal")
    store = open_journal(data / "journal")
    store.append(entries(store, 90))
    store.close()
    assert refused(data) is JournalForeign


def test_an_anchor_that_cannot_be_read_is_no_missing_one(data: Path) -> None:
    whole = (data / "anchor").read_bytes()
    (data / "anchor").write_bytes(whole[:100])
    anchor.check_anchor(data, data / "journal", None)  # one slot is enough, as after a torn write
    for spoilt in (b"", bytes(len(whole)), b"x" * len(whole)):
        (data / "anchor").write_bytes(spoilt)
        assert refused(data) is JournalDamaged
    (data / "anchor").unlink()
    (data / "anchor").mkdir()
    assert issubclass(refused(data), JournalError)


def test_the_copy_remembers_when_journal_and_anchor_are_both_gone_or_both_old(data: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    begin_copy(copy)
    shipping = Copy(data / "journal", copy)
    shipping.ship()
    shipping.close()
    anchor.check_anchor(data, data / "journal", copy)
    (data / "anchor").unlink()
    shutil.rmtree(data / "journal")
    with pytest.raises(JournalGone, match="copy names record"):
        anchor.check_anchor(data, data / "journal", copy)
    anchor.check_anchor(data, data / "journal", tmp_path / "not mounted")
    shutil.copytree(tmp_path / "older", data / "journal")
    assert refused(data, copy) is JournalShort


# --- people decide ----------------------------------------------------------------------------------------------------


@pytest.fixture
def table(data: Path, tmp_path: Path) -> list[str]:
    """Return the arguments that name a table with this data folder and its people's PINs."""
    ports = {slot: f"/dev/{slot}" for slot in table_slots("over_under")}
    config = write_config(tmp_path, table_toml("over_under", ports))
    roles = {"T1": "technician", "F1": "floorperson", "A1": "auditor", "D1": "dealer"}
    for id_, role in roles.items():
        people_file.add_credential(data / "people.json", id_, role, "739164", cost=Cost(n=2, r=1, p=1))
    people_file.add_credential(
        data / "people.json", "F2", "floorperson", "739164", person="T1", cost=Cost(n=2, r=1, p=1)
    )
    (tmp_path / "pins").write_text("".join(f"{id_} 739164\n" for id_ in (*roles, "F2")))
    (tmp_path / "pins").chmod(0o600)
    return ["--config", str(config), "--pin-file", str(tmp_path / "pins")]


@pytest.mark.parametrize(
    ("who", "code", "output"),
    [
        (["--technician", "T1"], FAULT, "the floorperson is missing"),
        (["--technician", "T1", "--floorperson", "D1"], FAULT, "D1 is a dealer"),
        (["--technician", "T1", "--floorperson", "t1"], FAULT, "two people"),
        (["--technician", "T1", "--floorperson", "F2"], FAULT, "belong to one person"),
    ],
)
def test_a_new_journal_is_begun_by_a_technician_and_a_floorperson_and_by_nobody_else(
    data: Path, table: list[str], who: list[str], code: int, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(data / "journal")
    before = (data / "anchor").read_bytes()
    assert main(["journal", "begin", *table, *who]) == code
    assert output in capsys.readouterr().err
    assert not (data / "journal").exists()
    assert (data / "anchor").read_bytes() == before
    pins = data.parent / "pins"
    pins.write_text(pins.read_text().replace("T1 739164", "T1 111222"))
    assert main(["journal", "begin", *table, "--technician", "T1", "--floorperson", "F1"]) == TRUST


def test_a_new_journal_names_the_two_people_and_the_loss_and_is_anchored(
    data: Path, table: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    begin = ["journal", "begin", *table, "--technician", "t1", "--floorperson", "F1"]
    assert main(begin) == FAULT
    assert "is not empty; keep its files as evidence" in capsys.readouterr().err
    lost = anchor.read_anchor(data)
    assert lost is not None
    (data / "journal").rename(data / "gone")
    assert main(begin) == OK
    assert "correct_meter" in capsys.readouterr().out
    notes = [msgspec.json.decode(r.body, type=rec.Note) for r in reader.read(data / "journal", 1) if r.kind == rec.NOTE]
    (note,) = notes
    assert (note.kind, note.who, note.second) == ("begun", Person("technician", "T1"), Person("floorperson", "F1"))
    assert lost.head.hex() in note.text
    anchor.check_anchor(data, data / "journal", None)
    shutil.rmtree(data / "journal")
    assert refused(data) is JournalGone, "that it was begun once is no leave to begin again"


def test_what_the_broker_has_of_a_lost_journal_is_named_when_the_anchor_is_lost_too(
    data: Path, table: list[str]
) -> None:
    shutil.rmtree(data / "journal")
    (data / "anchor").unlink()
    save_cursor(data / "uplink.cursor", Cursor("5e" * 16, 812, "ab" * 32, 7))
    assert main(["journal", "begin", *table, "--technician", "T1", "--floorperson", "F1"]) == OK
    notes = [msgspec.json.decode(r.body, type=rec.Note) for r in reader.read(data / "journal", 1) if r.kind == rec.NOTE]
    assert f"{'5e' * 16}, the broker has record 812 with the head {'ab' * 32}" in notes[0].text


def test_a_restored_journal_becomes_the_anchored_one(
    data: Path, tmp_path: Path, table: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(data / "journal")
    words = ["restore", "--from", str(tmp_path / "older"), "--to", str(data / "journal"), "--floorperson", "F1"]
    assert main(["journal", *words, "--auditor", "A1", *table]) == OK, capsys.readouterr().err
    anchor.check_anchor(data, data / "journal", None)
    assert load_config(data.parent / "table.toml").journal.folder == data / "journal"
