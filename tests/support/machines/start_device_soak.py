"""Soak tests of dice shaker, number generator and button: human errors and faults, checked against the simulation."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from devices.button import messages as button
from devices.rng import messages as rng
from devices.shaker import messages as shaker
from firmware_bridge.errors import BadFault, CommandFailed, CommandRefused, LinkError, OutcomeUnknown, Revoked
from simulators.kinds.shaker.mechanics import SHAKE_THRESHOLD
from tests.support.machines.card_checks import ask_until_answered
from tests.support.machines.machine_soak import acknowledge_everything
from tests.support.machines.start_devices import (
    check_reported_dice,
    check_reported_number,
    check_reported_place,
    reported,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from tests.support.machines.start_devices import AnyBench, ButtonBench, RngBench, ShakerBench

# What can happen to any of them.
TROUBLE: Final = [
    "reboot",
    "power_cut:seconds=2",
    "hang:seconds=6",
    "unplug:seconds=1",
    "unplug:seconds=8",
    "garbage:bytes=700",
    "drop:frames=4",
    "corrupt:frames=3",
    "withhold:message=GetStatus",
    "stall",
]


class StartDeviceSoak:
    """Plays steps on a device bench. `figures` counts the cases; a broken invariant is an AssertionError."""

    happenings: tuple[str, ...]
    commands: tuple[str, ...]
    # How often each sort of step is taken: something happens, a command, trouble, everything in order again.
    weights: tuple[int, ...] = (10, 6, 1, 1)

    def __init__(self, b: AnyBench, random: Random) -> None:
        self.any = b
        self.random = random
        self.figures: Counter[str] = Counter()
        self.ids: list[int] = []
        self._broken: list[AssertionError] = []  # what was found in a callback, where nobody would notice it
        emit = b.machine.board.emit

        def watched(event: Any, **how: Any) -> None:
            try:
                self.check_event(event)
            except AssertionError as broken:
                self._broken.append(broken)
            emit(event, **how)

        b.machine.board.emit = watched

    def check_event(self, event: Any) -> None:
        """Check a report of the firmware at the moment it is sent."""

    def look(self) -> None:
        """Compare the firmware's state with the simulated world, now."""

    async def restore(self) -> None:
        """Bring everything in order and compare view and firmware with the truth."""

    async def play(self) -> None:
        """One step: hands, a fault, a command or trouble; then time passes, and somebody looks."""
        kind = self.random.choices(["happens", "command", "trouble", "rest"], self.weights)[0]
        if kind == "rest":
            await self._recover()
        elif kind == "command":
            await self._command(self.random.choice(self.commands))
        else:
            await self._inject(self.random.choice(self.happenings if kind == "happens" else TROUBLE))
        for _ in range(self.random.randint(1, 4)):
            await asyncio.sleep(self.random.choice([0.05, 0.3, 0.9, 2.0]))
            self.figures["looks"] += 1
            self.look()
            if self._broken:
                raise self._broken[0]

    async def _inject(self, what: str) -> None:
        try:
            self.any.inject(what)
        except BadFault:
            self.figures["impossible"] += 1
        else:
            self.figures[what.partition(":")[0]] += 1

    async def _command(self, method: str) -> None:
        command = self.any.next_id()
        self.ids.append(command)
        try:
            await getattr(self.any.driver, method)(command)
        except (CommandFailed, CommandRefused, OutcomeUnknown, Revoked, LinkError) as error:
            self.figures[type(error).__name__] += 1
        else:
            self.figures[method] += 1

    async def _recover(self) -> None:
        b = self.any
        if b.machine.firmware.stalled:
            b.inject("reboot")
            await asyncio.sleep(3)
        await reported(b)
        await self.restore()
        await acknowledge_everything(b)
        assert b.service.is_in_service, b.service.state
        self.figures["times in service"] += 1

    async def _pass_self_test(self) -> None:
        b = self.any
        for _ in range(5):
            try:
                await b.driver.self_test(b.next_id())
            except (OutcomeUnknown, LinkError):
                await reported(b)
            else:
                return
        raise AssertionError("a whole machine does not pass its test")


