"""Enrollment of another device in a slot: two people, a record, and the former device never serves again."""

from __future__ import annotations

import asyncio
import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import BadKeyFile, KeyRevoked
from firmware_bridge.keys import load_key, new_key, save_key
from simulators.casino.device_bench import trust_for
from simulators.engine.ports.memory import MemoryPort
from simulators.kinds.models import make_machine
from table_controller.config import load_config
from table_controller.journal import records as rec
from table_controller.maintenance import enrollment as module
from table_controller.maintenance import key_files
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.box.boxes import BoxTestBench, DirectClient
from tests.support.box.configs import write_saigon_config

if TYPE_CHECKING:
    from pathlib import Path

    from simulators.engine.machine import SimulatedMachine


def enrollments(bench: BoxTestBench) -> list[ev.DeviceEnrolled]:
    """Return the enrollments in the journal that were not refused."""
    steps = [rec.decode_step(record.body) for record in bench.records() if record.kind == rec.STEP]
    return [
        s.event for s in steps if isinstance(s.event, ev.DeviceEnrolled) and "RequestRefused" not in str(s.decisions)
    ]


def another_shoe(bench: BoxTestBench) -> SimulatedMachine:
    """A second shoe in the same world, with a serial number and a key of its own."""
    world = bench.machines["shoe.1"].world
    return make_machine("shoe", "shoe.1", seed=77, speed=20.0, world=world)


