"""Renders a report as one HTML page: no scripts, no external files, light and dark, printable."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from devices.conformance.requirements import RequirementVerdict

if TYPE_CHECKING:
    from devices.conformance.report import ConformanceReport, RequirementResult

# A verdict is never shown by color alone.
VERDICT_SIGNS: Final = {
    RequirementVerdict.PASS: "✓",
    RequirementVerdict.FAIL: "✗",
    RequirementVerdict.NOT_CHECKED: "?",
    RequirementVerdict.SKIPPED: "↷",
    RequirementVerdict.NOT_APPLICABLE: "-",
}

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #59636e; --line: #d8dee4; --back: #f6f8fa;
  --pass: #116329; --fail: #b3261e; --open: #7d4e00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --faint: #9198a1; --line: #30363d;
  --back: #161b22; --pass: #4ac26b; --fail: #ff7b72; --open: #e3b341; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .25rem; }
p.verdict { font-size: 1.15rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th.id { width: 3.5rem; } th.verdict { width: 8.5rem; } th.time { width: 4.5rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; }
td.id, td.verdict { white-space: nowrap; font-variant-numeric: tabular-nums; }
.see, .why, dt { color: var(--faint); }
.see { font-size: .875rem; }
.pass { color: var(--pass); } .fail { color: var(--fail); font-weight: 600; }
.not-checked, .skipped { color: var(--open); } .not-applicable { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
pre { background: var(--back); border: 1px solid var(--line); padding: .6rem; overflow-x: auto; font-size: .8125rem; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } pre { white-space: pre-wrap; }
  tr { break-inside: avoid; } }
"""


def render_page(report: ConformanceReport) -> str:
    """Return a whole report as HTML."""
    device = report.device
    about = [
        ("device", f"{device.kind} {device.serial}, model {device.model}" if device else "sent no readable hello"),
        ("firmware", f"{device.firmware}, digest {device.digest}" if device else "unknown"),
        ("capabilities", ", ".join(device.capabilities) or "none" if device else "unknown"),
        ("port", report.port),
        ("checked", f"{report.began}, {report.seconds:.0f} s, by {report.kit}"),
        ("operator", report.hands),
    ]
    if report.only:
        about.append(("requested only", ", ".join(report.only)))
    if report.lost:
        about.append(("ended early", report.lost))
    title = f"Conformance of {device.kind} {device.serial}" if device else "Conformance"
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in about)
    rows = "".join(map(_row, report.requirements))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{_STYLE}</style>\n</head>\n'
        f'<body>\n<h1>{escape(title)}</h1>\n<p class="verdict">The device {escape(_sentence(report))}.</p>\n'
        f"<p>{escape(report.summary.partition(': ')[2])}.</p>\n<dl>{facts}</dl>\n"
        '<table>\n<thead><tr><th class="id">id</th><th class="verdict">verdict</th><th>requirement</th>'
        '<th class="time">time</th></tr></thead>\n'
        f"<tbody>\n{rows}</tbody>\n</table>\n</body>\n</html>\n"
    )


def _sentence(report: ConformanceReport) -> str:
    return f"was {report.verdict}" if report.verdict.startswith("not") else report.verdict


def _row(line: RequirementResult) -> str:
    mark = line.verdict.replace(" ", "-")
    hands = " · with operator" if line.hands else ""
    cell = f'<div>{escape(line.sentence)}</div><div class="see">{escape(line.see)}{hands}</div>'
    if line.why:
        cell += f'<div class="why">{escape(line.why)}</div>'
    if line.verdict is RequirementVerdict.FAIL:
        cell += f"<dl><dt>expected</dt><dd>{escape(line.expected)}</dd><dt>seen</dt><dd>{escape(line.seen)}</dd></dl>"
    if line.transcript:
        frames = escape("\n".join(line.transcript))
        cell += f"<details open><summary>frames on the line</summary><pre>{frames}</pre></details>"
    return (
        f'<tr id="{line.id}"><td class="id">{line.id}</td>'
        f'<td class="verdict {mark}">{VERDICT_SIGNS[line.verdict]} {line.verdict}</td><td>{cell}</td>'
        f"<td>{line.seconds:.1f} s</td></tr>\n"
    )
