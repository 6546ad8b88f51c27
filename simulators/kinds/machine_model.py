"""One model of a simulated machine, as `pitbox sim up` starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulators.engine.machine import SimulatedMachine


class MachineModel:
    """One model: its class and options, and an action and a fault that a newcomer can try."""

    def __init__(self, machine: type[Any], about: str, action: str, fault: str, **options: Any) -> None:
        self.machine: type[SimulatedMachine] = machine
        self.description = about
        self.suggested_action = action
        self.suggested_fault = fault
        self.options = options
