"""Exit codes of every `pitbox` command, for scripts."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FAULT: Final = 1  # a device refused or failed, or a check failed
USAGE: Final = 2  # the command line or the configuration cannot be used
LINK: Final = 3  # a device cannot be reached
TRUST: Final = 4  # a device or a person failed to prove its identity
UNKNOWN: Final = 5  # the outcome of a command is unknown
NO_BOX: Final = 6  # no box answers, or another one uses the data folder
LOCKED: Final = 7  # the box is locked
REFUSED: Final = 8  # the requester is not allowed to do this
INTERRUPTED: Final = 130
