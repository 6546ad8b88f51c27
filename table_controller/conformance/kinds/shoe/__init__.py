"""Requirements on a dealing shoe, automated or manual: by its capabilities. See docs/devices/shoe.md."""

from table_controller.conformance.kinds.shoe import dealing, faulted, manual, pieces, resting
from table_controller.conformance.kinds.shoe.machine import CHAPTER, PROFILE

__all__ = ["CHAPTER", "PROFILE", "dealing", "faulted", "manual", "pieces", "resting"]
