"""What every driver tells its listener besides the machine's own events, and what every view keeps of it."""

from __future__ import annotations

from typing import Any

import msgspec

from firmware_bridge.commands import Outcome, Report, Settled
from firmware_bridge.errors import PitboxError
from firmware_bridge.messages import DeviceHello


class LinkUp(msgspec.Struct, frozen=True):
    """A device has proved who it is. Nothing is known of its state yet."""

    hello: DeviceHello


class LinkDown(msgspec.Struct, frozen=True):
    """The way to the device is gone, or could not be made."""

    cause: PitboxError


class Reported(msgspec.Struct, frozen=True):
    """After every handshake, before anything else is asked: boot, last commands, and the machine's own inventory."""

    hello: DeviceHello
    report: Report
    inventory: Any  # the device kind's own status message
    rebooted: bool = False  # its boot id is not the one that this driver saw before


class Misread(msgspec.Struct, frozen=True):
    """A command was sent and its outcome is unknown; the device must be asked before it serves again."""

    command: int


class Refused(msgspec.Struct, frozen=True):
    """A device refused what it was told to do: nothing moved, and nothing is in doubt. `act` is the message's name."""

    command: int
    act: str
    reason: int


# What every driver tells; a Settled is a command's end, as it came or as it was asked for.
Told = LinkUp | LinkDown | Reported | Misread | Refused | Settled


class View(msgspec.Struct, frozen=True):
    """What is known of any device; each kind adds its own."""

    connected: bool = False
    unsettled: frozenset[int] = frozenset()  # commands whose outcome nobody knows; they outlive the link


def unsettled_after(unsettled: frozenset[int], event: object) -> frozenset[int]:
    """Return the commands in doubt after an event: one more that was misread, one less that has ended."""
    if isinstance(event, Misread):
        return unsettled | {event.command}
    if isinstance(event, Settled) and event.outcome is not Outcome.RUNNING:
        return unsettled - {event.command}
    return unsettled
