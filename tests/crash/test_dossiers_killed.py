"""kill -9 of a process that writes dossiers: what it said is there is whole, and the numbers go on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

import pytest

from table_controller.diagnosis import store as st
from tests.support.dossiers import shuffler

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime

CHILD: Final = """
import os, sys
from pathlib import Path
import msgspec
from table_controller.diagnosis.store import DossierStore
from tests.support.dossiers import shuffler

fault = shuffler("jam", "lift", complete=False)
kept = DossierStore(Path(sys.argv[1]))
while True:
    number = kept.add(fault)
    os.write(1, b"%d\\n" % number)
    kept.complete(number, fault)
"""


@pytest.mark.timeout(60)
def test_a_killed_writer_leaves_whole_dossiers_only(tmp_path: Path, seed: int) -> None:
    rng, said = random.Random(seed), 0
    for _ in range(4):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        numbers = [int(child.stdout.readline())]  # it has begun
        time.sleep(rng.uniform(0.005, 0.1))
        os.kill(child.pid, signal.SIGKILL)
        rest = child.stdout.read()
        child.stdout.close()
        child.wait()
        numbers += [int(line) for line in rest.splitlines(keepends=True) if line.endswith(b"\n")]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert numbers[0] > said
        said = numbers[-1]
        there = st.numbers(tmp_path)
        assert set(numbers[-st.NEWEST :]) <= set(there)
        for number in there:
            assert st.read(tmp_path, number).halts == shuffler("jam", "lift").halts
