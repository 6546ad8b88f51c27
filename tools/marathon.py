"""Runs the long proofs lap by lap, each with other seeds, and adds up the cases by subject. Ends by itself.

python -m tools.marathon                 TIMES (20) laps: the full counts, hours
python -m tools.marathon --minutes 90    as many laps as begin in that time; no test begins after it

The next marathon continues with the next lap (`.marathon.json`), so that no seed is used twice; `--lap 1` starts over.
Proofs without seeds, such as a search of every state, run in the first lap only. To repeat a failure, run the command
that pytest prints with `PITBOX_LAP=N` before it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.suite.marathon import Figures, line_of  # noqa: E402 - of this tree

STATE: Final = ROOT / ".marathon.json"
TIMES: Final = 20
# pytest's exit codes without a failure: all passed, and no test to run.
_FINE: Final = (0, 5)
# Distance between the seeds of two laps; as in tests/support/suite/case_counts.py.
_APART: Final = 100_000


def next_lap(state: Path) -> int:
    """Return the first lap that no marathon has started."""
    return int(json.loads(state.read_text("utf-8"))["lap"]) if state.exists() else 1


def run_lap(lap: int, until: float, selected: list[str]) -> tuple[int, dict[str, Figures]]:
    """Run one lap; return pytest's exit code and the figures by subject."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        more = {"PITBOX_LAP": str(lap), "PITBOX_UNTIL": str(until), "PITBOX_LAP_FIGURES": str(figures)}
        seed = 1 + _APART * (lap - 1)
        words = ["-q", "-m", "proof and not vhci", "--timeout", "1500", "-p", "tests.support.suite.marathon"]
        words += ["-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal", "--seed", str(seed)]
        words += ["--hypothesis-seed", str(seed)] if lap > 1 else []
        done = subprocess.run(  # noqa: S603 - our own words
            [sys.executable, "-m", "pytest", *words, *selected], cwd=ROOT, env=os.environ | more, check=False
        )
        lap_figures: dict[str, Figures] = json.loads(figures.read_text("utf-8")) if figures.exists() else {}
    return done.returncode, lap_figures


def add(total: dict[str, Figures], lap: dict[str, Figures]) -> None:
    """Add a lap's figures to the marathon's."""
    for subject, figures in lap.items():
        mine: Any = total.setdefault(subject, Figures(tests=0, cases=0, failed=0, seconds=0.0, left=0))
        for name, value in figures.items():
            mine[name] += value


def lines(total: dict[str, Figures]) -> list[str]:
    """Return the figures as lines: one per subject, and the total."""
    whole: dict[str, Figures] = {}
    for figures in total.values():
        add(whole, {"altogether": figures})
    rows = sorted(total.items(), key=lambda each: -each[1]["seconds"])
    return [line_of(subject, figures) for subject, figures in [*rows, *whole.items()]]


def main(arguments: list[str] | None = None) -> int:
    """Run laps; return 0 if nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.marathon", description="the long proofs, lap by lap")
    parser.add_argument("--times", type=int, default=TIMES, help=f"how many laps (default {TIMES})")
    parser.add_argument("--minutes", type=float, default=0, help="begin no test after so long")
    parser.add_argument("--lap", type=int, help="begin with this lap (default: the next one)")
    parser.add_argument("--state", type=Path, default=STATE, help=argparse.SUPPRESS)
    args, selected = parser.parse_known_args(arguments)
    first = args.lap or next_lap(args.state)
    until = time.time() + 60 * args.minutes if args.minutes else 0.0
    total: dict[str, Figures] = {}
    broken, lap = 0, first
    while (time.time() < until) if until else (lap < first + args.times):
        args.state.write_text(json.dumps({"lap": lap + 1}), "utf-8")
        code, figures = run_lap(lap, until, selected)
        broken += code not in _FINE
        add(total, figures)
        print(
            f"lap {lap} ended with {code}; so far {lines(total)[-1]}" if total else f"lap {lap} ran nothing", flush=True
        )
        lap += 1
        if not figures:
            break
    print(f"\nlaps {first} to {lap - 1}:")
    print("\n".join(lines(total)))
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
