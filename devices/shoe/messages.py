"""Messages of the dealing shoe (tags 96-127, 248-251), the release of identified cards too; sensors and reasons.

Only CardsReleased carries card values: those of one unit that was dealt, when it is ordered, and never their order.

The card path of an automated shoe, and the sensors along it:

    intake ─feed─▶ FEED ─store─▶ well ─draw─▶ DRAW ─exit─▶ EXIT ─drop─▶ slot

A manual shoe has only the well and the path after it, without motors: people draw the cards past DRAW and EXIT. A card
is in a segment from the moment its leading edge passes the sensor before the segment until it passes the one after it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, ClassVar, Final

import msgspec

from devices.edge_log import EdgeLog, GetEdgeLog
from devices.path_telemetry import OpticalLevel, TransitTimes
from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "shoe"
# Capabilities that a hello may list.
COUNTS: Final = "counts"  # counts every card that leaves the well
DISPENSES: Final = "dispenses"  # has motors: loads, counts the block in, dispenses stacks, brings the stub out
DRAWS: Final = "draws"  # has no motors: people draw card by card, in rounds
SEES_FACES: Final = "sees_faces"  # detects cards that are face up
JOGS: Final = "jogs"  # can turn a single motor on command
IDENTIFIES: Final = "identifies"  # reads every card that it deals, and releases the values of a unit when ordered
# The largest stack that can be ordered (cards): more than any hand, and far less than a deck ordered by mistake.
MAX_STACK: Final = 10


class Sensor(IntEnum):
    """Optical sensors, in the order in which a card passes them. INTAKE, WELL and SLOT detect piles."""

    INTAKE = 0
    FEED = 1
    WELL = 2
    DRAW = 3
    EXIT = 4
    SLOT = 5


class Segment(IntEnum):
    """Segments of the card path, in the order in which a card travels them."""

    FEED = 0
    STORE = 1
    DRAW = 2
    EXIT = 3
    DROP = 4


class Motor(IntEnum):
    """Motors whose current is measured."""

    FEED = 0
    DRAW = 1
    TRANSPORT = 2


class State(IntEnum):
    """The state of the firmware."""

    IDLE = 0  # nothing loaded
    LOADING = 1
    READY = 2  # cards are in the well
    DISPENSING = 3
    DEALING = 4  # a round is open: people draw
    COUNTING = 5  # the stub comes out
    HALTED = 6  # stopped, jammed or faulted; cards may be on the path
    CLEARING = 7
    TESTING = 8
    DOUBTFUL = 9  # after power-up: the cards inside are unknown


class Phase(IntEnum):
    """The purpose of a motion."""

    LOADING = 0
    DISPENSING = 1
    STUB = 2
    CLEARING = 3
    DRAWING = 4  # by hand


class Place(IntEnum):
    """Places where a sensor detects a pile of cards."""

    INTAKE = 0
    WELL = 1
    SLOT = 2


class Reason(IntEnum):
    """Why a command was refused or failed, and what a fault is. The numbers are error codes of the catalog."""

    NONE = 0
    BUSY = 420
    NOTHING_LOADED = 421
    DOOR_OPEN = 422
    NEEDS_CLEARING = 423
    NOTHING_TO_EJECT = 424
    PATH_BLOCKED = 426
    TOO_FEW_CARDS = 429
    JAM = 430
    DOUBLE_FEED = 431
    SHORT_CARD = 432
    COUNTS_DISAGREE = 433
    STOPPED = 434
    POWER_LOST = 435
    SELF_TEST_FAILED = 436
    TOO_MANY_CARDS = 437
    NOT_CAPABLE = 440
    STACK_SIZE = 441
    SLOT_OCCUPIED = 442
    ALREADY_LOADED = 443
    SHOE_EMPTY = 444
    CARDS_IN_REACH = 445
    SHORT_STACK = 450
    LIFTED_OUT = 451
    MOTOR_STALLED = 452
    NO_SUCH_UNIT = 453
    UNIT_FORGOTTEN = 454
    CARD_TWICE = 455
    READS_DISAGREE = 456


Levels = Annotated[list[OpticalLevel], msgspec.Meta(min_length=len(Sensor), max_length=len(Sensor))]
Currents = Annotated[list[U16], msgspec.Meta(min_length=len(Motor), max_length=len(Motor))]
# The cards of one unit, one byte each.
UnitCards = Annotated[bytes, msgspec.Meta(max_length=MAX_STACK)]


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=96):
    """Request the state of the machine and where its cards are."""


class GetSensors(Message, frozen=True, tag=97):
    """Request the current sensor levels and motor currents."""


class GetTransits(Message, frozen=True, tag=98):
    """Request the transit-time statistics of every segment."""


class Load(Message, frozen=True, tag=99):
    """Load the block and count it; a manual shoe only starts counting drawn cards."""

    command: CommandId


class Dispense(Message, frozen=True, tag=100):
    """Dispense a stack of this many cards into the slot."""

    command: CommandId
    cards: U8


class CountStub(Message, frozen=True, tag=101):
    """Bring out and count all remaining cards; on a manual shoe people do, and the command ends at once."""

    command: CommandId


class StartRound(Message, frozen=True, tag=102):
    """Count the cards drawn by hand from now on as one round."""

    command: CommandId


class Stop(Message, frozen=True, tag=103):
    """Stop all motion at once, and close an open round: cards drawn afterwards are not ordered. Urgent."""

    command: CommandId


class SelfTest(Message, frozen=True, tag=104):
    """Test lamps, sensors and motors with an empty path; after the door was open, the sender has looked inside."""

    command: CommandId


class ClearJam(Message, frozen=True, tag=105):
    """After the path was cleared by hand: check every sensor, then empty the well into the slot."""

    command: CommandId


class Reset(Message, frozen=True, tag=106):
    """Restart the firmware."""

    command: CommandId


class Jog(Message, frozen=True, tag=248):
    """Turn one motor a little, with an empty path. Only for a machine with the capability JOGS."""

    command: CommandId
    motor: Motor
    reverse: bool


class ReleaseCards(Message, frozen=True, tag=250):
    """Release the values of one unit: a stack, by the Dispense that dealt it (`card` 0), or a card of a round, by its
    StartRound and its number in the round. Nothing moves. Only for a machine with the capability IDENTIFIES.
    """

    command: CommandId
    dealt_by: CommandId
    card: U16


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=107):
    """The state of the machine; a count is null if unknown. Unless `counts_certain`, a card may be in no count."""

    state: State
    door_open: bool
    in_intake: bool
    in_well: bool
    in_slot: bool
    left: U16 | None  # cards in the well, and any hidden behind it
    in_path: U8 | None
    drawn: U16 | None  # cards that left the well since it was loaded
    delivered: U16 | None  # cards dispensed into the slot since it was last empty
    moved: U16  # cards of this stack, this stub or this round
    stacks: U32
    counts_certain: bool
    reason: Reason  # of the latest halt


class Sensors(Message, frozen=True, tag=108):
    """Levels by `Sensor` (level and threshold 0 if the model lacks it), currents (mA) by `Motor`."""

    levels: Levels
    currents: Currents


class Transits(Message, frozen=True, tag=109):
    """Statistics by `Segment`."""

    segments: Annotated[list[TransitTimes], msgspec.Meta(min_length=len(Segment), max_length=len(Segment))]


# --- device to host: events --------------------------------------------------------------------------------


class Progress(Message, frozen=True, tag=110):
    """Cards have moved: how many in this phase, how many are left, which sensors (bit per `Sensor`) are blocked.

    A manual shoe sends it once, when a round or a stub begins.
    """

    command: CommandId
    phase: Phase
    moved: U16
    left: U16 | None
    blocked: U8


class Loaded(Message, frozen=True, tag=111):
    """The block is in the well: how many cards, how many face up, how many before the cover card if there is one.

    A manual shoe does not count the block: `count` is null.
    """

    command: CommandId
    count: U16 | None
    face_up: U16
    cover: U16 | None
    left: U16 | None


class Dispensed(Message, frozen=True, tag=112):
    """A stack is in the slot. `count` is from the last sensor, without the cover card."""

    command: CommandId
    count: U16
    face_up: U16
    left: U16 | None


class ShortStack(Message, frozen=True, tag=113):
    """The well ran empty in the middle of a stack."""

    command: CommandId
    ordered: U8
    dispensed: U8
    left: U16 | None


class Stub(Message, frozen=True, tag=114):
    """All remaining cards are out: their count, and the count since loading, which includes them."""

    command: CommandId
    count: U16
    drawn: U16 | None
    left: U16 | None


class Unbalanced(Message, frozen=True, tag=115):
    """Well and counts disagree: fewer cards came out than went in, or more are there than went in."""

    command: CommandId | None
    loaded: U16
    drawn: U16


class Jam(Message, frozen=True, tag=116):
    """A card did not arrive. `card` counts from 1 within the phase; the stuck card is in `in_path`, not in `left`."""

    command: CommandId | None
    phase: Phase
    segment: Segment
    card: U16
    in_path: U8 | None
    left: U16 | None
    levels: Levels
    currents: Currents


class Stopped(Message, frozen=True, tag=117):
    """Motion ended early, on command or because the door was opened. `moved`: cards finished in this phase."""

    command: CommandId
    phase: Phase
    moved: U16
    in_path: U8 | None
    left: U16 | None
    reason: Reason


class Fault(Message, frozen=True, tag=118):
    """A fault other than a jam: a double feed, a short card, a stub that was lifted out."""

    command: CommandId | None
    phase: Phase
    reason: Reason
    segment: Segment
    card: U16
    in_path: U8 | None
    left: U16 | None


class Drawn(Message, frozen=True, tag=119):
    """A person drew a card. Not `ordered`: no round was open. `moved` counts the round, `drawn` since loading."""

    ordered: bool
    moved: U16
    drawn: U16 | None
    left: U16 | None


class FaceUp(Message, frozen=True, tag=120):
    """A card is face up; its value is not reported. `card` counts from 1 within the phase."""

    command: CommandId | None
    phase: Phase
    card: U16


class CoverCard(Message, frozen=True, tag=121):
    """The cover card came out of the well after this many cards of the phase. No count includes it."""

    command: CommandId | None
    phase: Phase
    after: U16


class Pile(Message, frozen=True, tag=122):
    """A pile appeared or was removed: for example the well is empty, or the stack was taken."""

    place: Place
    cards: bool


class Door(Message, frozen=True, tag=123):
    """The door was opened or closed."""

    open: bool


class Power(Message, frozen=True, tag=124):
    """Power came back; `interrupted` if cards were moving or in the well when it was lost."""

    interrupted: bool


class Cleared(Message, frozen=True, tag=125):
    """The path was clear and the well was emptied: how many cards came out, and how many went into the slot."""

    command: CommandId
    emptied: U16
    delivered: U16 | None


class SelfTested(Message, frozen=True, tag=126):
    """The end of a self-test: sensors and motors that failed (bit per `Sensor`, bit per `Motor`)."""

    command: CommandId
    bad_sensors: U8
    bad_motors: U8


class RoundEnded(Message, frozen=True, tag=127):
    """A round was closed by Stop or by the next round: how many cards were drawn in it."""

    command: CommandId
    count: U16


class Jogged(Message, frozen=True, tag=249):
    """A jog has ended: the motor's current (mA), and whether its encoder saw it turn."""

    command: CommandId
    motor: Motor
    reverse: bool
    current: U16
    turned: bool


class CardsReleased(Message, frozen=True, tag=251):
    """The cards of a unit as card numbers in ascending order, never as drawn, and how many could not be read."""

    carries_cards: ClassVar[bool] = True

    command: CommandId
    dealt_by: CommandId
    card: U16
    cards: UnitCards
    unread: U8


Actuation = Load | Dispense | CountStub | StartRound | Stop | SelfTest | ClearJam | Jog | Reset | ReleaseCards
Question = GetStatus | GetSensors | GetTransits | GetEdgeLog
Event = (
    Progress | Loaded | Dispensed | ShortStack | Stub | Unbalanced | Jam | Stopped | Fault | Drawn | FaceUp | CoverCard
    | Pile | Door | Power | Cleared | SelfTested | RoundEnded | Jogged | CardsReleased
)  # fmt: skip
Reply = Status | Sensors | Transits | EdgeLog
# The messages that each end accepts; any other is an error.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
