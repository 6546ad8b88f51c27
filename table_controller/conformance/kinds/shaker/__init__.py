"""Requirements on a dice shaker: under its lid, and of every roll. See docs/devices/shaker.md."""

from table_controller.conformance.kinds.shaker import resting, rolls
from table_controller.conformance.kinds.shaker.machine import CHAPTER, PROFILE

__all__ = ["CHAPTER", "PROFILE", "resting", "rolls"]
