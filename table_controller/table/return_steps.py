"""The steps of a return to service, and the evidence that a machine or a person gives for them."""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec


class ReturnStep(Enum):
    """The steps, in order. The texts are stored in files and in the journal: do not change them."""

    CLEAR = "take every card off the path, close the door, have the machine empty itself"
    PATH_EMPTY = "see that every sensor of the path is clear"
    SENSOR_TEST = "have the machine test its sensors"
    MOTOR_JOG = "turn every motor by itself"
    ONE_CARD = "send one card through"
    FULL_DECK = "send the whole deck through, in test mode"
    COUNT = "count the deck by hand"
    RETURN = "a second person returns it to service"


SERVICE_STEPS: Final = tuple(ReturnStep)
STAFF_STEPS: Final = (ReturnStep.CLEAR, ReturnStep.PATH_EMPTY, ReturnStep.COUNT, ReturnStep.RETURN)
# Who may return a machine to service.
RETURNING_ROLE: Final = "floorperson"


class Requirements(msgspec.Struct, frozen=True):
    """What the steps of one fault require. `service`: a technician; otherwise table staff may clear it."""

    service: bool
    expected: int | None  # cards of the deck
    has_door: bool
    motors: tuple[str, ...] = ()  # motors that can be jogged; none if the firmware cannot


# --- evidence ---------------------------------------------------------------------------------------------------------


class DoorMoved(msgspec.Struct, frozen=True, tag="DoorMoved"):
    """The door was opened or closed."""

    open: bool


class Emptied(msgspec.Struct, frozen=True, tag="Emptied"):
    """The machine's path was clear and it emptied itself."""


class SensorsRead(msgspec.Struct, frozen=True, tag="SensorsRead"):
    """The sensors were read; `dark` are the dark ones of the path."""

    dark: tuple[str, ...]


class Tested(msgspec.Struct, frozen=True, tag="Tested"):
    """A self-test ended: the number of failed sensors and motors."""

    bad_sensors: int
    bad_motors: int


class MotorJogged(msgspec.Struct, frozen=True, tag="MotorJogged"):
    """One motor was jogged: its current (mA), and whether it turned."""

    motor: str
    reverse: bool
    current: int
    turned: bool


class CardsMoved(msgspec.Struct, frozen=True, tag="CardsMoved"):
    """Cards passed through, as many out as in, and no deck was rejected."""

    cards: int


class DeckCounted(msgspec.Struct, frozen=True, tag="DeckCounted"):
    """A person counted the deck by hand."""

    cards: int
    by: str


class Returned(msgspec.Struct, frozen=True, tag="Returned"):
    """A person signed for the return to service."""

    by: str
    role: str


class FaultedAgain(msgspec.Struct, frozen=True, tag="FaultedAgain"):
    """The machine halted again, or its link was lost: earlier evidence is void."""

    what: str


# What only a machine can show, and all evidence, with what people enter.
MachineEvidence = DoorMoved | Emptied | Tested | MotorJogged | CardsMoved | FaultedAgain
Evidence = DoorMoved | Emptied | SensorsRead | Tested | MotorJogged | CardsMoved | DeckCounted | Returned | FaultedAgain
