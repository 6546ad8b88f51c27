"""`pitbox sim soak`: plays whole tables with faults in virtual time and compares them with the truth.

Prints progress and figures; for a failure, the shortest list of mishaps and the command that replays it.
"""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import UsageError
from simulators.casino.fault_schedule import FAULT_LEVELS
from simulators.cli.jobs import RoundProgress, add_jobs, read_jobs
from table_controller.rulebook import GAMES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from simulators.casino.soak import SoakFailure, SoakFigures

ALL: Final = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("--game", choices=[ALL, *GAMES], default=ALL, help="the game (default: all)")
    parser.add_argument("--rounds", type=int, default=1000, help="rounds in total, shared by the games (default 1000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same soak (default 1)")
    parser.add_argument("--faults", choices=FAULT_LEVELS, default="storm", help="how much goes wrong (default storm)")
    parser.add_argument(
        "--mishap", action="append", metavar="'ROUND@SECOND SLOT FAULT'", help="inject only this mishap; repeatable"
    )
    parser.add_argument(
        "--with", action="append", dest="more", default=[], metavar="MODEL",
        help="a machine that the table has in addition to its own, or instead of the one in its slot; repeatable",
    )  # fmt: skip
    add_jobs(parser)
    parser.add_argument(
        "--keep", action="store_true", help="print a failure with its full list of mishaps, not the shortest one"
    )
    parser.set_defaults(what=soak)


def soak(args: argparse.Namespace) -> int:
    """Play; return 0 if every promise held, 1 if one was broken."""
    from simulators.casino.fault_schedule import parse_mishap
    from simulators.casino.parallel import TableRun, play_all
    from simulators.casino.soak import shrink, tables
    from simulators.casino.table import CasinoTable
    from simulators.casino.table_layout import fit_models, slots_of_models

    if not 1 <= args.rounds <= 10_000_000:
        raise UsageError("--rounds takes a number from 1 to 10000000")
    given = None if args.mishap is None else sorted(parse_mishap(text) for text in args.mishap)
    if given is not None and args.game == ALL:
        raise UsageError("--mishap goes with one --game")
    jobs, more = read_jobs(args), slots_of_models(args.more)
    games = list(GAMES) if args.game == ALL else [args.game]
    sittings: list[TableRun] = []
    last: dict[int, str] = {}  # the last table of each game
    for at, game in enumerate(games):
        share = args.rounds // len(games) + (at < args.rounds % len(games))
        models = fit_models(game, more)
        for seed, length, drawn in tables(game, share, args.seed, args.faults, models):
            sittings.append(TableRun(game, seed, length, drawn if given is None else given, models))
        last[len(sittings) - 1] = game
    with RoundProgress(args.rounds) as progress:
        played = play_all(
            sittings, jobs, progress.round, lambda number: progress.done(last[number]) if number in last else None
        )
    if played.failure is not None:
        failure = played.failure
        make = partial(CasinoTable, more=fit_models(failure.game, more))
        _fail(failure, None if args.keep or given is not None else shrink(failure, make=make), args.more)
        return 1
    for line in summary(played.figures):
        print(line)
    if played.cores > 1:
        print(f"{played.figures.rounds / played.wall_s:.1f} rounds/s on {played.cores} cores")
    return 0


def summary(day: SoakFigures) -> list[str]:
    """Return the figures of a soak, line by line."""
    after, before = day.bad_after_check, day.bad_before_check
    lines = [
        f"{day.rounds} rounds, {day.voids} of them void; {day.steps} steps in the journal",
        f"{day.power_cuts} power cuts of the box; {day.virtual_s / 3600:.0f} h at the table",
        f"{sum(day.mishaps.values())} mishaps: " + _counted(day.mishaps),
        f"{day.irregularities} irregularities, by clause: " + _counted(day.clauses),
        f"hands from a bad deck after the first check able to see it: {after} (before any: {before})",
    ]
    if day.bets:
        lines.append(
            f"{day.bets} bets, {day.hits} hits claimed; chips, bets, payments and every account of the meter the same "
            f"after {day.reconciled} looks, to the micro-dollar"
        )
    return [*lines, f"{day.rounds / max(day.cpu_s, 1e-9):.1f} rounds/s of processor time"]


def _counted(counter: Any) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counter.items())) or "none"


def _fail(failure: SoakFailure, least: SoakFailure | None, more: list[str]) -> None:
    """Print a failure, the fewest mishaps that cause it, and the command that replays it."""
    print(f"{failure.game}, seed {failure.seed}, round {failure.rounds}: {failure.how}")
    shown = least or failure
    if least is not None:
        print(f"{len(failure.mishaps)} mishaps until then; these are enough to cause it ({least.how}):")
    for mishap in shown.mishaps:
        print(f"  {mishap}")
    print(f"replay: {replay_command(shown, more)}")


def replay_command(failure: SoakFailure, more: Sequence[str] = ()) -> str:
    """Return the command that replays a failure."""
    words = ["pitbox", "sim", "soak", "--game", failure.game, "--seed", str(failure.seed)]
    words += ["--rounds", str(failure.rounds), "--faults", "none"]
    for model in more:
        words += ["--with", model]
    for mishap in failure.mishaps:
        words += ["--mishap", str(mishap)]
    return shlex.join(words)
