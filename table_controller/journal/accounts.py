"""What a journal says of its meters and how many rounds it begins with: from records alone, or on top of a snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.chain import FIRST
from table_controller.journal.former_names import renew_snapshot
from table_controller.journal.recovery import Kept
from table_controller.ledger.money import MoneyBook
from table_controller.table.state import State

if TYPE_CHECKING:
    from pathlib import Path

_OPENED: Final = ("round", "betting")


class _Said(msgspec.Struct):
    """What is read of a decision here, of whatever type."""

    type: str
    what: str = ""
    state: str = ""
    entry: _Entry | None = None


class _Entry(msgspec.Struct):
    kind: str
    number: int
    transfers: list[_Moved]
    meter_after: int


class _Moved(msgspec.Struct):
    source: str
    to: str
    amount: int


class _Step(msgspec.Struct):
    decisions: list[_Said]


_STEPS: Final = msgspec.json.Decoder(_Step)


def _kept(folder: Path) -> tuple[int, State] | None:
    """Return the newest snapshot that this software can read, and after which record it was taken."""
    snapshot = reader.latest_snapshot(folder)
    if snapshot is None:
        return None
    try:
        kept = msgspec.msgpack.decode(renew_snapshot(snapshot.body, rec.VERSION), type=Kept)
        return snapshot.seq, msgspec.msgpack.decode(kept.state, type=State)
    except UNDECODABLE:
        return None


def book_of(folder: Path) -> MoneyBook:
    """Add up every entry from the first, or from the newest snapshot on where the beginning was retired."""
    first, book = reader.begin(folder).first, MoneyBook()
    kept = None if first == FIRST else _kept(folder)
    if kept is not None:
        first, book = kept[0] + 1, kept[1].money.book
    for record in reader.read(folder, first):
        if record.kind == rec.STEP:
            for decision in _STEPS.decode(rec.current_body(rec.STEP, record.body)).decisions:
                if decision.entry is not None:
                    _add(book, decision.entry)
    return book


def _add(book: MoneyBook, entry: _Entry) -> None:
    for moved in entry.transfers:
        book.held[moved.source] = book.at(moved.source) - moved.amount
        book.held[moved.to] = book.at(moved.to) + moved.amount
    book.entries = entry.number


def number_at_begin(folder: Path) -> int:
    """Return the number of the last round that was opened before the first record that is kept."""
    first = reader.begin(folder).first
    kept = None if first == FIRST else _kept(folder)
    if kept is None:
        return 0
    opened = 0
    for record in reader.read(folder, first, kept[0]):
        if record.kind == rec.STEP:
            step = _STEPS.decode(rec.current_body(rec.STEP, record.body))
            opened += any((d.what, d.state) == _OPENED for d in step.decisions)
    return kept[1].round.number - opened
