"""A whole simulated machine: world, mechanics, firmware, board, and people's hands. One `inject` for all faults."""

from __future__ import annotations

import os
from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m
from firmware_bridge.errors import BadFault
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from firmware_bridge.messages import DeviceHello
from simulators.device_clock import DeviceClock
from simulators.faults import describe
from simulators.twins.board import Board
from simulators.twins.shuffler import ShufflerTwin
from simulators.world.cards import DECK_53, World
from simulators.world.shuffler import ShufflerMechanics

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.faults import Fault

FIRMWARE_VERSION: Final = "sim-1.0"
FIRMWARE_DIGEST: Final = sha256(b"pitbox simulated shuffler firmware " + FIRMWARE_VERSION.encode()).digest()
APPROVED: Final = ApprovedFirmware(m.KIND, FIRMWARE_VERSION, FIRMWARE_DIGEST)
TRAY: Final = "tray"  # where hands keep the deck when it is in no machine
RAIL: Final = "under_the_rail"


class SimulatedShuffler:
    """A shuffler on the bench, with a deck of 53 in its intake. The same seed gives the same machine."""

    kind = m.KIND

    def __init__(
        self,
        slot: str = "shuffler.1",
        *,
        seed: int = 0,
        speed: float = 1.0,
        identifies: bool = False,
        live_entropy: bool = False,
        key: DeviceKey | None = None,
        on_unplug: Callable[[float], None] | None = None,
    ) -> None:
        self.slot = slot
        self.seed = seed
        rng = Random(f"{slot} {seed}")
        serial = f"SIM-{seed:04d}-{slot[-1]}"
        self.key = key or DeviceKey(serial, m.KIND, rng.randbytes(32))
        self.world = World()
        clock = DeviceClock(speed)
        self.mechanics = ShufflerMechanics(self.world, clock, Random(rng.random()), slot)
        self.twin = ShufflerTwin(self.mechanics, Random(rng.random()), identifies=identifies)
        capabilities = [m.COUNTS, m.IDENTIFIES] if identifies else [m.COUNTS]
        identity = DeviceHello(
            m.KIND, self.key.serial, "PB-S1i" if identifies else "PB-S1", FIRMWARE_VERSION, FIRMWARE_DIGEST,
            capabilities, 0, bytes(16),
        )  # fmt: skip
        self.board = Board(
            identity, self.key.key, m.ToDevice, self.twin.handle, self.twin.boot, clock, Random(rng.random()),
            os.urandom if live_entropy else Random(rng.random()).randbytes,
        )  # fmt: skip
        self.twin.board = self.board
        self.board.on_halt = self.twin.power_lost
        self.board.on_host = self.twin.host_came
        self.on_unplug = on_unplug
        self._rng = Random(rng.random())
        self.world.make_deck(self.mechanics.intake, "blue")
        self.board.power_on()

    def truth(self) -> dict[str, int]:
        """Where the cards really are."""
        return self.world.census()

    def inject(self, fault: Fault) -> str:
        """Let a fault happen, or hands do something; return a sentence for the bench. BadFault if it cannot be."""
        name = fault.kind.name
        if name == "unplug":
            seconds = fault.number("seconds")
            if self.on_unplug is None:
                raise BadFault("unplug: this simulator has no cable to pull")
            self.on_unplug(seconds)
        elif fault.kind.acts_on == "line":
            self.board.line.inject(fault)
        elif name in ("stall", "sort_mode", "door"):
            self.twin.inject(fault)
        elif fault.kind.acts_on == "board":
            self.board.inject(fault)
        elif fault.kind.acts_on == "machine":
            self.mechanics.inject(fault)
        else:
            return self._hands(name)
        return f"{self.slot}: {describe(fault)}"

    def _hands(self, name: str) -> str:
        move = {
            "load": self._load,
            "missing_card": self._lose_card,
            "foreign_card": self._add_foreign,
            "swapped_card": self._swap,
            "clear_path": self._clear_path,
            "take_deck": self._take_deck,
        }[name]
        said = move()
        self.twin.hands_moved()
        return f"{self.slot}: {said}"

    def _load(self) -> str:
        return f"{self.world.move_all(TRAY, self.mechanics.intake)} cards put into the intake"

    def _pile(self) -> str:
        """Where the deck can be reached by hand."""
        for place in (self.mechanics.intake, TRAY):
            if self.world.count(place):
                return place
        raise BadFault("the deck is inside the machine; hands cannot reach it")

    def _lose_card(self) -> str:
        card = self._rng.choice(self.world.at(self._pile()))
        self.world.move(card, RAIL)
        return "a card fell under the rail"

    def _add_foreign(self) -> str:
        self.world.make(self._rng.choice(DECK_53), "red", self._pile())
        return "a card of another deck joined this one"

    def _swap(self) -> str:
        place = self._pile()
        gone, doubled = self._rng.sample(self.world.at(place), 2)
        self.world.move(gone, RAIL)
        self.world.make(doubled.face, gone.back, place)
        return "one card was replaced by a copy of another"

    def _clear_path(self) -> str:
        self.twin.door(is_open=True)
        taken = self.mechanics.clear_path(TRAY)
        self.twin.door(is_open=False)
        return f"{taken} card{'s' * (taken != 1)} taken off the path by hand"

    def _take_deck(self) -> str:
        return f"{self.world.move_all(self.mechanics.place('presented'), TRAY)} cards taken from the gate to the tray"
