"""`pitbox demo`: the product's main job, as far as it exists, on simulated machines. The scenes are in the house."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from firmware_bridge.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse

    from simulators.house.demo import Tally
    from table_controller.cli.screen import Screen

HELP = "show what the box does, on simulated machines over real ptys; ends by itself"
EXAMPLE = "pitbox demo --speed 4"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("--seed", type=int, default=7, help="the same seed gives the same show (default 7)")
    parser.add_argument("--speed", type=float, default=6.0, help="times faster than real machines (default 6)")
    parser.add_argument("--fast", action="store_true", help="in memory and virtual time: the same show in a second")
    parser.add_argument("--record", type=Path, metavar="FILE", help="also write the show as an SVG picture")


def run(args: argparse.Namespace) -> int:
    """Play the demo; exit code 1 if a bad deck was given out."""

    from simulators.house.demo import Demo
    from simulators.house.recording import svg
    from simulators.virtual_time import run_virtual
    from table_controller.cli.screen import PatientConsole, Screen

    if not 0.1 <= args.speed <= 100:
        raise ConfigurationError("--speed takes a number from 0.1 to 100")
    if args.record and not args.record.parent.is_dir():
        raise ConfigurationError(f"{args.record}: there is no folder {args.record.parent}")
    console = PatientConsole(highlight=False, record=args.record is not None, width=100 if args.record else None)

    async def play(screen: Screen) -> Tally:
        return await Demo(screen, seed=args.seed, speed=args.speed, fast=args.fast).run()

    with Screen(console, live=False if args.record or args.fast else None, every=0) as screen:
        tally = run_virtual(play(screen)) if args.fast else asyncio.run(play(screen))
    if args.record:
        args.record.write_text(svg(console, "pitbox demo"), "utf-8")
    return 1 if tally.bad_given_out else 0
