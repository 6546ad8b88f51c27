"""What a table writes into its journal, typed: steps of the core, a start, a migration, steps of the clock. No disk.

Bodies are JSON, so that an export can be read without this software. No record holds the order of cards: no event of
the core has one.
"""

from __future__ import annotations

from typing import Any, Final, Union

import msgspec

from table_controller.journal import former_names
from table_controller.journal.roll import Listed
from table_controller.journal.terms import Terms
from table_controller.table.decisions import Decision
from table_controller.table.events import Event, Person

# The newest version of record bodies that this software writes and understands. Whoever changes a name in a body raises
# it in the same commit and fills the table of former names: python -m tools.former_names.
VERSION: Final = 1
# The edition of the rules by which entries are booked (docs/money.md): since the second, a claim that falls is reversed
# exactly; since the third, a document moves money once. Whoever reads a journal judges its entries by the edition that
# its start names.
ACCOUNTING: Final = 3
# Kinds; those that the store writes itself are in `chain`.
STEP: Final = "step"
BOX: Final = "box"
CLOCK: Final = "clock"
NOTE: Final = "note"
MIGRATION: Final = "migration"


def _below(base: type) -> tuple[Any, ...]:
    """Return every type below a base, however deep."""
    children: list[type] = base.__subclasses__()
    return tuple(found for child in children for found in (child, *_below(child)))


EVENTS: Final = _below(Event)
DECISIONS: Final = _below(Decision)


class Box(msgspec.Struct, frozen=True):
    """Body of a `box` record, before the first step of every start: what time is worth in this start.

    `kernel` names the run of the operating system: monotonic time is compared only within one. `set`: whether the clock
    is known to be right; `back`: whether it shows less than the newest record of the start before. `terms`: what the
    table plays by.
    """

    version: str
    kernel: str
    set: bool
    back: bool
    terms: Terms | None = None
    accounting: int = 1  # of a start that does not name it, and so is of the first edition


class ClockStep(msgspec.Struct, frozen=True):
    """Body of a `clock` record: the wall clock moved otherwise than the monotonic one, by so much (ns)."""

    by_ns: int


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """Body of a `note` record: what the box did or saw besides the table's own steps. Replay does not read it."""

    kind: str  # signed_on, signed_off, service, died, restarted, escalated, enrolled, ...
    text: str
    who: Person | None = None
    second: Person | None = None
    slot: str | None = None
    hold: int | None = None
    listed: dict[str, Listed | None] | None = None  # credentials as they are from here on; None: it is gone
    change: str = ""  # which change of the people file this records


class Migrated(msgspec.Struct, frozen=True, omit_defaults=True):
    """Body of a `migration` record: the state of the snapshot before was taken over by other versions, and how.

    Where people had to accept it: who, and what differs, a line each.
    """

    name: str
    old: dict[str, str]  # digests
    new: dict[str, str]
    who: Person | None = None
    second: Person | None = None
    changes: tuple[str, ...] = ()


class Stamp(msgspec.Struct, frozen=True):
    """One instant, by both clocks (ns), in one run of the operating system."""

    wall_ns: int
    mono_ns: int
    kernel: str


class Step(msgspec.Struct, frozen=True):
    """Body of a `step` record: one event of the core and everything that was decided on it, in order."""

    event: Event
    decisions: list[Decision]


_ENCODER: Final = msgspec.json.Encoder()
_encode = _ENCODER.encode


def _decoder() -> msgspec.json.Decoder[Any]:
    typed = msgspec.defstruct(
        "Typed",
        [("event", Union[EVENTS]), ("decisions", list[Union[DECISIONS]])],  # type: ignore[valid-type] # noqa: UP007
        frozen=True,
    )
    return msgspec.json.Decoder(typed)


_STEPS: Final = _decoder()


def current_body(kind: str, body: bytes) -> bytes:
    """Return a record's body under the names of this version, whichever version wrote it."""
    return former_names.renew_body(former_names.RECORDS, kind, body, VERSION)


def encode_step(event: Event, decisions: list[Decision]) -> bytes:
    """Return the body of a step's record; the same event and decisions always give the same bytes."""
    return former_names.stamp(_encode(Step(event, decisions)), VERSION)


def decode_step(body: bytes) -> Step:
    """Return the event and the decisions of a step's record; msgspec.DecodeError if it is none that is known."""
    found = _STEPS.decode(current_body(STEP, body))
    return Step(found.event, found.decisions)


def encode_body(body: Box | ClockStep | Note | Migrated) -> bytes:
    """Return the body of another record."""
    return former_names.stamp(_encode(body), VERSION)


_NOTES: Final = msgspec.json.Decoder(Note)


def decode_note(body: bytes) -> Note:
    """Return the body of a note."""
    return _NOTES.decode(current_body(NOTE, body))


_BOXES: Final = msgspec.json.Decoder(Box)


def decode_box(body: bytes) -> Box:
    """Return the body of a box's record."""
    return _BOXES.decode(current_body(BOX, body))


_CLOCKS: Final = msgspec.json.Decoder(ClockStep)


def decode_clock(body: bytes) -> ClockStep:
    """Return the body of a record of the clock."""
    return _CLOCKS.decode(current_body(CLOCK, body))


_MIGRATIONS: Final = msgspec.json.Decoder(Migrated)


def decode_migration(body: bytes) -> Migrated:
    """Return the body of a migration's record."""
    return _MIGRATIONS.decode(current_body(MIGRATION, body))
