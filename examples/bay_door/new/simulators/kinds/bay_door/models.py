"""The model of a bay door that `pitbox sim up` can start."""

from __future__ import annotations

from typing import Final

from simulators.kinds.bay_door.machine import SimulatedBayDoor
from simulators.kinds.machine_model import MachineModel

MODELS: Final = {
    "bay-door": MachineModel(SimulatedBayDoor, "the door of the bay below the table", "status", "open_bay"),
}
