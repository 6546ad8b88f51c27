"""Effects of dust, bent cards, foreign objects and hasty firmware on a machine, and which counts stay known."""

from __future__ import annotations

import asyncio

import pytest

from devices.shoe import messages as sh
from devices.shuffler import messages as m
from firmware_bridge.errors import BadFault, CommandFailed, NotCapable
from simulators.kinds.shuffler.card_mover import STRAINED
from tests.support.machines.bench import ShufflerTestBench, over_the_ladder, shuffler_bench
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.shoes import check_reported_cards, dispensed, shoe_bench

IN = (m.Sensor.FEED, m.Sensor.BRIDGE, m.Sensor.LIFT)


async def jammed(b: ShufflerTestBench) -> m.Jam:
    with pytest.raises(CommandFailed):
        await run_command(b, b.driver.shuffle)
    (jam,) = b.events_of(m.Jam)
    return jam


@over_the_ladder
@pytest.mark.parametrize("sensor", [*IN, m.Sensor.EXIT, m.Sensor.STACK])
async def test_a_sensor_darkened_by_dust_is_reported_as_a_jam_before_it_and_no_wrong_count_is_accepted(
    seed: int, rung: str, sensor: m.Sensor
) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject(f"dust:sensor={sensor.name.lower()},percent=60")
        jam = await jammed(b)
        assert m.END_SENSORS[jam.segment] is sensor
        assert 300 < jam.levels[sensor].level < 420, "two fifths of a clean sensor's light, and noise"
        reported_counts = (b.view.inside, (await ask_until_answered(b, b.driver.status)).inside, jam.inside)
        assert all(belief in (None, b.machine.mechanics.inside()) for belief in reported_counts)
        assert b.view.behind_gate in (None, b.machine.world.count(b.machine.mechanics.gate))


@pytest.mark.parametrize("at", [0.5, 0.52, 0.55, 0.6, 0.65, 0.7])
@pytest.mark.parametrize("sensor", ["feed", "draw", "exit"])
async def test_a_shoe_whose_sensor_goes_blind_during_a_deal_reports_nothing_wrong(
    seed: int, sensor: str, at: float
) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        if sensor != "feed":
            await run_command(b, b.driver.load)
        asyncio.get_running_loop().call_later(at, b.inject, f"dust:sensor={sensor},percent=60")
        with pytest.raises(CommandFailed):
            await (run_command(b, b.driver.load) if sensor == "feed" else dispensed(b, 10))
        (jam,) = b.events_of(sh.Jam)
        assert jam.levels[sh.Sensor[sensor.upper()]].blocked
        await check_reported_cards(b)


@pytest.mark.parametrize("at", [0.5, 0.55, 0.6, 0.65, 20.0, 20.05, 20.1, 20.15])
@pytest.mark.parametrize("sensor", ["feed", "bridge", "lift", "exit", "stack"])
async def test_a_shuffler_whose_sensor_goes_blind_during_a_cycle_reports_nothing_wrong(
    seed: int, sensor: str, at: float
) -> None:
    async with shuffler_bench(seed) as b:
        asyncio.get_running_loop().call_later(at, b.inject, f"dust:sensor={sensor},percent=60")
        try:
            await run_command(b, b.driver.shuffle)
        except CommandFailed:
            assert b.events_of(m.Jam)
        else:
            assert sensor in ("feed", "bridge", "lift"), "after feeding nobody looks at these any more"
        reported_counts = (b.view.inside, (await ask_until_answered(b, b.driver.status)).inside)
        assert all(belief in (None, b.machine.mechanics.inside()) for belief in reported_counts)


async def test_an_object_in_the_path_darkens_a_sensor_until_hands_remove_it(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        b.inject("foreign_object:segment=bridge,card=4")
        jam = await jammed(b)
        assert jam.segment is m.Segment.BRIDGE
        assert jam.currents[m.Motor.TRANSPORT] > STRAINED
        assert 110 < jam.levels[m.Sensor.BRIDGE].level < 500
        b.inject("clear_path")
        await run_command(b, b.driver.clear_jam)
        assert not any(level.blocked for level in (await ask_until_answered(b, b.driver.sensors)).levels[1:6])


async def test_a_bent_card_is_slow_and_long_before_it_sticks(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        b.inject("bent_card:segment=lift,card=20,percent=20")
        jam = await jammed(b)
        assert (jam.segment, jam.card) == (m.Segment.LIFT, 20)
        feed = (await ask_until_answered(b, b.driver.transits)).segments[m.Segment.FEED]
        assert 1.08 < feed.last / feed.mean < 1.35
        assert feed.most == feed.last


async def test_hasty_firmware_reports_a_moving_card_as_late(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        b.inject("hasty:segment=bridge,percent=50")
        jam = await jammed(b)
        assert (jam.segment, jam.card) == (m.Segment.BRIDGE, 1)
        trail = await b.driver.edge_log()
        assert trail.waited_us == 30_000
        b.inject("reboot")
        await b.until_reported()
        b.inject("clear_path")
        await run_command(b, b.driver.clear_jam)
        assert b.events_of(m.Cleared), "until its next start, and not longer"
        with pytest.raises(BadFault, match="unload"):
            b.inject("hasty:segment=unload")


@over_the_ladder
async def test_the_edge_log_holds_the_edges_that_led_to_the_halt(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        assert (await ask_until_answered(b, b.driver.edge_log)).halted_us is None
        b.inject("jam:segment=lift,card=12")
        await jammed(b)
        trail = await ask_until_answered(b, b.driver.edge_log)
        assert len(trail.edges) == 32
        assert trail.halted_us is not None
        assert [edge.at_us for edge in trail.edges] == sorted(edge.at_us for edge in trail.edges)
        assert trail.edges[-1].at_us <= trail.halted_us
        assert trail.currents[m.Motor.TRANSPORT] > STRAINED
        assert abs(trail.waited_us - 180_000) < 2_000, "three times the usual"


async def test_a_machine_without_the_capability_is_not_asked(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        assert b.driver.reported is not None
        b.driver.reported.hello.capabilities.remove("trail")
        with pytest.raises(NotCapable):
            await b.driver.edge_log()
