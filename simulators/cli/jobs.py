"""Arguments and progress bar of commands that play many tables at once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import UsageError

if TYPE_CHECKING:
    import argparse

# Without a terminal: one line per so many rounds.
ROUNDS_PER_LINE: Final = 500
_MOST: Final = 1024


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the argument."""
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="tables at once, one process each (default: number of cores)"
    )


def read_jobs(args: argparse.Namespace) -> int:
    """Return how many tables to play at once."""
    from simulators.casino.parallel import usable_cores

    jobs: int = usable_cores() if args.jobs is None else args.jobs
    if not 1 <= jobs <= _MOST:
        raise UsageError(f"--jobs takes a number from 1 to {_MOST}")
    return jobs


class RoundProgress:
    """A progress bar on a terminal, or a line now and then elsewhere."""

    def __init__(self, rounds: int, every: int = ROUNDS_PER_LINE) -> None:
        """`every`: without a terminal, one line per so many rounds; 0: none."""
        self._total = rounds
        self._every = every
        self._rounds = 0
        self._bar: Any = None
        self._task: Any = None
        self._lives = sys.stdout.isatty()

    def __enter__(self) -> RoundProgress:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def round(self) -> None:
        """Count one played round."""
        self._rounds += 1
        if self._lives:
            if self._bar is None:
                self._begin()
            self._bar.advance(self._task)
        elif self._every and self._rounds % self._every == 0:
            print(f"{self._rounds} of {self._total} rounds", flush=True)

    def _begin(self) -> None:
        """Start the bar at the first round: it starts a thread, and processes must be forked before that."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("rounds"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self._bar = Bar(*columns, transient=True)
        self._bar.start()
        self._task = self._bar.add_task("", total=self._total)

    def done(self, game: str) -> None:
        """Print that a game ended without a failure."""
        if not self._lives:
            print(f"{game}: clean", flush=True)

    def end(self) -> None:
        """Remove the bar."""
        self._lives = False
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
