"""Holds back what signs and pages show from the first lock of a round to the last confirmation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from table_controller.table.state import TableState

# The longest window (s): each sensor confirms within milliseconds. After a restart with open bets a round stays in this
# state until its time is over or a person decides, and that person must see the table.
LONGEST_S: Final = 1.0


class LockWindow:
    """The window of the current round, for one viewer of the table."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._round = 0
        self._since = 0.0

    def is_open(self, state: TableState) -> bool:
        """Return whether sensors are being locked now."""
        if state.progressive.state != mc.LOCKING or state.progressive.overdue:
            return False
        if self._round != state.round.number:
            self._round, self._since = state.round.number, self._loop.time()
        return self._loop.time() - self._since < LONGEST_S
