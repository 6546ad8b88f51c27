"""Requirements on a card shuffler: when idle, in a cycle, halted, in doubt. See docs/devices/shuffler.md.

A machine for a batch is asked all that one for a deck is, and more; one without cycles is asked other things.
"""

from devices.conformance.kinds.shuffler import (
    batch_checks,
    continuous_checks,
    cycle_checks,
    fault_checks,
    halt_checks,
    idle_checks,
    insert_checks,
)
from devices.conformance.kinds.shuffler.continuous_setup import WITHOUT_CYCLES
from devices.conformance.kinds.shuffler.setup import CHAPTER, PROFILE
from devices.shuffler.messages import CONTINUOUS

MODELS = {CONTINUOUS: WITHOUT_CYCLES}

__all__ = [
    "CHAPTER",
    "MODELS",
    "PROFILE",
    "batch_checks",
    "continuous_checks",
    "cycle_checks",
    "fault_checks",
    "halt_checks",
    "idle_checks",
    "insert_checks",
]
