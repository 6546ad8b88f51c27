"""A document as typed data. Renderers print it; they add no sentence of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator


class Fact(msgspec.Struct, frozen=True):
    """One line of a document: a label and its text."""

    label: str
    text: str


class DocumentTable(msgspec.Struct, frozen=True):
    """Rows of text below column titles. Every row has one text for each column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class DocumentSection(msgspec.Struct, frozen=True):
    """A titled part of a document: facts, then a table, then sentences; each may be missing."""

    title: str
    facts: tuple[Fact, ...] = ()
    table: DocumentTable | None = None
    sentences: tuple[str, ...] = ()


class DocumentHead(msgspec.Struct, frozen=True):
    """The newest record of the journal when the document was made: its number and its head (hex)."""

    record: int
    head: str


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A printable document. `subject` names what it is about, such as Slip 17; `signatures` are lines to sign."""

    title: str
    subject: str
    place: str  # the table and its game
    sections: tuple[DocumentSection, ...]
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what the journal does not have, and how to read the document
    head: DocumentHead

    @property
    def proof(self) -> tuple[str, str]:
        """The sentences about the journal behind the document: its newest record and head, and how to verify it."""
        return (
            f"From the journal of this table up to record {self.head.record}, head {self.head.head}",
            f"Verify with: pitbox journal verify FOLDER --against {self.head.head}",
        )


def texts(document: Document) -> Iterator[str]:
    """Yield every text of a document in the order of printing."""
    yield document.title
    yield document.subject
    yield document.place
    for section in document.sections:
        yield section.title
        for fact in section.facts:
            yield from (fact.label, fact.text)
        if section.table is not None:
            yield from section.table.columns
            for row in section.table.rows:
                yield from row
        yield from section.sentences
    yield from document.notes
    yield from document.signatures
    yield from document.proof
