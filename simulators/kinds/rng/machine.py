"""A whole simulated number generator: noise from a seed or from the operating system, and a display."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING

from devices.rng import messages as m
from simulators.engine.machine import SimulatedMachine
from simulators.kinds.rng.firmware import RngFirmware
from simulators.kinds.rng.mechanics import Display, NoiseSource

if TYPE_CHECKING:
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions


class SimulatedRng(SimulatedMachine):
    """A generator on the bench, its display blank."""

    kind = m.KIND
    firmware: RngFirmware

    def __init__(self, slot: str = "rng.1", **options: Unpack[MachineOptions]) -> None:
        super().__init__(slot, **options)
        seeded = Random(self.rng.random()).randbytes
        self.noise = NoiseSource(os.urandom if options.get("live_entropy") else seeded, Random(self.rng.random()))
        self.display = Display()
        self.firmware = RngFirmware(self.noise, self.display, self.clock)
        self.assemble(self.firmware, m.ToDevice, "PB-N7", [m.DISPLAYS])

    def shown_number(self) -> int | None:
        """Return the number that people read on the display; None if it shows no number."""
        return next((number for number, lit in m.SEGMENTS.items() if lit == self.display.lit), None)

    def summary(self) -> list[str]:
        """Return what the display shows."""
        read = self.shown_number()
        shown = "is blank" if self.display.lit == m.BLANK else f"shows {read or 'no number'}"
        return [f"the display {shown} (segments {self.display.lit:#04x})"]

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of noise source or display."""
        if fault.kind.name == "mend":
            self.noise.mend()
            self.display.mend()
        elif fault.kind.name.startswith("segment"):
            self.display.inject(fault)
        else:
            self.noise.inject(fault)
