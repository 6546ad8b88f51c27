"""Credentials and the journal: who changed one, edits by hand, and counts of wrong PINs."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from firmware_bridge.errors import ChangeNotAuthorized, JournalDamaged
from firmware_bridge.keys import load_key, new_key, save_key
from simulators.casino.table_layout import BENCH_PEOPLE, BENCH_PIN, table_slots, table_toml, write_bench_people
from table_controller.access import people_file
from table_controller.access import requests as p
from table_controller.access.credential_change import change_credential_by_request
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.panel.app import app_of
from table_controller.panel.panel import Panel
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.boxes import CHEAP, PIN, BoxTestBench, DirectClient, running
from tests.support.box.configs import write_config
from tests.support.box.panel_threads import run_inline
from tests.support.box.processes import pitbox
from tests.support.box.running_box import RunningBox
from tests.support.suite.required_tools import need

if TYPE_CHECKING:
    from pathlib import Path

GAME = "over_under"
AUDITOR = next(id_ for id_, role in BENCH_PEOPLE.items() if role == "auditor")
FLOOR = next(id_ for id_, role in BENCH_PEOPLE.items() if role == "floorperson")
DEALER = next(id_ for id_, role in BENCH_PEOPLE.items() if role == "dealer")


def _important(box: Any) -> list[str]:
    status = msgspec.to_builtins(box.pictures.box(), str_keys=True)
    return [one["text"] for one in status["state"]["findings"] if one["severity"] == "important"]


def _edited(file: Path, id_: str, **values: str) -> None:
    """Edit a credential by hand."""
    known = json.loads(file.read_text())
    for each in known["people"]:
        if each["id"] == id_:
            each.update(values)
    file.write_text(json.dumps(known))
    file.chmod(0o600)


# --- a real box -------------------------------------------------------------------------------------------------------


class PeopleTable:
    """A configured table with its `pitbox people` commands."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        write_bench_people(self.data)
        self.config = write_config(folder, table_toml(GAME, {slot: str(folder / slot) for slot in table_slots(GAME)}))
        self.pins(**dict.fromkeys(BENCH_PEOPLE, BENCH_PIN), F99="862957", D77="493827", nobody="493827")

    def pins(self, **pins: str) -> None:
        file = self.folder / "pins"
        file.write_text("".join(f"{id_} {pin}\n" for id_, pin in pins.items()))
        file.chmod(0o600)

    def people(self, *words: str, expect: int = 0) -> str:
        more = ("--config", str(self.config), "--pin-file", str(self.folder / "pins"))
        return pitbox("people", *words, *more, expect=expect)

    def tail(self) -> list[str]:
        return pitbox("journal", "tail", "-n", "500", str(self.data / "journal")).splitlines()

    def noted(self, words: str) -> list[str]:
        return [line for line in self.tail() if words in line]


@pytest.mark.realtime
def test_a_change_without_a_box_needs_an_auditor_and_the_next_start_journals_it(tmp_path: Path) -> None:
    table = PeopleTable(tmp_path)
    refused = table.people("add", "F99", "--role", "floorperson", expect=8)
    assert "PB-633" in refused
    assert "an auditor must sign for the change of F99" in refused
    assert "PB-633" in table.people("add", "F99", "--role", "floorperson", "--as", FLOOR, expect=8)
    assert "the next start" in table.people("add", "F99", "--role", "floorperson", "--as", AUDITOR)
    assert "the next start" in table.people("revoke", "F99", "--as", FLOOR)
    with RunningBox(table.config) as box:
        box.status()
        (added,) = table.noted("F99 was added as floorperson")
        (revoked,) = table.noted("F99 (floorperson) was revoked")
        assert f"(auditor {AUDITOR})" in added
        assert f"(floorperson {FLOOR})" in revoked
        assert not table.noted("edited by hand")
    before = len(table.noted("F99"))
    with RunningBox(table.config) as box:
        box.status()
    assert len(table.noted("F99")) == before, "it is journaled once"
    assert not people_file.load_people_file(table.data / "people.json").changes
    text = b"".join(record.body for record in reader.read(table.data / "journal", 1))
    for credential in people_file.load_credentials(table.data / "people.json").values():
        assert credential.hash.encode() not in text
        assert credential.salt.encode() not in text


