"""Prints lines, tables, and a card path with a progress bar that is redrawn while cards move.

On a terminal the picture is redrawn in place; a file or a pipe gets a line now and then.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from devices.shuffler.messages import Counted, State
from table_controller.cli.render.card_path import draw_path

if TYPE_CHECKING:
    from rich.console import RenderableType

    from devices.shuffler.state import ShufflerView
    from table_controller.cli.render.card_path import StyledText

_BAR: Final = 46


class PipeSafeConsole(Console):
    """A console that survives a closed pipe: Rich would end the program, and cards may still be moving."""

    def on_broken_pipe(self) -> None:
        """Continue without output."""
        self.quiet = True
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device, not a file
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


class Screen:
    """A console with at most one live picture at its bottom."""

    def __init__(self, console: Console | None = None, *, live: bool | None = None, every: int = 10) -> None:
        """`live`: redraw in place (default: on a terminal). `every`: else a line per so many of 50 cards; 0: none."""
        self.console = console or PipeSafeConsole(highlight=False)
        self.is_live = self.console.is_terminal if live is None else live
        self._every = every
        self._printed_at = -every  # cards moved when the last line was printed
        self.output_error: OSError | None = None
        self._live: Live | None = None

    def __enter__(self) -> Self:
        """Return this screen."""
        return self

    def __exit__(self, *_: object) -> None:
        """Keep the last picture on the screen."""
        self._freeze()

    def line(self, text: str = "", style: str = "") -> None:
        """Print one line below everything so far."""
        self._freeze()
        # A terminal wraps at words; a file gets whole lines.
        self._print(Text(text, style=style), soft_wrap=not self.console.is_terminal)

    def table(self, rows: list[tuple[str, ...]], heads: tuple[str, ...] = ()) -> None:
        """Print rows in columns."""
        self._freeze()
        table = Table(box=None, show_header=bool(heads), pad_edge=False, padding=(0, 2, 0, 0))
        for number in range(len(rows[0])):
            head = heads[number] if heads else ""
            table.add_column(head, style="dim" if number == 0 else "", header_style="dim", overflow="fold")
        for row in rows:
            table.add_row(*row)
        self._print(table)

    def show_card_path(self, view: ShufflerView, expected: int) -> None:
        """Show the card path and how far the cycle is."""
        moved, apart = _moved(view), self._every * max(1, expected // 50)
        now_and_then = bool(apart) and not 0 <= moved - self._printed_at < apart  # a new cycle starts from fewer cards
        if now_and_then:
            self._printed_at = moved
        self.show(
            self._picture(view, expected),
            last=view.ended is not None,
            brief=self._path_text(view, expected) if now_and_then else None,
        )

    def show(self, picture: RenderableType, *, last: bool, brief: RenderableType | None = None) -> None:
        """Redraw a picture until the `last` one; where redrawing is not possible, print `brief` instead, if given."""
        if self.is_live:
            if self._live is None:
                self._live = Live(picture, console=self.console, refresh_per_second=20, transient=False)
                self._live.start()
            self._live.update(picture)
            if last:
                self._freeze()
        elif last:
            self._print(picture)
        elif brief is not None:
            self._print(brief)

    def _picture(self, view: ShufflerView, expected: int) -> Group:
        half = view.phase.name.lower()
        if view.state is State.CLEARING:
            half = "emptying"
        elif view.behind_gate == expected or isinstance(view.ended, Counted):
            half = "done"
        bar = Table.grid(padding=(0, 1))
        bar.add_row(Text(half.ljust(9)), *(_store if view.continuous else _cycle)(view, expected))
        return Group(self._path_text(view, expected), bar)

    def _path_text(self, view: ShufflerView, expected: int) -> Text:
        return self.to_text(draw_path(view, expected))

    def to_text(self, spans: list[StyledText]) -> Text:
        """Return styled spans as one text for this screen."""
        text = Text.assemble(*spans)
        text.no_wrap = self.console.width > text.cell_len  # on a narrow screen the path wraps
        return text

    def _print(self, what: Any, **how: Any) -> None:
        """Print, unless the reader of our output has closed: the command must still finish its work."""
        if self.output_error is None:
            try:
                self.console.print(what, **how)
            except OSError as error:
                self.output_error = error

    def _freeze(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def _moved(view: ShufflerView) -> int:
    return view.entered + view.left


def _cycle(view: ShufflerView, expected: int) -> tuple[ProgressBar, Text]:
    """Return the progress of a cycle."""
    digits = max(2, len(str(expected)))
    bar = ProgressBar(total=2 * expected, completed=min(2 * expected, _moved(view)), width=_BAR - 2 * (digits - 2))
    return bar, Text(f"in {view.entered:{digits}d}  out {view.left:{digits}d}  of {expected}")


def _store(view: ShufflerView, expected: int) -> tuple[ProgressBar, Text]:
    """Return how full the store is."""
    bar = ProgressBar(total=expected, completed=min(expected, view.inside or 0), width=_BAR)
    return bar, Text(f"{'?' if view.inside is None else view.inside:>3} inside of {expected}")
