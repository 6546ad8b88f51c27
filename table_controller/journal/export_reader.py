"""Reads the records of an export and checks their chain, for readers that also read a journal's folder."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import ConfigurationError, JournalDamaged
from table_controller.journal.chain import ChainBroken, Record, check_records
from table_controller.journal.error_mapping import map_errors
from table_controller.journal.export import FORMAT, MANIFEST, RECORDS, ExportManifest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


Whole = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Clock = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class ExportLine(msgspec.Struct, frozen=True):
    """One line of an export; its readable content is for other readers."""

    seq: Whole
    kind: str
    wall_ns: Clock
    mono_ns: Clock
    boot: Whole
    body: str
    head: str


class ExportReader:
    """An export in a folder. `first` and `last` are its records."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with map_errors(folder):
            manifest = (folder / MANIFEST).read_bytes()
            try:
                self._manifest = msgspec.json.decode(manifest, type=ExportManifest)
                self._before = bytes.fromhex(self._manifest.head_before)
            except (*UNDECODABLE, ValueError) as error:
                raise ConfigurationError(f"{folder / MANIFEST} is no manifest of an export: {error}") from error
            if self._manifest.format != FORMAT:
                raise ConfigurationError(f"{folder} has the format {self._manifest.format!r}, not {FORMAT!r}")
            self.first, self.last = self._manifest.first, self._manifest.last
            self._places = list(self._find_lines())

    def _find_lines(self) -> Iterator[int]:
        """Yield where each record begins in the file."""
        at = 0
        with (self._folder / RECORDS).open("rb") as file:
            for line in file:
                yield at
                at += len(line)

    def read(self, first: int, last: int) -> Iterator[Record]:
        """Yield records in order; JournalDamaged names the first bad one."""
        before = self._before
        if first > self.first:
            before = next(iter(self._records(first - 1, first - 1))).head
        try:
            yield from check_records(before, first, self._records(first, last))
        except ChainBroken as broken:
            raise JournalDamaged(f"{self._folder}: record {broken.seq}: {broken.why}", broken.seq) from None

    def _records(self, first: int, last: int) -> Iterator[Record]:
        """Yield records as the file has them."""
        if not self.first <= first <= last < self.first + len(self._places):
            raise JournalDamaged(f"{self._folder}: record {self.first + len(self._places)} is missing")
        with map_errors(self._folder), (self._folder / RECORDS).open("rb") as file:
            file.seek(self._places[first - self.first])
            for seq in range(first, last + 1):
                yield self._decode(seq, file.readline())

    def _decode(self, seq: int, line: bytes) -> Record:
        try:
            one = msgspec.json.decode(line, type=ExportLine)
            body, head = base64.b64decode(one.body, validate=True), bytes.fromhex(one.head)
        except (*UNDECODABLE, ValueError) as error:
            raise JournalDamaged(f"{self._folder}: record {seq} cannot be read: {error}", seq) from error
        return Record(one.seq, one.kind, one.wall_ns, one.mono_ns, one.boot, body, head)
