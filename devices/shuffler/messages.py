"""Messages of the card shufflers (tags 64-95, 240-247, 252-253), their sensors and reasons. Card order is never sent.

The card path, and the sensors along it:

    intake ─feed─▶ FEED ─bridge─▶ BRIDGE ─lift─▶ LIFT ─shelf─▶ compartments ─unload─▶ EXIT ─stack─▶ STACK ─drop─▶ gate

A card is in a segment from the moment its leading edge passes the sensor before the segment until it passes the one
after it. A continuous shuffler keeps its cards in the compartments, its store, and can also deliver them to a chute.
A shuffler with the capability INSERTS has a chute from its gate into the dealing shoe, for the whole stack.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, ClassVar, Final

import msgspec

from devices.cards import CardBytes, Tally
from devices.edge_log import EdgeLog, GetEdgeLog
from devices.path_telemetry import OpticalLevel, TransitTimes
from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "shuffler"
# Capabilities that a hello may list.
COUNTS: Final = "counts"  # counts cards in and out
IDENTIFIES: Final = "identifies"  # reads every card's face
BATCH: Final = "batch"  # shuffles six decks at a time
CONTINUOUS: Final = "continuous"  # keeps its cards and has no cycles: takes discards in and delivers to its chute
JOGS: Final = "jogs"  # can turn a single motor on command
INSERTS: Final = "inserts"  # pushes its stack through a chute directly into the dealing shoe


class Sensor(IntEnum):
    """Optical sensors, in the order in which a card passes them."""

    INTAKE = 0
    FEED = 1
    BRIDGE = 2
    LIFT = 3
    EXIT = 4
    STACK = 5
    GATE = 6


class Segment(IntEnum):
    """Segments of the card path, in the order in which a card travels them."""

    FEED = 0
    BRIDGE = 1
    LIFT = 2
    SHELF = 3
    UNLOAD = 4
    STACK = 5
    DROP = 6


# The sensor at the end of each segment; segments that end in a pile have none.
END_SENSORS: Final = {
    Segment.FEED: Sensor.FEED,
    Segment.BRIDGE: Sensor.BRIDGE,
    Segment.LIFT: Sensor.LIFT,
    Segment.UNLOAD: Sensor.EXIT,
    Segment.STACK: Sensor.STACK,
}


class Motor(IntEnum):
    """Motors whose current is measured."""

    FEED = 0
    TRANSPORT = 1
    ELEVATOR = 2
    EJECT = 3


class Mode(IntEnum):
    """What a cycle does with the cards."""

    SHUFFLE = 0
    SORT = 1


class State(IntEnum):
    """The state of the firmware."""

    IDLE = 0  # path and gate are empty
    FEEDING = 1
    UNLOADING = 2
    READY = 3  # a deck is behind the gate
    HALTED = 4  # stopped, jammed or faulted in mid-cycle; cards are inside
    CLEARING = 5
    TESTING = 6
    DOUBTFUL = 7  # after power-up: the cards inside are unknown
    DELIVERING = 8  # only with CONTINUOUS
    INSERTING = 9  # only with INSERTS: the stack is in the chute


class Reason(IntEnum):
    """Why a command was refused or failed, and what a fault is. The numbers are error codes of the catalog."""

    NONE = 0
    BUSY = 420
    NOTHING_LOADED = 421
    DOOR_OPEN = 422
    NEEDS_CLEARING = 423
    NOTHING_TO_EJECT = 424
    GATE_OCCUPIED = 425
    PATH_BLOCKED = 426
    NOT_A_FINDING = 427
    TOO_FEW_CARDS = 429
    JAM = 430
    DOUBLE_FEED = 431
    SHORT_CARD = 432
    COUNTS_DISAGREE = 433
    STOPPED = 434
    POWER_LOST = 435
    SELF_TEST_FAILED = 436
    TOO_MANY_CARDS = 437
    CHUTE_OCCUPIED = 438
    NOT_COUNTED = 439
    CARDS_IN_REACH = 445
    CHUTE_JAMMED = 446
    MOTOR_STALLED = 452


class Phase(IntEnum):
    """The direction of cards: from the intake, to the gate, or (only with CONTINUOUS) to the chute."""

    FEEDING = 0
    UNLOADING = 1
    DELIVERING = 2


def cards_inside(entered: int, left: int) -> int | None:
    """Return how many cards are inside by the machine's counts; None if unknown.

    Unknown while the machine is emptied of uncounted cards, and when more cards came out than went in.
    """
    return entered - left if entered and left <= entered else None


Levels = Annotated[list[OpticalLevel], msgspec.Meta(min_length=len(Sensor), max_length=len(Sensor))]
# Cards per delivery: one byte. The chute of a real machine holds fewer.
MAX_DELIVERED: Final = 255
Currents = Annotated[list[U16], msgspec.Meta(min_length=len(Motor), max_length=len(Motor))]


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=64):
    """Request the state of the machine and where its cards are."""


class GetSensors(Message, frozen=True, tag=65):
    """Request the current sensor levels and motor currents."""


class GetTransits(Message, frozen=True, tag=66):
    """Request the transit-time statistics of every segment."""


class GetFindings(Message, frozen=True, tag=67):
    """Request the missing and extra cards of the rejected deck."""


class StartCycle(Message, frozen=True, tag=68):
    """Shuffle the cards from the intake, or sort them, depending on the mode."""

    command: CommandId


class Eject(Message, frozen=True, tag=69):
    """Open the gate and eject the deck."""

    command: CommandId


class Stop(Message, frozen=True, tag=70):
    """Stop all motion at once. Urgent."""

    command: CommandId


class SelfTest(Message, frozen=True, tag=71):
    """Test lamps, sensors and motors with an empty path; after the door was open, the sender has looked inside."""

    command: CommandId


class SetMode(Message, frozen=True, tag=72):
    """Choose between SHUFFLE and SORT for the next cycle."""

    command: CommandId
    mode: Mode


class ClearJam(Message, frozen=True, tag=73):
    """After the path was cleared by hand: check every sensor, then empty the compartments into the gate."""

    command: CommandId


class Reset(Message, frozen=True, tag=74):
    """Restart the firmware."""

    command: CommandId


class TakeIn(Message, frozen=True, tag=75):
    """Take the cards from the intake into the store. This and the next two need the capability CONTINUOUS."""

    command: CommandId


class Deliver(Message, frozen=True, tag=76):
    """Deliver this many cards from the store to the chute."""

    command: CommandId
    cards: Annotated[int, msgspec.Meta(ge=1, le=MAX_DELIVERED)]


class CountAll(Message, frozen=True, tag=77):
    """Take in the cards of the intake, move every card out and in again, and count both: the whole set."""

    command: CommandId


class Jog(Message, frozen=True, tag=246):
    """Turn one motor a little, with an empty path. Only for a machine with the capability JOGS."""

    command: CommandId
    motor: Motor
    reverse: bool


class Insert(Message, frozen=True, tag=252):
    """Push the stack from behind the gate into the dealing shoe. Only for a machine with the capability INSERTS."""

    command: CommandId


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=80):
    """The state of the machine. `inside` is null if unknown, for example after a power loss in mid-cycle."""

    state: State
    mode: Mode
    door_open: bool
    cards_in_intake: bool
    inside: U16 | None
    behind_gate: U16 | None
    cycles: U32
    reason: Reason  # of the latest halt


class Sensors(Message, frozen=True, tag=81):
    """Levels by `Sensor`, currents (mA) by `Motor`."""

    levels: Levels
    currents: Currents


class Transits(Message, frozen=True, tag=82):
    """Statistics by `Segment`."""

    segments: Annotated[list[TransitTimes], msgspec.Meta(min_length=len(Segment), max_length=len(Segment))]


class Findings(Message, frozen=True, tag=83):
    """The missing and extra cards of a rejected deck, as card numbers in ascending order."""

    carries_cards: ClassVar[bool] = True

    command: CommandId
    missing: CardBytes
    extra: CardBytes


class NoFindings(Message, frozen=True, tag=84):
    """There are no findings: no rejected deck, or a machine that only counts."""

    reason: Reason


class Inventory(Status, frozen=True, tag=240):
    """The status of a continuous shuffler. `inside` counts its store and the path."""

    in_chute: U16 | None  # null if draws were missed, as during a power loss
    outside: U16 | None  # delivered and not taken in again; null until the set is counted
    counted: U16 | None  # result of the last CountAll; null if the store was filled, halted or opened since
    low: bool  # too few cards in the store to continue


class BatchFindings(Message, frozen=True, tag=241):
    """The missing and extra cards of a rejected batch, as counts for each card. Answers GetFindings."""

    carries_cards: ClassVar[bool] = True

    command: CommandId
    missing: Tally
    extra: Tally


# --- device to host: events --------------------------------------------------------------------------------


class Progress(Message, frozen=True, tag=85):
    """Cards have moved: how many went in and came out, and which sensors (bit per `Sensor`) are blocked."""

    command: CommandId
    phase: Phase
    entered: U16
    left: U16
    blocked: U8


class Completed(Message, frozen=True, tag=86):
    """A cycle ended with as many cards out as in. `rejected`: the machine identified the cards, and they are wrong."""

    command: CommandId
    count: U16
    duration_ms: U32
    mode: Mode
    rejected: bool


class Incomplete(Message, frozen=True, tag=87):
    """A cycle ended and its counts disagree: cards stayed inside, or two were counted as one."""

    command: CommandId
    cards_in: U16
    cards_out: U16


class Jam(Message, frozen=True, tag=88):
    """A card did not arrive. `card` counts from 1 within the phase; `entered` includes the stuck card."""

    command: CommandId
    phase: Phase
    segment: Segment
    card: U16
    entered: U16
    left: U16
    levels: Levels
    currents: Currents

    @property
    def is_sensor_blind(self) -> bool:
        """Whether the sensor that should detect the card is dark by itself: the card may have passed it already."""
        if self.segment in END_SENSORS:
            return self.levels[END_SENSORS[self.segment]].blocked
        return self.levels[END_SENSORS[Segment(self.segment - 1)]].is_dim

    @property
    def inside(self) -> int | None:
        """How many cards are between intake and gate; None if unknown."""
        return None if self.is_sensor_blind else cards_inside(self.entered, self.left)


class Stopped(Message, frozen=True, tag=89):
    """Motion ended in mid-cycle, on command or because the door was opened. `entered` includes a card being fed."""

    command: CommandId
    entered: U16
    left: U16
    reason: Reason


class Fault(Message, frozen=True, tag=90):
    """A fault other than a jam: a double feed or a short card."""

    command: CommandId
    reason: Reason
    segment: Segment
    card: U16
    entered: U16
    left: U16


class Door(Message, frozen=True, tag=91):
    """The door was opened or closed."""

    open: bool


class Power(Message, frozen=True, tag=92):
    """Power came back; `interrupted` if a cycle was running when it was lost."""

    interrupted: bool


class Intake(Message, frozen=True, tag=93):
    """Cards were put into the intake, or it ran empty."""

    cards: bool


class Cleared(Message, frozen=True, tag=94):
    """The path was clear and the compartments were emptied: how many cards came out, how many are behind the gate."""

    command: CommandId
    emptied: U16
    behind_gate: U16 | None


class SelfTested(Message, frozen=True, tag=95):
    """The end of a self-test: sensors and motors that failed (bit per `Sensor`, bit per `Motor`)."""

    command: CommandId
    bad_sensors: U8
    bad_motors: U8


class TakenIn(Message, frozen=True, tag=242):
    """The intake ran empty: how many cards were taken in; how many are in the store, how many still outside."""

    command: CommandId
    count: U16
    inside: U16 | None
    outside: U16 | None


class Delivered(Message, frozen=True, tag=243):
    """The ordered cards are in the chute. `low`: discards must be taken in before the next delivery."""

    command: CommandId
    count: U16
    inside: U16 | None
    outside: U16 | None
    in_chute: U16 | None
    low: bool


class Counted(Message, frozen=True, tag=244):
    """Every card of the store came out and went in again, as counted before. All are shuffled again."""

    command: CommandId
    count: U16
    outside: U16
    duration_ms: U32


class StoreChanged(Message, frozen=True, tag=245):
    """The counts changed or became unknown: a card was drawn from the chute, or for the given `reason`."""

    inside: U16 | None
    in_chute: U16 | None
    reason: Reason


class Jogged(Message, frozen=True, tag=247):
    """A jog has ended: the motor's current (mA), and whether its encoder saw it turn."""

    command: CommandId
    motor: Motor
    reverse: bool
    current: U16
    turned: bool


class Inserted(Message, frozen=True, tag=253):
    """The stack has left the chute: how many cards it had, null if unknown. Only the shoe knows what it received."""

    command: CommandId
    count: U16 | None


# The commands of a shuffler with cycles, and of a continuous shuffler.
CycleActuation = StartCycle | Eject | Insert | Stop | SelfTest | SetMode | ClearJam | Jog | Reset
ContinuousActuation = TakeIn | Deliver | CountAll | Eject | Stop | SelfTest | ClearJam | Jog | Reset
Actuation = CycleActuation | ContinuousActuation
Question = GetStatus | GetSensors | GetTransits | GetEdgeLog | GetFindings
Event = (
    Progress | Completed | Incomplete | Jam | Stopped | Fault | Door | Power | Intake | Cleared | SelfTested
    | TakenIn | Delivered | Counted | StoreChanged | Jogged | Inserted
)  # fmt: skip
Reply = Status | Sensors | Transits | EdgeLog | Findings | NoFindings | Inventory | BatchFindings

# What each end may receive; anything else is an error there, and to a device also what is not for its model.
ToCycleShuffler = CycleActuation | Question | AskCommand | GetReport
ToContinuousShuffler = ContinuousActuation | Question | AskCommand | GetReport
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
