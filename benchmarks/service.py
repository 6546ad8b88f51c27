"""Measures the whole service as a process: start to ready, memory, and processor time at two paces of play.

A box is a real `pitbox run` on ptys with its panel on; its machines and people are in this process. Two boxes play both
paces at the same time; each process's own time is measured. `benchmarks.press` measures a press.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.budgets import BUDGETS
from benchmarks.press import GAME
from benchmarks.rows import print_verdict
from simulators.casino.box_process import BoxProcess
from simulators.casino.broker import free_port
from simulators.casino.remote_table import RemoteTable

STARTS: Final = 5
# Rounds a minute: a slow table, and more than any real table plays.
PACES: Final = (1, 60)


# --- the process ------------------------------------------------------------------------------------------------------


class MeasuredBox(BoxProcess):
    """A `pitbox run` process with its memory and processor time."""

    def __init__(self, config: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = config.parent / "notify.sock"
        path.unlink(missing_ok=True)
        self._socket.bind(str(path))
        self._socket.settimeout(30)
        self.began = time.perf_counter()
        super().__init__(config, environment={"NOTIFY_SOCKET": str(path)})

    def ready(self) -> float:
        """Wait for READY=1; return the time since the start (s)."""
        while b"READY=1" not in self._socket.recv(1000):
            pass
        return time.perf_counter() - self.began

    @property
    def resident_mb(self) -> float:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    @property
    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.end()
        self._socket.close()


def _run_seconds(*arguments: str) -> float:
    """Return the seconds that the interpreter takes to run something."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _table(folder: Path) -> RemoteTable:
    """Return a table whose box also serves its panel, at a free port."""
    folder.mkdir()
    table = RemoteTable(folder, GAME, seed=1, speed=400.0, pace=0.01)
    table.panel_port = free_port()
    return table


async def _starts(folder: Path) -> None:
    async with _table(folder) as table:
        took, floors, versions, sizes = [], [], [], []
        for _ in range(STARTS):
            floors.append(await asyncio.to_thread(_run_seconds, "-c", "import asyncio"))
            versions.append(await asyncio.to_thread(_run_seconds, "-m", "table_controller.cli", "--version"))
            process = MeasuredBox(table.config)
            took.append(await asyncio.to_thread(process.ready))
            sizes.append(process.resident_mb)
            await asyncio.to_thread(process.stop)
    ready, floor = median(took), median(floors)
    print_verdict(BUDGETS["version"], "pitbox --version / import asyncio", median(versions) / floor)
    print_verdict(BUDGETS["ready"], f"start to ready ({ready / floor:.1f} x import asyncio)", ready)
    print_verdict(BUDGETS["memory"], "resident when ready", median(sizes))


async def _pace(folder: Path, per_minute: int, seconds: float) -> None:
    """Play at a constant pace: a round, then a pause until the next one is due."""
    async with _table(folder) as table:
        process = MeasuredBox(table.config)
        try:
            await table.connect_to_box()
            await table.until_quiescent()
            await table.bring_deck("blue")
            await table.bring_deck("red")
            rounds = max(1, round(seconds * per_minute / 60))
            idle_cpu = idle_s = 0.0
            began, cpu = time.perf_counter(), process.cpu_s
            for number in range(1, rounds + 1):
                await table.round((1, 3))
                at, before = time.perf_counter(), process.cpu_s
                await asyncio.sleep(max(0.0, began + number * 60 / per_minute - at))
                idle_s, idle_cpu = idle_s + time.perf_counter() - at, idle_cpu + process.cpu_s - before
            used, passed = process.cpu_s - cpu, time.perf_counter() - began
            resident = process.resident_mb
        finally:
            await asyncio.to_thread(process.stop)
    real = rounds / passed * 60
    between = f"{100 * idle_cpu / idle_s:.2f} % between rounds, " if idle_s > passed / 10 else ""
    each = (used - idle_cpu) / rounds * 1000
    print(
        f"{per_minute} rounds/min ({real:.1f} played, {passed:.0f} s): {100 * used / passed:.2f} % of one core ", end=""
    )
    print(f"({between}{each:.0f} ms a round)")
    print_verdict(BUDGETS["memory"], f"resident after {passed:.0f} s at {per_minute} rounds/min", resident)


async def _paces(folder: Path, seconds: float) -> None:
    async with asyncio.TaskGroup() as both:
        for pace in PACES:
            both.create_task(_pace(folder / f"pace-{pace}", pace, seconds))


def main() -> None:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(
        description="The whole service: start, memory, the processor's time.",
        epilog="example: python -m benchmarks.service",
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long both paces are played (default 60)")
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        asyncio.run(_starts(Path(folder, "starts")))
        asyncio.run(_paces(Path(folder), args.seconds))


if __name__ == "__main__":
    main()
