"""The demo: one simulated shuffler, six things that happen at real tables, and what the box makes of each.

The machine below is simulated down to its sensors; link, driver and service state above it are the real ones. So far
the demo plays the permit's part itself: a deck is given out only if the machine serves and the deck is whole.
"""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from devices.kinds import SHUFFLER
from devices.report import LinkDown
from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.errors import CommandFailed, CommandRefused, TrustError
from firmware_bridge.transport.serial import open_serial
from simulators.hosts.memory import MemoryHost
from simulators.hosts.pty import PtyHost
from simulators.house.stand import ShufflerStand, Stand
from simulators.machines.shuffler import SimulatedShuffler

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from devices.shuffler.state import DriverEvent
    from firmware_bridge.wire import Transport
    from table_controller.cli.screen import Screen

DECK: Final = 53
# A pause between scenes, so that a person can read (s).
PAUSE: Final = 1.2


class Tally(msgspec.Struct):
    """What the demo counts against the world's truth."""

    decks: int = 0
    given_out: int = 0
    bad_given_out: int = 0


class Demo:
    """Plays the scenes on one screen; `fast` runs them in memory and virtual time, with the same text."""

    def __init__(self, screen: Screen, *, seed: int, speed: float, fast: bool) -> None:
        self._screen = screen
        self._seed = seed
        self._speed = speed
        self._fast = fast
        self.tally = Tally()

    async def run(self) -> Tally:
        """Play every scene."""
        scenes: list[tuple[str, Callable[[], Awaitable[None]]]] = [
            ("a good deck", self._good_deck),
            ("a card jams half-way", self._jam),
            ("a card is missing", self._missing_card),
            ("a card stays inside", self._left_inside),
            ("somebody left the machine in SORT", self._sort_mode),
            ("a board without the right key", self._rogue),
        ]
        for number, (title, scene) in enumerate(scenes, 1):
            self._screen.line(f"{number}. {title}", "bold")
            await scene()
            self._screen.line()
            await asyncio.sleep(PAUSE)
        tally = self.tally
        self._screen.line(
            f"{tally.decks} decks shuffled or tried, {tally.given_out} given out, "
            f"{tally.bad_given_out} of those not a whole, shuffled deck.",
            "bold",
        )
        return tally

    # --- scenes ------------------------------------------------------------------------------------------------

    async def _good_deck(self) -> None:
        async with self._stand() as stand:
            await stand.driver.ready()
            hello = stand.machine.board.identity
            self._say(f"{hello.kind} {hello.serial} proved its key; firmware {hello.firmware} is on the approved list")
            self._service(stand)
            await self._shuffle(stand)
            await self._give_out(stand)

    async def _jam(self) -> None:
        async with self._stand("jam:segment=lift,card=27") as stand:
            await stand.driver.ready()
            await self._shuffle(stand)
            (jam,) = stand.told(m.Jam)
            truth = stand.machine.mechanics.inside()
            at = stand.machine.world.count(stand.machine.mechanics.segment_place(jam.segment))
            self._say(f"the machine says: segment {jam.segment.name.lower()}, {jam.inside} cards inside")
            self._say(f"the truth is:     {at} card in that segment, {truth} cards inside")
            self._service(stand)
            await self._give_out(stand)
            self._say("the cable is pulled and put back ...")
            stand.inject("unplug:seconds=0.5")
            await stand.until_reported()
            self._service(stand)
            self._say(stand.inject("clear_path").partition(": ")[2] + "; the machine empties itself")
            await stand.driver.clear_jam(stand.next_id())
            self._say("the technician looks inside, closes the door and runs a self-test")
            stand.inject("clear_path")
            await stand.driver.self_test(stand.next_id())
            stand.service.clear()
            self._service(stand)
            self._say("the floorperson acknowledges; the machine reports again")
            stand.service.acknowledge()
            await stand.driver.report()
            self._service(stand)

    async def _missing_card(self) -> None:
        async with self._stand("missing_card") as stand:
            await stand.driver.ready()
            await self._shuffle(stand)
            await self._give_out(stand)

    async def _left_inside(self) -> None:
        async with self._stand("card_left_inside:card=40") as stand:
            await stand.driver.ready()
            await self._shuffle(stand)
            await self._give_out(stand)

    async def _sort_mode(self) -> None:
        async with self._stand("sort_mode") as stand:
            await stand.driver.ready()
            await self._shuffle(stand)
            await self._give_out(stand)

    async def _rogue(self) -> None:
        async with self._stand("wrong_key") as stand:
            down: LinkDown = await stand.until(
                lambda event: isinstance(event, LinkDown) and isinstance(event.cause, TrustError)
            )
            self._say(f"{down.cause.code}: {down.cause}", "red")
            self._service(stand)

    # --- what happens in every scene -----------------------------------------------------------------------------

    async def _shuffle(self, stand: ShufflerStand) -> None:
        self.tally.decks += 1
        try:
            await stand.driver.shuffle(stand.next_id())
        except CommandFailed as failed:
            self._say(f"{failed.code}: {'; '.join(self._wrong(stand))}", "red")
            return
        ended = stand.view.ended
        assert isinstance(ended, m.Completed)
        self._say(f"{ended.count} cards in {ended.duration_ms / 1000:.1f} s of machine time, mode {ended.mode.name}")

    async def _give_out(self, stand: ShufflerStand) -> None:
        """Ask for the deck; what is not whole, shuffled and from a serving machine is not given out."""
        reasons = self._wrong(stand)
        if not stand.service.serves:
            reasons.append(f"the shuffler is {stand.service.state}")
        if reasons:
            self._say("not given out: " + "; ".join(reasons), "bold red")
            if stand.view.state is m.State.HALTED:
                await self._try_anyway(stand)
            return
        await stand.driver.eject(stand.next_id())
        presented = stand.machine.world.at(stand.machine.mechanics.place("presented"))
        self.tally.given_out += 1
        self.tally.bad_given_out += sorted(card.face for card in presented) != list(range(DECK))
        self._say(f"given out: a whole, shuffled deck of {len(presented)}", "bold green")

    async def _try_anyway(self, stand: ShufflerStand) -> None:
        try:
            await stand.driver.eject(stand.next_id())
        except CommandRefused as refused:
            self._say(f"and if asked anyway, the machine itself refuses: {refused.code}")

    def _wrong(self, stand: ShufflerStand) -> list[str]:
        ended = stand.view.ended
        return verdict(ended, DECK) if ended is not None else ["no cycle has ended"]

    def _service(self, stand: ShufflerStand) -> None:
        self._say(f"service state: {stand.service.state}", "cyan")

    def _say(self, text: str, style: str = "") -> None:
        self._screen.line(f"   {text}", style)

    @asynccontextmanager
    async def _stand(self, *faults: str) -> AsyncIterator[ShufflerStand]:
        machine = SimulatedShuffler(seed=self._seed, speed=1.0 if self._fast else self._speed)
        with tempfile.TemporaryDirectory(prefix="pitbox-demo-") as folder:
            host = MemoryHost(machine) if self._fast else PtyHost(machine, Path(folder) / machine.slot)
            stand: ShufflerStand

            def show(event: DriverEvent) -> None:
                if isinstance(event, m.Progress | m.Completed | m.Incomplete | m.Jam | m.Fault):
                    self._screen.path(stand.view, DECK)

            stand = Stand(machine, SHUFFLER, _opener(host), on_event=show)
            for fault in faults:
                stand.inject(fault)
            stand.supervisor.start()
            try:
                yield stand
            finally:
                await stand.close()
                if isinstance(host, PtyHost):
                    host.close()


def _opener(host: MemoryHost | PtyHost) -> Callable[[], Awaitable[Transport]]:
    if isinstance(host, MemoryHost):
        return host.open
    return lambda: open_serial(str(host.port))
