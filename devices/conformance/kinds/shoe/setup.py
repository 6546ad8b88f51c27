"""The shoe in the kit: its commands, its hands, and how it is brought where a check needs it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.conformance.assertions import expect_refused
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import Chapter, KindProfile, NotChecked, preparation
from devices.conformance.shared_checks import CLOSE_DOOR, LOOK_INSIDE, SHORT_LIMIT_S, expect_end_among, until_idle
from devices.shoe import messages as m

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.commands import Settled
    from firmware_bridge.messages import Message

CHAPTER: Final = Chapter("SO", "The dealing shoe", "docs/devices/shoe.md", needs=("HS-04",))

# The slowest block, stub or emptying (s), with room for a machine that takes a second for every card.
BLOCK_LIMIT_S: Final = 180.0
# How often a motion is looked at (s): a few times a card.
LOOK_EVERY_S: Final = 0.05

# What a resting automated shoe may be ordered to do.
COMMANDS: Final[dict[str, Callable[[int], Message]]] = {
    "Load": m.Load,
    "Dispense": lambda command: m.Dispense(command, 1),
    "CountStub": m.CountStub,
    "SelfTest": m.SelfTest,
    "ClearJam": m.ClearJam,
}
NOT_CLEARING: Final = [name for name in COMMANDS if name != "ClearJam"]
MOVING: Final = (m.State.LOADING, m.State.DISPENSING, m.State.COUNTING, m.State.CLEARING, m.State.TESTING)
OPEN_ROUND: Final = (m.State.DEALING, m.State.COUNTING)
PATH: Final = (m.Sensor.FEED, m.Sensor.DRAW, m.Sensor.EXIT)
ENDS: Final = (
    m.Loaded, m.Dispensed, m.ShortStack, m.Stub, m.Cleared, m.SelfTested, m.Jogged, m.Jam, m.Fault, m.Stopped,
)  # fmt: skip

RELOAD: Final = ManualStep("take every card that was dealt and put the whole deck into the intake",
                     ("take", "gather", "load"))  # fmt: skip
EMPTY_SLOT: Final = ManualStep("take every card out of the slot", ("take",))
CLEAR_PATH: Final = ManualStep(
    "open the door, take every card off the path but none out of the well, and close the door", ("clear_path",)
)
LIFT: Final = ManualStep("take every card out of throat and well", ("clear_path", "lift"))
REFILL: Final = ManualStep("lay the whole deck into the well", ("gather", "load"))


async def status_of(visit: CheckSession) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


def is_manual(visit: CheckSession) -> bool:
    """Return whether hands draw its cards."""
    return m.DRAWS in visit.hello.capabilities


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring it to IDLE or READY, door closed, sure of its counts, from any state."""
    await until_idle(bench, m, _step_to_idle, "machine")


async def _step_to_idle(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    return await (_calm_manual if is_manual(visit) else _calm)(bench, visit, status)


async def _calm(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    """Do one step toward idle; return True if it is idle."""
    if status.state in MOVING:
        await visit.send_command(m.Stop(bench.next_id()))
        await asyncio.sleep(QUIET_S)
    elif status.door_open:
        await bench.perform(CLOSE_DOOR)
    elif status.state in (m.State.HALTED, m.State.DOUBTFUL):
        await bench.perform(CLEAR_PATH)
        await visit.complete_command(m.ClearJam(bench.next_id()), BLOCK_LIMIT_S)
    elif not status.counts_certain and status.state is m.State.READY:
        await visit.complete_command(m.ClearJam(bench.next_id()), BLOCK_LIMIT_S)
    elif not status.counts_certain:
        await bench.perform(LOOK_INSIDE)
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    else:
        return True
    return False


async def _calm_manual(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    if status.state in (*OPEN_ROUND, m.State.TESTING):
        await visit.send_command(m.Stop(bench.next_id()))
        await asyncio.sleep(QUIET_S)
    elif not status.counts_certain or status.state in (m.State.HALTED, m.State.DOUBTFUL):
        await bench.perform(LIFT)
        await visit.complete_command(m.ClearJam(bench.next_id()), SHORT_LIMIT_S)
    else:
        return True
    return False


@preparation
async def bring_to_empty(bench: ConformanceBench) -> None:
    """Bring it to IDLE: nothing is in its well. What lies in its intake stays there."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        status = await status_of(visit)
        if is_manual(visit):
            if status.in_well:
                await bench.perform(LIFT)
        elif status.state is m.State.READY:
            if status.in_slot:
                await bench.perform(EMPTY_SLOT)
            await visit.complete_command(m.CountStub(bench.next_id()), BLOCK_LIMIT_S)


@preparation
async def bring_to_block_ready(bench: ConformanceBench) -> None:
    """Bring it to IDLE with the whole block where Load looks for it."""
    await bring_to_empty(bench)
    async with bench.session() as visit:
        manual = is_manual(visit)
        status = await status_of(visit)
        if not _block_waits(status, manual=manual) or status.in_slot:
            await bench.perform(REFILL if manual else RELOAD)
            if not _block_waits(await status_of(visit), manual=manual):
                raise NotChecked("there are no cards to load")


def _block_waits(status: m.Status, *, manual: bool) -> bool:
    return status.in_well if manual else status.in_intake


@preparation
async def bring_to_loaded(bench: ConformanceBench) -> None:
    """Bring it to READY with a whole block, nothing drawn of it."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        status = await status_of(visit)
        if status.state is m.State.READY and status.drawn == 0 and not status.in_slot:
            return
    await bring_to_block_ready(bench)
    async with bench.session() as visit:
        await visit.complete_command(m.Load(bench.next_id()), BLOCK_LIMIT_S)


async def expect_none_begin(
    visit: CheckSession, bench: ConformanceBench, names: Iterable[str], reason: m.Reason, where: str
) -> None:
    """Each of these commands is refused with this reason."""
    for name in names:
        await expect_refused(visit, COMMANDS[name](bench.next_id()), reason, where)


def expect_one_end(events: list[Any], command: int, kind: type[Any], settled: Settled) -> Any:
    """Expect exactly one end of this kind about a command, then exactly one Settled; return the end."""
    return expect_end_among(events, command, kind, settled, ENDS, between=(m.Unbalanced,))


async def wait_for_cards(visit: CheckSession, cards: int) -> None:
    """Wait until a motion has finished a few cards. It is also asked: a quick machine need not report each."""
    loop = asyncio.get_running_loop()
    late = loop.time() + SHORT_LIMIT_S
    while (await status_of(visit)).moved < cards and loop.time() < late:
        if await visit.wait_until(lambda event: isinstance(event, m.Progress) and event.moved >= cards, LOOK_EVERY_S):
            return


PROFILE: Final = KindProfile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=(
        (m.GetStatus(), (m.Status,)),
        (m.GetSensors(), (m.Sensors,)),
        (m.GetTransits(), (m.Transits,)),
    ),
    bring_to_idle=bring_to_idle,
    self_test=m.SelfTest,
    reset=m.Reset,
    refused=lambda command: m.Dispense(command, 0),
    stop=m.Stop,
)
