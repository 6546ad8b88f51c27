"""The shuffler in the kit: its commands, its hands, and how it is brought where a check needs it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

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
from devices.shuffler import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.messages import Message

CHAPTER: Final = Chapter("SH", "The shuffler", "docs/devices/shuffler.md", needs=("HS-04",))
# Requirements on models with cycles, for one deck or for a batch.
cycling: Final = partial(CHAPTER.requirement, without=m.CONTINUOUS)

# The slowest cycle or emptying (s): a batch takes two and a half minutes; twice that.
CYCLE_LIMIT_S: Final = 300.0
# Everything that moves no card along the path (s).
SHORT_LIMIT_S: Final = 30.0

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
OPEN_DOOR: Final = ManualStep("open the door", ("door:to=open",))
CLOSE_DOOR: Final = ManualStep("close the door", ("door:to=closed",))
LOOK_INSIDE: Final = ManualStep("open the door, look for cards inside, take out what you find, and close the door",
                          ("door:to=open", "door:to=closed"))  # fmt: skip
CLEAR_PATH: Final = ManualStep(
    "open the door, take every card off the path but not out of the compartments, and close the door", ("clear_path",)
)


async def status_of(visit: CheckSession) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring it to IDLE in mode SHUFFLE with the door closed and nothing inside, from any state."""
    async with bench.session() as visit:
        seen = []
        for _ in range(10):
            status = await status_of(visit)
            seen.append(status)
            if await _is_at_rest(bench, visit, status):
                return
    raise RequirementFailed("a machine that can be brought to its idle state", repr(seen[-1]))


async def _is_at_rest(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    """Do one step towards idle; return True if it is idle."""
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


async def begin_command(visit: CheckSession, message: Message) -> int:
    """Send a command that must be accepted; return its id."""
    reply = await visit.send_command(message)
    expect(isinstance(reply, Accepted), f"Accepted to {message!r}", reply)
    return reply.command


async def wait_for_cards(visit: CheckSession) -> None:
    """Wait until a cycle has drawn a few cards."""
    await visit.wait_until(lambda event: isinstance(event, m.Progress) and event.entered >= 3, 5.0)


async def try_commands(
    visit: CheckSession, bench: ConformanceBench, names: Iterable[str]
) -> dict[str, Settled | Accepted]:
    """Send commands one after the other; return the reply to each."""
    return {name: await visit.send_command(COMMANDS[name](bench.next_id())) for name in names}


def expect_all_refused(replies: dict[str, Settled | Accepted], reason: m.Reason, where: str) -> None:
    """Expect that each command was refused with this reason."""
    for name, reply in replies.items():
        as_expected = isinstance(reply, Settled) and (reply.outcome, reply.reason) == (Outcome.REFUSED, reason)
        expect(as_expected, f"{name} refused with {reason} {reason.name} {where}", reply)


def expect_one_end(events: list[Any], command: int, kind: type[Any], settled: Settled) -> Any:
    """Expect exactly one end of this kind about a command, then exactly one Settled; return the end."""
    about = [event for event in events if getattr(event, "command", None) == command]
    ends = [event for event in about if isinstance(event, (*ENDS, m.Cleared, m.SelfTested, m.Jogged))]
    expect(len(ends) == 1 and isinstance(ends[0], kind), f"one {kind.__name__} and no other end", ends)
    reported = [event for event in about if isinstance(event, Settled)]
    expect(reported == [settled], f"exactly {settled!r}", reported)
    expect(about[-2:] == [ends[0], settled], f"{kind.__name__} and then Settled, and nothing after them", about[-3:])
    return ends[0]


def expect_settled(settled: Settled | None, outcome: Outcome, reason: m.Reason) -> Settled:
    """Expect this outcome and reason of a command."""
    if settled is None:
        raise RequirementFailed(f"Settled {outcome.name} {reason.name}", "no Settled at all")
    expect((settled.outcome, settled.reason) == (outcome, reason), f"{outcome.name} with reason {reason}", settled)
    return settled


def expect_same_except(before: m.Status, after: m.Status, **changed: Any) -> None:
    """The status is as it was, but for what is named."""
    expected = msgspec.structs.replace(before, **changed)
    expect(after == expected, repr(expected), after)


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
