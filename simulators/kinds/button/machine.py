"""A whole simulated flat button: the mat under the layout, and the hands that move the button."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from devices.button import messages as m
from simulators.engine.machine import SimulatedMachine
from simulators.kinds.button.firmware import ButtonFirmware
from simulators.kinds.button.mechanics import ButtonMat

if TYPE_CHECKING:
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions


class SimulatedButton(SimulatedMachine):
    """A mat on the bench, its button in front of the dealer."""

    kind = m.KIND
    firmware: ButtonFirmware

    def __init__(self, slot: str = "button.1", **options: Unpack[MachineOptions]) -> None:
        super().__init__(slot, **options)
        self.mat = ButtonMat(Random(self.rng.random()))
        self.firmware = ButtonFirmware(self.mat, self.clock)
        self.assemble(self.firmware, m.ToDevice, "PB-B7", [m.LOCATES])

    def summary(self) -> list[str]:
        """Return the true places of the buttons."""
        lines = [f"a button at place {b.place}" + _slide_text(b.share, b.toward) for b in self.mat.buttons]
        return lines or ["no button is on the layout"]

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of magnet, sensors or surroundings."""
        self.mat.inject(fault)

    def apply_hand_action(self, fault: InjectedFault) -> str:
        """Move buttons by hand."""
        match fault.kind.name:
            case "put_button":
                self.mat.put(fault.integer("at"))
                return f"the button is at place {fault.integer('at')}"
            case "second_button":
                self.mat.put_second(fault.integer("at"))
                return f"another button is at place {fault.integer('at')}"
            case "take_buttons":
                return f"{self.mat.remove_buttons()} taken off the layout"
            case "slide_button":
                self.mat.slide(fault.integer("toward"), fault.number("percent") / 100)
                return f"the button was pushed toward place {fault.integer('toward')}"
        return super().apply_hand_action(fault)


def _slide_text(share: float, toward: int) -> str:
    return f", {share:.0%} of the way to {toward}" if share else ""
