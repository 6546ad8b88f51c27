"""A whole simulated bay door: door, firmware, board, and a hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.bay_door import messages as m
from simulators.engine.machine import SimulatedMachine
from simulators.kinds.bay_door.firmware import BayDoorFirmware
from simulators.kinds.bay_door.mechanics import DoorMechanics

if TYPE_CHECKING:
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions


class SimulatedBayDoor(SimulatedMachine):
    """A bay door on the bench, closed."""

    kind = m.KIND
    firmware: BayDoorFirmware

    def __init__(self, slot: str = "bay_door.1", **options: Unpack[MachineOptions]) -> None:
        super().__init__(slot, **options)
        self.door = DoorMechanics()
        self.firmware = BayDoorFirmware(self.door, self.clock)
        self.assemble(self.firmware, m.ToDevice, "PB-Y1", [m.LIGHTS])

    def summary(self) -> list[str]:
        """Return the true position of the door."""
        return ["the door is open" if self.door.is_open else "the door is closed"]

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of the lamp."""
        self.door.inject(fault)

    def apply_hand_action(self, fault: InjectedFault) -> str:
        """Open or close the door."""
        self.door.move(is_open=fault.kind.name == "open_bay")
        return self.summary()[0]
