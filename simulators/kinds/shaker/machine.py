"""A whole simulated dice shaker with its three dice, and the dealer's hands."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from devices.shaker import messages as m
from simulators.engine.device_clock import DeviceClock
from simulators.engine.machine import SimulatedMachine
from simulators.kinds.shaker.firmware import ShakerFirmware
from simulators.kinds.shaker.mechanics import ShakerMechanics

if TYPE_CHECKING:
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions


class SimulatedShaker(SimulatedMachine):
    """A shaker on the bench, its lid on, three dice inside."""

    kind = m.KIND
    firmware: ShakerFirmware

    def __init__(self, slot: str = "shaker.1", **options: Unpack[MachineOptions]) -> None:
        super().__init__(slot, **options)
        self.mechanics = ShakerMechanics(DeviceClock(options.get("speed", 1.0)), Random(self.rng.random()), slot)
        self.firmware = ShakerFirmware(self.mechanics, self.clock)
        self.assemble(self.firmware, m.ToDevice, "PB-D3", [m.READS])

    def true_counts(self) -> dict[str, int]:
        """Return how many dice are really at each place."""
        return self.mechanics.dice.census()

    def summary(self) -> list[str]:
        """Return the lid position and the true positions of the dice in the shaker."""
        mechanics = self.mechanics
        lid = f"the lid is {'on' if mechanics.lid_on else 'off'}"
        rolling = ", the dice still roll" if mechanics.moving else ""
        return [lid + rolling, *(f"die {d.number}: {d.face_up} up, {d.attitude.value}" for d in mechanics.in_shaker)]

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of dice or sensors."""
        self.mechanics.inject(fault)

    def apply_hand_action(self, fault: InjectedFault) -> str:
        """Apply an action of hands."""
        mechanics = self.mechanics
        match fault.kind.name:
            case "shake":
                times = fault.integer("times")
                mechanics.shake(times, fault.number("strength") / 100)
                return f"shaken {times} times"
            case "lid":
                on = fault.choice_index("to", ("off", "on")) == 1
                mechanics.put_lid(on=on)
                return f"the lid is {'on' if on else 'off'}"
            case "door":
                is_open = fault.choice_index("to", ("closed", "open")) == 1
                mechanics.open_door(is_open=is_open)
                return f"the dice door is {'open' if is_open else 'closed'}"
            case "bump":
                mechanics.bump()
                return "the shaker was bumped"
            case "pick_up":
                return f"{mechanics.pick_up()} dice put back into the shaker"
            case "remove_die":
                mechanics.take_die()
                return "one die was taken out"
            case "swap_die":
                new = mechanics.swap_die(fault)
                return f"die {new.number} replaced another" + (f", loaded for {new.loaded}" * bool(new.loaded))
            case "exchange_dice":
                mechanics.exchange()
                return "three new dice are in the shaker"
        return super().apply_hand_action(fault)
