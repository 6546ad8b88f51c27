"""The models of a meter sign that `pitbox sim up` can start."""

from __future__ import annotations

from typing import Final

from simulators.kinds.machine_model import MachineModel
from simulators.kinds.meter_sign.machine import SimulatedMeterSign

MODELS: Final = {
    "meter-sign": MachineModel(
        SimulatedMeterSign, "a sign that shows the meter", "shown", "dead_digit:row=value,digit=2"
    ),
}  # fmt: skip
