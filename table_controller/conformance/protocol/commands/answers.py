"""CM-01 to CM-11: how and when a command is answered, and that its id is used once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.commands import ACCEPT_PATIENCE, GetReport, Outcome, Report, Settled
from firmware_bridge.errors import CommandIdReused
from table_controller.conformance.bench import is_on, switch_of
from table_controller.conformance.probe import LINE, QUIET
from table_controller.conformance.protocol.commands.orders import (
    CHAPTER,
    COMMANDS,
    EVERY_MACHINE,
    LASTS,
    begin,
    no_restart,
    one_refused,
    reset,
    restarted,
    still_runs,
)
from table_controller.conformance.requirements import expect

if TYPE_CHECKING:
    from firmware_bridge.messages import Message
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

_HIGHEST: Final = (1 << 63) - 1


@CHAPTER.requirement(1, COMMANDS)
async def report(bench: Bench) -> None:
    """The report has the boot id of the hello, and counts the seconds since that boot."""
    async with bench.visit() as visit:
        first = await visit.ask(GetReport(), Report)
        expect(first.boot_id == visit.hello.boot_id, f"boot id {visit.hello.boot_id}", first.boot_id)
        await asyncio.sleep(2.0)
        second = await visit.ask(GetReport(), Report)
        expect(second.uptime_s > first.uptime_s, "more seconds after two more", f"{first.uptime_s}, {second.uptime_s}")


@CHAPTER.requirement(2, COMMANDS)
async def bench_visits(bench: Bench) -> None:
    """Each session in the role bench raises the count of bench visits by one; nothing else does."""
    seen = []
    for _ in range(3):
        probe = bench.probe()
        await probe.greet()  # a hello without a following proof
        seen.append((await (await probe.open()).ask(GetReport())).bench_visits)
    expect(seen == [seen[0], seen[0] + 1, seen[0] + 2], "one more each time", f"{seen}")


@CHAPTER.requirement(3, COMMANDS)
async def unknown(bench: Bench) -> None:
    """The outcome of an unknown id is UNKNOWN, with that id."""
    async with bench.visit() as visit:
        for command in (bench.next_id(), 0xFFFF_FFFF, _HIGHEST):
            settled = await visit.outcome(command)
            expect(settled == Settled(command, Outcome.UNKNOWN, 0), f"UNKNOWN about {command}", settled)


@CHAPTER.requirement(4, EVERY_MACHINE)
async def at_once(bench: Bench) -> None:
    """A command that is done at once, such as Reset, is answered by Settled DONE; no event about it follows."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        if bench.profile.switch is not None:
            for make in (bench.profile.switch.on, bench.profile.switch.off):
                command = bench.next_id()
                reply = await visit.order(make(command))
                expect(reply == Settled(command, Outcome.DONE, 0), "Settled DONE with reason 0", reply)
            await asyncio.sleep(QUIET)
        await reset(visit, bench, bench.next_id())
        ends = visit.told(Settled)
    async with bench.visit() as visit:
        await asyncio.sleep(QUIET)
        ends += visit.told(Settled)
    expect(not ends, "no Settled event", ends)


@CHAPTER.requirement(5, COMMANDS)
async def lasting(bench: Bench) -> None:
    """A command that takes time is answered by Accepted, and ends in exactly one Settled event."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        message = await begin(visit, bench)
        settled = await visit.end(message.command, LASTS)
        expect(settled == Settled(message.command, Outcome.DONE, 0), "DONE with reason 0", settled)
        await asyncio.sleep(QUIET)
        ends = visit.told(Settled)
        expect(ends == [settled], "one Settled", ends)


@CHAPTER.requirement(6, COMMANDS)
async def refused(bench: Bench) -> None:
    """A command that cannot be executed now is refused with a reason, remembered as refused, and not executed later."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        if bench.profile.refused is not None:
            await _refused_at_rest(visit, bench.profile.refused(bench.next_id()))
        message, refusal = await one_refused(visit, bench)
        known = await visit.outcome(message.command)
        expect(known == refusal, f"{refusal!r} when asked", known)
        reply = await visit.order(message)
        expect(reply == refusal, f"{refusal!r} when it comes again, although it could be done now", reply)
        await asyncio.sleep(QUIET)
        expect(not visit.about(message.command), "no event about it", visit.about(message.command))


async def _refused_at_rest(visit: Visit, message: Any) -> None:
    reply = await visit.order(message)
    meant = isinstance(reply, Settled) and reply.outcome is Outcome.REFUSED and reply.reason
    expect(bool(meant), "Settled REFUSED with a reason", reply)
    known = await visit.outcome(message.command)
    expect(known == reply, f"{reply!r} when asked", known)


