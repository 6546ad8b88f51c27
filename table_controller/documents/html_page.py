"""Writes a document as an HTML page that prints on one sheet, black on white; no script, no navigation on paper."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from table_controller.documents.document import Document, DocumentSection, DocumentTable

_START: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{links}</head>
<body>
{before}<main>
"""
_LINKS: Final = """<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/document.css">
"""


def render_page(document: Document, pdf: str) -> str:
    """Return a page of the panel. `pdf`: the address of the same document as PDF; paper does not show the links."""
    before = f'<nav aria-label="panel"><a href="/documents">All documents</a><a href="{escape(pdf)}">PDF</a></nav>\n'
    return _whole(_title(document), _LINKS, before, _body(document))


def render_file(document: Document) -> str:
    """Return a file that needs no panel: it has its style inside."""
    style = files("table_controller.panel").joinpath("static", "document.css").read_text("utf-8")
    return _whole(_title(document), f"<style>\n{style}</style>\n", "", _body(document))


def render_message(title: str, lines: Iterable[str], links: Iterable[tuple[str, str]] = ()) -> str:
    """Return a page with sentences and links: a list of documents, or why there is none."""
    body = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(line)}</p>" for line in lines)]
    listed = [f'<li><a href="{escape(address)}">{escape(text)}</a></li>' for address, text in links]
    if listed:
        body.append(f'<ul class="list">{"".join(listed)}</ul>')
    return _whole(title, _LINKS, '<nav aria-label="panel"><a href="/floor">Floor</a></nav>\n', body)


def _title(document: Document) -> str:
    return f"{document.title}: {document.subject}"


def _whole(title: str, links: str, before: str, body: Iterable[str]) -> str:
    start = _START.format(title=escape(title), links=links, before=before)
    return start + "\n".join([*body, "</main>", "</body>", "</html>", ""])


def _body(document: Document) -> Iterator[str]:
    yield f"<h1>{escape(document.title)}</h1>"
    yield f'<p class="subject">{escape(document.subject)}</p>'
    yield f'<p class="place">{escape(document.place)}</p>'
    for section in document.sections:
        if section.facts or section.table is not None or section.sentences:
            yield from _section(section)
    yield from (f'<p class="note">{escape(note)}</p>' for note in document.notes)
    if document.signatures:
        lines = "".join(f"<li>{escape(name)}</li>" for name in document.signatures)
        yield f'<ul class="signatures">{lines}</ul>'
    yield "<footer>"
    yield from (f"<p>{escape(sentence)}</p>" for sentence in document.proof)
    yield "</footer>"


def _section(section: DocumentSection) -> Iterator[str]:
    yield f"<section><h2>{escape(section.title)}</h2>"
    if section.facts:
        rows = "".join(f"<dt>{escape(fact.label)}</dt><dd>{escape(fact.text)}</dd>" for fact in section.facts)
        yield f"<dl>{rows}</dl>"
    if section.table is not None:
        yield _table(section.table)
    yield from (f"<p>{escape(sentence)}</p>" for sentence in section.sentences)
    yield "</section>"


def _table(table: DocumentTable) -> str:
    heads = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in table.rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
