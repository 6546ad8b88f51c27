"""Documents as pages of the panel: one on request, and a list of the newest ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from firmware_bridge.errors import BadDocumentKey, BoxLocked
from table_controller.documents.entries import Entry, entry_of
from table_controller.documents.html_page import render_message, render_page
from table_controller.documents.moments import Moments
from table_controller.documents.registry import DOCUMENTS
from table_controller.documents.search import Known, Search, Selection
from table_controller.journal import records as rec
from table_controller.journal.table_terms import terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from table_controller.controller.box import Box
    from table_controller.documents.document import Document
    from table_controller.documents.search import DocumentKind
    from table_controller.journal.chain import Record
    from table_controller.panel.journal_access import JournalAccess

# Records that the list reads back: about two hundred rounds.
LISTED_RECORDS: Final = 20_000
# Records that a page reads back for one document: about ten thousand rounds. The command line reads all of them.
SEARCHED_RECORDS: Final = 1_000_000
# So many documents of each kind are listed.
_NEWEST: Final = 8
_LONGEST_NUMBER: Final = 16


class Listed(NamedTuple):
    """One document in the list."""

    kind: DocumentKind
    title: str
    entry: Entry


class DocumentPages:
    """Makes documents from the journal of a running box. `roles` of each kind are checked by the caller."""

    def __init__(self, box: Box, reading: JournalAccess) -> None:
        self._box = box
        self._reading = reading
        self._since = 0 if box.controller is None else self._newest()

    async def make(self, kind: DocumentKind, query: Mapping[str, str]) -> Document:
        """Return the document that a page asked for; NoSuchDocument if the journal does not have it."""
        newest = self._newest()
        search = Search(kind, selection_of(kind, query), self._known())
        await self._reading.backward(newest, max(1, newest - SEARCHED_RECORDS + 1), search.back)
        search.require()
        await self._reading.forward(search.first, newest, search.forward)
        return search.document()

    def _newest(self) -> int:
        """Return the newest record on disk."""
        last = None if self._box.store is None else self._box.store.last()
        if self._box.controller is None or last is None:
            raise BoxLocked("the box is locked; print documents with pitbox document")
        return last.seq

    def _known(self) -> Known:
        """Return what this start of the box recorded about the table and its machines."""
        controller = self._box.controller
        assert controller is not None
        terms = msgspec.to_builtins(terms_of(controller.table.context))
        box = {"terms": terms, "site": msgspec.to_builtins(self._box.site), "accounting": rec.ACCOUNTING}
        machines = {
            slot: Entry(noted.seq, 0, rec.NOTE, msgspec.to_builtins(noted.note))
            for slot, noted in self._box.machine_notes.machines.items()
        }
        return Known(self._since, box, machines)

    async def list_page(self, role: str) -> str:
        """Return the page that lists the newest documents which a role may see."""
        newest = self._newest()
        listed: list[Listed] = []
        kinds = [kind for kind in DOCUMENTS.values() if role in kind.roles]

        def consume(records: Iterable[Record]) -> bool:
            batch = list(records)
            for record in reversed(batch):
                listed.extend(_listed(record, kinds))
            return not batch

        await self._reading.backward(newest, max(1, newest - LISTED_RECORDS + 1), consume)
        links = [(f"/document/{kind.name}", kind.title) for kind in kinds if kind.titles is None]
        moments = Moments(self._box.site.zone)
        for kind in kinds:
            links += [
                (f"/document/{kind.name}?record={one.entry.seq}",
                 f"{kind.title}: {one.title}, {' · '.join(moments.cells(one.entry.wall_ns))} UTC")
                for one in [each for each in listed if each.kind is kind][:_NEWEST]
            ]  # fmt: skip
        return render_message("Documents", (
            f"The newest documents of the last {LISTED_RECORDS:,} records of the journal.",
            "The command pitbox document prints all others.",
        ), links)  # fmt: skip


def _listed(record: Record, kinds: Iterable[DocumentKind]) -> Iterator[Listed]:
    """Yield the documents about a record."""
    if record.kind != rec.STEP:
        return
    body = rec.current_body(record.kind, record.body)
    for kind in kinds:
        if kind.titles is None or kind.traced.search(body) is None:
            continue
        entry = entry_of(record)
        if entry is not None:
            yield from (Listed(kind, title, entry) for title in kind.titles(entry))


def selection_of(kind: DocumentKind, query: Mapping[str, str]) -> Selection:
    """Return the document that a query names; BadDocumentKey if a number is none."""
    record = query.get("record", "")
    if record and (not record.isdecimal() or not record.isascii() or len(record) > _LONGEST_NUMBER):
        raise BadDocumentKey(f"a record has a number, not {record[:64]!r}")
    key = query.get(kind.key, "") if kind.key else ""
    return Selection(key[:64], int(record) if record else None)


def page_of(document: Document, path: str, query: str) -> str:
    """Return a document as a page with a link to its PDF file, at the same address."""
    return render_page(document, f"{path}?{query}{'&' if query else ''}format=pdf")
