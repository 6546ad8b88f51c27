"""The models of a dice shaker that `pitbox sim up` can start."""

from __future__ import annotations

from typing import Final

from simulators.kinds.machine_model import MachineModel
from simulators.kinds.shaker.machine import SimulatedShaker

MODELS: Final = {
    "shaker": MachineModel(SimulatedShaker, "a dice shaker with three dice", "roll", "lean"),
}  # fmt: skip
