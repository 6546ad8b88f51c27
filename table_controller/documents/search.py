"""Finds the records of a document in two passes over the journal: back to where it begins, then forward over it.

The same search serves the command line, which reads a folder or an export, and a page of a running box, which reads
in small batches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from firmware_bridge.errors import NoSuchDocument
from table_controller.documents.document import Document, DocumentHead
from table_controller.documents.entries import Entry, entry_of
from table_controller.journal import records as rec
from table_controller.journal.table_terms import SiteTerms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.journal.chain import Record


class Selection(NamedTuple):
    """The chosen document: its number or name (`key`), or the record that it is about; both empty: the newest."""

    key: str = ""
    record: int | None = None


class DocumentFacts(NamedTuple):
    """What a document is built from: records in order, the newest `box` record before them, and the journal's head."""

    entries: list[Entry]
    terms: dict[str, Any]
    site: SiteTerms
    head: DocumentHead
    anchor: Entry  # the record that the document is about
    machines: dict[str, Entry]  # by slot: the newest note about its machine before the anchor
    accounting: int  # the edition of the accounting rules (records.ACCOUNTING)


class Known(NamedTuple):
    """What a running box knows about its own start, so that a page need not read back to it.

    `since`: the newest record when the page's server began. `machines`: the newest note about each machine.
    """

    since: int
    box: dict[str, Any]
    machines: dict[str, Entry]


class Trace:
    """One walk back from the newest record. `anchor` is the record that the document is about.

    `visit` gets the entries of interest, the newest first, and returns whether the document begins there. `missing` is
    the sentence for people if there is no such document.
    """

    anchor: Entry | None = None

    def __init__(self, visit: Callable[[Trace, Entry], bool], selection: Selection) -> None:
        self.selection = selection
        self.seen: list[str] = []  # keys of other documents of the kind on the way, the newest first
        self.about: dict[str, Any] = {}  # what a kind must remember on its way
        self.begins: int | None = None
        self._visit = visit

    def visit(self, entry: Entry) -> None:
        """Look at one entry."""
        if self._visit(self, entry):
            self.begins = entry.seq


class DocumentKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of document: how it is named and chosen, who may see it, and how it is found and built."""

    name: str
    title: str
    about: str  # for the help of the command
    key: str = ""  # the option that chooses one: slip, hold, deck
    key_help: str = ""
    roles: tuple[str, ...]
    traced: re.Pattern[bytes]  # bodies of interest on the way back
    used: re.Pattern[bytes]  # bodies that the document is built from
    visit: Callable[[Trace, Entry], bool]
    is_over: Callable[[Entry, Entry], bool]  # whether an entry is the last one of the document of an anchor
    build: Callable[[DocumentFacts], Document]
    titles: Callable[[Entry], list[str]] | None = None  # of the documents about an entry, for lists
    names_machine: bool = False  # prints the maker, model and serial number of the anchor's slot


_MACHINE: Final = b'"kind":"machine"'
_KINDS_OF_RECORDS: Final = (rec.STEP, rec.NOTE)
# Most keys of other documents that an error names.
_NAMED: Final = 8


class Search:
    """The search for one document. Feed records to `back`, then to `forward`; then `document` builds it."""

    def __init__(self, kind: DocumentKind, selection: Selection, known: Known | None = None) -> None:
        self.kind = kind
        self._known = known
        self._machines: dict[str, Entry] = {}
        self.trace = Trace(kind.visit, selection)
        self.head: DocumentHead | None = None
        self.oldest = 0
        self._entries: list[Entry] = []
        self._box: dict[str, Any] | None = None
        self._done = False

    @property
    def first(self) -> int:
        """The first record of the document; the oldest one that was read, if an earlier one is missing."""
        return self.oldest if self.trace.begins is None else self.trace.begins

    def back(self, records: Iterable[Record]) -> bool:
        """Take a batch of records, batches the newest first; return whether no older ones are needed."""
        batch = list(records)
        for record in reversed(batch):
            if self.head is None:
                self.head = DocumentHead(record.seq, record.head.hex())
            self.oldest = record.seq
            if self.trace.begins is None and self._is(record, self.kind.traced):
                entry = entry_of(record)
                if entry is not None:
                    self.trace.visit(entry)
            if self.trace.anchor is not None:
                self._add_context(record, self.trace.anchor)
            if self.trace.begins is not None and self._has_context:
                return True
        return not batch

    def _add_context(self, record: Record, anchor: Entry) -> None:
        """Keep the newest terms and the newest note about each machine before the anchor."""
        if self._known is not None and self._known.since < anchor.seq:
            self._box = self._known.box
            for slot, note in self._known.machines.items():
                if note.seq <= anchor.seq:
                    self._machines.setdefault(slot, note)
        if record.kind == rec.BOX and self._box is None:
            entry = entry_of(record)
            if entry is not None and entry.body.get("terms"):  # the first versions recorded none
                self._box = entry.body
        elif record.kind == rec.NOTE and _MACHINE in record.body:
            entry = entry_of(record)
            if entry is not None and entry.body.get("slot"):
                self._machines.setdefault(entry.body["slot"], entry)

    @property
    def _has_context(self) -> bool:
        """Whether no older record can matter: a start notes its machines after its `box` record."""
        known = self._known is not None and self._box is self._known.box
        slot = self.trace.anchor.event.get("slot") if self.trace.anchor is not None else None
        return self._box is not None and not (known and self.kind.names_machine and slot not in self._machines)

    def _is(self, record: Record, pattern: re.Pattern[bytes]) -> bool:
        return (
            record.kind in _KINDS_OF_RECORDS and pattern.search(rec.current_body(record.kind, record.body)) is not None
        )

    def require(self) -> None:
        """Raise NoSuchDocument unless the walk back has found the document."""
        if self.trace.anchor is not None:
            return
        selection, kind = self.trace.selection, self.kind
        asked = f"{kind.key} {selection.key}" if selection.key else f"record {selection.record}"
        newest = not selection.key and selection.record is None
        what = f"no {kind.title.lower()}" + ("" if newest else f" for {asked}")
        known = ", ".join(dict.fromkeys(self.trace.seen[:_NAMED]))
        has = f"; the newest ones are {kind.key or 'record'} {known}" if known else ""
        raise NoSuchDocument(f"the journal has {what} in records {self.oldest} to {self._newest}{has}")

    @property
    def _newest(self) -> int:
        return 0 if self.head is None else self.head.record

    def forward(self, records: Iterable[Record]) -> bool:
        """Take records in order from `first` on; return whether the document needs no more."""
        anchor = self.trace.anchor
        assert anchor is not None, "require() comes first"
        for record in records:
            if self._done:
                break
            if self._is(record, self.kind.used):
                entry = entry_of(record)
                if entry is not None:
                    self._entries.append(entry)
                    self._done = entry.seq >= anchor.seq and self.kind.is_over(entry, anchor)
        return self._done

    def document(self) -> Document:
        """Return the document."""
        assert self.head is not None
        assert self.trace.anchor is not None
        box = self._box or {}
        site = msgspec.convert(box.get("site") or {}, SiteTerms)
        facts = DocumentFacts(self._entries, box.get("terms") or {}, site, self.head, self.trace.anchor, self._machines,
                      box.get("accounting", 1))  # fmt: skip
        document = self.kind.build(facts)
        return _unverified(document) if site.development else document


def _unverified(document: Document) -> Document:
    """Return a document of a development table: it shows that nobody approved the software."""
    notes = ("UNVERIFIED: made at a development table, whose software nobody approved.", *document.notes)
    return msgspec.structs.replace(document, title=f"UNVERIFIED: {document.title}", notes=notes)
