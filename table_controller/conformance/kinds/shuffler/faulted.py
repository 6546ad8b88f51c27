"""SH-50 to SH-69: stuck card, double feed, short card and power loss in mid-cycle. All need an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.gauges import SensorLevel
from devices.shuffler import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled
from table_controller.conformance.hands import Step
from table_controller.conformance.judging import same_picture
from table_controller.conformance.kinds.shuffler.halted import NOT_CLEARING, requirement, state_of
from table_controller.conformance.kinds.shuffler.machine import (
    CLEAR_PATH,
    CYCLE,
    PATH,
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

JAM: Final = Step("make a card stick under a sensor of the path", ("jam:segment=shelf",))
DOUBLE: Final = Step(
    "put two cards that stick together, a third of a card apart, on top of the deck in the intake", ("double_feed",)
)
HALF: Final = Step("put half a card on top of the deck in the intake", ("torn_card",))


class Stuck(msgspec.Struct):
    """What was seen of a cycle that a stuck card ended."""

    command: int
    settled: Settled
    events: list[Any]
    status: m.Status
    levels: list[SensorLevel]
    refused: dict[str, Settled | Accepted]


async def jammed(bench: Bench) -> Stuck:
    """Let a card stick in mid-cycle; done once for all requirements about it."""
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
        replies = await refusals(visit, bench, ["ClearJam"]) if dark else {}
        return Stuck(command, settled, list(visit.events), status, sensors.levels, replies)


@requirement(50, "A cycle", needs=("SH-10",))
async def jam(bench: Bench) -> None:
    """A stuck card ends the cycle in Jam and then Settled FAILED with 430."""
    stuck = await jammed(bench)
    settled_as(stuck.settled, Outcome.FAILED, m.Reason.JAM)
    one_end(stuck.events, stuck.command, m.Jam, stuck.settled)


@requirement(51, "Counting", needs=("SH-50",))
async def jam_named(bench: Bench) -> None:
    """Jam has the segment of the stuck card, its count within the phase, and the sensor levels."""
    stuck = await jammed(bench)
    ended: m.Jam = one_end(stuck.events, stuck.command, m.Jam, stuck.settled)
    feeding = ended.segment <= m.Segment.SHELF
    expect(feeding is (ended.phase is m.Phase.FEEDING), "a segment of the phase", ended)
    counted = ended.entered if feeding else ended.left + 1
    expect(ended.card == counted, f"card {counted}", ended)
    same_picture(stuck.levels, ended.levels)


@requirement(52, "Counting", needs=("SH-50",))
async def jam_halted(bench: Bench) -> None:
    """When jammed it is HALTED with reason 430, and knows how many cards are inside."""
    stuck = await jammed(bench)
    ended: m.Jam = one_end(stuck.events, stuck.command, m.Jam, stuck.settled)
    expect((stuck.status.state, stuck.status.reason) == (m.State.HALTED, m.Reason.JAM), "HALTED with 430", stuck.status)
    expect(stuck.status.inside == ended.inside, f"{ended.inside} inside", stuck.status)


@requirement(53, "States", needs=("SH-50",))
async def path_blocked(bench: Bench) -> None:
    """While a sensor of the path is dark, ClearJam is refused with 426."""
    stuck = await jammed(bench)
    if not stuck.refused:
        raise NotChecked("the card did not stick under a sensor")
    all_refused(stuck.refused, m.Reason.PATH_BLOCKED, "while the path is dark")


@requirement(54, "A cycle", needs=("SH-10",))
async def double_feed(bench: Bench) -> None:
    """Two cards at once end the cycle in Fault 431 and Settled FAILED with 431; the count inside is nil."""
    await _fault(bench, DOUBLE, m.Reason.DOUBLE_FEED, doubtful=True)


@requirement(55, "A cycle", needs=("SH-10",))
async def short_card(bench: Bench) -> None:
    """Part of a card ends the cycle in Fault 432 and Settled FAILED with 432."""
    await _fault(bench, HALF, m.Reason.SHORT_CARD, doubtful=False)


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
    """Cut the power in mid-cycle; done once for all requirements about it."""
    seen: Cut = await bench.once("cut", _cut)
    return seen


async def _cut(bench: Bench) -> Cut:
    await loaded(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
        await some_cards_in(visit)
        await bench.now(POWER_CUT)
        if not await visit.ends(bench.hands.patience):
            raise NotChecked("the power was not cut")
    await bench.back(not_boot=visit.hello.boot_id)
    async with bench.visit() as again:
        known, status = await again.outcome(command), await status_of(again)
        await asyncio.sleep(QUIET)
        replies = await refusals(again, bench, NOT_CLEARING)
        return Cut((visit.hello.boot_id, again.hello.boot_id), known, status, list(again.events), replies)


@requirement(60, "States", needs=("SH-10",))
async def power_lost(bench: Bench) -> None:
    """A power loss in mid-cycle leaves the cycle FAILED with 435 and the machine DOUBTFUL, nil inside."""
    cut = await cut_off(bench)
    settled_as(cut.known, Outcome.FAILED, m.Reason.POWER_LOST)
    expect((cut.status.state, cut.status.inside) == (m.State.DOUBTFUL, None), "DOUBTFUL, nil inside", cut.status)
    expect(cut.status.reason is m.Reason.POWER_LOST, "reason 435", cut.status)


@requirement(61, "A cycle", needs=("SH-60",))
async def power_told(bench: Bench) -> None:
    """The next session begins with the event Power, interrupted."""
    cut = await cut_off(bench)
    reported = [event for event in cut.events if isinstance(event, m.Power)]
    expect(reported == [m.Power(True)], "one Power, interrupted", cut.events)


@requirement(62, "States", needs=("SH-60",))
async def doubtful(bench: Bench) -> None:
    """In DOUBTFUL every command but ClearJam is refused with 423."""
    all_refused((await cut_off(bench)).refused, m.Reason.NEEDS_CLEARING, "in DOUBTFUL")


@requirement(63, "Counting", needs=("SH-60",))
async def still_unknown(bench: Bench) -> None:
    """After it is emptied following a power cut, the count inside is still nil."""
    await cut_off(bench)
    if (await state_of(bench)) is not m.State.DOUBTFUL:
        raise NotChecked("it is not DOUBTFUL any more")
    await bench.do(CLEAR_PATH)
    async with bench.visit() as visit:
        await visit.done(m.ClearJam(bench.next_id()), CYCLE)
        status = await status_of(visit)
        expect(status.inside is None, "nil inside", status)
    await rest(bench)
