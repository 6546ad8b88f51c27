"""Requirements on a number generator: its draws, its health, its display. See docs/devices/rng.md."""

from devices.conformance.kinds.rng import draw_checks, failure_checks
from devices.conformance.kinds.rng.setup import CHAPTER, PROFILE

__all__ = ["CHAPTER", "PROFILE", "draw_checks", "failure_checks"]
