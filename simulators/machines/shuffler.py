"""A whole simulated shuffler: mechanics, firmware, board, and people's hands. The cards are the world's."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from devices.shuffler import messages as m
from firmware_bridge.errors import BadFault
from simulators.machine import Machine
from simulators.twins.shuffler import ShufflerTwin
from simulators.world.shuffler import ShufflerMechanics
from simulators.world.table import TRAY, add_foreign, lose_card, swap_card

if TYPE_CHECKING:
    from firmware_bridge.keys import DeviceKey
    from simulators.faults import Fault
    from simulators.world.cards import World


class SimulatedShuffler(Machine):
    """A shuffler on the bench, with a deck of 53 in its intake."""

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
        world: World | None = None,
    ) -> None:
        super().__init__(slot, seed=seed, speed=speed, live_entropy=live_entropy, key=key, world=world)
        self.mechanics = ShufflerMechanics(self.world, self.clock, Random(self.rng.random()), slot)
        self.twin = ShufflerTwin(self.mechanics, Random(self.rng.random()), identifies=identifies)
        self.world.make_deck(self.mechanics.intake, "blue")
        self.assemble(
            self.twin,
            m.ToDevice,
            "PB-S1i" if identifies else "PB-S1",
            [m.COUNTS, m.IDENTIFIES] if identifies else [m.COUNTS],
        )
        self._rng = Random(self.rng.random())

    def summary(self) -> list[str]:
        """How many cards are really inside."""
        return [f"{self.mechanics.inside():3d}  inside the machine in all"]

    def machine_fault(self, fault: Fault) -> None:
        """Let something happen to the mechanics, or to the switches that the firmware reads."""
        if fault.kind.name in ("sort_mode", "door"):
            self.twin.inject(fault)
        else:
            self.mechanics.inject(fault)

    def hands(self, fault: Fault) -> str:
        """Let hands do something with the deck or the path."""
        move = {
            "load": self._load,
            "missing_card": lambda: lose_card(self.world, self._rng, self._pile()),
            "foreign_card": lambda: add_foreign(self.world, self._rng, self._pile()),
            "swapped_card": lambda: swap_card(self.world, self._rng, self._pile()),
            "clear_path": self._clear_path,
            "take_deck": self._take_deck,
        }[fault.kind.name]
        said = move()
        self.twin.hands_moved()
        return said

    def _load(self) -> str:
        return f"{self.world.move_all(TRAY, self.mechanics.intake)} cards put into the intake"

    def _pile(self) -> str:
        """Where the deck can be reached by hand."""
        for place in (self.mechanics.intake, TRAY):
            if self.world.count(place):
                return place
        raise BadFault("the deck is inside the machine; hands cannot reach it")

    def _clear_path(self) -> str:
        self.twin.door(is_open=True)
        taken = self.mechanics.clear_path(TRAY)
        self.twin.door(is_open=False)
        return f"{taken} card{'s' * (taken != 1)} taken off the path by hand"

    def _take_deck(self) -> str:
        return f"{self.world.move_all(self.mechanics.place('presented'), TRAY)} cards taken from the gate to the tray"
