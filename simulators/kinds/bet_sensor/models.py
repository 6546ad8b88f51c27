"""The models of a bet sensor that `pitbox sim up` can start."""

from __future__ import annotations

from typing import Final

from simulators.kinds.bet_sensor.machine import SimulatedBetSensor
from simulators.kinds.machine_model import MachineModel

MODELS: Final = {
    "bet-sensor": MachineModel(SimulatedBetSensor, "a seat's bet sensor with a player", "watch", "place_bet"),
}  # fmt: skip
