"""CM: commands and reports. At most once, always to be asked about, remembered over sessions and power cuts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.commands import (
    ACCEPT_PATIENCE,
    REMEMBERED,
    Accepted,
    AskCommand,
    GetReport,
    Outcome,
    Report,
    Settled,
)
from firmware_bridge.errors import CommandIdReused
from table_controller.conformance.bench import is_on, switch_of
from table_controller.conformance.hands import Step
from table_controller.conformance.probe import LINE, QUIET
from table_controller.conformance.requirements import Chapter, NotChecked, expect

if TYPE_CHECKING:
    from firmware_bridge.messages import Message
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.requirements import Profile
    from table_controller.conformance.visit import Visit

CHAPTER: Final = Chapter("CM", "Commands and reports", "docs/protocol.md", needs=("HS-04",))
_COMMANDS: Final = "Commands"
# A harmless command that takes time has ended by then (s).
_LASTS: Final = 60.0
_HIGHEST: Final = (1 << 63) - 1

POWER_CUT: Final = Step("switch the machine's power off, count to five, and switch it on", ("power_cut:seconds=1",))


def _switch(profile: Profile) -> bool:
    return profile.switch is not None


def _lasting(profile: Profile) -> bool:
    return profile.lasting is not None


def _both(profile: Profile) -> bool:
    return _switch(profile) and _lasting(profile)


def _refused(profile: Profile) -> bool:
    return profile.refused is not None


def _long(bench: Bench) -> Message:
    """Return the kind's harmless command that takes time, with a fresh id."""
    assert bench.profile.lasting is not None
    return bench.profile.lasting(bench.next_id())


async def _begin(visit: Visit, bench: Bench) -> Any:
    """Have the command that takes time accepted; return it."""
    message: Any = _long(bench)
    reply = await visit.order(message)
    expect(isinstance(reply, Accepted), f"Accepted to {message!r}", reply)
    return message


def _still_runs(visit: Visit, command: int) -> None:
    if any(isinstance(event, Settled) for event in visit.about(command)):
        raise NotChecked("the command ended before anybody could look; let the simulator run more slowly")


@CHAPTER.requirement(1, _COMMANDS)
async def report(bench: Bench) -> None:
    """The report names the hello's boot, and counts the seconds since then."""
    async with bench.visit() as visit:
        first = await visit.ask(GetReport(), Report)
        expect(first.boot_id == visit.hello.boot_id, f"boot id {visit.hello.boot_id}", first.boot_id)
        await asyncio.sleep(2.0)
        second = await visit.ask(GetReport(), Report)
        expect(second.uptime_s > first.uptime_s, "more seconds after two more", f"{first.uptime_s}, {second.uptime_s}")


@CHAPTER.requirement(2, _COMMANDS)
async def bench_visits(bench: Bench) -> None:
    """Every session in the role bench raises the count of bench visits by one, and nothing else does."""
    seen = []
    for _ in range(3):
        probe = bench.probe()
        await probe.greet()  # a hello that nobody follows up
        seen.append((await (await probe.open()).ask(GetReport())).bench_visits)
    expect(seen == [seen[0], seen[0] + 1, seen[0] + 2], "one more each time", f"{seen}")


@CHAPTER.requirement(3, _COMMANDS)
async def unknown(bench: Bench) -> None:
    """Asked about an id that it does not know, it says UNKNOWN with that id."""
    async with bench.visit() as visit:
        for command in (bench.next_id(), 0xFFFF_FFFF, _HIGHEST):
            settled = await visit.outcome(command)
            expect(settled == Settled(command, Outcome.UNKNOWN, 0), f"UNKNOWN about {command}", settled)


@CHAPTER.requirement(4, _COMMANDS, applies=_switch)
async def at_once(bench: Bench) -> None:
    """What is done at once is answered by Settled DONE; no event about it follows."""
    await bench.profile.rest(bench)
    switch = switch_of(bench.profile)
    async with bench.visit() as visit:
        for make in (switch.on, switch.off):
            command = bench.next_id()
            reply = await visit.order(make(command))
            expect(reply == Settled(command, Outcome.DONE, 0), "Settled DONE with reason 0", reply)
        await asyncio.sleep(QUIET)
        ends = visit.told(Settled)
        expect(not ends, "no Settled event", ends)


