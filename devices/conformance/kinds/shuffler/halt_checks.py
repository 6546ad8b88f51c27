"""SH-40 to SH-49: the door, a stop in mid-cycle, and clearing. All of them need an operator."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from devices.conformance.assertions import expect_settled
from devices.conformance.kinds.shuffler.setup import (
    CLEAR_PATH,
    COMMANDS,
    CYCLE_LIMIT_S,
    PATH,
    begin_cycle,
    bring_to_idle,
    bring_to_loaded,
    cycling,
    expect_one_end,
    status_of,
)
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import NotChecked, expect
from devices.conformance.shared_checks import (
    CLOSE_DOOR,
    LOOK_INSIDE,
    OPEN_DOOR,
    SHORT_LIMIT_S,
    check_door,
    expect_all_refused,
    try_commands,
)
from devices.edge_log import EDGE_LOG, EdgeLog, GetEdgeLog
from devices.shuffler import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

requirement = partial(cycling, needs_operator=True)
NOT_CLEARING = [name for name in COMMANDS if name != "ClearJam"]


# --- the door when idle -----------------------------------------------------------------------------------------------


@requirement(40, "A cycle")
async def door(bench: ConformanceBench) -> None:
    """Opening and closing the door is reported by Door, and shown in the status."""
    await bring_to_idle(bench)
    await check_door(bench, m)


@requirement(41, "States", at=bring_to_idle)
async def door_open(bench: ConformanceBench, visit: CheckSession) -> None:
    """With the door open every motion is refused with 422."""
    await bench.perform(OPEN_DOOR)
    replies = await try_commands(visit, bench, COMMANDS)
    await bench.perform(CLOSE_DOOR)
    expect_all_refused(replies, m.Reason.DOOR_OPEN, "with the door open")


# --- stopped in mid-cycle -------------------------------------------------------------------------------------------


class CycleHalt(msgspec.Struct):
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
    edge_log: EdgeLog | None = None


async def stopped(bench: ConformanceBench) -> CycleHalt:
    """Stop a cycle, clear the path by hand, empty the compartments; done once for all requirements about it."""
    seen: CycleHalt = await bench.observe_once("halt", _stop)
    return seen


async def _stop(bench: ConformanceBench) -> CycleHalt:
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        command = await begin_cycle(bench, visit)
        reply = await visit.send_command(m.Stop(bench.next_id()))
        settled = await visit.wait_settled(command, SHORT_LIMIT_S)
        await asyncio.sleep(QUIET_S)
        status = await status_of(visit)
        refused = await try_commands(visit, bench, COMMANDS, NOT_CLEARING)
        halt = CycleHalt(command, reply, settled, list(visit.events), status, refused)
        if EDGE_LOG in visit.hello.capabilities:
            halt.edge_log = await visit.ask(GetEdgeLog(), EdgeLog)
    if (await state_of(bench)) is m.State.HALTED:
        await bench.perform(CLEAR_PATH)
        await _clear(bench, halt)
    return halt


async def _clear(bench: ConformanceBench, halt: CycleHalt) -> None:
    async with bench.session() as visit:
        command = bench.next_id()
        if isinstance(await visit.send_command(m.ClearJam(command)), Settled):
            return
        halt.clearing.append(await status_of(visit))
        halt.refused_clearing = await try_commands(visit, bench, COMMANDS)
        halt.clearing.append(await status_of(visit))
        halt.cleared = await visit.wait_settled(command, CYCLE_LIMIT_S)
        await asyncio.sleep(QUIET_S)
        halt.cleared_events, halt.after = list(visit.events), await status_of(visit)


async def state_of(bench: ConformanceBench) -> m.State:
    """Ask for its state in a session of its own."""
    async with bench.session() as visit:
        return (await status_of(visit)).state


@requirement(42, "A cycle", needs=("SH-10",))
async def stop(bench: ConformanceBench) -> None:
    """Stop in mid-cycle is done; the cycle ends in Stopped with 434 and then Settled FAILED with 434."""
    halt = await stopped(bench)
    done = isinstance(halt.stop_reply, Settled) and halt.stop_reply.outcome is Outcome.DONE
    expect(done, "Stop to be DONE", halt.stop_reply)
    expect_settled(halt.settled, Outcome.FAILED, m.Reason.STOPPED)
    ended: m.Stopped = expect_one_end(halt.events, halt.command, m.Stopped, halt.settled)
    expect(ended.reason is m.Reason.STOPPED, "reason 434", ended)


@requirement(43, "Counting", needs=("SH-42",))
async def halted(bench: ConformanceBench) -> None:
    """When stopped in mid-cycle it is HALTED with reason 434, and knows how many cards are inside."""
    halt = await stopped(bench)
    ended: m.Stopped = expect_one_end(halt.events, halt.command, m.Stopped, halt.settled)
    expect((halt.status.state, halt.status.reason) == (m.State.HALTED, m.Reason.STOPPED), "HALTED, 434", halt.status)
    expect(halt.status.inside == ended.entered - ended.left, f"{ended.entered - ended.left} inside", halt.status)
    expect(halt.status.behind_gate == ended.left, f"{ended.left} behind the gate", halt.status)


@requirement(44, "States", needs=("SH-42",))
async def needs_clearing(bench: ConformanceBench) -> None:
    """In HALTED every command but ClearJam is refused with 423."""
    expect_all_refused((await stopped(bench)).refused, m.Reason.NEEDS_CLEARING, "in HALTED")


@requirement(45, "States", needs=("SH-42",))
async def clearing(bench: ConformanceBench) -> None:
    """While it is emptied it is CLEARING, the count inside is nil, and every motion is refused with 420."""
    halt = await stopped(bench)
    if not halt.clearing or halt.clearing[-1].state is not m.State.CLEARING:
        raise NotChecked("it was emptied before it could be observed; run the simulator more slowly")
    for status in halt.clearing:
        expect((status.state, status.inside) == (m.State.CLEARING, None), "CLEARING with nil inside", status)
    expect_all_refused(halt.refused_clearing, m.Reason.BUSY, "in CLEARING")


@requirement(46, "Counting", needs=("SH-42",))
async def cleared(bench: ConformanceBench) -> None:
    """ClearJam ends in Cleared and then Settled DONE, and no more cards come out than were inside."""
    halt = await stopped(bench)
    settled = expect_settled(halt.cleared, Outcome.DONE, m.Reason.NONE)
    reported: m.Cleared = expect_one_end(halt.cleared_events, settled.command, m.Cleared, settled)
    ended: m.Stopped = expect_one_end(halt.events, halt.command, m.Stopped, halt.settled)
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


@requirement(49, "The last edges", needs=("SH-42",), capability=EDGE_LOG)
async def edge_log(bench: ConformanceBench) -> None:
    """After a halt, its edge log has edges of its own sensors in time order, none after the halt."""
    reported = (await stopped(bench)).edge_log
    expect(reported is not None and reported.halted_us is not None, "a halt with its time", reported)
    if reported is None or reported.halted_us is None:
        return
    times = [edge.at_us for edge in reported.edges]
    expect(bool(times) and times == sorted(times), "edges, the oldest first", times)
    expect(times[-1] <= reported.halted_us, "no edge after the halt", reported)
    expect(all(edge.sensor in PATH for edge in reported.edges), "sensors of the path", reported)
    expect(len(reported.currents) == len(m.Motor), f"{len(m.Motor)} currents", reported)


# --- the door in mid-cycle, and doubt -------------------------------------------------------------------------------


@requirement(47, "A cycle", needs=("SH-10",), at=bring_to_loaded)
async def door_in_cycle(bench: ConformanceBench, visit: CheckSession) -> None:
    """Opening the door in mid-cycle stops it: Door, Stopped with 422, Settled FAILED with 422, HALTED."""
    command = await begin_cycle(bench, visit)
    await bench.request_now(OPEN_DOOR)
    settled = await visit.wait_settled(command, bench.operator.effect_timeout_s)
    await asyncio.sleep(QUIET_S)
    status, replies = await status_of(visit), await try_commands(visit, bench, COMMANDS)
    await bench.perform(CLOSE_DOOR)
    expect_settled(settled, Outcome.FAILED, m.Reason.DOOR_OPEN)
    ended: m.Stopped = expect_one_end(visit.events, command, m.Stopped, settled)
    expect(ended.reason is m.Reason.DOOR_OPEN, "reason 422", ended)
    expect(m.Door(True) in visit.events, "Door", visit.events)
    expect((status.state, status.inside) == (m.State.HALTED, None), "HALTED, and nil inside", status)
    expect_all_refused(replies, m.Reason.DOOR_OPEN, "in HALTED with the door open")


@requirement(48, "Counting", needs=("SH-47",), at=bring_to_loaded)
async def doubt(bench: ConformanceBench, visit: CheckSession) -> None:
    """After the door was open in mid-cycle, only a look inside and then a passed self-test make the count known."""
    command = await begin_cycle(bench, visit)
    await bench.request_now(OPEN_DOOR)
    await visit.wait_settled(command, bench.operator.effect_timeout_s)
    await bench.perform(CLEAR_PATH)
    if (await status_of(visit)).door_open:
        await bench.perform(CLOSE_DOOR)
    await visit.complete_command(m.ClearJam(bench.next_id()), CYCLE_LIMIT_S)
    if (await status_of(visit)).state is m.State.READY:
        await visit.complete_command(m.Eject(bench.next_id()), SHORT_LIMIT_S)
    for what in ("emptying", "a self-test without a look inside"):
        status = await status_of(visit)
        expect(status.inside is None, f"nil inside after {what}", status)
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    status = await status_of(visit)
    expect(status.inside is None, "nil inside after a self-test without a look inside", status)
    await bench.perform(LOOK_INSIDE)
    await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    status = await status_of(visit)
    expect(status.inside == 0, "0 inside after a look and a self-test", status)
