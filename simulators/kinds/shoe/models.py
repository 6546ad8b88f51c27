"""The models of a shoe that `pitbox sim up` can start."""

from __future__ import annotations

from typing import Final

from simulators.kinds.machine_model import MachineModel
from simulators.kinds.shoe.machine import SimulatedManualShoe, SimulatedShoe

MODELS: Final = {
    "shoe": MachineModel(SimulatedShoe, "an automated dealing shoe", "load", "jam:segment=exit,card=5"),
    "shoe-manual": MachineModel(
        SimulatedManualShoe, "a manual dealing shoe that counts what is drawn", "load", "draw:cards=7"
    ),
    "shoe-identifying": MachineModel(
        SimulatedShoe, "an automated dealing shoe that reads every card it deals", "load", "card_unread:card=3",
        identifies=True,
    ),
    "shoe-manual-identifying": MachineModel(
        SimulatedManualShoe, "a manual dealing shoe that reads every card drawn", "load", "draw:cards=7",
        identifies=True,
    ),
}  # fmt: skip
