"""Wear over the wire: aging machines are queried after every deck, and warnings come before they jam."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from devices.kinds import kind_named
from devices.shoe import messages as sh
from devices.shuffler import messages as m
from firmware_bridge.errors import PitboxError
from firmware_bridge.handshake import Trust
from simulators.engine.machine import approved_firmware
from simulators.engine.ports.memory import MemoryPort
from simulators.kinds.models import make_machine
from table_controller.cli import OK, USAGE, main
from table_controller.cli.commands.faults import known_faults
from table_controller.controller.slot import AnySlot, Slot
from table_controller.diagnosis.drift import BASE_WINDOWS, WINDOW_CARDS, Wear, judge, restart_after_repair, spread
from table_controller.diagnosis.history import UNKNOWN, FaultHistory, HistoryRow
from table_controller.journal import records as rec
from table_controller.journal.record_text import decode_body
from table_controller.maintenance.fault_reports import FaultReports
from table_controller.maintenance.wear import (
    WEAR_FOLDER,
    WearMonitor,
    WearStore,
    WearWarning,
    monitor_configured_wear,
    named_warning,
)
from table_controller.table import events as ev
from tests.support.box import boxes
from tests.support.box.boxes import BoxTestBench as BoxBench
from tests.support.box.return_to_service import shuffler_of

if TYPE_CHECKING:
    from pathlib import Path


class Configured(NamedTuple):
    """The part of a configuration that the wear history needs."""

    data: Path


class WearBench:
    """One machine with its slot and its wear history in a folder."""

    def __init__(self, folder: Path, seed: int, kind: str = "shuffler") -> None:
        self.name = f"{kind}.1"
        self.machine: Any = make_machine(kind, self.name, seed=seed)
        key = self.machine.key
        trust = Trust(kind, {key.serial: key}, frozenset({approved_firmware(kind)}))
        self.warnings: list[WearWarning] = []
        self.events: list[Any] = []
        self.book = WearStore(folder)
        self.slot: AnySlot = Slot(self.name, kind_named(kind), MemoryPort(self.machine).open, trust, self._on_event)
        self.watch = WearMonitor({self.name: self.slot.driver}, self.book, self.warnings.append)
        self._command = 0

    def _on_event(self, event: Any) -> None:
        self.events.append(event)
        self.watch.handle_device_event(self.name, event)

    async def deck(self) -> None:
        """Shuffle a deck and put it back."""
        driver: Any = self.slot.driver
        await driver.shuffle(self.next())
        await driver.eject(self.next())
        self.machine.inject("take_deck")
        self.machine.inject("load")

    def next(self) -> int:
        self._command += 1
        return self._command

    @property
    def wear(self) -> Wear:
        return self.book.read(self.machine.key.serial)

    async def close(self) -> None:
        await self.watch.close()
        await self.slot.close()


async def test_a_worn_roller_is_announced_before_it_jams_and_a_new_one_is_not(tmp_path: Path, seed: int) -> None:
    bench = WearBench(tmp_path / "wear", seed)
    bench.slot.start()
    try:
        await bench.slot.driver.ready()
        for _ in range(40):
            await bench.deck()
        assert bench.warnings == []
        assert len(bench.wear.base) == BASE_WINDOWS
        assert bench.wear.cards >= BASE_WINDOWS * WINDOW_CARDS
        for percent in range(1, 60):  # wears on, a percent with every deck
            bench.machine.inject(f"wear:segment=lift,percent={percent}")
            await bench.deck()
            if bench.warnings:
                break
        (warning,) = bench.warnings
        assert (warning.slot, warning.serial, warning.part) == ("shuffler.1", bench.machine.key.serial, "lift")
        assert warning.warning.signal == "transit"
        assert 0 < warning.warning.fewest <= warning.warning.left
        assert "segment lift" in warning.sentence()
        assert not any(isinstance(event, m.Jam) for event in bench.events)
    finally:
        await bench.close()


async def test_a_worn_roller_of_a_shoe_is_announced_before_it_jams(tmp_path: Path, seed: int) -> None:
    bench = WearBench(tmp_path / "wear", seed, "shoe")
    bench.slot.start()
    try:
        driver: Any = bench.slot.driver
        await driver.ready()
        for deck in range(90):
            bench.machine.inject(f"wear:segment=draw,percent={max(0, deck - 30)}")
            await driver.load(bench.next())
            await driver.count_stub(bench.next())  # all of it comes out at once
            for hands in ("take", "gather", "load"):
                bench.machine.inject(hands)
            await asyncio.sleep(1)
            if bench.warnings:
                break
        (warning,) = bench.warnings
        assert (warning.slot, warning.part, warning.warning.signal) == ("shoe.1", "draw", "transit")
        assert 0 < warning.warning.fewest <= warning.warning.left
        assert not any(isinstance(event, sh.Jam) for event in bench.events)
    finally:
        await bench.close()


async def test_cards_that_slip_and_are_gripped_again_show_as_spread_in_their_segment_alone(
    tmp_path: Path, seed: int
) -> None:
    """Successful retries have no counter; the deviation of the transit times shows them."""
    bench = WearBench(tmp_path / "wear", seed)
    bench.slot.start()
    try:
        await bench.slot.driver.ready()
        for _ in range(24):
            await bench.deck()
        bench.machine.inject("slip:segment=feed,percent=4")
        for _ in range(12):
            await bench.deck()
        gripped = [spread(bench.wear, segment)[-1][1] for segment in (m.Segment.FEED, m.Segment.BRIDGE)]
        assert gripped[0] > 4 * max(gripped[1], 20_000)
        bench.machine.inject("mend")
        for _ in range(8):
            await bench.deck()
        assert spread(bench.wear, m.Segment.FEED)[-1][1] < gripped[0] // 2
    finally:
        await bench.close()


async def test_history_follows_the_serial_number_over_a_restart_of_box_and_machine(tmp_path: Path, seed: int) -> None:
    cards = []
    for _ in range(2):
        bench = WearBench(tmp_path / "wear", seed)
        bench.slot.start()
        try:
            await bench.slot.driver.ready()
            for _ in range(12):
                await bench.deck()
            cards.append(bench.wear.cards)
        finally:
            await bench.close()
    assert cards[0] >= WINDOW_CARDS
    assert cards[1] >= cards[0] + WINDOW_CARDS
    (kept,) = bench.book.all()
    assert kept == bench.wear
    assert [path.name for path in (tmp_path / "wear").iterdir()] == [f"{bench.machine.key.serial}.json"]


async def test_dust_is_announced_by_the_name_of_its_sensor(tmp_path: Path, seed: int) -> None:
    bench = WearBench(tmp_path / "wear", seed)
    bench.slot.start()
    try:
        await bench.slot.driver.ready()
        for percent in [0] * 30 + list(range(1, 40)):
            bench.machine.inject(f"dust:sensor=exit,percent={percent}")
            await bench.deck()
            if bench.warnings:
                break
        (warning,) = bench.warnings
        assert (warning.part, warning.warning.signal) == ("exit", "margin")
        assert "clean it" in warning.sentence()
    finally:
        await bench.close()


def test_a_file_that_cannot_be_read_begins_a_history_anew_and_a_serial_number_is_no_path(tmp_path: Path) -> None:
    book = WearStore(tmp_path)
    book.path("SN1").write_text("not json")
    assert book.read("SN1") == Wear("SN1")
    assert book.all() == []
    odd = "../../etc/passwd"
    book.write(Wear(odd, cards=7))
    assert book.path(odd).parent == tmp_path
    assert book.read(odd).cards == 7
    assert restart_after_repair(book.read(odd)).mended == 7


async def test_a_repair_is_recorded_with_the_persons_name_and_the_baseline_restarts(tmp_path: Path) -> None:
    bench = boxes.BoxTestBench(tmp_path)
    box = await bench.start()
    talk = await boxes.DirectClient(box).sign_on("F1", "T1")
    assert (await talk.ask("wear_reset", serial="SN7", by="T1")).startswith("PB-814"), "no histories are kept"
    box.wear = book = WearStore(tmp_path / WEAR_FOLDER)
    book.write(Wear("SN7", cards=900, slot="shuffler.1"))
    assert (await talk.ask("wear_reset", serial="SN7", by="F1")).startswith("PB-813"), "a technician reports it"
    assert "known: SN7" in await talk.ask("wear_reset", serial="SN8", by="T1")
    assert bench.notes("mended") == []
    assert await talk.ask("wear_reset", serial="SN7", by="T1") == {"serial": "SN7"}
    (note,) = bench.notes("mended")
    assert note.who is not None
    assert (note.who.credential, note.slot) == ("T1", "shuffler.1")
    assert book.read("SN7").mended == 900
    await box.stop()
    bench.close()


def test_a_repair_needs_a_name_and_a_running_box(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    WearStore(tmp_path / WEAR_FOLDER).write(Wear("SN7", cards=900))
    assert main(["faults", "--data", str(tmp_path), "--serviced", "SN7"]) == USAGE
    assert "needs --as" in capsys.readouterr().err
    pin = tmp_path / "pin"
    pin.write_text("T1 1\n")
    pin.chmod(0o600)
    words = ["--socket", str(tmp_path / "none.sock"), "--as", "T1", "--pin-file", str(pin)]
    assert main(["faults", "--data", str(tmp_path), "--serviced", "SN7", *words]) != OK
    assert "PB-811" in capsys.readouterr().err
    assert WearStore(tmp_path / WEAR_FOLDER).read("SN7").mended == 0


@pytest.mark.parametrize("slot", ["shuffler.1", "shoe.1"])
def test_every_warning_is_a_sentence_with_the_part_and_what_to_do(slot: str) -> None:
    from table_controller.diagnosis.drift import DriftWarning

    for signal in ("transit", "spread", "margin"):
        sentence = named_warning(slot, "SN7", DriftWarning(signal, 1, 50_000, 900, 400)).sentence()
        assert sentence.startswith(f"{slot} (SN7): ")
        assert "900 cards left, perhaps 400" in sentence
        assert "at the next break" in sentence


async def test_a_running_box_follows_its_machines_and_writes_warnings_into_its_journal(
    tmp_path: Path, seed: int
) -> None:
    """Next to the table a technician shuffles, the box queries, and drift becomes a note."""
    table = BoxBench(tmp_path, seed=seed)
    box = await table.start()
    config: Any = Configured(tmp_path)
    box.supervise("wear", lambda: monitor_configured_wear(box, config))
    machine: Any = table.machines["shuffler.1"]
    driver: Any = box.slots["shuffler.1"].driver
    try:
        for number in range(1, 81):
            if number > 30:
                machine.inject(f"wear:segment=stack,percent={number - 30}")
            await driver.shuffle((1 << 62) + 2 * number)
            await driver.eject((1 << 62) + 2 * number + 1)
            machine.inject("take_deck")
            machine.inject("load")
            await asyncio.sleep(1)
            if table.notes("wear"):
                break
        (note,) = table.notes("wear")
        assert note.slot == "shuffler.1"
        assert "segment stack" in note.text
        book = WearStore(tmp_path / WEAR_FOLDER)
        assert [wear.serial for wear in book.all()] == [machine.key.serial]
        assert judge(book.read(machine.key.serial))
        technician, floor = ev.Person("technician", "T1"), ev.Person("floorperson", "F1")
        box.running_controller().submit(ev.SlotOrdered("shuffler.1", "give_up", floor))
        box.running_controller().submit(ev.SlotOrdered("shuffler.1", "repair", technician))
        await asyncio.sleep(1)
        repaired = book.read(machine.key.serial)
        assert (repaired.base, repaired.windows, judge(repaired)) == ((), (), [])
        assert repaired.mended == repaired.cards > 0
    finally:
        await box.stop()
        table.close()


async def test_a_jam_of_a_running_box_is_in_the_history_with_the_segment_of_its_fault_report(
    tmp_path: Path, seed: int
) -> None:
    table = BoxBench(tmp_path, seed=seed)
    box = await table.start()
    box.fault_reports = FaultReports(box, tmp_path / "fault-reports", threads=False)
    machine: Any = table.machines["shuffler.1"]
    try:
        machine.inject("jam:segment=lift,card=9")
        with pytest.raises(PitboxError, match="could not finish"):
            await shuffler_of(box).shuffle(1 << 62)
        await asyncio.sleep(5)
        history = FaultHistory(known_faults(tmp_path))
        for record in table.records():
            if record.kind == rec.STEP:
                text = decode_body(record)
                history.add_row(HistoryRow(record.seq, record.wall_ns, text["event"], text["decisions"]))
        (fault,) = history.finish().faults
        assert (fault.slot, fault.segment, fault.report, fault.reason) == ("shuffler.1", "lift", "1", 430)
        assert fault.cause != UNKNOWN
    finally:
        await box.stop()
        table.close()
