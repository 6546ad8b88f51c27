"""A whole simulated meter sign: display, firmware, board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.meter_sign import messages as m
from simulators.engine.machine import SimulatedMachine
from simulators.kinds.meter_sign.firmware import MeterSignFirmware
from simulators.kinds.meter_sign.mechanics import SignDisplay

if TYPE_CHECKING:
    from typing import Unpack

    from simulators.engine.faults import InjectedFault
    from simulators.engine.machine import MachineOptions


class SimulatedMeterSign(SimulatedMachine):
    """A meter sign on the bench."""

    kind = m.KIND
    firmware: MeterSignFirmware

    def __init__(self, slot: str = "meter_sign.1", **options: Unpack[MachineOptions]) -> None:
        options["speed"] = 1.0  # nothing in a sign moves; staleness is measured in the box's seconds
        super().__init__(slot, **options)
        self.glass = SignDisplay()
        self.firmware = MeterSignFirmware(self.glass, self.clock)
        self.assemble(self.firmware, m.ToDevice, "PB-M1", [m.READS_BACK])

    def true_counts(self) -> dict[str, int]:
        """Return nothing: a sign holds no cards or chips."""
        return {}

    def summary(self) -> list[str]:
        """Return the readable rows."""
        rows = [f"{row.name.lower():8}|{self.glass.read(row)}|" for row in m.Row]
        return [*rows, *(["marked as stale"] if self.glass.stale else [])]

    def apply_machine_fault(self, fault: InjectedFault) -> None:
        """Apply a fault of the display."""
        self.glass.inject(fault)
