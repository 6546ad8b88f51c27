"""Requirements on a seat's bet sensor: the latch, and the bets on its spot. See docs/devices/bet_sensor.md."""

from table_controller.conformance.kinds.bet_sensor import bets, latch
from table_controller.conformance.kinds.bet_sensor.machine import CHAPTER, PROFILE

__all__ = ["CHAPTER", "PROFILE", "bets", "latch"]
