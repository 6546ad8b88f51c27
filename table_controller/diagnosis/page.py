"""The history as one page for a browser: drawings and tables in one file, nothing fetched, no script. Pure text."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Final

from table_controller.diagnosis.summary import cause_of, when

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from table_controller.diagnosis.summary import Summary

_CELL: Final = 26  # px
_LABEL: Final = 190
_HEAD: Final = 26
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --faint: #e9e9ec; --line: #c9c9cf;
        --heat: 196, 60, 20; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8ea; --paper: #17181b; --faint: #26282d; --line: #44474f; --heat: 224, 96, 36; }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem;
       margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .6rem 0 1.6rem; }
td, th { padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; margin: .6rem 0 1.6rem; max-width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .none { fill: var(--faint); } svg .bar { fill: rgba(var(--heat), 0.7); } svg .axis { stroke: var(--line); }
"""


def page(summary: Summary, title: str, reasons: dict[int, str]) -> str:
    """Return the whole page."""
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(summary.since or 'nothing')} to {escape(summary.until)} UTC, {len(summary.faults)} faults.</p>",
        "<h2>Machines</h2>", _slots(summary),
        "<h2>Where and when</h2>", _by_hour(summary),
        "<h2>Cause by segment</h2>", _pairs(summary, "cause"),
        "<h2>Deck by segment</h2>", _pairs(summary, "deck"),
        "<h2>From the fault to service</h2>", _waits(summary),
        "<h2>Every fault</h2>", _faults(summary, reasons),
    ]  # fmt: skip
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> str:
    def cells(tag: str, row: Sequence[object]) -> str:
        return "".join(
            f"<{tag}{' class=n' if i in numbers else ''}>{escape('' if cell is None else str(cell))}</{tag}>"
            for i, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>\n" for row in rows)
    return f"<table><tr>{cells('th', heads)}</tr>\n{body}</table>"


def _slots(summary: Summary) -> str:
    heads = (
        "slot", "cards", "interruptions", "failures", "cards per fault", "cards per failure", "again",
        "acknowledged after (s)", "cleared", "back in service",
    )  # fmt: skip
    rows = [
        (s.slot, s.cards, s.interruptions, s.failures, s.between_interruptions, s.between_failures, s.repeats,
         s.acknowledge_s, s.clear_s, s.return_s)
        for s in summary.slots
    ]  # fmt: skip
    said = "".join(
        f"<p><b>{escape(s.slot)}</b>: {escape(s.follows)}</p>"
        for s in summary.slots
        if s.follows and s.interruptions + s.failures
    )
    return _table(heads, rows, range(1, len(heads))) + said


def _faults(summary: Summary, reasons: dict[int, str]) -> str:
    heads = ("record", "when (UTC)", "slot", "segment", "cause", "deck", "kind", "again", "back after (s)", "dossier")
    rows = [
        (f.seq, when(f.at_ns), f.slot, f.segment, cause_of(f, reasons), f.deck, f.kind, f.repeats or "",
         f.waited(f.returned_ns), f.dossier)
        for f in summary.faults
    ]  # fmt: skip
    return _table(heads, rows, (0, 8))


# --- drawings ---------------------------------------------------------------------------------------------------------


def _heat(rows: Sequence[str], columns: Sequence[str], counts: dict[tuple[str, str], int], wide: int = _CELL) -> str:
    """Draw a heat map: a row of cells for each name, darker where more happened; the number stands in its cell."""
    if not rows:
        return "<p>Nothing happened.</p>"
    most = max(counts.values(), default=1)
    width, height = _LABEL + wide * len(columns) + 8, _HEAD + _CELL * len(rows) + 4
    drawn = [
        f'<text x="{_LABEL + wide * i + wide // 2}" y="{_HEAD - 8}" text-anchor="middle">{escape(name)}</text>'
        for i, name in enumerate(columns)
    ]
    for j, row in enumerate(rows):
        y = _HEAD + _CELL * j
        drawn.append(f'<text x="0" y="{y + 17}">{escape(row)}</text>')
        for i, column in enumerate(columns):
            count = counts.get((row, column), 0)
            x = _LABEL + wide * i
            box = f'x="{x}" y="{y}" width="{wide - 2}" height="{_CELL - 2}" rx="3"'
            if not count:
                drawn.append(f'<rect class="none" {box}/>')
                continue
            strength = f"{0.2 + 0.5 * count / most:.2f}"
            drawn.append(
                f'<rect {box} style="fill: rgba(var(--heat), {strength})"><title>{escape(row)}, {escape(column)}: '
                f"{count}</title></rect>"
                f'<text x="{x + wide // 2 - 1}" y="{y + 17}" text-anchor="middle">{count}</text>'
            )
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img">{"".join(drawn)}</svg>'


def _by_hour(summary: Summary) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    for cell in summary.heat:
        counts[f"{cell.slot} {cell.segment}", f"{cell.hour}"] += cell.faults
    return _heat(sorted({row for row, _ in counts}), [str(h) for h in range(24)], counts)


def _pairs(summary: Summary, field: str) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    for cell in summary.heat:
        counts[f"{cell.slot} {cell.segment}", getattr(cell, field) or "none"] += cell.faults
    columns = sorted({column for _, column in counts})
    return _heat(sorted({row for row, _ in counts}), columns, counts, max([60, *(8 * len(c) + 14 for c in columns)]))


def _waits(summary: Summary) -> str:
    """Draw a bar for each fault: how long until it was acknowledged, cleared, back in service."""
    shown = [f for f in summary.faults if f.returned_ns][-40:]
    if not shown:
        return "<p>No fault has ended.</p>"
    longest = max(f.waited(f.returned_ns) or 1 for f in shown) or 1
    drawn = []
    for j, fault in enumerate(shown):
        y = 20 * j
        total = fault.waited(fault.returned_ns) or 0
        drawn.append(f'<text x="0" y="{y + 13}">{escape(fault.slot)} {escape(when(fault.at_ns)[5:16])}</text>')
        drawn.append(
            f'<rect class="bar" x="{_LABEL}" y="{y + 2}" width="{max(2, 480 * total // longest)}" height="13"/>'
        )
        for at in (fault.acknowledged_ns, fault.cleared_ns):
            if (waited := fault.waited(at)) is not None:
                x = _LABEL + 480 * waited // longest
                drawn.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{y}" y2="{y + 17}" stroke-width="2"/>')
        drawn.append(f'<text x="{_LABEL + 480 * total // longest + 8}" y="{y + 13}">{total} s</text>')
    height = 20 * len(shown) + 4
    return f'<svg viewBox="0 0 760 {height}" width="760" role="img">{"".join(drawn)}</svg>'
