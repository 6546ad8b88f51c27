"""What every simulated machine is made of: identity, key, clock, board, line, and one `inject`. No kind of machine."""

from __future__ import annotations

import os
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, Union, get_args

from firmware_bridge.errors import BadFault
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from firmware_bridge.messages import DeviceHello
from simulators.device_clock import DeviceClock
from simulators.faults import describe, parse_fault
from simulators.twins.board import Board
from simulators.world.cards import World

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import Enum

    from firmware_bridge.messages import Message
    from simulators.faults import Fault

FIRMWARE_VERSION: Final = "sim-1.0"


def approved(kind: str) -> ApprovedFirmware:
    """Return the entry of the approved list for the simulated firmware of a kind."""
    digest = sha256(f"pitbox simulated {kind} firmware {FIRMWARE_VERSION}".encode()).digest()
    return ApprovedFirmware(kind, FIRMWARE_VERSION, digest)


class Twin(Protocol):
    """A firmware twin, as its machine sees it."""

    board: Board

    @property
    def state(self) -> Enum:
        """What the firmware is doing."""

    def handle(self, message: Any) -> Message:
        """Answer one message of the host."""

    def boot(self) -> None:
        """Start after power came."""

    def power_lost(self) -> None:
        """Power is gone: whatever moves stops where it is."""

    def host_came(self) -> None:
        """A session began: say at once what a host must not miss."""

    def inject(self, fault: Fault) -> None:
        """Let something happen that concerns the firmware and its switches."""


class Machine:
    """A machine on the bench. The same slot and seed give the same machine, byte for byte.

    A kind's own class makes the parts from `self.rng` and `self.clock`, then calls `assemble`.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        slot: str,
        *,
        seed: int = 0,
        speed: float = 1.0,
        live_entropy: bool = False,
        key: DeviceKey | None = None,
        world: World | None = None,
    ) -> None:
        self.slot = slot
        self.seed = seed
        self.rng = Random(f"{slot} {seed}")
        self.key = key or DeviceKey(f"SIM-{seed:04d}-{_short(slot)}", self.kind, self.rng.randbytes(32))
        self.world = World() if world is None else world
        self.alone = world is None  # on the bench it brings its own cards; at a table they come by themselves
        self.clock = DeviceClock(speed)
        self.on_unplug: Callable[[float], None] | None = None
        self.board: Board
        self.firmware: Twin
        self._live_entropy = live_entropy

    def assemble(self, firmware: Twin, messages: Any, model: str, capabilities: list[str]) -> None:
        """Put the firmware on its board and switch the power on. `messages`: what the firmware understands."""
        listed = approved(self.kind)
        identity = DeviceHello(
            self.kind, self.key.serial, model, listed.version, listed.digest, capabilities, 0, bytes(16)
        )
        self.firmware = firmware
        self.board = firmware.board = Board(
            identity, self.key.key, messages, firmware.handle, firmware.boot, self.clock, Random(self.rng.random()),
            os.urandom if self._live_entropy else Random(self.rng.random()).randbytes,
        )  # fmt: skip
        self.board.on_halt = firmware.power_lost
        self.board.on_host = firmware.host_came
        self.board.power_on()

    def truth(self) -> dict[str, int]:
        """Where the cards really are."""
        return self.world.census()

    def summary(self) -> list[str]:
        """Return sentences about the truth that the census does not tell."""
        return []

    def inject(self, text: str) -> str:
        """Let a fault happen, or hands do something; return a sentence for the bench. BadFault if it cannot be."""
        return self.clock.at_once(self._inject, parse_fault(text, self.kind))

    def _inject(self, fault: Fault) -> str:
        kind = fault.kind
        if kind.name == "unplug":
            seconds = fault.number("seconds")
            if self.on_unplug is None:
                raise BadFault("unplug: this simulator has no cable to pull")
            self.on_unplug(seconds)
        elif kind.acts_on == "line":
            self.board.line.inject(fault)
        elif kind.acts_on == "board":
            self.board.inject(fault)
        elif kind.acts_on == "firmware":
            self.firmware.inject(fault)
        elif kind.acts_on == "machine":
            self.machine_fault(fault)
        else:
            return f"{self.slot}: {self.hands(fault)}"
        return f"{self.slot}: {describe(fault)}"

    def machine_fault(self, fault: Fault) -> None:
        """Let something happen to the mechanics."""
        raise BadFault(f"{fault.kind.name} does not happen to a {self.kind}")

    def hands(self, fault: Fault) -> str:
        """Let hands do something; return a sentence about it."""
        raise BadFault(f"hands cannot do {fault.kind.name} to a {self.kind}")


def _short(slot: str) -> str:
    """Return what tells slots of one table apart in a serial number, as in SIM-0007-1 for shuffler.1."""
    kind, _, number = slot.rpartition(".")
    number = number[-8:]
    return number if kind in ("shuffler", "") else f"{kind[:3].upper()}{number}"


def without(messages: Any, *unknown: type[Message]) -> Any:
    """Return what an older firmware understands: a union of messages without some of them."""
    return Union[tuple(message for message in get_args(messages) if message not in unknown)]  # noqa: UP007
