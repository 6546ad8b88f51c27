"""A dossier: the frozen evidence of one fault, as plain words and numbers. Judges nothing, reads no machine.

Parts of a machine stand here by their names in small letters, so that a dossier can be read long after the messages
that it came from have changed. No field can hold a card: what is counted are pieces, and frames that name cards are
blanked before they get here.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

VERSION: Final = 1

# What a machine says has happened, whatever its own word for it.
What = Literal[
    "jam", "double_feed", "short_card", "counts_disagree", "too_many_cards", "stopped", "self_test", "power_lost",
    "path_blocked",
]  # fmt: skip


class Level(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sensor's light (0-1023) and the level below which it counts as dark. Threshold 0: this model has it not."""

    sensor: str
    blocked: bool
    level: int
    threshold: int

    @property
    def margin(self) -> int:
        """How far the level is from being misread."""
        return abs(self.level - self.threshold)


class Current(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a motor drew at the fault (mA)."""

    motor: str
    milliamps: int


class Times(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Transit times of one segment, in microseconds."""

    segment: str
    cards: int
    mean: int
    least: int
    most: int
    deviation: int
    last: int


class Edge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sensor went dark or clear so many microseconds before the halt."""

    sensor: str
    blocked: bool
    before_us: int


class Frame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One frame of the last seconds, as a capture keeps it: header and payload, blanked where it could name cards."""

    before_ms: int
    outgoing: bool
    data: bytes


class Halt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the machine said. `leg`: 0 towards its store, 1 out of it. Counts are its own, None where it cannot tell."""

    what: What
    said: str = msgspec.field(name="said")  # the message's name
    leg: int | None = None
    segment: str | None = None
    card: int | None = None  # from 1 within its phase
    counted_in: int | None = None
    counted_out: int | None = None
    bad_sensors: tuple[str, ...] = ()
    bad_motors: tuple[str, ...] = ()
    refused: str | None = None  # the motion that it was not willing to begin


class Account(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many cards the box believed where when it happened; the one under way is `inside`. None: nobody knew."""

    expected: int | None = None  # cards of the whole deck, batch or set
    inside: int | None = None
    out: int | None = None  # behind the gate, in the chute or laid into the slot
    keeps: bool = False  # the machine keeps cards from one command to the next: what is outside is no part of this


class Ended(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How an earlier motion of the same machine ended, and what it counted."""

    said: str = msgspec.field(name="said")
    counted_in: int | None = None
    counted_out: int | None = None


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which machine it is."""

    slot: str
    kind: str
    model: str = ""
    serial: str = ""
    firmware: str = ""
    digest: str = ""
    capabilities: tuple[str, ...] = ()


class Neighbour(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state of one slot of the table."""

    slot: str
    kind: str
    service: str
    state: str


class Permit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether something was permitted, or every reason why not, with its clause."""

    act: str
    on: str
    reasons: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()


class Deck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A deck by its name, how it stood, and how old it was (s)."""

    name: str
    state: str
    age_s: int | None = None


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody answered, and how long before the fault (s). People stand here by their role."""

    question: str
    choice: str
    role: str
    before_s: int


class Dossier(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Everything that was known when a machine faulted. `complete`: the machine was asked after it, too."""

    version: int = VERSION
    number: int = 0  # given by the store
    at_ns: int  # wall clock
    complete: bool = False
    machine: Machine
    halts: tuple[Halt, ...]  # the first is the fault; others came while the machine was being asked
    account: Account = Account()
    levels: tuple[Level, ...] = ()
    currents: tuple[Current, ...] = ()
    times: tuple[Times, ...] = ()
    history: tuple[Times, ...] = ()  # the same, when this machine last ended a motion well
    edges: tuple[Edge, ...] = ()  # the oldest first
    waited_us: int | None = None  # how long it had waited for the next edge
    ends: tuple[Ended, ...] = ()  # the oldest first
    opening: tuple[Frame, ...] = ()  # what the session had begun with before them: hello, report, inventory, command
    frames: tuple[Frame, ...] = ()  # the last 30 s, the oldest first
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    table: tuple[Neighbour, ...] = ()
    permits: tuple[Permit, ...] = ()
    orders: tuple[str, ...] = ()  # what the rule orders the table to do, in the rulebook's words
    clauses: tuple[str, ...] = ()  # that order it
    decks: tuple[Deck, ...] = ()
    answers: tuple[Answer, ...] = ()

    @property
    def halt(self) -> Halt:
        """The fault itself."""
        return self.halts[0]

    def level(self, sensor: str) -> Level | None:
        """Return one sensor's level, if it was told."""
        return next((level for level in self.levels if level.sensor == sensor), None)

    def current(self, motor: str | None) -> int | None:
        """Return what one motor drew, if it was told."""
        return next((each.milliamps for each in self.currents if each.motor == motor), None)

    def usual(self, segment: str) -> Times | None:
        """Return the times of a segment before this motion, or of this power-up if nothing older is known."""
        for source in (self.history, self.times):
            for times in source:
                if times.segment == segment and times.cards:
                    return times
        return None

    def time(self, segment: str) -> Times | None:
        """Return the times of a segment at the fault."""
        return next((times for times in self.times if times.segment == segment and times.cards), None)


def encode(dossier: Dossier) -> bytes:
    """Return a dossier as it is kept: one JSON object, its keys in order."""
    return msgspec.json.format(msgspec.json.encode(dossier), indent=1)


def decode(data: bytes) -> Dossier:
    """Read a dossier; raises `msgspec.DecodeError` for what is torn, or is none, or of another version."""
    dossier = msgspec.json.decode(data, type=Dossier)
    if dossier.version != VERSION:
        raise msgspec.DecodeError(f"a dossier of version {dossier.version}, not {VERSION}")
    if not dossier.halts:
        raise msgspec.DecodeError("a dossier without a fault")
    return dossier
