"""USB from the outside: commands in processes of their own, the stock `usbip` tool, and the real libusb."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.support.box.processes import LIMIT, background, pitbox, simulator
from tests.support.suite.required_tools import need_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.realtime


@contextmanager
def exported(folder: Path, *options: str) -> Iterator[str]:
    """Run `pitbox sim up shuffler --usb 0` and yield its port once it is printed."""
    with background("sim", "up", "shuffler", "--usb", "0", "--folder", str(folder), *options) as process:
        assert process.stdout is not None
        port = ""
        for line in process.stdout:
            port = port or line.removeprefix("port").strip() * line.startswith("port ")
            if line.startswith("Ctrl-C"):
                break
        assert port, "the simulator did not print its port"
        yield port


def number(port: str) -> str:
    match = re.fullmatch(r"usbip://127\.0\.0\.1:(\d+)/1209:0001:SIM-0000-1", port)
    assert match, port
    return match[1]


def test_a_shuffle_a_second_host_and_an_unplugged_cable(tmp_path: Path) -> None:
    folder, key = str(tmp_path), str(tmp_path / "shuffler.1.key")
    with exported(tmp_path, "--speed", "30") as port:
        there = ["device", "shuffler", "--port", port]
        assert "PB-612" in pitbox(*there, "status", expect=2), "a USB port has no file beside it: say which key"
        assert "a whole, shuffled deck" in pitbox(*there, "--key", key, "shuffle")
        assert pitbox("usb", "--server", f"127.0.0.1:{number(port)}") == f"{port}\n"
        assert f"port {port}" in pitbox("sim", "list", "--folder", folder)
        with background("trace", "--port", port, "--key", key) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline()
            assert "PB-112" in pitbox(*there, "--key", key, "status", expect=3)
        pitbox("sim", "inject", "shuffler.1", "unplug:seconds=0", "--folder", folder)
        assert "PB-111" in pitbox(*there, "--key", key, "status", expect=3)
        assert "no USB device" in pitbox("usb", "--server", f"127.0.0.1:{number(port)}")
    assert "nothing answers" in pitbox("usb", "--server", f"127.0.0.1:{number(port)}", expect=3)


def test_a_whole_table_on_one_bus(tmp_path: Path) -> None:
    with background("sim", "up", "table", "--usb", "0", "--folder", str(tmp_path)) as process:
        assert process.stdout is not None
        output = "".join(iter(process.stdout.readline, "Ctrl-C ends it.\n"))
        config = tmp_path / "table.toml"
        ports = re.findall(r'^port = "(usbip://.*)"$', config.read_text("utf-8"), re.MULTILINE)
        assert f"# {len(ports)} machines" in output
        assert len(ports) > 6
        asked = pitbox("devices", "--config", str(config))  # all at once, each by its own serial number
        assert asked.count(" in service ") == len(ports)


def test_addresses_and_servers_that_cannot_be(tmp_path: Path) -> None:
    with exported(tmp_path) as port:
        key = str(tmp_path / "shuffler.1.key")
        for wrong in ("usb:1209:0001", "usb:12:1:x", "usbip://127.0.0.1/1209:0001:x"):
            assert "PB-611" in pitbox("device", "shuffler", "--port", wrong, "--key", key, "status", expect=2)
        assert "PB-611" in pitbox("usb", "--server", "nonsense", expect=2)
        other = ["sim", "up", "shuffler", "--name", "shuffler.2", "--folder", str(tmp_path)]
        assert "PB-610" in pitbox(*other, "--usb", number(port), expect=2)
        assert "PB-610" in pitbox(*other, "--usb", "99999", expect=2)


def test_faults_of_usb_happen_on_usb_only(tmp_path: Path) -> None:
    with simulator(tmp_path):
        for fault in ("usb_stall", "usb_busy"):
            refused = pitbox("sim", "inject", "shuffler.1", fault, "--folder", str(tmp_path), expect=2)
            assert "PB-613" in refused
            assert f"{fault} does not happen to the port" in refused
    with exported(tmp_path):
        output = pitbox("sim", "inject", "shuffler.1", "usb_stall:endpoint=out", "--folder", str(tmp_path))
        assert "usb_stall:endpoint=out,times=1" in output
        assert "PB-613" in pitbox(
            "sim", "inject", "shuffler.1", "usb_stall:endpoint=up", "--folder", str(tmp_path), expect=2
        )


def test_the_stock_tool_lists_the_device(tmp_path: Path) -> None:
    usbip = need_tool("usbip", "usbip")
    with exported(tmp_path) as port:
        command = [usbip, "--tcp-port", number(port), "list", "-r", "127.0.0.1"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.returncode == 0, done.stderr
        assert re.search(r"1-1: .*\(1209:0001\)", done.stdout)
        assert "(ff/00/00)" in done.stdout
        assert "/pitbox/SIM-0000-1" in done.stdout


def test_the_real_libusb_answers_on_any_computer(tmp_path: Path) -> None:
    """Also without any USB: an error with a code, not a traceback."""
    with exported(tmp_path):
        key = str(tmp_path / "shuffler.1.key")
        output = pitbox("device", "shuffler", "--port", "usb:1209:0001:no such one", "--key", key, "status", expect=3)
        assert "PB-111" in output
        assert "no such device is plugged in" in output
    assert "usb" in pitbox("usb").lower()


def test_commands_that_need_no_usb_do_not_load_it() -> None:
    program = (
        "import sys; from table_controller.cli import main; code = main(sys.argv[1:]); sys.exit('usb' in sys.modules)"
    )
    for arguments in (["--version"], ["explain", "PB-121"], ["device", "shuffler", "--port", "/nowhere", "status"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], capture_output=True, timeout=LIMIT, check=False
        )
        assert done.returncode == 0, arguments
