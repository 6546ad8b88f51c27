"""The number generator in the kit: how it draws, and how it is brought to idle."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.conformance.assertions import begin_command, expect_settled
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import Chapter, KindProfile, expect, preparation
from devices.conformance.shared_checks import SHORT_LIMIT_S, until_idle
from devices.rng import messages as m
from firmware_bridge.commands import Outcome

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

CHAPTER: Final = Chapter("RN", "The number generator", "docs/devices/rng.md", needs=("HS-04",))

MEND: Final = ManualStep("connect the noise source and the display as they belong", ("mend",))


async def status_of(visit: CheckSession) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


async def number_of(visit: CheckSession, command: int) -> int | None:
    """Ask which number a command drew."""
    past = await visit.ask(m.GetDraw(command), m.PastDraw)
    expect(past.command == command, f"PastDraw about {command}", past)
    return past.number


async def draw_number(bench: ConformanceBench, visit: CheckSession) -> m.Drawn:
    """Have a number drawn: exactly one, with the segments that show it."""
    command = await begin_command(visit, m.Draw(bench.next_id()))
    settled = expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.DONE, m.Reason.NONE)
    about = visit.events_about(command)
    one = len(about) == 2 and isinstance(about[0], m.Drawn) and about[1] == settled
    expect(one, "one Drawn and then one Settled about it, and nothing else", about)
    result: m.Drawn = about[0]
    expected = m.SEGMENTS[result.number]
    expect(result.segments == expected, f"segments {expected:#04x}, which show {result.number}", result)
    return result


async def clear_display(bench: ConformanceBench, visit: CheckSession) -> None:
    """Have the display blanked."""
    await visit.complete_command(m.Clear(bench.next_id()), SHORT_LIMIT_S)


async def expect_draw_fails(bench: ConformanceBench, visit: CheckSession, reason: m.Reason) -> m.HealthFailed:
    """A draw ends without a number for this reason, which is reported and kept: FAILED, and the display blank."""
    before = await status_of(visit)
    command = await begin_command(visit, m.Draw(bench.next_id()))
    expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.FAILED, reason)
    await asyncio.sleep(QUIET_S)
    expect(not visit.events_of(m.Drawn), "no number", visit.events)
    expect(await number_of(visit, command) is None, "no number when asked", await number_of(visit, command))
    reported = visit.events_of(m.HealthFailed)
    expect([failed.reason for failed in reported] == [reason], f"one HealthFailed with {reason.value}", reported)
    expected = m.Status(m.State.FAILED, before.draw, None, m.BLANK, before.draws, reason)
    status = await status_of(visit)
    expect(status == expected, repr(expected), status)
    return reported[0]


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring it to IDLE: healthy, and the display blank."""
    await until_idle(bench, m, _is_at_rest, "generator")


async def _is_at_rest(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    """Do one step toward idle; return True if it is idle."""
    if status.state in (m.State.DRAWING, m.State.TESTING):
        await visit.wait_until(lambda event: isinstance(event, m.Drawn | m.HealthFailed | m.SelfTested), SHORT_LIMIT_S)
    elif status.state is m.State.SHOWING:
        await clear_display(bench, visit)
    elif status.state is m.State.FAILED:
        await bench.perform(MEND)
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    else:
        return True
    return False


PROFILE: Final = KindProfile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)), (m.GetHealth(), (m.Health,)), (m.GetDraw(1), (m.PastDraw,))),
    bring_to_idle=bring_to_idle,
    self_test=m.SelfTest,
    reset=m.Reset,
)
