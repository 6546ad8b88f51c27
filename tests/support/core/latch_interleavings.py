"""Every possible order of one seat's bets, its lock, and the frames between sensor and host.

It combines one player's hands, a sensor's real memory (`simulators.kinds.bet_sensor.latch`) and the box's decision:
events of the driver go through `controller.device_events` into the table core (`tests.support.core.latch_host`), which
also writes locks and lights. Frames arrive in any order, once, twice or never. Every history is tried: states are
immutable, so a known state is not searched again, but its histories are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from devices.bet_sensor import messages as m
from simulators.kinds.bet_sensor import latch
from tests.support.core.latch_host import LOCK_ID, ROUND, LatchHost, SeatMoment

STRAYS: Final = {
    "lock with another id": m.Lock(ROUND, LOCK_ID + 1000),
    "lock of another round": m.Lock(ROUND + 1, LOCK_ID + 1001),
}
LEVEL: Final = {m.SpotContent.EMPTY: 100, m.SpotContent.CHIP: 700, m.SpotContent.SEVERAL: 920}


class HistoryBroken(AssertionError):
    """A check failed; the message holds the history."""


class Budget(msgspec.Struct, frozen=True, cache_hash=True):
    """How many events of each type may still happen."""

    chips_laid: int = 2
    chips_taken: int = 1
    reboots: int = 1
    locks: int = 1  # times that the host writes the lock
    losses: int = 1
    doubles: int = 1
    deadlines: int = 1
    strays: int = 0  # locks with another id or for another round


class LatchTruth(msgspec.Struct, frozen=True, cache_hash=True):
    """The true chips when the lock first reached an open sensor."""

    chips: tuple[int, ...]
    placed: int  # number of the last change before it


class Moment(msgspec.Struct, frozen=True, cache_hash=True):
    """One moment: chips, sensor, frames in transit in both directions, host."""

    budget: Budget
    chips: tuple[int, ...] = ()  # chips on the spot
    spot: latch.SpotMemory = latch.opened(latch.SpotMemory(), ROUND)
    half: bool = False  # for a sensor that latches in two steps: the first is done
    to_device: tuple[Any, ...] = ()
    to_host: tuple[Any, ...] = ()
    seat: SeatMoment = SeatMoment()
    truth: LatchTruth | None = None
    confirmed: m.Latch | None = None


class SensorParts(msgspec.Struct, frozen=True):
    """The functions of the sensor under test. A mutant replaces one of them."""

    lock: Callable[..., tuple[latch.SpotMemory, Any]] = latch.lock
    look: Callable[..., tuple[latch.SpotMemory, m.Changed | None]] = latch.update_content
    rebooted: Callable[[latch.SpotMemory], latch.SpotMemory] = latch.rebooted
    light_refused: Callable[..., m.Reason] = latch.light_refused
    two_steps: bool = False


Step = tuple[str, Moment]


class Explorer:
    """Tries every history from a first moment; `histories` counts them, `states` counts the moments."""

    def __init__(self, parts: SensorParts | None = None) -> None:
        self._parts = parts or SensorParts()
        self._host = LatchHost()
        self._counted: dict[Moment, int] = {}

    @property
    def states(self) -> int:
        """Number of different moments."""
        return len(self._counted)

    def histories(self, first: Moment) -> int:
        """Return the number of histories from here, each checked at every step; Broken holds the first bad one."""
        return self._count(first, [])

    def _count(self, world: Moment, history: list[str]) -> int:
        known = self._counted.get(world)
        if known is not None:
            return known
        total = 1
        for what, after in self._steps(world):
            history.append(what)
            try:
                self._check(world, what, after)
            except AssertionError as error:
                raise HistoryBroken(f"{error}\nafter: {', '.join(history)}") from None
            total += self._count(after, history)
            history.pop()
        self._counted[world] = total
        return total

    # --- what can happen next ------------------------------------------------------------------------------------

    def _steps(self, world: Moment) -> Iterator[Step]:
        budget = world.budget
        if budget.chips_laid:
            chip = 10 - budget.chips_laid
            yield f"chip {chip} is laid", self._hands(world, (*world.chips, chip), chips_laid=budget.chips_laid - 1)
        if budget.chips_taken and world.chips:
            yield "a chip is taken", self._hands(world, world.chips[:-1], chips_taken=budget.chips_taken - 1)
        if budget.reboots:
            yield "reboot", self._reboot(world)
        if budget.locks:
            yield "lock written", self._write_lock(world)
        if budget.strays:
            less = _less(budget, "strays")
            for name, stray in STRAYS.items():
                yield f"{name} written", _put(_change(world, budget=less), "to_device", stray)
        if world.half:
            yield "second step of the latch", self._second_step(world)
        if budget.deadlines and world.seat.asked:
            overdue, _ = self._host.due(world.seat)
            yield "deadline", _change(world, seat=overdue, budget=_less(budget, "deadlines"))
        for frame in dict.fromkeys(world.to_device):
            yield from self._fates(world, frame, "to_device", self._at_device)
        for frame in dict.fromkeys(world.to_host):
            yield from self._fates(world, frame, "to_host", self._at_host)

    def _fates(
        self, world: Moment, frame: Any, direction: str, arrive: Callable[[Moment, Any], Moment]
    ) -> Iterator[Step]:
        frames = list(getattr(world, direction))
        frames.remove(frame)
        name = _name(frame)
        without = _change(world, **{direction: tuple(frames)})
        yield f"{name} arrives", arrive(without, frame)
        if world.budget.losses:
            yield f"{name} is lost", _change(without, budget=_less(world.budget, "losses"))
        if world.budget.doubles:
            yield f"{name} is doubled", _put(world, direction, frame, budget=_less(world.budget, "doubles"))

    # --- hands and power -------------------------------------------------------------------------------------------

    def _hands(self, world: Moment, chips: tuple[int, ...], **left: int) -> Moment:
        moved = _change(world, chips=chips, budget=msgspec.structs.replace(world.budget, **left))
        return self._look(moved)

    def _look(self, world: Moment) -> Moment:
        lies = (m.SpotContent.EMPTY, m.SpotContent.CHIP, m.SpotContent.SEVERAL)[min(2, len(world.chips))]
        spot, changed = self._parts.look(world.spot, lies, LEVEL[lies])
        seen = _change(world, spot=spot)
        return seen if changed is None else _put(seen, "to_host", changed)

    def _reboot(self, world: Moment) -> Moment:
        """Restart. Frames stay in transit, the worst case of a line."""
        spot = self._parts.rebooted(world.spot)
        return self._look(_change(world, spot=spot, half=False, budget=_less(world.budget, "reboots")))

    # --- the sensor --------------------------------------------------------------------------------------------------

    def _at_device(self, world: Moment, frame: Any) -> Moment:
        if isinstance(frame, m.SetLight):
            refused = self._parts.light_refused(world.spot, frame.light, frame.sequence)
            return world if refused else _change(world, spot=latch.with_light(world.spot, frame.light))
        if world.truth is None and world.spot.open and frame.round == ROUND:
            world = _change(world, truth=LatchTruth(world.chips, world.spot.sequence))
        if self._parts.two_steps and world.spot.open:
            return _change(world, spot=msgspec.structs.replace(world.spot, open=False), half=True)
        spot, answer = self._parts.lock(world.spot, frame.round, frame.lock_id)
        if frame.lock_id != LOCK_ID:
            return _change(world, spot=spot)  # its answer goes to another host
        return self._confirm(world, spot, answer)

    def _second_step(self, world: Moment) -> Moment:
        opened = msgspec.structs.replace(world.spot, open=True)
        spot, answer = self._parts.lock(opened, ROUND, LOCK_ID)
        return self._confirm(_change(world, half=False), spot, answer)

    def _confirm(self, world: Moment, spot: latch.SpotMemory, answer: Any) -> Moment:
        confirmed = answer.latch if isinstance(answer, m.Locked) else world.confirmed
        return _put(_change(world, spot=spot, confirmed=confirmed), "to_host", answer)

    # --- the host ----------------------------------------------------------------------------------------------------

    def _write_lock(self, world: Moment) -> Moment:
        """Call no more bets; later calls reconnect the link, and an unconfirmed lock is sent again."""
        seat, frames = self._host.call(world.seat) if not world.seat.asked else self._host.connect_again(world.seat)
        return self._send(_change(world, seat=seat, budget=_less(world.budget, "locks")), frames)

    def _at_host(self, world: Moment, frame: Any) -> Moment:
        """Pass a frame to the box; a placed bet also gets the acknowledged light."""
        seat, frames = self._host.receive(world.seat, frame)
        after = self._send(_change(world, seat=seat), frames)
        if isinstance(frame, m.Changed) and frame.change is m.Change.PLACED and not seat.asked:
            return _put(after, "to_device", m.SetLight(1, m.Light.ACKNOWLEDGED, frame.sequence))
        return after

    @staticmethod
    def _send(world: Moment, frames: tuple[Any, ...]) -> Moment:
        for frame in frames:
            world = _put(world, "to_device", frame)
        return world

    # --- promises ----------------------------------------------------------------------------------------------------

    def _check(self, before: Moment, what: str, world: Moment) -> None:
        seat, truth = world.seat, world.truth
        assert before.seat.decision in (None, seat.decision), "a decision was changed"
        assert before.confirmed in (None, world.confirmed), "the same lock was confirmed twice, differently"
        assert seat.accepted == (seat.decision == "bet"), "what is booked is not what was decided"
        if seat.decision == "bet":
            assert truth is not None, "a bet counts that was never latched"
            assert len(truth.chips) == 1, f"{len(truth.chips)} chips lay there at the latch, and a bet counts"
            assert seat.sequence == truth.placed, "another bet counts than the one that lay there"
        if seat.decision == "no bet":
            assert truth is not None, "no bet was latched, and none is said to be"
            assert not truth.chips, "a chip lay there at the latch, and no bet counts"
        in_time = what == "Locked arrives" and before.seat.decision is None
        if in_time and truth is not None:
            expected = "undecided" if len(truth.chips) > 1 else "bet" if truth.chips else "no bet"
            assert seat.decision == expected, f"confirmed in time, and {seat.decision} instead of {expected}"
        self._check_late(before, world)
        self._check_lights(world)

    @staticmethod
    def _check_late(before: Moment, world: Moment) -> None:
        """Check that a chip placed after the latch has a higher number and is reported as late."""
        held = world.spot.latch
        if held is None or len(world.chips) <= len(before.chips):
            return
        reported = [frame for frame in world.to_host if frame not in before.to_host]
        for change in reported:
            assert change.sequence > held.last_change, "a chip laid after the latch has a number that counts"
            assert change.change is m.Change.LATE, "a chip laid after the latch is not told as late"

    @staticmethod
    def _check_lights(world: Moment) -> None:
        spot, seat = world.spot, world.seat
        if spot.light is m.Light.ACCEPTED:
            assert seat.accepted, "the accepted light burns, and no bet counts"
            assert spot.latch is not None, "the accepted light burns, and nothing is latched"
            assert (spot.latch.content, spot.latch.last_change) == (m.SpotContent.CHIP, seat.sequence)
        if spot.light is m.Light.ACKNOWLEDGED:
            lay = world.truth.chips if spot.latch is not None and world.truth is not None else world.chips
            assert len(lay) == 1, "the acknowledged light burns where no bet lies"


def _change(world: Moment, **fields: Any) -> Moment:
    return msgspec.structs.replace(world, **fields)


@cache
def _less(budget: Budget, name: str) -> Budget:
    return msgspec.structs.replace(budget, **{name: getattr(budget, name) - 1})


def _put(world: Moment, direction: str, frame: Any, **fields: Any) -> Moment:
    """Put a frame in transit; frames in transit have no order, so they are sorted."""
    frames = tuple(sorted((*getattr(world, direction), frame), key=_text))
    return _change(world, **{direction: frames}, **fields)


_text = cache(repr)


@cache
def _name(frame: Any) -> str:
    number = f" {frame.sequence}" if isinstance(frame, m.Changed) else ""
    return type(frame).__name__ + number
