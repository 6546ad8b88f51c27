"""SH-50 to SH-69: stuck card, double feed, short card and power loss in mid-cycle. All need an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.conformance.assertions import begin_command, expect_same_levels, expect_settled
from devices.conformance.kinds.shuffler.halt_checks import NOT_CLEARING, requirement, state_of
from devices.conformance.kinds.shuffler.setup import (
    CLEAR_PATH,
    COMMANDS,
    CYCLE_LIMIT_S,
    PATH,
    begin_cycle,
    bring_to_idle,
    bring_to_loaded,
    expect_one_end,
    status_of,
)
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import NotChecked, expect
from devices.conformance.shared_checks import cut_power, expect_all_refused, try_commands
from devices.path_telemetry import OpticalLevel
from devices.shuffler import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench

JAM: Final = ManualStep("make a card stick under a sensor of the path", ("jam:segment=shelf",))
DOUBLE: Final = ManualStep(
    "put two cards that stick together, a third of a card apart, on top of the deck in the intake", ("double_feed",)
)
HALF: Final = ManualStep("put half a card on top of the deck in the intake", ("torn_card",))


class StuckCard(msgspec.Struct):
    """What was seen of a cycle that a stuck card ended."""

    command: int
    settled: Settled
    events: list[Any]
    status: m.Status
    levels: list[OpticalLevel]
    refused: dict[str, Settled | Accepted]


async def jammed(bench: ConformanceBench) -> StuckCard:
    """Let a card stick in mid-cycle; done once for all requirements about it."""
    seen: StuckCard = await bench.observe_once("jam", _jam)
    return seen


async def _jam(bench: ConformanceBench) -> StuckCard:
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        command = await begin_cycle(bench, visit)
        await bench.request_now(JAM)
        settled = await visit.wait_settled(command, bench.operator.effect_timeout_s + CYCLE_LIMIT_S)
        await asyncio.sleep(QUIET_S)
        status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
        dark = any(sensors.levels[sensor].blocked for sensor in PATH)
        replies = await try_commands(visit, bench, COMMANDS, ["ClearJam"]) if dark else {}
        return StuckCard(command, settled, list(visit.events), status, sensors.levels, replies)


@requirement(50, "A cycle", needs=("SH-10",))
async def jam(bench: ConformanceBench) -> None:
    """A stuck card ends the cycle in Jam and then Settled FAILED with 430."""
    stuck = await jammed(bench)
    expect_settled(stuck.settled, Outcome.FAILED, m.Reason.JAM)
    expect_one_end(stuck.events, stuck.command, m.Jam, stuck.settled)


@requirement(51, "Counting", needs=("SH-50",))
async def jam_named(bench: ConformanceBench) -> None:
    """Jam has the segment of the stuck card, its count within the phase, and the sensor levels."""
    stuck = await jammed(bench)
    ended: m.Jam = expect_one_end(stuck.events, stuck.command, m.Jam, stuck.settled)
    feeding = ended.segment <= m.Segment.SHELF
    expect(feeding is (ended.phase is m.Phase.FEEDING), "a segment of the phase", ended)
    counted = ended.entered if feeding else ended.left + 1
    expect(ended.card == counted, f"card {counted}", ended)
    expect_same_levels(stuck.levels, ended.levels)


@requirement(52, "Counting", needs=("SH-50",))
async def jam_halted(bench: ConformanceBench) -> None:
    """When jammed it is HALTED with reason 430, and knows how many cards are inside."""
    stuck = await jammed(bench)
    ended: m.Jam = expect_one_end(stuck.events, stuck.command, m.Jam, stuck.settled)
    expect((stuck.status.state, stuck.status.reason) == (m.State.HALTED, m.Reason.JAM), "HALTED with 430", stuck.status)
    expect(stuck.status.inside == ended.inside, f"{ended.inside} inside", stuck.status)


@requirement(53, "States", needs=("SH-50",))
async def path_blocked(bench: ConformanceBench) -> None:
    """While a sensor of the path is dark, ClearJam is refused with 426."""
    stuck = await jammed(bench)
    if not stuck.refused:
        raise NotChecked("the card did not stick under a sensor")
    expect_all_refused(stuck.refused, m.Reason.PATH_BLOCKED, "while the path is dark")


@requirement(54, "A cycle", needs=("SH-10",))
async def double_feed(bench: ConformanceBench) -> None:
    """Two cards at once end the cycle in Fault 431 and Settled FAILED with 431; the count inside is nil."""
    await _fault(bench, DOUBLE, m.Reason.DOUBLE_FEED, doubtful=True)


@requirement(55, "A cycle", needs=("SH-10",))
async def short_card(bench: ConformanceBench) -> None:
    """Part of a card ends the cycle in Fault 432 and Settled FAILED with 432."""
    await _fault(bench, HALF, m.Reason.SHORT_CARD, doubtful=False)


async def _fault(bench: ConformanceBench, step: ManualStep, reason: m.Reason, *, doubtful: bool) -> None:
    await bring_to_loaded(bench)
    await bench.perform(step)
    async with bench.session() as visit:
        command = await begin_command(visit, m.StartCycle(bench.next_id()))
        settled = await visit.wait_settled(command, CYCLE_LIMIT_S)
        await asyncio.sleep(QUIET_S)
        expect_settled(settled, Outcome.FAILED, reason)
        ended: m.Fault = expect_one_end(visit.events, command, m.Fault, settled)
        expect(ended.reason is reason, f"reason {reason}", ended)
        status = await status_of(visit)
        expect((status.state, status.reason) == (m.State.HALTED, reason), f"HALTED with {reason}", status)
        inside = None if doubtful else ended.entered - ended.left
        expect(status.inside == inside, f"{inside} inside", status)


# --- power ----------------------------------------------------------------------------------------------------------


class PowerCutCheck(msgspec.Struct):
    """What was seen after power went in mid-cycle."""

    boots: tuple[int, int]
    known: Settled
    status: m.Status
    events: list[Any]
    refused: dict[str, Settled | Accepted]


async def cut_off(bench: ConformanceBench) -> PowerCutCheck:
    """Cut the power in mid-cycle; done once for all requirements about it."""
    seen: PowerCutCheck = await bench.observe_once("cut", _cut)
    return seen


async def _cut(bench: ConformanceBench) -> PowerCutCheck:
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        command = await begin_cycle(bench, visit)
        await cut_power(bench, visit)
    async with bench.session() as again:
        known, status = await again.ask_outcome(command), await status_of(again)
        await asyncio.sleep(QUIET_S)
        replies = await try_commands(again, bench, COMMANDS, NOT_CLEARING)
        return PowerCutCheck((visit.hello.boot_id, again.hello.boot_id), known, status, list(again.events), replies)


@requirement(60, "States", needs=("SH-10",))
async def power_lost(bench: ConformanceBench) -> None:
    """A power loss in mid-cycle leaves the cycle FAILED with 435 and the machine DOUBTFUL, nil inside."""
    cut = await cut_off(bench)
    expect_settled(cut.known, Outcome.FAILED, m.Reason.POWER_LOST)
    expect((cut.status.state, cut.status.inside) == (m.State.DOUBTFUL, None), "DOUBTFUL, nil inside", cut.status)
    expect(cut.status.reason is m.Reason.POWER_LOST, "reason 435", cut.status)


@requirement(61, "A cycle", needs=("SH-60",))
async def power_reported(bench: ConformanceBench) -> None:
    """The next session begins with the event Power, interrupted."""
    cut = await cut_off(bench)
    reported = [event for event in cut.events if isinstance(event, m.Power)]
    expect(reported == [m.Power(True)], "one Power, interrupted", cut.events)


@requirement(62, "States", needs=("SH-60",))
async def doubtful(bench: ConformanceBench) -> None:
    """In DOUBTFUL every command but ClearJam is refused with 423."""
    expect_all_refused((await cut_off(bench)).refused, m.Reason.NEEDS_CLEARING, "in DOUBTFUL")


@requirement(63, "Counting", needs=("SH-60",))
async def still_unknown(bench: ConformanceBench) -> None:
    """After it is emptied following a power cut, the count inside is still nil."""
    await cut_off(bench)
    if (await state_of(bench)) is not m.State.DOUBTFUL:
        raise NotChecked("it is not DOUBTFUL any more")
    await bench.perform(CLEAR_PATH)
    async with bench.session() as visit:
        await visit.complete_command(m.ClearJam(bench.next_id()), CYCLE_LIMIT_S)
        status = await status_of(visit)
        expect(status.inside is None, "nil inside", status)
    await bring_to_idle(bench)
