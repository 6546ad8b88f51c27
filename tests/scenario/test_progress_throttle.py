"""Rate of progress reports: a phase's first card, then at limited intervals, and always the last card."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import pytest

from devices.conformance.requirements import RequirementVerdict
from devices.conformance.runner import Runner
from devices.kinds import SHOE, SHUFFLER
from devices.shoe import messages as sh
from devices.shuffler import messages as m
from firmware_bridge.errors import CommandFailed
from simulators.casino.device_bench import DeviceBench
from simulators.engine.ports.memory import MemoryPort
from simulators.kinds.shared.progress_throttle import REPORT_INTERVAL_S
from simulators.kinds.shoe.machine import SimulatedManualShoe, SimulatedShoe
from simulators.kinds.shuffler.continuous_machine import SimulatedContinuousShuffler
from simulators.kinds.shuffler.machine import SimulatedShuffler
from tests.support.machines.conformance import asked_of, failures, on_bench, with_verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TimedEvents = list[tuple[float, Any]]


@asynccontextmanager
async def on_stand(machine: Any) -> AsyncIterator[tuple[DeviceBench[Any, Any, Any], TimedEvents]]:
    """Connect a machine; yield it with its progress events and their times (s)."""
    reported: TimedEvents = []
    loop = asyncio.get_running_loop()

    def original(event: Any) -> None:
        if getattr(event, "command", None) is not None:
            reported.append((loop.time(), event))

    kind = SHUFFLER if machine.kind == "shuffler" else SHOE
    bench: DeviceBench[Any, Any, Any] = DeviceBench(machine, kind, MemoryPort(machine).open, on_event=original)
    bench.supervisor.start()
    await bench.until_reported()
    try:
        yield bench, reported
    finally:
        await bench.close()


def phases(reported: TimedEvents) -> list[TimedEvents]:
    """Return the Progress events phase by phase."""
    progress = [(at, event) for at, event in reported if isinstance(event, m.Progress | sh.Progress)]
    return [list(group) for _, group in groupby(progress, key=lambda each: (each[1].command, each[1].phase))]


def at_a_pace(phase: TimedEvents) -> None:
    """Check the intervals of all reports except the last, which comes before the end."""
    assert all(later - earlier >= REPORT_INTERVAL_S - 0.01 for (earlier, _), (later, _) in pairwise(phase[:-1]))


async def test_a_cycle_is_reported_at_a_limited_rate_from_its_first_card_to_its_last(seed: int) -> None:
    async with on_stand(SimulatedShuffler(seed=seed)) as (bench, reported):
        await bench.driver.shuffle(bench.next_id())
        feeding, unloading = phases(reported)
        assert [(each[0][1].entered, each[0][1].left) for each in (feeding, unloading)] == [(1, 0), (53, 1)]
        assert [(each[-1][1].entered, each[-1][1].left) for each in (feeding, unloading)] == [(53, 0), (53, 53)]
        assert 5 < len(feeding) < 40
        assert 5 < len(unloading) < 40
        at_a_pace(feeding)
        at_a_pace(unloading)


async def test_a_shoe_limits_progress_reports_in_every_phase(seed: int) -> None:
    async with on_stand(SimulatedShoe(seed=seed)) as (bench, reported):
        await bench.driver.load(bench.next_id())
        await bench.driver.dispense(bench.next_id(), 7)
        bench.inject("take")
        await bench.driver.count_stub(bench.next_id())
        loading, stack, stub = phases(reported)
        assert [each[0][1].moved for each in (loading, stack, stub)] == [1, 1, 1]
        assert [(each[-1][1].moved, each[-1][1].left) for each in (loading, stack, stub)] == [
            (53, 53),
            (7, 46),
            (46, 0),
        ]
        for phase in (loading, stack, stub):
            at_a_pace(phase)
            assert len(phase) < phase[-1][1].moved


async def test_a_delivery_and_a_count_limit_progress_reports(seed: int) -> None:
    async with on_stand(SimulatedContinuousShuffler(seed=seed)) as (bench, reported):
        await bench.driver.count_all(bench.next_id())
        assert [each[-1][1].phase for each in phases(reported)] == [m.Phase.FEEDING, m.Phase.UNLOADING, m.Phase.FEEDING]
        assert [(each[-1][1].entered, each[-1][1].left) for each in phases(reported)] == [
            (312, 0),
            (312, 312),
            (312, 0),
        ]
        await bench.driver.deliver(bench.next_id(), 20)
        delivery = phases(reported)[-1]
        assert (delivery[0][1].left, delivery[-1][1].left) == (1, 20)
        for phase in phases(reported):
            at_a_pace(phase)


@pytest.mark.parametrize(
    "fault", ["jam:segment=stack,card=30", "double_feed:card=30", "torn_card:segment=lift,card=30"]
)
async def test_an_interruption_is_reported_after_every_card(seed: int, fault: str) -> None:
    async with on_stand(SimulatedShuffler(seed=seed)) as (bench, reported):
        bench.inject(fault)
        with pytest.raises(CommandFailed):
            await bench.driver.shuffle(bench.next_id())
        end = next(event for _, event in reported if isinstance(event, m.Jam | m.Fault))
        last = phases(reported)[-1][-1][1]
        before = [event for _, event in reported][: [event for _, event in reported].index(end)]
        assert before[-1] is last, "nothing but its end comes after the last word"
        arrived = 29
        assert last.left == arrived if last.phase is m.Phase.UNLOADING else last.entered - 1 <= arrived <= last.entered


async def test_a_shoe_that_stops_has_reported_every_card_of_the_partial_stack(seed: int) -> None:
    async with on_stand(SimulatedShoe(seed=seed)) as (bench, reported):
        await bench.driver.load(bench.next_id())
        stack = asyncio.ensure_future(bench.driver.dispense(bench.next_id(), 10))
        await asyncio.sleep(0.9)
        bench.inject("door:to=open")
        with pytest.raises(CommandFailed):
            await stack
        stopped = next(event for _, event in reported if isinstance(event, sh.Stopped))
        assert 1 < stopped.moved < 10
        assert phases(reported)[-1][-1][1].moved == stopped.moved


async def test_every_card_that_a_hand_draws_is_reported(seed: int) -> None:
    async with on_stand(SimulatedManualShoe(seed=seed)) as (bench, _):
        bench.inject("load")
        await bench.driver.load(bench.next_id())
        await bench.driver.start_round(bench.next_id())
        bench.inject("draw:cards=9")
        await bench.until(lambda event: isinstance(event, sh.Drawn) and event.moved == 9)
        assert [event.moved for event in bench.events_of(sh.Drawn)] == list(range(1, 10)), (
            "a rule counts them one by one"
        )


@pytest.mark.parametrize("model", ["shuffler", "shoe"])
async def test_a_machine_that_reports_each_card_conforms_too(
    seed: int, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulators.kinds.shared.progress_throttle.REPORT_INTERVAL_S", 0.0)
    asked = ["SH-13", "SH-20"] if model == "shuffler" else ["SO-11", "SO-14", "SO-15"]
    async with on_bench(model, seed=seed) as (bench, machine):
        run = Runner(bench, asked_of(machine, asked))
        await run.run()
    assert with_verdict(run.results, RequirementVerdict.PASS) == {line.id for line in run.results}, failures(run)