@CHAPTER.requirement(7, "Deadlines")
async def in_time(bench: Bench) -> None:
    """A command is answered within 0.5 s."""
    if bench.profile.switch is not None:
        await bench.profile.rest(bench)
        async with bench.visit() as visit:
            await visit.ask(GetReport(), Report)  # the line has been measured
            for make in (bench.profile.switch.on, bench.profile.switch.off):
                await _in_time(visit, make(bench.next_id()))
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        await visit.ask(GetReport(), Report)
        test: Any = bench.profile.self_test(bench.next_id())
        await _in_time(visit, test)
        await visit.end(test.command, LASTS)
        await _in_time(visit, bench.profile.reset(bench.next_id()))
        await restarted(visit, bench)


async def _in_time(visit: Visit, message: Message) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await visit.order(message)
    took = loop.time() - began
    expect(took <= ACCEPT_PATIENCE + LINE, f"{ACCEPT_PATIENCE} s (and {LINE} s for the line)", f"{took:.3f} s")


@CHAPTER.requirement(8, COMMANDS)
async def repeated(bench: Bench) -> None:
    """A repeated id is not executed again, not even a Reset: the answer is its outcome."""
    await bench.profile.rest(bench)
    command = bench.next_id()
    async with bench.visit() as visit:
        if bench.profile.switch is not None:
            await _switched_once(visit, bench)
        await reset(visit, bench, command)
    async with bench.visit() as visit:
        reply = await visit.order(bench.profile.reset(command))
        expect(reply == Settled(command, Outcome.DONE, 0), "Settled DONE, as it was", reply)
        await no_restart(visit, bench, "this Reset was done before")


async def _switched_once(visit: Visit, bench: Bench) -> None:
    switch = switch_of(bench.profile)
    on = bench.next_id()
    await visit.done(switch.on(on), LASTS)
    expect(await is_on(visit, bench.profile), "the command to take effect", "no effect")
    await visit.done(switch.off(bench.next_id()), LASTS)
    reply = await visit.order(switch.on(on))
    expect(reply == Settled(on, Outcome.DONE, 0), "Settled DONE, as it was", reply)
    expect(not await is_on(visit, bench.profile), "no effect the second time", "it was done again")


@CHAPTER.requirement(9, COMMANDS)
async def repeated_running(bench: Bench) -> None:
    """A repeated id of a running command is not started again: the answer is RUNNING, and it ends once."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        message = await begin(visit, bench)
        reply = await visit.order(message)
        still_runs(visit, message.command)
        expect(reply == Settled(message.command, Outcome.RUNNING, 0), "Settled RUNNING", reply)
        await visit.end(message.command, LASTS)
        reply = await visit.order(message)
        expect(reply == Settled(message.command, Outcome.DONE, 0), "Settled DONE", reply)
        await asyncio.sleep(QUIET)
        expect(len(visit.told(Settled)) == 1, "one end", visit.told(Settled))


@CHAPTER.requirement(10, COMMANDS)
async def reused(bench: Bench) -> None:
    """An id that comes back with another message is refused with reason 413, and nothing is executed."""
    await bench.profile.rest(bench)
    command = bench.next_id()
    async with bench.visit() as visit:
        message = await begin(visit, bench)
        await visit.end(message.command, LASTS)
        if bench.profile.switch is not None:
            await _not_reused(visit, switch_of(bench.profile).on(message.command))
            expect(not await is_on(visit, bench.profile), "nothing done", "it was done")
        await _not_reused(visit, bench.profile.reset(message.command))
        await no_restart(visit, bench, "this id was a self-test's")
        await reset(visit, bench, command)
    async with bench.visit() as visit:
        await _not_reused(visit, bench.profile.self_test(command))
        await asyncio.sleep(QUIET)
        expect(not visit.about(command), "no event about it", visit.about(command))


async def _not_reused(visit: Visit, message: Any) -> None:
    reply = await visit.order(message)
    refusal = Settled(message.command, Outcome.REFUSED, CommandIdReused.number)
    expect(reply == refusal, f"REFUSED with reason {CommandIdReused.number}", reply)
    known = await visit.outcome(message.command)
    expect(known.outcome is Outcome.DONE, "the first message's outcome still known", known)


@CHAPTER.requirement(11, COMMANDS)
async def asking(bench: Bench) -> None:
    """Asking for an outcome has no effect and may be repeated: RUNNING while it runs, then its end."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        message = await begin(visit, bench)
        seen = [await visit.outcome(message.command) for _ in range(3)]
        still_runs(visit, message.command)
        expect({settled.outcome for settled in seen} == {Outcome.RUNNING}, "RUNNING each time", seen)
        settled = await visit.end(message.command, LASTS)
        seen = [await visit.outcome(message.command) for _ in range(3)]
        expect(seen == [settled] * 3, f"{settled!r} each time", seen)
