"""Requirements on a dealing shoe, automated or manual: by its capabilities. See docs/devices/shoe.md."""

from devices.conformance.kinds.shoe import dealing_checks
from devices.conformance.kinds.shoe import fault_checks
from devices.conformance.kinds.shoe import manual_checks
from devices.conformance.kinds.shoe import odd_card_checks
from devices.conformance.kinds.shoe import idle_checks
from devices.conformance.kinds.shoe.setup import CHAPTER, PROFILE

__all__ = ["CHAPTER", "PROFILE", "dealing_checks", "fault_checks", "manual_checks", "odd_card_checks", "idle_checks"]
