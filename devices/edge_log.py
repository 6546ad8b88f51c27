"""The edge log of machines that move cards: the latest sensor edges (messages with tags 216 and 217).

For the technician after a halt: when each sensor changed, how long the machine had waited, and what its motors drew.
Card order never leaves the device, so the times of edges must not depend on the compartment that a card goes to or
comes from.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from firmware_bridge.messages import U8, U16, U32, Message

# The capability in a hello.
EDGE_LOG: Final = "trail"
# Edges that are kept: those of about five cards. More would reveal how full compartments were.
MAX_EDGES: Final = 32
_MOST_MOTORS: Final = 8
Micros = Annotated[int, msgspec.Meta(ge=0, le=0x7FFF_FFFF_FFFF_FFFF)]


class SensorEdge(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One sensor became blocked or clear; `at_us` is microseconds since power-up."""

    sensor: U8
    blocked: bool
    at_us: Micros


class GetEdgeLog(Message, frozen=True, tag=216):
    """Request the edge log. Only for a machine with the capability TRAIL."""


class EdgeLog(Message, frozen=True, tag=217):
    """The latest edges in time order; when motion last halted, how long it had waited then, and motor currents (mA)."""

    edges: Annotated[list[SensorEdge], msgspec.Meta(max_length=MAX_EDGES)]
    halted_us: Micros | None  # microseconds since power-up; null if it has not halted since power-up
    waited_us: U32  # for the next edge, in microseconds
    currents: Annotated[list[U16], msgspec.Meta(max_length=_MOST_MOTORS)]  # at that moment, by the kind's `Motor`
