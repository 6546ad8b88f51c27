"""The fault history as one HTML file: drawings and tables, without scripts or external files."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.diagnosis.drawings import Bar, draw_bars, draw_curves, draw_heat_map, format_seconds
from table_controller.diagnosis.summary import cause_of, format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from table_controller.diagnosis.drawings import Curve
    from table_controller.diagnosis.history import FaultRecord
    from table_controller.diagnosis.summary import Cell, Summary

# Faults that are shown as bars; the table has all.
_DRAWN: Final = 40
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --faint: #ececef; --line: #c9c9cf; --soft: #5c5c66;
        --heat: 196, 60, 20; --one: #c43c14; --two: #d98a3d; --three: #7d93a8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8ea; --paper: #17181b; --faint: #26282d; --line: #44474f; --soft: #a5a7b0; --heat: 224, 96, 36;
          --one: #e0642c; --two: #c98b45; --three: #6b8298; }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 76rem;
       margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: .2rem; } h2 { margin: 2rem 0 .2rem; font-size: 1.2rem; }
p.about, figcaption { color: var(--soft); margin: .1rem 0 .6rem; }
.wide { overflow-x: auto; margin: .4rem 0 1rem; }
table { border-collapse: collapse; }
td, th { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top;
         white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
th { font-size: .85em; color: var(--soft); font-weight: 600; vertical-align: bottom; }
tr.failure td:first-child { box-shadow: inset 3px 0 var(--one); padding-left: .6rem; }
tr td:first-child, tr th:first-child { padding-left: .6rem; }
svg { display: block; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .none { fill: var(--faint); }
svg .stage0, i.stage0 { fill: var(--one); background: var(--one); }
svg .stage1, i.stage1 { fill: var(--two); background: var(--two); }
svg .stage2, i.stage2 { fill: var(--three); background: var(--three); }
i { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; border-radius: 2px; }
.plots { display: flex; flex-wrap: wrap; gap: .8rem 1.4rem; } figure { margin: 0; }
figcaption { margin: 0; font-size: .85em; }
figure svg { background: var(--faint); border-radius: 3px; } figure.warned figcaption { color: var(--one); }
svg .curve { fill: none; stroke: var(--three); stroke-width: 2; } figure.warned .curve { stroke: var(--one); }
svg .limit { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 4 4; }
"""


class MachineWear(NamedTuple):
    """The wear of one machine: warnings and curves."""

    name: str
    warnings: Sequence[str]
    curves: Sequence[Curve]


def render_page(summary: Summary, title: str, reasons: dict[int, str], wearing: Sequence[MachineWear] = ()) -> str:
    """Return the page as HTML."""
    count = len(summary.faults)
    parts = [
        f"<h1>{escape(title)}</h1>",
        _about(f"{summary.since or 'nothing'} to {summary.until} UTC, {count} fault{'s' * (count != 1)}."),
        "<h2>Machines</h2>", _slots(summary),
        *(_wearing(wearing) if wearing else ()),
        "<h2>Faults by place and hour</h2>",
        _about("Segment by hour of the day (UTC). Point at a cell for causes and decks."),
        _by_hour(summary),
        "<h2>Cause by segment</h2>", _pairs(summary, "cause"),
        "<h2>Deck by segment</h2>", _pairs(summary, "deck"),
        "<h2>From fault to return to service</h2>", _waits(summary),
        "<h2>Every fault</h2>", _faults(summary, reasons),
    ]  # fmt: skip
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _about(text: str) -> str:
    return f'<p class="about">{escape(text)}</p>'


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = (), kinds: Sequence[str] = ()
) -> str:
    def cells(tag: str, row: Sequence[object]) -> str:
        return "".join(
            f"<{tag}{' class=n' if i in numbers else ''}>{escape('' if cell is None else str(cell))}</{tag}>"
            for i, cell in enumerate(row)
        )

    body = "".join(
        f"<tr{f' class={kinds[i]}' if kinds else ''}>{cells('td', row)}</tr>\n" for i, row in enumerate(rows)
    )
    return f'<div class="wide"><table><tr>{cells("th", heads)}</tr>\n{body}</table></div>'


def _count(cards: int | None) -> str:
    return "" if cards is None else f"{cards:,}"


