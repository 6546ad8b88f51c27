"""CM-12 to CM-18: which commands a device remembers, for how long, and how a restart ends a running one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.conformance.bench import require_switch
from devices.conformance.protocol.commands.common import (
    CHAPTER,
    COMMAND_LIMIT_S,
    COMMANDS,
    POWER_CUT,
    POWER_LOST,
    begin_self_test,
    refused_while_running,
    require_running,
    send_together,
    wait_restarted,
)
from devices.conformance.requirements import NotChecked, expect
from firmware_bridge.commands import REMEMBERED, Accepted, AskCommand, GetReport, Outcome, Report, Settled
from firmware_bridge.errors import LinkError

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

# A command may end at the moment of the power loss, with its Settled lost; but not this often in a row.
_CUTS: Final = 3


@CHAPTER.requirement(12, COMMANDS)
async def remembers(bench: ConformanceBench) -> None:
    """It remembers its last 16 commands, including refused ones, and reports them oldest first."""
    if bench.profile.switch is not None:
        await _last_of_a_switch(bench)
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        ordered: list[Any] = [bench.profile.self_test(bench.next_id()) for _ in range(REMEMBERED)]
        replies = await send_together(visit, *ordered)
        begun = [reply.command for reply in replies if isinstance(reply, Accepted)]
        ends = {command: await visit.wait_settled(command, COMMAND_LIMIT_S) for command in begun}
        ends |= {reply.command: reply for reply in replies if isinstance(reply, Settled)}
        forgotten = [command for command, end in ends.items() if await visit.ask_outcome(command) != end]
        expect(not forgotten, f"all of the last {REMEMBERED} known as they ended", f"{len(forgotten)} forgotten")
        listed = [settled.command for settled in (await visit.ask(GetReport(), Report)).commands]
        expect(set(listed) == set(ends), "the report to list them and no other", f"{listed} in place of {list(ends)}")
        # The page does not define the order of a running command and those refused meanwhile.
        for alike in (begun, [command for command in ends if command not in begun]):
            received = [command for command in listed if command in alike]
            expect(received == sorted(alike), "the report to list the oldest first", f"{received} in place of {alike}")


async def _last_of_a_switch(bench: ConformanceBench) -> None:
    await bench.profile.bring_to_idle(bench)
    switch = require_switch(bench.profile)
    async with bench.session() as visit:
        ids = [bench.next_id() for _ in range(REMEMBERED)]
        for number, command in enumerate(ids):
            await visit.complete_command((switch.off if number % 2 else switch.on)(command), COMMAND_LIMIT_S)
        forgotten = [command for command in ids if (await visit.ask_outcome(command)).outcome is not Outcome.DONE]
        expect(not forgotten, f"all of the last {REMEMBERED} known", f"{len(forgotten)} forgotten")
        listed = [settled.command for settled in (await visit.ask(GetReport(), Report)).commands]
        expect(listed == ids, "the report to list them, oldest first", f"{listed} in place of {ids}")


@CHAPTER.requirement(13, COMMANDS, needs=("CM-06",))
async def never_forgotten(bench: ConformanceBench) -> None:
    """A running command is never forgotten, no matter how many follow it."""
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        first: Any = bench.profile.self_test(bench.next_id())
        more = [bench.profile.self_test(bench.next_id()) for _ in range(REMEMBERED + 1)]
        accepted, *_, asked = await send_together(visit, first, *more, AskCommand(first.command))
        expect(accepted == Accepted(first.command), f"Accepted to {first!r}", accepted)
        require_running(visit, first.command)
        expect(asked == Settled(first.command, Outcome.RUNNING, 0), "RUNNING", asked)
        await visit.wait_settled(first.command, COMMAND_LIMIT_S)


@CHAPTER.requirement(14, COMMANDS, needs=("CM-06",))
async def over_sessions(bench: ConformanceBench) -> None:
    """A new session knows the commands of the previous one, done or refused."""
    known = await _both(bench)
    async with bench.session() as visit:
        await _all_known(visit, known)


async def _both(bench: ConformanceBench) -> list[Settled]:
    """Have a self-test done and another one refused; return what must be known of them."""
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        message = await begin_self_test(visit, bench)
        done = await visit.wait_settled(message.command, COMMAND_LIMIT_S)
        _, refusal = await refused_while_running(visit, bench)
    return [done, refusal]


async def _all_known(visit: CheckSession, known: list[Settled]) -> None:
    listed = (await visit.ask(GetReport(), Report)).commands
    for settled in known:
        expect(settled in listed, f"{settled!r} in the report", listed)
        received = await visit.ask_outcome(settled.command)
        expect(received == settled, f"{settled!r} when asked", received)


@CHAPTER.requirement(15, "Heartbeat and silence")
async def goes_on(bench: ConformanceBench) -> None:
    """A command continues when a new session takes over, and the new session can ask for its outcome."""
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        message = await begin_self_test(visit, bench)
    async with bench.session() as visit:
        known = await visit.ask_outcome(message.command)
        if known.outcome is Outcome.RUNNING:
            known = await visit.wait_settled(message.command, COMMAND_LIMIT_S)
        stopped_itself = known.outcome is Outcome.FAILED and known.reason
        expect(known.outcome is Outcome.DONE or bool(stopped_itself), "DONE, or FAILED with its reason", known)


@CHAPTER.requirement(16, COMMANDS, needs=("CM-06",), needs_operator=True)
async def over_power(bench: ConformanceBench) -> None:
    """After a power cut the boot id is new; commands and the count of bench visits are unchanged."""
    known = await _both(bench)
    async with bench.session() as visit:
        before = await visit.ask(GetReport(), Report)
        await bench.perform(POWER_CUT)
    await bench.wait_for_device()
    async with bench.session() as visit:
        after = await visit.ask(GetReport(), Report)
        expect(after.boot_id != before.boot_id, "a new boot id", after.boot_id)
        expect(after.bench_visits == before.bench_visits + 1, f"{before.bench_visits + 1} visits", after.bench_visits)
        await _all_known(visit, known)


@CHAPTER.requirement(17, COMMANDS)
async def over_reset(bench: ConformanceBench) -> None:
    """A command that runs when a Reset restarts the machine is FAILED with 435 afterwards, and the Reset is DONE."""
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        running: Any = bench.profile.self_test(bench.next_id())
        resetting: Any = bench.profile.reset(bench.next_id())
        accepted, reply = await send_together(visit, running, resetting)
        expect(accepted == Accepted(running.command), f"Accepted to {running!r}", accepted)
        done = Settled(resetting.command, Outcome.DONE, 0)
        expect(reply == done, "Settled DONE to a Reset while a command runs", reply)
        await wait_restarted(visit, bench)
        require_running(visit, running.command)
    async with bench.session() as visit:
        await _all_known(visit, [Settled(running.command, Outcome.FAILED, POWER_LOST), done])


@CHAPTER.requirement(18, COMMANDS, needs_operator=True)
async def cut_while_running(bench: ConformanceBench) -> None:
    """A command that runs when power is lost is FAILED with 435 afterwards, never DONE."""
    await bench.profile.bring_to_idle(bench)
    for attempt in range(_CUTS):
        command = await _cut(bench)
        if command is None:
            continue
        async with bench.session() as visit:
            known = await visit.ask_outcome(command)
            if known.outcome is not Outcome.DONE or attempt == _CUTS - 1:
                await _all_known(visit, [Settled(command, Outcome.FAILED, POWER_LOST)])
                return
    raise NotChecked("no command ran at the moment of the power loss")


async def _cut(bench: ConformanceBench) -> int | None:
    """Keep the machine testing itself until power goes; return the command that ran then, if one did."""
    loop = asyncio.get_running_loop()
    running: int | None = None
    async with bench.session() as visit:
        message = await begin_self_test(visit, bench)
        running = message.command
        await bench.request_now(POWER_CUT)
        late = loop.time() + bench.operator.effect_timeout_s
        try:
            while loop.time() < late:
                await visit.wait_settled(running, COMMAND_LIMIT_S)
                running = None
                running = (await begin_self_test(visit, bench)).command
        except LinkError:
            pass
        else:
            raise NotChecked("the power was not cut")
    await bench.wait_for_device(not_boot=visit.hello.boot_id)
    return running
