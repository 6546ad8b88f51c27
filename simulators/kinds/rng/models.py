"""The models of a number generator that `pitbox sim up` can start."""

from __future__ import annotations

from typing import Final

from simulators.kinds.machine_model import MachineModel
from simulators.kinds.rng.machine import SimulatedRng

MODELS: Final = {
    "rng": MachineModel(SimulatedRng, "a number generator from 1 to 7 with a display", "draw", "noise_stuck"),
}  # fmt: skip
