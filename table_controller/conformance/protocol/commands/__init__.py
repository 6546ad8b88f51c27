"""CM: commands and reports. At most once, always to be asked about, remembered over sessions and power cuts."""

from table_controller.conformance.protocol.commands import answers, memory
from table_controller.conformance.protocol.commands.orders import CHAPTER, POWER_CUT

__all__ = ["CHAPTER", "POWER_CUT", "answers", "memory"]
