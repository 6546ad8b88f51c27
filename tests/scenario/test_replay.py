"""`pitbox replay`: a recording gives the driver the same state as the machine did, to the last field."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.driver_events import LinkDown
from devices.kinds import kind_named
from devices.message_registry import all_messages
from devices.service import Service
from devices.shoe.state import ShoeView
from firmware_bridge import frame as fr
from firmware_bridge.capture import CaptureFile, read_capture
from firmware_bridge.errors import PitboxError
from firmware_bridge.handshake import Trust
from firmware_bridge.messages import DeviceHello
from simulators.casino.replay import packets_of, replay
from simulators.engine.machine import approved_firmware
from simulators.engine.ports.memory import MemoryPort
from simulators.engine.recorded_machine import read_message
from simulators.engine.virtual_time import run_virtual
from simulators.kinds.models import make_machine
from table_controller.cli import USAGE, main
from table_controller.controller.slot import AnySlot, Slot
from table_controller.diagnosis.fault_report import FaultReport, MachineHalt, MachineIdentity, encode
from table_controller.maintenance.fault_recorder import FaultRecorder
from table_controller.maintenance.frame_ring import FrameRing

if TYPE_CHECKING:
    from pathlib import Path

_DAY = 1_931_544_000_000_000_000


class Recording:
    """A shuffler in use while everything is captured."""

    def __init__(self, path: Path, seed: int) -> None:
        loop = asyncio.get_running_loop()
        self.file = path.open("xb", buffering=0)
        self.capture = CaptureFile(self.file, all_messages(), lambda: _DAY + round(loop.time() * 1e9))
        self.ring = FrameRing(loop.time)
        self.machine: Any = make_machine("shuffler-identifying", "shuffler.1", seed=seed)
        key = self.machine.key
        trust = Trust("shuffler", {key.serial: key}, frozenset({approved_firmware("shuffler")}))
        self.events: list[Any] = []
        kept = self.capture.port("shuffler.1")

        def both(outgoing: bool, signed: bytes, mac: bytes) -> None:
            kept(outgoing, signed, mac)
            self.ring(outgoing, signed, mac)

        host = MemoryPort(self.machine)
        self.service = Service()
        self.slot: AnySlot = Slot("shuffler.1", kind_named("shuffler"), host.open, trust, self._on_event, capture=both)

    def _on_event(self, event: Any) -> None:
        self.service.apply_report(self.slot.kind.trigger(event), unsettled=bool(self.slot.view.unsettled))
        self.events.append(event)

    async def a_bad_day(self) -> None:
        """A good shuffle, a cable that is pulled, a card that is lost, a jam."""
        self.slot.start()
        driver: Any = self.slot.driver
        await driver.ready()
        await driver.shuffle(1)
        await driver.eject(2)
        self.machine.inject("take_deck")
        self.machine.inject("missing_card")
        self.machine.inject("load")
        await driver.shuffle(3)
        await driver.findings()
        self.machine.inject("unplug:seconds=2")
        await asyncio.sleep(5)
        await driver.ready()
        await driver.eject(4)
        self.machine.inject("take_deck")
        self.machine.inject("load")
        self.machine.inject("jam:segment=lift,card=20")
        with pytest.raises(PitboxError, match="could not finish"):
            await driver.shuffle(5)
        await driver.report()

    async def close(self) -> None:
        await self.slot.close()
        self.capture.close()


async def _recorded(path: Path, seed: int) -> tuple[Any, str, list[str], tuple[Any, ...]]:
    recording = Recording(path, seed)
    try:
        await recording.a_bad_day()
        view, state = recording.slot.view, recording.service.state
        return view, state, [type(event).__name__ for event in recording.events], recording.ring.frames()
    finally:
        await recording.close()


@pytest.fixture(scope="module")
def bad_day(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Any, str, list[str], tuple[Any, ...]]]:
    path = tmp_path_factory.mktemp("replay") / "day.pcapng"
    return path, run_virtual(_recorded(path, 3))


async def test_a_recording_leaves_the_driver_where_the_machine_left_it(bad_day: Any) -> None:
    path, (view, state, reported, _) = bad_day
    received: list[Any] = []
    (played,) = await replay(list(read_capture(path)), lambda _at, _slot, event: received.append(event))
    assert (played.slot, played.kind, played.linked, played.service) == ("shuffler.1", "shuffler", True, state)
    assert played.view == view
    assert played.unanswered == ()
    again = [type(event).__name__ for event in received if not isinstance(event, PitboxError)]
    own = ("LinkDown", "Settled", "DeckEjected")  # the driver's own events, at the same instant as the machine's
    assert [name for name in again if name not in own] == [name for name in reported if name not in own]
    assert again.count("DeckEjected") == reported.count("DeckEjected") == 2


def test_virtual_time_keeps_the_times_of_the_recording(bad_day: Any) -> None:
    path, _ = bad_day
    times: dict[str, float] = {}

    def notify(at: float, _slot: str, event: Any) -> None:
        times.setdefault(type(event).__name__, at)

    run_virtual(replay(list(read_capture(path)), notify))
    packets = list(read_capture(path))
    length = (packets[-1].time_ns - packets[0].time_ns) / 1e9
    assert 20 < times["Completed"] < times["Jam"] <= length + 1


def test_the_command_prints_events_and_the_state_at_the_end(bad_day: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path, (view, _, _, _) = bad_day
    assert main(["replay", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "Jam(command=5, phase=feeding, segment=lift, card=20" in shown
    assert "Progress" not in shown
    assert "ends faulted" in shown
    assert f"inside         {view.inside}" in shown
    assert main(["replay", str(path), "--json", "--all"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert any(line.get("event") == "Progress" for line in lines)
    assert lines[-1]["service"] == "faulted"
    assert lines[-1]["state"]["inside"] == view.inside


def test_a_fault_report_is_replayed_too(bad_day: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault report holds the frames of the last 30 s: after an evening of play, without a handshake."""
    _, (view, _, _, frames) = bad_day
    after = [each for each in frames if each.before_ms < 8_000]
    report = FaultReport(
        at_ns=_DAY, machine=MachineIdentity(slot="shuffler.1", kind="shuffler"),
        halts=(MachineHalt(what="jam", message="Jam"),), frames=tuple(after),
    )  # fmt: skip
    assert packets_of(report)
    path = tmp_path / "000001.json"
    path.write_bytes(encode(report))
    assert main(["replay", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "Jam(command=5" in shown
    assert "ends faulted" in shown
    assert f"inside         {view.inside}" in shown


async def _evening(kind: str, seed: int, minutes: int) -> tuple[FaultReport, Any, str]:
    """Use a machine for minutes until it jams; return its fault report and the driver's state then."""
    machine: Any = make_machine(kind, f"{kind}.1", seed=seed)
    name = machine.kind
    trust = Trust(name, {machine.key.serial: machine.key}, frozenset({approved_firmware(name)}))
    ring = FrameRing(asyncio.get_running_loop().time)
    known: list[Any] = []
    service = Service()

    def original(event: Any) -> None:
        service.apply_report(slot.kind.trigger(event), unsettled=bool(slot.view.unsettled))
        freezer.handle_device_event(event)
        if freezer.is_recording and not known:
            known.extend((slot.view, service.state))

    slot: AnySlot = Slot(f"{kind}.1", kind_named(name), MemoryPort(machine).open, trust, original, capture=ring)
    freezer = FaultRecorder(
        f"{kind}.1", slot.kind, slot.driver, ring, facts=lambda: {"expected": 53}, wall_ns=lambda: _DAY
    )
    slot.start()
    driver: Any = slot.driver
    try:
        await driver.ready()
        for command in count(1):
            late = asyncio.get_running_loop().time() > minutes * 60
            if late:
                machine.inject("jam:segment=stack,card=45" if name == "shuffler" else "jam:segment=exit,card=0")
            try:
                if name == "shuffler":
                    await driver.shuffle(2 * command)
                    await driver.eject(2 * command + 1)
                    machine.inject("take_deck")
                    machine.inject("load")
                elif isinstance(slot.view, ShoeView) and slot.view.left:
                    await driver.dispense(command, min(7, slot.view.left))
                    machine.inject("take")
                    await asyncio.sleep(20)
                else:
                    if command > 1:
                        machine.inject("gather")
                        machine.inject("load")
                    await driver.load(command)
            except PitboxError:
                break
        await freezer.close()
        return freezer.reports[-1], known[0], known[1]
    finally:
        await freezer.close()
        await slot.close()
        machine.board.power_off()


@pytest.mark.parametrize("kind", ["shuffler", "shoe"])
def test_a_fault_report_from_the_middle_of_an_evening_goes_through_link_and_driver(
    kind: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, view, service = run_virtual(_evening(kind, seed, 3))
    assert not any(read_message(each.data[fr.HEADER_SIZE :]).__class__ is DeviceHello for each in report.frames)
    assert max(each.before_ms for each in report.frames) <= 30_000
    assert len(report.opening) <= 6
    received: list[tuple[float, Any]] = []
    (played,) = run_virtual(replay(packets_of(report), lambda at, _slot, event: received.append((at, event))))
    assert (played.linked, played.service, played.unanswered) == (True, service, ())
    assert played.view == view
    jams = [at for at, event in received if type(event).__name__ == "Jam"]
    began = max(each.before_ms for each in report.frames) / 1000
    assert [round(at, 1) for at in jams] == [round(began, 1)], "in its own time"
    path = tmp_path / "000001.json"
    path.write_bytes(encode(report))
    assert main(["replay", str(path)]) == 0
    assert "through its driver" in capsys.readouterr().out
    nobody = msgspec.structs.replace(
        report, opening=(), machine=MachineIdentity(report.machine.slot, report.machine.kind)
    )
    assert not run_virtual(replay(packets_of(nobody), lambda *_: None))[0].linked, "events only"
    reported = [
        each for each in report.opening if not isinstance(read_message(each.data[fr.HEADER_SIZE :]), DeviceHello)
    ]
    (again,) = run_virtual(
        replay(packets_of(msgspec.structs.replace(report, opening=tuple(reported))), lambda *_: None)
    )
    assert (again.linked, again.view) == (True, view), "a fault report names its machine"


def test_a_file_that_is_no_recording_is_one_clear_error(
    bad_day: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = bad_day
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    (tmp_path / "x.json").write_text("{}")
    for words in ([str(other)], [str(tmp_path / "x.json")], [str(tmp_path / "none")], [str(path), "--slot", "shoe.1"]):
        assert main(["replay", *words]) == USAGE
        output = capsys.readouterr().err
        assert output.startswith("pitbox: PB-")
        assert "Traceback" not in output


@pytest.mark.realtime
def test_real_time_is_the_same_but_slower(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "short.pcapng"

    async def short() -> None:
        recording = Recording(path, 4)
        try:
            recording.slot.start()
            await recording.slot.driver.ready()
            recording.machine.inject("jam:segment=feed,card=1")
            driver: Any = recording.slot.driver
            with pytest.raises(PitboxError, match="could not finish"):
                await driver.shuffle(1)
        finally:
            await recording.close()

    run_virtual(short())
    assert main(["replay", str(path), "--real"]) == 0
    real = capsys.readouterr().out
    assert main(["replay", str(path)]) == 0
    virtual = capsys.readouterr().out
    assert "Jam(command=1" in real
    assert real.rpartition("\n\n")[2] == virtual.rpartition("\n\n")[2]


def test_link_down_is_reported_where_the_cable_was_pulled(bad_day: Any) -> None:
    path, _ = bad_day
    downs: list[float] = []
    run_virtual(
        replay(list(read_capture(path)), lambda at, _, event: downs.append(at) if isinstance(event, LinkDown) else None)
    )
    assert len(downs) == 1
