"""The dice shaker in the kit: its hands, its rolls, and how it is brought where a check needs it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.shaker import messages as m
from table_controller.conformance.hands import Step
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import Chapter, Failed, NotChecked, Profile, Switch, expect, preparing

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

CHAPTER: Final = Chapter("DS", "The dice shaker", "docs/devices/shaker.md", needs=("HS-04",))

# A self-test, and a roll from its lid to its end, with the 8 s in which the dice may come to idle (s).
SHORT: Final = 30.0
# How often it is looked whether somebody has shaken (s): often enough to see it while the dice still roll.
LOOK_EVERY: Final = 0.05
# After so long without a shake the lid may come off (s): twice the half second that the page asks for.
CALM: Final = 1.0

LID_OFF: Final = Step("take the lid off", ("lid:to=off",))
LID_ON: Final = Step("put the lid on", ("lid:to=on",))
OPEN_DOOR: Final = Step("open the dice door", ("door:to=open",))
CLOSE_DOOR: Final = Step("close the dice door", ("door:to=closed",))
THREE_DICE: Final = Step("take the lid off and see that three dice lie in the shaker", ("lid:to=off", "pick_up"))
REPAIR: Final = Step("clean dice and sensors, and let nothing stand in the way of any of them", ("mend",))


async def status_of(visit: Visit) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


async def roll_of(visit: Visit, command: int) -> m.Roll:
    """Ask what became of a roll."""
    return await visit.ask(m.GetRoll(command), m.Roll)


async def armed(bench: Bench, visit: Visit) -> int:
    """Open a roll; return its name."""
    return (await visit.done(m.Arm(bench.next_id()), SHORT)).command


async def shaken(bench: Bench, visit: Visit, times: int) -> None:
    """Have it shaken, and wait until so many shakes are counted. The status says it: Shaken may be left out."""
    loop = asyncio.get_running_loop()
    late = loop.time() + bench.hands.patience
    await bench.now(Step(f"shake the shaker {times} times, with its lid on", (f"shake:times={times}",)))
    while (await status_of(visit)).shakes < times:
        if loop.time() > late:
            raise Failed(f"{times} shakes counted", repr(await status_of(visit)))
        await asyncio.sleep(LOOK_EVERY)


async def end_of(visit: Visit, command: int) -> m.Reading | m.NoRoll:
    """Wait for the one end of a roll, and a while longer; Failed if there is none, or another one."""
    await visit.until(lambda event: isinstance(event, m.Reading | m.NoRoll) and event.command == command, SHORT)
    await asyncio.sleep(QUIET)
    ends: list[Any] = [event for event in visit.about(command) if isinstance(event, m.Reading | m.NoRoll)]
    expect(len(ends) == 1, f"exactly one Reading or NoRoll about {command}", ends)
    result: m.Reading | m.NoRoll = ends[0]
    return result


async def uncovered(bench: Bench, visit: Visit, command: int, step: Step, shakes: int = m.LEAST_SHAKES) -> Any:
    """Have an open roll shaken and uncovered; return its end."""
    if shakes:
        await shaken(bench, visit, shakes)
        await asyncio.sleep(CALM)
    await bench.do(step)
    return await end_of(visit, command)


async def no_roll(visit: Visit, ended: Any, reason: m.Reason) -> None:
    """A roll ended as no roll for this reason, when it happened and when it is asked about; there is no reading."""
    expect(isinstance(ended, m.NoRoll) and ended.reason is reason, f"NoRoll with {reason.value} {reason.name}", ended)
    known = await roll_of(visit, ended.command)
    expected = m.Roll(ended.command, m.Ending.NO_ROLL, ended.shakes, None, reason)
    expect(known == expected, repr(expected), known)
    status = await status_of(visit)
    expect((status.values, status.reason) == (None, reason), f"no values, and reason {reason.value}", status)


async def reading(bench: Bench, visit: Visit) -> m.Reading:
    """Have a good roll; a roll that does not count (a die may lean) is rolled again, a few times."""
    for _ in range(5):
        ended = await uncovered(bench, visit, await armed(bench, visit), LID_OFF)
        if isinstance(ended, m.Reading):
            return ended
        if ended.reason not in (m.Reason.DIE_NOT_FLAT, m.Reason.DIE_OUTSIDE):
            raise Failed("a Reading of a good roll", repr(ended))
        await _calm_down(bench, visit)
    raise NotChecked("no roll succeeded in five attempts")


@preparing
async def rest(bench: Bench) -> None:
    """Bring it to RESTING with three dice under its lid and the door closed, from any state."""
    async with bench.visit() as visit:
        await _calm_down(bench, visit)


async def _calm_down(bench: Bench, visit: Visit) -> None:
    status = await status_of(visit)
    for _ in range(8):
        if await _is_at_rest(bench, visit, status):
            return
        status = await status_of(visit)
    raise Failed("a shaker that can be brought to its idle state", repr(status))


async def _is_at_rest(bench: Bench, visit: Visit, status: m.Status) -> bool:
    """Do one step towards idle; return True if it is idle."""
    if status.state is m.State.TESTING:
        await visit.until(lambda event: isinstance(event, m.SelfTested), SHORT)
    elif status.state in (m.State.ARMED, m.State.SETTLING):
        await visit.done(m.Disarm(bench.next_id()), SHORT)
    elif status.door_open:
        await bench.do(CLOSE_DOOR)
    elif status.state is m.State.FAULTY:
        await bench.do(REPAIR)
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
    elif status.dice != m.DICE:
        await bench.do(THREE_DICE)
    elif not status.lid_on:
        await bench.do(LID_ON)
    else:
        return True
    return False


PROFILE: Final = Profile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)), (m.GetSensors(), (m.Sensors,)), (m.GetRoll(1), (m.Roll,))),
    rest=rest,
    switch=Switch(on=m.Arm, off=m.Disarm, is_on=lambda status: status.state is m.State.ARMED),
    self_test=m.SelfTest,
    reset=m.Reset,
    stop=m.Disarm,
)
