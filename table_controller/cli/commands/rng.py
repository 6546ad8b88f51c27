"""`pitbox rng report`: draws many numbers and runs the statistical tests of test laboratories. Uses no device.

The numbers come from the code that the simulated generator's firmware runs: health tests, conditioning, scaling.
"""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.number_draw import PROPORTION_CUTOFF, REPETITION_CUTOFF, NoiseFailure, NoiseHealth, NumberGenerator
from devices.position import EQUAL_ODDS, position_odds
from firmware_bridge.errors import UsageError
from table_controller.cli import FAULT, OK
from table_controller.cli.render.screen import Screen
from table_controller.diagnosis.draw_sources import collect, generated, remainders, rolled
from table_controller.diagnosis.randomness import (
    LABORATORY_DRAWS,
    LEAST_DRAWS,
    LEVELS,
    TESTS,
    DrawTestResult,
    Examination,
    examine,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from fractions import Fraction

HELP = "test drawn numbers for randomness with the statistical tests that laboratories require"
EXAMPLE = "pitbox rng report --draws 1000000"

SOURCES: Final = {
    "os": "the generator's own code with live entropy of the operating system",
    "seed": "the same code with noise from --seed, so that a run can be repeated",
    "biased": "a remainder instead of unbiased scaling: it must fail",
    "dice": "three dice, compared with the odds of dice",
}
# Limit for the memory of a small box: the gaps of ten million draws take 60 MB.
MOST_DRAWS: Final = 10_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    report = parser.add_subparsers(title="what to do", metavar="WHAT", required=True).add_parser(
        "report",
        help=HELP,
        description=HELP,
        epilog="sources:\n"
        + "\n".join(f"  {name:7s} {about}" for name, about in SOURCES.items())
        + f"\n\nexample: {EXAMPLE}",
        formatter_class=parser.formatter_class,
    )
    report.add_argument("--draws", type=int, default=LABORATORY_DRAWS, help=f"how many (default {LABORATORY_DRAWS})")
    report.add_argument(
        "--source", choices=list(SOURCES), default="os", help="where the numbers come from (default os)"
    )
    report.add_argument("--seed", type=int, help="noise from this seed instead of the operating system; not with os")
    report.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


class RandomnessReport(msgspec.Struct, frozen=True):
    """The result of a run. `failure`: why the noise source stopped, if it did."""

    source: str
    seed: int | None
    examined: Examination
    health: NoiseHealth | None
    failure: NoiseFailure | None

    @property
    def passes(self) -> bool:
        """Whether the numbers pass at 99 %: one fair run in a hundred fails."""
        return self.failure is None and self.examined.passes(max(LEVELS))


def run(args: argparse.Namespace) -> int:
    """Draw, test, print; exit code 1 unless the numbers pass."""
    if not LEAST_DRAWS <= args.draws <= MOST_DRAWS:
        raise UsageError(f"--draws takes a number from {LEAST_DRAWS} to {MOST_DRAWS}")
    if args.source == "os" and args.seed is not None:
        raise UsageError(
            "--seed repeats a run, and the operating system's entropy cannot be repeated: use --source seed"
        )
    if args.source == "seed" and args.seed is None:
        raise UsageError("--source seed needs --seed NUMBER")
    report = _progressing(args.source, args.seed, args.draws)
    if args.json:
        print(msgspec.json.format(msgspec.json.encode(_as_json(report)), indent=2).decode())
    else:
        _print(report)
    return OK if report.passes else FAULT


def make_report(
    source: str, seed: int | None, draws: int, on_drawn: Callable[[int], None], on_test: Callable[[str], None]
) -> RandomnessReport:
    """Draw from a source and test the numbers."""
    noise = os.urandom if seed is None else Random(seed).randbytes
    generator = NumberGenerator(noise)
    blocks, odds = _source(source, noise, generator)
    drawn = collect(blocks, draws, on_drawn)
    on_drawn(draws)
    health = generator.health if source in ("os", "seed") else None
    examined = examine(drawn, odds, on_test) if len(drawn) == draws else Examination(len(drawn), [])
    return RandomnessReport(source, seed, examined, health, health.failure if health else None)


def _source(
    source: str, noise: Callable[[int], bytes], generator: NumberGenerator
) -> tuple[Iterator[bytes], tuple[Fraction, ...]]:
    """Return the numbers of a source and their expected odds."""
    if source == "dice":
        return rolled(noise), position_odds()
    return (remainders(noise) if source == "biased" else generated(generator)), EQUAL_ODDS


def _progressing(source: str, seed: int | None, draws: int) -> RandomnessReport:
    """Make the report; show a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:22s}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        drawing = progress.add_task(f"drawing {draws} numbers", total=draws)
        testing = progress.add_task("testing", total=len(TESTS))

        def tested(name: str) -> None:
            progress.update(testing, advance=1, description=f"testing {name}")

        return make_report(source, seed, draws, lambda drawn: progress.update(drawing, completed=drawn), tested)


def _print(report: RandomnessReport) -> None:
    with Screen() as screen:
        noise = "the operating system" if report.seed is None else f"seed {report.seed}"
        screen.line(f"{report.examined.draws} draws: {SOURCES[report.source]} ({noise})")
        if report.health is not None:
            _print_health(report.health, screen)
        if report.failure is not None:
            screen.line(f"the noise failed: {report.failure.value}; no number was drawn after it", "bold red")
            return
        screen.table([_row(finding) for finding in report.examined.results], _HEADS)
        for finding in report.examined.results:
            screen.line(f"{finding.test}: {finding.about}", "dim" if finding.passes(max(LEVELS)) else "bold red")
        for level in LEVELS:
            passes = report.examined.passes(level)
            screen.line(
                f"all tests together at {level:.0%}: {'pass' if passes else 'fail'}", "green" if passes else "bold red"
            )
        if report.examined.draws < LABORATORY_DRAWS:
            screen.line(f"a laboratory requires {LABORATORY_DRAWS} draws or more", "dim")
        if report.passes and not report.examined.passes(min(LEVELS)):
            screen.line(
                "One fair run in twenty fails at 95 %: run it again. Two in a row are a finding.", "bold yellow"
            )


def _print_health(health: NoiseHealth, screen: Screen) -> None:
    screen.line(
        f"health: {health.samples} samples tested, at most {health.longest} equal in a row (fails at"
        f" {REPETITION_CUTOFF}), at most {health.highest} equal in a window (fails at {PROPORTION_CUTOFF})"
    )


_HEADS: Final = ("test", "statistic", "limit 95 %", "limit 99 %", "p", "95 %", "99 %")


def _row(finding: DrawTestResult) -> tuple[str, ...]:
    verdicts = ("pass" if finding.passes(level) else "FAIL" for level in LEVELS)
    limits = (f"{finding.limit(level):.2f}" for level in LEVELS)
    p = f"{finding.p:.4f}" if finding.p >= 0.0001 else "< 0.0001"
    return finding.test, f"{finding.statistic:.2f}", *limits, p, *verdicts


def _as_json(report: RandomnessReport) -> dict[str, Any]:
    examined, health = report.examined, report.health
    return {
        "source": report.source,
        "seed": report.seed,
        "draws": examined.draws,
        "health": None
        if health is None
        else {
            "samples": health.samples,
            "longest": health.longest,
            "repetition_cutoff": REPETITION_CUTOFF,
            "highest": health.highest,
            "proportion_cutoff": PROPORTION_CUTOFF,
            "failure": report.failure.name.lower() if report.failure else None,
        },
        "tests": [
            msgspec.structs.asdict(finding)
            | {"p": finding.p}
            | {f"limit_{level * 100:.0f}": finding.limit(level) for level in LEVELS}
            | {f"passes_{level * 100:.0f}": finding.passes(level) for level in LEVELS}
            for finding in examined.results
        ],
        **{f"passes_{level * 100:.0f}": report.failure is None and examined.passes(level) for level in LEVELS},
    }
