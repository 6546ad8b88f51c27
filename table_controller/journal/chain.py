"""A record and its place in the hash chain: computes and checks heads.

head(n) = BLAKE2b-256 over head(n-1) and all fields of record n, so one head proves every record before it. The head
before the first record is 32 zero bytes.
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
ZERO_HEAD: Final = bytes(HEAD_SIZE)
FIRST_SEQ: Final = 1

# Kinds of records that the journal writes itself; all other kinds belong to the caller.
GENESIS: Final = "genesis"
START: Final = "start"
STOP: Final = "stop"
SNAPSHOT: Final = "snapshot"
RESTORED: Final = "restored"
OWN_KINDS: Final = frozenset({GENESIS, START, STOP, SNAPSHOT, RESTORED})

# Limits: characters of a kind, bytes of a body. A larger body is a programming error.
MAX_KIND: Final = 64
MAX_BODY: Final = 1 << 20

_PERSON: Final = b"pitbox journal 1"
_EMPTY: Final = blake2b(digest_size=HEAD_SIZE, person=_PERSON)  # copied for each record: quicker than a new one
_FIXED: Final = Packing(f">{HEAD_SIZE}sQqqQHQ")

# A record before it has a number and a head: kind, wall clock (ns), monotonic clock (ns), boot, body.
NewRecord = tuple[str, int, int, int, bytes]


class Record(msgspec.Struct, frozen=True, gc=False):
    """One durable record. `head` is the hash over the head before it and all its other fields."""

    seq: int
    kind: str
    wall_ns: int
    mono_ns: int
    boot: int
    body: bytes
    head: bytes


class ChainVerdict(msgspec.Struct, frozen=True):
    """The result of a check of the chain: records `first` to `last` are good, and `head` is the head of `last`.

    If not `ok`, `bad` is the first bad record and `why` the reason. `is_short`: the chain is intact, but records at its
    end are missing, or an acknowledged or published head is not in it; `bad` is then the first missing record.
    """

    ok: bool
    first: int
    last: int
    head: bytes
    bad: int | None = None
    why: str = ""
    is_short: bool = False


class ChainBroken(Exception):
    """A record breaks the chain. Readers of files turn this into a PitboxError for people."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"record {seq}: {why}")
        self.seq = seq
        self.why = why


def head_after(before: bytes, seq: int, kind: str, wall_ns: int, mono_ns: int, boot: int, body: bytes) -> bytes:
    """Return the head after a record."""
    name = kind.encode()
    hasher = _EMPTY.copy()
    hasher.update(_FIXED.pack(before, seq, wall_ns, mono_ns, boot, len(name), len(body)) + name + body)
    return hasher.digest()


def chain_records(before: bytes, first: int, entries: Iterable[NewRecord]) -> list[Record]:
    """Return new records with their numbers and heads, beginning after the head `before`."""
    records = []
    for seq, (kind, wall_ns, mono_ns, boot, body) in enumerate(entries, first):
        before = head_after(before, seq, kind, wall_ns, mono_ns, boot, body)
        records.append(Record(seq, kind, wall_ns, mono_ns, boot, body, before))
    return records


def check_records(before: bytes, first: int, records: Iterable[Record]) -> Iterator[Record]:
    """Yield records while each has the next number and the right head; raises ChainBroken at the first that has not."""
    for seq, record in enumerate(records, first):
        if record.seq != seq:
            raise ChainBroken(seq, f"it is missing; the next one found is {record.seq}")
        before_it, before = before, record.head
        computed = head_after(
            before_it, seq, record.kind, record.wall_ns, record.mono_ns, record.boot, record.body
        )  # fmt: skip
        if computed != record.head:
            raise ChainBroken(seq, "its head does not match its content and the record before it")
        yield record


def check_limits(kind: str, body: bytes) -> None:
    """Raise ValueError for a kind or a body beyond the limits."""
    if not 0 < len(kind) <= MAX_KIND or len(body) > MAX_BODY:
        raise ValueError(f"a record of kind {kind!r} with {len(body)} bytes is beyond the limits")


def snapshot_digest(body: bytes) -> bytes:
    """Return the digest of a snapshot's body, which the record of the snapshot holds."""
    return blake2b(body, digest_size=HEAD_SIZE, person=_PERSON).digest()
