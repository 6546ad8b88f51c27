"""A simulated table up to its lock-out: six sensors on real links, with the shipped controller and core."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.bet_sensor import messages as m
from devices.bet_sensor.driver import BetSensorDriver
from firmware_bridge.errors import LinkError
from simulators.casino.dealer import DEALER, SimulatedPeople
from simulators.casino.table import CasinoTable
from simulators.world.chips import TRAY
from table_controller.controller.slot import slots_of
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetAccepted, Command, Finding, Prompt
from tests.support.machines.bench import LADDER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from simulators.kinds.bet_sensor.machine import SimulatedBetSensor
    from table_controller.table.decisions import Decision

GAME: Final = "face_up_pai_gow"
SEATS: Final = range(1, 7)
UNDECIDED: Final = "undecided"
BET: Final = "bet"
NO_BET: Final = "no bet"


class PatientPeople(SimulatedPeople):
    """People who do not react to a lock-out until `go` is set, so that the test can look first."""

    def __init__(self, house: CasinoTable) -> None:
        super().__init__(house)
        self.go = asyncio.Event()

    async def _obey(self, prompt: Prompt) -> None:
        if prompt.kind in ("seats", "chips", "seat_undecided", "late_chip"):
            await self.go.wait()
        await super()._obey(prompt)


class LockedOut(msgspec.Struct):
    """The result of a lock-out by seat, as the box recorded it."""

    round: int
    locks: dict[int, int]  # by seat: the id of its lock
    seats: dict[int, str]
    findings: dict[int, str]  # by seat: why it is undecided

    @property
    def bets(self) -> list[int]:
        """The seats with an accepted bet."""
        return [seat for seat, decision in sorted(self.seats.items()) if decision == BET]


class LockingTable:
    """A table in betting. Prompts after the call wait until the test has looked."""

    def __init__(self, seed: int) -> None:
        self.house = CasinoTable(GAME, seed=seed, people=PatientPeople)
        self.house.seats = tuple(SEATS)
        self.people: PatientPeople = self.house.people  # type: ignore[assignment]

    def machine(self, seat: int) -> SimulatedBetSensor:
        """The machine at a seat."""
        return self.house.machines[f"bet_sensor.{seat}"]  # type: ignore[return-value]

    def driver(self, seat: int) -> BetSensorDriver:
        """The box's own driver of a seat's sensor."""
        return slots_of(self.house.slots, BetSensorDriver)[f"bet_sensor.{seat}"].driver

    def view(self, seat: int) -> Any:
        """What the box knows of a seat's sensor."""
        return self.house.slots[f"bet_sensor.{seat}"].view

    @property
    def state(self) -> Any:
        """The core's state."""
        return self.house.controller.table.state

    async def open_round(self) -> None:
        """Open a round; return once bets are open at every sensor."""
        self.people.go.clear()
        self.house.controller.submit(ev.OpenRound(DEALER))
        assert self.state.round.state == mc.BETTING, self.house.step_log[-1]
        await self.house.until(lambda: not self.house.is_opening_bets())

    def call(self) -> int:
        """Call no more bets: this call writes the six locks. Return the length of the log before."""
        at = len(self.house.step_log)
        self.house.controller.submit(ev.NoMoreBets(DEALER))
        return at

    async def ended(self, at: int, seats: range = SEATS) -> LockedOut:
        """Wait until every seat is decided or a floorperson has a prompt for it; return the result."""
        await self.house.until(lambda: self._decided(at, seats))
        number = self.state.round.number
        ended = LockedOut(number, {}, {}, {})
        for decision in self.decisions(at):
            if isinstance(decision, Command) and decision.act == "lock":
                ended.locks.setdefault(int(decision.slot[-1]), decision.id)
            elif isinstance(decision, Finding) and decision.kind == "seat_undecided":
                seat = int(decision.text.partition("seat ")[2].partition(",")[0])
                assert seat not in ended.findings, "one seat is left undecided twice"
                ended.findings[seat] = decision.text
        for seat in seats:
            bets = self.state.progressive.seats[seat]
            ended.seats[seat] = UNDECIDED if seat in ended.findings else BET if bets.bet else NO_BET
        asked = {p.seat for p in self.state.prompts.values() if p.kind == "seat_undecided"}
        assert asked == set(ended.findings), "who is asked is not who is undecided"
        return ended

    def _decided(self, at: int, seats: range) -> bool:
        asked = {p.seat for p in self.state.prompts.values() if p.kind == "seat_undecided"}
        durable = (
            len(self.house.step_log) > at and self.house.controller.durable_seq == self.house.controller.newest_seq
        )
        return durable and all(self.state.progressive.seats[seat].latched or seat in asked for seat in seats)

    async def lock(self) -> LockedOut:
        """Call no more bets and return the result."""
        return await self.ended(self.call())

    def decisions(self, at: int = 0) -> list[Decision]:
        """Return the decisions since then."""
        return [decision for _, decided in self.house.step_log[at:] for decision in decided]

    def findings_of(self, kind: str, at: int = 0) -> list[str]:
        """Return the findings of a kind since then."""
        return [d.text for d in self.decisions(at) if isinstance(d, Finding) and d.kind == kind]

    def accepted(self, at: int = 0) -> list[int]:
        """Return the seats whose bets were booked since then."""
        return sorted(decision.seat for decision in self.decisions(at) if isinstance(decision, BetAccepted))

    async def finish(self) -> None:
        """Let people answer all prompts, until the table is idle."""
        self.people.go.set()
        await self.house.until_quiescent()

    def sell_chips(self) -> None:
        """Give the chips in the dealer's tray back to the players, so that they never run out."""
        for chip in self.house.chips.at(TRAY):
            hands = [self.machine(seat).hand for seat in SEATS]
            self.house.chips.move(chip, min(hands, key=lambda hand: len(self.house.chips.at(hand))))

    def check_truth(self, ended: LockedOut) -> None:
        """Check every decision against the chips at the latch; undecided is allowed, wrong is not."""
        for seat, decision in ended.seats.items():
            if decision == UNDECIDED:
                continue
            ((latch, lying),) = [each for each in self.machine(seat).latched if each[0].lock_id == ended.locks[seat]]
            assert lying == (decision == BET), f"seat {seat}: {decision}, and {lying} chips lay there"
            bets = self.state.progressive.seats.get(seat)
            if decision == BET and bets is not None:
                assert bets.sequence == latch.last_change

    async def until_received(self, seat: int, seconds: float = 30.0) -> None:
        """Wait until the box has received a sensor's last change."""
        await self.house.until(lambda: self.view(seat).sequence == self.machine(seat).firmware.memory.sequence, seconds)

    async def status(self, seat: int) -> m.Status:
        """Ask a sensor for its status, again after a lost link."""
        for _ in range(30):
            with suppress(LinkError):
                return await self.driver(seat).status()
            await asyncio.sleep(1)
        raise TimeoutError(f"the sensor of seat {seat} does not come back")

    async def until_true(self, condition: Callable[[], Any], seconds: float = 60.0) -> None:
        """Wait until a condition is true."""
        await self.house.until(condition, seconds)


@asynccontextmanager
async def locking(seed: int, rung: str = "clean") -> AsyncIterator[LockingTable]:
    """A table with its first round open and this line at each sensor; closed at the end."""
    table = LockingTable(seed)
    try:
        await table.house.open("blue", "red")
        for seat in SEATS:
            for fault in LADDER[rung]:
                table.machine(seat).inject(fault)
        await table.open_round()
        yield table
        table.people.go.set()
    finally:
        await table.house.close()


def is_locked(machine: SimulatedBetSensor) -> bool:
    """Return whether a sensor is closed for bets."""
    return machine.firmware.state not in (m.State.AWAITING, m.State.PLACED)
