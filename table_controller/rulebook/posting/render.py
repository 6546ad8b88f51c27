"""A posting as text for the command line, and as a page to print."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.posting.parts import PostedRule, PostedWager, Posting


STYLE_SHEET: Final = "posting.css"


def style_sheet() -> str:
    """Return the style of the printed page."""
    return files(__package__).joinpath(STYLE_SHEET).read_text("utf-8")


def posting_text(posting: Posting) -> str:
    """Return the posting as plain text, for a terminal or a file."""
    lines = [posting.title, f"58 Pa. Code Chapter {posting.chapter}; posting {posting.number}"]
    for wager in posting.wagers:
        lines += ["", *_wager_text(wager)]
    rules = _rules(posting)
    lines += ["", *(f"* {rule.text} ({rule.clause})" for rule in rules)] if rules else []
    return "\n".join(lines) + "\n"


def _wager_text(wager: PostedWager) -> Iterator[str]:
    yield f"{wager.title} ({wager.clause})"
    rows = [("", *wager.columns), *((line.hand, *line.pays) for line in wager.lines)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for first, *others in rows:
        cells = [each.rjust(width) for each, width in zip(others, widths[1:], strict=True)]
        yield "  " + "  ".join([first.ljust(widths[0]), *cells]).rstrip()
    yield from (f"  {note}" for note in wager.notes)


def _rules(posting: Posting) -> list[PostedRule]:
    return [*(() if posting.limit is None else (posting.limit,)), *posting.rules]


def posting_html(posting: Posting, table: str, head: str) -> str:
    """Return the posting as a page to print; `head`: the link to its style sheet, or the style sheet itself."""
    number = f"posting {posting.number}"
    parts = [
        '<!doctype html>\n<html lang="en-US">\n<head>\n<meta charset="utf-8">',
        f"<title>{escape(posting.title)}, {number}</title>\n{head}\n</head>\n<body>",
        f"<header><h1>{escape(posting.title)}</h1><p>{escape(table)}</p></header>\n<main>",
        *map(_wager_html, posting.wagers),
        "</main>\n<section><h2>Rules of this table</h2><ul>",
        *(f"<li>{escape(rule.text)} <small>{escape(rule.clause)}</small></li>" for rule in _rules(posting)),
        "</ul></section>",
        f"<footer>58 Pa. Code Chapter {escape(posting.chapter)}, {number}</footer>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _wager_html(wager: PostedWager) -> str:
    heads = "".join(f"<th>{escape(head)}</th>" for head in wager.columns)
    rows = "\n".join(
        f"<tr><td>{escape(line.hand)}</td>" + "".join(f"<td>{escape(pay)}</td>" for pay in line.pays) + "</tr>"
        for line in wager.lines
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in wager.notes)
    title = f"{escape(wager.title)} <small>{escape(wager.clause)}</small>"
    return (
        f"<article><h2>{title}</h2>\n<table><thead><tr><th>Hand</th>{heads}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody></table>\n{notes}</article>"
    )
