"""Requirements on a dealing shoe, automated or manual: by its capabilities. See docs/devices/shoe.md."""

from devices.conformance.kinds.shoe import (
    dealing_checks,
    fault_checks,
    identifying_checks,
    idle_checks,
    manual_checks,
    odd_card_checks,
)
from devices.conformance.kinds.shoe.setup import CHAPTER, PROFILE

__all__ = [
    "CHAPTER",
    "PROFILE",
    "dealing_checks",
    "fault_checks",
    "identifying_checks",
    "idle_checks",
    "manual_checks",
    "odd_card_checks",
]
