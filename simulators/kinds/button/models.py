"""The models of a flat button that `pitbox sim up` can start."""

from __future__ import annotations

from typing import Final

from simulators.kinds.button.machine import SimulatedButton
from simulators.kinds.machine_model import MachineModel

MODELS: Final = {
    "button": MachineModel(
        SimulatedButton, "a flat button and the mat that senses it", "where", "slide_button:toward=2"
    ),
}  # fmt: skip