@CHAPTER.requirement(5, _COMMANDS, applies=_lasting)
async def lasting(bench: Bench) -> None:
    """What takes time is answered by Accepted, and ends in exactly one Settled event."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        message = await _begin(visit, bench)
        settled = await visit.end(message.command, _LASTS)
        expect(settled == Settled(message.command, Outcome.DONE, 0), "DONE with reason 0", settled)
        await asyncio.sleep(QUIET)
        ends = visit.told(Settled)
        expect(ends == [settled], "one Settled", ends)


@CHAPTER.requirement(6, _COMMANDS, applies=_refused)
async def refused(bench: Bench) -> None:
    """What cannot be done now is refused with a reason, and remembered as refused."""
    assert bench.profile.refused is not None
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        command = bench.next_id()
        reply = await visit.order(bench.profile.refused(command))
        meant = isinstance(reply, Settled) and reply.outcome is Outcome.REFUSED and reply.reason
        expect(bool(meant), "Settled REFUSED with a reason", reply)
        known = await visit.outcome(command)
        expect(known == reply, f"{reply!r} when asked", known)


@CHAPTER.requirement(7, "Deadlines", applies=_switch)
async def in_time(bench: Bench) -> None:
    """A command is answered within 0.5 s."""
    await bench.profile.rest(bench)
    loop = asyncio.get_running_loop()
    switch = switch_of(bench.profile)
    async with bench.visit() as visit:
        await visit.ask(GetReport(), Report)  # the line has been measured
        for make in (switch.on, switch.off):
            began = loop.time()
            await visit.order(make(bench.next_id()))
            took = loop.time() - began
            expect(took <= ACCEPT_PATIENCE + LINE, f"{ACCEPT_PATIENCE} s (and {LINE} s for the line)", f"{took:.3f} s")


@CHAPTER.requirement(8, _COMMANDS, applies=_switch)
async def repeated(bench: Bench) -> None:
    """An id that was done is not done again: the answer is what became of it."""
    await bench.profile.rest(bench)
    switch = switch_of(bench.profile)
    async with bench.visit() as visit:
        on = bench.next_id()
        await visit.done(switch.on(on), _LASTS)
        expect(await is_on(visit, bench.profile), "the command to take effect", "no effect")
        await visit.done(switch.off(bench.next_id()), _LASTS)
        reply = await visit.order(switch.on(on))
        expect(reply == Settled(on, Outcome.DONE, 0), "Settled DONE, as it was", reply)
        expect(not await is_on(visit, bench.profile), "no effect the second time", "it was done again")


@CHAPTER.requirement(9, _COMMANDS, applies=_lasting)
async def repeated_running(bench: Bench) -> None:
    """An id that is running is not begun again: the answer is RUNNING, and it ends once."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        message = await _begin(visit, bench)
        reply = await visit.order(message)
        _still_runs(visit, message.command)
        expect(reply == Settled(message.command, Outcome.RUNNING, 0), "Settled RUNNING", reply)
        await visit.end(message.command, _LASTS)
        reply = await visit.order(message)
        expect(reply == Settled(message.command, Outcome.DONE, 0), "Settled DONE", reply)
        await asyncio.sleep(QUIET)
        expect(len(visit.told(Settled)) == 1, "one end", visit.told(Settled))


@CHAPTER.requirement(10, _COMMANDS, applies=_both)
async def reused(bench: Bench) -> None:
    """An id that comes back with another message is refused with reason 413, and nothing is done."""
    await bench.profile.rest(bench)
    switch = switch_of(bench.profile)
    async with bench.visit() as visit:
        message = await _begin(visit, bench)
        await visit.end(message.command, _LASTS)
        reply = await visit.order(switch.on(message.command))
        expect(reply == Settled(message.command, Outcome.REFUSED, CommandIdReused.number),
               f"REFUSED with reason {CommandIdReused.number}", reply)  # fmt: skip
        expect(not await is_on(visit, bench.profile), "nothing done", "it was done")
        known = await visit.outcome(message.command)
        expect(known.outcome is Outcome.DONE, "the first message's outcome still known", known)


