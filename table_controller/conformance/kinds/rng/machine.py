"""The number generator in the kit: how it draws, and how it is brought to idle."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.rng import messages as m
from firmware_bridge.commands import Outcome
from table_controller.conformance.hands import Step
from table_controller.conformance.judging import begin, settled_as
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import Chapter, Failed, Profile, expect, preparing

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

CHAPTER: Final = Chapter("RN", "The number generator", "docs/devices/rng.md", needs=("HS-04",))

# A draw or a self-test (s).
SHORT: Final = 30.0
MEND: Final = Step("connect the noise source and the display as they belong", ("mend",))


async def status_of(visit: Visit) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


async def number_of(visit: Visit, command: int) -> int | None:
    """Ask which number a command drew."""
    past = await visit.ask(m.GetDraw(command), m.PastDraw)
    expect(past.command == command, f"PastDraw about {command}", past)
    return past.number


async def drawn(bench: Bench, visit: Visit) -> m.Drawn:
    """Have a number drawn: exactly one, with the segments that show it."""
    command = await begin(visit, m.Draw(bench.next_id()))
    settled = settled_as(await visit.end(command, SHORT), Outcome.DONE, m.Reason.NONE)
    about = visit.about(command)
    one = len(about) == 2 and isinstance(about[0], m.Drawn) and about[1] == settled
    expect(one, "one Drawn and then one Settled about it, and nothing else", about)
    result: m.Drawn = about[0]
    expected = m.SEGMENTS[result.number]
    expect(result.segments == expected, f"segments {expected:#04x}, which show {result.number}", result)
    return result


async def cleared(bench: Bench, visit: Visit) -> None:
    """Have the display blanked."""
    await visit.done(m.Clear(bench.next_id()), SHORT)


async def fails(bench: Bench, visit: Visit, reason: m.Reason) -> m.HealthFailed:
    """A draw ends without a number for this reason, which is told and kept: FAILED, and the display blank."""
    before = await status_of(visit)
    command = await begin(visit, m.Draw(bench.next_id()))
    settled_as(await visit.end(command, SHORT), Outcome.FAILED, reason)
    await asyncio.sleep(QUIET)
    expect(not visit.told(m.Drawn), "no number", visit.events)
    expect(await number_of(visit, command) is None, "no number when asked", await number_of(visit, command))
    reported = visit.told(m.HealthFailed)
    expect([failed.reason for failed in reported] == [reason], f"one HealthFailed with {reason.value}", reported)
    expected = m.Status(m.State.FAILED, before.draw, None, m.BLANK, before.draws, reason)
    status = await status_of(visit)
    expect(status == expected, repr(expected), status)
    return reported[0]


@preparing
async def rest(bench: Bench) -> None:
    """Bring it to IDLE: healthy, and the display blank."""
    async with bench.visit() as visit:
        status = await status_of(visit)
        for _ in range(6):
            if await _is_at_rest(bench, visit, status):
                return
            status = await status_of(visit)
    raise Failed("a generator that can be brought to its idle state", repr(status))


async def _is_at_rest(bench: Bench, visit: Visit, status: m.Status) -> bool:
    """Do one step towards idle; return True if it is idle."""
    if status.state in (m.State.DRAWING, m.State.TESTING):
        await visit.until(lambda event: isinstance(event, m.Drawn | m.HealthFailed | m.SelfTested), SHORT)
    elif status.state is m.State.SHOWING:
        await cleared(bench, visit)
    elif status.state is m.State.FAILED:
        await bench.do(MEND)
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
    else:
        return True
    return False


PROFILE: Final = Profile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)), (m.GetHealth(), (m.Health,)), (m.GetDraw(1), (m.PastDraw,))),
    rest=rest,
    self_test=m.SelfTest,
    reset=m.Reset,
)
