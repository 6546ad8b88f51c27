"""A record and its place in the chain: pure hashing and checking. No files, no clock.

head(n) = BLAKE2b-256 over head(n-1) and everything of record n. Whoever holds one head can tell whether anything before
it was changed; the head before the first record is 32 zero bytes.
"""

from __future__ import annotations

from hashlib import blake2b
from struct import Struct as Packing
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Layout of the files and of the hash. A change that old software cannot read gets the next number.
FORMAT: Final = 1
HEAD_SIZE: Final = 32
NOTHING: Final = bytes(HEAD_SIZE)
FIRST: Final = 1

# Kinds that the journal writes itself; every other kind belongs to the caller.
GENESIS: Final = "genesis"
START: Final = "start"
STOP: Final = "stop"
SNAPSHOT: Final = "snapshot"
RESTORED: Final = "restored"
OWN_KINDS: Final = frozenset({GENESIS, START, STOP, SNAPSHOT, RESTORED})

# A limit on everything: a kind is a word; a body beyond this is a mistake, not a record (bytes).
MAX_KIND: Final = 64
MAX_BODY: Final = 1 << 20

_PERSON: Final = b"pitbox journal 1"
_EMPTY: Final = blake2b(digest_size=HEAD_SIZE, person=_PERSON)  # copied, which is quicker than made anew
_FIXED: Final = Packing(f">{HEAD_SIZE}sQqqQHQ")

# What a caller hands over: kind, wall clock (ns), monotonic clock (ns), boot, body.
Entry = tuple[str, int, int, int, bytes]


class Record(msgspec.Struct, frozen=True, gc=False):
    """One durable record. `head` is the hash over the previous head and everything else in it."""

    seq: int
    kind: str
    wall_ns: int
    mono_ns: int
    boot: int
    body: bytes
    head: bytes


class Verdict(msgspec.Struct, frozen=True):
    """What a check of the chain found: good up to `last`, whose head is `head`; else `bad` is the first bad record.

    `first` is the first record that was looked at. `short`: what is there holds, but records are missing at its end, or
    it is another history than the one that was acknowledged or published; `bad` is then the first that is missing.
    """

    ok: bool
    first: int
    last: int
    head: bytes
    bad: int | None = None
    why: str = ""
    short: bool = False


class Broken(Exception):
    """The chain does not hold at a record; whoever reads files turns this into an error that a person understands."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"record {seq}: {why}")
        self.seq = seq
        self.why = why


def head_after(before: bytes, seq: int, kind: str, wall_ns: int, mono_ns: int, boot: int, body: bytes) -> bytes:
    """Return the head after a record."""
    name = kind.encode()
    made = _EMPTY.copy()
    made.update(_FIXED.pack(before, seq, wall_ns, mono_ns, boot, len(name), len(body)) + name + body)
    return made.digest()


def chained(before: bytes, first: int, entries: Iterable[Entry]) -> list[Record]:
    """Give entries their numbers and heads, beginning after the head `before`."""
    records = []
    for seq, (kind, wall_ns, mono_ns, boot, body) in enumerate(entries, first):
        before = head_after(before, seq, kind, wall_ns, mono_ns, boot, body)
        records.append(Record(seq, kind, wall_ns, mono_ns, boot, body, before))
    return records


def checked(before: bytes, first: int, records: Iterable[Record]) -> Iterator[Record]:
    """Pass records on for as long as each is the next one and its head fits; raises Broken at the first that is not."""
    for seq, record in enumerate(records, first):
        if record.seq != seq:
            raise Broken(seq, f"it is missing; the next one found is {record.seq}")
        before_it, before = before, record.head
        made = head_after(
            before_it, seq, record.kind, record.wall_ns, record.mono_ns, record.boot, record.body
        )  # fmt: skip
        if made != record.head:
            raise Broken(seq, "its content, or the record before it, is not what its head was made of")
        yield record


def check_limits(kind: str, body: bytes) -> None:
    """Refuse what cannot be a record, before it is anywhere."""
    if not 0 < len(kind) <= MAX_KIND or len(body) > MAX_BODY:
        raise ValueError(f"a record of kind {kind!r} with {len(body)} bytes is beyond the limits")


def digest(body: bytes) -> bytes:
    """Return the digest that binds a snapshot's body to the record that announces it."""
    return blake2b(body, digest_size=HEAD_SIZE, person=_PERSON).digest()
