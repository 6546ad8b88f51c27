"""Checks that are the same for machines of several kinds: at rest, in a self-test, at a door, after a halt.

The requirement, its number and its text are in the chapter of each kind. `m` is the kind's module of messages.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.conformance.assertions import (
    begin_command,
    check_jog,
    expect_one_end,
    expect_same_except,
    expect_settled,
    wait_restarted,
)
from devices.conformance.operators import ManualStep
from devices.conformance.protocol.commands import POWER_CUT
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import NotChecked, RequirementFailed, expect
from firmware_bridge.commands import Accepted, Outcome, Settled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from enum import IntEnum

    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.messages import Message

    # Does one step toward idle; True if the machine is idle.
    IdleStep = Callable[[ConformanceBench, CheckSession, Any], Awaitable[bool]]
    Commands = Mapping[str, Callable[[int], Message]]
    Replies = Mapping[str, Settled | Accepted]

# A self-test, a draw, a stack: everything but the emptying of a whole machine (s).
SHORT_LIMIT_S: Final = 30.0

OPEN_DOOR: Final = ManualStep("open the door", ("door:to=open",))
CLOSE_DOOR: Final = ManualStep("close the door", ("door:to=closed",))
LOOK_INSIDE: Final = ManualStep("open the door, look for cards inside, take out what you find, and close the door",
                          ("door:to=open", "door:to=closed"))  # fmt: skip


async def until_idle(bench: ConformanceBench, m: Any, step: IdleStep, machine: str) -> None:
    """Do steps until the machine is idle; RequirementFailed if it does not become so."""
    async with bench.session() as visit:
        for _ in range(10):
            status = await visit.ask(m.GetStatus(), m.Status)
            if await step(bench, visit, status):
                return
    raise RequirementFailed(f"a {machine} that can be brought to its idle state", repr(status))


def known(count: int | None, what: str, seen: Any) -> int:
    """Return a count that must be known."""
    if count is None:
        raise RequirementFailed(f"to know {what}", repr(seen))
    return count


# --- commands ---------------------------------------------------------------------------------------------------------


async def try_commands(
    visit: CheckSession, bench: ConformanceBench, commands: Commands, names: Iterable[str] | None = None
) -> dict[str, Settled | Accepted]:
    """Send commands one after the other, all or some; return the reply to each."""
    chosen = commands if names is None else names
    return {name: await visit.send_command(commands[name](bench.next_id())) for name in chosen}


def expect_all_refused(replies: Replies, reason: IntEnum, where: str) -> None:
    """Expect that each command was refused with this reason."""
    for name, reply in replies.items():
        as_expected = isinstance(reply, Settled) and (reply.outcome, reply.reason) == (Outcome.REFUSED, reason)
        expect(as_expected, f"{name} refused with {reason.value} {reason.name} {where}", reply)


def expect_end_among(
    events: list[Any],
    command: int,
    kind: type[Any],
    settled: Settled,
    ends: tuple[type[Any], ...],
    between: tuple[type[Any], ...] = (),
) -> Any:
    """Expect exactly one of the possible ends of a command, of this kind, then its one Settled; return the end.

    Events of the kinds `between` may come between the two.
    """
    about = [event for event in events if getattr(event, "command", None) == command]
    ended = [event for event in about if isinstance(event, ends)]
    expect(len(ended) == 1 and isinstance(ended[0], kind), f"one {kind.__name__} and no other end", ended)
    reported = [event for event in about if isinstance(event, Settled)]
    expect(reported == [settled], f"exactly {settled!r}", reported)
    after = [event for event in about[about.index(ended[0]) + 1 :] if not isinstance(event, between)]
    expect(after == [settled], f"{kind.__name__} and then Settled, and nothing after them", about[-3:])
    return ended[0]


async def check_stop_at_rest(bench: ConformanceBench, m: Any) -> None:
    """Expect that Stop is done and changes nothing in an idle machine."""
    async with bench.session() as visit:
        before = await visit.ask(m.GetStatus(), m.Status)
        command = bench.next_id()
        reply = await visit.send_command(m.Stop(command))
        expect(reply == Settled(command, Outcome.DONE, 0), "DONE", reply)
        expect_same_except(before, await visit.ask(m.GetStatus(), m.Status))
        expect(not visit.events, "no event", visit.events)


async def check_stopped(bench: ConformanceBench, m: Any, message: Callable[[int], Message]) -> None:
    """Stop what moves no card along the path right after it began; expect FAILED, no Stopped, the state of before."""
    async with bench.session() as visit:
        before = await visit.ask(m.GetStatus(), m.Status)
        command = await begin_command(visit, message(bench.next_id()))
        reply = await visit.send_command(m.Stop(bench.next_id()))
        expect(isinstance(reply, Settled) and reply.outcome is Outcome.DONE, "Stop to be DONE", reply)
        if Settled(command, Outcome.DONE, 0) in visit.events:
            raise NotChecked("it ended before the stop came; run the simulator more slowly")
        expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.FAILED, m.Reason.STOPPED)
        await asyncio.sleep(QUIET_S)
        expect(not visit.events_of(m.Stopped), "no Stopped", visit.events)
        expect_same_except(before, await visit.ask(m.GetStatus(), m.Status))


async def check_jog_in_place(bench: ConformanceBench, m: Any) -> None:
    """Expect jogs in both directions, and no other change."""
    async with bench.session() as visit:
        before = await visit.ask(m.GetStatus(), m.Status)
        await check_jog(bench, visit, m, SHORT_LIMIT_S, QUIET_S)
        expect_same_except(before, await visit.ask(m.GetStatus(), m.Status))


# --- self-tests -------------------------------------------------------------------------------------------------------


async def run_self_test(bench: ConformanceBench, visit: CheckSession, m: Any) -> tuple[Any, Settled]:
    """Run a self-test; expect one SelfTested about it, then its Settled; return both."""
    command = await begin_command(visit, m.SelfTest(bench.next_id()))
    settled = await visit.wait_settled(command, SHORT_LIMIT_S)
    await asyncio.sleep(QUIET_S)
    return expect_one_end(visit, command, m.SelfTested, settled), settled


def expect_test_result(m: Any, settled: Settled, *, passed: bool) -> None:
    """Expect DONE of a self-test that passed, FAILED with SELF_TEST_FAILED of any other."""
    outcome, reason = (Outcome.DONE, m.Reason.NONE) if passed else (Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
    expect_settled(settled, outcome, reason)


async def check_passes_self_test(bench: ConformanceBench, m: Any) -> Any:
    """Expect that a self-test passes and changes nothing; return its SelfTested."""
    async with bench.session() as visit:
        before = await visit.ask(m.GetStatus(), m.Status)
        tested, settled = await run_self_test(bench, visit, m)
        expect_test_result(m, settled, passed=True)
        expect_same_except(before, await visit.ask(m.GetStatus(), m.Status))
        return tested


async def check_testing(bench: ConformanceBench, m: Any, orders: Iterable[Callable[[int], Message]]) -> None:
    """Expect TESTING during a self-test, and that every order is refused with BUSY."""
    async with bench.session() as visit:
        command = await begin_command(visit, m.SelfTest(bench.next_id()))
        status = await visit.ask(m.GetStatus(), m.Status)
        sent = [order(bench.next_id()) for order in orders]
        replies = [await visit.send_command(order) for order in sent]
        if visit.events_about(command):
            raise NotChecked("the test ended before it could be observed; run the simulator more slowly")
        expect(status.state is m.State.TESTING, "TESTING", status)
        for order, reply in zip(sent, replies, strict=True):
            expect_all_refused({type(order).__name__: reply}, m.Reason.BUSY, "in TESTING")
        await visit.wait_settled(command, SHORT_LIMIT_S)


# --- doors, stuck cards, power ----------------------------------------------------------------------------------------


async def check_door(
    bench: ConformanceBench, m: Any, while_open: Callable[[CheckSession], Awaitable[None]] | None = None
) -> None:
    """Expect that opening and closing the door is reported by Door and shown in the status."""
    async with bench.session() as visit:
        for step, is_open in ((OPEN_DOOR, True), (CLOSE_DOOR, False)):
            since = len(visit.events)
            await bench.perform(step)
            reported = await visit.wait_for_event(m.Door, bench.operator.effect_timeout_s, since)
            expect(reported.open is is_open, f"Door open={is_open}", reported)
            status = await visit.ask(m.GetStatus(), m.Status)
            expect(status.door_open is is_open, f"door_open={is_open}", status)
            if is_open and while_open is not None:
                await while_open(visit)


def expect_levels(m: Any, levels: list[Any]) -> None:
    """Expect that each sensor is blocked exactly below its threshold, and has a level of its scale."""
    for sensor, level in zip(m.Sensor, levels, strict=True):
        expect(level.blocked is (level.level < level.threshold), f"{sensor.name} blocked below its threshold", level)
        expect(level.level <= 1023, f"{sensor.name} between 0 and 1023", level)


def expect_path_clear(levels: list[Any], path: Iterable[Any]) -> None:
    """Expect that no sensor of the path is dark."""
    dark = [sensor.name for sensor in path if levels[sensor].blocked]
    expect(not dark, "no dark sensor on the path of an idle machine", f"dark: {dark}")


async def cut_power(bench: ConformanceBench, visit: CheckSession) -> None:
    """Have the power cut now, and wait until the machine has restarted."""
    await bench.request_now(POWER_CUT)
    if not await visit.wait_ended(bench.operator.effect_timeout_s):
        raise NotChecked("the power was not cut")
    await wait_restarted(bench, visit)
