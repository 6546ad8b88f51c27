"""Requirements from SH-84 on a continuous shuffler: it keeps its cards, and its counts include every one of them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from devices.conformance.assertions import (
    begin_command,
    expect_refused,
    expect_same_except,
    expect_settled,
    wait_restarted,
)
from devices.conformance.kinds.shuffler.continuous_setup import (
    CHUTE_ROOM,
    COMMANDS,
    COUNT_LIMIT_S,
    DISCARD,
    DRAW,
    DRAW_ALL,
    DRAW_PAIR,
    FEW,
    GATHER,
    MANY,
    STRANGE,
    WITHOUT,
    bring_to_counted,
    bring_to_idle,
    status_of,
)
from devices.conformance.kinds.shuffler.setup import CHAPTER, CYCLE_LIMIT_S, PATH
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import NotChecked, expect
from devices.conformance.shared_checks import (
    CLOSE_DOOR,
    OPEN_DOOR,
    SHORT_LIMIT_S,
    cut_power,
    expect_all_refused,
    expect_path_clear,
    known,
    try_commands,
)
from devices.shuffler import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled
from firmware_bridge.messages import encode

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.messages import Message

requirement = partial(CHAPTER.requirement, capability=m.CONTINUOUS)


class ContinuousMotion(msgspec.Struct):
    """Everything that was seen of one command."""

    before: m.Inventory
    reply: Accepted | Settled
    during: m.Inventory | None = None
    refused: dict[str, Settled | Accepted] = {}
    settled: Settled | None = None
    events: list[Any] = []
    after: m.Inventory | None = None

    def ended(self, kind: type[Any]) -> Any:
        """The one good end that it has."""
        settled = expect_settled(self.settled, Outcome.DONE, m.Reason.NONE)
        about = [event for event in self.events if getattr(event, "command", None) == self.reply.command]
        reported = [event for event in about if not isinstance(event, m.Progress)]
        expect(
            len(reported) == 2 and isinstance(reported[0], kind) and reported[1] == settled,
            f"{kind.__name__}, Settled",
            reported,
        )
        return reported[0]

    def afterwards(self) -> m.Inventory:
        """The inventory then; only asked of what has ended."""
        assert self.after is not None
        return self.after


async def _watched(bench: ConformanceBench, message: Message, within: float) -> ContinuousMotion:
    async with bench.session() as visit:
        motion = ContinuousMotion(await status_of(visit), await visit.send_command(message))
        if isinstance(motion.reply, Settled):
            return motion
        replies = await try_commands(visit, bench, COMMANDS)
        motion.during = await status_of(visit)
        motion.refused = replies
        motion.settled = await visit.wait_settled(motion.reply.command, within)
        await asyncio.sleep(QUIET_S)
        motion.events, motion.after = list(visit.events), await status_of(visit)
        return motion


def _busy(motion: ContinuousMotion, *states: m.State) -> None:
    if motion.during is None or motion.during.state is m.State.IDLE:
        raise NotChecked("it was over before it could be observed; run the simulator more slowly")
    expect(motion.during.state in states, " or ".join(state.name for state in states), motion.during)
    expect_all_refused(motion.refused, m.Reason.BUSY, f"in {motion.during.state.name}")


# --- when idle --------------------------------------------------------------------------------------------------------


@requirement(84, WITHOUT, at=bring_to_idle)
async def inventory(_: ConformanceBench, visit: CheckSession) -> None:
    """GetStatus is answered by an Inventory, which agrees with the sensors."""
    status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
    expect_path_clear(sensors.levels, PATH)
    intake = sensors.levels[m.Sensor.INTAKE].blocked
    expect(intake is status.cards_in_intake, "INTAKE to agree with the status", status)
    for level in sensors.levels:
        expect(level.blocked is (level.level < level.threshold), "blocked below its threshold", level)


@requirement(85, WITHOUT)
async def no_cycles(bench: ConformanceBench) -> None:
    """A command that only a machine with cycles has ends the session, like any unknown message."""
    await bring_to_idle(bench)
    for message in (m.StartCycle(bench.next_id()), m.SetMode(bench.next_id(), m.Mode.SORT)):
        raw = await bench.raw_session()
        raw.request(encode(message))
        expect(not await raw.is_alive(), f"the end of the session after {type(message).__name__}", "it continues")


# --- taking in, counting, delivering --------------------------------------------------------------------------------


async def taken_in(bench: ConformanceBench) -> tuple[ContinuousMotion, Settled | Accepted | None]:
    """Watch how cards are taken in, and try to have one delivered before they are counted."""

    async def observe(bench: ConformanceBench) -> tuple[ContinuousMotion, Settled | Accepted | None]:
        await bring_to_idle(bench)
        async with bench.session() as visit:
            status = await status_of(visit)
            if not status.cards_in_intake:
                await bench.perform(GATHER)
                if not (await status_of(visit)).cards_in_intake:
                    raise NotChecked("there are no cards in the intake")
        motion = await _watched(bench, m.TakeIn(bench.next_id()), CYCLE_LIMIT_S)
        async with bench.session() as visit:
            open_set = motion.after is not None and motion.after.counted is None
            return motion, await visit.send_command(m.Deliver(bench.next_id(), 1)) if open_set else None

    seen: tuple[ContinuousMotion, Settled | Accepted | None] = await bench.observe_once("take in", observe)
    return seen


@requirement(86, WITHOUT)
async def takes_in(bench: ConformanceBench) -> None:
    """TakeIn takes in the intake's cards: TakenIn with their count, then DONE, inside rises by it; 420 meanwhile."""
    motion, _ = await taken_in(bench)
    reported: m.TakenIn = motion.ended(m.TakenIn)
    inside = known(motion.before.inside, "what is inside", motion.before) + reported.count
    expect(reported.count > 0 and reported.inside == inside, f"{inside} inside", reported)
    after = motion.afterwards()
    expect(
        (after.state, after.inside, after.cards_in_intake) == (m.State.IDLE, inside, False), f"IDLE, {inside}", after
    )
    _busy(motion, m.State.FEEDING)


