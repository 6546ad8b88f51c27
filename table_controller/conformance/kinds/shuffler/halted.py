"""SH-40 to SH-49: the door, a stop in mid-cycle, and clearing. All of them need an operator."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from devices.shuffler import messages as m
from devices.trail import TRAIL, GetTrail, Trail
from firmware_bridge.commands import Accepted, Outcome, Settled
from table_controller.conformance.kinds.shuffler.machine import (
    CLEAR_PATH,
    CLOSE_DOOR,
    COMMANDS,
    CYCLE,
    LOOK_INSIDE,
    OPEN_DOOR,
    PATH,
    SHORT,
    all_refused,
    begin,
    cycling,
    loaded,
    one_end,
    refusals,
    rest,
    settled_as,
    some_cards_in,
    status_of,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import NotChecked, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench

requirement = partial(cycling, hands=True)
NOT_CLEARING = [name for name in COMMANDS if name != "ClearJam"]


# --- the door when idle -----------------------------------------------------------------------------------------------


@requirement(40, "A cycle")
async def door(bench: Bench) -> None:
    """Opening and closing the door is reported by Door, and shown in the status."""
    await rest(bench)
    async with bench.visit() as visit:
        for step, is_open in ((OPEN_DOOR, True), (CLOSE_DOOR, False)):
            since = len(visit.events)
            await bench.do(step)
            reported = await visit.event(m.Door, bench.hands.patience, since)
            expect(reported.open is is_open, f"Door open={is_open}", reported)
            status = await status_of(visit)
            expect(status.door_open is is_open, f"door_open={is_open}", status)


@requirement(41, "States")
async def door_open(bench: Bench) -> None:
    """With the door open every motion is refused with 422."""
    await rest(bench)
    async with bench.visit() as visit:
        await bench.do(OPEN_DOOR)
        replies = await refusals(visit, bench, COMMANDS)
        await bench.do(CLOSE_DOOR)
        all_refused(replies, m.Reason.DOOR_OPEN, "with the door open")


# --- stopped in mid-cycle -------------------------------------------------------------------------------------------


class Halt(msgspec.Struct):
    """The observations of a stopped cycle, and of clearing it."""

    command: int
    stop_reply: Accepted | Settled
    settled: Settled
    events: list[Any]
    status: m.Status
    refused: dict[str, Settled | Accepted]
    clearing: list[m.Status] = []
    refused_clearing: dict[str, Settled | Accepted] = {}
    cleared_events: list[Any] = []
    cleared: Settled | None = None
    after: m.Status | None = None
    trail: Trail | None = None


async def stopped(bench: Bench) -> Halt:
    """Stop a cycle, clear the path by hand, have the compartments emptied; done once for all requirements about it."""
    seen: Halt = await bench.once("halt", _stop)
    return seen


async def _stop(bench: Bench) -> Halt:
    await loaded(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
        await some_cards_in(visit)
        reply = await visit.order(m.Stop(bench.next_id()))
        settled = await visit.end(command, SHORT)
        await asyncio.sleep(QUIET)
        status = await status_of(visit)
        halt = Halt(command, reply, settled, list(visit.events), status, await refusals(visit, bench, NOT_CLEARING))
        if TRAIL in visit.hello.capabilities:
            halt.trail = await visit.ask(GetTrail(), Trail)
    if (await state_of(bench)) is m.State.HALTED:
        await bench.do(CLEAR_PATH)
        await _clear(bench, halt)
    return halt


async def _clear(bench: Bench, halt: Halt) -> None:
    async with bench.visit() as visit:
        command = bench.next_id()
        if isinstance(await visit.order(m.ClearJam(command)), Settled):
            return
        halt.clearing.append(await status_of(visit))
        halt.refused_clearing = await refusals(visit, bench, COMMANDS)
        halt.clearing.append(await status_of(visit))
        halt.cleared = await visit.end(command, CYCLE)
        await asyncio.sleep(QUIET)
        halt.cleared_events, halt.after = list(visit.events), await status_of(visit)


async def state_of(bench: Bench) -> m.State:
    """Ask for its state in a session of its own."""
    async with bench.visit() as visit:
        return (await status_of(visit)).state


@requirement(42, "A cycle", needs=("SH-10",))
async def stop(bench: Bench) -> None:
    """Stop in mid-cycle is done; the cycle ends in Stopped with 434 and then Settled FAILED with 434."""
    halt = await stopped(bench)
    done = isinstance(halt.stop_reply, Settled) and halt.stop_reply.outcome is Outcome.DONE
    expect(done, "Stop to be DONE", halt.stop_reply)
    settled_as(halt.settled, Outcome.FAILED, m.Reason.STOPPED)
    ended: m.Stopped = one_end(halt.events, halt.command, m.Stopped, halt.settled)
    expect(ended.reason is m.Reason.STOPPED, "reason 434", ended)


@requirement(43, "Counting", needs=("SH-42",))
async def halted(bench: Bench) -> None:
    """When stopped in mid-cycle it is HALTED with reason 434, and knows how many cards are inside."""
    halt = await stopped(bench)
    ended: m.Stopped = one_end(halt.events, halt.command, m.Stopped, halt.settled)
    expect((halt.status.state, halt.status.reason) == (m.State.HALTED, m.Reason.STOPPED), "HALTED, 434", halt.status)
    expect(halt.status.inside == ended.entered - ended.left, f"{ended.entered - ended.left} inside", halt.status)
    expect(halt.status.behind_gate == ended.left, f"{ended.left} behind the gate", halt.status)


@requirement(44, "States", needs=("SH-42",))
async def needs_clearing(bench: Bench) -> None:
    """In HALTED every command but ClearJam is refused with 423."""
    all_refused((await stopped(bench)).refused, m.Reason.NEEDS_CLEARING, "in HALTED")


@requirement(45, "States", needs=("SH-42",))
async def clearing(bench: Bench) -> None:
    """While it is emptied it is CLEARING, the count inside is nil, and every motion is refused with 420."""
    halt = await stopped(bench)
    if not halt.clearing or halt.clearing[-1].state is not m.State.CLEARING:
        raise NotChecked("it was emptied before it could be observed; run the simulator more slowly")
    for status in halt.clearing:
        expect((status.state, status.inside) == (m.State.CLEARING, None), "CLEARING with nil inside", status)
    all_refused(halt.refused_clearing, m.Reason.BUSY, "in CLEARING")


@requirement(46, "Counting", needs=("SH-42",))
async def cleared(bench: Bench) -> None:
    """ClearJam ends in Cleared and then Settled DONE, and no more cards come out than were inside."""
    halt = await stopped(bench)
    settled = settled_as(halt.cleared, Outcome.DONE, m.Reason.NONE)
    reported: m.Cleared = one_end(halt.cleared_events, settled.command, m.Cleared, settled)
    ended: m.Stopped = one_end(halt.events, halt.command, m.Stopped, halt.settled)
    expect(reported.emptied <= ended.entered - ended.left, f"at most {ended.entered - ended.left} cards", reported)
    expect(
        reported.behind_gate == ended.left + reported.emptied,
        f"{ended.left} + {reported.emptied} behind the gate",
        reported,
    )
    expect(
        halt.after is not None and halt.after.behind_gate == reported.behind_gate,
        f"{reported.behind_gate} in the status",
        halt.after,
    )
    state = m.State.READY if reported.behind_gate else m.State.IDLE
    expect(halt.after is not None and halt.after.state is state, state.name, halt.after)


@requirement(49, "The last edges", needs=("SH-42",), capability=TRAIL)
async def trail(bench: Bench) -> None:
    """After a halt, its edge log has edges of its own sensors in time order, none after the halt."""
    reported = (await stopped(bench)).trail
    expect(reported is not None and reported.halted is not None, "a halt with its time", reported)
    if reported is None or reported.halted is None:
        return
    times = [edge.at for edge in reported.edges]
    expect(bool(times) and times == sorted(times), "edges, the oldest first", times)
    expect(times[-1] <= reported.halted, "no edge after the halt", reported)
    expect(all(edge.sensor in PATH for edge in reported.edges), "sensors of the path", reported)
    expect(len(reported.currents) == len(m.Motor), f"{len(m.Motor)} currents", reported)


# --- the door in mid-cycle, and doubt -------------------------------------------------------------------------------


@requirement(47, "A cycle", needs=("SH-10",))
async def door_in_cycle(bench: Bench) -> None:
    """Opening the door in mid-cycle stops it: Door, Stopped with 422, Settled FAILED with 422, HALTED."""
    await loaded(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
        await some_cards_in(visit)
        await bench.now(OPEN_DOOR)
        settled = await visit.end(command, bench.hands.patience)
        await asyncio.sleep(QUIET)
        status, replies = await status_of(visit), await refusals(visit, bench, COMMANDS)
        await bench.do(CLOSE_DOOR)
        settled_as(settled, Outcome.FAILED, m.Reason.DOOR_OPEN)
        ended: m.Stopped = one_end(visit.events, command, m.Stopped, settled)
        expect(ended.reason is m.Reason.DOOR_OPEN, "reason 422", ended)
        expect(m.Door(True) in visit.events, "Door", visit.events)
        expect((status.state, status.inside) == (m.State.HALTED, None), "HALTED, and nil inside", status)
        all_refused(replies, m.Reason.DOOR_OPEN, "in HALTED with the door open")


@requirement(48, "Counting", needs=("SH-47",))
async def doubt(bench: Bench) -> None:
    """After the door was open in mid-cycle, only a look inside and then a passed self-test make the count known."""
    await loaded(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
        await some_cards_in(visit)
        await bench.now(OPEN_DOOR)
        await visit.end(command, bench.hands.patience)
        await bench.do(CLEAR_PATH)
        if (await status_of(visit)).door_open:
            await bench.do(CLOSE_DOOR)
        await visit.done(m.ClearJam(bench.next_id()), CYCLE)
        if (await status_of(visit)).state is m.State.READY:
            await visit.done(m.Eject(bench.next_id()), SHORT)
        for what in ("emptying", "a self-test without a look inside"):
            status = await status_of(visit)
            expect(status.inside is None, f"nil inside after {what}", status)
            await visit.done(m.SelfTest(bench.next_id()), SHORT)
        status = await status_of(visit)
        expect(status.inside is None, "nil inside after a self-test without a look inside", status)
        await bench.do(LOOK_INSIDE)
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
        status = await status_of(visit)
        expect(status.inside == 0, "0 inside after a look and a self-test", status)
