"""The dice shaker in the kit: its hands, its rolls, and how it is brought where a check needs it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import (
    Chapter,
    KindProfile,
    NotChecked,
    RequirementFailed,
    SwitchCommands,
    expect,
    preparation,
)
from devices.conformance.shared_checks import SHORT_LIMIT_S, until_idle
from devices.shaker import messages as m

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

CHAPTER: Final = Chapter("DS", "The dice shaker", "docs/devices/shaker.md", needs=("HS-04",))

# How often it is looked whether somebody has shaken (s): often enough to see it while the dice still roll.
LOOK_EVERY_S: Final = 0.05
# After so long without a shake the lid may come off (s): twice the half second that the page asks for.
CALM_S: Final = 1.0

LID_OFF: Final = ManualStep("take the lid off", ("lid:to=off",))
LID_ON: Final = ManualStep("put the lid on", ("lid:to=on",))
OPEN_DOOR: Final = ManualStep("open the dice door", ("door:to=open",))
CLOSE_DOOR: Final = ManualStep("close the dice door", ("door:to=closed",))
THREE_DICE: Final = ManualStep("take the lid off and see that three dice lie in the shaker", ("lid:to=off", "pick_up"))
REPAIR: Final = ManualStep("clean dice and sensors, and let nothing stand in the way of any of them", ("mend",))


async def status_of(visit: CheckSession) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


async def roll_of(visit: CheckSession, command: int) -> m.Roll:
    """Ask what became of a roll."""
    return await visit.ask(m.GetRoll(command), m.Roll)


async def arm_roll(bench: ConformanceBench, visit: CheckSession) -> int:
    """Open a roll; return its name."""
    return (await visit.complete_command(m.Arm(bench.next_id()), SHORT_LIMIT_S)).command


async def shake(bench: ConformanceBench, visit: CheckSession, times: int) -> None:
    """Have it shaken, and wait until so many shakes are counted. The status has the count: Shaken may be left out."""
    loop = asyncio.get_running_loop()
    late = loop.time() + bench.operator.effect_timeout_s
    await bench.request_now(ManualStep(f"shake the shaker {times} times, with its lid on", (f"shake:times={times}",)))
    while (await status_of(visit)).shakes < times:
        if loop.time() > late:
            raise RequirementFailed(f"{times} shakes counted", repr(await status_of(visit)))
        await asyncio.sleep(LOOK_EVERY_S)


async def wait_roll_end(visit: CheckSession, command: int) -> m.Reading | m.NoRoll:
    """Wait for the one end of a roll, and a while longer; Failed if there is none, or another one."""
    await visit.wait_until(
        lambda event: isinstance(event, m.Reading | m.NoRoll) and event.command == command, SHORT_LIMIT_S
    )
    await asyncio.sleep(QUIET_S)
    ends: list[Any] = [event for event in visit.events_about(command) if isinstance(event, m.Reading | m.NoRoll)]
    expect(len(ends) == 1, f"exactly one Reading or NoRoll about {command}", ends)
    result: m.Reading | m.NoRoll = ends[0]
    return result


async def shake_and_uncover(
    bench: ConformanceBench, visit: CheckSession, command: int, step: ManualStep, shakes: int = m.LEAST_SHAKES
) -> Any:
    """Have an open roll shaken and uncovered; return its end."""
    if shakes:
        await shake(bench, visit, shakes)
        await asyncio.sleep(CALM_S)
    await bench.perform(step)
    return await wait_roll_end(visit, command)


async def expect_no_roll(visit: CheckSession, ended: Any, reason: m.Reason) -> None:
    """A roll ended as no roll for this reason, when it happened and when it is asked about; there is no reading."""
    expect(isinstance(ended, m.NoRoll) and ended.reason is reason, f"NoRoll with {reason.value} {reason.name}", ended)
    known = await roll_of(visit, ended.command)
    expected = m.Roll(ended.command, m.Ending.NO_ROLL, ended.shakes, None, reason)
    expect(known == expected, repr(expected), known)
    status = await status_of(visit)
    expect((status.values, status.reason) == (None, reason), f"no values, and reason {reason.value}", status)


async def roll_good_reading(bench: ConformanceBench, visit: CheckSession) -> m.Reading:
    """Have a good roll; a roll that does not count (a die may lean) is rolled again, a few times."""
    for _ in range(5):
        ended = await shake_and_uncover(bench, visit, await arm_roll(bench, visit), LID_OFF)
        if isinstance(ended, m.Reading):
            return ended
        if ended.reason not in (m.Reason.DIE_NOT_FLAT, m.Reason.DIE_OUTSIDE):
            raise RequirementFailed("a Reading of a good roll", repr(ended))
        await _calm_down(bench, visit)
    raise NotChecked("no roll succeeded in five attempts")


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring it to RESTING with three dice under its lid and the door closed, from any state."""
    await until_idle(bench, m, _is_at_rest, "shaker")


async def _calm_down(bench: ConformanceBench, visit: CheckSession) -> None:
    status = await status_of(visit)
    for _ in range(8):
        if await _is_at_rest(bench, visit, status):
            return
        status = await status_of(visit)
    raise RequirementFailed("a shaker that can be brought to its idle state", repr(status))


async def _is_at_rest(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    """Do one step toward idle; return True if it is idle."""
    if status.state is m.State.TESTING:
        await visit.wait_until(lambda event: isinstance(event, m.SelfTested), SHORT_LIMIT_S)
    elif status.state in (m.State.ARMED, m.State.SETTLING):
        await visit.complete_command(m.Disarm(bench.next_id()), SHORT_LIMIT_S)
    elif status.door_open:
        await bench.perform(CLOSE_DOOR)
    elif status.state is m.State.FAULTY:
        await bench.perform(REPAIR)
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    elif status.dice != m.DICE:
        await bench.perform(THREE_DICE)
    elif not status.lid_on:
        await bench.perform(LID_ON)
    else:
        return True
    return False


PROFILE: Final = KindProfile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)), (m.GetSensors(), (m.Sensors,)), (m.GetRoll(1), (m.Roll,))),
    bring_to_idle=bring_to_idle,
    switch=SwitchCommands(on=m.Arm, off=m.Disarm, is_on=lambda status: status.state is m.State.ARMED),
    self_test=m.SelfTest,
    reset=m.Reset,
    stop=m.Disarm,
)
