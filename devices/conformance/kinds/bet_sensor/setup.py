"""The bet sensor in the kit: its hands, its rounds, and how it is brought where a check needs it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.bet_sensor import messages as m
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import (
    Chapter,
    KindProfile,
    SwitchCommands,
    expect,
    preparation,
)
from devices.conformance.shared_checks import SHORT_LIMIT_S, until_idle

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

CHAPTER: Final = Chapter("BS", "The bet sensor", "docs/devices/bet_sensor.md", needs=("HS-04",))

# Rounds come in pairs, so that those of the switch are never those of a check (2^31 - 1 of each fit into a u32).
_PAIRS: Final = (1 << 31) - 1

PLACE_CHIP: Final = ManualStep("lay one chip on the middle of the spot", ("place_bet",))
TAKE_CHIP: Final = ManualStep("take the chip off the spot", ("take_bet",))
EDGE: Final = ManualStep("lay one chip half over the edge of the spot", ("edge_bet",))
TWO: Final = ManualStep("lay two chips on the spot, one on the other", ("place_bet:chips=2",))
COIN: Final = ManualStep("lay a coin on the spot", ("foreign_object",))
CLEAR: Final = ManualStep("take everything off the spot", ("take_bet:chips=20", "take_object"))
UNPLUG_COIL: Final = ManualStep("unplug the coil of the spot", ("interference",))
PLUG_COIL: Final = ManualStep("plug the coil in again", ("mend",))


async def status_of(visit: CheckSession) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


def fresh_round(bench: ConformanceBench) -> int:
    """Return a round that no check has had."""
    return 2 * (bench.next_id() % _PAIRS) + 2


async def open_round(bench: ConformanceBench, visit: CheckSession) -> int:
    """Let bets be taken for a fresh round; return it."""
    number = fresh_round(bench)
    await visit.complete_command(m.Open(bench.next_id(), number), SHORT_LIMIT_S)
    return number


async def lock_round(visit: CheckSession, number: int, lock_id: int) -> m.Latch:
    """Lock a round; return what was latched, Failed if the lock does not stand."""
    return (await visit.ask(m.Lock(number, lock_id), m.Locked)).latch


async def expect_lock_refused(visit: CheckSession, number: int, lock_id: int, reason: m.Reason) -> m.LockRefused:
    """A lock is refused, with this reason."""
    answer = await visit.ask(m.Lock(number, lock_id), m.Locked, m.LockRefused)
    meant = isinstance(answer, m.LockRefused) and (answer.lock_id, answer.reason) == (lock_id, reason)
    expect(meant, f"LockRefused about {lock_id} with {reason.value} {reason.name}", answer)
    assert isinstance(answer, m.LockRefused)
    return answer


async def change_spot(
    bench: ConformanceBench, visit: CheckSession, step: ManualStep, content: m.SpotContent
) -> list[m.Changed]:
    """Have something done on the spot; return every reported change until it lies there as it should.

    A person's chip may touch the edge before it lies; the last change is the one that counts.
    """
    since = len(visit.events)
    await bench.perform(step)
    fits = await visit.wait_until(
        lambda event: isinstance(event, m.Changed) and event.content is content, bench.operator.effect_timeout_s, since
    )
    await asyncio.sleep(QUIET_S)
    reported = visit.events_of(m.Changed, since)
    expect(fits is not None, f"Changed with {content.name}", reported)
    return reported


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Close it, with nothing latched, nothing on the spot, and a coil that works."""
    await until_idle(bench, m, _is_at_rest, "sensor")


async def _is_at_rest(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    """Do one step toward idle; return True if it is idle."""
    if status.state is m.State.TESTING:
        await visit.wait_until(lambda event: isinstance(event, m.SelfTested), SHORT_LIMIT_S)
    elif status.latch is not None:
        await visit.complete_command(m.Unlock(bench.next_id(), status.latch.lock_id), SHORT_LIMIT_S)
    elif status.state in (m.State.AWAITING, m.State.PLACED):
        await visit.ask(m.Lock(status.round, bench.next_id()), m.Locked, m.LockRefused)
    elif status.reason is m.Reason.SENSING_FAILED:
        await bench.perform(PLUG_COIL)
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    elif status.content is not m.SpotContent.EMPTY:
        await bench.perform(CLEAR)
    elif status.light is not m.Light.OFF:
        await visit.complete_command(m.SetLight(bench.next_id(), m.Light.OFF, 0), SHORT_LIMIT_S)
    else:
        return True
    return False


def _odd(command: int) -> m.Open:
    return m.Open(command, 2 * (command % _PAIRS) + 1)


def _even(command: int) -> m.Open:
    return m.Open(command, 2 * (command % _PAIRS) + 2)


PROFILE: Final = KindProfile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)), (m.GetHealth(), (m.Health,))),
    bring_to_idle=bring_to_idle,
    switch=SwitchCommands(
        on=_odd, off=_even, is_on=lambda status: status.state is m.State.AWAITING and status.round % 2 == 1
    ),
    self_test=m.SelfTest,
    reset=m.Reset,
    refused=lambda command: m.Unlock(command, command),
)
