"""`pitbox doctor`: every failing line gives a remedy and decides the exit code."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from firmware_bridge.keys import ApprovedFirmware
from table_controller.cli import main
from table_controller.cli.commands.doctor import wear_lines
from table_controller.config import load_config
from table_controller.diagnosis.drift import Wear, Window
from table_controller.maintenance.doctor import machines, notices, ports, usb_ports
from table_controller.maintenance.doctor.check_result import FAIL, OK, WARN, CheckResult, exit_code
from table_controller.maintenance.doctor.machines import BoxProbe, SlotProbe
from table_controller.maintenance.wear import WEAR_FOLDER, WearStore
from table_controller.picture.types import LinkPicture
from tests.support.box.configs import write_saigon_config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from table_controller.config import TableConfig


def table(folder: Path, more: str = "", *, enrolled: str = "t1 shuffler.1") -> Path:
    """Write a table with two machines whose ports are plain files."""
    folder.mkdir(exist_ok=True)
    (folder / "data").mkdir()
    for kind in ("shuffler", "shoe"):
        (folder / f"tty-{kind}").touch()
    return write_saigon_config(folder, f"{folder}/tty-KIND", lambda: os.urandom(32), enrolled=enrolled, more=more)


@pytest.fixture
def config(tmp_path: Path) -> TableConfig:
    return load_config(table(tmp_path / "t"))


def test_the_worst_line_is_the_exit_code() -> None:
    assert exit_code([]) == 0
    assert exit_code([CheckResult("a", OK, "")]) == 0
    assert exit_code([CheckResult("a", OK, ""), CheckResult("b", WARN, "")]) == 1
    assert exit_code([CheckResult("a", FAIL, ""), CheckResult("b", WARN, "")]) == 2


# --- ports ------------------------------------------------------------------------------------------------------------


def test_a_port_that_is_not_there_may_not_be_opened_or_is_held_by_another(tmp_path: Path) -> None:
    gone = ports.check_port_of_slot("shuffler.1", str(tmp_path / "none"), None)
    assert (gone.state, "cable" in gone.do) == (FAIL, True)
    path = tmp_path / "tty"
    path.touch()
    assert ports.check_port_of_slot("shuffler.1", str(path), None).state == OK
    with path.open("r"):
        assert ports.check_port_of_slot("shuffler.1", str(path), None).state == OK, "our own is no other"
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.open(path, os.O_RDONLY)
        os.write(writer, b"x")
        signal_end, _ = os.pipe()
        os.read(reader, 2)
        os.read(signal_end, 1)
        os._exit(0)
    try:
        while not ports.holders(path):
            pass
        held = ports.check_port_of_slot("shuffler.1", str(path), None)
        assert held.state == FAIL
        assert f"({child})" in held.text
        assert ports.check_port_of_slot("shuffler.1", str(path), child).state == OK, "the box itself may hold it"
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)


def test_a_port_of_another_user_names_the_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tty"
    path.touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    line = ports.check_port_of_slot("shuffler.1", str(path), None)
    assert line.state == FAIL
    assert f"usermod -aG {path.group()}" in line.do


@contextmanager
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_network_ports_and_broker_are_tried_by_connecting_only(tmp_path: Path) -> None:
    with listener() as number:
        assert ports.check_port_of_slot("shoe.1", f"socket://127.0.0.1:{number}", None).state == OK
        with_broker = load_config(table(tmp_path / "a", f'[mqtt]\nhost = "127.0.0.1"\nport = {number}\n'))
        assert notices.check_broker(with_broker)[0].state == OK
    assert ports.check_port_of_slot("shoe.1", f"rfc2217://127.0.0.1:{number}", None).state == FAIL
    assert notices.check_broker(with_broker)[0].state == WARN
    assert "the table plays on" in notices.check_broker(with_broker)[0].do


def test_no_broker_is_no_fault(config: TableConfig) -> None:
    assert notices.check_broker(config)[0].state == OK


class Usb:
    """The kernel's list of USB devices, as files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.sys, self.nodes = folder / "sys", folder / "dev"
        (folder / "drivers").mkdir()
        self.sys.mkdir()

    def plug(self, name: str, serial: str, *, driver: str = "", kind: str = "ff") -> Path:
        """Plug a device in; return its node."""
        files = {"idVendor": "1209", "idProduct": "5070", "serial": serial, "busnum": "1", "devnum": name[-1]}
        (self.sys / name).mkdir()
        for key, value in files.items():
            (self.sys / name / key).write_text(value + "\n")
        part = self.sys / f"{name}:1.0"
        part.mkdir()
        (part / "bInterfaceClass").write_text(kind + "\n")
        if driver:
            (self.sys.parent / "drivers" / driver).mkdir(exist_ok=True)
            (part / "driver").symlink_to(self.sys.parent / "drivers" / driver)
        node = self.nodes / "001" / f"00{name[-1]}"
        node.parent.mkdir(parents=True, exist_ok=True)
        node.touch()
        return node

    def line(self, box: int | None = None, held: tuple[tuple[int, str], ...] = ()) -> CheckResult:
        """Look at the port of shoe.1, whose device has the serial number SN1."""
        url = "usb:1209:5070:SN1"
        return usb_ports.check_usb_port("port of shoe.1", url, box, lambda _: list(held), self.sys, self.nodes)


