"""Writes a journal's records as JSON Lines with a manifest, for readers without this software.

`tools/verify_export.py` checks an export and shares no code with this module.
"""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import ConfigurationError
from table_controller.journal import reader, record_text
from table_controller.journal.chain import START
from table_controller.journal.error_mapping import map_errors
from table_controller.journal.records import BOX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from table_controller.journal.chain import Record

FORMAT: Final = "pitbox export 1"
RECORDS: Final = "records.jsonl"
MANIFEST: Final = "manifest.json"


class ExportManifest(msgspec.Struct, kw_only=True):
    """Contents of an export. Heads and digests are hex; `head_before` is the head of the record before the first."""

    format: str = FORMAT
    journal: str = ""
    game: str = ""
    title: str = ""
    first: int = 0
    last: int = 0
    count: int = 0
    head_before: str = ""
    head_after: str = ""
    file: str = RECORDS
    sha256: str = ""
    digests: list[dict[str, str]] = []  # every set of software, edition and configuration that wrote these records
    boots: list[int] = []


def _line(record: Record) -> bytes:
    fields: dict[str, Any] = {
        "seq": record.seq, "kind": record.kind, "wall_ns": record.wall_ns, "mono_ns": record.mono_ns,
        "boot": record.boot, "body": base64.b64encode(record.body).decode(), "head": record.head.hex(),
        "content": _stored(record),
    }  # fmt: skip
    return msgspec.json.encode(fields) + b"\n"


def _stored(record: Record) -> Any:
    """Return a body as it is stored, under the names of its own version; None if it is no JSON."""
    try:
        return msgspec.json.decode(record.body)
    except UNDECODABLE:
        return None


def _before(folder: Path, first: int) -> bytes:
    """Return the head before a record, from the record before it or from its segment."""
    place = reader.first_place(folder)
    if first > place.first:
        return next(iter(reader.read(folder, first - 1, first - 1))).head
    return place.before


def _named(manifest: ExportManifest, folder: Path, first: int) -> None:
    """Fill in game and digests from the newest records before the first exported one."""
    kept = reader.first_place(folder).first
    if first > kept:
        for record in reader.read(folder, kept, first - 1):
            _note(manifest, record)
    manifest.digests = manifest.digests[-1:]
    manifest.boots = []


def _note(manifest: ExportManifest, record: Record) -> None:
    if record.kind not in (START, BOX):
        return
    body = record_text.decode_body(record) or {}
    if record.kind == START:
        digests = body.get("digests", {})
        if digests not in manifest.digests:
            manifest.digests.append(digests)
    elif body.get("terms"):
        manifest.game, manifest.title = body["terms"]["game"], body["terms"]["title"]


def export(
    folder: Path,
    target: Path,
    first: int | None = None,
    last: int | None = None,
    *,
    on_record: Callable[[int], None] = lambda _: None,
) -> ExportManifest:
    """Write records and manifest into a folder without an export, and check the chain of the records."""
    kept, newest = reader.bounds(folder)
    first, last = kept if first is None else first, newest if last is None else last
    if not kept <= first <= last <= newest:
        raise ConfigurationError(f"{folder} contains records {kept} to {newest}; {first} to {last} are not among them")
    manifest = ExportManifest(
        head_before=_before(folder, first).hex(), first=first, journal=reader.first_place(folder).journal.hex()
    )
    _named(manifest, folder, first)
    return write_export(manifest, reader.read(folder, first, last), target, on_record)


def write_export(
    manifest: ExportManifest, records: Iterable[Record], target: Path, on_record: Callable[[int], None] = lambda _: None
) -> ExportManifest:
    """Write records into a folder, complete the manifest, and write it."""
    whole = sha256()
    with map_errors(target):
        target.mkdir(parents=True, exist_ok=True)
        if (target / MANIFEST).exists() or (target / RECORDS).exists():
            raise ConfigurationError(f"{target} already contains an export; name another folder")
        with (target / RECORDS).open("wb") as file:
            for record in records:
                written = _line(record)
                whole.update(written)
                file.write(written)
                _note(manifest, record)
                if record.boot not in manifest.boots:
                    manifest.boots.append(record.boot)
                manifest.count += 1
                manifest.last, manifest.head_after = record.seq, record.head.hex()
                on_record(record.seq)
        manifest.sha256 = whole.hexdigest()
        # The manifest is written last: an interrupted export has none.
        (target / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    return manifest
