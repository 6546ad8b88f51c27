"""A seat's bet sensor on a device bench, over any kind of connection."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from devices.bet_sensor import messages as m
from devices.bet_sensor.driver import BetSensorDriver
from devices.bet_sensor.state import BetSensorView
from devices.kinds import BET_SENSOR
from simulators.house.stand import Stand
from simulators.machines.bet_sensor import CHIPS, SimulatedBetSensor
from simulators.world.chips import Chips
from tests.support.beliefs import ask, comes_true
from tests.support.bench import stand

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


Sensor = Stand[SimulatedBetSensor, BetSensorDriver, BetSensorView]


@asynccontextmanager
async def sensor(seed: int, rung: str = "clean") -> AsyncIterator[Sensor]:
    """One seat's sensor on a device bench, whose driver has its first report; closed and checked at the end."""
    chips = Chips()
    machine = SimulatedBetSensor("bet_sensor.1", seed=seed, chips=chips)
    async with stand(machine, BET_SENSOR, rung) as bench:
        yield bench
    assert sum(chips.census().values()) == CHIPS, "a chip is nowhere"


async def beliefs_hold(s: Sensor) -> m.Status:
    """Read the status; fail if view or firmware reports a false state. Unknown is allowed, wrong is not."""
    status = await ask(s, s.driver.status)
    lying, spot = s.machine.spot.lying(), s.machine.spot
    if status.lies is m.Lies.EMPTY:
        assert lying == 0
    if status.lies is m.Lies.CHIP:
        assert lying == 1
    assert s.view.sequence == status.sequence
    assert s.view.lies is status.lies
    assert s.view.state is status.state
    assert s.view.latch == status.latch
    assert spot.light in (status.light, m.Light.OFF)
    return status


async def heard(s: Sensor, seconds: float = 30.0) -> None:
    """Wait until the view has the sensor's last change: the line may be slow."""
    await comes_true(lambda: s.view.sequence == s.machine.firmware.memory.sequence, seconds)
