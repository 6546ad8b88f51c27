"""Tables on several cores: the same result as one after the other, and no process stays behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import pytest

from simulators.casino import soak
from simulators.casino.checkers import InvariantBroken
from simulators.casino.fault_schedule import draw_schedule
from simulators.casino.parallel import TableRun, play_all
from simulators.casino.soak import SoakFigures
from simulators.casino.table import CasinoTable
from table_controller.cli import INTERRUPTED, USAGE
from table_controller.rulebook import GAMES
from tests.support.box.processes import LIMIT, pitbox

# From Python 3.12 on, forking with a test runner's threads gives a warning; commands fork before they start any.
pytestmark = [pytest.mark.realtime, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]

# Ctrl-C must reach it even if the parent of the tests ignores it.
_BEGIN = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from table_controller import cli"
)


def play_tables(sittings: list[TableRun], jobs: int) -> tuple[dict[str, Any], int, list[int]]:
    """Play; return all figures that do not depend on the computer, and the rounds and tables reported as done."""
    rounds, received = [0], list[int]()

    def another() -> None:
        rounds[0] += 1

    played = play_all(sittings, jobs, another, received.append)
    assert played.failure is None
    assert played.cores == min(jobs, len(sittings))
    assert played.wall_s > 0
    assert played.figures.cpu_s > 0
    day = {name: getattr(played.figures, name) for name in SoakFigures.__struct_fields__ if name != "cpu_s"}
    return day, rounds[0], received


def test_the_same_seeds_play_the_same_tables_however_many_at_once() -> None:
    sittings = [TableRun(game, seed, 2, draw_schedule(game, seed, 2, "storm")) for seed, game in enumerate(GAMES, 40)]
    alone = play_tables(sittings, 1)
    assert alone == play_tables(sittings, 2)
    assert alone[1] == 2 * len(GAMES)
    assert alone[2] == list(range(len(GAMES)))


class Breaks(CasinoTable):
    """A table whose first round breaks an invariant."""

    async def round(self, bets: tuple[int, ...] = (), **_: Any) -> NoReturn:
        raise InvariantBroken("planted", f"with {len(bets)} bets")


def test_the_first_failure_in_seed_order_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    real = soak.run_table

    def planted(game: str, seed: int, rounds: int, mishaps: Any, on_round: Any, make: Any) -> Any:
        return real(game, seed, rounds, mishaps, on_round, Breaks if seed >= 2 else CasinoTable)

    monkeypatch.setattr(soak, "run_table", planted)
    # The second fails at once, and so do all after it; the first is still played.
    sittings = [TableRun("over_under", seed, rounds, []) for seed, rounds in ((1, 4), (2, 1), (3, 1), (4, 1), (5, 1))]
    for jobs in (1, 2, 3):
        received: list[int] = []
        played = play_all(sittings, jobs, on_table=received.append)
        assert played.failure is not None
        assert (played.failure.seed, played.failure.invariant) == (2, "planted")
        assert played.figures.rounds == 4
        assert received == [0]


def test_an_exception_in_a_worker_is_raised_in_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(*_: Any, **__: Any) -> NoReturn:
        raise ValueError("not a promise, a mistake")

    def dies(*_: Any, **__: Any) -> None:
        os._exit(3)

    sittings = [TableRun("over_under", seed, 1, []) for seed in (1, 2)]
    monkeypatch.setattr(soak, "run_table", raises)
    with pytest.raises(RuntimeError, match=r"seed [12]: (.|\n)*ValueError: not a promise"):
        play_all(sittings, 2)
    monkeypatch.setattr(soak, "run_table", dies)
    with pytest.raises(RuntimeError, match=r"seed [12]: its process ended with 3"):
        play_all(sittings, 2)


def _children(process: subprocess.Popen[str]) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until = time.monotonic() + LIMIT
    while len(result := listed.read_text().split()) < 2:
        assert process.poll() is None, "it ended before it played"
        assert time.monotonic() < until, "it never played with two processes"
        time.sleep(0.02)
    return [int(each) for each in result]


def _gone(child: int) -> bool:
    """Return whether a process has ended; a zombie has ended, too."""
    try:
        return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.parametrize("how", ["ctrl-c", "killed"])
@pytest.mark.parametrize("command", [("sim", "soak"), ("demo", "--fast")])
def test_none_of_the_processes_outlives_the_command(command: tuple[str, ...], how: str) -> None:
    script = f"{_BEGIN}; sys.exit(cli.main({[*command, '--rounds', '5000', '--jobs', '2']!r}))"
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        children = _children(process)
        if how == "ctrl-c":
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of the command
        else:
            process.kill()
        printed, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == (INTERRUPTED if how == "ctrl-c" else -signal.SIGKILL)
    assert "Traceback" not in printed
    assert ("interrupted" in printed) == (how == "ctrl-c")
    until = time.monotonic() + LIMIT
    while not all(_gone(child) for child in children):
        assert how == "killed", "ctrl-c ends the command when its processes have ended"
        assert time.monotonic() < until, "a process plays on and nobody listens"
        time.sleep(0.02)


@pytest.mark.parametrize("command", [("sim", "soak"), ("demo", "--fast")])
def test_a_command_prints_the_same_with_one_job_and_with_two(command: tuple[str, ...]) -> None:
    options = (*command, "--game", "over_under", "--rounds", "52", "--faults", "some")
    if command[0] == "sim":
        options = (*command, "--rounds", "10", "--faults", "some")
    alone, both = (pitbox(*options, "--jobs", jobs) for jobs in ("1", "2"))
    speed = [line for line in both.splitlines() if "rounds/s" in line]
    assert "on 2 cores" in "".join(speed)
    assert "rounds/s of processor time" in "".join(speed)
    assert [line for line in alone.splitlines() if "rounds/s" not in line] == [
        line for line in both.splitlines() if line not in speed
    ]


def test_a_fast_demo_plays_every_game_unless_one_is_named() -> None:
    every = pitbox("demo", "--fast", "--rounds", "6", "--faults", "none", "--seed", "3")
    assert [game for game in GAMES if f"rounds/s of processor time  {game}" in every] == list(GAMES)
    assert re.search(r"^ *6 rounds", every, re.MULTILINE), every
    one = pitbox("demo", "--fast", "--rounds", "2", "--faults", "none", "--game", "over_under")
    assert not any(f"rounds/s of processor time  {game}" in one for game in GAMES)


def test_zero_jobs_are_refused() -> None:
    assert "--jobs takes a number from 1" in pitbox("sim", "soak", "--jobs", "0", expect=USAGE)
    assert "--jobs takes a number from 1" in pitbox("demo", "--fast", "--jobs", "0", expect=USAGE)
