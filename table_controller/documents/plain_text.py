"""Writes a document as plain text, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.documents.document import Document, DocumentTable, Fact


def render_text(document: Document) -> str:
    """Return the document as text; it ends with a line feed."""
    return "\n".join(line.rstrip() for line in _lines(document)) + "\n"


def _lines(document: Document) -> Iterator[str]:
    yield f"{document.title}: {document.subject}"
    yield document.place
    for section in document.sections:
        if section.facts or section.table is not None or section.sentences:
            yield from ("", section.title)
        yield from _facts(section.facts)
        if section.table is not None:
            yield from _table(section.table)
        yield from (f"  {sentence}" for sentence in section.sentences)
    if document.notes:
        yield from ("", *document.notes)
    if document.signatures:
        yield ""
        yield from (f"{name}: ______________________________" for name in document.signatures)
    yield from ("", *document.proof)


def _facts(facts: tuple[Fact, ...]) -> Iterator[str]:
    wide = max((len(fact.label) for fact in facts), default=0)
    yield from (f"  {fact.label.ljust(wide)}  {fact.text}" for fact in facts)


def _table(table: DocumentTable) -> Iterator[str]:
    rows = [table.columns, *table.rows]
    wide = [max(len(row[column]) for row in rows) for column in range(len(table.columns))]
    yield from ("  " + "  ".join(text.ljust(size) for text, size in zip(row, wide, strict=True)) for row in rows)
