"""Requirements on a dice shaker: under its lid, and of every roll. See docs/devices/shaker.md."""

from devices.conformance.kinds.shaker import idle_checks, roll_checks
from devices.conformance.kinds.shaker.setup import CHAPTER, PROFILE

__all__ = ["CHAPTER", "PROFILE", "idle_checks", "roll_checks"]
