"""CM: commands and reports. Executed at most once, remembered through sessions and power cuts."""

from table_controller.conformance.protocol.commands import answers, memory
from table_controller.conformance.protocol.commands.orders import CHAPTER, POWER_CUT

__all__ = ["CHAPTER", "POWER_CUT", "answers", "memory"]
