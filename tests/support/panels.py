"""PIN checks and file reads for the panel's tests without threads, since virtual time has none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.people import Person
    from table_controller.people_check import Checker


async def here(work: Callable[..., Any], *args: Any) -> Any:
    """Do in the loop what a thread does elsewhere."""
    return work(*args)


def inline(checker: Checker) -> Any:
    """Check PINs in the loop."""

    async def check(id_: str, pin: str, place: str) -> Person:
        await asyncio.sleep(0)
        return checker.check(id_, pin, place)

    return check
