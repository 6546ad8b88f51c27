"""Commands of a continuous shuffler that must fail or be refused, and its return to work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from devices.shuffler.state import verdict
from firmware_bridge.errors import CommandFailed, CommandRefused
from simulators.kinds.shuffler.continuous_firmware import CHUTE_ROOM
from tests.support.machines.card_checks import ask_until_answered, get_all_cards_out, run_command
from tests.support.machines.continuous_store import FEW, check_inventory, count_set

if TYPE_CHECKING:
    from devices.shuffler import messages as m
    from tests.support.machines.bench import ShufflerTestBench


async def expect_failure(b: ShufflerTestBench, reason: m.Reason, method: str = "count_all", *extra: int) -> None:
    """Run a command that must fail for this reason and latch the slot."""
    with pytest.raises(CommandFailed) as failed:
        await run_command(b, lambda command: getattr(b.driver, method)(command, *extra))
    assert failed.value.reason == reason
    assert b.service.state == "faulted"


async def expect_refusal(b: ShufflerTestBench, reason: m.Reason, method: str, *extra: int) -> None:
    with pytest.raises(CommandRefused) as refusal:
        await run_command(b, lambda command: getattr(b.driver, method)(command, *extra))
    assert refusal.value.reason == reason


async def return_to_work(b: ShufflerTestBench, expected: int = FEW) -> None:
    """Return to work after a halt: empty, inspect, test, put all cards into the intake, count."""
    b.inject("door:to=closed")
    b.inject(f"draw:cards={CHUTE_ROOM}")
    await get_all_cards_out(b, expected)
    b.inject("take_deck")
    b.inject("load")
    b.inject("discard")
    assert verdict(await count_set(b), expected) == []
    b.service.fire("clear")
    b.service.fire("acknowledge")
    await ask_until_answered(b, b.driver.report)
    assert b.service.state == "in_service"
    await check_inventory(b, outside=0, total=expected)
