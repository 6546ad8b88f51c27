"""Independent tables on several cores: a process each, with the same outcome as one after the other. No terminal here.

A table shares nothing with another one and has a seed of its own, so that what comes out does not depend on how many
are played at once. The processes are forked: what was imported is there, and nothing is started that could stay behind.
Fork them before any thread begins.
"""

from __future__ import annotations

import os
import signal
from multiprocessing import connection, get_context
from time import perf_counter
from traceback import format_exc
from typing import TYPE_CHECKING, Any, Final

import msgspec

from simulators.house import soak
from simulators.house.soak import Day, Failure
from simulators.house.storm import Mishap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

_INTERRUPT: Final = (signal.SIGINT,)


class Sitting(msgspec.Struct, frozen=True):
    """A table that is to be played: its seed and what goes wrong."""

    game: str
    seed: int
    rounds: int
    mishaps: list[Mishap]


class Played(msgspec.Struct, frozen=True):
    """What all tables came to; if one failed, those before it."""

    day: Day
    days: list[Day]  # of each table, in their order
    failure: Failure | None
    cores: int  # on which tables were played at the same time
    seconds: float  # on the wall, from the first table's beginning to the last one's end; no process's start


def usable() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def play_all(
    sittings: Sequence[Sitting],
    jobs: int = 1,
    on_round: Callable[[], None] = lambda: None,
    on_table: Callable[[int], None] = lambda _: None,
) -> Played:
    """Play them, so many at once; one alone in this process. `on_table` hears of each good one, in their order.

    The first that fails, in their order, ends it: those after it are stopped, those before it are played to their end,
    for one of them may fail as well, and then it is the first.
    """
    jobs = min(jobs, len(sittings))
    outcome = _Outcome(on_table)
    if jobs <= 1:
        began = perf_counter()
        for at, sitting in enumerate(sittings):
            outcome.take(at, *_play(sitting, on_round))
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


def _play(sitting: Sitting, on_round: Callable[[], None]) -> tuple[Day, Failure | None]:
    return soak.run_table(sitting.game, sitting.seed, sitting.rounds, sitting.mishaps, on_round)


class _Outcome:
    """What came out so far, table by table, and told in their order."""

    def __init__(self, on_table: Callable[[int], None]) -> None:
        self.failed: int | None = None  # the first that failed so far
        self._on_table = on_table
        self._came: dict[int, tuple[Day, Failure | None]] = {}
        self._reported = 0

    def take(self, at: int, day: Day, failure: Failure | None) -> None:
        """A table has ended."""
        self._came[at] = (day, failure)
        if failure is not None and (self.failed is None or at < self.failed):
            self.failed = at
        while self._reported in self._came and self._came[self._reported][1] is None:
            self._on_table(self._reported)
            self._reported += 1

    def needless(self, at: int) -> bool:
        """Tell whether a table would not be told of: an earlier one failed."""
        return self.failed is not None and at > self.failed

    def played(self, cores: int, seconds: float) -> Played:
        """Return all of it."""
        whole, days = Day(), list[Day]()
        for _, (day, failure) in sorted(self._came.items()):
            whole.add(day)
            days.append(day)
            if failure is not None:
                return Played(whole, days, failure, cores, seconds)
        return Played(whole, days, None, cores, seconds)


class _Crew:
    """The processes: each takes a table at a time, and tells every round and how the table ended."""

    def __init__(self, size: int) -> None:
        self._at: dict[Connection, int] = {}  # which table is played at the far end
        self._processes: dict[Connection, ForkProcess] = {}
        # Ctrl-C goes to all of them; who began them ends them, and must not be interrupted while it begins them.
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

    def play(self, sittings: Sequence[Sitting], outcome: _Outcome, on_round: Callable[[], None]) -> None:
        """Hand out tables in their order until all are played, or one has failed and all before it are."""
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
                outcome.take(self._at.pop(near), *result)
                if outcome.failed is None:
                    self._hand_out(near, coming)
            for near, at in list(self._at.items()):
                if outcome.needless(at):
                    del self._at[near]  # it is ended with all the others

    def _hand_out(self, near: Connection, coming: Any) -> None:
        at, sitting = next(coming, (None, None))
        if at is not None:
            near.send(sitting)
            self._at[near] = at

    def _receive(self, near: Connection, sittings: Sequence[Sitting]) -> tuple[Day, Failure | None] | None:
        """Return what a process says: nothing but that a round is over, or a table's end."""
        sitting = sittings[self._at[near]]
        try:
            result: tuple[Day, Failure | None] | str | None = near.recv()
        except EOFError:
            self._processes[near].join()
            result = f"its process ended with {self._processes[near].exitcode}"
        if not isinstance(result, str):
            return result
        raise RuntimeError(f"{sitting.game}, seed {sitting.seed}: {result}")

    def end(self) -> None:
        """End every process, wherever it is: all that it has is in its memory."""
        for near, process in self._processes.items():
            process.kill()
            process.join()
            process.close()
            near.close()


def _work(far: Connection, others: Sequence[Connection]) -> None:
    """Play what comes until nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
    for other in others:  # a far end that others hold open, too, would never be seen to close
        other.close()
    try:
        while True:
            sitting: Sitting = far.recv()
            try:
                result: Any = _play(sitting, lambda: far.send(None))
            except OSError:
                raise
            except Exception:  # noqa: BLE001 - whatever it is: it is told where somebody sees it
                result = format_exc()
            far.send(result)
    except (EOFError, OSError):
        return
