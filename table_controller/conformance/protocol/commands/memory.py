"""CM-12 to CM-18: which commands a device remembers, for how long, and how a restart ends a running one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.commands import REMEMBERED, Accepted, AskCommand, GetReport, Outcome, Report, Settled
from firmware_bridge.errors import LinkError
from table_controller.conformance.bench import switch_of
from table_controller.conformance.protocol.commands.orders import (
    CHAPTER,
    COMMANDS,
    LASTS,
    POWER_CUT,
    POWER_LOST,
    begin,
    one_refused,
    restarted,
    still_runs,
    together,
)
from table_controller.conformance.requirements import NotChecked, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

# A command may end at the moment of the power loss, with its Settled lost; but not this often in a row.
_CUTS: Final = 3


@CHAPTER.requirement(12, COMMANDS)
async def remembers(bench: Bench) -> None:
    """It remembers its last 16 commands, including refused ones, and reports them oldest first."""
    if bench.profile.switch is not None:
        await _last_of_a_switch(bench)
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        ordered: list[Any] = [bench.profile.self_test(bench.next_id()) for _ in range(REMEMBERED)]
        replies = await together(visit, *ordered)
        begun = [reply.command for reply in replies if isinstance(reply, Accepted)]
        ends = {command: await visit.end(command, LASTS) for command in begun}
        ends |= {reply.command: reply for reply in replies if isinstance(reply, Settled)}
        forgotten = [command for command, end in ends.items() if await visit.outcome(command) != end]
        expect(not forgotten, f"all of the last {REMEMBERED} known as they ended", f"{len(forgotten)} forgotten")
        listed = [settled.command for settled in (await visit.ask(GetReport(), Report)).commands]
        expect(set(listed) == set(ends), "the report to list them and no other", f"{listed} in place of {list(ends)}")
        # The page does not define the order of a running command and those refused meanwhile.
        for alike in (begun, [command for command in ends if command not in begun]):
            received = [command for command in listed if command in alike]
            expect(received == sorted(alike), "the report to list the oldest first", f"{received} in place of {alike}")


async def _last_of_a_switch(bench: Bench) -> None:
    await bench.profile.rest(bench)
    switch = switch_of(bench.profile)
    async with bench.visit() as visit:
        ids = [bench.next_id() for _ in range(REMEMBERED)]
        for number, command in enumerate(ids):
            await visit.done((switch.off if number % 2 else switch.on)(command), LASTS)
        forgotten = [command for command in ids if (await visit.outcome(command)).outcome is not Outcome.DONE]
        expect(not forgotten, f"all of the last {REMEMBERED} known", f"{len(forgotten)} forgotten")
        listed = [settled.command for settled in (await visit.ask(GetReport(), Report)).commands]
        expect(listed == ids, "the report to list them, oldest first", f"{listed} in place of {ids}")


@CHAPTER.requirement(13, COMMANDS, needs=("CM-06",))
async def never_forgotten(bench: Bench) -> None:
    """A running command is never forgotten, no matter how many follow it."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        first: Any = bench.profile.self_test(bench.next_id())
        more = [bench.profile.self_test(bench.next_id()) for _ in range(REMEMBERED + 1)]
        accepted, *_, asked = await together(visit, first, *more, AskCommand(first.command))
        expect(accepted == Accepted(first.command), f"Accepted to {first!r}", accepted)
        still_runs(visit, first.command)
        expect(asked == Settled(first.command, Outcome.RUNNING, 0), "RUNNING", asked)
        await visit.end(first.command, LASTS)


@CHAPTER.requirement(14, COMMANDS, needs=("CM-06",))
async def over_sessions(bench: Bench) -> None:
    """A new session knows the commands of the previous one, done or refused."""
    known = await _both(bench)
    async with bench.visit() as visit:
        await _all_known(visit, known)


