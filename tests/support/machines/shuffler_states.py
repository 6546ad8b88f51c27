"""Brings a shuffler into a state by a command that keeps it there, and returns its reply to another command."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from devices.shuffler import messages as m
from firmware_bridge.errors import CommandFailed, CommandRefused, OutcomeUnknown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.support.machines.bench import ShufflerTestBench

    Command = Callable[[ShufflerTestBench], Awaitable[object]]


async def begin_in_state(b: ShufflerTestBench, command: Command, state: m.State) -> asyncio.Task[object]:
    """Begin a command and wait until the machine is in the state that it leads to."""

    async def run() -> object:
        return await command(b)

    task = asyncio.create_task(run())
    for _ in range(2000):
        await asyncio.sleep(0.02)
        if (await b.driver.status()).state is state:
            return task
    raise AssertionError(f"never {state.name}")


async def refusal_reason(
    b: ShufflerTestBench, command: Command, running: asyncio.Task[object] | None = None
) -> m.Reason:
    """Give a command and return why it is refused, NONE if it is not; `running` is waited for, however it ends."""
    reason = m.Reason.NONE
    try:
        await command(b)
    except CommandRefused as refused:
        reason = m.Reason(refused.reason)
    if running is not None:
        with contextlib.suppress(CommandFailed, OutcomeUnknown):
            await running
    return reason
