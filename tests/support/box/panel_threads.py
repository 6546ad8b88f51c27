"""PIN checks and file reads for the panel's tests without threads, since virtual time has none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.access.people_file import CredentialHolder
    from table_controller.access.pin_check import PinChecker


async def run_inline(work: Callable[..., Any], *args: Any) -> Any:
    """Do in the loop what a thread does elsewhere."""
    return work(*args)


def check_inline(checker: PinChecker) -> Any:
    """Check PINs in the loop."""

    async def check(id_: str, pin: str, place: str) -> CredentialHolder:
        await asyncio.sleep(0)
        return checker.check(id_, pin, place)

    return check
