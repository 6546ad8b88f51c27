"""Commands of a continuous shuffler that must fail or be refused, and its return to work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from devices.shuffler.state import verdict
from firmware_bridge.errors import CommandFailed, CommandRefused
from simulators.twins.continuous import CHUTE_ROOM
from tests.support.beliefs import all_cards_back, ask, carried_out
from tests.support.store import FEW, counted, inventory_holds

if TYPE_CHECKING:
    from devices.shuffler import messages as m
    from tests.support.bench import Bench


async def fails(b: Bench, reason: m.Reason, method: str = "count_all", *extra: int) -> None:
    """Run a command that must fail for this reason and latch the slot."""
    with pytest.raises(CommandFailed) as failed:
        await carried_out(b, lambda command: getattr(b.driver, method)(command, *extra))
    assert failed.value.reason == reason
    assert b.service.state == "faulted"


async def refused(b: Bench, reason: m.Reason, method: str, *extra: int) -> None:
    with pytest.raises(CommandRefused) as refusal:
        await carried_out(b, lambda command: getattr(b.driver, method)(command, *extra))
    assert refusal.value.reason == reason


async def back_to_work(b: Bench, expected: int = FEW) -> None:
    """Return to work after a halt: empty, inspect, test, put all cards into the intake, count."""
    b.inject("door:to=closed")
    b.inject(f"draw:cards={CHUTE_ROOM}")
    await all_cards_back(b, expected)
    b.inject("take_deck")
    b.inject("load")
    b.inject("discard")
    assert verdict(await counted(b), expected) == []
    b.service.clear()
    b.service.acknowledge()
    await ask(b, b.driver.report)
    assert b.service.state == "in_service"
    await inventory_holds(b, outside=0, total=expected)
