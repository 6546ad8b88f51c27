"""Another device takes a slot: two people, a record, and the one before never serves again."""

from __future__ import annotations

import asyncio
import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import KeyRevoked
from firmware_bridge.keys import load_key, new_key, save_key
from simulators.hosts.memory import MemoryHost
from simulators.house.stand import trust_in
from simulators.models import make
from table_controller.config import load_config
from table_controller.controller import enroll as module
from tests.support.boxes import Bench, Talk
from tests.support.configs import saigon

if TYPE_CHECKING:
    from pathlib import Path

    from simulators.machine import Machine


def another_shoe(bench: Bench) -> Machine:
    """A second shoe in the same world, with a serial number and a key of its own."""
    world = bench.machines["shoe.1"].world
    return make("shoe", "shoe.1", seed=77, speed=20.0, world=world)


async def test_a_device_is_enrolled_by_two_people_and_the_one_before_never_serves_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    box = await bench.start()
    old, new = bench.machines["shoe.1"], another_shoe(bench)
    file = tmp_path / "new.key"
    save_key(file, new.key)
    about: dict[str, Any] = {"slot": "shoe.1", "file": str(file)}
    try:
        talk = await Talk(box).sign_on("T1", "F1", "D1", "A9")
        assert (await talk.ask("enroll", **about, by="T1", second="D1")).startswith("PB-813 a device is enrolled by a")
        assert (await talk.ask("enroll", **about, by="F1", second="A9")).startswith("PB-813 F1 and A9 are one person")
        assert (await talk.ask("enroll", **about | {"slot": "shoe.7"}, by="T1", second="F1")).startswith("PB-814")
        assert (await talk.ask("enroll", **about | {"slot": "shuffler.1"}, by="T1", second="F1")).startswith("PB-612")
        told = await talk.ask("enroll", **about, by="T1", second="F1")
        assert told == {"slot": "shoe.1", "serial": new.key.serial, "revoked": old.key.serial}
        (note,) = bench.notes("enrolled")
        assert note.who is not None
        assert note.second is not None
        assert (note.slot, note.who.credential, note.second.credential) == ("shoe.1", "T1", "F1")
        assert load_key(tmp_path / "shoe.1.key").enrolled == "bench shoe.1"
        await asyncio.sleep(30)
        status = await talk.ask("status")
        (slot,) = [slot for slot in status["slots"] if slot["name"] == "shoe.1"]
        assert slot["cause"]["code"] == "PB-312", "the old one is still plugged in, and nobody knows it any more"
        bench.hosts["shoe.1"].unplug(0)
        bench.machines["shoe.1"], bench.hosts["shoe.1"] = new, MemoryHost(new)
        await asyncio.sleep(70)
        status = await talk.ask("status")
        (slot,) = [slot for slot in status["slots"] if slot["name"] == "shoe.1"]
        assert (slot["state"], slot["serial"]) == ("in_service", new.key.serial)
        save_key(tmp_path / "old.key", old.key)
        again = await talk.ask("enroll", slot="shoe.1", file=str(tmp_path / "old.key"), by="T1", second="F1")
        assert again.startswith("PB-318")
        await box.stop()
        with pytest.raises(KeyRevoked):  # somebody puts the old key file back by hand
            type(box)(bench.plan, bench.clock, threads=False)
        places = tuple(replace(p, trust=trust_in(new)) if p.name == "shoe.1" else p for p in bench.plan.places)
        type(box)(replace(bench.plan, places=places), bench.clock, threads=False)
    finally:
        if not box.stopping:
            await box.stop()
        old.board.power_off()
        bench.close()


