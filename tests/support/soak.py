"""A clumsy table: random faults, hands and hosts around one shuffler; checkers who know the truth. No tests here."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Final

from devices.report import LinkDown
from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import CommandFailed, CommandRefused, LinkError, OutcomeUnknown, Revoked
from simulators.world.table import RAIL, TRAY
from tests.support.beliefs import ask, behind_gate, beliefs_hold, carried_out, faces_behind_gate

if TYPE_CHECKING:
    from random import Random

    from tests.support.bench import Bench

DECK: Final = 53
SEGMENTS: Final = ["feed", "bridge", "lift", "shelf", "unload", "stack", "drop"]
SENSED: Final = ["feed", "bridge", "lift", "unload", "stack"]
AT_REST: Final = (m.State.IDLE, m.State.READY, m.State.HALTED, m.State.DOUBTFUL)
# What a machine may need to come to rest (s): a cycle, a hang, a minute without a cable, and the line's slowness.
TO_REST: Final = 400.0


class Soak:
    """Plays cycles on a bench. `figures` counts what happened; a broken promise is an AssertionError."""

    def __init__(self, b: Bench, rng: Random, *, identifies: bool) -> None:
        self.b = b
        self.rng = rng
        self.identifies = identifies
        self.figures: Counter[str] = Counter()
        self._originals = {card.id for card in b.machine.world.at(b.machine.mechanics.intake)}
        self._doubles = 0  # pairs that went in as one since the machine was last truly empty
        due = b.machine.mechanics._due

        def watched(name: str, segment: m.Segment | None = None) -> object:
            fault = due(name, segment)
            self._doubles += name == "double_feed" and fault is not None
            return fault

        b.machine.mechanics._due = watched  # type: ignore[method-assign,assignment]

    async def play(self) -> None:
        """One cycle with what may go wrong, the comparison with the truth, and the way back."""
        b, told = self.b, len(self.b.events)
        before, during = self._choose()
        calm = not before and not during and not b.machine.mechanics._pending
        cycles = (await ask(b, b.driver.status)).cycles
        command = b.next_id()
        await self._cycle(command, during)
        await self._come_to_rest()
        await self._settle(command, cycles)
        await self.check_at_rest()
        self._judge(told, calm=calm)
        self.figures["cycles"] += 1
        await self._recover()

    # --- what goes wrong ---------------------------------------------------------------------------------------

    def _choose(self) -> tuple[list[str], list[str]]:
        """Draw up to two faults; those of deck and mechanics happen now, the others in mid-cycle."""
        rng, before, during = self.rng, [], []
        card = rng.randint(1, 50)
        for _ in range(rng.choices([0, 1, 2], [2, 5, 3])[0]):
            if rng.random() < 0.55:
                fault = rng.choice(
                    [
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
                )
                self.b.inject(fault)
                before.append(fault)
            else:
                fault = rng.choice(
                    [
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
                )
                during.append(fault)
            self.figures[fault.partition(":")[0]] += 1
        return before, during

    async def _cycle(self, command: int, during: list[str]) -> None:
        """Run the cycle, look at the firmware's belief at random instants, and let things happen in its midst."""
        b, rng = self.b, self.rng
        cycle = asyncio.create_task(b.driver.shuffle(command))
        instants = sorted(rng.uniform(0.1, 27.0) for _ in during)
        start = asyncio.get_running_loop().time()
        try:
            while not cycle.done():
                await asyncio.wait({cycle}, timeout=rng.uniform(0.05, 1.0))
                self._check_firmware()
                if instants and asyncio.get_running_loop().time() - start >= instants[0]:
                    instants.pop(0)
                    await self._happens(during.pop(0), cycle)
        finally:
            cycle.cancel()
            await asyncio.wait({cycle})
        if not cycle.cancelled() and (error := cycle.exception()) is not None:
            assert isinstance(error, CommandFailed | CommandRefused | OutcomeUnknown | LinkError), repr(error)

    async def _happens(self, what: str, cycle: asyncio.Task[object]) -> None:
        b = self.b
        if what == "cancel":
            cycle.cancel()
        elif what == "stop":
            try:
                await b.driver.stop(b.next_id())
            except (LinkError, OutcomeUnknown, Revoked):
                self.figures["stops that did not get through"] += 1
        else:
            b.inject(what)

    # --- what must be true -------------------------------------------------------------------------------------

    def _check_firmware(self) -> None:
        """The firmware's count is the truth or unknown at every instant; an unseen pair is the stated limit."""
        machine = self.b.machine
        machine.world.check()
        self.figures["looks"] += 1
        if not machine.board.alive:
            return
        self._true_or_unknown(machine.twin.handle(m.GetStatus()).inside)  # type: ignore[attr-defined]

    def _true_or_unknown(self, belief: int | None) -> None:
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
        self._check_firmware()
        self._true_or_unknown(b.view.inside)
        if not self._doubles:
            await beliefs_hold(b)
        if b.machine.mechanics.inside() == 0:
            self._doubles = 0
        if b.service.serves:
            assert not b.view.unsettled
            assert b.view.state in (m.State.IDLE, m.State.READY)
            assert self._doubles or b.machine.mechanics.inside() == 0

    async def _come_to_rest(self) -> None:
        """Wait until the machine is connected and still; one that is stalled is reset."""
        b, loop = self.b, asyncio.get_running_loop()
        until = loop.time() + TO_REST
        while loop.time() < until:
            if b.machine.twin.stalled:  # a technician sees that nothing turns
                b.inject("reboot")
                await asyncio.sleep(3)
            status = await ask(b, b.driver.status)
            if status.state in AT_REST:
                return
            await asyncio.sleep(3)
        raise AssertionError(f"the machine did not come to rest: {status}")

    async def _settle(self, command: int, cycles: int) -> None:
        """What the machine says of the command is what became of it, and it was done at most once."""
        b = self.b
        known = await ask(b, lambda: b.driver.outcome(command))
        status = await ask(b, b.driver.status)
        assert known.outcome is not Outcome.RUNNING
        assert status.cycles - cycles in (0, 1), "a command was done twice"
        self.figures[f"commands {known.outcome.name.lower()}"] += 1
        if known.outcome is Outcome.DONE:
            assert status.state is m.State.READY
            assert behind_gate(b) > 0
        elif known.outcome in (Outcome.UNKNOWN, Outcome.REFUSED):
            assert status.cycles == cycles
            assert behind_gate(b) == 0

    def _judge(self, told: int, *, calm: bool) -> None:
        """A good verdict is given to a good deck only, and always where nothing went wrong."""
        b = self.b
        completed = [event for event in b.events[told:] if isinstance(event, m.Completed)]
        lost = any(isinstance(event, LinkDown) for event in b.events[told:])
        for event in completed:
            assert event.count == behind_gate(b)
            if not verdict(event, DECK):
                self.figures["decks found good"] += 1
                assert len(faces_behind_gate(b)) == DECK
                if self.identifies:
                    assert faces_behind_gate(b) == list(range(DECK))
                self.figures["of those with a wrong face, unseen by counting"] += faces_behind_gate(b) != list(
                    range(DECK)
                )
        if calm and not lost and not self._strays():
            assert [verdict(event, DECK) for event in completed] == [[]], "a false alarm"

    # --- the way back --------------------------------------------------------------------------------------------

    def _strays(self) -> list[str]:
        """Places inside the machine, out of sight, where cards lie."""
        mechanics = self.b.machine.mechanics
        outside = {mechanics.intake, mechanics.gate, mechanics.place("presented")}
        return [p for p in self.b.machine.truth() if p.startswith(mechanics.slot + "/") and p not in outside]

    async def _recover(self) -> None:
        b = self.b
        for segment in SEGMENTS:
            b.inject(f"wear:segment={segment},percent=0")
        for sensor in SENSED[:3]:
            b.inject(f"dust:sensor={sensor},percent=0")
        b.inject("door:to=closed")
        await self._empty()
        b.inject("take_deck")
        if (await ask(b, b.driver.status)).inside is None and self.rng.random() < 0.8:
            await self._search()
        await carried_out(b, lambda command: b.driver.set_mode(command, m.Mode.SHUFFLE))
        self._sort_out_the_deck()
        b.inject("load")
        await self._back_to_service()
        await self.check_at_rest()

    async def _empty(self) -> None:
        """Clear until the machine says that it is clear, then give out; leftover faults may jam it again."""
        b = self.b
        for _ in range(12):
            await self._come_to_rest()
            state = (await ask(b, b.driver.status)).state
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
            await self._come_to_rest()
            await self.check_at_rest()
        raise AssertionError("the machine could not be emptied")

    async def _search(self) -> None:
        """A technician opens the resting machine, takes out what is hidden, and has it test itself."""
        b = self.b
        b.inject("door")
        for place in self._strays():
            self.figures["cards found by a technician"] += b.machine.world.move_all(place, TRAY)
        b.machine.mechanics.clear_path(TRAY)
        b.inject("door:to=closed")
        await carried_out(b, b.driver.self_test)
        assert (await ask(b, b.driver.status)).inside == b.machine.mechanics.inside() == 0

    def _sort_out_the_deck(self) -> None:
        """Hands put the deck together again from what is outside the machine."""
        world, intake = self.b.machine.world, self.b.machine.mechanics.intake
        world.torn.clear()
        for place in (RAIL, TRAY, intake):
            for card in world.at(place):
                world.move(card, TRAY if card.id in self._originals else "not of this deck")

    async def _back_to_service(self) -> None:
        b = self.b
        for command in b.view.unsettled:
            await ask(b, lambda command=command: b.driver.outcome(command))  # type: ignore[misc]
        if b.service.state == "faulted":
            b.service.clear()
            b.service.acknowledge()
        await ask(b, b.driver.report)
        self.figures["times back in service"] += b.service.serves
