"""SO-30 to SO-59: door, stop, stuck card, double feed and power loss. All of them need an operator."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.conformance.assertions import begin_command, expect_same_levels, expect_settled
from devices.conformance.kinds.shoe.setup import (
    BLOCK_LIMIT_S,
    CHAPTER,
    CLEAR_PATH,
    COMMANDS,
    EMPTY_SLOT,
    NOT_CLEARING,
    PATH,
    bring_to_loaded,
    expect_none_begin,
    expect_one_end,
    status_of,
    wait_for_cards,
)
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import NotChecked, expect
from devices.conformance.shared_checks import (
    CLOSE_DOOR,
    LOOK_INSIDE,
    OPEN_DOOR,
    SHORT_LIMIT_S,
    check_door,
    cut_power,
    expect_all_refused,
    known,
    try_commands,
)
from devices.path_telemetry import OpticalLevel
from devices.shoe import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

requirement = partial(CHAPTER.requirement, capability=m.DISPENSES, needs_operator=True)
# Cards of a stack that have come out when something happens to it.
MIDWAY: Final = 3
JAM: Final = ManualStep("make a card stick under the last sensor of the throat", ("jam:segment=drop",))
DOUBLE: Final = ManualStep("stick the next two cards of the well together, a third of a card apart",
                     ("double_feed:segment=draw",))  # fmt: skip
AS_ONE: Final = ManualStep("stick the next two cards of the well together, exactly on each other",
                     ("double_feed:segment=draw,offset=0",))  # fmt: skip


class StackHalt(msgspec.Struct):
    """A stack of ten that did not come to its end."""

    before: m.Status
    command: int
    settled: Settled
    events: list[Any]
    status: m.Status
    levels: list[OpticalLevel]
    refused: dict[str, Settled | Accepted] = {}

    def ended(self, kind: type[Any], reason: m.Reason) -> Any:
        """The one end that it has."""
        expect_settled(self.settled, Outcome.FAILED, reason)
        expect((self.status.state, self.status.reason) == (m.State.HALTED, reason), f"HALTED, {reason}", self.status)
        return expect_one_end(self.events, self.command, kind, self.settled)


async def _in_mid_stack(bench: ConformanceBench, visit: CheckSession) -> tuple[m.Status, int]:
    before = await status_of(visit)
    command = await begin_command(visit, m.Dispense(bench.next_id(), m.MAX_STACK))
    await wait_for_cards(visit, MIDWAY)
    return before, command


async def _halted(
    bench: ConformanceBench, visit: CheckSession, before: m.Status, command: int, names: list[str]
) -> StackHalt:
    settled = await visit.wait_settled(command, bench.operator.effect_timeout_s + SHORT_LIMIT_S)
    await asyncio.sleep(QUIET_S)
    status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
    replies = await try_commands(visit, bench, COMMANDS, names)
    return StackHalt(before, command, settled, list(visit.events), status, sensors.levels, replies)


def _accounted(halt: StackHalt, moved: int, in_path: int | None, left: int | None) -> None:
    """Every card is in the stack, on the path or in the well; status and last Progress agree."""
    block = known(halt.before.left, "how many were left", halt.before)
    whole = moved + known(in_path, "what is on the path", halt.status) + known(left, "what is left", halt.status)
    expect(whole == block, f"{block} cards in all", f"{moved} dealt, {in_path} on the path, {left} left")
    reported = (halt.status.in_path, halt.status.left)
    expect(reported == (in_path, left), f"{in_path} on the path and {left} left in the status too", halt.status)
    progress = [event for event in halt.events if isinstance(event, m.Progress) and event.command == halt.command]
    right = bool(progress) and (progress[-1].moved, progress[-1].left) == (moved, block - moved)
    expect(right, f"{moved} moved and {block - moved} left in the last Progress", progress[-1:])


# --- the door -------------------------------------------------------------------------------------------------------


@requirement(30, "States")
async def door(bench: ConformanceBench) -> None:
    """The door is reported by Door and shown in the status; while it is open every motion is refused with 422."""
    await bring_to_loaded(bench)

    async def refused(visit: CheckSession) -> None:
        await expect_none_begin(visit, bench, COMMANDS, m.Reason.DOOR_OPEN, "with the door open")

    await check_door(bench, m, refused)


@requirement(31, "Counting", needs=("SO-30",))
async def door_on_cards(bench: ConformanceBench) -> None:
    """After the door was open on cards it is not sure, and its counts are nil."""
    await bring_to_loaded(bench)
    await bench.perform(LOOK_INSIDE)
    async with bench.session() as visit:
        status = await status_of(visit)
        unknown = (status.left, status.in_path, status.drawn) == (None, None, None)
        expect(unknown and not status.counts_certain, "nil counts, not sure", status)


# --- stopped in mid-stack -------------------------------------------------------------------------------------------


async def stopped(bench: ConformanceBench) -> StackHalt:
    """Stop a stack; done once for all requirements about it."""

    async def observe(bench: ConformanceBench) -> StackHalt:
        await bring_to_loaded(bench)
        async with bench.session() as visit:
            before, command = await _in_mid_stack(bench, visit)
            reply = await visit.send_command(m.Stop(bench.next_id()))
            expect(isinstance(reply, Settled) and reply.outcome is Outcome.DONE, "Stop to be DONE", reply)
            return await _halted(bench, visit, before, command, NOT_CLEARING)

    seen: StackHalt = await bench.observe_once("stop", observe)
    return seen


@requirement(32, "What moves, and how it ends", needs=("SO-14",))
async def stop(bench: ConformanceBench) -> None:
    """Stop in mid-stack ends it in Stopped with 434 and Settled FAILED; no further card comes, none is lost."""
    halt = await stopped(bench)
    reported: m.Stopped = halt.ended(m.Stopped, m.Reason.STOPPED)
    expect(reported.reason is m.Reason.STOPPED and MIDWAY <= reported.moved < m.MAX_STACK, "434 in mid-stack", reported)
    _accounted(halt, reported.moved, reported.in_path, reported.left)
    expect(halt.status.delivered == reported.moved, f"{reported.moved} in the slot", halt.status)


@requirement(33, "States", needs=("SO-32",))
async def needs_clearing(bench: ConformanceBench) -> None:
    """In HALTED every command but ClearJam is refused with 423."""
    expect_all_refused((await stopped(bench)).refused, m.Reason.NEEDS_CLEARING, "in HALTED")


@requirement(34, "Counting", needs=("SO-32",), at=bring_to_loaded)
async def doubt(bench: ConformanceBench, visit: CheckSession) -> None:
    """After clearing by hand, it is sure again only after a look inside the empty machine and a passed self-test."""
    _, command = await _in_mid_stack(bench, visit)
    await visit.send_command(m.Stop(bench.next_id()))
    await visit.wait_settled(command, SHORT_LIMIT_S)
    await bench.perform(CLEAR_PATH)
    clear = await begin_command(visit, m.ClearJam(bench.next_id()))
    settled = expect_settled(await visit.wait_settled(clear, BLOCK_LIMIT_S), Outcome.DONE, m.Reason.NONE)
    await asyncio.sleep(QUIET_S)
    expect_one_end(visit.events, clear, m.Cleared, settled)
    status = await status_of(visit)
    expect(status.state is m.State.IDLE and not status.counts_certain, "IDLE, not sure, after it was emptied", status)
    await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    status = await status_of(visit)
    expect(not status.counts_certain and status.left is None, "not sure after a test without a look", status)
    await bench.perform(LOOK_INSIDE)
    status = await status_of(visit)
    expect(not status.counts_certain, "not sure after a look without a test", status)
    await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    status = await status_of(visit)
    expect(status.counts_certain and status.left == 0, "sure that 0 are left, after a look and a test", status)


@requirement(35, "What moves, and how it ends", needs=("SO-14",))
async def door_in_mid_stack(bench: ConformanceBench) -> None:
    """Opening the door in mid-stack stops it: Stopped with 422, Settled FAILED with 422, and it is not sure."""
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        before, command = await _in_mid_stack(bench, visit)
        await bench.request_now(OPEN_DOOR)
        halt = await _halted(bench, visit, before, command, [])
        await bench.perform(CLOSE_DOOR)
    reported: m.Stopped = halt.ended(m.Stopped, m.Reason.DOOR_OPEN)
    expect(reported.reason is m.Reason.DOOR_OPEN and reported.left is None, "422, and nil left", reported)
    expect(not halt.status.counts_certain, "not sure", halt.status)


# --- a card that sticks, and two as one -----------------------------------------------------------------------------


async def jammed(bench: ConformanceBench) -> StackHalt:
    """Let a card stick in mid-stack; done once for all requirements about it."""

    async def observe(bench: ConformanceBench) -> StackHalt:
        await bring_to_loaded(bench)
        async with bench.session() as visit:
            before, command = await _in_mid_stack(bench, visit)
            await bench.request_now(JAM)
            return await _halted(bench, visit, before, command, ["ClearJam"])

    seen: StackHalt = await bench.observe_once("jam", observe)
    return seen


@requirement(40, "What moves, and how it ends", needs=("SO-14",))
async def jam(bench: ConformanceBench) -> None:
    """A stuck card ends the stack in Jam and then Settled FAILED with 430; it is HALTED."""
    (await jammed(bench)).ended(m.Jam, m.Reason.JAM)


@requirement(41, "Counting", needs=("SO-40",))
async def jam_named(bench: ConformanceBench) -> None:
    """Jam has the segment of the stuck card, its number in the stack, and the sensor levels; no card is lost."""
    halt = await jammed(bench)
    reported: m.Jam = halt.ended(m.Jam, m.Reason.JAM)
    where = (reported.phase, reported.segment) == (m.Phase.DISPENSING, m.Segment.DROP)
    expect(where, "DISPENSING, segment DROP", f"{reported.phase.name}, {reported.segment.name}")
    expect_same_levels(halt.levels, reported.levels)
    _accounted(halt, reported.card - 1, reported.in_path, reported.left)
    expect(halt.status.moved == reported.card - 1, f"{reported.card - 1} cards before it", halt.status)


@requirement(42, "States", needs=("SO-40",))
async def path_blocked(bench: ConformanceBench) -> None:
    """While a sensor of the path is dark, ClearJam is refused with 426."""
    halt = await jammed(bench)
    if not any(halt.levels[sensor].blocked for sensor in PATH):
        raise NotChecked("the card did not stick under a sensor")
    expect_all_refused(halt.refused, m.Reason.PATH_BLOCKED, "while the path is dark")


@requirement(43, "Counting", needs=("SO-14",))
async def double_feed(bench: ConformanceBench) -> None:
    """Two cards at once end the stack in Fault 431 and Settled FAILED with 431; the count left is nil."""
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        before, command = await _in_mid_stack(bench, visit)
        await bench.request_now(DOUBLE)
        halt = await _halted(bench, visit, before, command, [])
    reported: m.Fault = halt.ended(m.Fault, m.Reason.DOUBLE_FEED)
    expect(reported.reason is m.Reason.DOUBLE_FEED and reported.left is None, "431, and nil left", reported)
    expect(halt.status.left is None and not halt.status.counts_certain, "nil left, not sure", halt.status)


@requirement(44, "Counting", needs=("SO-14",), at=bring_to_loaded)
async def unbalanced(bench: ConformanceBench, visit: CheckSession) -> None:
    """Two cards that no sensor can distinguish are detected at the stub: Unbalanced, FAILED with 433, not sure."""
    block = known((await status_of(visit)).left, "how many are left", "nil")
    await bench.perform(AS_ONE)
    await visit.complete_command(m.Dispense(bench.next_id(), 2), SHORT_LIMIT_S)
    await bench.perform(EMPTY_SLOT)
    command = await begin_command(visit, m.CountStub(bench.next_id()))
    settled = expect_settled(await visit.wait_settled(command, BLOCK_LIMIT_S), Outcome.FAILED, m.Reason.COUNTS_DISAGREE)
    await asyncio.sleep(QUIET_S)
    expect_one_end(visit.events, command, m.Stub, settled)
    reported = visit.events_of(m.Unbalanced)
    expect(reported == [m.Unbalanced(command, block, block - 1)], f"Unbalanced: {block} in, {block - 1} out", reported)
    status = await status_of(visit)
    expect(status.state is m.State.HALTED and not status.counts_certain, "HALTED, not sure", status)


# --- power ----------------------------------------------------------------------------------------------------------


@requirement(50, "States", needs=("SO-14",))
async def power_lost(bench: ConformanceBench) -> None:
    """A power loss in mid-stack: the stack FAILED with 435, DOUBTFUL, nil counts, Power sent, 423 to other commands."""
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        _, command = await _in_mid_stack(bench, visit)
        await cut_power(bench, visit)
    async with bench.session() as visit:
        expect_settled(await visit.ask_outcome(command), Outcome.FAILED, m.Reason.POWER_LOST)
        status = await status_of(visit)
        doubtful = (status.state, status.left, status.drawn, status.counts_certain) == (
            m.State.DOUBTFUL,
            None,
            None,
            False,
        )
        expect(doubtful and status.reason is m.Reason.POWER_LOST, "DOUBTFUL, nil counts, not sure, 435", status)
        await asyncio.sleep(QUIET_S)
        expect(visit.events_of(m.Power) == [m.Power(True)], "one Power, interrupted", visit.events)
        await expect_none_begin(visit, bench, NOT_CLEARING, m.Reason.NEEDS_CLEARING, "in DOUBTFUL")
