"""Requirements on a card shuffler: when idle, in a cycle, halted, in doubt. See docs/devices/shuffler.md.

A machine for a batch is asked all that one for a deck is, and more; one without cycles is asked other things.
"""

from devices.shuffler.messages import CONTINUOUS
from table_controller.conformance.kinds.shuffler import batch, continuous, cycle, faulted, halted, resting
from table_controller.conformance.kinds.shuffler.machine import CHAPTER, PROFILE
from table_controller.conformance.kinds.shuffler.store import WITHOUT_CYCLES

MODELS = {CONTINUOUS: WITHOUT_CYCLES}

__all__ = ["CHAPTER", "MODELS", "PROFILE", "batch", "continuous", "cycle", "faulted", "halted", "resting"]
