"""CM: commands and reports. Executed at most once, remembered through sessions and power cuts."""

from devices.conformance.protocol.commands import memory, replies
from devices.conformance.protocol.commands.common import CHAPTER, POWER_CUT

__all__ = ["CHAPTER", "POWER_CUT", "memory", "replies"]
