"""`pitbox panel`: serves the panel of a simulated table for a browser. The real panel is part of `pitbox run`."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from firmware_bridge.errors import UsageError

if TYPE_CHECKING:
    import argparse

HELP = "serve the panel of a simulated table, to try in a browser until Ctrl-C"
EXAMPLE = "pitbox panel --game face_up_pai_gow"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("--game", default="face_up_pai_gow", help="the game to play (default face_up_pai_gow)")
    parser.add_argument("--port", type=int, default=8080, help="the TCP port on this computer (default 8080)")
    parser.add_argument("--speed", type=float, default=4.0, help="times faster than real machines (default 4)")
    parser.add_argument("--seed", type=int, default=7, help="the same seed gives the same cards (default 7)")


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from table_controller.rulebook import GAMES

    if args.game not in GAMES:
        raise UsageError(f"--game takes one of {', '.join(GAMES)}")
    if not 0.1 <= args.speed <= 200:
        raise UsageError("--speed takes a number from 0.1 to 200")
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(args))
    return 0


async def _serve(args: argparse.Namespace) -> None:
    from simulators.casino.panel import PINS, make_silent_table, people_file, run_hands, serve_panel

    def ready(port: int) -> None:
        print(f"http://127.0.0.1:{port}/   /dealer /floor /technician /bench /sign")
        for id_, pin in PINS.items():
            print(f"  {id_:9} PIN {pin}")
        print("Simulated people open two decks; then the table is yours. Ctrl+C ends it.", flush=True)

    with tempfile.TemporaryDirectory(prefix="pitbox-panel-") as folder:
        file = people_file(Path(folder))
        house, hands = make_silent_table(args.game, file, seed=args.seed, speed=args.speed, pace=1 / args.speed)
        hands.is_silent = False
        tending = asyncio.create_task(run_hands(house, bets=(1, 2, 4)))
        shown = asyncio.create_task(serve_panel(house, port=args.port, on_ready=ready, folder=Path(folder)))
        opening = asyncio.create_task(house.open("blue", "red"))
        try:
            await asyncio.wait({opening, shown}, return_when=asyncio.FIRST_COMPLETED)
            if not shown.done():  # a page that cannot be served ends before the decks are open
                await opening
                hands.is_silent = True
            await shown
        finally:
            for task in (tending, opening, shown):
                task.cancel()
            await asyncio.wait({tending, opening, shown})
            await house.close()