@requirement(87, "States without cycles", needs=("SH-86",))
async def not_counted(bench: ConformanceBench) -> None:
    """Nothing is delivered from a set that is not counted: refused with 439."""
    _, reply = await taken_in(bench)
    if reply is None:
        raise NotChecked("its set was counted already")
    expect_all_refused({"Deliver": reply}, m.Reason.NOT_COUNTED, "before a count")


async def counted(bench: ConformanceBench) -> ContinuousMotion:
    """Watch how the set is counted; done once for all requirements about it."""

    async def observe(bench: ConformanceBench) -> ContinuousMotion:
        await bring_to_counted(bench)
        return await _watched(bench, m.CountAll(bench.next_id()), COUNT_LIMIT_S)

    seen: ContinuousMotion = await bench.observe_once("count", observe)
    return seen


@requirement(88, WITHOUT, needs=("SH-86",))
async def counts(bench: ConformanceBench) -> None:
    """CountAll ends in Counted with all cards inside, then DONE; the set is complete, none outside; 420 meanwhile."""
    motion = await counted(bench)
    reported: m.Counted = motion.ended(m.Counted)
    inside = known(motion.before.inside, "what is inside", motion.before)
    expect((reported.count, reported.outside) == (inside, 0), f"{inside} counted, 0 outside", reported)
    expect_same_except(
        motion.before, motion.afterwards(), counted=inside, outside=0, in_chute=0, cycles=motion.before.cycles + 1
    )
    _busy(motion, m.State.FEEDING, m.State.UNLOADING)


async def delivered(bench: ConformanceBench) -> ContinuousMotion:
    """Watch how cards are delivered; done once for all requirements about it."""

    async def observe(bench: ConformanceBench) -> ContinuousMotion:
        await bring_to_counted(bench)
        return await _watched(bench, m.Deliver(bench.next_id(), FEW), SHORT_LIMIT_S)

    seen: ContinuousMotion = await bench.observe_once("deliver", observe)
    return seen


@requirement(89, WITHOUT, needs=("SH-88",))
async def delivers(bench: ConformanceBench) -> None:
    """Deliver delivers exactly the ordered cards: inside falls by that count, chute and outside rise by it."""
    motion = await delivered(bench)
    reported: m.Delivered = motion.ended(m.Delivered)
    inside = known(motion.before.inside, "what is inside", motion.before) - FEW
    seen = (reported.count, reported.inside, reported.outside, reported.in_chute)
    expect(seen == (FEW, inside, FEW, FEW), f"{FEW} cards, {inside} inside", reported)
    progress = [event for event in motion.events if isinstance(event, m.Progress)]
    expect(bool(progress) and progress[-1].left == FEW, f"Progress that ends at {FEW}", progress[-1:])
    expect_same_except(motion.before, motion.afterwards(), inside=inside, outside=FEW, in_chute=FEW, low=reported.low)
    _busy(motion, m.State.DELIVERING)


