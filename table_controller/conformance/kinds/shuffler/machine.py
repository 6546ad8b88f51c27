"""The shuffler in the kit: its commands, its hands, and how it is brought where a check needs it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.shuffler import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled
from table_controller.conformance.hands import Step
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import Chapter, Failed, NotChecked, Profile, Switch, expect, preparing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from firmware_bridge.messages import Message
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

CHAPTER: Final = Chapter("SH", "The shuffler", "docs/devices/shuffler.md", needs=("HS-04",))
# Requirements on models with cycles, for one deck or for a batch.
cycling: Final = partial(CHAPTER.requirement, without=m.CONTINUOUS)

# The slowest cycle or emptying (s): a batch takes two and a half minutes; twice that.
CYCLE: Final = 300.0
# Everything that moves no card along the path (s).
SHORT: Final = 30.0

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

RELOAD: Final = Step("take the cards from the gate and put the whole deck into the intake", ("take_deck", "load"))
OPEN_DOOR: Final = Step("open the door", ("door:to=open",))
CLOSE_DOOR: Final = Step("close the door", ("door:to=closed",))
LOOK_INSIDE: Final = Step("open the door, look for cards inside, take out what you find, and close the door",
                          ("door:to=open", "door:to=closed"))  # fmt: skip
CLEAR_PATH: Final = Step(
    "open the door, take every card off the path but not out of the compartments, and close the door", ("clear_path",)
)


async def status_of(visit: Visit) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


@preparing
async def rest(bench: Bench) -> None:
    """Bring it to IDLE in mode SHUFFLE with the door closed and nothing inside, from any state."""
    async with bench.visit() as visit:
        seen = []
        for _ in range(10):
            status = await status_of(visit)
            seen.append(status)
            if await _is_at_rest(bench, visit, status):
                return
    raise Failed("a machine that can be brought to its idle state", repr(seen[-1]))


async def _is_at_rest(bench: Bench, visit: Visit, status: m.Status) -> bool:
    """Do one step towards idle; return True if it is idle."""
    if status.state in MOVING:
        await visit.order(m.Stop(bench.next_id()))
        await asyncio.sleep(QUIET)
    elif status.door_open:
        await bench.do(CLOSE_DOOR)
    elif status.state in (m.State.HALTED, m.State.DOUBTFUL):
        await bench.do(CLEAR_PATH)
        await visit.done(m.ClearJam(bench.next_id()), CYCLE)
    elif status.state is m.State.READY:
        await visit.done(m.Eject(bench.next_id()), SHORT)
    elif status.inside != 0:
        await bench.do(LOOK_INSIDE)
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
    elif status.mode is not m.Mode.SHUFFLE:
        await visit.done(m.SetMode(bench.next_id(), m.Mode.SHUFFLE), SHORT)
    else:
        return True
    return False


@preparing
async def loaded(bench: Bench) -> None:
    """Bring it to idle with a deck in its intake."""
    await rest(bench)
    async with bench.visit() as visit:
        if not (await status_of(visit)).cards_in_intake:
            await bench.do(RELOAD)
            if not (await status_of(visit)).cards_in_intake:
                raise NotChecked("there are no cards in the intake")


@preparing
async def ready(bench: Bench) -> None:
    """Bring it to READY: a deck lies behind its gate."""
    async with bench.visit() as visit:
        if (await status_of(visit)).state is m.State.READY:
            return
    await loaded(bench)
    async with bench.visit() as visit:
        await visit.done(m.StartCycle(bench.next_id()), CYCLE)


@preparing
async def emptied(bench: Bench) -> None:
    """Bring it to idle with nothing in its intake."""
    await rest(bench)
    async with bench.visit() as visit:
        if (await status_of(visit)).cards_in_intake:
            await visit.done(m.StartCycle(bench.next_id()), CYCLE)
            await visit.done(m.Eject(bench.next_id()), SHORT)


async def begin(visit: Visit, message: Message) -> int:
    """Send a command that must be accepted; return its id."""
    reply = await visit.order(message)
    expect(isinstance(reply, Accepted), f"Accepted to {message!r}", reply)
    return reply.command


async def some_cards_in(visit: Visit) -> None:
    """Wait until a cycle has drawn a few cards."""
    await visit.until(lambda event: isinstance(event, m.Progress) and event.entered >= 3, 5.0)


async def refusals(visit: Visit, bench: Bench, names: Iterable[str]) -> dict[str, Settled | Accepted]:
    """Send commands one after the other; return the reply to each."""
    return {name: await visit.order(COMMANDS[name](bench.next_id())) for name in names}


def all_refused(said: dict[str, Settled | Accepted], reason: m.Reason, where: str) -> None:
    """Expect that each command was refused with this reason."""
    for name, reply in said.items():
        as_expected = isinstance(reply, Settled) and (reply.outcome, reply.reason) == (Outcome.REFUSED, reason)
        expect(as_expected, f"{name} refused with {reason} {reason.name} {where}", reply)


def one_end(events: list[Any], command: int, kind: type[Any], settled: Settled) -> Any:
    """Expect exactly one end of this kind about a command, then exactly one Settled; return the end."""
    about = [event for event in events if getattr(event, "command", None) == command]
    ends = [event for event in about if isinstance(event, (*ENDS, m.Cleared, m.SelfTested, m.Jogged))]
    expect(len(ends) == 1 and isinstance(ends[0], kind), f"one {kind.__name__} and no other end", ends)
    reported = [event for event in about if isinstance(event, Settled)]
    expect(reported == [settled], f"exactly {settled!r}", reported)
    expect(about[-2:] == [ends[0], settled], f"{kind.__name__} and then Settled, and nothing after them", about[-3:])
    return ends[0]


def settled_as(settled: Settled | None, outcome: Outcome, reason: m.Reason) -> Settled:
    """Expect this outcome and reason of a command."""
    if settled is None:
        raise Failed(f"Settled {outcome.name} {reason.name}", "no Settled at all")
    expect((settled.outcome, settled.reason) == (outcome, reason), f"{outcome.name} with reason {reason}", settled)
    return settled


def same_but(before: m.Status, after: m.Status, **changed: Any) -> None:
    """The status is as it was, but for what is named."""
    expected = msgspec.structs.replace(before, **changed)
    expect(after == expected, repr(expected), after)


PROFILE: Final = Profile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=(
        (m.GetStatus(), (m.Status,)),
        (m.GetSensors(), (m.Sensors,)),
        (m.GetTransits(), (m.Transits,)),
        (m.GetFindings(), (m.Findings, m.BatchFindings, m.NoFindings)),
    ),
    rest=rest,
    switch=Switch(
        on=lambda command: m.SetMode(command, m.Mode.SORT),
        off=lambda command: m.SetMode(command, m.Mode.SHUFFLE),
        is_on=lambda status: status.mode is m.Mode.SORT,
    ),
    self_test=m.SelfTest,
    reset=m.Reset,
    refused=m.Eject,
    stop=m.Stop,
)
