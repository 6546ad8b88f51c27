"""Requirements on a seat's bet sensor: the latch, and the bets on its spot. See docs/devices/bet_sensor.md."""

from devices.conformance.kinds.bet_sensor import chip_checks, latch_checks
from devices.conformance.kinds.bet_sensor.setup import CHAPTER, PROFILE

__all__ = ["CHAPTER", "PROFILE", "chip_checks", "latch_checks"]
