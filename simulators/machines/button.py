"""A whole simulated flat button: the mat under the layout, and the hands that move the button."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from devices.button import messages as m
from simulators.machine import Machine
from simulators.twins.button import ButtonTwin
from simulators.world.button import ButtonMat

if TYPE_CHECKING:
    from firmware_bridge.keys import DeviceKey
    from simulators.faults import Fault
    from simulators.world.cards import World


class SimulatedButton(Machine):
    """A mat on the bench, its button in front of the dealer."""

    kind = m.KIND
    firmware: ButtonTwin

    def __init__(
        self,
        slot: str = "button.1",
        *,
        seed: int = 0,
        speed: float = 1.0,
        live_entropy: bool = False,
        key: DeviceKey | None = None,
        world: World | None = None,
    ) -> None:
        super().__init__(slot, seed=seed, speed=speed, live_entropy=live_entropy, key=key, world=world)
        self.mat = ButtonMat(Random(self.rng.random()))
        self.firmware = ButtonTwin(self.mat, self.clock)
        self.assemble(self.firmware, m.ToDevice, "PB-B7", [m.LOCATES])

    def summary(self) -> list[str]:
        """Return the true places of the buttons."""
        lines = [f"a button at place {b.place}" + _slide_text(b.share, b.toward) for b in self.mat.buttons]
        return lines or ["no button is on the layout"]

    def machine_fault(self, fault: Fault) -> None:
        """Apply a fault of magnet, sensors or surroundings."""
        self.mat.inject(fault)

    def hands(self, fault: Fault) -> str:
        """Move buttons by hand."""
        match fault.kind.name:
            case "put_button":
                self.mat.put(fault.whole("at"))
                return f"the button is at place {fault.whole('at')}"
            case "second_button":
                self.mat.put_second(fault.whole("at"))
                return f"another button is at place {fault.whole('at')}"
            case "take_buttons":
                return f"{self.mat.take()} taken off the layout"
            case "slide_button":
                self.mat.slide(fault.whole("toward"), fault.number("percent") / 100)
                return f"the button was pushed toward place {fault.whole('toward')}"
        return super().hands(fault)


def _slide_text(share: float, toward: int) -> str:
    return f", {share:.0%} of the way to {toward}" if share else ""
