"""kill -9 of a process that writes fault reports: every reported one is whole, and the numbers go on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

import pytest

from table_controller.diagnosis import fault_report_store as st
from tests.support.box.fault_reports import shuffler_report

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime

CHILD: Final = """
import os, sys
from pathlib import Path
import msgspec
from table_controller.diagnosis.fault_report_store import FaultReportStore
from tests.support.box.fault_reports import shuffler_report

fault = shuffler_report("jam", "lift", complete=False)
kept = FaultReportStore(Path(sys.argv[1]))
while True:
    number = kept.add(fault)
    os.write(1, b"%d\\n" % number)
    kept.complete(number, fault)
"""

FAULT: Final = """
import asyncio, os, signal, sys
from pathlib import Path
from devices.kinds import SHUFFLER
from firmware_bridge.errors import PitboxError
from simulators.engine.ports.memory import MemoryPort
from simulators.casino.device_bench import DeviceBench
from simulators.kinds.shuffler.machine import SimulatedShuffler
from simulators.engine.virtual_time import run_virtual
from table_controller.maintenance.frame_ring import FrameRing
from table_controller.maintenance.fault_recorder import FaultRecorder
from table_controller.diagnosis.fault_report_store import FaultReportStore

class Killed(FaultReportStore):
    def add(self, report):
        number = super().add(report)
        os.write(1, b"%d" % number)
        os.kill(os.getpid(), signal.SIGKILL)

async def play():
    machine = SimulatedShuffler(seed=5)
    ring = FrameRing(asyncio.get_running_loop().time)
    bench = DeviceBench(
        machine, SHUFFLER, MemoryPort(machine).open, capture=ring, on_event=lambda e: recorder.handle_device_event(e)
    )
    recorder = FaultRecorder("shuffler.1", SHUFFLER, bench.driver, ring, Killed(Path(sys.argv[1])))
    bench.inject("jam:segment=lift,card=9")
    bench.supervisor.start()
    await bench.until_reported()
    await bench.driver.shuffle(1)

run_virtual(play())
"""


@pytest.mark.timeout(60)
def test_a_box_killed_when_its_fault_report_is_numbered_has_kept_the_known_evidence(tmp_path: Path) -> None:
    for number in (1, 2):
        before = {n: st.file_of(tmp_path, n).read_bytes() for n in st.numbers(tmp_path)}
        child = subprocess.run([sys.executable, "-c", FAULT, str(tmp_path)], capture_output=True, check=False)
        assert (child.returncode, child.stdout) == (-signal.SIGKILL, b"%d" % number), child.stderr.decode()
        kept = st.read(tmp_path, number)
        assert (kept.complete, kept.halt.segment, kept.halt.card) == (False, "lift", 9)
        assert kept.levels
        assert kept.currents
        assert kept.frames
        assert before == {n: st.file_of(tmp_path, n).read_bytes() for n in before}, "nothing takes another's place"


@pytest.mark.timeout(60)
def test_a_killed_writer_leaves_whole_fault_reports_only(tmp_path: Path, seed: int) -> None:
    rng, last_number = random.Random(seed), 0
    for _ in range(4):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        numbers = [int(child.stdout.readline())]  # it has begun
        time.sleep(rng.uniform(0.005, 0.1))
        os.kill(child.pid, signal.SIGKILL)
        remaining = child.stdout.read()
        child.stdout.close()
        child.wait()
        numbers += [int(line) for line in remaining.splitlines(keepends=True) if line.endswith(b"\n")]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert numbers[0] > last_number
        last_number = numbers[-1]
        there = st.numbers(tmp_path)
        assert set(numbers[-st.ALWAYS_KEPT :]) <= set(there)
        for number in there:
            assert st.read(tmp_path, number).halts == shuffler_report("jam", "lift").halts
