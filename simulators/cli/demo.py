"""`pitbox demo`: plays a simulated table through the real service and draws it live."""

from __future__ import annotations

import asyncio
import signal
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import ConfigurationError, UsageError
from simulators.casino.fault_schedule import FAULT_LEVELS
from simulators.cli.jobs import RoundProgress, add_jobs, read_jobs
from table_controller.cli import INTERRUPTED
from table_controller.rulebook import GAMES

if TYPE_CHECKING:
    import argparse

    from simulators.casino.soak import SoakFigures
    from table_controller.cli.render.screen import Screen

HELP = "play a simulated table through the real service over real ptys; ends by itself"
EXAMPLE = "pitbox demo --game dj_wild --faults storm"

_ROUNDS: Final = 6
_MQTT: Final = "publish to a broker, too; without HOST starts an installed Mosquitto on loopback"
_GAME: Final = "face_up_pai_gow"
# In virtual time a round takes milliseconds.
_FAST_ROUNDS: Final = 500
# Rounds per table with --fast: few enough to share among cores, enough to amortize the opening of a table. Independent
# of the number of cores, so that the same command plays the same tables on every computer.
_FAST_TABLE: Final = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("--game", choices=GAMES, help=f"default: {_GAME}, with --fast all of them in turn")
    parser.add_argument("--seed", type=int, default=7, help="the same seed gives the same mishaps (default 7)")
    parser.add_argument("--rounds", type=int, help=f"default {_ROUNDS}, with --fast {_FAST_ROUNDS}")
    parser.add_argument("--speed", type=float, default=20.0, help="times faster than a real table (default 20)")
    parser.add_argument("--faults", choices=FAULT_LEVELS, default="some", help="how much goes wrong (default some)")
    parser.add_argument(
        "--fast",
        action="store_true",
        help="run the whole stack in memory and virtual time; print rounds/s on all cores and on one",
    )
    parser.add_argument(
        "--with", action="append", dest="more", default=[], metavar="MODEL",
        help="a machine that the table has in addition to its own, or instead of the one in its slot; repeatable",
    )  # fmt: skip
    add_jobs(parser)
    parser.add_argument("--mqtt", nargs="?", const="", metavar="HOST[:PORT]", help=_MQTT)
    parser.add_argument("--record", type=Path, metavar="FILE", help="also write the last picture as SVG")


def run(args: argparse.Namespace) -> int:
    """Play the demo; exit code 1 if a promise was broken."""
    usual = _FAST_ROUNDS if args.fast else _ROUNDS
    rounds = usual if args.rounds is None else args.rounds
    if not 0.1 <= args.speed <= 200:
        raise UsageError("--speed takes a number from 0.1 to 200")
    if not 1 <= rounds <= 100_000:
        raise UsageError("--rounds takes a number from 1 to 100000")
    if args.record and not args.record.parent.is_dir():
        raise ConfigurationError(f"{args.record}: there is no folder {args.record.parent}")
    if args.mqtt is not None and args.fast:
        raise UsageError("--mqtt needs real time: omit --fast")
    from simulators.casino.svg_export import console_to_svg
    from table_controller.cli.render.screen import PipeSafeConsole, Screen

    console = PipeSafeConsole(highlight=False, record=args.record is not None)
    with Screen(console, every=0) as screen:
        try:
            code = _fast(args, rounds, screen) if args.fast else asyncio.run(_play(args, rounds, screen))
        except asyncio.CancelledError:
            code = INTERRUPTED
    if args.record:
        args.record.write_text(console_to_svg(console, "pitbox demo"), "utf-8")
    return code


async def _play(args: argparse.Namespace, rounds: int, screen: Screen) -> int:
    from simulators.casino.broker import parse_broker, run_broker, unreachable_reason
    from simulators.casino.checkers import InvariantBroken
    from simulators.casino.demo import DemoShow, DemoTable, choose_mishaps
    from simulators.casino.service_table import ServiceTable
    from simulators.casino.table_layout import fit_models, slots_of_models

    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)  # the service must not outlive the demo
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pitbox-demo-")))
        broker = None
        if args.mqtt is not None:
            broker = parse_broker(args.mqtt) if args.mqtt else stack.enter_context(run_broker(folder))
            screen.line(f"listen with: mosquitto_sub -h {broker[0]} -p {broker[1]} -v -t 'pitbox/#'", "dim")
            if (trouble := await asyncio.to_thread(unreachable_reason, broker)) is not None:
                screen.line(trouble, "yellow")
        game = args.game or _GAME
        more = fit_models(game, slots_of_models(args.more))
        house = ServiceTable(game, folder, seed=args.seed, speed=args.speed, broker=broker, more=more)
        title = f"pitbox demo · {game} · {args.speed:g} times as fast as a real table"
        show = DemoShow(house, screen, title)
        table = DemoTable(game, args.seed, choose_mishaps(game, args.seed, rounds, args.faults), house, show)
        show.begin()
        try:
            day = await table.play(rounds)
        except InvariantBroken as broken:
            screen.line(f"a promise was broken: {broken}", "bold red")
            return 1
        finally:
            await show.end()
    _summary(day, screen, progressive=house.controller.table.context.has_progressive)
    return 1 if day.bad_after_check else 0


def _fast(args: argparse.Namespace, rounds: int, screen: Screen) -> int:
    from simulators.casino.fault_schedule import draw_schedule
    from simulators.casino.parallel import TableRun, play_all
    from simulators.casino.table_layout import fit_models, slots_of_models

    more = slots_of_models(args.more)
    games = [args.game] if args.game else list(GAMES)
    most = max(1, min(_FAST_TABLE, rounds // len(games)))
    lengths = [min(most, rounds - start) for start in range(0, rounds, most)]
    sittings = []
    for at, length in enumerate(lengths):
        game, seed = games[at % len(games)], args.seed + at // len(games)
        models = fit_models(game, more)
        drawn = draw_schedule(game, seed, length, args.faults, models)
        sittings.append(TableRun(game, seed, length, drawn, models))
    with RoundProgress(rounds, every=0) as progress:
        played = play_all(sittings, read_jobs(args), progress.round)
    day, failure = played.figures, played.failure
    if failure is not None:
        screen.line(f"a promise was broken at seed {failure.seed}: {failure.how}", "bold red")
        return 1
    _summary(day, screen, progressive=bool(day.bets))
    if len(games) > 1:
        for game in games:
            days = [one for one, sitting in zip(played.table_figures, sittings, strict=True) if sitting.game == game]
            if days:
                rate = sum(one.rounds for one in days) / sum(one.cpu_s for one in days)
                screen.line(f"{rate:8.1f} rounds/s of processor time  {game}", "dim")
    screen.line(
        f"{day.rounds / played.wall_s:.1f} rounds/s on {played.cores} core{'s' if played.cores > 1 else ''}; "
        f"{day.rounds / day.cpu_s:.1f} rounds/s of processor time a core",
        "bold",
    )
    return 1 if day.bad_after_check else 0


def _summary(day: SoakFigures, screen: Screen, *, progressive: bool) -> None:
    from simulators.casino.demo import summary

    screen.line()
    for line in summary(day, progressive=progressive):
        screen.line(line.plain, str(line.style))
