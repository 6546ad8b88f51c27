"""Measures rounds a second of the whole stack in virtual time, on all cores and on one, against bare asyncio.

A batch has twice as many tables of one game as there are cores, each played as by `pitbox demo --fast`: machines,
bytes, links, drivers, controller, core, journal, people and checkers, and a fault in one of eight rounds. The time
includes opening the tables, not starting the processes. The floor is that of the design page: asyncio's own loop on a
clock that jumps, with one callback for each step in the journal of such a round.
"""

from __future__ import annotations

import asyncio
import logging
import selectors
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from benchmarks.budgets import BUDGETS
from benchmarks.rows import BenchmarkRow, arguments, log_ratio, print_verdict
from simulators.casino.fault_schedule import draw_schedule
from simulators.casino.parallel import TableRun, play_all, usable_cores
from simulators.casino.soak import SoakFigures, run_table
from table_controller.rulebook import GAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCHES: Final = 2
TABLE: Final = 50  # rounds of one table
SEED: Final = 7
FLOOR_ROUNDS: Final = 200  # in one batch of the floor


class JumpingLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop with a clock that jumps instead of waiting."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(JumpingSelector(self))

    def time(self) -> float:
        """Return how far the clock has moved."""
        return self._now

    def jump(self, seconds: float) -> None:
        """Move the clock."""
        self._now += seconds


class JumpingSelector(selectors.SelectSelector):
    """A selector that never waits."""

    def __init__(self, loop: JumpingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[Any, int]]:
        """Return the ready files at once and move the clock by the timeout."""
        self._loop.jump(timeout or 0.0)
        return super().select(0)


def bare(callbacks: int) -> float:
    """Return the seconds for so many callbacks, each one second of the loop's clock after the last."""
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        loop, left = runner.get_loop(), callbacks
        done = loop.create_future()

        def step() -> None:
            nonlocal left
            left -= 1
            if left:
                loop.call_later(1.0, step)
            else:
                done.set_result(None)

        async def play() -> None:
            loop.call_later(1.0, step)
            await done

        start = perf_counter()
        runner.run(play())
        return perf_counter() - start


class Game:
    """One game's three rows."""

    def __init__(self, game: str, cores: int) -> None:
        self.name, self.cores = game, cores
        self.day = SoakFigures()
        self.all = BenchmarkRow(f"{game}, all cores", list)
        self.one = BenchmarkRow(f"{game}, one core", list)
        self.floor = BenchmarkRow("bare asyncio", list, "floor")
        run_table(game, SEED, 1, [])  # fill the caches

    def measure(self, number: int) -> None:
        """Play a batch of new tables."""
        first = SEED + number * 2 * self.cores
        seeds = range(first, first + 2 * self.cores)
        sittings = [TableRun(self.name, seed, TABLE, draw_schedule(self.name, seed, TABLE, "some")) for seed in seeds]
        played = play_all(sittings, self.cores)
        if played.failure is not None:
            raise SystemExit(f"{self.name}, seed {played.failure.seed}: {played.failure.how}")
        day = played.figures
        self.day.add(day)
        self.all.keep([played.wall_s / day.rounds])
        self.one.keep([day.cpu_s / day.rounds])
        self.floor.keep([bare(FLOOR_ROUNDS * self.steps) / FLOOR_ROUNDS])

    @property
    def steps(self) -> int:
        """Steps of a round."""
        return round(self.day.steps / self.day.rounds)


def _print(games: Sequence[Game]) -> None:
    print(f"the whole stack in virtual time, tables of {TABLE} rounds, rounds/s")
    heads = ("", "steps a round", f"on {games[0].cores} cores", "of processor time a core", "bare asyncio", "x bare")
    print("  " + "   ".join([heads[0].ljust(16), *heads[1:]]))
    for game in games:
        each, one, floor = (row.percentile(0.5) for row in (game.all, game.one, game.floor))
        cells = (f"{game.steps}", f"{1 / each:.1f}", f"{1 / one:.1f}", f"{1 / floor:,.0f}", f"{each / floor:.0f}")
        widths = [len(head) for head in heads[1:]]
        print("  " + "   ".join([game.name.ljust(16), *(cell.rjust(w) for cell, w in zip(cells, widths, strict=True))]))
    for game in games:
        log_ratio("the whole stack in virtual time", game.all, game.floor)
        log_ratio("the whole stack in virtual time", game.one, game.floor)
        print_verdict(BUDGETS["rounds, game"], f"{game.name}, on all cores", 1 / game.all.percentile(0.5))
    every = len(games) / sum(game.all.percentile(0.5) for game in games)
    print_verdict(BUDGETS["rounds"], "as many rounds of each game, on all cores", every)
    slowest = max(games, key=lambda game: game.one.percentile(0.5))
    rate = 1 / slowest.one.percentile(0.5)
    print(
        f"{slowest.name}, the slowest, on one core: {rate:.1f} rounds/s of processor time, "
        f"which would be {rate * slowest.cores:.1f} on {slowest.cores} idle cores"
    )


def main() -> None:
    """Measure, print, judge."""
    batches = arguments(
        "Rounds of the whole stack in virtual time, on all cores and on one; floor: bare asyncio on a jumping clock.",
        "python -m benchmarks.rounds --rounds 10",
        BATCHES,
    )
    logging.disable(logging.CRITICAL)  # faults are part of the play
    games = [Game(game, usable_cores()) for game in GAMES]
    for number in range(batches):
        first = number % len(games)
        for game in (*games[first:], *games[:first]):
            game.measure(number)
    _print(games)


if __name__ == "__main__":
    main()