class ShakerSoak(StartDeviceSoak):
    """Rolls. A reading is the uncovered dice at that very moment; a roll has exactly one outcome."""

    happenings = (
        "shake:times=3", "shake:times=3", "shake:times=4", "shake:times=1", "shake:times=3,strength=30",
        "lid:to=off", "lid:to=off", "lid:to=off", "lid:to=on", "lid:to=on", "bump", "pick_up", "remove_die",
        "exchange_dice", "lean:die=1", "stack:die=2", "spill:die=3", "tremble:seconds=3", "dust:die=2,percent=70",
        "drift:percent=20", "deaf", "mend", "door:to=open", "door:to=closed",
    )  # fmt: skip
    commands = ("whole_roll", "whole_roll", "whole_roll", "arm", "disarm", "self_test")

    def __init__(self, b: ShakerBench, random: Random) -> None:
        super().__init__(b, random)
        self.b = b
        self._ends: dict[int, tuple[Any, ...]] = {}
        self._shaken = 0  # since the roll was armed, as a bystander counts
        feel = b.machine.mechanics._feel

        def felt(peak: int) -> None:
            self._shaken += peak >= SHAKE_THRESHOLD
            feel(peak)

        b.machine.mechanics._feel = felt  # type: ignore[method-assign]

    async def _command(self, method: str) -> None:
        if method != "whole_roll":
            await super()._command(method)
            return
        await self._inject("lid:to=on")
        await super()._command("arm")
        await self._inject(f"shake:times={self.random.choice([2, 3, 3, 4, 5])}")
        await asyncio.sleep(self.random.choice([2.0, 3.0, 4.0]))
        self.look()
        await self._inject("lid:to=off")

    def check_event(self, event: Any) -> None:
        """A reading is true, and the only end of its roll."""
        mechanics = self.b.machine.mechanics
        if isinstance(event, shaker.Shaken) and event.roll is not None and not event.shakes:
            self._shaken = 0
        if isinstance(event, shaker.Reading):
            assert not mechanics.lid_on
            assert mechanics.shown_faces() == tuple(event.values)
            assert self._shaken >= event.shakes >= 3
            self._end(event.command, tuple(event.values))
            self.figures["readings"] += 1
        if isinstance(event, shaker.NoRoll):
            assert event.reason
            self._end(event.command, (event.reason,))
            self.figures[f"no roll: {event.reason.name.lower()}"] += 1

    def _end(self, command: int, end: tuple[Any, ...]) -> None:
        assert command not in self._ends, f"roll {command} ended as {self._ends[command]} and then as {end}"
        self._ends[command] = end

    def look(self) -> None:
        """Lid, door and dice are as they are; an end never changes."""
        machine, mechanics = self.b.machine, self.b.machine.mechanics
        if not machine.board.alive:
            return
        status = machine.firmware.handle(shaker.GetStatus())
        assert isinstance(status, shaker.Status)
        assert (status.lid_on, status.door_open) == (mechanics.lid_on, mechanics.door_open)
        assert status.dice in (None, len(mechanics.in_shaker))
        for command, end in list(self._ends.items())[-15:]:  # one more may be open
            roll = machine.firmware.handle(shaker.GetRoll(command))
            assert isinstance(roll, shaker.Roll)
            assert (tuple(roll.values) if roll.values is not None else (roll.reason,)) == end

    async def restore(self) -> None:
        """Three dice under the lid of a whole shaker; view and firmware know it."""
        b = self.b
        await asyncio.sleep(10)  # a shake or a reading in progress ends
        for what in ("mend", "door:to=closed", "lid:to=off", "pick_up", "exchange_dice", "lid:to=on"):
            b.inject(what)
        await self._end_open_roll()
        await self._pass_self_test()
        await ask_until_answered(b, b.driver.report)
        status = await check_reported_dice(b)
        assert (status.dice, status.state) == (3, shaker.State.RESTING)

    async def _end_open_roll(self) -> None:
        while (await ask_until_answered(self.b, self.b.driver.status)).state is not shaker.State.RESTING:
            await self._command("disarm")
            if (await ask_until_answered(self.b, self.b.driver.status)).state is shaker.State.FAULTY:
                return
            await asyncio.sleep(1)


