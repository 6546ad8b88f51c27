"""The bet sensor in the kit: its hands, its rounds, and how it is brought where a check needs it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.bet_sensor import messages as m
from table_controller.conformance.hands import Step
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import Chapter, Failed, Profile, Switch, expect, preparing

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

CHAPTER: Final = Chapter("BS", "The bet sensor", "docs/devices/bet_sensor.md", needs=("HS-04",))

# A self-test, the longest that a sensor does (s).
SHORT: Final = 30.0
# Rounds come in pairs, so that those of the switch are never those of a check (2^31 - 1 of each fit into a u32).
_PAIRS: Final = (1 << 31) - 1

PLACE: Final = Step("lay one chip on the middle of the spot", ("place_bet",))
TAKE: Final = Step("take the chip off the spot", ("take_bet",))
EDGE: Final = Step("lay one chip half over the edge of the spot", ("edge_bet",))
TWO: Final = Step("lay two chips on the spot, one on the other", ("place_bet:chips=2",))
COIN: Final = Step("lay a coin on the spot", ("foreign_object",))
CLEAR: Final = Step("take everything off the spot", ("take_bet:chips=20", "take_object"))
UNPLUG_COIL: Final = Step("unplug the coil of the spot", ("interference",))
PLUG_COIL: Final = Step("plug the coil in again", ("mend",))


async def status_of(visit: Visit) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


def fresh_round(bench: Bench) -> int:
    """Return a round that no check has had."""
    return 2 * (bench.next_id() % _PAIRS) + 2


async def opened(bench: Bench, visit: Visit) -> int:
    """Let bets be taken for a fresh round; return it."""
    number = fresh_round(bench)
    await visit.done(m.Open(bench.next_id(), number), SHORT)
    return number


async def locked(visit: Visit, number: int, lock_id: int) -> m.Latch:
    """Lock a round; return what was latched, Failed if the lock does not stand."""
    return (await visit.ask(m.Lock(number, lock_id), m.Locked)).latch


async def not_locked(visit: Visit, number: int, lock_id: int, reason: m.Reason) -> m.LockRefused:
    """A lock is refused, with this reason."""
    answer = await visit.ask(m.Lock(number, lock_id), m.Locked, m.LockRefused)
    meant = isinstance(answer, m.LockRefused) and (answer.lock_id, answer.reason) == (lock_id, reason)
    expect(meant, f"LockRefused about {lock_id} with {reason.value} {reason.name}", answer)
    assert isinstance(answer, m.LockRefused)
    return answer


async def changed(bench: Bench, visit: Visit, step: Step, lies: m.Lies) -> list[m.Changed]:
    """Have something done on the spot; return every change that was told until it lies there as it should.

    A person's chip may touch the edge before it lies; the last change is the one that counts.
    """
    since = len(visit.events)
    await bench.do(step)
    fits = await visit.until(
        lambda event: isinstance(event, m.Changed) and event.lies is lies, bench.hands.patience, since
    )
    await asyncio.sleep(QUIET)
    reported = visit.told(m.Changed, since)
    expect(fits is not None, f"Changed with {lies.name}", reported)
    return reported


@preparing
async def rest(bench: Bench) -> None:
    """Close it, with nothing latched, nothing on the spot, and a coil that works."""
    async with bench.visit() as visit:
        status = await status_of(visit)
        for _ in range(8):
            if await _is_at_rest(bench, visit, status):
                return
            status = await status_of(visit)
    raise Failed("a sensor that can be brought to its idle state", repr(status))


async def _is_at_rest(bench: Bench, visit: Visit, status: m.Status) -> bool:
    """Do one step towards idle; return True if it is idle."""
    if status.state is m.State.TESTING:
        await visit.until(lambda event: isinstance(event, m.SelfTested), SHORT)
    elif status.latch is not None:
        await visit.done(m.Unlock(bench.next_id(), status.latch.lock_id), SHORT)
    elif status.state in (m.State.AWAITING, m.State.PLACED):
        await visit.ask(m.Lock(status.round, bench.next_id()), m.Locked, m.LockRefused)
    elif status.reason is m.Reason.SENSING_FAILED:
        await bench.do(PLUG_COIL)
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
    elif status.lies is not m.Lies.EMPTY:
        await bench.do(CLEAR)
    elif status.light is not m.Light.OFF:
        await visit.done(m.SetLight(bench.next_id(), m.Light.OFF, 0), SHORT)
    else:
        return True
    return False


def _odd(command: int) -> m.Open:
    return m.Open(command, 2 * (command % _PAIRS) + 1)


def _even(command: int) -> m.Open:
    return m.Open(command, 2 * (command % _PAIRS) + 2)


PROFILE: Final = Profile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)), (m.GetHealth(), (m.Health,))),
    rest=rest,
    switch=Switch(on=_odd, off=_even, is_on=lambda status: status.state is m.State.AWAITING and status.round % 2 == 1),
    self_test=m.SelfTest,
    reset=m.Reset,
    refused=lambda command: m.Unlock(command, command),
)
