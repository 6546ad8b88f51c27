"""Drawings of the history page as SVG: heat maps, bars, curves. The page's style sheet has the colors."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CELL: Final = 26  # px
_LETTER: Final = 6.6  # px: about the width of a letter
_BAR: Final = 460  # px: the longest bar
_PLOT: Final = (220, 84)  # px: one small plot


class Curve(NamedTuple):
    """One quantity of a part by moved cards. `limit`: where the part fails; `tenth`: values are in tenths of a unit."""

    name: str
    unit: str
    points: Sequence[tuple[int, int]]
    limit: int
    has_warning: bool = False  # there is a warning
    tenth: bool = False


class Bar(NamedTuple):
    """One fault: seconds until each of its three stages; None if not reached."""

    name: str
    stages: tuple[int | None, int | None, int | None]


def format_seconds(value: int | None) -> str:
    """Return a duration as text."""
    if value is None:
        return ""
    if value < 120:
        return f"{value} s"
    return f"{value // 60} min" if value < 7_200 else f"{value // 3600} h {value // 60 % 60:02d} min"


def _svg(width: float, height: float, label: str, drawn: list[str]) -> str:
    return (
        f'<div class="wide"><svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'role="img" aria-label="{escape(label)}">{"".join(drawn)}</svg></div>'
    )


def draw_heat_map(
    label: str, rows: Sequence[str], columns: Sequence[str], counts: Mapping[tuple[str, str], int],
    about: Mapping[tuple[str, str], str],
) -> str:  # fmt: skip
    """Draw a heat map: darker cells have more faults; each cell has its number, and a tooltip."""
    if not rows:
        return "<p>No faults.</p>"
    most = max(counts.values(), default=1)
    left = max(len(row) for row in rows) * _LETTER + 12
    slanted = max(len(column) for column in columns) > 3
    wide = 34 if slanted else _CELL
    head = max(len(column) for column in columns) * _LETTER * 0.6 + 16 if slanted else 22
    reach = max(len(column) for column in columns) * _LETTER * 0.82 if slanted else 0
    drawn = []
    for i, name in enumerate(columns):
        x = left + wide * i + wide / 2
        turn = f' transform="rotate(-36 {x:.0f} {head - 8:.0f})"' if slanted else ' text-anchor="middle"'
        drawn.append(f'<text x="{x:.0f}" y="{head - 8:.0f}"{turn}>{escape(name)}</text>')
    for j, row in enumerate(rows):
        y = head + _CELL * j
        drawn.append(f'<text x="0" y="{y + 17:.0f}">{escape(row)}</text>')
        for i, column in enumerate(columns):
            count, x = counts.get((row, column), 0), left + wide * i
            box = f'x="{x:.0f}" y="{y:.0f}" width="{wide - 2}" height="{_CELL - 2}" rx="3"'
            if not count:
                drawn.append(f'<rect class="none" {box}/>')
                continue
            tip = escape(about.get((row, column), f"{row}, {column}: {count}"))
            drawn.append(
                f'<g><title>{tip}</title><rect {box} style="fill: rgba(var(--heat), {0.2 + 0.5 * count / most:.2f})"/>'
                f'<text x="{x + wide / 2 - 1:.0f}" y="{y + 17:.0f}" text-anchor="middle">{count}</text></g>'
            )
    return _svg(left + wide * len(columns) + reach + 8, head + _CELL * len(rows) + 4, label, drawn)


def draw_bars(label: str, shown: Sequence[Bar]) -> str:
    """Draw a bar for each fault in three stages: until acknowledged, until cleared, until back in service."""
    longest = max((max(filter(None, bar.stages), default=1) for bar in shown), default=1)
    left = max(len(bar.name) for bar in shown) * _LETTER + 12
    drawn = []
    for j, bar in enumerate(shown):
        y, begins = 20 * j, 0
        drawn.append(f'<text x="0" y="{y + 13}">{escape(bar.name)}</text>')
        for number, until in enumerate(bar.stages):
            if until is None:
                continue
            x, width = left + _BAR * begins / longest, _BAR * max(0, until - begins) / longest
            drawn.append(
                f'<rect class="stage{number}" x="{x:.1f}" y="{y + 2}" width="{max(1.0, width):.1f}" height="13"/>'
            )
            begins = until
        text = format_seconds(bar.stages[2]) if bar.stages[2] is not None else "still out"
        drawn.append(f'<text x="{left + _BAR * begins / longest + 8:.0f}" y="{y + 13}">{text}</text>')
    return _svg(left + _BAR + 90, 20 * len(shown) + 4, label, drawn)


def draw_curves(shown: Sequence[Curve]) -> str:
    """Draw small plots in a row, each with its limit as a dashed line."""
    return f'<div class="plots">{"".join(_curve(curve) for curve in shown)}</div>'


def _curve(curve: Curve) -> str:
    width, height = _PLOT
    xs, ys = [x for x, _ in curve.points], [y for _, y in curve.points]
    low, high = min([0, curve.limit, *ys]), max([0, curve.limit, *ys])

    def at(x: int, y: int) -> str:
        across = 4 + (width - 8) * (x - xs[0]) / max(1, xs[-1] - xs[0])
        return f"{across:.1f},{height - 4 - (height - 8) * (y - low) / max(1, high - low):.1f}"

    newest = f"{ys[-1] / 10:.1f} {curve.unit}" if curve.tenth else f"{ys[-1]} {curve.unit}"
    begins, ends = at(xs[0], curve.limit).split(","), at(xs[-1], curve.limit).split(",")
    return (
        f"<figure{' class=warned' if curve.has_warning else ''}><figcaption>{escape(curve.name)}: "
        f"<b>{escape(newest)}</b></figcaption>"
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(curve.name)}">'
        f'<line class="limit" x1="{begins[0]}" y1="{begins[1]}" x2="{ends[0]}" y2="{ends[1]}"/>'
        f'<polyline class="curve" points="{" ".join(at(x, y) for x, y in curve.points)}"/></svg></figure>'
    )
