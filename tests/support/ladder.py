"""The ladder for scenarios that need one living link from beginning to end. No tests here."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Any, Final

from tests.support.bench import over_the_ladder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# Lines that a scenario may try. The lossy rung loses a third of all round trips; now and then it loses the link.
LINES: Final = 6


class _Losses(logging.Handler):
    """Counts the links that a supervisor lost."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, _: logging.LogRecord) -> None:
        self.count += 1


def over_living_lines(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Run a scenario over the ladder; if it fails where the line died under it, play it again on another line.

    A link that dies takes the events on their way with it. What must be true then is the reconnect tests' business.
    """

    @functools.wraps(test)
    async def played(*, seed: int, rung: str, **details: Any) -> None:
        supervisors = logging.getLogger("firmware_bridge.supervisor")
        others = LINES - 1 if rung == "lossy" else 0
        for line in range(others + 1):
            losses = _Losses()
            supervisors.addHandler(losses)
            try:
                await test(seed=seed + 1000 * line, rung=rung, **details)
            except Exception:
                if not losses.count or line == others:
                    raise
            else:
                return
            finally:
                supervisors.removeHandler(losses)

    laddered: Callable[..., Awaitable[None]] = over_the_ladder(played)
    return laddered
