"""Every order in which one seat's bets, its lock and the frames between sensor and host can happen. No tests here.

One player's hands, one sensor's real memory (`simulators.twins.latch`), and the box's own decision: what its driver
reports goes through `controller.translate` into the table core (`tests.support.latching`), which also writes the locks
and lights. Between them frames arrive in any order, once, twice or never. Every history is tried, not some: the state
is frozen, so a state that was reached before is not tried again, and its histories are counted all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from devices.bet_sensor import messages as m
from simulators.twins import latch
from tests.support.latching import LOCK_ID, ROUND, Host, Seat

STRAYS: Final = {
    "lock with another id": m.Lock(ROUND, LOCK_ID + 1000),
    "lock of another round": m.Lock(ROUND + 1, LOCK_ID + 1001),
}
LEVEL: Final = {m.Lies.EMPTY: 100, m.Lies.CHIP: 700, m.Lies.SEVERAL: 920}


class Broken(AssertionError):
    """A promise does not hold; the message tells the history that shows it."""


class Rest(msgspec.Struct, frozen=True, cache_hash=True):
    """What may still happen."""

    lays: int = 2
    takes: int = 1
    reboots: int = 1
    locks: int = 1  # times that the host writes the lock: the same one again after the first
    losses: int = 1
    doubles: int = 1
    deadlines: int = 1
    strays: int = 0  # locks that are not the host's for this round: another id, another round


class Truth(msgspec.Struct, frozen=True, cache_hash=True):
    """What really lay there at the instant when the lock first reached an open sensor."""

    chips: tuple[int, ...]
    placed: int  # the number of the last change before it


class World(msgspec.Struct, frozen=True, cache_hash=True):
    """One moment: hands, sensor, frames on their way in both directions, host."""

    rest: Rest
    chips: tuple[int, ...] = ()  # which lie on the spot
    spot: latch.Spot = latch.opened(latch.Spot(), ROUND)
    half: bool = False  # only a sensor that latches in two steps: the first is done
    to_device: tuple[Any, ...] = ()
    to_host: tuple[Any, ...] = ()
    seat: Seat = Seat()
    truth: Truth | None = None
    confirmed: m.Latch | None = None


class Parts(msgspec.Struct, frozen=True):
    """The sensor's parts under test. A planted mistake replaces one of them; the box has its own."""

    lock: Callable[..., tuple[latch.Spot, Any]] = latch.lock
    look: Callable[..., tuple[latch.Spot, m.Changed | None]] = latch.look
    rebooted: Callable[[latch.Spot], latch.Spot] = latch.rebooted
    light_refused: Callable[..., m.Reason] = latch.light_refused
    two_steps: bool = False


Step = tuple[str, World]