def _slots(summary: Summary) -> str:
    heads = (
        "slot", "cards moved", "interruptions", "failures", "cards per fault", "cards per failure", "repeats",
        "acknowledged", "cleared", "in service",
    )  # fmt: skip
    rows = [
        (
            s.slot,
            _count(s.cards),
            s.interruptions,
            s.failures,
            _count(s.between_interruptions),
            _count(s.between_failures),
            s.repeats,
            format_seconds(s.acknowledge_s),
            format_seconds(s.clear_s),
            format_seconds(s.return_s),
        )
        for s in summary.slots
    ]
    sentences = "".join(
        f"<p><b>{escape(s.slot)}</b>: {escape(s.follows)}</p>"
        for s in summary.slots
        if s.follows and s.interruptions + s.failures
    )
    what = (
        "A failure needed a technician; repeats: the same reason in the same segment within ten decks; "
        "times are medians since the fault."
    )
    return _table(heads, rows, range(1, len(heads))) + _about(what) + sentences


def _faults(summary: Summary, reasons: dict[int, str]) -> str:
    heads = (
        "record", "when (UTC)", "slot", "segment", "cause", "deck", "kind", "repeats", "acknowledged", "cleared",
        "in service", "fault report",
    )  # fmt: skip
    rows = [
        (f.seq, format_time(f.at_ns), f.slot, f.segment, cause_of(f, reasons), f.deck, f.kind, f.repeats or "",
         *(format_seconds(f.waited(at)) for at in (f.acknowledged_ns, f.cleared_ns)),
         format_seconds(f.waited(f.returned_ns)) or "still out", f.report)
        for f in summary.faults
    ]  # fmt: skip
    return _table(heads, rows, (0, 8, 9, 10, 11), [fault.kind for fault in summary.faults])


# --- drawings ---------------------------------------------------------------------------------------------------------


def _wearing(wearing: Sequence[MachineWear]) -> list[str]:
    parts = ["<h2>Wear</h2>", _about("Compared with the machine after its last repair, by number of cards. "
                                     "Dashed line: where it fails.")]  # fmt: skip
    for machine in wearing:
        parts.append(f"<h3>{escape(machine.name)}</h3>")
        parts += [f"<p><b>{escape(sentence)}</b></p>" for sentence in machine.warnings]
        parts.append(draw_curves(machine.curves) if machine.curves else _about("Too few cards yet."))
    return parts


def _by_hour(summary: Summary) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    by_cell: dict[tuple[str, str], list[Cell]] = {}
    for cell in summary.heat:
        key = (f"{cell.slot} {cell.segment}", f"{cell.hour}")
        counts[key] += cell.faults
        by_cell.setdefault(key, []).append(cell)
    about = {
        key: f"{key[0]}, {key[1]}:00 UTC: "
        + "; ".join(f"{c.faults} times {c.cause}" + (f" with deck {c.deck}" if c.deck else "") for c in cells)
        for key, cells in by_cell.items()
    }
    rows = sorted({row for row, _ in counts})
    return draw_heat_map("faults by segment and hour", rows, [str(hour) for hour in range(24)], counts, about)


def _pairs(summary: Summary, field: str) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    for cell in summary.heat:
        counts[f"{cell.slot} {cell.segment}", getattr(cell, field) or "none"] += cell.faults
    columns, rows = sorted({column for _, column in counts}), sorted({row for row, _ in counts})
    return draw_heat_map(f"faults by segment and {field}", rows, columns, counts, {})


def _waits(summary: Summary) -> str:
    """Draw a bar for each fault: the time until acknowledged, cleared, and back in service."""
    shown = summary.faults[-_DRAWN:]
    if not shown:
        return "<p>No faults.</p>"
    legend = "".join(
        f'<i class="stage{number}"></i>{escape(words)}'
        for number, words in enumerate(("until acknowledged", "until cleared", "until back in service"))
    )
    return f'<p class="about">{legend}</p>' + draw_bars("from fault to service", [_bar(fault) for fault in shown])


def _bar(fault: FaultRecord) -> Bar:
    stages = [fault.waited(at) for at in (fault.acknowledged_ns, fault.cleared_ns, fault.returned_ns)]
    return Bar(f"{fault.slot} {format_time(fault.at_ns)[5:16]}", (stages[0], stages[1], stages[2]))
