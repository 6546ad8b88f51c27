"""The models of a shuffler that `pitbox sim up` can start."""

from __future__ import annotations

from typing import Final

from simulators.kinds.machine_model import MachineModel
from simulators.kinds.shuffler.continuous_machine import SimulatedContinuousShuffler
from simulators.kinds.shuffler.machine import SimulatedShuffler

MODELS: Final = {
    "shuffler": MachineModel(SimulatedShuffler, "a single-deck shuffler that counts", "shuffle", "jam:segment=lift"),
    "shuffler-identifying": MachineModel(
        SimulatedShuffler, "a single-deck shuffler that reads card faces", "shuffle", "swapped_card", identifies=True
    ),
    "shuffler-batch": MachineModel(
        SimulatedShuffler, "a shuffler for six decks that counts", "shuffle", "cards_left_inside:count=16", batch=True
    ),
    "shuffler-batch-identifying": MachineModel(
        SimulatedShuffler,
        "a shuffler for six decks that reads card faces",
        "shuffle",
        "swapped_card",
        batch=True,
        identifies=True,
    ),
    "shuffler-inserting": MachineModel(
        SimulatedShuffler, "a single-deck shuffler that inserts its stack into the shoe", "shuffle",
        "chute_jam:cards=20", inserts=True,
    ),
    "shuffler-batch-inserting": MachineModel(
        SimulatedShuffler, "a shuffler for six decks that inserts its stack into the shoe", "shuffle",
        "chute_gap:cards=1", batch=True, inserts=True,
    ),
    "shuffler-continuous": MachineModel(
        SimulatedContinuousShuffler, "a continuous shuffler with six decks", "count", "double_feed:offset=0"
    ),
}  # fmt: skip
