"""A fault report: the frozen evidence of one fault, as names and numbers.

Parts of a machine have their names in lower case, so that a report stays readable when the device messages change. No
field can name a card: cards are only counted, and frames that name cards are blanked before they are stored here.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from table_controller.journal.former_names import FAULT_REPORTS, renew

# Of fault reports and of the steps that are kept with them; raised when a name in them changes.
VERSION: Final = 2

# Kinds of halts, common to all machines.
HaltKind = Literal[
    "jam", "double_feed", "short_card", "counts_disagree", "too_many_cards", "stopped", "self_test", "power_lost",
    "path_blocked", "chute_jam",
]  # fmt: skip


class Level(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sensor's light (0-1023) and the level below which it counts as dark. Threshold 0: no such sensor."""

    sensor: str
    blocked: bool
    level: int
    threshold: int

    @property
    def margin(self) -> int:
        """The distance between level and threshold."""
        return abs(self.level - self.threshold)


class Current(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a motor drew at the fault (mA)."""

    motor: str
    milliamps: int


class TransitsAtFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Transit times of one segment, in microseconds."""

    segment: str
    cards: int
    mean: int
    least: int
    most: int
    deviation: int
    last: int


class EdgeAtFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sensor went dark or clear this many microseconds before the halt."""

    sensor: str
    blocked: bool
    before_us: int


class FrameAtFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One frame of the last seconds, as in a capture: header and payload, blanked if it could name cards."""

    before_ms: int
    outgoing: bool
    data: bytes


class MachineHalt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The machine's report of a halt. `leg`: 0 into its store, 1 out of it. Counts are the machine's; None: unknown."""

    what: HaltKind
    message: str  # the message's name
    leg: int | None = None
    segment: str | None = None
    card: int | None = None  # from 1 within its phase
    counted_in: int | None = None
    counted_out: int | None = None
    bad_sensors: tuple[str, ...] = ()
    bad_motors: tuple[str, ...] = ()
    refused: str | None = None  # the motion that it refused to begin


class CardAccount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The box's card counts at the fault; a moving card counts as `inside`. None: unknown."""

    expected: int | None = None  # cards of the whole deck, batch or set
    inside: int | None = None
    out: int | None = None  # behind the gate, in the chute or in the slot
    keeps: bool = False  # the machine keeps cards between commands; cards outside do not count


class MotionEnd(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How an earlier motion of the same machine ended, and what it counted."""

    message: str
    counted_in: int | None = None
    counted_out: int | None = None


class MachineIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The identity of the machine."""

    slot: str
    kind: str
    model: str = ""
    serial: str = ""
    firmware: str = ""
    digest: str = ""
    capabilities: tuple[str, ...] = ()


class SlotAtFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state of one slot of the table."""

    slot: str
    kind: str
    service: str
    state: str


class PermitResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a permit: every reason against an act, with its clause; none if it is permitted."""

    act: str
    on: str
    reasons: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()


class DeckAtFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A deck with its state and its age (s)."""

    name: str
    state: str
    age_s: int | None = None


class EarlierAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer of a person, named by role, and how long before the fault it was (s)."""

    question: str
    choice: str
    role: str
    before_s: int


class FaultReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All evidence of a fault. `complete`: it includes what the machine answered after the fault."""

    version: int = VERSION
    number: int = 0  # given by the store
    at_ns: int  # wall clock
    complete: bool = False
    machine: MachineIdentity
    halts: tuple[MachineHalt, ...]  # the first is the fault; others arrived while the machine was read
    account: CardAccount = CardAccount()
    levels: tuple[Level, ...] = ()
    currents: tuple[Current, ...] = ()
    times: tuple[TransitsAtFault, ...] = ()
    history: tuple[TransitsAtFault, ...] = ()  # the times when this machine last completed a motion
    edges: tuple[EdgeAtFault, ...] = ()  # the oldest first
    waited_us: int | None = None  # how long the machine had waited for the next edge
    ends: tuple[MotionEnd, ...] = ()  # the oldest first
    opening: tuple[FrameAtFault, ...] = ()  # the first frames of the session: hello, report, inventory, command
    frames: tuple[FrameAtFault, ...] = ()  # the last 30 s, the oldest first
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    table: tuple[SlotAtFault, ...] = ()
    permits: tuple[PermitResult, ...] = ()
    orders: tuple[str, ...] = ()  # outcomes that the rule orders, as text
    clauses: tuple[str, ...] = ()  # of these outcomes
    decks: tuple[DeckAtFault, ...] = ()
    answers: tuple[EarlierAnswer, ...] = ()

    @property
    def halt(self) -> MachineHalt:
        """The fault itself."""
        return self.halts[0]

    def level(self, sensor: str) -> Level | None:
        """Return one sensor's level; None if unknown."""
        return next((level for level in self.levels if level.sensor == sensor), None)

    def current(self, motor: str | None) -> int | None:
        """Return one motor's current (mA); None if unknown."""
        return next((each.milliamps for each in self.currents if each.motor == motor), None)

    def usual(self, segment: str) -> TransitsAtFault | None:
        """Return the times of a segment before this motion, or since power-up if no older ones are known."""
        for source in (self.history, self.times):
            for times in source:
                if times.segment == segment and times.cards:
                    return times
        return None

    def time(self, segment: str) -> TransitsAtFault | None:
        """Return the times of a segment at the fault."""
        return next((times for times in self.times if times.segment == segment and times.cards), None)


class _Versioned(msgspec.Struct):
    version: int = 1


def encode(report: FaultReport) -> bytes:
    """Return a fault report as an indented JSON object."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1)


def decode(data: bytes) -> FaultReport:
    """Decode a fault report; `msgspec.DecodeError` if it is incomplete or has another version."""
    version = msgspec.json.decode(data, type=_Versioned).version
    if version < VERSION:
        content = renew(FAULT_REPORTS, "report", msgspec.json.decode(data), version, VERSION)
        data = msgspec.json.encode(content | {"version": VERSION})
    report = msgspec.json.decode(data, type=FaultReport)
    if report.version != VERSION:
        raise msgspec.DecodeError(f"a fault report of version {report.version}, not {VERSION}")
    if not report.halts:
        raise msgspec.DecodeError("a fault report without a fault")
    return report