async def dealt(bench: ConformanceBench) -> None:
    """Bring it to idle with a few cards in its chute."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        status = await status_of(visit)
        if status.counted is not None and status.in_chute == FEW and not status.cards_in_intake:
            return
    await bring_to_counted(bench)
    async with bench.session() as visit:
        await visit.complete_command(m.Deliver(bench.next_id(), FEW), SHORT_LIMIT_S)


@requirement(90, "States without cycles", needs=("SH-89",), at=dealt)
async def chute_occupied(bench: ConformanceBench, visit: CheckSession) -> None:
    """With cards in the chute CountAll is refused with 438, and so is a delivery that does not fit."""
    before = await status_of(visit)
    await expect_refused(visit, m.CountAll(bench.next_id()), m.Reason.CHUTE_OCCUPIED, "with cards in the chute")
    order = m.Deliver(bench.next_id(), CHUTE_ROOM)
    await expect_refused(visit, order, m.Reason.CHUTE_OCCUPIED, f"for {CHUTE_ROOM} more")
    expect_same_except(before, await status_of(visit))


@requirement(91, "States without cycles", needs=("SH-89",))
async def restart(bench: ConformanceBench) -> None:
    """A restart while idle loses no card: inside, outside and counted are as before; the count in the chute is nil."""
    await dealt(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect_same_except(before, await status_of(visit), in_chute=None)


# --- with an operator -------------------------------------------------------------------------------------------------


@requirement(92, WITHOUT, needs_operator=True, needs=("SH-89",), at=dealt)
async def drawn(bench: ConformanceBench, visit: CheckSession) -> None:
    """Every drawn card is reported by Holds: one fewer in the chute, inside and outside unchanged."""
    before = await status_of(visit)
    in_chute = known(before.in_chute, "what is in the chute", before)
    await bench.perform(DRAW)
    reported = await visit.wait_for_event(m.StoreChanged, bench.operator.effect_timeout_s)
    expected = m.StoreChanged(before.inside, in_chute - 1, m.Reason.NONE)
    expect(reported == expected, repr(expected), reported)
    expect_same_except(before, await status_of(visit), in_chute=in_chute - 1)


@requirement(93, WITHOUT, needs_operator=True, needs=("SH-92",), at=dealt)
async def conserved(bench: ConformanceBench, visit: CheckSession) -> None:
    """Inside and outside always add up to the set, when cards are drawn and when they come back."""
    whole = (await status_of(visit)).counted
    for step in (DRAW_ALL, DISCARD):
        await bench.perform(step)
        await asyncio.sleep(QUIET_S)
        status = await status_of(visit)
        both = (status.inside or 0) + (status.outside or 0)
        expect(both == whole and status.in_chute == 0, f"inside + outside = {whole}, chute empty", status)
    await visit.complete_command(m.TakeIn(bench.next_id()), CYCLE_LIMIT_S)
    status = await status_of(visit)
    expect((status.inside, status.outside, status.counted) == (whole, 0, whole), f"{whole} inside, 0 out", status)


@requirement(94, WITHOUT, needs_operator=True, needs=("SH-92",), at=dealt)
async def drawn_as_one(bench: ConformanceBench, visit: CheckSession) -> None:
    """Two cards drawn as one are detected when the chute runs empty: Holds with 433."""
    await bench.perform(DRAW_PAIR)
    await bench.perform(DRAW_ALL)
    await visit.wait_until(
        lambda event: isinstance(event, m.StoreChanged) and event.reason > 0, bench.operator.effect_timeout_s
    )
    reported = visit.events_of(m.StoreChanged)
    expect([event.reason for event in reported if event.reason] == [m.Reason.COUNTS_DISAGREE], "433, once", reported)
    status = await status_of(visit)
    expect((status.in_chute, status.reason) == (0, m.Reason.COUNTS_DISAGREE), "chute empty, 433", status)


@requirement(95, WITHOUT, needs_operator=True, needs=("SH-89",), at=dealt)
async def one_too_many(bench: ConformanceBench, visit: CheckSession) -> None:
    """More cards than were delivered cannot be of this set: Incomplete, FAILED with 433, HALTED, nil inside."""
    outside = known((await status_of(visit)).outside, "what is outside", "nil")
    await bench.perform(STRANGE)
    command = await begin_command(visit, m.TakeIn(bench.next_id()))
    expect_settled(await visit.wait_settled(command, CYCLE_LIMIT_S), Outcome.FAILED, m.Reason.COUNTS_DISAGREE)
    reported = visit.events_of(m.Incomplete)
    expected = [m.Incomplete(command, outside + 1, outside)]
    expect(reported == expected, f"{outside + 1} in, {outside} outside", reported)
    status = await status_of(visit)
    expect((status.state, status.inside, status.counted) == (m.State.HALTED, None, None), "HALTED, nil", status)


@requirement(96, WITHOUT, needs_operator=True, needs=("SH-88",), at=bring_to_counted)
async def door_on_the_store(bench: ConformanceBench, visit: CheckSession) -> None:
    """Opening the door on the store is reported by Holds with 422; then nothing is delivered until a count agrees."""
    before = await status_of(visit)
    await bench.perform(OPEN_DOOR)
    reported = await visit.wait_for_event(m.StoreChanged, bench.operator.effect_timeout_s)
    expect(reported.inside is None and reported.reason is m.Reason.DOOR_OPEN, "Holds with nil inside and 422", reported)
    await bench.perform(CLOSE_DOOR)
    status = await status_of(visit)
    expect((status.inside, status.counted) == (None, None), "nil inside, nil counted", status)
    await expect_refused(visit, m.Deliver(bench.next_id(), 1), m.Reason.NOT_COUNTED, "after the door was open")
    await visit.complete_command(m.CountAll(bench.next_id()), COUNT_LIMIT_S)
    status = await status_of(visit)
    expect(status.inside == status.counted == before.counted, f"{before.counted} again", status)


async def _in_delivery(bench: ConformanceBench, visit: CheckSession) -> int:
    command = await begin_command(visit, m.Deliver(bench.next_id(), MANY))
    await visit.wait_until(lambda event: isinstance(event, m.Progress) and event.left >= 3, SHORT_LIMIT_S)
    return command


@requirement(97, "States without cycles", needs_operator=True, needs=("SH-89",), at=bring_to_counted)
async def stop(bench: ConformanceBench, visit: CheckSession) -> None:
    """Stop in mid-delivery ends it in Stopped and FAILED with 434; HALTED, nil counted, and 423 to other commands."""
    command = await _in_delivery(bench, visit)
    await visit.send_command(m.Stop(bench.next_id()))
    expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.FAILED, m.Reason.STOPPED)
    reported = visit.events_of(m.Stopped)
    expect(len(reported) == 1 and reported[0].reason is m.Reason.STOPPED, "one Stopped with 434", reported)
    status = await status_of(visit)
    expect((status.state, status.counted) == (m.State.HALTED, None), "HALTED, nil counted", status)
    for order in (m.TakeIn, m.CountAll, m.SelfTest):
        await expect_refused(visit, order(bench.next_id()), m.Reason.NEEDS_CLEARING, "in HALTED")


@requirement(98, "States without cycles", needs_operator=True, needs=("SH-89",))
async def power_lost(bench: ConformanceBench) -> None:
    """A power loss in mid-delivery leaves it FAILED with 435, the machine DOUBTFUL, nil in every count."""
    await bring_to_counted(bench)
    async with bench.session() as visit:
        command = await _in_delivery(bench, visit)
        await cut_power(bench, visit)
    async with bench.session() as visit:
        expect_settled(await visit.ask_outcome(command), Outcome.FAILED, m.Reason.POWER_LOST)
        status = await status_of(visit)
        unknown = (status.inside, status.in_chute, status.outside, status.counted) == (None, None, None, None)
        expect(status.state is m.State.DOUBTFUL and unknown, "DOUBTFUL, every number nil", status)
        await asyncio.sleep(QUIET_S)
        expect(visit.events_of(m.Power) == [m.Power(True)], "one Power, interrupted", visit.events)