class RngSoak(StartDeviceSoak):
    """Draws. A draw has exactly one number, and the display shows that number or none."""

    happenings = (
        "noise_stuck", "noise_dead", "noise_biased:percent=35", "segment_dead:segment=a", "segment_dead:segment=g",
        "segment_stuck:segment=b", "mend", "mend", "mend", "mend",
    )  # fmt: skip
    commands = ("draw", "draw", "draw", "clear", "clear", "self_test")
    weights = (2, 12, 1, 2)

    def __init__(self, b: RngBench, random: Random) -> None:
        super().__init__(b, random)
        self.b = b
        self._drawn: dict[int, int] = {}

    def check_event(self, event: Any) -> None:
        """A number is reported once for a draw, and is on the display at that very moment."""
        if isinstance(event, rng.Drawn):
            assert event.command not in self._drawn
            assert self.b.machine.shown_number() == event.number
            self._drawn[event.command] = event.number
            self.figures["numbers"] += 1
        if isinstance(event, rng.HealthFailed):
            self.figures[f"failed: {event.reason.name.lower()}"] += 1

    def look(self) -> None:
        """No command has an unreported or a different number, and a failed machine shows none."""
        machine = self.b.machine
        if not machine.board.alive:
            assert machine.display.lit == rng.BLANK or machine.shown_number() is None or machine.display._always
            return
        for command in self.ids[-16:]:
            past = machine.firmware.handle(rng.GetDraw(command))
            assert isinstance(past, rng.PastDraw)
            assert past.number == self._drawn.get(command)
        status = machine.firmware.handle(rng.GetStatus())
        assert isinstance(status, rng.Status)
        if status.state is rng.State.SHOWING and not machine.firmware.stalled:
            assert machine.shown_number() == status.number == list(self._drawn.values())[-1]
        elif not machine.display._always and not machine.firmware.stalled:
            assert machine.display.lit == rng.BLANK

    async def restore(self) -> None:
        """A new source and display, a blank one; view and firmware know it."""
        b = self.b
        await asyncio.sleep(2)
        b.inject("mend")
        await ask_until_answered(b, b.driver.report)
        for _ in range(5):
            await self._command("clear")
            if (await ask_until_answered(b, b.driver.status)).number is None:
                break
        await self._pass_self_test()
        await ask_until_answered(b, b.driver.report)
        assert (await check_reported_number(b)).state is rng.State.IDLE


class ButtonSoak(StartDeviceSoak):
    """A button that is moved about. A place is the place, at every moment, or there is none."""

    happenings = (
        *(f"put_button:at={place}" for place in range(1, 8)), "slide_button:toward=3,percent=20",
        "slide_button:toward=6,percent=50", "slide_button:toward=2,percent=85", "slide_button:toward=5,percent=33",
        "second_button:at=4", "take_buttons", "weak_magnet:percent=30", "weak_magnet:percent=60",
        "stray_field:place=2,level=200", "dead_sensor:place=6", "mend",
    )  # fmt: skip
    commands = ("self_test",)

    def __init__(self, b: ButtonBench, random: Random) -> None:
        super().__init__(b, random)
        self.b = b

    def check_event(self, event: Any) -> None:
        """A reported position is the real position."""
        if isinstance(event, button.Moved):
            assert event.place in (None, self.b.machine.mat.true_place())
            self.figures["places"] += event.place is not None

    def look(self) -> None:
        """The firmware names the place or none."""
        machine = self.b.machine
        if machine.board.alive and not machine.firmware.stalled:
            status = machine.firmware.handle(button.GetStatus())
            assert isinstance(status, button.Status)
            assert status.place in (None, machine.mat.true_place())
            self.figures["looks that found a place"] += status.place is not None

    async def restore(self) -> None:
        """One button on a whole mat; view and firmware know where."""
        b, place = self.b, self.random.randint(1, 7)
        b.inject("mend")
        b.inject(f"put_button:at={place}")
        await asyncio.sleep(2)
        await self._pass_self_test()
        await ask_until_answered(b, b.driver.report)
        assert (await check_reported_place(b)).place == place


SOAKS: Final[dict[str, Callable[[Any, Random], StartDeviceSoak]]] = {
    "shaker": ShakerSoak,
    "rng": RngSoak,
    "button": ButtonSoak,
}
