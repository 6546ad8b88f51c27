"""The programs in examples/: each runs as its first lines describe, with real parts, and prints what they show."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.support.box.broker import Mosquitto
from tests.support.box.processes import LIMIT, background, pitbox, wait_for
from tests.support.box.running_box import RunningBox
from tools.lock import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.realtime
EXAMPLES = ROOT / "examples"


def run(name: str, *arguments: str) -> str:
    """Run an example to its end; return what it printed."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * LIMIT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def started(name: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run an example alongside the test; it is ended as a person does, with Ctrl-C."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)


def test_the_page_names_every_example_and_each_explains_how_to_run_it() -> None:
    page = (EXAMPLES / "README.md").read_text("utf-8")
    programs = sorted(EXAMPLES.glob("*.py"))
    assert len(programs) == 4
    for program in programs:
        assert f"`examples/{program.name}`" in page
        assert f"    python examples/{program.name}" in program.read_text("utf-8")


def test_a_client_of_the_control_socket_reads_the_status_and_adds_a_deck(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    with background("sim", "up", "table", "--game", "face_up_pai_gow", "--folder", str(folder)) as machines:
        wait_for(folder / "table.toml", machines)
        with RunningBox(folder / "table.toml") as box:
            box.until("shaker.1", "in_service")
            printed = run("control_client.py", str(box.socket)).splitlines()
    assert printed[0].startswith("bench face_up_pai_gow: pitbox ")
    assert printed[0].endswith(", running")
    assert "shaker.1 in_service" in printed
    assert "No round: the deck is not shuffled and cut [688a.5(a)/1] (dealer)" in printed
    accepted = printed.index("Deck blue: accepted")
    assert any("for the floorperson: dice? replaced" in line for line in printed[:accepted])
    assert any("for the dealer: opening/composition? whole, not_whole" in line for line in printed[accepted:])


def test_a_listener_prints_the_rounds_and_faults_of_a_demo(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)
    broker.start()
    try:
        with started("mqtt_listener.py", "--port", str(broker.port)) as listener:
            assert listener.stdout is not None
            assert listener.stdout.readline() == "Listening\n"
            demo = ("demo", "--game", "dj_wild", "--rounds", "2", "--speed", "200")
            pitbox(*demo, "--mqtt", f"127.0.0.1:{broker.port}")
            printed, _ = listener.communicate(timeout=LIMIT)
    finally:
        broker.stop()
    lines = printed.splitlines()
    assert lines[0].endswith(": online")
    assert "Round 1 opened" in lines
    assert "Fault: shuffler_fault at shuffler.1; reshuffle [687a.13(e)]" in lines
    assert "Cleared: shuffler_fault at shuffler.1" in lines
    assert lines[-1].endswith(": offline")
    assert listener.returncode == 0


def test_a_device_in_python_passes_the_handshake_and_a_part_of_the_conformance_kit(tmp_path: Path) -> None:
    port = tmp_path / "button.1"
    with started("button_device.py", str(tmp_path)) as device:
        wait_for(port, device)
        assert "position number 3" in pitbox("device", "button", "--port", str(port), "where")
        assert "selftest: done" in pitbox("device", "button", "--port", str(port), "selftest")
        chosen = ("HS-01", "HS-04", "FR-04", "CM-04", "CM-08", "CM-10", "FB-01", "FB-05")
        only = [word for requirement in chosen for word in ("--only", requirement)]
        report = pitbox("conform", "--port", str(port), "--no-hands", *only, "--out", str(tmp_path / "report"))
        assert [f"✓ {requirement}  pass" in report for requirement in chosen] == [True] * len(chosen)
    assert not port.exists()


def test_a_rules_submission_is_accepted_and_one_with_a_mistake_is_not() -> None:
    assert run("rules_submission.py") in (EXAMPLES / "rules_submission.py").read_text("utf-8").replace("\n    ", "\n")
