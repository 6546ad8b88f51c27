"""The typed bodies of journal records: steps of the core, starts, notes, migrations, clock steps.

Bodies are JSON, so that an export can be read without this software. No record has the order of cards, because no event
of the core has it.
"""

from __future__ import annotations

from typing import Final, get_args

import msgspec

from table_controller.journal import former_names
from table_controller.journal.credential_roster import RosterEntry
from table_controller.journal.table_terms import SiteTerms, TableTerms
from table_controller.table.decisions import Decision
from table_controller.table.events import Event, Person

# The newest version of record bodies that this software writes and understands. A change of a name in a body raises
# it in the same commit and fills the table of former names: python -m tools.former_names.
VERSION: Final = 3
# The edition of the accounting rules (docs/money.md): since 2, a rejected claim is reversed exactly; since 3, a
# document moves money only once; since 4, a hit is claimed by its cards. Entries of a journal are judged by the edition
# that its `box` records name.
ACCOUNTING: Final = 4
# Kinds of records; the kinds that the store itself writes are in `chain`.
STEP: Final = "step"
BOX: Final = "box"
CLOCK: Final = "clock"
NOTE: Final = "note"
MIGRATION: Final = "migration"

EVENTS: Final[tuple[type[Event], ...]] = get_args(Event)
DECISIONS: Final[tuple[type[Decision], ...]] = get_args(Decision)


class BoxRecord(msgspec.Struct, frozen=True):
    """Body of a `box` record, before the first step of every start: the software, the clock and the table's terms.

    `kernel` names the run of the operating system: monotonic times are comparable only within one. `set`: the clock is
    known to be right. `back`: the clock is behind the newest record of the start before.
    """

    version: str
    kernel: str
    set: bool
    back: bool
    terms: TableTerms | None = None
    accounting: int = 1  # the default: the first version did not record it
    site: SiteTerms | None = None


class ClockRecord(msgspec.Struct, frozen=True):
    """Body of a `clock` record: the wall clock was stepped by this much (ns)."""

    by_ns: int


class MachineNamed(msgspec.Struct, frozen=True):
    """The identity of a machine as it proved and reported it."""

    kind: str
    model: str
    serial: str
    firmware: str


class CardsFound(msgspec.Struct, frozen=True):
    """The missing and extra cards of a deck that a machine rejected, in the notation of the rulebook."""

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """Body of a `note` record: what the box did or detected outside the table's steps. Replay ignores it."""

    kind: str  # signed_on, signed_off, service, died, restarted, escalated, enrolled, ...
    text: str
    who: Person | None = None
    second: Person | None = None
    slot: str | None = None
    hold: int | None = None
    listed: dict[str, RosterEntry | None] | None = None  # credentials from here on; None: removed
    change: str = ""  # the change of the people file that this note records
    machine: MachineNamed | None = None  # with kind machine
    deck_check: CardsFound | None = None  # with kind deck_check


class MigrationRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """Body of a `migration` record: other versions took over the state of the last snapshot.

    If two people had to accept it: who they are, and the differences, one line each.
    """

    name: str
    old: dict[str, str]  # digests
    new: dict[str, str]
    who: Person | None = None
    second: Person | None = None
    changes: tuple[str, ...] = ()


class Timestamp(msgspec.Struct, frozen=True):
    """One time on both clocks (ns), in one run of the operating system."""

    wall_ns: int
    mono_ns: int
    kernel: str


class StepRecord(msgspec.Struct, frozen=True):
    """Body of a `step` record: one event of the core and all decisions on it, in order."""

    event: Event
    decisions: list[Decision]


_ENCODER: Final = msgspec.json.Encoder()
_encode = _ENCODER.encode
_STEPS: Final = msgspec.json.Decoder(StepRecord)


def current_body(kind: str, body: bytes) -> bytes:
    """Return a record's body under the names of this version, whichever version wrote it."""
    return former_names.renew_body(former_names.RECORDS, kind, body, VERSION)


def encode_step(event: Event, decisions: list[Decision]) -> bytes:
    """Return the body of a step's record; the same event and decisions always give the same bytes."""
    return former_names.stamp(_encode(StepRecord(event, decisions)), VERSION)


def decode_step(body: bytes) -> StepRecord:
    """Return the event and the decisions of a step's record; msgspec.DecodeError if its types are unknown."""
    return _STEPS.decode(current_body(STEP, body))


def encode_body(body: BoxRecord | ClockRecord | Note | MigrationRecord) -> bytes:
    """Return the encoded body of any other record."""
    return former_names.stamp(_encode(body), VERSION)


_NOTES: Final = msgspec.json.Decoder(Note)


def decode_note(body: bytes) -> Note:
    """Return a decoded note."""
    return _NOTES.decode(current_body(NOTE, body))


_BOXES: Final = msgspec.json.Decoder(BoxRecord)


def decode_box(body: bytes) -> BoxRecord:
    """Return the decoded body of a `box` record."""
    return _BOXES.decode(current_body(BOX, body))


_CLOCKS: Final = msgspec.json.Decoder(ClockRecord)


def decode_clock(body: bytes) -> ClockRecord:
    """Return the decoded body of a `clock` record."""
    return _CLOCKS.decode(current_body(CLOCK, body))
