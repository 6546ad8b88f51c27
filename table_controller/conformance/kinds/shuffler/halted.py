"""SH-40 to SH-69: doors, stops, jams, power cuts in mid-cycle, and the way back. All of it needs hands."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from devices.shuffler import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled
from table_controller.conformance.hands import Step
from table_controller.conformance.kinds.shuffler.machine import (
    CHAPTER,
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
    loaded,
    one_end,
    refusals,
    rest,
    settled_as,
    some_cards_in,
    status_of,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.protocol.commands import POWER_CUT
from table_controller.conformance.requirements import NotChecked, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

JAM = Step("make a card stick under a sensor of the path", ("jam:segment=shelf",))
DOUBLE = Step("put two cards that stick together, a third of a card apart, on top of the deck in the intake", ("double_feed",))
SHORT_CARD = Step("put half a card on top of the deck in the intake", ("torn_card",))
# A run with a person's hands: the longest that one of these may take (s).
LONG = 1800.0

requirement = partial(CHAPTER.requirement, hands=True, limit=LONG)
_NOT_CLEARING = [name for name in COMMANDS if name != "ClearJam"]


# --- the door at rest -----------------------------------------------------------------------------------------------


@requirement(40, "Opening and closing the door is told by Door, and shown in the status.", "A cycle")
async def door(bench: Bench) -> None:
    await rest(bench)
    async with bench.visit() as visit:
        for step, is_open in ((OPEN_DOOR, True), (CLOSE_DOOR, False)):
            since = len(visit.events)
            await bench.do(step)
            told = await visit.event(m.Door, bench.hands.patience, since)
            expect(told.open is is_open, f"Door open={is_open}", told)
            status = await status_of(visit)
            expect(status.door_open is is_open, f"door_open={is_open}", status)


@requirement(41, "With the door open every motion is refused with 422.", "States")
async def door_open(bench: Bench) -> None:
    await rest(bench)
    async with bench.visit() as visit:
        await bench.do(OPEN_DOOR)
        said = await refusals(visit, bench, COMMANDS)
        await bench.do(CLOSE_DOOR)
        all_refused(said, m.Reason.DOOR_OPEN, "with the door open")


# --- stopped in mid-cycle -------------------------------------------------------------------------------------------


class Halt(msgspec.Struct):
    """Everything that was seen of a cycle that was stopped, and of the way back."""

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


async def stopped(bench: Bench) -> Halt:
    """Stop a cycle, clear the path by hand, have the compartments emptied; once for all the requirements about it."""
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
        halt = Halt(command, reply, settled, list(visit.events), status, await refusals(visit, bench, _NOT_CLEARING))
    if (await _state(bench)) is m.State.HALTED:
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


async def _state(bench: Bench) -> m.State:
    async with bench.visit() as visit:
        return (await status_of(visit)).state


@requirement(42, "Stop in mid-cycle is done; the cycle ends in Stopped with 434 and then Settled FAILED with 434.", "A cycle", needs=("SH-10",))
async def stop(bench: Bench) -> None:
    halt = await stopped(bench)
    done = isinstance(halt.stop_reply, Settled) and halt.stop_reply.outcome is Outcome.DONE
    expect(done, "Stop to be DONE", halt.stop_reply)
    settled_as(halt.settled, Outcome.FAILED, m.Reason.STOPPED)
    ended: m.Stopped = one_end(halt.events, halt.command, m.Stopped, halt.settled)
    expect(ended.reason is m.Reason.STOPPED, "reason 434", ended)


@requirement(43, "Stopped in mid-cycle it is HALTED with reason 434, and knows how many cards are inside.", "Counting", needs=("SH-42",))
async def halted(bench: Bench) -> None:
    halt = await stopped(bench)
    ended: m.Stopped = one_end(halt.events, halt.command, m.Stopped, halt.settled)
    expect((halt.status.state, halt.status.reason) == (m.State.HALTED, m.Reason.STOPPED), "HALTED, 434", halt.status)
    expect(halt.status.inside == ended.entered - ended.left, f"{ended.entered - ended.left} inside", halt.status)
    expect(halt.status.behind_gate == ended.left, f"{ended.left} behind the gate", halt.status)


@requirement(44, "In HALTED everything but ClearJam is refused with 423.", "States", needs=("SH-42",))
async def needs_clearing(bench: Bench) -> None:
    all_refused((await stopped(bench)).refused, m.Reason.NEEDS_CLEARING, "in HALTED")


@requirement(45, "While it is emptied it is CLEARING, the number inside is nil, and every motion is refused with 420.", "States", needs=("SH-42",))
async def clearing(bench: Bench) -> None:
    halt = await stopped(bench)
    if not halt.clearing or halt.clearing[-1].state is not m.State.CLEARING:
        raise NotChecked("it was emptied before anybody could look; let the simulator run more slowly")
    for status in halt.clearing:
        expect((status.state, status.inside) == (m.State.CLEARING, None), "CLEARING with nil inside", status)
    all_refused(halt.refused_clearing, m.Reason.BUSY, "in CLEARING")


@requirement(46, "ClearJam ends in Cleared and then Settled DONE, and no more cards come out than were inside.", "Counting", needs=("SH-42",))
async def cleared(bench: Bench) -> None:
    halt = await stopped(bench)
    settled = settled_as(halt.cleared, Outcome.DONE, m.Reason.NONE)
    told: m.Cleared = one_end(halt.cleared_events, settled.command, m.Cleared, settled)
    ended: m.Stopped = one_end(halt.events, halt.command, m.Stopped, halt.settled)
    expect(told.emptied <= ended.entered - ended.left, f"at most {ended.entered - ended.left} cards", told)
    expect(told.behind_gate == ended.left + told.emptied, f"{ended.left} + {told.emptied} behind the gate", told)
    expect(halt.after is not None and halt.after.behind_gate == told.behind_gate, f"{told.behind_gate} in the status", halt.after)
    state = m.State.READY if told.behind_gate else m.State.IDLE
    expect(halt.after is not None and halt.after.state is state, state.name, halt.after)


# --- the door in mid-cycle, and doubt -------------------------------------------------------------------------------


@requirement(47, "Opening the door in mid-cycle stops it: Door, Stopped with 422, Settled FAILED with 422, HALTED.", "A cycle", needs=("SH-10",))
async def door_in_cycle(bench: Bench) -> None:
    await loaded(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
        await some_cards_in(visit)
        await bench.now(OPEN_DOOR)
        settled = await visit.end(command, bench.hands.patience)
        await asyncio.sleep(QUIET)
        status, said = await status_of(visit), await refusals(visit, bench, COMMANDS)
        await bench.do(CLOSE_DOOR)
        settled_as(settled, Outcome.FAILED, m.Reason.DOOR_OPEN)
        ended: m.Stopped = one_end(visit.events, command, m.Stopped, settled)
        expect(ended.reason is m.Reason.DOOR_OPEN, "reason 422", ended)
        expect(m.Door(True) in visit.events, "Door", visit.events)
        expect((status.state, status.inside) == (m.State.HALTED, None), "HALTED, and nil inside", status)
        all_refused(said, m.Reason.DOOR_OPEN, "in HALTED with the door open")


@requirement(48, "After the door was open in mid-cycle, only a look inside and then a passed self-test end the doubt.", "Counting", needs=("SH-47",))
async def doubt(bench: Bench) -> None:
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


# --- what cards do --------------------------------------------------------------------------------------------------


class Stuck(msgspec.Struct):
    """What was seen of a cycle that a stuck card ended."""

    command: int
    settled: Settled
    events: list[Any]
    status: m.Status
    levels: list[m.SensorLevel]
    refused: dict[str, Settled | Accepted]


async def jammed(bench: Bench) -> Stuck:
    """Let a card stick in mid-cycle; once for all the requirements about it."""
    seen: Stuck = await bench.once("jam", _jam)
    return seen


async def _jam(bench: Bench) -> Stuck:
    await loaded(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
        await some_cards_in(visit)
        await bench.now(JAM)
        settled = await visit.end(command, bench.hands.patience + CYCLE)
        await asyncio.sleep(QUIET)
        status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
        dark = any(sensors.levels[sensor].blocked for sensor in PATH)
        said = await refusals(visit, bench, ["ClearJam"]) if dark else {}
        return Stuck(command, settled, list(visit.events), status, sensors.levels, said)


@requirement(50, "A card that sticks ends the cycle in Jam and then Settled FAILED with 430.", "A cycle", needs=("SH-10",))
async def jam(bench: Bench) -> None:
    stuck = await jammed(bench)
    settled_as(stuck.settled, Outcome.FAILED, m.Reason.JAM)
    one_end(stuck.events, stuck.command, m.Jam, stuck.settled)


@requirement(51, "Jam names the stuck card by a segment and a count of its phase, and pictures the sensors.", "Counting", needs=("SH-50",))
async def jam_named(bench: Bench) -> None:
    stuck = await jammed(bench)
    ended: m.Jam = one_end(stuck.events, stuck.command, m.Jam, stuck.settled)
    feeding = ended.segment <= m.Segment.SHELF
    expect(feeding is (ended.phase is m.Phase.FEEDING), "a segment of the phase", ended)
    counted = ended.entered if feeding else ended.left + 1
    expect(ended.card == counted, f"card {counted}", ended)
    expect(ended.levels == stuck.levels, f"the sensors as they still are: {stuck.levels}", ended)


@requirement(52, "Jammed it is HALTED with reason 430, and knows how many cards are inside.", "Counting", needs=("SH-50",))
async def jam_halted(bench: Bench) -> None:
    stuck = await jammed(bench)
    ended: m.Jam = one_end(stuck.events, stuck.command, m.Jam, stuck.settled)
    expect((stuck.status.state, stuck.status.reason) == (m.State.HALTED, m.Reason.JAM), "HALTED with 430", stuck.status)
    expect(stuck.status.inside == ended.inside, f"{ended.inside} inside", stuck.status)


@requirement(53, "While a sensor of the path is dark ClearJam is refused with 426.", "States", needs=("SH-50",))
async def path_blocked(bench: Bench) -> None:
    stuck = await jammed(bench)
    if not stuck.refused:
        raise NotChecked("the card did not stick under a sensor")
    all_refused(stuck.refused, m.Reason.PATH_BLOCKED, "while the path is dark")


@requirement(54, "Two cards at once end the cycle in Fault 431 and Settled FAILED with 431; the number inside is nil.", "A cycle", needs=("SH-10",))
async def double_feed(bench: Bench) -> None:
    await _fault(bench, DOUBLE, m.Reason.DOUBLE_FEED, doubtful=True)


@requirement(55, "Part of a card ends the cycle in Fault 432 and Settled FAILED with 432.", "A cycle", needs=("SH-10",))
async def short_card(bench: Bench) -> None:
    await _fault(bench, SHORT_CARD, m.Reason.SHORT_CARD, doubtful=False)


async def _fault(bench: Bench, step: Step, reason: m.Reason, *, doubtful: bool) -> None:
    await loaded(bench)
    await bench.do(step)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
        settled = await visit.end(command, CYCLE)
        await asyncio.sleep(QUIET)
        settled_as(settled, Outcome.FAILED, reason)
        ended: m.Fault = one_end(visit.events, command, m.Fault, settled)
        expect(ended.reason is reason, f"reason {reason}", ended)
        status = await status_of(visit)
        expect((status.state, status.reason) == (m.State.HALTED, reason), f"HALTED with {reason}", status)
        inside = None if doubtful else ended.entered - ended.left
        expect(status.inside == inside, f"{inside} inside", status)


# --- power ----------------------------------------------------------------------------------------------------------


class Cut(msgspec.Struct):
    """What was seen after power went in mid-cycle."""

    boots: tuple[int, int]
    known: Settled
    status: m.Status
    events: list[Any]
    refused: dict[str, Settled | Accepted]


async def cut_off(bench: Bench) -> Cut:
    """Cut the power in mid-cycle; once for all the requirements about it."""
    seen: Cut = await bench.once("cut", _cut)
    return seen


async def _cut(bench: Bench) -> Cut:
    await loaded(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
        await some_cards_in(visit)
        await bench.now(POWER_CUT)
        if not await visit.ends(bench.hands.patience):
            raise NotChecked("nobody cut the power")
    await bench.back(not_boot=visit.hello.boot_id)
    async with bench.visit() as again:
        known, status = await again.outcome(command), await status_of(again)
        await asyncio.sleep(QUIET)
        said = await refusals(again, bench, _NOT_CLEARING)
        return Cut((visit.hello.boot_id, again.hello.boot_id), known, status, list(again.events), said)


@requirement(60, "Power that goes in mid-cycle leaves the cycle FAILED with 435 and the machine DOUBTFUL, nil inside.", "States", needs=("SH-10",))
async def power_lost(bench: Bench) -> None:
    cut = await cut_off(bench)
    settled_as(cut.known, Outcome.FAILED, m.Reason.POWER_LOST)
    expect((cut.status.state, cut.status.inside) == (m.State.DOUBTFUL, None), "DOUBTFUL, nil inside", cut.status)
    expect(cut.status.reason is m.Reason.POWER_LOST, "reason 435", cut.status)


@requirement(61, "The next session begins with the event Power, interrupted.", "A cycle", needs=("SH-60",))
async def power_told(bench: Bench) -> None:
    cut = await cut_off(bench)
    told = [event for event in cut.events if isinstance(event, m.Power)]
    expect(told == [m.Power(True)], "one Power, interrupted", cut.events)


@requirement(62, "In DOUBTFUL everything but ClearJam is refused with 423.", "States", needs=("SH-60",))
async def doubtful(bench: Bench) -> None:
    all_refused((await cut_off(bench)).refused, m.Reason.NEEDS_CLEARING, "in DOUBTFUL")


@requirement(63, "Emptied after a power cut, it still does not know what is inside.", "Counting", needs=("SH-60",))
async def still_unknown(bench: Bench) -> None:
    await cut_off(bench)
    if (await _state(bench)) is not m.State.DOUBTFUL:
        raise NotChecked("it is not DOUBTFUL any more")
    await bench.do(CLEAR_PATH)
    async with bench.visit() as visit:
        await visit.done(m.ClearJam(bench.next_id()), CYCLE)
        status = await status_of(visit)
        expect(status.inside is None, "nil inside", status)
    await rest(bench)
