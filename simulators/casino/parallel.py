"""Independent tables on several cores: one process each, with the same results as one after the other.

Tables share nothing and have their own seeds, so the results do not depend on how many run at once. The processes are
forked, so imports are shared and no other process can be left behind. Fork before any thread starts.
"""

from __future__ import annotations

import os
import signal
from functools import partial
from multiprocessing import connection, get_context
from time import perf_counter
from traceback import format_exc
from typing import TYPE_CHECKING, Any, Final

import msgspec

from simulators.casino import soak
from simulators.casino.fault_schedule import Mishap
from simulators.casino.soak import SoakFailure, SoakFigures
from simulators.casino.table import CasinoTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

_INTERRUPT: Final = (signal.SIGINT,)


class TableRun(msgspec.Struct, frozen=True):
    """A table to play: its game, seed, rounds and mishaps. `more`: further slots, with the model in each."""

    game: str
    seed: int
    rounds: int
    mishaps: list[Mishap]
    more: dict[str, str] = {}


class ParallelResult(msgspec.Struct, frozen=True):
    """The results of all tables; if one failed, of that table and those before it."""

    figures: SoakFigures
    table_figures: list[SoakFigures]  # of each table, in their order
    failure: SoakFailure | None
    cores: int  # used at the same time
    wall_s: float  # wall clock, from the start of the first table to the end of the last, without process start


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def play_all(
    sittings: Sequence[TableRun],
    jobs: int = 1,
    on_round: Callable[[], None] = lambda: None,
    on_table: Callable[[int], None] = lambda _: None,
) -> ParallelResult:
    """Play all tables, so many at once; one alone in this process. `on_table` is called for each good table, in order.

    The first failing table, in order, ends the run: later tables are stopped, earlier ones are played to their end,
    because one of them may fail as well and is then the first.
    """
    jobs = min(jobs, len(sittings))
    outcome = _Outcome(on_table)
    if jobs <= 1:
        began = perf_counter()
        for at, sitting in enumerate(sittings):
            outcome.add(at, *_play(sitting, on_round))
            if outcome.failed is not None:
                break
        return outcome.played(1, perf_counter() - began)
    crew = _Crew(jobs)
    try:
        began = perf_counter()
        crew.play(sittings, outcome, on_round)
        return outcome.played(jobs, perf_counter() - began)
    finally:
        crew.end()


def _play(sitting: TableRun, on_round: Callable[[], None]) -> tuple[SoakFigures, SoakFailure | None]:
    make = partial(CasinoTable, more=sitting.more)
    return soak.run_table(sitting.game, sitting.seed, sitting.rounds, sitting.mishaps, on_round, make=make)


class _Outcome:
    """The results so far, reported in the order of the tables."""

    def __init__(self, on_table: Callable[[int], None]) -> None:
        self.failed: int | None = None  # the first that failed so far
        self._on_table = on_table
        self._came: dict[int, tuple[SoakFigures, SoakFailure | None]] = {}
        self._reported = 0

    def add(self, at: int, day: SoakFigures, failure: SoakFailure | None) -> None:
        """A table has ended."""
        self._came[at] = (day, failure)
        if failure is not None and (self.failed is None or at < self.failed):
            self.failed = at
        while self._reported in self._came and self._came[self._reported][1] is None:
            self._on_table(self._reported)
            self._reported += 1

    def needless(self, at: int) -> bool:
        """Return whether the result of a table is not needed: an earlier one failed."""
        return self.failed is not None and at > self.failed

    def played(self, cores: int, seconds: float) -> ParallelResult:
        """Return the results."""
        whole, days = SoakFigures(), list[SoakFigures]()
        for _, (day, failure) in sorted(self._came.items()):
            whole.add(day)
            days.append(day)
            if failure is not None:
                return ParallelResult(whole, days, failure, cores, seconds)
        return ParallelResult(whole, days, None, cores, seconds)


class _Crew:
    """The processes: each plays one table at a time and reports every round and the end of the table."""

    def __init__(self, size: int) -> None:
        self._at: dict[Connection, int] = {}  # the table that the process plays
        self._processes: dict[Connection, ForkProcess] = {}
        # Ctrl-C reaches all of them; the parent ends them and must not be interrupted while it starts them.
        signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
        try:
            for _ in range(size):
                self._begin()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)

    def _begin(self) -> None:
        context = get_context("fork")
        near, far = context.Pipe()
        process = context.Process(target=_work, args=(far, [near, *self._processes]), daemon=True)
        self._processes[near] = process
        process.start()
        far.close()

    def play(self, sittings: Sequence[TableRun], outcome: _Outcome, on_round: Callable[[], None]) -> None:
        """Hand out tables in order until all are played, or one has failed and all before it are played."""
        coming = iter(enumerate(sittings))
        for near in self._processes:
            self._hand_out(near, coming)
        while self._at:
            ready: list[Any] = connection.wait(list(self._at))
            for near in ready:
                result = self._receive(near, sittings)
                if result is None:
                    on_round()
                    continue
                outcome.add(self._at.pop(near), *result)
                if outcome.failed is None:
                    self._hand_out(near, coming)
            for near, at in list(self._at.items()):
                if outcome.needless(at):
                    del self._at[near]  # ended together with the others

    def _hand_out(self, near: Connection, coming: Any) -> None:
        at, sitting = next(coming, (None, None))
        if at is not None:
            near.send(sitting)
            self._at[near] = at

    def _receive(self, near: Connection, sittings: Sequence[TableRun]) -> tuple[SoakFigures, SoakFailure | None] | None:
        """Return a message of a process: None for the end of a round, or the result of a table."""
        sitting = sittings[self._at[near]]
        try:
            result: tuple[SoakFigures, SoakFailure | None] | str | None = near.recv()
        except EOFError:
            self._processes[near].join()
            result = f"its process ended with {self._processes[near].exitcode}"
        if not isinstance(result, str):
            return result
        raise RuntimeError(f"{sitting.game}, seed {sitting.seed}: {result}")

    def end(self) -> None:
        """End every process; their state is only in memory."""
        for near, process in self._processes.items():
            process.kill()
            process.join()
            process.close()
            near.close()


def _work(far: Connection, others: Sequence[Connection]) -> None:
    """Play tables until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
    for other in others:  # a pipe that others also hold open would never report its close
        other.close()
    try:
        while True:
            sitting: TableRun = far.recv()
            try:
                result: Any = _play(sitting, lambda: far.send(None))
            except OSError:
                raise
            except Exception:  # noqa: BLE001 - the parent reports it
                result = format_exc()
            far.send(result)
    except (EOFError, OSError):
        return
