"""What is asked of a card shuffler: at rest, in a cycle, halted, in doubt. Its page is docs/devices/shuffler.md."""

from table_controller.conformance.kinds.shuffler import cycle, faulted, halted, resting
from table_controller.conformance.kinds.shuffler.machine import CHAPTER, PROFILE

__all__ = ["CHAPTER", "PROFILE", "cycle", "faulted", "halted", "resting"]
