"""A seat's bet sensor on a device bench, over any kind of connection."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from devices.bet_sensor import messages as m
from devices.bet_sensor.driver import BetSensorDriver
from devices.bet_sensor.state import BetSensorView
from devices.kinds import BET_SENSOR
from simulators.casino.device_bench import DeviceBench
from simulators.kinds.bet_sensor.machine import CHIPS, SimulatedBetSensor
from simulators.world.chips import Chips
from tests.support.machines.bench import device_bench
from tests.support.machines.card_checks import ask_until_answered, until_true

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


Sensor = DeviceBench[SimulatedBetSensor, BetSensorDriver, BetSensorView]


@asynccontextmanager
async def sensor_bench(seed: int, rung: str = "clean") -> AsyncIterator[Sensor]:
    """One seat's sensor on a device bench, whose driver has its first report; closed and checked at the end."""
    chips = Chips()
    machine = SimulatedBetSensor("bet_sensor.1", seed=seed, chips=chips)
    async with device_bench(machine, BET_SENSOR, rung) as bench:
        yield bench
    assert sum(chips.census().values()) == CHIPS, "a chip is nowhere"


async def check_reported_spot(s: Sensor) -> m.Status:
    """Read the status; fail if view or firmware reports a false state. Unknown is allowed, wrong is not."""
    status = await ask_until_answered(s, s.driver.status)
    lying, spot = s.machine.spot.chip_count(), s.machine.spot
    if status.content is m.SpotContent.EMPTY:
        assert lying == 0
    if status.content is m.SpotContent.CHIP:
        assert lying == 1
    assert s.view.sequence == status.sequence
    assert s.view.content is status.content
    assert s.view.state is status.state
    assert s.view.latch == status.latch
    assert spot.light in (status.light, m.Light.OFF)
    return status


async def until_received(s: Sensor, seconds: float = 30.0) -> None:
    """Wait until the view has the sensor's last change: the line may be slow."""
    await until_true(lambda: s.view.sequence == s.machine.firmware.memory.sequence, seconds)
