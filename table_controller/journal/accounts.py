"""Reads a journal's money book and first round number, from its records or from a snapshot and the records after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.chain import FIRST_SEQ
from table_controller.journal.former_names import renew_snapshot
from table_controller.journal.recovery import Snapshot
from table_controller.ledger.money import MoneyBook
from table_controller.table.state import TableState

if TYPE_CHECKING:
    from pathlib import Path

_OPENED: Final = ("round", "betting")


class _DecisionFields(msgspec.Struct):
    """The fields of a decision that are read here, for every type of decision."""

    type: str
    what: str = ""
    state: str = ""
    entry: _EntryFields | None = None


class _EntryFields(msgspec.Struct):
    kind: str
    number: int
    transfers: list[_TransferFields]
    meter_after: int


class _TransferFields(msgspec.Struct):
    source: str
    to: str
    amount: int


class _StepFields(msgspec.Struct):
    decisions: list[_DecisionFields]


_STEP_FIELDS: Final = msgspec.json.Decoder(_StepFields)


def _newest_state(folder: Path) -> tuple[int, TableState] | None:
    """Return the newest snapshot's record number and state; None if this software cannot read it."""
    snapshot = reader.latest_snapshot(folder)
    if snapshot is None:
        return None
    try:
        kept = msgspec.msgpack.decode(renew_snapshot(snapshot.body, rec.VERSION), type=Snapshot)
        return snapshot.seq, msgspec.msgpack.decode(kept.state, type=TableState)
    except UNDECODABLE:
        return None


def read_money_book(folder: Path) -> MoneyBook:
    """Return the sum of all entries, from the newest snapshot on if the first segments were retired."""
    first, book = reader.first_place(folder).first, MoneyBook()
    kept = None if first == FIRST_SEQ else _newest_state(folder)
    if kept is not None:
        first, book = kept[0] + 1, kept[1].money.book
    for record in reader.read(folder, first):
        if record.kind == rec.STEP:
            for decision in _STEP_FIELDS.decode(rec.current_body(rec.STEP, record.body)).decisions:
                if decision.entry is not None:
                    _add(book, decision.entry)
    return book


def _add(book: MoneyBook, entry: _EntryFields) -> None:
    for moved in entry.transfers:
        book.held[moved.source] = book.balance(moved.source) - moved.amount
        book.held[moved.to] = book.balance(moved.to) + moved.amount
    book.entries = entry.number


def last_round_before_begin(folder: Path) -> int:
    """Return the number of the last round that opened before the first record of the journal."""
    first = reader.first_place(folder).first
    kept = None if first == FIRST_SEQ else _newest_state(folder)
    if kept is None:
        return 0
    opened = 0
    for record in reader.read(folder, first, kept[0]):
        if record.kind == rec.STEP:
            step = _STEP_FIELDS.decode(rec.current_body(rec.STEP, record.body))
            opened += any((d.what, d.state) == _OPENED for d in step.decisions)
    return kept[1].round.number - opened
