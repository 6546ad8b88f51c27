"""The shuffler in the kit: its commands, its hands, and how it is brought where a check needs it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from devices.conformance.assertions import begin_command
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import (
    Chapter,
    KindProfile,
    NotChecked,
    SwitchCommands,
    preparation,
)
from devices.conformance.shared_checks import CLOSE_DOOR, LOOK_INSIDE, SHORT_LIMIT_S, expect_end_among, until_idle
from devices.shuffler import messages as m

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.commands import Settled
    from firmware_bridge.messages import Message

CHAPTER: Final = Chapter("SH", "The shuffler", "docs/devices/shuffler.md", needs=("HS-04",))
# Requirements on models with cycles, for one deck or for a batch.
cycling: Final = partial(CHAPTER.requirement, without=m.CONTINUOUS)

# The slowest cycle or emptying (s): a batch takes two and a half minutes; twice that.
CYCLE_LIMIT_S: Final = 300.0

COMMANDS: Final[dict[str, Callable[[int], Message]]] = {
    "StartCycle": m.StartCycle,
    "Eject": m.Eject,
    "SetMode": lambda command: m.SetMode(command, m.Mode.SHUFFLE),
    "SelfTest": m.SelfTest,
    "ClearJam": m.ClearJam,
}
MOVING: Final = (m.State.FEEDING, m.State.UNLOADING, m.State.CLEARING, m.State.TESTING)
# The sensors that no card covers when the machine rests.
PATH: Final = (m.Sensor.FEED, m.Sensor.BRIDGE, m.Sensor.LIFT, m.Sensor.EXIT, m.Sensor.STACK)
ENDS: Final = (m.Completed, m.Incomplete, m.Jam, m.Fault, m.Stopped)

RELOAD: Final = ManualStep("take the cards from the gate and put the whole deck into the intake", ("take_deck", "load"))
CLEAR_PATH: Final = ManualStep(
    "open the door, take every card off the path but not out of the compartments, and close the door", ("clear_path",)
)


async def status_of(visit: CheckSession) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring it to IDLE in mode SHUFFLE with the door closed and nothing inside, from any state."""
    await until_idle(bench, m, _is_at_rest, "machine")


async def _is_at_rest(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    """Do one step toward idle; return True if it is idle."""
    if status.state in MOVING:
        await visit.send_command(m.Stop(bench.next_id()))
        await asyncio.sleep(QUIET_S)
    elif status.door_open:
        await bench.perform(CLOSE_DOOR)
    elif status.state in (m.State.HALTED, m.State.DOUBTFUL):
        await bench.perform(CLEAR_PATH)
        await visit.complete_command(m.ClearJam(bench.next_id()), CYCLE_LIMIT_S)
    elif status.state is m.State.READY:
        await visit.complete_command(m.Eject(bench.next_id()), SHORT_LIMIT_S)
    elif status.inside != 0:
        await bench.perform(LOOK_INSIDE)
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    elif status.mode is not m.Mode.SHUFFLE:
        await visit.complete_command(m.SetMode(bench.next_id(), m.Mode.SHUFFLE), SHORT_LIMIT_S)
    else:
        return True
    return False


@preparation
async def bring_to_loaded(bench: ConformanceBench) -> None:
    """Bring it to idle with a deck in its intake."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        if not (await status_of(visit)).cards_in_intake:
            await bench.perform(RELOAD)
            if not (await status_of(visit)).cards_in_intake:
                raise NotChecked("there are no cards in the intake")


@preparation
async def bring_to_ready(bench: ConformanceBench) -> None:
    """Bring it to READY: a deck lies behind its gate."""
    async with bench.session() as visit:
        if (await status_of(visit)).state is m.State.READY:
            return
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        await visit.complete_command(m.StartCycle(bench.next_id()), CYCLE_LIMIT_S)


@preparation
async def bring_to_empty(bench: ConformanceBench) -> None:
    """Bring it to idle with nothing in its intake."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        if (await status_of(visit)).cards_in_intake:
            await visit.complete_command(m.StartCycle(bench.next_id()), CYCLE_LIMIT_S)
            await visit.complete_command(m.Eject(bench.next_id()), SHORT_LIMIT_S)


async def begin_cycle(bench: ConformanceBench, visit: CheckSession) -> int:
    """Begin a cycle and wait until it has drawn a few cards; return its id."""
    command = await begin_command(visit, m.StartCycle(bench.next_id()))
    await wait_for_cards(visit)
    return command


async def wait_for_cards(visit: CheckSession) -> None:
    """Wait until a cycle has drawn a few cards."""
    await visit.wait_until(lambda event: isinstance(event, m.Progress) and event.entered >= 3, 5.0)


def expect_one_end(events: list[Any], command: int, kind: type[Any], settled: Settled) -> Any:
    """Expect exactly one end of this kind about a command, then exactly one Settled; return the end."""
    return expect_end_among(events, command, kind, settled, (*ENDS, m.Cleared, m.SelfTested, m.Jogged))


PROFILE: Final = KindProfile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=(
        (m.GetStatus(), (m.Status,)),
        (m.GetSensors(), (m.Sensors,)),
        (m.GetTransits(), (m.Transits,)),
        (m.GetFindings(), (m.Findings, m.BatchFindings, m.NoFindings)),
    ),
    bring_to_idle=bring_to_idle,
    switch=SwitchCommands(
        on=lambda command: m.SetMode(command, m.Mode.SORT),
        off=lambda command: m.SetMode(command, m.Mode.SHUFFLE),
        is_on=lambda status: status.mode is m.Mode.SORT,
    ),
    self_test=m.SelfTest,
    reset=m.Reset,
    refused=m.Eject,
    stop=m.Stop,
)
