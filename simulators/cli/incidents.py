"""`pitbox sim incidents`: replays published cases and prints the published result next to ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.text import Text

from firmware_bridge.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from simulators.casino.incidents import IncidentResult, Listed

HEADS: Final = ("incident", "hands, theirs", "ours", "rounds listed as affected", "clause", "")
_BAR: Final = 46


def show_incidents(args: argparse.Namespace) -> int:
    """Replay the named incidents; return 0 if every one ends as required, else 1."""
    from simulators.casino.incidents import REPLAYS  # imported only here: it loads the whole casino
    from simulators.engine.virtual_time import run_virtual
    from table_controller.cli.render.screen import Screen

    for wrong in [name for name in args.id if name not in REPLAYS]:
        raise UsageError(f"there is no incident {wrong!r}; there are {', '.join(REPLAYS)}")
    chosen = list(dict.fromkeys(args.id)) or list(REPLAYS)
    replays: list[IncidentResult] = []
    with Screen() as screen:
        for number, name in enumerate(chosen):
            line = Text(f"{number + 1} of {len(chosen)}  {name}: {REPLAYS[name][0]}", style="dim")
            bar = ProgressBar(total=len(chosen), completed=number, width=_BAR)
            screen.show(Group(bar, line), last=False, brief=line)
            replays.append(run_virtual(REPLAYS[name][1](args.seed)))
        bad = [replay.id for replay in replays if not replay.is_good]
        screen.show(ProgressBar(total=len(chosen), completed=len(chosen), width=_BAR), last=True)
        screen.table([_row(replay) for replay in replays], HEADS)
        for replay in replays:
            if replay.limit:
                screen.line(f"{replay.id}: {replay.limit}", "dim")
        good = len(replays) - len(bad)
        screen.line(f"{good} of {len(replays)} ended as required" + (f"; not {', '.join(bad)}" if bad else ""))
    return 1 if bad else 0


def _row(replay: IncidentResult) -> tuple[str, ...]:
    clauses = ", ".join(replay.clauses)
    return (
        replay.id,
        replay.published_hands,
        replay.result_text,
        _listed(replay.listed),
        clauses,
        "" if replay.is_good else "NOT GOOD",
    )


def _listed(listed: Listed) -> str:
    """Return each deck once, with its rounds as ranges: 1-20."""
    return "; ".join(f"{deck}: {_ranges(rounds)}" for deck, rounds in dict(listed).items()) or "none"


def _ranges(rounds: tuple[int, ...]) -> str:
    parts: list[list[int]] = []
    for number in rounds:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts) or "none"
