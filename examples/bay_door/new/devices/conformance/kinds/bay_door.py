"""Requirements on a bay door: open at once, and until it is closed. See docs/devices/bay_door.md."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.bay_door import messages as m
from devices.conformance.assertions import (
    begin_command,
    broken_meanwhile,
    expect_one_end,
    expect_refused,
    expect_same_except,
    expect_settled,
    run_command,
    wait_restarted,
)
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import Chapter, KindProfile, NotChecked, RequirementFailed, expect, preparation
from firmware_bridge.commands import Outcome

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

CHAPTER: Final = Chapter("BD", "The bay door", "docs/devices/bay_door.md", needs=("HS-04",))

# A self-test (s).
SHORT_LIMIT_S: Final = 30.0

OPEN_DOOR: Final = ManualStep("open the door", ("open_bay",))
CLOSE: Final = ManualStep("close the door", ("close_bay",))
UNPLUG_LAMP: Final = ManualStep("unplug the lamp", ("dead_lamp",))
PLUG_LAMP: Final = ManualStep("plug the lamp in again", ("mend",))


async def status_of(visit: CheckSession) -> m.Status:
    """Return its status: OPEN exactly with the reason 494."""
    status = await visit.ask(m.GetStatus(), m.Status)
    is_open = status.state is m.State.OPEN
    expect(status.reason is (m.Reason.OPEN if is_open else m.Reason.NONE), "494 exactly in OPEN", status)
    return status


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring it to CLOSED."""
    async with bench.session() as visit:
        for _ in range(4):
            state = (await visit.ask(m.GetStatus(), m.Status)).state
            if state is m.State.CLOSED:
                return
            if state is m.State.OPEN:
                await bench.perform(CLOSE)
            else:
                await asyncio.sleep(1.0)
    raise RequirementFailed("a closed door", state.name)


PROFILE: Final = KindProfile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)),),
    bring_to_idle=bring_to_idle,
    self_test=m.SelfTest,
    reset=m.Reset,
)


@CHAPTER.requirement(1, "Self-test")
async def tested(bench: ConformanceBench) -> None:
    """A self-test with a good lamp ends in SelfTested and then Settled DONE: CLOSED, as before."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        command = await begin_command(visit, m.SelfTest(bench.next_id()))
        settled = expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.DONE, m.Reason.NONE)
        await asyncio.sleep(QUIET_S)
        reported: m.SelfTested = expect_one_end(visit, command, m.SelfTested, settled)
        expect(reported.lamp, "a good lamp", reported)
        expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(2, "Self-test")
async def testing(bench: ConformanceBench) -> None:
    """During a self-test it is TESTING, and another SelfTest is refused with 420."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        command = await begin_command(visit, m.SelfTest(bench.next_id()))
        status = await status_of(visit)
        await expect_refused(visit, m.SelfTest(bench.next_id()), m.Reason.BUSY, "in TESTING")
        if visit.events_about(command):
            raise NotChecked("the test ended before it could be observed; run the simulator more slowly")
        expect(status.state is m.State.TESTING, "TESTING", status)
        await visit.wait_settled(command, SHORT_LIMIT_S)


@CHAPTER.requirement(10, "The door", needs_operator=True)
async def opened(bench: ConformanceBench) -> None:
    """An opening is reported at once and counted, and the door is OPEN until it is closed."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        await bench.perform(OPEN_DOOR)
        event = await visit.wait_for_event(m.Opened, bench.operator.effect_timeout_s)
        expect(event == m.Opened(before.openings + 1), f"Opened for the time {before.openings + 1}", event)
        status = await status_of(visit)
        expect((status.state, status.openings) == (m.State.OPEN, before.openings + 1), "OPEN, one more", status)
        await expect_refused(visit, m.SelfTest(bench.next_id()), m.Reason.OPEN, "in OPEN")
        await bench.perform(CLOSE)
        await visit.wait_for_event(m.Closed, bench.operator.effect_timeout_s)
        expect_same_except(before, await status_of(visit), openings=before.openings + 1)


@CHAPTER.requirement(11, "The door", needs_operator=True, needs=("BD-10",))
async def open_over_restart(bench: ConformanceBench) -> None:
    """An open door is OPEN after a restart, and openings are counted from 0."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        await bench.perform(OPEN_DOOR)
        await visit.wait_for_event(m.Opened, bench.operator.effect_timeout_s)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        status = await status_of(visit)
        expect((status.state, status.openings) == (m.State.OPEN, 0), "OPEN, 0 openings", status)
    await bring_to_idle(bench)


@CHAPTER.requirement(12, "Self-test", needs_operator=True, needs=("BD-01",))
async def dead_lamp(bench: ConformanceBench) -> None:
    """A self-test without a lamp reports it, and fails with 436."""
    await bring_to_idle(bench)
    async with bench.session() as visit, broken_meanwhile(bench, UNPLUG_LAMP, PLUG_LAMP):
        settled = await run_command(visit, m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
        expect_settled(settled, Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
        reported: m.SelfTested = expect_one_end(visit, settled.command, m.SelfTested, settled)
        expect(not reported.lamp, "a bad lamp", reported)
