"""Checks the chain of records: numbers, heads, contents, boots, digests."""

from __future__ import annotations

import base64
import json
import struct
from hashlib import blake2b
from typing import Any

from tools.export_checks.basics import Json, need


def head_after(before: bytes, record: Json, body: bytes) -> bytes:
    """Return the head after a record, as docs/journal.md defines it."""
    kind, numbers = record["kind"].encode(), [record[name] for name in ("seq", "wall_ns", "mono_ns", "boot")]
    fixed = struct.pack(">32sQqqQHQ", before, *numbers, len(kind), len(body))
    return blake2b(fixed + kind + body, digest_size=32, person=b"pitbox journal 1").digest()


class ChainCheck:
    """Checks the records one by one."""

    def __init__(self, manifest: Json, expected_head: str | None) -> None:
        self.manifest, self.expected_head = manifest, expected_head
        self.seq = manifest["first"] - 1
        self.head = bytes.fromhex(manifest["head_before"])
        self.boot: int | None = None
        self.seen = expected_head is None or self.head.hex() == expected_head

    def check_record(self, record: Json) -> Any:
        """Check one record and return its content."""
        need(record["seq"] == self.seq + 1, f"record {self.seq + 1} is missing or out of its place")
        self.seq = record["seq"]
        body = base64.b64decode(record["body"], validate=True)
        self.head = head_after(self.head, record, body)
        need(self.head.hex() == record["head"], "its head is not what its content and the record before it give")
        content = json.loads(body)
        need(content == record["content"], "the readable content is not what was chained")
        self._boot(record, content)
        self.seen = self.seen or record["head"] == self.expected_head
        return content

    def _boot(self, record: Json, content: Json) -> None:
        if record["kind"] == "genesis":
            need((record["seq"], record["boot"]) == (1, 0), "a journal begins once")
            need(content["journal"] == self.manifest["journal"], "the manifest names another journal")
        elif record["kind"] == "start":
            need(self.boot is None or record["boot"] == self.boot + 1, "the starts of the box do not count up by one")
            need(content["digests"] in self.manifest["digests"], "the manifest does not name these digests")
        else:
            need(self.boot in (None, record["boot"]), "its boot is not that of the last start")
        self.boot = record["boot"]

    def end(self, count: int) -> None:
        """Compare the end with the manifest."""
        need((self.seq, count) == (self.manifest["last"], self.manifest["count"]), "the manifest counts other records")
        need(self.head.hex() == self.manifest["head_after"], "the manifest names another last head")
        need(self.seen, "no record has the head that left the box: the journal was cut short or rewritten after it")
