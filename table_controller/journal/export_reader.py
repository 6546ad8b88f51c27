"""Reads the records of an export and checks their chain, for readers that also read a journal's folder."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import ConfigurationError, JournalDamaged
from table_controller.journal.chain import ChainBroken, Record, check_records
from table_controller.journal.error_mapping import map_errors
from table_controller.journal.export import FORMAT, MANIFEST, RECORDS, ExportManifest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class ExportReader:
    """An export in a folder. `first` and `last` are its records."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with map_errors(folder):
            manifest = (folder / MANIFEST).read_bytes()
            try:
                self._manifest = msgspec.json.decode(manifest, type=ExportManifest)
            except UNDECODABLE as error:
                raise ConfigurationError(f"{folder / MANIFEST} is no manifest of an export: {error}") from error
            if self._manifest.format != FORMAT:
                raise ConfigurationError(f"{folder} has the format {self._manifest.format!r}, not {FORMAT!r}")
            self.first, self.last = self._manifest.first, self._manifest.last
            self._places = list(self._find_lines())

    def _find_lines(self) -> Iterator[int]:
        """Yield where each record begins in the file, and last where the file ends."""
        at = 0
        with (self._folder / RECORDS).open("rb") as file:
            for line in file:
                yield at
                at += len(line)
        yield at

    def read(self, first: int, last: int) -> Iterator[Record]:
        """Yield records in order; JournalDamaged names the first bad one."""
        before = bytes.fromhex(self._manifest.head_before)
        start = first
        if first > self.first:
            before, start = self._record(first - 1).head, first
        try:
            yield from check_records(before, start, (self._record(seq) for seq in range(start, last + 1)))
        except ChainBroken as broken:
            raise JournalDamaged(f"{self._folder}: record {broken.seq}: {broken.why}", broken.seq) from None

    def _record(self, seq: int) -> Record:
        at = seq - self.first
        if not 0 <= at < len(self._places) - 1:
            raise JournalDamaged(f"{self._folder}: record {seq} is missing", seq)
        with map_errors(self._folder), (self._folder / RECORDS).open("rb") as file:
            file.seek(self._places[at])
            line = file.read(self._places[at + 1] - self._places[at])
        try:
            fields: dict[str, Any] = msgspec.json.decode(line)
            return Record(
                fields["seq"], fields["kind"], fields["wall_ns"], fields["mono_ns"], fields["boot"],
                base64.b64decode(fields["body"], validate=True), bytes.fromhex(fields["head"]),
            )  # fmt: skip
        except (*UNDECODABLE, KeyError, TypeError, ValueError, binascii.Error) as error:
            raise JournalDamaged(f"{self._folder}: record {seq} cannot be read: {error}", seq) from error