async def test_a_key_that_is_enrolled_elsewhere_or_of_another_slot_is_not_taken(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    box = await bench.start()
    try:
        talk = await Talk(box).sign_on("T1", "F1")
        for name, key, code in (
            ("same", bench.machines["bet_sensor.2"].key, "PB-618"),
            ("kind", new_key("X1", "shoe"), "PB-612"),
        ):
            save_key(tmp_path / f"{name}.key", key)
            told = await talk.ask(
                "enroll", slot="bet_sensor.1", file=str(tmp_path / f"{name}.key"), by="T1", second="F1"
            )
            assert told.startswith(code), told
        os.mkfifo(tmp_path / "pipe")
        for name in ("none", "pipe"):
            told = await talk.ask("enroll", slot="bet_sensor.1", file=str(tmp_path / name), by="T1", second="F1")
            assert told.startswith("PB-612")
        assert not bench.notes("enrolled")
        assert not (tmp_path / "revoked.json").exists()
    finally:
        await box.stop()
        bench.close()


@pytest.mark.parametrize("named", [False, True])
async def test_the_first_device_of_a_slot_becomes_the_tables_own_and_goes_on_serving(
    tmp_path: Path, named: bool
) -> None:
    bench = Bench(tmp_path)
    box = await bench.start()
    own = bench.machines["shoe.1"].key
    file = {"file": str(tmp_path / "shoe.1.key")} if named else {}
    try:
        talk = await Talk(box).sign_on("T1", "F1")
        alone = await talk.ask("enroll", slot="shoe.1", **file, by="T1", second="T1")
        assert alone.startswith("PB-81"), "two people"
        told = await talk.ask("enroll", slot="shoe.1", **file, by="T1", second="F1")
        assert told == {"slot": "shoe.1", "serial": own.serial, "revoked": None}
        (note,) = bench.notes("enrolled")
        assert note.text == f"shoe.1: shoe {own.serial} is enrolled"
        kept = load_key(tmp_path / "shoe.1.key")
        assert (kept.serial, kept.key, kept.enrolled) == (own.serial, own.key, "bench shoe.1")
        assert not (tmp_path / "revoked.json").exists()
        status = await talk.ask("status")
        assert {slot["name"]: slot["state"] for slot in status["slots"]}["shoe.1"] == "in_service"
        save_key(tmp_path / "again.key", own)  # a copy without its enrolled line revokes nobody, least of all itself
        for again in ({}, {"file": str(tmp_path / "again.key")}):
            assert "is enrolled a" in await talk.ask("enroll", slot="shoe.1", **again, by="T1", second="F1")
        assert len(bench.notes("enrolled")) == 1
    finally:
        await box.stop()
        bench.close()


@pytest.mark.realtime
async def test_a_disk_that_hangs_holds_up_the_enrolment_and_not_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
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
        talk = await Talk(box).sign_on("T1", "F1")
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
    bench = Bench(tmp_path)
    box = await bench.start()
    old, new = bench.machines["shoe.1"], another_shoe(bench)
    save_key(tmp_path / "new.key", new.key)
    before = (tmp_path / "shoe.1.key").read_bytes()

    def full(_path: Path, _key: Any) -> None:
        raise OSError(28, "No space left on device")

    try:
        talk = await Talk(box).sign_on("T1", "F1")
        with monkeypatch.context() as patched:
            patched.setattr(module, "save_key", full)
            told = await talk.ask("enroll", slot="shoe.1", file=str(tmp_path / "new.key"), by="T1", second="F1")
        assert told.startswith("PB-61")
        assert "No space left on device; nobody was enrolled" in told
        assert bench.notes("enrolled") == []
        assert (tmp_path / "shoe.1.key").read_bytes() == before
        assert not (tmp_path / "revoked.json").exists()
        type(box)(bench.plan, bench.clock, threads=False)  # the next start finds no revoked key
        told = await talk.ask("enroll", slot="shoe.1", file=str(tmp_path / "new.key"), by="T1", second="F1")
        assert told["revoked"] == old.key.serial
    finally:
        await box.stop()
        bench.close()


# What the box had done of an enrolment when it ended, and what the next start makes of it.
@pytest.mark.parametrize(
    ("ended_after", "finished"), [("draft", False), ("mark", True), ("revocation", True), ("everything", None)]
)
def test_an_enrolment_that_was_cut_off_is_finished_or_undone_at_the_next_start(
    tmp_path: Path, ended_after: str, finished: bool | None
) -> None:
    config = load_config(saigon(tmp_path, "/dev/KIND", lambda: b"k" * 32))
    (tmp_path / "data").mkdir()
    (slot,) = [each for each in config.slots if each.kind == "shoe"]
    new = new_key("SN-new", "shoe")
    revoked = module.Revoked(config.data / module.REVOKED)
    module._draft(slot.key_file, new)
    if ended_after != "draft":
        module._drafted(slot.key_file).rename(module._marked(slot.key_file))
    if ended_after in ("revocation", "everything"):
        revoked.add(slot.key)
    if ended_after == "everything":
        module._finish(revoked, slot.key, slot.key_file)
    told = module.settle_enrolments(config)
    assert [("finished" in sentence, "undone" in sentence) for sentence in told] == (
        [] if finished is None else [(finished, not finished)]
    )
    serves = load_key(slot.key_file)
    assert serves.serial == ("SN-shoe" if finished is False else "SN-new")
    known = module.Revoked(config.data / module.REVOKED)
    known.check(serves, "shoe.1")
    if finished is not False:
        with pytest.raises(KeyRevoked):
            known.check(slot.key, "shoe.1")
    again = load_config(config.path)
    assert module.settle_enrolments(again) == [], "once"
    assert sorted(path.name for path in tmp_path.glob(".*.key.*")) == []
