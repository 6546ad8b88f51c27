"""A machine that moves cards, with disturbances: faults, waiting until it is idle, and its return to service."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import CommandFailed, CommandRefused, LinkError, OutcomeUnknown, Revoked
from simulators.world.table import TRAY
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.machine_soak import acknowledge_everything

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from random import Random

    from simulators.casino.device_bench import DeviceBench

# The states of a machine in which nothing moves, by name.
IDLE_STATES: Final = ("IDLE", "READY", "HALTED", "DOUBTFUL")
# Time limit until a machine is idle (s): a cycle or count of six decks, a hang, a minute without a cable, a slow line.
IDLE_TIMEOUT_S: Final = 600.0


class DisturbedMachine(ABC):
    """`figures` counts what happened; a broken promise is an AssertionError."""

    def __init__(self, b: DeviceBench[Any, Any, Any], rng: Random) -> None:
        self.b: Any = b
        self.rng = rng
        self.figures: Counter[str] = Counter()
        self._doubles = 0  # pairs drawn as one since the machine was last really empty
        due = self.b.machine.mechanics._due

        def watched(name: str, segment: object = None) -> object:
            fault = due(name, segment)
            self._doubles += name == "double_feed" and fault is not None
            return fault

        self.b.machine.mechanics._due = watched

    @abstractmethod
    def check_firmware(self) -> None:
        """Compare the firmware's counts at this instant with the truth."""

    @abstractmethod
    async def check_idle(self) -> None:
        """Check that view and firmware of an idle machine agree with the truth."""

    @abstractmethod
    async def bring_out(self, state: str) -> bool:
        """Do the next step that brings cards out of a machine in this state; return whether none is left."""

    def compare(self, what: str, reported: int | None, truth: int) -> None:
        """Check that a reported count is true or unknown; pairs that no sensor can detect are the stated limit."""
        self.figures["looks"] += 1
        if reported is None:
            self.figures["looks that found it unknown"] += 1
        elif reported != truth:
            assert abs(truth - reported) <= self._doubles, (
                f"{reported} cards are reported as {what}, the truth is {truth}"
            )
            self.figures["looks while a pair counted as one, unseen"] += 1

    def disturbances(self) -> list[str]:
        """Return faults that may happen during a motion."""
        rng = self.rng
        return [
            "door",
            "reboot",
            f"power_cut:seconds={rng.randint(1, 5)}",
            f"hang:seconds={rng.choice([0.5, 6])}",
            "stall",
            f"unplug:seconds={rng.choice([1, 5, 60])}",
            f"garbage:bytes={rng.choice([1, 500, 9000])}",
            f"drop:frames={rng.randint(1, 6)}",
            "stop",
            "cancel",
        ]

    async def run(self, motion: Awaitable[object], during: list[str], seconds: float, *, pause: float = 1.0) -> None:
        """Run a command, check the firmware's counts every `pause` or sooner, and inject faults meanwhile."""
        rng = self.rng
        task = asyncio.ensure_future(motion)
        instants = sorted(rng.uniform(0.1, seconds) for _ in during)
        start = asyncio.get_running_loop().time()
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=rng.uniform(0.05 * pause, pause))
                self.check_firmware()
                if instants and asyncio.get_running_loop().time() - start >= instants[0]:
                    instants.pop(0)
                    await self._happens(during.pop(0), task)
        finally:
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled() and (error := task.exception()) is not None:
            assert isinstance(error, CommandFailed | CommandRefused | OutcomeUnknown | LinkError), repr(error)

    async def _happens(self, what: str, task: asyncio.Future[object]) -> None:
        b = self.b
        if what == "cancel":
            task.cancel()
        elif what == "stop":
            try:
                await b.driver.stop(b.next_id())
            except (LinkError, OutcomeUnknown, Revoked):
                self.figures["stops that did not get through"] += 1
        else:
            self.inject(what)

    def inject(self, fault: str) -> None:
        """Apply a fault or a hand action."""
        self.b.inject(fault)

    async def until_idle(self) -> Any:
        """Wait until the machine is connected and idle; reset a stalled one."""
        b, loop = self.b, asyncio.get_running_loop()
        until = loop.time() + IDLE_TIMEOUT_S
        while loop.time() < until:
            if b.machine.firmware.stalled:  # a technician sees that nothing moves
                b.inject("reboot")
                await asyncio.sleep(3)
            status = await ask_until_answered(b, b.driver.status)
            if status.state.name in IDLE_STATES:
                return status
            await asyncio.sleep(3)
        raise AssertionError(f"the machine did not become idle: {status}")

    def places_with_cards(self) -> list[str]:
        """Return the places inside the machine that hold cards."""
        mechanics = self.b.machine.mechanics
        places = [place for place in self.b.machine.true_counts() if place.startswith(mechanics.slot + "/")]
        return [place for place in places if place not in mechanics.outside]

    async def empty(self) -> None:
        """Empty the machine; pending faults may jam it again."""
        for _ in range(12):
            state = (await self.until_idle()).state
            try:
                if await self.bring_out(state.name):
                    return
            except (CommandFailed, CommandRefused):
                self.figures["clearings that failed"] += 1
            await self.until_idle()
            await self.check_idle()
        raise AssertionError("the machine could not be emptied")

    async def search(self) -> Any:
        """Open the idle machine, take out hidden cards, run its self-test; return its status."""
        b = self.b
        b.inject("door")
        for place in self.places_with_cards():
            self.figures["cards found by a technician"] += b.machine.world.move_all(place, TRAY)
        b.machine.mechanics.clear_path(TRAY)
        b.inject("door:to=closed")
        await run_command(b, b.driver.self_test)
        return await ask_until_answered(b, b.driver.status)

    async def back_to_service(self) -> None:
        """Ask for the outcome of every unsettled command, acknowledge, and request a report."""
        await acknowledge_everything(self.b)
        self.figures["times back in service"] += self.b.service.is_in_service
