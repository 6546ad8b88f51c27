"""CM-01 to CM-11: how and when a command is answered, and that its id is used once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.conformance.bench import is_switch_on, require_switch
from devices.conformance.protocol.commands.common import (
    CHAPTER,
    COMMAND_LIMIT_S,
    COMMANDS,
    EVERY_MACHINE,
    begin_self_test,
    expect_no_restart,
    refused_while_running,
    require_running,
    reset,
    wait_restarted,
)
from devices.conformance.raw_host import LINE_ALLOWANCE_S, QUIET_S
from devices.conformance.requirements import expect
from firmware_bridge.commands import ACCEPT_TIMEOUT_S, GetReport, Outcome, Report, Settled
from firmware_bridge.errors import CommandIdReused

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.messages import Message

_HIGHEST: Final = (1 << 63) - 1


@CHAPTER.requirement(1, COMMANDS)
async def report(bench: ConformanceBench) -> None:
    """The report has the boot id of the hello, and counts the seconds since that boot."""
    async with bench.session() as visit:
        first = await visit.ask(GetReport(), Report)
        expect(first.boot_id == visit.hello.boot_id, f"boot id {visit.hello.boot_id}", first.boot_id)
        await asyncio.sleep(2.0)
        second = await visit.ask(GetReport(), Report)
        expect(second.uptime_s > first.uptime_s, "more seconds after two more", f"{first.uptime_s}, {second.uptime_s}")


@CHAPTER.requirement(2, COMMANDS)
async def bench_visits(bench: ConformanceBench) -> None:
    """Each session in the role bench raises the count of bench visits by one; nothing else does."""
    seen = []
    for _ in range(3):
        probe = bench.raw_host()
        await probe.greet()  # a hello without a following proof
        seen.append((await (await probe.open_session()).ask(GetReport())).bench_visits)
    expect(seen == [seen[0], seen[0] + 1, seen[0] + 2], "one more each time", f"{seen}")


@CHAPTER.requirement(3, COMMANDS)
async def unknown(bench: ConformanceBench) -> None:
    """The outcome of an unknown id is UNKNOWN, with that id."""
    async with bench.session() as visit:
        for command in (bench.next_id(), 0xFFFF_FFFF, _HIGHEST):
            settled = await visit.ask_outcome(command)
            expect(settled == Settled(command, Outcome.UNKNOWN, 0), f"UNKNOWN about {command}", settled)


@CHAPTER.requirement(4, EVERY_MACHINE)
async def at_once(bench: ConformanceBench) -> None:
    """A command that is done at once, such as Reset, is answered by Settled DONE; no event about it follows."""
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        if bench.profile.switch is not None:
            for make in (bench.profile.switch.on, bench.profile.switch.off):
                command = bench.next_id()
                reply = await visit.send_command(make(command))
                expect(reply == Settled(command, Outcome.DONE, 0), "Settled DONE with reason 0", reply)
            await asyncio.sleep(QUIET_S)
        await reset(visit, bench, bench.next_id())
        ends = visit.events_of(Settled)
    async with bench.session() as visit:
        await asyncio.sleep(QUIET_S)
        ends += visit.events_of(Settled)
    expect(not ends, "no Settled event", ends)


@CHAPTER.requirement(5, COMMANDS)
async def lasting(bench: ConformanceBench) -> None:
    """A command that takes time is answered by Accepted, and ends in exactly one Settled event."""
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        message = await begin_self_test(visit, bench)
        settled = await visit.wait_settled(message.command, COMMAND_LIMIT_S)
        expect(settled == Settled(message.command, Outcome.DONE, 0), "DONE with reason 0", settled)
        await asyncio.sleep(QUIET_S)
        ends = visit.events_of(Settled)
        expect(ends == [settled], "one Settled", ends)


@CHAPTER.requirement(6, COMMANDS)
async def refused(bench: ConformanceBench) -> None:
    """A command that cannot be executed now is refused with a reason, remembered as refused, and not executed later."""
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        if bench.profile.refused is not None:
            await _refused_at_rest(visit, bench.profile.refused(bench.next_id()))
        message, refusal = await refused_while_running(visit, bench)
        known = await visit.ask_outcome(message.command)
        expect(known == refusal, f"{refusal!r} when asked", known)
        reply = await visit.send_command(message)
        expect(reply == refusal, f"{refusal!r} when it comes again, although it could be done now", reply)
        await asyncio.sleep(QUIET_S)
        expect(not visit.events_about(message.command), "no event about it", visit.events_about(message.command))


async def _refused_at_rest(visit: CheckSession, message: Any) -> None:
    reply = await visit.send_command(message)
    meant = isinstance(reply, Settled) and reply.outcome is Outcome.REFUSED and reply.reason
    expect(bool(meant), "Settled REFUSED with a reason", reply)
    known = await visit.ask_outcome(message.command)
    expect(known == reply, f"{reply!r} when asked", known)


@CHAPTER.requirement(7, "Deadlines")
async def in_time(bench: ConformanceBench) -> None:
    """A command is answered within 0.5 s."""
    if bench.profile.switch is not None:
        await bench.profile.bring_to_idle(bench)
        async with bench.session() as visit:
            await visit.ask(GetReport(), Report)  # the line has been measured
            for make in (bench.profile.switch.on, bench.profile.switch.off):
                await _in_time(visit, make(bench.next_id()))
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        await visit.ask(GetReport(), Report)
        test: Any = bench.profile.self_test(bench.next_id())
        await _in_time(visit, test)
        await visit.wait_settled(test.command, COMMAND_LIMIT_S)
        await _in_time(visit, bench.profile.reset(bench.next_id()))
        await wait_restarted(visit, bench)


async def _in_time(visit: CheckSession, message: Message) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await visit.send_command(message)
    took = loop.time() - began
    expect(
        took <= ACCEPT_TIMEOUT_S + LINE_ALLOWANCE_S,
        f"{ACCEPT_TIMEOUT_S} s (and {LINE_ALLOWANCE_S} s for the line)",
        f"{took:.3f} s",
    )


@CHAPTER.requirement(8, COMMANDS)
async def repeated(bench: ConformanceBench) -> None:
    """A repeated id is not executed again, not even a Reset: the answer is its outcome."""
    await bench.profile.bring_to_idle(bench)
    command = bench.next_id()
    async with bench.session() as visit:
        if bench.profile.switch is not None:
            await _switched_once(visit, bench)
        await reset(visit, bench, command)
    async with bench.session() as visit:
        reply = await visit.send_command(bench.profile.reset(command))
        expect(reply == Settled(command, Outcome.DONE, 0), "Settled DONE, as it was", reply)
        await expect_no_restart(visit, bench, "this Reset was done before")


async def _switched_once(visit: CheckSession, bench: ConformanceBench) -> None:
    switch = require_switch(bench.profile)
    on = bench.next_id()
    await visit.complete_command(switch.on(on), COMMAND_LIMIT_S)
    expect(await is_switch_on(visit, bench.profile), "the command to take effect", "no effect")
    await visit.complete_command(switch.off(bench.next_id()), COMMAND_LIMIT_S)
    reply = await visit.send_command(switch.on(on))
    expect(reply == Settled(on, Outcome.DONE, 0), "Settled DONE, as it was", reply)
    expect(not await is_switch_on(visit, bench.profile), "no effect the second time", "it was done again")


@CHAPTER.requirement(9, COMMANDS)
async def repeated_running(bench: ConformanceBench) -> None:
    """A repeated id of a running command is not started again: the answer is RUNNING, and it ends once."""
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        message = await begin_self_test(visit, bench)
        reply = await visit.send_command(message)
        require_running(visit, message.command)
        expect(reply == Settled(message.command, Outcome.RUNNING, 0), "Settled RUNNING", reply)
        await visit.wait_settled(message.command, COMMAND_LIMIT_S)
        reply = await visit.send_command(message)
        expect(reply == Settled(message.command, Outcome.DONE, 0), "Settled DONE", reply)
        await asyncio.sleep(QUIET_S)
        expect(len(visit.events_of(Settled)) == 1, "one end", visit.events_of(Settled))


@CHAPTER.requirement(10, COMMANDS)
async def reused(bench: ConformanceBench) -> None:
    """An id that comes back with another message is refused with reason 413, and nothing is executed."""
    await bench.profile.bring_to_idle(bench)
    command = bench.next_id()
    async with bench.session() as visit:
        message = await begin_self_test(visit, bench)
        await visit.wait_settled(message.command, COMMAND_LIMIT_S)
        if bench.profile.switch is not None:
            await _not_reused(visit, require_switch(bench.profile).on(message.command))
            expect(not await is_switch_on(visit, bench.profile), "nothing done", "it was done")
        await _not_reused(visit, bench.profile.reset(message.command))
        await expect_no_restart(visit, bench, "this id was a self-test's")
        await reset(visit, bench, command)
    async with bench.session() as visit:
        await _not_reused(visit, bench.profile.self_test(command))
        await asyncio.sleep(QUIET_S)
        expect(not visit.events_about(command), "no event about it", visit.events_about(command))


async def _not_reused(visit: CheckSession, message: Any) -> None:
    reply = await visit.send_command(message)
    refusal = Settled(message.command, Outcome.REFUSED, CommandIdReused.number)
    expect(reply == refusal, f"REFUSED with reason {CommandIdReused.number}", reply)
    known = await visit.ask_outcome(message.command)
    expect(known.outcome is Outcome.DONE, "the first message's outcome still known", known)


@CHAPTER.requirement(11, COMMANDS)
async def asking(bench: ConformanceBench) -> None:
    """Asking for an outcome has no effect and may be repeated: RUNNING while it runs, then its end."""
    await bench.profile.bring_to_idle(bench)
    async with bench.session() as visit:
        message = await begin_self_test(visit, bench)
        seen = [await visit.ask_outcome(message.command) for _ in range(3)]
        require_running(visit, message.command)
        expect({settled.outcome for settled in seen} == {Outcome.RUNNING}, "RUNNING each time", seen)
        settled = await visit.wait_settled(message.command, COMMAND_LIMIT_S)
        seen = [await visit.ask_outcome(message.command) for _ in range(3)]
        expect(seen == [settled] * 3, f"{settled!r} each time", seen)