async def _both(bench: Bench) -> list[Settled]:
    """Have a self-test done and another one refused; return what must be known of them."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        message = await begin(visit, bench)
        done = await visit.end(message.command, LASTS)
        _, refusal = await one_refused(visit, bench)
    return [done, refusal]


async def _all_known(visit: Visit, known: list[Settled]) -> None:
    listed = (await visit.ask(GetReport(), Report)).commands
    for settled in known:
        expect(settled in listed, f"{settled!r} in the report", listed)
        received = await visit.outcome(settled.command)
        expect(received == settled, f"{settled!r} when asked", received)


@CHAPTER.requirement(15, "Heartbeat and silence")
async def goes_on(bench: Bench) -> None:
    """A command continues when a new session takes over, and the new session can ask for its outcome."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        message = await begin(visit, bench)
    async with bench.visit() as visit:
        known = await visit.outcome(message.command)
        if known.outcome is Outcome.RUNNING:
            known = await visit.end(message.command, LASTS)
        stopped_itself = known.outcome is Outcome.FAILED and known.reason
        expect(known.outcome is Outcome.DONE or bool(stopped_itself), "DONE, or FAILED with its reason", known)


@CHAPTER.requirement(16, COMMANDS, needs=("CM-06",), hands=True)
async def over_power(bench: Bench) -> None:
    """After a power cut the boot id is new; commands and the count of bench visits are unchanged."""
    known = await _both(bench)
    async with bench.visit() as visit:
        before = await visit.ask(GetReport(), Report)
        await bench.do(POWER_CUT)
    await bench.back()
    async with bench.visit() as visit:
        after = await visit.ask(GetReport(), Report)
        expect(after.boot_id != before.boot_id, "a new boot id", after.boot_id)
        expect(after.bench_visits == before.bench_visits + 1, f"{before.bench_visits + 1} visits", after.bench_visits)
        await _all_known(visit, known)


@CHAPTER.requirement(17, COMMANDS)
async def over_reset(bench: Bench) -> None:
    """A command that runs when a Reset restarts the machine is FAILED with 435 afterwards, and the Reset is DONE."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        running: Any = bench.profile.self_test(bench.next_id())
        resetting: Any = bench.profile.reset(bench.next_id())
        accepted, reply = await together(visit, running, resetting)
        expect(accepted == Accepted(running.command), f"Accepted to {running!r}", accepted)
        done = Settled(resetting.command, Outcome.DONE, 0)
        expect(reply == done, "Settled DONE to a Reset while a command runs", reply)
        await restarted(visit, bench)
        still_runs(visit, running.command)
    async with bench.visit() as visit:
        await _all_known(visit, [Settled(running.command, Outcome.FAILED, POWER_LOST), done])


@CHAPTER.requirement(18, COMMANDS, hands=True)
async def cut_while_running(bench: Bench) -> None:
    """A command that runs when power is lost is FAILED with 435 afterwards, never DONE."""
    await bench.profile.rest(bench)
    for attempt in range(_CUTS):
        command = await _cut(bench)
        if command is None:
            continue
        async with bench.visit() as visit:
            known = await visit.outcome(command)
            if known.outcome is not Outcome.DONE or attempt == _CUTS - 1:
                await _all_known(visit, [Settled(command, Outcome.FAILED, POWER_LOST)])
                return
    raise NotChecked("no command ran at the moment of the power loss")


async def _cut(bench: Bench) -> int | None:
    """Keep the machine testing itself until power goes; return the command that ran then, if one did."""
    loop = asyncio.get_running_loop()
    running: int | None = None
    async with bench.visit() as visit:
        message = await begin(visit, bench)
        running = message.command
        await bench.now(POWER_CUT)
        late = loop.time() + bench.hands.patience
        try:
            while loop.time() < late:
                await visit.end(running, LASTS)
                running = None
                running = (await begin(visit, bench)).command
        except LinkError:
            pass
        else:
            raise NotChecked("the power was not cut")
    await bench.back(not_boot=visit.hello.boot_id)
    return running
