"""The parts that every simulated machine has: identity, key, clock, board, line, and one `inject`."""

from __future__ import annotations

import os
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypedDict, Union, get_args

from firmware_bridge.errors import BadFault
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from firmware_bridge.messages import DeviceHello
from simulators.engine.board import Board
from simulators.engine.device_clock import DeviceClock
from simulators.engine.faults import describe, parse_fault
from simulators.world.cards import World

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import Enum

    from firmware_bridge.messages import Message
    from simulators.engine.faults import InjectedFault

FIRMWARE_VERSION: Final = "sim-1.0"


def approved_firmware(kind: str) -> ApprovedFirmware:
    """Return the entry of the approved list for the simulated firmware of a kind."""
    digest = sha256(f"pitbox simulated {kind} firmware {FIRMWARE_VERSION}".encode()).digest()
    return ApprovedFirmware(kind, FIRMWARE_VERSION, digest)


class SimulatedFirmware(Protocol):
    """The interface between a machine and its simulated firmware."""

    board: Board

    @property
    def state(self) -> Enum:
        """What the firmware is doing."""

    def handle(self, message: Any) -> Message:
        """Answer one message of the host."""

    def boot(self) -> None:
        """Start after power-up."""

    def power_lost(self) -> None:
        """Power is lost: all motion stops where it is."""

    def on_session_start(self) -> None:
        """A session started: send the events that a host must not miss."""

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware or of its switches."""


class MachineOptions(TypedDict, total=False):
    """What every machine can be given: its seed, speed, source of entropy, key, and the world that it is in."""

    seed: int
    speed: float
    live_entropy: bool
    key: DeviceKey | None
    world: World | None


class SimulatedMachine:
    """A machine on the bench. The same slot and seed give the same machine, byte for byte.

    The class of a kind makes the parts from `self.rng` and `self.clock`, then calls `assemble`.
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
        self.has_own_world = world is None  # on the bench it has its own cards; at a table the world has them
        self.clock = DeviceClock(speed)
        self.on_unplug: Callable[[float], None] | None = None
        self.board: Board
        self.firmware: SimulatedFirmware
        self._live_entropy = live_entropy

    def assemble(self, firmware: SimulatedFirmware, messages: Any, model: str, capabilities: list[str]) -> None:
        """Put the firmware on its board and switch the power on. `messages`: the messages that the firmware accepts."""
        listed = approved_firmware(self.kind)
        identity = DeviceHello(
            self.kind, self.key.serial, model, listed.version, listed.digest, capabilities, 0, bytes(16)
        )
        self.firmware = firmware
        self.board = firmware.board = Board(
            identity, self.key.key, messages, firmware.handle, firmware.boot, self.clock, Random(self.rng.random()),
            os.urandom if self._live_entropy else Random(self.rng.random()).randbytes,
        )  # fmt: skip
        self.board.on_power_off = firmware.power_lost
        self.board.on_session_start = firmware.on_session_start
        self.board.power_on()

    def true_counts(self) -> dict[str, int]:
        """Return how many cards are really at each place."""
        return self.world.census()

    def summary(self) -> list[str]:
        """Return lines about the true state that the counts do not show."""
        return []

    def inject(self, text: str) -> str:
        """Apply a fault or a hand action; return a sentence about it. BadFault if it is impossible."""
        return self.clock.run_at_one_instant(self._inject, parse_fault(text, self.kind))

    def _inject(self, fault: InjectedFault) -> str:
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
            self.apply_machine_fault(fault)
        else:
            return f"{self.slot}: {self.apply_hand_action(fault)}"
        return f"{self.slot}: {describe(fault)}"

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of the mechanics."""
        raise BadFault(f"{fault.kind.name} does not happen to a {self.kind}")

    def apply_hand_action(self, fault: InjectedFault) -> str:
        """Apply a hand action; return a sentence about it."""
        raise BadFault(f"hands cannot do {fault.kind.name} to a {self.kind}")


def _short(slot: str) -> str:
    """Return the part of a serial number that differs between slots, as in SIM-0007-1 for shuffler.1."""
    kind, _, number = slot.rpartition(".")
    number = number[-8:]
    return number if kind in ("shuffler", "") else f"{kind[:3].upper()}{number}"


def exclude_messages(messages: Any, *unknown: type[Message]) -> Any:
    """Return a union of messages without some of them, for a firmware that is older."""
    return Union[tuple(message for message in get_args(messages) if message not in unknown)]  # noqa: UP007
