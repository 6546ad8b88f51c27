"""A whole simulated continuous shuffler, and the hands of a dealer at its chute."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from devices.edge_log import EDGE_LOG
from devices.shuffler import messages as m
from firmware_bridge.errors import BadFault
from simulators.kinds.shuffler.continuous_firmware import ContinuousFirmware
from simulators.kinds.shuffler.continuous_mechanics import ContinuousMechanics
from simulators.kinds.shuffler.machine import SimulatedShuffler
from simulators.world.table import IN_PLAY

if TYPE_CHECKING:
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions


class SimulatedContinuousShuffler(SimulatedShuffler):
    """A continuous shuffler on the bench, its six decks in the intake."""

    mechanics: ContinuousMechanics

    def __init__(self, slot: str = "shuffler.1", **options: Unpack[MachineOptions]) -> None:
        super().__init__(slot, batch=True, **options)

    def _build(self, *, batch: bool, identifies: bool) -> None:
        assert batch
        assert not identifies, "it counts"
        self.mechanics = ContinuousMechanics(self.world, self.clock, Random(self.rng.random()), self.slot)
        self.firmware = ContinuousFirmware(self.mechanics, Random(self.rng.random()), self.size)
        if self.has_own_world:
            self.world.make_deck(self.mechanics.intake, "blue", self.size.full_set)
        self.assemble(self.firmware, m.ToContinuousShuffler, "PB-C6", [m.COUNTS, m.CONTINUOUS, EDGE_LOG, m.JOGS])

    def _hands(self, fault: InjectedFault) -> str:
        match fault.kind.name:
            case "draw":
                return self._draw(fault.integer("cards"))
            case "draw_pair":
                return f"{len(self.mechanics.draw(IN_PLAY, at_once=2))} cards drawn as one"
            case "discard":
                return self._discard(fault.integer("cards"))
            case "swap_batches":
                raise BadFault("swap_batches: a continuous shuffler has one set of cards")
            case _:
                return super()._hands(fault)

    def _draw(self, cards: int) -> str:
        drawn = sum(len(self.mechanics.draw(IN_PLAY)) for _ in range(cards))
        return f"{drawn} cards drawn from the chute"

    def _discard(self, cards: int) -> str:
        pile = self.world.at(IN_PLAY)
        for card in pile[: cards or None]:
            self.world.move(card, self.mechanics.intake)
        return f"{min(cards or len(pile), len(pile))} cards put into the intake"
