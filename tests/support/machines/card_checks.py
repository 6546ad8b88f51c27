"""Compares the cards that driver and firmware report with the true places of the cards."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar

from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import CommandFailed, CommandRefused, LinkError, OutcomeUnknown, ReplyTimeout
from simulators.kinds.shuffler.continuous_machine import SimulatedContinuousShuffler
from simulators.world.table import IN_PLAY, TRAY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from firmware_bridge.commands import Settled
    from simulators.casino.device_bench import DeviceBench
    from tests.support.machines.bench import ShufflerTestBench

    AnyBench = DeviceBench[Any, Any, Any]

# Tries before a machine counts as not answering: far more than any line of the ladder needs.
TRIES: Final = 20
# Pause between two tries (s), so that answers do not queue up on the lossy line.
PAUSE: Final = 2.0
# Time limit of a shuffler command (s): a count of six decks takes four minutes.
RUNNING_SECONDS: Final = 300

_Answer = TypeVar("_Answer")


async def ask_until_answered(b: DeviceBench[Any, Any, Any], question: Callable[[], Awaitable[_Answer]]) -> _Answer:
    """Ask until an answer comes: questions move nothing, and the lossy line loses many frames in a row."""
    for _ in range(TRIES):
        try:
            return await question()
        except ReplyTimeout:
            await asyncio.sleep(PAUSE)
        except LinkError:
            await b.until_reported()
    return await question()


async def run_command(b: DeviceBench[Any, Any, Any], method: Callable[[int], Awaitable[Settled]]) -> Settled:
    """Run a command; if the line loses its outcome, ask for it, then request a report."""
    command = b.next_id()
    try:
        return await method(command)
    except OutcomeUnknown:
        for _ in range(RUNNING_SECONDS):
            answer: Settled = await ask_until_answered(b, lambda: b.driver.outcome(command))
            if answer.outcome is not Outcome.RUNNING:
                break
            await asyncio.sleep(1)
    await ask_until_answered(b, b.driver.report)
    assert answer.outcome not in (Outcome.UNKNOWN, Outcome.RUNNING)
    if answer.outcome is Outcome.DONE:
        return answer
    error = CommandFailed if answer.outcome is Outcome.FAILED else CommandRefused
    raise error("learned by asking", answer.reason)


def behind_gate(b: ShufflerTestBench) -> int:
    """Return the true number of cards behind the gate."""
    return b.machine.world.count(b.machine.mechanics.gate)


def in_chute(b: ShufflerTestBench) -> int | None:
    """Return the true number of cards in the chute; None without a chute."""
    machine = b.machine
    return machine.world.count(machine.mechanics.chute) if isinstance(machine, SimulatedContinuousShuffler) else None


def faces_behind_gate(b: ShufflerTestBench) -> list[int]:
    """Return the true faces behind the gate, in ascending order."""
    return sorted(card.face for card in b.machine.world.at(b.machine.mechanics.gate))


async def check_reported_cards(b: ShufflerTestBench) -> m.Status:
    """Read the status; fail if view or firmware reports a wrong number. None is not a number."""
    status = await ask_until_answered(b, b.driver.status)
    inside, gate = b.machine.mechanics.inside(), behind_gate(b)
    assert status.inside in (None, inside), f"the firmware says {status.inside} inside, the truth is {inside}"
    assert b.view.inside in (None, inside), f"the view says {b.view.inside} inside, the truth is {inside}"
    assert status.behind_gate in (None, gate), f"the firmware says {status.behind_gate} at the gate, truth {gate}"
    assert b.view.behind_gate in (None, gate), f"the view says {b.view.behind_gate} at the gate, the truth is {gate}"
    if isinstance(status, m.Inventory):
        chute = in_chute(b)
        assert status.in_chute in (None, chute), (
            f"the firmware says {status.in_chute} in the chute, the truth is {chute}"
        )
        assert b.view.in_chute in (None, chute), f"the view says {b.view.in_chute} in the chute, the truth is {chute}"
        assert b.view.outside in (None, status.outside)
    assert b.view.door_open is status.door_open is b.machine.mechanics.door_open
    return status


async def get_all_cards_out(b: ShufflerTestBench, expected: int = 53) -> None:
    """Clear by hand and by machine, look inside, test, eject; fail unless every card is outside the machine."""
    b.inject("clear_path")
    await run_command(b, b.driver.clear_jam)
    await check_reported_cards(b)
    if behind_gate(b):
        await run_command(b, b.driver.eject)
    mechanics, world = b.machine.mechanics, b.machine.world
    assert mechanics.inside() == behind_gate(b) == 0
    outside = {*mechanics.outside, TRAY} | ({IN_PLAY} if b.view.continuous else set())
    assert sum(world.count(place) for place in outside) == expected
    await check_reported_cards(b)
    b.inject("clear_path")  # an inspection of the empty machine
    await run_command(b, b.driver.self_test)
    assert (await check_reported_cards(b)).inside == 0


async def until_true(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Look every 10 ms until a condition is true; TimeoutError after the time limit."""
    for _ in range(round(seconds * 100)):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError("the condition did not become true")


async def until_moving(b: AnyBench) -> None:
    """Wait until a command has arrived and motors run."""
    await until_true(lambda: any(b.machine.mechanics.currents()))
