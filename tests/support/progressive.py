"""Six bet sensors of one table on their stands, with their lock-out, over any rung of the ladder. No tests here."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from devices import bets
from devices.bet_sensor import messages as m
from devices.bet_sensor.driver import BetSensorDriver
from devices.bet_sensor.state import BetSensorView
from devices.kinds import BET_SENSOR
from devices.lockout import LockOut
from simulators.hosts.memory import MemoryHost
from simulators.house.stand import Stand
from simulators.machines.bet_sensor import CHIPS, SimulatedBetSensor
from simulators.world.chips import Chips
from tests.support.beliefs import ask, carried_out, comes_true
from tests.support.bench import LADDER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from devices.lockout import LockedOut
    from firmware_bridge.commands import Settled

Sensor = Stand[SimulatedBetSensor, BetSensorDriver, BetSensorView]
SEATS: Final = range(1, 7)
_OPEN: Final = (m.State.AWAITING, m.State.PLACED)


class Table:
    """Six seats; `lockout` hears everything that their drivers tell."""

    def __init__(self, seed: int, seats: range = SEATS) -> None:
        self.chips = Chips()
        self.seats: dict[int, Sensor] = {}
        self._ids = 1000
        for seat in seats:
            machine = SimulatedBetSensor(f"bet_sensor.{seat}", seed=seed, chips=self.chips)
            opener = MemoryHost(machine).open
            self.seats[seat] = Stand(machine, BET_SENSOR, opener, on_event=partial(self._take, seat))
        self.lockout = LockOut({seat: stand.driver for seat, stand in self.seats.items()})

    def _take(self, seat: int, event: Any) -> None:
        self.lockout.take(seat, event)

    def next_id(self) -> int:
        """Return a fresh id for a lock, above those of the stands' commands."""
        self._ids += 1
        return self._ids

    async def open(self, number: int) -> None:
        """Take bets at every seat."""
        for stand in self.seats.values():
            await carried_out(stand, partial(_open, stand, number))

    async def lock(self, number: int) -> LockedOut:
        """Lock every seat out; wait for what comes of it, and for locks that a bad line delivers after the deadline."""
        ended = await self.lockout.lock(number, self.next_id())
        for stand in self.seats.values():
            await comes_true(lambda stand=stand: stand.machine.twin.state not in _OPEN)  # type: ignore[misc]
        return ended

    def check_truth(self, ended: LockedOut) -> None:
        """Fail unless every decision is what really lay there at the latch; undecided is allowed, wrong is not."""
        for seat, decision in ended.seats.items():
            latched = [
                (latch, lying) for latch, lying in self.seats[seat].machine.latched if latch.lock_id == ended.lock_id
            ]
            if isinstance(decision, bets.Undecided):
                continue
            (found,) = latched
            assert found[1] == isinstance(decision, bets.Bet), (
                f"seat {seat}: {decision}, and {found[1]} chips lay there"
            )
            if isinstance(decision, bets.Bet):
                assert decision.sequence == found[0].last

    def check_chips(self) -> None:
        """Fail if a chip is nowhere."""
        assert sum(self.chips.census().values()) == CHIPS * len(self.seats)


async def _open(stand: Sensor, number: int, command: int) -> Settled:
    return await stand.driver.open(command, number)


@asynccontextmanager
async def table(seed: int, rung: str = "clean", seats: range = SEATS) -> AsyncIterator[Table]:
    """A table of bet sensors, every driver with its first report; closed and checked at the end."""
    found = Table(seed, seats)
    async with AsyncExitStack() as closing:
        for stand in found.seats.values():
            for fault in LADDER[rung]:
                stand.inject(fault)
            stand.supervisor.start()
            closing.push_async_callback(stand.close)
        for stand in found.seats.values():
            if stand.driver.reported is None:
                await stand.until_reported()
        yield found
    found.check_chips()


@asynccontextmanager
async def sensor(seed: int, rung: str = "clean") -> AsyncIterator[Sensor]:
    """One seat's sensor alone."""
    async with table(seed, rung, range(1, 2)) as found:
        yield found.seats[1]


async def beliefs_hold(s: Sensor) -> m.Status:
    """Read the status; fail if view or firmware says what is not so. What is not clear is allowed, wrong is not."""
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
    await comes_true(lambda: s.view.sequence == s.machine.twin.memory.sequence, seconds)
