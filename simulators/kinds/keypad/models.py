"""The models of a keypad that `pitbox sim up` can start."""

from __future__ import annotations

from typing import Final

from simulators.kinds.keypad.machine import SimulatedKeypad
from simulators.kinds.machine_model import MachineModel

MODELS: Final = {
    "keypad": MachineModel(SimulatedKeypad, "the dealer's keypad", "watch", "press:key=start_game"),
}  # fmt: skip