def test_a_usb_port_is_listed_as_free_or_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usb = Usb(tmp_path)
    usb.plug("1-1", "SN9")
    gone = usb.line()
    assert (gone.state, "not plugged in; devices of this make: SN9" in gone.text) == (FAIL, True)
    node = usb.plug("1-2", "SN1")
    good = usb.line()
    assert (good.state, str(node) in good.text) == (OK, True)
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        shut = usb.line()
        assert (shut.state, "70-pitbox.rules" in shut.do, str(node) in shut.text) == (FAIL, True, True)
    usb.plug("1-3", "SN1")
    assert (usb.line().state, "2 devices" in usb.line().text) == (FAIL, True)
    nothing = usb_ports.check_usb_port("x", "usb:1209:5070:SN1", None, lambda _: [], tmp_path / "none", usb.nodes)
    assert (nothing.state, "no USB" in nothing.text) == (FAIL, True)


def test_a_usb_port_that_another_has_claimed_names_the_holder(tmp_path: Path) -> None:
    usb = Usb(tmp_path)
    usb.plug("1-1", "SN1", driver="usbfs")
    other = usb.line(None, ((7, "fwupd"),))
    assert (other.state, "fwupd (7)" in other.text, bool(other.do)) == (FAIL, True, True)
    assert usb.line(7, ((7, "pitbox"),)).state == OK, "the box itself may hold it"
    assert usb.line().state == WARN, "somebody whom we cannot see"
    (tmp_path / "b").mkdir()
    kernel = Usb(tmp_path / "b")
    kernel.plug("1-1", "SN1", driver="cdc_acm")
    assert (kernel.line().state, "cdc_acm" in kernel.line().do) == (FAIL, True)
    (tmp_path / "c").mkdir()
    stick = Usb(tmp_path / "c")
    stick.plug("1-1", "SN1", kind="08")
    assert (stick.line().state, "not a table machine" in stick.line().text) == (FAIL, True)


def test_a_port_of_a_usbip_server_is_asked_for_by_its_list() -> None:
    with listener() as number:
        pass
    line = ports.check_port_of_slot("shoe.1", f"usbip://127.0.0.1:{number}/1209:5070:SN1", None)
    assert (line.state, "server" in line.do) == (FAIL, True)


def test_all_good_ports_are_one_line(config: TableConfig) -> None:
    (line,) = ports.check_ports(config, 77)
    assert (line.state, "in use by the box (77)" in line.text) == (OK, True)


# --- keys and firmware ------------------------------------------------------------------------------------------------


def test_keys_that_are_not_enrolled_and_folders_that_others_write_to(tmp_path: Path, config: TableConfig) -> None:
    assert [line.state for line in ports.check_keys(config)] == [OK]
    loose = load_config(table(tmp_path / "loose", enrolled=""))
    (line,) = ports.check_keys(loose)
    assert (line.state, "shuffler.1 (SN-shuffler)" in line.text) == (WARN, True)
    (tmp_path / "loose").chmod(0o777)
    assert "chmod go-w" in ports.check_keys(loose)[0].do


def test_a_kind_without_approved_firmware_fails(config: TableConfig) -> None:
    assert ports.check_approved_list(config)[0].state == OK
    other = msgspec.structs.replace(config, approved=frozenset({ApprovedFirmware("rng", "1", bytes(32))}))
    (line,) = ports.check_approved_list(other)
    assert line.state == FAIL
    assert "shoe, shuffler" in line.text


def test_slots_show_firmware_faults_absence_and_bad_links(config: TableConfig) -> None:
    good = LinkPicture(2_000, 10_000, 9_000, 0, 0, 0, 0)
    fine = SlotProbe("shuffler.1", "in_service", "SN-shuffler", "sim-1.0", link=good)
    states = {line.what: line.state for line in machines.slot_lines(config, [fine])}
    assert states == {"link of shuffler.1": OK, "machines": OK, "firmware": OK}
    for slot, what, state in (
        (msgspec.structs.replace(fine, firmware="1.9-rogue"), "firmware of shuffler.1", FAIL),
        (SlotProbe("shuffler.1", "absent", code="PB-111", cause="not plugged in"), "shuffler.1", FAIL),
        (SlotProbe("shuffler.1", "faulted", "SN", "sim-1.0"), "shuffler.1", FAIL),
        (SlotProbe("shuffler.1", "unverified", "SN", "sim-1.0"), "shuffler.1", WARN),
        (msgspec.structs.replace(fine, link=LinkPicture(2_000, 1_000, 900, 20, 0, 0, 0)), "link of shuffler.1", WARN),
        (msgspec.structs.replace(fine, link=LinkPicture(2_000, 1_000, 900, 0, 0, 90, 0)), "link of shuffler.1", FAIL),
        (msgspec.structs.replace(fine, link=LinkPicture(90_000, 1_000, 900, 0, 0, 0, 0)), "link of shuffler.1", WARN),
    ):
        line = next(each for each in machines.slot_lines(config, [slot]) if each.what == what)
        assert line.state == state, line
        assert line.do


