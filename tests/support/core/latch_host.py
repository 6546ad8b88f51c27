"""The box's half of one seat's lock-out: the shipped translation, table core and actuations, without a link.

Events of the sensor of seat 1 go through `controller.translate` into a whole table core, and its commands go through
`controller.actuate` to frames. The other five sensors confirm at once that they have no bet. The core is deterministic,
so known steps are cached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.bet_sensor import messages as m
from devices.bet_sensor.state import service_trigger
from table_controller.controller import driver_commands
from table_controller.controller.device_events import translate
from table_controller.table import events as ev
from table_controller.table.decisions import Command
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import DEALER, decisions_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.decisions import Decision

SEAT: Final = 1
SLOT: Final = f"bet_sensor.{SEAT}"
ROUND: Final = 1  # of the table, once its first round is open


class SeatMoment(msgspec.Struct, frozen=True, cache_hash=True):
    """A moment of the box, by its number (`LatchHost`), and its decision for the seat."""

    moment: int = 0
    asked: bool = False
    decision: str | None = None  # bet, no bet, undecided; None while the confirmation may still come in time
    sequence: int = 0  # of the bet that counts
    accepted: bool = False  # the bet is booked


class _Writer:
    """Replaces the driver: returns the frame that it would write."""

    def lock(self, number: int, lock_id: int) -> m.Lock:
        return m.Lock(number, lock_id)

    def light(self, _command: int, light: m.Light, sequence: int) -> m.SetLight:
        return m.SetLight(2, light, sequence)  # one id for all, to keep the number of moments small


Taken = tuple[SeatMoment, tuple[Any, ...]]


class LatchHost:
    """A table with open bets. Every step returns the seat afterwards and the frames written to it."""

    def __init__(self) -> None:
        floor = BettingTable("688a-progressive-1", bets=())
        floor.play(ev.OpenRound(DEALER))
        self.table = floor.table
        self._moments = [self.table.snapshot()]
        self._numbers = {self._moments[0]: 0}
        self._taken: dict[tuple[int, Any], Taken] = {}

    def receive(self, seat: SeatMoment, frame: Any) -> Taken:
        """Pass an event of the sensor's driver."""
        return self._once(seat, frame, lambda: self._on_frame(frame))

    def call(self, seat: SeatMoment) -> Taken:
        """Call no more bets; every other sensor confirms that it has no bet."""
        return self._once(seat, "call", self._called)

    def connect_again(self, seat: SeatMoment) -> Taken:
        """Disconnect and reconnect the sensor."""
        changes = [ev.SlotChanged(SLOT, "vanish"), ev.SlotChanged(SLOT, "appear"), ev.SlotChanged(SLOT, "verify")]
        return self._once(seat, "connect again", lambda: self._steps(*changes))

    def due(self, seat: SeatMoment) -> Taken:
        """Pass the deadline of the confirmation."""
        return self._once(seat, "due", lambda: self._steps(ev.Due("lock")))

    def _once(self, seat: SeatMoment, what: Any, run: Callable[[], list[Decision]]) -> Taken:
        known = self._taken.get((seat.moment, what))
        if known is None:
            self.table.restore(self._moments[seat.moment])
            decided = run()
            frames = tuple(
                driver_commands.start_command(m.KIND, _Writer(), command)  # type: ignore[arg-type]
                for command in decisions_of(Command, decided)
                if command.slot == SLOT
            )
            known = self._taken[seat.moment, what] = self._seat(), frames
        return known

    def _steps(self, *events: ev.Event) -> list[Decision]:
        return [decision for event in events for decision in self.table.step(event)]

    def _on_frame(self, frame: Any) -> list[Decision]:
        return self._steps(*translate(SLOT, m.KIND, service_trigger(frame), frame))

    def _called(self) -> list[Decision]:
        decided = self._steps(ev.NoMoreBets(DEALER))
        for command in decisions_of(Command, decided):
            if command.act == "lock" and command.slot != SLOT:
                empty = m.Locked(m.Latch(command.number, command.id, 0, m.SpotContent.EMPTY))
                decided += self._steps(*translate(command.slot, m.KIND, None, empty))
        return decided

    def _seat(self) -> SeatMoment:
        snapshot, state = self.table.snapshot(), self.table.state
        moment = self._numbers.setdefault(snapshot, len(self._moments))
        if moment == len(self._moments):
            self._moments.append(snapshot)
        bets = state.progressive.seats[SEAT]
        asks = any(p.kind == "seat_undecided" and p.seat == SEAT for p in state.prompts.values())
        assert not (asks and bets.latched), "a floorperson is asked about a seat that is decided"
        decision = "undecided" if asks else {True: "bet", False: "no bet", None: None}[bets.bet]
        return SeatMoment(moment, bets.lock > 0, decision, bets.sequence if bets.bet else 0, SEAT in state.money.bets)


def _lock_id() -> int:
    """Return the id of the lock that the call writes; it is the same in every history."""
    ((lock,)) = LatchHost().call(SeatMoment())[1]
    assert isinstance(lock, m.Lock)
    assert lock.round == ROUND
    return lock.lock_id


LOCK_ID: Final = _lock_id()
