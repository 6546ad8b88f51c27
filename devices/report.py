"""What every driver tells its listener besides the machine's own events: link up, link down, first report."""

from __future__ import annotations

from typing import Any

import msgspec

from firmware_bridge.commands import Report
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
