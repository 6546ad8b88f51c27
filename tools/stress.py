"""Repeats the real-time tests under processor load and counts the failures. Ends by itself.

python -m tools.stress --times 20 --load 8                            all tests that are marked realtime
python -m tools.stress --times 5 --load 8 tests/unit/test_usb_transport.py -k canceled

A test that fails only here waits too briefly, or the product reports something too early: find out which.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
# Limit for one repetition (s).
LIMIT: Final = 3600
MARKS: Final = "realtime and not proof and not vhci"
# Computes until its parent ends, at most for one repetition.
BUSY: Final = f"""import os, time
parent, until = os.getppid(), time.monotonic() + {LIMIT}
while os.getppid() == parent and time.monotonic() < until:
    sum(range(100_000))
"""
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@contextmanager
def busy(processes: int) -> Iterator[list[int]]:
    """Run so many busy processes in this block; yield their ids."""
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]  # noqa: S603 - our own words
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()


def run_once(selected: list[str]) -> tuple[int, list[str], str]:
    """Run the tests once; return pytest's exit code, the tests that failed, and its output."""
    workers = str((os.cpu_count() or 1) + 1)
    command = [sys.executable, "-m", "pytest", "-m", MARKS, "-q", "-n", workers, "--dist", "worksteal", *selected]
    done = subprocess.run(  # noqa: S603 - our own words
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    return done.returncode, _FAILED.findall(done.stdout), done.stdout + done.stderr


def main(arguments: list[str] | None = None) -> int:
    """Repeat the tests; return 0 if nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.stress", description="real-time tests under load")
    parser.add_argument("--times", type=int, default=20, help="how often (default 20)")
    parser.add_argument("--load", type=int, default=8, help="how many processes compute meanwhile (default 8)")
    args, selected = parser.parse_known_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and pytest ends with it
    failed: Counter[str] = Counter()
    broken = 0
    for number in range(1, args.times + 1):
        began = time.monotonic()
        with busy(args.load):
            code, names, printed = run_once(selected)
        broken += code != 0
        failed.update(names)
        ended = printed.strip().rpartition("\n")[2]
        print(f"{number} of {args.times}, load {args.load}: {ended} ({time.monotonic() - began:.0f} s)", flush=True)
        if code != 0:
            print(printed, flush=True)
    for name, times in failed.most_common():
        print(f"failed {times} of {args.times} times: {name}")
    print(f"{args.times - broken} of {args.times} repetitions passed")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
