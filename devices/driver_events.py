"""Events that every driver publishes, and the part of a view that all kinds share."""

from __future__ import annotations

from typing import Any

import msgspec

from firmware_bridge.commands import Outcome, Report, Settled
from firmware_bridge.errors import PitboxError
from firmware_bridge.messages import DeviceHello


class LinkUp(msgspec.Struct, frozen=True):
    """A device has proved its identity. Its state is not known yet."""

    hello: DeviceHello


class LinkDown(msgspec.Struct, frozen=True):
    """The link to the device is down, or could not be opened."""

    cause: PitboxError


class Reported(msgspec.Struct, frozen=True):
    """The first event after every handshake: the device's boot, latest commands, and inventory."""

    hello: DeviceHello
    report: Report
    inventory: Any  # the status message of the kind
    rebooted: bool = False  # the boot id differs from the previous one


class OutcomeLost(msgspec.Struct, frozen=True):
    """A command was sent and its outcome is unknown; the device must be asked before it returns to service."""

    command: int


class DeviceRefused(msgspec.Struct, frozen=True):
    """A device refused a command: nothing moved. `message` is the name of what was sent."""

    command: int
    message: str
    reason: int


# The events that every driver publishes; a Settled may come unasked or as an answer.
CommonEvent = LinkUp | LinkDown | Reported | OutcomeLost | DeviceRefused | Settled


class DeviceView(msgspec.Struct, frozen=True):
    """The known state of a device; each kind adds its own fields."""

    connected: bool = False
    unsettled: frozenset[int] = frozenset()  # commands with an unknown outcome; kept after the link is down


def unsettled_after(unsettled: frozenset[int], event: object) -> frozenset[int]:
    """Return the commands with an unknown outcome after an event."""
    if isinstance(event, OutcomeLost):
        return unsettled | {event.command}
    if isinstance(event, Settled) and event.outcome is not Outcome.RUNNING:
        return unsettled - {event.command}
    return unsettled
