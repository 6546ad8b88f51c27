"""The models that `pitbox sim` can start: a name, what it is, how it is made. The machines are elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simulators.machines.shuffler import SimulatedShuffler

if TYPE_CHECKING:
    from simulators.machine import Machine


class Model:
    """One model: the machine's class with its options, and what a newcomer may try with it."""

    def __init__(self, machine: type[Any], about: str, action: str, fault: str, **options: Any) -> None:
        self.machine: type[Machine] = machine
        self.about = about
        self.action = action
        self.fault = fault
        self.options = options


MODELS: Final = {
    "shuffler": Model(SimulatedShuffler, "a single-deck shuffler that counts", "shuffle", "jam:segment=lift"),
    "shuffler-identifying": Model(
        SimulatedShuffler, "a single-deck shuffler that reads card faces", "shuffle", "swapped_card", identifies=True
    ),
}


def make(model: str, slot: str, **options: Any) -> Machine:
    """Build a machine of a model for a slot."""
    found = MODELS[model]
    return found.machine(slot, **found.options, **options)
