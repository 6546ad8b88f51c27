"""Starts `pitbox` as real processes and ends them by their own process id."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from simulators.casino.box_process import PITBOX
from simulators.engine.control import send_request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Seconds. Far more than any of these needs, even where other processes compute; a process that takes longer hangs.
LIMIT: Final = 180.0


def pitbox(*arguments: str, expect: int = 0) -> str:
    """Run `pitbox` to its end; return what it printed, both streams. Fails unless the exit code is as expected."""
    done = subprocess.run([*PITBOX, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False)
    printed = done.stdout + done.stderr
    assert done.returncode == expect, f"pitbox {' '.join(arguments)} gave {done.returncode}, not {expect}:\n{printed}"
    assert "Traceback" not in printed, printed
    return printed


@contextmanager
def background(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run `pitbox` in parallel with the test; ended by SIGTERM, or by SIGKILL if that does not help."""
    process = subprocess.Popen([*PITBOX, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()


@contextmanager
def simulator(folder: Path, *options: str, name: str = "shuffler.1", model: str = "shuffler") -> Iterator[Path]:
    """Run `pitbox sim up MODEL` and yield its port once it is there."""
    with background("sim", "up", model, "--folder", str(folder), "--name", name, *options) as process:
        wait_for(folder / name, process)
        yield folder / name


def kill_machine(port: Path, pid: int) -> None:
    """Kill a simulator as a machine without power goes: its port's name vanishes first, as udev removes a real one.

    The kernel gives a pty's number to the next process that asks. A name that is left would lead the host to another
    test's machine: the host would refuse it (PB-312) and wait 10 s, and that machine's own host would find it busy.
    """
    port.unlink()
    os.kill(pid, signal.SIGKILL)


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a file exists; fail with the process's words if it ends first."""
    until = time.monotonic() + LIMIT
    while not path.exists():
        assert process.poll() is None, process.stdout.read() if process.stdout else ""
        assert time.monotonic() < until, f"{path} did not appear"
        time.sleep(0.02)


def until_state(folder: Path, name: str, state: str) -> None:
    """Wait until a running simulator's firmware is in a state."""
    until = time.monotonic() + LIMIT
    while send_request(folder, name, {"do": "truth"})["state"] != state:
        assert time.monotonic() < until, f"{name} was never {state}"
        time.sleep(0.05)