class Explorer:
    """Tries every history from a first world; `histories` counts them, `states` the different moments in them."""

    def __init__(self, parts: Parts | None = None) -> None:
        self._parts = parts or Parts()
        self._host = Host()
        self._counted: dict[World, int] = {}

    @property
    def states(self) -> int:
        """How many different moments there are."""
        return len(self._counted)

    def histories(self, first: World) -> int:
        """Return how many histories begin here, each checked at its end; Broken names the first bad one."""
        return self._count(first, [])

    def _count(self, world: World, told: list[str]) -> int:
        known = self._counted.get(world)
        if known is not None:
            return known
        total = 1
        for what, after in self._steps(world):
            told.append(what)
            try:
                self._check(world, what, after)
            except AssertionError as error:
                raise Broken(f"{error}\nafter: {', '.join(told)}") from None
            total += self._count(after, told)
            told.pop()
        self._counted[world] = total
        return total

    # --- what can happen next ------------------------------------------------------------------------------------

    def _steps(self, world: World) -> Iterator[Step]:
        rest = world.rest
        if rest.lays:
            chip = 10 - rest.lays
            yield f"chip {chip} is laid", self._hands(world, (*world.chips, chip), lays=rest.lays - 1)
        if rest.takes and world.chips:
            yield "a chip is taken", self._hands(world, world.chips[:-1], takes=rest.takes - 1)
        if rest.reboots:
            yield "reboot", self._reboot(world)
        if rest.locks:
            yield "lock written", self._write_lock(world)
        if rest.strays:
            less = _less(rest, "strays")
            for name, stray in STRAYS.items():
                yield f"{name} written", _put(_change(world, rest=less), "to_device", stray)
        if world.half:
            yield "second step of the latch", self._second_step(world)
        if rest.deadlines and world.seat.asked:
            overdue, _ = self._host.due(world.seat)
            yield "deadline", _change(world, seat=overdue, rest=_less(rest, "deadlines"))
        for frame in dict.fromkeys(world.to_device):
            yield from self._fates(world, frame, "to_device", self._at_device)
        for frame in dict.fromkeys(world.to_host):
            yield from self._fates(world, frame, "to_host", self._at_host)

    def _fates(self, world: World, frame: Any, way: str, arrive: Callable[[World, Any], World]) -> Iterator[Step]:
        frames = list(getattr(world, way))
        frames.remove(frame)
        name = _name(frame)
        without = _change(world, **{way: tuple(frames)})
        yield f"{name} arrives", arrive(without, frame)
        if world.rest.losses:
            yield f"{name} is lost", _change(without, rest=_less(world.rest, "losses"))
        if world.rest.doubles:
            yield f"{name} is doubled", _put(world, way, frame, rest=_less(world.rest, "doubles"))

    # --- hands and power -------------------------------------------------------------------------------------------

    def _hands(self, world: World, chips: tuple[int, ...], **rest: int) -> World:
        moved = _change(world, chips=chips, rest=msgspec.structs.replace(world.rest, **rest))
        return self._look(moved)

    def _look(self, world: World) -> World:
        lies = (m.Lies.EMPTY, m.Lies.CHIP, m.Lies.SEVERAL)[min(2, len(world.chips))]
        spot, changed = self._parts.look(world.spot, lies, LEVEL[lies])
        seen = _change(world, spot=spot)
        return seen if changed is None else _put(seen, "to_host", changed)

    def _reboot(self, world: World) -> World:
        """Restart. Frames stay on their way: the worst that a line could do."""
        spot = self._parts.rebooted(world.spot)
        return self._look(_change(world, spot=spot, half=False, rest=_less(world.rest, "reboots")))

    # --- the sensor --------------------------------------------------------------------------------------------------

    def _at_device(self, world: World, frame: Any) -> World:
        if isinstance(frame, m.SetLight):
            refused = self._parts.light_refused(world.spot, frame.light, frame.sequence)
            return world if refused else _change(world, spot=latch.lit(world.spot, frame.light))
        if world.truth is None and world.spot.open and frame.round == ROUND:
            world = _change(world, truth=Truth(world.chips, world.spot.sequence))
        if self._parts.two_steps and world.spot.open:
            return _change(world, spot=msgspec.structs.replace(world.spot, open=False), half=True)
        spot, answer = self._parts.lock(world.spot, frame.round, frame.lock_id)
        if frame.lock_id != LOCK_ID:
            return _change(world, spot=spot)  # its answer goes to whoever sent it
        return self._confirm(world, spot, answer)

    def _second_step(self, world: World) -> World:
        opened = msgspec.structs.replace(world.spot, open=True)
        spot, answer = self._parts.lock(opened, ROUND, LOCK_ID)
        return self._confirm(_change(world, half=False), spot, answer)

    def _confirm(self, world: World, spot: latch.Spot, answer: Any) -> World:
        confirmed = answer.latch if isinstance(answer, m.Locked) else world.confirmed
        return _put(_change(world, spot=spot, confirmed=confirmed), "to_host", answer)

    # --- the host ----------------------------------------------------------------------------------------------------

    def _write_lock(self, world: World) -> World:
        """The dealer calls no more bets; later, the link breaks and comes back, and a lock in doubt goes out again."""
        seat, frames = self._host.call(world.seat) if not world.seat.asked else self._host.connect_again(world.seat)
        return self._send(_change(world, seat=seat, rest=_less(world.rest, "locks")), frames)

    def _at_host(self, world: World, frame: Any) -> World:
        """The box takes what its driver reports; a bench would also light acknowledged what is placed."""
        seat, frames = self._host.hear(world.seat, frame)
        after = self._send(_change(world, seat=seat), frames)
        if isinstance(frame, m.Changed) and frame.change is m.Change.PLACED and not seat.asked:
            return _put(after, "to_device", m.SetLight(1, m.Light.ACKNOWLEDGED, frame.sequence))
        return after

    @staticmethod
    def _send(world: World, frames: tuple[Any, ...]) -> World:
        for frame in frames:
            world = _put(world, "to_device", frame)
        return world

    # --- promises ----------------------------------------------------------------------------------------------------

    def _check(self, before: World, what: str, world: World) -> None:
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
            wanted = "undecided" if len(truth.chips) > 1 else "bet" if truth.chips else "no bet"
            assert seat.decision == wanted, f"confirmed in time, and {seat.decision} instead of {wanted}"
        self._check_late(before, world)
        self._check_lights(world)

    @staticmethod
    def _check_late(before: World, world: World) -> None:
        """What is laid after the latch has a number above it and is told as late."""
        held = world.spot.latch
        if held is None or len(world.chips) <= len(before.chips):
            return
        told = [frame for frame in world.to_host if frame not in before.to_host]
        for change in told:
            assert change.sequence > held.last, "a chip laid after the latch has a number that counts"
            assert change.change is m.Change.LATE, "a chip laid after the latch is not told as late"

    @staticmethod
    def _check_lights(world: World) -> None:
        spot, seat = world.spot, world.seat
        if spot.light is m.Light.ACCEPTED:
            assert seat.accepted, "the accepted light burns, and no bet counts"
            assert spot.latch is not None, "the accepted light burns, and nothing is latched"
            assert (spot.latch.lies, spot.latch.last) == (m.Lies.CHIP, seat.sequence)
        if spot.light is m.Light.ACKNOWLEDGED:
            lay = world.truth.chips if spot.latch is not None and world.truth is not None else world.chips
            assert len(lay) == 1, "the acknowledged light burns where no bet lies"


def _change(world: World, **fields: Any) -> World:
    return msgspec.structs.replace(world, **fields)


@cache
def _less(rest: Rest, name: str) -> Rest:
    return msgspec.structs.replace(rest, **{name: getattr(rest, name) - 1})


def _put(world: World, way: str, frame: Any, **fields: Any) -> World:
    """Put a frame on its way; the way has no order, so it is kept sorted."""
    frames = tuple(sorted((*getattr(world, way), frame), key=_text))
    return _change(world, **{way: frames}, **fields)


_text = cache(repr)


@cache
def _name(frame: Any) -> str:
    number = f" {frame.sequence}" if isinstance(frame, m.Changed) else ""
    return type(frame).__name__ + number
