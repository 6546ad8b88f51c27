"""Every message of the dealing shoe (tags 96-127, 248, 249), its sensors and reasons. No card's value has a message.

The card path of an automated shoe, and the sensors along it:

    intake ─feed─▶ FEED ─store─▶ well ─draw─▶ DRAW ─exit─▶ EXIT ─drop─▶ slot

A manual shoe is the well and what comes after it, without motors: hands draw the cards past DRAW and EXIT. A card is in
a segment from the moment its leading edge passed the sensor before it until the one after it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import msgspec

from devices.gauges import SensorLevel, Transit
from devices.trail import GetTrail, Trail
from firmware_bridge.commands import AskCommand, DeviceCommands, GetReport
from firmware_bridge.messages import U8, U16, U32, CommandId, Message

KIND: Final = "shoe"
# Capabilities a hello may name.
COUNTS: Final = "counts"  # counts every card that leaves the well
DISPENSES: Final = "dispenses"  # has motors: loads, counts the block in, dispenses stacks, brings the stub out
DRAWS: Final = "draws"  # has none: hands draw card by card, in rounds
SEES_FACES: Final = "sees_faces"  # tells a card that lies face up from one that does not
JOGS: Final = "jogs"  # turns one motor by itself, on command
# The largest stack that can be ordered (cards): more than any hand of a game, far less than a deck by a slip.
MAX_STACK: Final = 10


class Sensor(IntEnum):
    """Optical sensors, in the order a card meets them. INTAKE, WELL and SLOT look at piles."""

    INTAKE = 0
    FEED = 1
    WELL = 2
    DRAW = 3
    EXIT = 4
    SLOT = 5


class Segment(IntEnum):
    """Stretches of the card path, in the order a card travels them."""

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
    """What the firmware is doing."""

    IDLE = 0  # nothing loaded
    LOADING = 1
    READY = 2  # cards lie in the well
    DISPENSING = 3
    DEALING = 4  # a round is open: hands draw
    COUNTING = 5  # the stub comes out
    HALTED = 6  # stopped, jammed or faulted; cards may be on the path
    CLEARING = 7
    TESTING = 8
    DOUBTFUL = 9  # after power-up: nobody knows what is inside


class Phase(IntEnum):
    """What cards move for."""

    LOADING = 0
    DISPENSING = 1
    STUB = 2
    CLEARING = 3
    DRAWING = 4  # by hand


class Place(IntEnum):
    """Where cards lie in a pile that a sensor looks at."""

    INTAKE = 0
    WELL = 1
    SLOT = 2


class Reason(IntEnum):
    """Why a command was refused or failed, and what a fault is. The numbers are codes of the catalogue."""

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


Levels = Annotated[list[SensorLevel], msgspec.Meta(min_length=len(Sensor), max_length=len(Sensor))]
Currents = Annotated[list[U16], msgspec.Meta(min_length=len(Motor), max_length=len(Motor))]


# --- host to device ----------------------------------------------------------------------------------------


class GetStatus(Message, frozen=True, tag=96):
    """What are you doing, and what is where?"""


class GetSensors(Message, frozen=True, tag=97):
    """Sensor levels and motor currents, now."""


class GetTransits(Message, frozen=True, tag=98):
    """Transit-time statistics of every segment."""


class Load(Message, frozen=True, tag=99):
    """Take the block in and count it; a manual shoe only begins to count what is drawn of it."""

    command: CommandId


class Dispense(Message, frozen=True, tag=100):
    """Lay a stack of so many cards into the slot."""

    command: CommandId
    cards: U8


class CountStub(Message, frozen=True, tag=101):
    """Bring everything that is left out and count it; on a manual shoe hands do, and the command ends at once."""

    command: CommandId


class StartRound(Message, frozen=True, tag=102):
    """Count what hands draw from now on as one round."""

    command: CommandId


class Stop(Message, frozen=True, tag=103):
    """Stop all motion at once, and take what hands draw from now on as drawn without an order. Urgent."""

    command: CommandId


class SelfTest(Message, frozen=True, tag=104):
    """Test lamps, sensors and motors with an empty path; who orders it after opening the door has looked inside."""

    command: CommandId


class ClearJam(Message, frozen=True, tag=105):
    """With the path cleared by hand: check every sensor, then empty the well into the slot."""

    command: CommandId


class Reset(Message, frozen=True, tag=106):
    """Restart the firmware."""

    command: CommandId


class Jog(Message, frozen=True, tag=248):
    """Turn one motor a little, with nothing on the path. Only to a machine that names JOGS."""

    command: CommandId
    motor: Motor
    reverse: bool


# --- device to host: replies -------------------------------------------------------------------------------


class Status(Message, frozen=True, tag=107):
    """What the machine believes; a count is null when it cannot know. Not `sure`: a card may be in no count."""

    state: State
    door_open: bool
    in_intake: bool
    in_well: bool
    in_slot: bool
    left: U16 | None  # cards in the well, and wherever a card may hide behind it
    in_path: U8 | None
    drawn: U16 | None  # cards that left the well since it was loaded
    delivered: U16 | None  # cards laid into the slot since it was last empty
    moved: U16  # cards of this stack, this stub or this round
    stacks: U32
    sure: bool
    reason: Reason  # of the last halt


class Sensors(Message, frozen=True, tag=108):
    """Levels by `Sensor` (a sensor that a model has not: level and threshold 0), currents (mA) by `Motor`."""

    levels: Levels
    currents: Currents


class Transits(Message, frozen=True, tag=109):
    """Statistics by `Segment`."""

    segments: Annotated[list[Transit], msgspec.Meta(min_length=len(Segment), max_length=len(Segment))]


# --- device to host: events --------------------------------------------------------------------------------


class Progress(Message, frozen=True, tag=110):
    """Cards have arrived: how many in this phase, how many are left, which sensors (bit per `Sensor`) are blocked.

    A manual shoe sends it once, when a round or a stub begins.
    """

    command: CommandId
    phase: Phase
    moved: U16
    left: U16 | None
    blocked: U8


class Loaded(Message, frozen=True, tag=111):
    """The block is in the well: how many cards, how many face up, how many before the cover card if there is one.

    A manual shoe counts no block in: `count` is null.
    """

    command: CommandId
    count: U16 | None
    face_up: U16
    cover: U16 | None
    left: U16 | None


class Dispensed(Message, frozen=True, tag=112):
    """A stack lies in the slot. `count` is what the last sensor saw, the cover card not included."""

    command: CommandId
    count: U16
    face_up: U16
    left: U16 | None


class ShortStack(Message, frozen=True, tag=113):
    """The well ran empty in the middle of a stack."""

    command: CommandId
    wanted: U8
    got: U8
    left: U16 | None


class Stub(Message, frozen=True, tag=114):
    """Everything that was left is out: how many cards, and how many came out since loading, these included."""

    command: CommandId
    count: U16
    drawn: U16 | None
    left: U16 | None


class Unbalanced(Message, frozen=True, tag=115):
    """Well and counts disagree: not as many cards came out as went in, or more are there than went in."""

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
    """Motion ended early, on command or because the door was opened. `moved`: cards that this phase had finished."""

    command: CommandId
    phase: Phase
    moved: U16
    in_path: U8 | None
    left: U16 | None
    reason: Reason


class Fault(Message, frozen=True, tag=118):
    """Something other than a jam: a double feed, a card too short to be whole, a stub that was lifted out."""

    command: CommandId | None
    phase: Phase
    reason: Reason
    segment: Segment
    card: U16
    in_path: U8 | None
    left: U16 | None


class Drawn(Message, frozen=True, tag=119):
    """A hand drew a card. Not `ordered`: no round was open. `moved` counts the round, `drawn` since loading."""

    ordered: bool
    moved: U16
    drawn: U16 | None
    left: U16 | None


class FaceUp(Message, frozen=True, tag=120):
    """A card lies face up; which one it is the machine does not tell. `card` counts from 1 within the phase."""

    command: CommandId | None
    phase: Phase
    card: U16


class CoverCard(Message, frozen=True, tag=121):
    """The cover card has come out of the well after so many cards of this phase. It is counted nowhere."""

    command: CommandId | None
    phase: Phase
    after: U16


class Pile(Message, frozen=True, tag=122):
    """Cards were put where none were, or the last one is gone: the well is empty, the stack has been taken."""

    place: Place
    cards: bool


class Door(Message, frozen=True, tag=123):
    """The door was opened or closed."""

    open: bool


class Power(Message, frozen=True, tag=124):
    """Power came back; `interrupted` if cards moved or lay in the well when it went."""

    interrupted: bool


class Cleared(Message, frozen=True, tag=125):
    """The path was clear and the well was emptied: how many cards came out, how many were laid into the slot."""

    command: CommandId
    emptied: U16
    delivered: U16 | None


class SelfTested(Message, frozen=True, tag=126):
    """Which sensors and motors did not pass (bit per `Sensor`, bit per `Motor`)."""

    command: CommandId
    bad_sensors: U8
    bad_motors: U8


class RoundEnded(Message, frozen=True, tag=127):
    """A round was closed by Stop or by the next one: how many cards hands drew in it."""

    command: CommandId
    count: U16


class Jogged(Message, frozen=True, tag=249):
    """A motor was turned: its current (mA) while it should have, and whether its encoder saw it turn."""

    command: CommandId
    motor: Motor
    reverse: bool
    current: U16
    turned: bool


Actuation = Load | Dispense | CountStub | StartRound | Stop | SelfTest | ClearJam | Jog | Reset
Question = GetStatus | GetSensors | GetTransits | GetTrail
Event = (
    Progress | Loaded | Dispensed | ShortStack | Stub | Unbalanced | Jam | Stopped | Fault | Drawn | FaceUp | CoverCard
    | Pile | Door | Power | Cleared | SelfTested | RoundEnded | Jogged
)  # fmt: skip
Reply = Status | Sensors | Transits | Trail
# What each end may receive; anything else is an error there.
ToDevice = Actuation | Question | AskCommand | GetReport
ToHost = Event | Reply | DeviceCommands