@pytest.mark.realtime
def test_a_running_box_makes_and_journals_a_change_at_once(tmp_path: Path) -> None:
    table = PeopleTable(tmp_path)
    with RunningBox(table.config) as box:
        box.status()
        assert "PB-633" in table.people("add", "D77", "--role", "dealer", expect=8)
        assert "PB-633" in table.people("add", "D77", "--role", "dealer", "--as", DEALER, expect=8)
        assert "the journal has it" in table.people(
            "add", "D77", "--role", "dealer", "--person", "4711", "--as", AUDITOR
        )
        (added,) = table.noted("D77 was added as dealer of person 4711")
        assert f"(auditor {AUDITOR})" in added
        assert not people_file.load_people_file(table.data / "people.json").changes
        assert "never used twice" in table.people("add", "d77", "--role", "dealer", "--as", AUDITOR, expect=2)
        assert "PB-632" in table.people("pin", "nobody", "--as", AUDITOR, expect=2)
        table.people("revoke", "D77", "--as", AUDITOR)
        assert len(table.noted("D77 (dealer) was revoked")) == 1
        last = table.people("revoke", AUDITOR, "--as", AUDITOR, expect=2)
        assert "is the last auditor" in last
        assert "PB-633" in table.people("revoke", AUDITOR, "--as", FLOOR, expect=8)


@pytest.mark.realtime
def test_a_file_edited_by_hand_is_a_finding_of_the_next_start_and_of_the_next_sign_on(tmp_path: Path) -> None:
    table = PeopleTable(tmp_path)
    file = table.data / "people.json"
    with RunningBox(table.config) as box:
        box.status()
        assert not table.noted("edited by hand")
    _edited(file, DEALER, role="floorperson")
    with RunningBox(table.config) as box:
        finding = box.status()["state"]["findings"][0]
        words = f"edited by hand: {DEALER}: the role was dealer and is floorperson"
        assert (finding["severity"], words in finding["text"]) == ("important", True)
        shown = [line for line in pitbox("status", "--config", str(table.config)).splitlines() if words in line]
        assert shown[0].startswith("FINDING ")
        _edited(file, DEALER, role="dealer", person="7")
        table.people("pin", "nobody", "--as", AUDITOR, expect=2)  # somebody signs on
        assert len(table.noted("the role was floorperson and is dealer, the person was")) == 1


@pytest.mark.realtime
def test_wrong_pins_of_commands_are_counted_in_the_journal(tmp_path: Path) -> None:
    table = PeopleTable(tmp_path)
    table.pins(**{AUDITOR: "999888", FLOOR: BENCH_PIN}, F99="862957")
    for _ in range(3):
        table.people("add", "F99", "--role", "dealer", "--as", AUDITOR, expect=4)
    with RunningBox(table.config) as box:
        box.status()
        (counted,) = table.noted("3 wrong PINs")
        assert f"3 for {AUDITOR}" in counted
        table.people("add", "F99", "--role", "dealer", "--as", AUDITOR, expect=4)
        (first,) = table.noted(f"1 wrong PIN (1 for {AUDITOR})")
        assert "from user " in first


@pytest.mark.realtime
def test_every_start_journals_which_configuration_and_keys_it_runs_with(tmp_path: Path) -> None:
    table = PeopleTable(tmp_path)
    with RunningBox(table.config) as box:
        box.status()
    table.config.write_text(table.config.read_text() + "\n# somebody was here\n")
    key_file = next(tmp_path.rglob("*.key"))
    key = load_key(key_file)
    key_file.unlink()
    save_key(key_file, new_key(key.serial, key.kind))
    with RunningBox(table.config) as box:
        box.status()
    first, second = (line.partition("configuration: ")[2] for line in table.noted("note: configuration: "))
    assert first.partition(";")[0] != second.partition(";")[0]
    keys = [set(line.partition("fingerprint: ")[2].split(", ")) for line in (first, second)]
    (before,), (after,) = keys[0] - keys[1], keys[1] - keys[0]
    assert before.rpartition(" ")[0] == after.rpartition(" ")[0]
    assert key.serial in after


