"""A clumsy table around one shuffler: random faults, hands and hosts, and checkers who know the truth. No tests here.

What is played at the table is in `soak` (machines with cycles) and `store_soak` (a machine without).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m
from firmware_bridge.errors import CommandFailed, CommandRefused, LinkError, OutcomeUnknown, Revoked
from simulators.world.table import TRAY
from tests.support.beliefs import ask, beliefs_hold, carried_out

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from random import Random

    from tests.support.bench import Bench

SEGMENTS: Final = ["feed", "bridge", "lift", "shelf", "unload", "stack", "drop"]
SENSED: Final = ["feed", "bridge", "lift", "unload", "stack"]
AT_REST: Final = (m.State.IDLE, m.State.READY, m.State.HALTED, m.State.DOUBTFUL)
# What a machine may need to come to rest (s): a cycle or count of six decks, a hang, a minute without a cable, and the
# line's slowness.
TO_REST: Final = 600.0


class ClumsyTable:
    """`figures` counts what happened; a broken promise is an AssertionError."""

    def __init__(self, b: Bench, rng: Random) -> None:
        self.b = b
        self.rng = rng
        self.figures: Counter[str] = Counter()
        self._doubles = 0  # pairs that went in as one since the machine was last truly empty
        due = b.machine.mechanics._due

        def watched(name: str, segment: m.Segment | None = None) -> object:
            fault = due(name, segment)
            self._doubles += name == "double_feed" and fault is not None
            return fault

        b.machine.mechanics._due = watched  # type: ignore[method-assign,assignment]

    # --- what goes wrong ---------------------------------------------------------------------------------------

    def mishaps(self, card: int) -> list[str]:
        """What may happen to cards and mechanics before anything moves; `card` is the one it happens to."""
        rng = self.rng
        return [
            f"jam:segment={rng.choice(SEGMENTS)},card={card}",
            f"torn_card:segment={rng.choice(SENSED)},card={card}",
            f"double_feed:card={card},offset={rng.choice([0, 10, 30, 60])}",
            f"card_left_inside:card={card}",
            "missing_card",
            "foreign_card",
            "swapped_card",
            "sort_mode",
            f"wear:segment={rng.choice(SEGMENTS)},percent={rng.choice([10, 20, 300])}",
            f"dust:sensor={rng.choice(SENSED[:3])},percent={rng.choice([10, 30, 40, 60])}",
            "withhold:message=StartCycle",
        ]

    def disturbances(self) -> list[str]:
        """What may happen in the midst of a motion."""
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

    def choose(self, most_cards: int) -> tuple[list[str], list[str]]:
        """Draw up to two faults; those of cards and mechanics happen now, the others in the midst of what follows."""
        rng, before, during = self.rng, [], []
        card = rng.randint(1, most_cards)
        for _ in range(rng.choices([0, 1, 2], [2, 5, 3])[0]):
            if rng.random() < 0.55:
                fault = rng.choice(self.mishaps(card))
                self.b.inject(fault)
                before.append(fault)
            else:
                fault = rng.choice(self.disturbances())
                during.append(fault)
            self.figures[fault.partition(":")[0]] += 1
        return before, during

    async def run(self, motion: Awaitable[object], during: list[str], seconds: float) -> None:
        """Run a command, look at the firmware's belief at random instants, and let things happen in its midst."""
        rng = self.rng
        task = asyncio.ensure_future(motion)
        instants = sorted(rng.uniform(0.1, seconds) for _ in during)
        start = asyncio.get_running_loop().time()
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=rng.uniform(0.05, 1.0))
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
            b.inject(what)

    # --- what must be true -------------------------------------------------------------------------------------

    def check_firmware(self) -> None:
        """The firmware's count is the truth or unknown at every instant; an unseen pair is the stated limit."""
        machine = self.b.machine
        machine.world.check()
        self.figures["looks"] += 1
        if machine.board.alive:
            self.check_status(machine.twin.handle(m.GetStatus()))  # type: ignore[arg-type]

    def check_status(self, status: m.Status) -> None:
        """Compare what a status says with the truth."""
        self.true_or_unknown(status.inside)

    def true_or_unknown(self, belief: int | None) -> None:
        """Compare a belief about the cards inside with the truth."""
        inside = self.b.machine.mechanics.inside()
        if belief is None:
            self.figures["looks that found it unknown"] += 1
        elif belief != inside:
            unseen = inside - belief
            assert 0 < unseen <= self._doubles, f"{belief} cards are believed to be inside, the truth is {inside}"
            self.figures["looks while a pair counted as one, unseen"] += 1

    async def check_at_rest(self) -> None:
        """With nothing moving, view and firmware agree with the world."""
        b = self.b
        self.check_firmware()
        self.true_or_unknown(b.view.inside)
        if not self._doubles:
            await beliefs_hold(b)
        if b.machine.mechanics.inside() == 0:
            self._doubles = 0
        if b.service.serves:
            assert not b.view.unsettled
            assert b.view.state in (m.State.IDLE, m.State.READY)
            kept = b.view.continuous and b.view.inside is not None
            assert self._doubles or kept or b.machine.mechanics.inside() == 0

    async def come_to_rest(self) -> m.Status:
        """Wait until the machine is connected and still; one that is stalled is reset."""
        b, loop = self.b, asyncio.get_running_loop()
        until = loop.time() + TO_REST
        while loop.time() < until:
            if b.machine.twin.stalled:  # a technician sees that nothing turns
                b.inject("reboot")
                await asyncio.sleep(3)
            status = await ask(b, b.driver.status)
            if status.state in AT_REST:
                return status
            await asyncio.sleep(3)
        raise AssertionError(f"the machine did not come to rest: {status}")

    # --- the way back --------------------------------------------------------------------------------------------

    def strays(self) -> list[str]:
        """Places inside the machine where cards lie."""
        mechanics = self.b.machine.mechanics
        places = [place for place in self.b.machine.truth() if place.startswith(mechanics.slot + "/")]
        return [place for place in places if place not in mechanics.outside]

    def mend(self) -> None:
        """A technician changes rollers, wipes sensors and closes the door."""
        b = self.b
        for segment in SEGMENTS:
            b.inject(f"wear:segment={segment},percent=0")
        for sensor in SENSED[:3]:
            b.inject(f"dust:sensor={sensor},percent=0")
        b.inject("door:to=closed")

    async def empty(self) -> None:
        """Clear until the machine says that it is clear, then give out; leftover faults may jam it again."""
        b = self.b
        for _ in range(12):
            state = (await self.come_to_rest()).state
            try:
                if state in (m.State.HALTED, m.State.DOUBTFUL):
                    b.inject("clear_path")
                    await carried_out(b, b.driver.clear_jam)
                elif state is m.State.READY:
                    await carried_out(b, b.driver.eject)
                else:
                    return
            except (CommandFailed, CommandRefused):
                self.figures["clearings that failed"] += 1
            await self.come_to_rest()
            await self.check_at_rest()
        raise AssertionError("the machine could not be emptied")

    async def search(self) -> None:
        """A technician opens the resting machine, takes out what is hidden, and has it test itself."""
        b = self.b
        b.inject("door")
        for place in self.strays():
            self.figures["cards found by a technician"] += b.machine.world.move_all(place, TRAY)
        b.machine.mechanics.clear_path(TRAY)
        b.inject("door:to=closed")
        await carried_out(b, b.driver.self_test)
        assert (await ask(b, b.driver.status)).inside == b.machine.mechanics.inside() == 0

    async def back_to_service(self) -> None:
        """Ask what became of every command in doubt, acknowledge, and have the machine report."""
        b = self.b
        for command in b.view.unsettled:
            await ask(b, lambda command=command: b.driver.outcome(command))  # type: ignore[misc]
        if b.service.state == "faulted":
            b.service.clear()
            b.service.acknowledge()
        await ask(b, b.driver.report)
        self.figures["times back in service"] += b.service.serves
