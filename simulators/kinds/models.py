"""The models that `pitbox sim` can start, by name: those of each kind, from `simulators/kinds/<kind>/models.py`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from devices.message_registry import KIND_MESSAGES

if TYPE_CHECKING:
    from simulators.engine.machine import SimulatedMachine
    from simulators.kinds.machine_model import MachineModel

MODELS: Final[dict[str, MachineModel]] = {
    name: model
    for messages in KIND_MESSAGES
    for name, model in import_module(f"simulators.kinds.{messages.KIND}.models").MODELS.items()
}


def make_machine(model: str, slot: str, **options: Any) -> SimulatedMachine:
    """Build a machine of a model for a slot."""
    chosen = MODELS[model]
    return chosen.machine(slot, **chosen.options, **options)
