"""Makes documents from a journal's folder, its copy, or an export, without a running box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import ConfigurationError
from table_controller.documents.search import Search
from table_controller.journal import reader
from table_controller.journal.export import MANIFEST
from table_controller.journal.export_reader import ExportReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from table_controller.documents.document import Document
    from table_controller.documents.search import DocumentKind, Selection
    from table_controller.journal.chain import Record

    ReadRecords = Callable[[int, int], Iterable[Record]]

# Records in one batch of the walk back.
_BATCH: Final = 2_000


def read_document(folder: Path, kind: DocumentKind, selection: Selection) -> Document:
    """Return a document; NoSuchDocument if the journal does not have it."""
    first, last, read = _open(folder)
    search = Search(kind, selection)
    for end in range(last, first - 1, -_BATCH):
        if search.back(read(max(first, end - _BATCH + 1), end)):
            break
    search.require()
    search.forward(read(search.first, last))
    return search.document()


def _open(folder: Path) -> tuple[int, int, ReadRecords]:
    """Return the first and the last record of a journal or an export, and what reads a range of it."""
    if (folder / MANIFEST).is_file():
        export = ExportReader(folder)
        return export.first, export.last, export.read
    for journal in (folder / "journal", folder):
        if journal.is_dir() and reader.segments(journal):
            return *reader.bounds(journal), _reads(journal)
    raise ConfigurationError(f"{folder} contains no journal and no export")


def _reads(journal: Path) -> ReadRecords:
    def read(first: int, last: int) -> Iterator[Record]:
        return reader.read(journal, first, last)

    return read