async def test_a_device_is_enrolled_by_two_people_and_the_one_before_never_serves_again(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    old, new = bench.machines["shoe.1"], another_shoe(bench)
    file = tmp_path / "new.key"
    save_key(file, new.key)
    about: dict[str, Any] = {"slot": "shoe.1", "file": str(file)}
    try:
        talk = await DirectClient(box).sign_on("T1", "F1", "D1", "A9")
        assert (await talk.ask("enroll", **about, by="T1", second="D1")).startswith("PB-813 a technician and a")
        assert (await talk.ask("enroll", **about, by="F1", second="A9")).startswith("PB-813 F1 and A9 belong to")
        assert (await talk.ask("enroll", **about | {"slot": "shoe.7"}, by="T1", second="F1")).startswith("PB-814")
        assert (await talk.ask("enroll", **about | {"slot": "shuffler.1"}, by="T1", second="F1")).startswith("PB-612")
        answer = await talk.ask("enroll", **about, by="T1", second="F1")
        assert answer == {"slot": "shoe.1", "serial": new.key.serial, "revoked": old.key.serial}
        (event,) = enrollments(bench)
        assert (event.slot, event.who.credential, event.second.credential) == ("shoe.1", "T1", "F1")
        assert not (tmp_path / "revoked.json").exists(), "the journal alone holds what is revoked"
        assert load_key(tmp_path / "shoe.1.key").enrolled == "bench shoe.1"
        await asyncio.sleep(30)
        status = await talk.ask("status")
        (slot,) = [slot for slot in status["slots"] if slot["name"] == "shoe.1"]
        assert slot["cause"]["code"] == "PB-312", "the old one is still plugged in, and nobody knows it any more"
        bench.ports["shoe.1"].unplug(0)
        bench.machines["shoe.1"], bench.ports["shoe.1"] = new, MemoryPort(new)
        await asyncio.sleep(70)
        status = await talk.ask("status")
        (slot,) = [slot for slot in status["slots"] if slot["name"] == "shoe.1"]
        assert (slot["state"], slot["serial"]) == ("in_service", new.key.serial)
        save_key(tmp_path / "old.key", old.key)
        again = await talk.ask("enroll", slot="shoe.1", file=str(tmp_path / "old.key"), by="T1", second="F1")
        assert again.startswith("PB-318")
        await box.stop()
        with pytest.raises(KeyRevoked, match=new.key.serial):  # a person puts the old key file back by hand
            await bench.start()
        assert not [task for task in bench.box.tasks.states if task in bench.machines], "no port was opened"
        await bench.box.stop()
        places = tuple(replace(p, trust=trust_for(new)) if p.name == "shoe.1" else p for p in bench.plan.slots)
        bench.plan = replace(bench.plan, slots=places)
        box = await bench.start()
        assert box.cause is None
    finally:
        if not box.is_stopping:
            await box.stop()
        old.board.power_off()
        bench.close()


@pytest.mark.parametrize("after", [1, 2, 3, 5, 8])
async def test_an_enrollment_is_finished_although_its_client_disconnects(tmp_path: Path, after: int) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    old, new = bench.machines["shoe.1"], another_shoe(bench)
    file = tmp_path / "new.key"
    save_key(file, new.key)
    try:
        technician, floor = ev.Person("technician", "T1"), ev.Person("floorperson", "F1")
        asked = asyncio.create_task(module.enroll(box, "shoe.1", str(file), technician, floor))
        for _ in range(after):
            await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait({asked})
        await asyncio.sleep(30)
        assert len(enrollments(bench)) == 1
        assert load_key(tmp_path / "shoe.1.key").serial == new.key.serial
        assert not box.slots["shoe.1"].view.connected, "the revoked one serves on"
    finally:
        await box.stop()
        old.board.power_off()
        bench.close()


async def test_an_enrollment_during_which_a_round_begins_is_refused_before_it_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    save_key(tmp_path / "new.key", another_shoe(bench).key)
    before = load_key(tmp_path / "shoe.1.key")
    real = key_files.write_draft

    def slowly(path: Path, key: Any) -> None:
        real(path, key)  # a round begins while the disk writes
        box.running_controller().table.state.round.state = mc.BETTING

    try:
        talk = await DirectClient(box).sign_on("T1", "F1")
        monkeypatch.setattr(key_files, "write_draft", slowly)
        about = {"slot": "shoe.1", "file": str(tmp_path / "new.key"), "by": "T1", "second": "F1"}
        assert (await talk.ask("enroll", **about)).startswith("PB-813 enroll shoe.1: ")
        submitted = [rec.decode_step(record.body).event for record in bench.records() if record.kind == rec.STEP]
        assert not [event for event in submitted if isinstance(event, ev.DeviceEnrolled)]
        assert load_key(tmp_path / "shoe.1.key") == before
        assert not key_files._drafted(tmp_path / "shoe.1.key").exists(), "no draft is left"
        box.running_controller().table.state.round.state = mc.IDLE
    finally:
        await box.stop()
        bench.close()


async def test_a_key_file_exchanged_by_hand_after_an_enrollment_is_refused_at_the_next_start(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    old, new = bench.machines["shoe.1"], another_shoe(bench)
    third = make_machine("shoe", "shoe.1", seed=78, speed=20.0, world=old.world)
    save_key(tmp_path / "new.key", new.key)
    try:
        talk = await DirectClient(box).sign_on("T1", "F1")
        await talk.ask("enroll", slot="shoe.1", file=str(tmp_path / "new.key"), by="T1", second="F1")
        await box.stop()
        places = tuple(replace(p, trust=trust_for(third)) if p.name == "shoe.1" else p for p in bench.plan.slots)
        bench.plan = replace(bench.plan, slots=places)
        with pytest.raises(KeyRevoked, match=f"two people enrolled {new.key.serial}"):
            await bench.start()
        await bench.box.stop()
    finally:
        old.board.power_off()
        bench.close()


async def test_a_key_that_is_enrolled_elsewhere_or_of_another_slot_is_not_taken(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    try:
        talk = await DirectClient(box).sign_on("T1", "F1")
        for name, key, code in (
            ("same", bench.machines["bet_sensor.2"].key, "PB-618"),
            ("kind", new_key("X1", "shoe"), "PB-612"),
        ):
            save_key(tmp_path / f"{name}.key", key)
            answer = await talk.ask(
                "enroll", slot="bet_sensor.1", file=str(tmp_path / f"{name}.key"), by="T1", second="F1"
            )
            assert answer.startswith(code), answer
        os.mkfifo(tmp_path / "pipe")
        for name in ("none", "pipe"):
            answer = await talk.ask("enroll", slot="bet_sensor.1", file=str(tmp_path / name), by="T1", second="F1")
            assert answer.startswith("PB-612")
        assert not enrollments(bench)
        assert not (tmp_path / "revoked.json").exists()
    finally:
        await box.stop()
        bench.close()


@pytest.mark.parametrize("named", [False, True])
async def test_the_first_device_of_a_slot_becomes_the_tables_own_and_goes_on_serving(
    tmp_path: Path, named: bool
) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    own = bench.machines["shoe.1"].key
    file = {"file": str(tmp_path / "shoe.1.key")} if named else {}
    try:
        talk = await DirectClient(box).sign_on("T1", "F1")
        alone = await talk.ask("enroll", slot="shoe.1", **file, by="T1", second="T1")
        assert alone.startswith("PB-81"), "two people"
        answer = await talk.ask("enroll", slot="shoe.1", **file, by="T1", second="F1")
        assert answer == {"slot": "shoe.1", "serial": own.serial, "revoked": None}
        (event,) = enrollments(bench)
        assert (event.slot, event.serial, event.replaces) == ("shoe.1", own.serial, None)
        assert box.running_controller().table.state.revoked == []
        kept = load_key(tmp_path / "shoe.1.key")
        assert (kept.serial, kept.key, kept.enrolled) == (own.serial, own.key, "bench shoe.1")
        assert not (tmp_path / "revoked.json").exists()
        status = await talk.ask("status")
        assert {slot["name"]: slot["state"] for slot in status["slots"]}["shoe.1"] == "in_service"
        save_key(tmp_path / "again.key", own)  # a copy without its enrolled line revokes nobody, least of all itself
        for again in ({}, {"file": str(tmp_path / "again.key")}):
            assert "is already enrolled " in await talk.ask("enroll", slot="shoe.1", **again, by="T1", second="F1")
        assert len(enrollments(bench)) == 1
    finally:
        await box.stop()
        bench.close()


@pytest.mark.realtime
async def test_a_disk_that_hangs_holds_up_the_enrollment_and_not_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start(0.5)
    box._threads = True
    reached, free = threading.Event(), threading.Event()

    def hangs(path: Path) -> Any:
        reached.set()
        assert free.wait(30), "the loop never came round"
        return load_key(path)

    monkeypatch.setattr(module, "load_key", hangs)
    new = another_shoe(bench)
    save_key(tmp_path / "new.key", new.key)
    try:
        talk = await DirectClient(box).sign_on("T1", "F1")
        work = asyncio.create_task(
            talk.ask("enroll", slot="shoe.1", file=str(tmp_path / "new.key"), by="T1", second="F1")
        )
        await asyncio.to_thread(reached.wait, 30)
        assert (await talk.ask("status"))["phase"] == "running", "the file is waited for, and the box answers"
        assert not work.done()
        free.set()
        assert (await work)["serial"] == new.key.serial
    finally:
        free.set()
        await box.stop()
        bench.close()
        new.board.power_off()


async def test_a_disk_that_is_full_enrolls_nobody_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    old, new = bench.machines["shoe.1"], another_shoe(bench)
    save_key(tmp_path / "new.key", new.key)
    before = (tmp_path / "shoe.1.key").read_bytes()

    def full(_path: Path, _key: Any) -> None:
        raise OSError(28, "No space left on device")

    try:
        talk = await DirectClient(box).sign_on("T1", "F1")
        with monkeypatch.context() as patched:
            patched.setattr(key_files, "save_key", full)
            answer = await talk.ask("enroll", slot="shoe.1", file=str(tmp_path / "new.key"), by="T1", second="F1")
        assert answer.startswith("PB-61")
        assert "No space left on device; nothing was enrolled" in answer
        assert enrollments(bench) == []
        assert (tmp_path / "shoe.1.key").read_bytes() == before
        assert box.running_controller().table.state.revoked == [], "the next start finds no revoked key"
        answer = await talk.ask("enroll", slot="shoe.1", file=str(tmp_path / "new.key"), by="T1", second="F1")
        assert answer["revoked"] == old.key.serial
    finally:
        await box.stop()
        bench.close()


# How far an enrollment was when the box ended, and what the next start does.
@pytest.mark.parametrize(("ended_after", "finished"), [("half a draft", False), ("draft", False), ("record", True)])
async def test_an_enrollment_that_was_cut_off_is_finished_or_undone_at_the_next_start(
    tmp_path: Path, ended_after: str, finished: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    old, new = bench.machines["shoe.1"].key, another_shoe(bench)
    save_key(tmp_path / "new.key", new.key)
    draft = tmp_path / ".shoe.1.key.new"

    def no_room(_file: Path) -> None:
        raise BadKeyFile("No space left on device")

    try:
        talk = await DirectClient(box).sign_on("T1", "F1")
        if ended_after == "record":
            with monkeypatch.context() as patched:
                patched.setattr(key_files, "finish_draft", no_room)
                answer = await talk.ask("enroll", slot="shoe.1", file=str(tmp_path / "new.key"), by="T1", second="F1")
            assert answer.startswith("PB-612")
            (trusted,) = box.slots["shoe.1"].supervisor.trust.keys
            assert trusted == new.key.serial, "what is recorded holds at once"
        elif ended_after == "draft":
            key_files.write_draft(tmp_path / "shoe.1.key", new.key)
        else:
            draft.write_text("serial = ")
            draft.chmod(0o600)
        box.lose_power()
        await box.stop()
        bench.disk.cut()
        box = await bench.start()
        assert [("finished" in sentence, "undone" in sentence) for sentence in box.settled_enrollments] == [
            (finished, not finished)
        ]
        serves = load_key(tmp_path / "shoe.1.key").serial
        (trusted,) = box.slots["shoe.1"].supervisor.trust.keys
        assert serves == trusted == (new.key.serial if finished else old.serial)
        assert bool(box.running_controller().table.state.revoked) is finished
        await box.stop()
        if finished:
            places = tuple(replace(p, trust=trust_for(new)) if p.name == "shoe.1" else p for p in bench.plan.slots)
            bench.plan = replace(bench.plan, slots=places)
        box = await bench.start()
        assert box.settled_enrollments == [], "once"
        assert not draft.exists()
    finally:
        await box.stop()
        bench.close()
        new.board.power_off()


@pytest.mark.parametrize("ended_after", ["mark", "revocation", "everything"])
def test_an_enrollment_begun_by_an_earlier_version_is_finished_at_the_next_start(
    tmp_path: Path, ended_after: str
) -> None:
    config = load_config(write_saigon_config(tmp_path, "/dev/KIND", lambda: b"k" * 32))
    (tmp_path / "data").mkdir()
    (slot,) = [each for each in config.slots if each.kind == "shoe"]
    new, path = new_key("SN-new", "shoe"), config.data / key_files.FORMER_LIST
    if ended_after == "everything":
        slot.key_file.unlink()
        save_key(slot.key_file, new)
    else:
        save_key(slot.key_file.with_name(f".{slot.key_file.name}.enrolled"), new)
    if ended_after != "mark":
        key_files.write_former_list(path, (key_files.identity(slot.key),))
    reported = key_files.finish_former_enrollments(config)
    assert len(reported) == (ended_after != "everything")
    assert load_key(slot.key_file).serial == "SN-new"
    assert key_files.read_former_list(path) == (key_files.identity(slot.key),)
    assert key_files.finish_former_enrollments(load_config(config.path)) == [], "once"
    assert sorted(each.name for each in tmp_path.glob(".*.key.*")) == []


async def test_the_revocation_list_of_an_earlier_version_is_moved_into_the_journal_once(
    tmp_path: Path,
) -> None:
    bench = BoxTestBench(tmp_path)
    gone = key_files.identity(new_key("SN-gone", "shoe"))
    key_files.write_former_list(tmp_path / "revoked.json", (gone,))
    box = await bench.start()
    try:
        assert box.running_controller().table.state.revoked == [gone]
        assert not (tmp_path / "revoked.json").exists(), "the journal is the one truth from here on"
        assert (tmp_path / key_files.RETIRED_LIST).exists()
        await box.stop()
        box = await bench.start()
        assert box.running_controller().table.state.revoked == [gone]
        taken = [r for r in bench.records() if r.kind == rec.STEP and b'"KeysRevoked"' in r.body]
        assert len(taken) == 1
    finally:
        await box.stop()
        bench.close()


async def test_a_key_on_the_revocation_list_of_an_earlier_version_is_refused_at_the_first_start(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    key_files.write_former_list(tmp_path / "revoked.json", (key_files.identity(bench.machines["shoe.1"].key),))
    for _ in range(2):  # of the list, and then of the journal
        with pytest.raises(KeyRevoked):
            await bench.start()
        await bench.box.stop()
    assert not (tmp_path / "revoked.json").exists()
    bench.close()