@CHAPTER.requirement(11, _COMMANDS, applies=_lasting)
async def asking(bench: Bench) -> None:
    """Asking moves nothing and may be repeated: RUNNING while it runs, then its end."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        message = await _begin(visit, bench)
        seen = [await visit.outcome(message.command) for _ in range(3)]
        _still_runs(visit, message.command)
        expect({settled.outcome for settled in seen} == {Outcome.RUNNING}, "RUNNING each time", seen)
        settled = await visit.end(message.command, _LASTS)
        seen = [await visit.outcome(message.command) for _ in range(3)]
        expect(seen == [settled] * 3, f"{settled!r} each time", seen)


@CHAPTER.requirement(12, _COMMANDS, applies=_switch)
async def remembers(bench: Bench) -> None:
    """It remembers its last 16 commands, and reports them with the oldest first."""
    await bench.profile.rest(bench)
    switch = switch_of(bench.profile)
    async with bench.visit() as visit:
        ids = [bench.next_id() for _ in range(REMEMBERED)]
        for number, command in enumerate(ids):
            await visit.done((switch.off if number % 2 else switch.on)(command), _LASTS)
        forgotten = [command for command in ids if (await visit.outcome(command)).outcome is not Outcome.DONE]
        expect(not forgotten, f"all of the last {REMEMBERED} known", f"{len(forgotten)} forgotten")
        listed = [settled.command for settled in (await visit.ask(GetReport(), Report)).commands]
        expect(listed == ids, "the report to list them, oldest first", f"{listed} in place of {ids}")


@CHAPTER.requirement(13, _COMMANDS, applies=_both)
async def never_forgotten(bench: Bench) -> None:
    """A running command is never forgotten, however many come after it."""
    await bench.profile.rest(bench)
    switch = switch_of(bench.profile)
    async with bench.visit() as visit:
        message = await _begin(visit, bench)
        more = [visit.link.request(switch.off(bench.next_id()), 10.0) for _ in range(REMEMBERED + 1)]
        asked = visit.link.request(AskCommand(message.command), 10.0)
        await asyncio.gather(*more, asked)
        _still_runs(visit, message.command)
        expect(asked.result() == Settled(message.command, Outcome.RUNNING, 0), "RUNNING", asked.result())
        await visit.end(message.command, _LASTS)


@CHAPTER.requirement(14, _COMMANDS, applies=_switch)
async def over_sessions(bench: Bench) -> None:
    """A new session knows the commands of the one before."""
    await bench.profile.rest(bench)
    command = bench.next_id()
    async with bench.visit() as visit:
        await visit.done(switch_of(bench.profile).off(command), _LASTS)
    async with bench.visit() as visit:
        listed = (await visit.ask(GetReport(), Report)).commands
        expect(Settled(command, Outcome.DONE, 0) in listed, "it in the report", listed)
        known = await visit.outcome(command)
        expect(known == Settled(command, Outcome.DONE, 0), "DONE when asked", known)


@CHAPTER.requirement(15, "Heartbeat and silence", applies=_lasting)  # fmt: skip
async def goes_on(bench: Bench) -> None:
    """A command goes on when a new session takes over, and its result is known to that one."""
    await bench.profile.rest(bench)
    async with bench.visit() as visit:
        message = await _begin(visit, bench)
    async with bench.visit() as visit:
        known = await visit.outcome(message.command)
        if known.outcome is Outcome.RUNNING:
            known = await visit.end(message.command, _LASTS)
        stopped_itself = known.outcome is Outcome.FAILED and known.reason
        expect(known.outcome is Outcome.DONE or bool(stopped_itself), "DONE, or FAILED with its reason", known)


@CHAPTER.requirement(16, _COMMANDS, hands=True, applies=_switch)  # fmt: skip
async def over_power(bench: Bench) -> None:
    """After a power cut the boot id is new; commands and the count of bench visits are as they were."""
    await bench.profile.rest(bench)
    command = bench.next_id()
    async with bench.visit() as visit:
        await visit.done(switch_of(bench.profile).off(command), _LASTS)
        before = await visit.ask(GetReport(), Report)
        await bench.do(POWER_CUT)
    await bench.back()
    async with bench.visit() as visit:
        after = await visit.ask(GetReport(), Report)
        expect(after.boot_id != before.boot_id, "a new boot id", after.boot_id)
        expect(after.bench_visits == before.bench_visits + 1, f"{before.bench_visits + 1} visits", after.bench_visits)
        known = await visit.outcome(command)
        expect(known == Settled(command, Outcome.DONE, 0), "DONE", known)