# --- in virtual time --------------------------------------------------------------------------------------------------


async def _tried(box: Any, credential: str, pin: str) -> None:
    answer = await DirectClient(box).ask("sign_on", credential=credential, pin=pin)
    assert isinstance(answer, str), answer


async def test_wrong_pins_are_one_note_at_once_and_then_one_a_minute(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, talk):
        panel = Panel(box, box.check_person, name="bench", in_thread=run_inline)
        await _tried(box, "F1", "000000")
        await asyncio.sleep(1.0)
        (note,) = bench.notes("wrong_pins")
        assert note.text == "1 wrong PIN (1 for F1), from user 1000"
        for number in range(200):  # by the panel from many places, and for an id that is really a PIN
            browser = AsgiBrowser(app_of(panel), place=f"10.0.0.{number}")
            await browser.sign_on("D1" if number % 2 else PIN, "000000")
        panel.close()
        assert len(bench.notes("wrong_pins")) == 1, "they are counted, not flooded"
        await asyncio.sleep(61.0)
        _, counted = bench.notes("wrong_pins")
        assert " for unknown ids" in counted.text
        assert " for D1" in counted.text
        assert "attempts came while the credential was blocked" in counted.text
        assert PIN not in counted.text
        await asyncio.sleep(130.0)
        assert len(bench.notes("wrong_pins")) == 2
        await _tried(box, "F1", "000000")
        await asyncio.sleep(3.0)
        await _tried(box, "F1", "000001")
        await asyncio.sleep(5.0)
        await talk.sign_on("F1")
        await asyncio.sleep(1.0)
        assert len(bench.notes("wrong_pins")) == 4, "a sign-on journals what was counted before it"
        kinds = [note.kind for note in map(_note, bench.records()) if note is not None]
        assert kinds.index("signed_on") > len(kinds) - 2
        assert any("wrong PIN" in text for text in _important(box))


def _note(record: Any) -> rec.Note | None:
    return rec.decode_note(record.body) if record.kind == rec.NOTE else None


@pytest.mark.parametrize("locked", ["at its start", "later"])
async def test_wrong_pins_at_a_locked_box_are_counted_by_the_next_start_that_has_a_journal(
    tmp_path: Path, locked: str
) -> None:
    bench = BoxTestBench(tmp_path)
    bench.journal_error = JournalDamaged("record 7 does not fit the one before") if locked == "at its start" else None
    box = await bench.start()
    if locked == "later":
        box.running_controller().journal_failed(OSError(28, "No space left on device"))
    for credential, pin in (("F1", "000000"), (PIN, "000000"), ("F1", "000001")):
        await _tried(box, credential, pin)
        await asyncio.sleep(0.0 if credential == "F1" else 5.0)
    await box.stop()
    assert bench.notes("wrong_pins") == []
    bench.journal_error = None
    box = await bench.start()
    (note,) = bench.notes("wrong_pins")
    assert note.text == "3 wrong PINs (2 for F1, 1 for unknown ids), from user 1000 while the box was locked"
    assert PIN not in (tmp_path / "people.json").read_text("utf-8")
    await box.stop()
    bench.close()


async def test_counted_wrong_pins_are_journaled_when_the_box_stops(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, _):
        await _tried(box, "F1", "000000")
        await _tried(box, "D1", "000000")
        await box.stop()
        assert [note.text.partition(",")[0] for note in bench.notes("wrong_pins")] == [
            "1 wrong PIN (1 for F1)", "1 wrong PIN (1 for D1)",
        ]  # fmt: skip