def test_a_few_frames_do_not_rate_a_line(config: TableConfig) -> None:
    slot = SlotProbe("shuffler.1", "in_service", "SN", "sim-1.0", link=LinkPicture(2_000, 4, 4, 2, 0, 1, 9))
    line = next(each for each in machines.slot_lines(config, [slot]) if each.what == "link of shuffler.1")
    assert line.state == OK


# --- wear -------------------------------------------------------------------------------------------------------------


def test_wear_that_is_about_to_end_is_a_warning_with_what_to_do(config: TableConfig) -> None:
    assert list(wear_lines(config)) == []
    means = [60_000] * 8 + [60_000 + 1_800 * n for n in range(1, 9)]
    windows = tuple(Window(212 * n, (mean, 60_000, 60_000), (1, 1, 1), (400,)) for n, mean in enumerate(means, 1))
    book = WearStore(config.data / WEAR_FOLDER)
    book.write(Wear("SN-shoe", "shoe.1", cards=212 * 16, base=windows[:5], windows=windows))
    (line,) = wear_lines(config)
    assert (line.what, line.state) == ("wear", WARN)
    assert line.text.startswith("shoe.1 (SN-shoe): segment feed")
    assert line.do == "clean or replace its rollers at the next break"
    book.write(Wear("SN-shoe", "shoe.1", cards=212 * 8, base=windows[:5], windows=windows[:8]))
    assert [line.state for line in wear_lines(config)] == [OK]


# --- the box ----------------------------------------------------------------------------------------------------------


def status(**more: Any) -> dict[str, Any]:
    return {"version": "1", "boot": 3, "phase": "running", "cause": None, "tasks": [], "slots": []} | more


def test_a_box_runs_is_locked_or_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    assert machines.probe_box(path) == BoxProbe()
    assert machines.box_lines(BoxProbe(), path)[0].state == WARN
    (good,) = machines.box_lines(BoxProbe(9, status()), path)
    assert (good.state, "process 9" in good.text) == (OK, True)
    locked = status(phase="locked", cause={"code": "PB-711", "text": "damaged"})
    assert machines.box_lines(BoxProbe(9, locked), path)[0].state == FAIL
    died = status(tasks=[{"name": "uplink", "restarts": 2, "error": "x", "state": "up"}])
    assert [line.state for line in machines.box_lines(BoxProbe(9, died), path)] == [OK, WARN]


def test_something_else_at_the_socket_is_no_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def hang_up() -> None:
            for _ in range(2):
                peer, _ = server.accept()
                peer.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        result = machines.probe_box(path)
        thread.join()
    assert result.pid == os.getpid()
    assert result.status is None
    assert machines.box_lines(result, path)[0].state == FAIL


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_prints_everything_and_exits_by_the_worst(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path / "t")
    (tmp_path / "t" / "tty-shoe").unlink()
    code = main(["doctor", "--config", str(path)])
    shown = capsys.readouterr().out
    assert code == 2
    assert "fail  port of shoe.1:" in shown
    assert "-> check that its cable is plugged in" in shown
    assert "not checked, because their keys are enrolled: shuffler.1, shoe.1" in shown
    assert "fail" in shown.splitlines()[-1]
    assert main(["doctor", "--config", str(path), "--json", "--no-bench"]) == 2
    output = json.loads(capsys.readouterr().out)
    assert output["exit"] == 2
    names = {line["what"] for line in output["lines"]}
    assert names >= {"configuration", "box", "keys", "clock", "disk", "journal", "second copy", "people", "broker"}
    assert all(line["do"] for line in output["lines"] if line["state"] != "ok")


def test_a_configuration_that_cannot_be_used_is_a_line_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path / "t")
    path.write_text(path.read_text("utf-8").replace("[rules]", "[rulez]"), "utf-8")
    assert main(["doctor", "--config", str(path)]) == 2
    assert "fail  configuration: PB-" in capsys.readouterr().out
    assert main(["doctor", "--config", str(tmp_path / "none.toml")]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_exit_codes_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "--help"])
    assert "exit codes: 0 all ok, 1 a warning, 2 a failure" in capsys.readouterr().out
