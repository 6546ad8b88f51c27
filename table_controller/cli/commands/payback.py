"""`pitbox payback`: prints computed and published paybacks side by side."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.errors import UsageError
from table_controller import rulebook
from table_controller.cli import OK
from table_controller.cli.commands.hand import game_of
from table_controller.rulebook import GAMES
from table_controller.rulebook.payback.figures import compute_figures, figures_of_wager, select_studies
from table_controller.rulebook.payback.study import Effort, Figure

if TYPE_CHECKING:
    import argparse
    from fractions import Fraction

HELP = "compute the expected payback of every paytable and compare it with the published one"
EXAMPLE = "pitbox payback face_up_pai_gow progressive"

# Gives an interval of about one percent in about twenty seconds; the interval narrows with the square root.
DEFAULT_ROUNDS: Final = 20_000
DEFAULT_SEED: Final = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("game", nargs="?", help=f"one of {', '.join(GAMES)}, or a chapter such as 688a (default: all)")
    parser.add_argument("wager", nargs="?", help="one wager of the game (default: all)")
    parser.add_argument(
        "--rounds",
        type=int,
        default=DEFAULT_ROUNDS,
        metavar="N",
        help=f"simulated rounds where exact counting is not possible (default {DEFAULT_ROUNDS:,})",
    )
    parser.add_argument(
        "--seed", type=int, default=DEFAULT_SEED, metavar="S", help=f"seed of those rounds (default {DEFAULT_SEED})"
    )
    parser.add_argument("--json", action="store_true", help="print data, fractions exact")


def run(args: argparse.Namespace) -> int:
    """Compute the paybacks and print them."""
    game = None if args.game is None else game_of(args.game)
    if game is not None and args.wager is not None and rulebook.edition(game).wager(args.wager) is None:
        known = ", ".join(wager.name for wager in rulebook.edition(game).wagers)
        raise UsageError(f"{rulebook.edition(game).title} has no wager {args.wager}; it has {known}")
    if args.rounds < 2:
        raise UsageError(f"--rounds {args.rounds}: at least 2")
    shown = figures_of_wager(_work(Effort(args.rounds, args.seed), game, args.wager), game, args.wager)
    if args.json:
        sys.stdout.write(msgspec.json.encode([_data(figure) for figure in shown]).decode() + "\n")
    else:
        _show(shown)
    return OK


def _work(effort: Effort, game: str | None, wager: str | None) -> list[Figure]:
    """Compute every study; show a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    studies = select_studies(game, wager)
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description:<26}"), BarColumn(), TimeElapsedColumn(), console=console, transient=True
    )
    results: list[Figure] = []
    with bar if console.is_terminal else nullcontext():
        for study in studies:
            task = bar.add_task(study.title, total=study.steps(effort))
            results += compute_figures(study, effort, lambda steps, task=task: bar.advance(task, steps))  # type: ignore[misc]
            bar.remove_task(task)
    return results


def _data(figure: Figure) -> dict[str, Any]:
    return {
        "game": figure.game, "wager": figure.wager, "table": figure.table,
        "method": figure.method, "assuming": figure.assuming,
        "computed": f"{figure.computed.numerator}/{figure.computed.denominator}",
        "computed_percent": round(float(100 * figure.computed), 6),
        "half_width_percent": None if figure.half_width is None else round(float(100 * figure.half_width), 6),
        "published_percent": None if figure.published is None else figure.published.percent,
        "source": None if figure.published is None else figure.published.source,
        "note": None if figure.published is None else figure.published.note or None,
    }  # fmt: skip


def percent(share: Fraction, *, sign: bool = False) -> str:
    """Return a share in percent with three decimals, as the preambles print it."""
    shown = f"{float(100 * share):{'+' if sign else ''}.3f}"
    return "0.000" if shown in ("+0.000", "-0.000") else shown


def _show(results: list[Figure]) -> None:
    from table_controller.cli.render.screen import Screen

    notes: list[str] = []
    with Screen() as screen:
        for game in dict.fromkeys(figure.game for figure in results):
            edition = rulebook.edition(game)
            screen.line(f"{edition.title} ({edition.chapter})", "bold")
            rows = [_cells(figure, notes) for figure in results if figure.game == game]
            screen.table([*rows], ("paytable", "computed %", "published %", "difference", "assuming"))
            screen.line()
        for number, note in enumerate(notes, 1):
            screen.line(f"[{number}] {note}")
        screen.line("± half of the 95 % interval; a figure without one is exact.")


def _cells(figure: Figure, notes: list[str]) -> tuple[str, ...]:
    """Return one row; its remarks go to the notes."""
    computed = percent(figure.computed)
    remarks = [] if figure.published is None or not figure.published.note else [figure.published.note]
    if figure.half_width is not None:
        computed += f" ± {percent(figure.half_width)}"
        remarks.append(figure.method)
    notes += [note for note in remarks if note not in notes]
    marks = "".join(f" [{notes.index(note) + 1}]" for note in remarks)
    if figure.published is None or figure.difference is None:
        return figure.table, computed + marks, "", "", figure.assuming
    difference = percent(figure.difference, sign=True) + marks
    return figure.table, computed, figure.published.percent, difference, figure.assuming
