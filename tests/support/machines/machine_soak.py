"""The harness of every soak of one machine: a bench over a rung of the ladder, and a soak that plays so many steps."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, Protocol

import pytest

from firmware_bridge.commands import Outcome
from tests.support.machines.bench import LADDER
from tests.support.machines.card_checks import ask_until_answered
from tests.support.wire.seeded_host import seed_the_host

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from simulators.casino.device_bench import DeviceBench

# The line of each run, in turn.
RUNGS: Final = list(LADDER)


class MachineSoak(Protocol):
    """Random steps on one machine. `figures` counts what happened; a broken promise is an AssertionError."""

    figures: Counter[str]

    async def play(self) -> None:
        """Play one step, and compare with the simulated world."""


async def play_soak(
    bench: AbstractAsyncContextManager[Any], make: Callable[[Any], MachineSoak], steps: int
) -> Counter[str]:
    """Play so many steps on a bench; return the figures."""
    async with bench as b:
        soak = make(b)
        for _ in range(steps):
            await soak.play()
    return soak.figures


async def acknowledge_everything(b: DeviceBench[Any, Any, Any]) -> None:
    """Ask for the outcome of every unsettled command, acknowledge, and request a report."""
    for command in b.view.unsettled:
        known = await ask_until_answered(b, lambda command=command: b.driver.outcome(command))  # type: ignore[misc]
        assert known.outcome is not Outcome.RUNNING
    if b.service.state == "faulted":
        b.service.fire("clear")
        b.service.fire("acknowledge")
    await ask_until_answered(b, b.driver.report)


@pytest.fixture
def seeded_soak(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Give every run of a seed the same bytes; thousands of lost links are no news."""
    seed_the_host(monkeypatch)
    caplog.set_level(logging.CRITICAL, "firmware_bridge.supervisor")
