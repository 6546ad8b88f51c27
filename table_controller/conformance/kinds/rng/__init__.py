"""Requirements on a number generator: its draws, its health, its display. See docs/devices/rng.md."""

from table_controller.conformance.kinds.rng import draws, failures
from table_controller.conformance.kinds.rng.machine import CHAPTER, PROFILE

__all__ = ["CHAPTER", "PROFILE", "draws", "failures"]