async def test_a_power_cut_between_the_note_and_the_file_journals_nothing_twice(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    try:
        await bench.start()  # changes are not settled here: every one stays in the file, as after a power cut
        first = [note.text for note in bench.notes("people")]
        assert len(first) == len(people_file.load_people_file(tmp_path / "people.json").changes)
        bench.box.lose_power()
        bench.disk.cut()
        await bench.box.stop()
        people_file.set_pin(tmp_path / "people.json", "F1", "192837", cost=CHEAP)
        await bench.start()
        assert [note.text for note in bench.notes("people")][: len(first)] == first
        (more,) = bench.notes("people")[len(first) :]
        assert more.text.startswith("F1 (floorperson) has another PIN; nobody signed for it")
        assert not bench.notes("people_edited")
        await bench.box.credentials.compare_and_drop()  # type: ignore[union-attr]
        assert not people_file.load_people_file(tmp_path / "people.json").changes
        await bench.box.stop()
    finally:
        bench.close()


async def test_a_people_file_from_before_is_listed_once_and_is_no_finding(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    file = tmp_path / "people.json"
    people_file.drop_changes(file, [change.token for change in people_file.load_people_file(file).changes])
    people_file.set_pin(file, "D1", "192837", cost=CHEAP)
    try:
        await bench.start()
        changed, listed = bench.notes("people")
        assert changed.text.startswith("D1 (dealer) has another PIN")
        assert listed.text.startswith(
            "credentials in the people file before this journal: D2 (dealer), F1 (floorperson)"
        )
        await bench.box.stop()
        await bench.start()
        assert len(bench.notes("people")) == 2
        assert not bench.notes("people_edited")
        file.unlink()
        assert bench.box.credentials is not None
        bench.box.credentials.compare()
        bench.box.credentials.compare()
        await bench.box.stop()
        (gone,) = bench.notes("people_edited")
        assert "the people file cannot be read" in gone.text
    finally:
        bench.close()


async def test_without_an_auditor_only_who_may_write_the_file_changes_it_over_the_socket(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, _, talk):
        for id_ in ("A1", "A9"):
            people_file.revoke_credential(tmp_path / "people.json", id_)
        answer = await talk.ask("people", change="add", credential="D9", role="dealer", pin="739164")
        assert answer.startswith("PB-633"), "the talk is another user's"
        root = DirectClient(bench.box)
        root.session._uid = 0
        answer = await root.ask("people", change="add", credential="D9", role="dealer", pin="739164")
        assert (answer["credential"], answer["role"]) == ("D9", "dealer")
        assert "D9 was added as dealer; nobody signed for it" in bench.notes("people")[-1].text


@pytest.mark.parametrize("by", ["D1", "F1", None])
async def test_without_an_auditor_only_root_and_the_boxs_user_add_the_first_one(tmp_path: Path, by: str | None) -> None:
    bench = BoxTestBench(tmp_path)
    file = tmp_path / "people.json"
    known = json.loads(file.read_text())
    known["people"] = [each for each in known["people"] if each["role"] != "auditor"]
    known["changes"] = []
    file.write_text(json.dumps(known))
    box = await bench.start()
    try:
        signer = None if by is None else box.plan.people.check(by, PIN)
        asked = p.PeopleRequest(change="add", credential="EVIL", role="auditor", pin="862957")
        with pytest.raises(ChangeNotAuthorized, match="has no auditor"):
            await change_credential_by_request(box, asked, signer, 31337)
        assert "evil" not in people_file.load_credentials(file)
        created = await change_credential_by_request(box, asked, None, os.geteuid())
        assert created["role"] == "auditor"
    finally:
        await box.stop()
        bench.close()


def test_what_root_does_to_the_people_file_leaves_a_lock_that_the_box_can_hold(tmp_path: Path) -> None:
    need(os.geteuid() == 0, "only root can give a folder to another user; run the tests as root")
    os.chown(tmp_path, 1234, 1234)
    people_file.add_credential(tmp_path / "people.json", "A1", "auditor", PIN, cost=CHEAP)
    assert (tmp_path / ".people.json.lock").stat().st_uid == 1234
