"""What machines that move cards tell of their last edges: one question and its answer (tags 216, 217), for all of them.

For whoever comes after a halt: which sensor saw what, and when, how long the machine had waited, what its motors drew.
Times of edges fall under the rule that card order never leaves the device: what shows in them must not depend on where
a card is put or comes from.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from firmware_bridge.messages import U8, U16, U32, Message

# The capability that a hello names.
TRAIL: Final = "trail"
# Edges that are kept: those of about five cards. More would tell how full compartments were, and help nobody.
MOST_EDGES: Final = 32
_MOST_MOTORS: Final = 8
Micros = Annotated[int, msgspec.Meta(ge=0, le=0x7FFF_FFFF_FFFF_FFFF)]


class Edge(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One sensor went dark or clear; `at` is microseconds since power-up."""

    sensor: U8
    blocked: bool
    at: Micros


class GetTrail(Message, frozen=True, tag=216):
    """What did the sensors see last? Only to a machine that names TRAIL."""


class Trail(Message, frozen=True, tag=217):
    """The newest edges, the newest last; when motion last broke off, how long it had waited then, and currents (mA)."""

    edges: Annotated[list[Edge], msgspec.Meta(max_length=MOST_EDGES)]
    halted: Micros | None  # microseconds since power-up; null if it has not halted since
    waited: U32  # for the next edge, in microseconds
    currents: Annotated[list[U16], msgspec.Meta(max_length=_MOST_MOTORS)]  # at that moment, by the kind's `Motor`
