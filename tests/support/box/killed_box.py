"""A table whose box is another process that is killed again and again. Machines on ptys, people and truth are here."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from firmware_bridge.errors import LinkClosed
from simulators.casino.winning_players import WinningPlayers
from simulators.engine.control import write_trust_files
from simulators.engine.ports.pty import PtyPort
from table_controller.journal import reader
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import BetAccepted
from tests.support.box.forked_box import POINTS, SOCKET, receive, send
from tests.support.box.power_cuts import BETTORS, LightWatch, PowerCutTable, choices_of, compare, decided, shown

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.chain import Record

GAME = "face_up_pai_gow"
# Factors on the time of people and on the speed of machines.
PACE = 0.01
SPEED = 400.0
# Time limit of a boot on a busy computer (s).
LIMIT = 60.0
# If a crash point is not reached within this time (s), the box is killed anyway.
POINT_TIMEOUT_S = 1.5
# A claimed hand is paid after at most about this time (s).
UNTIL_PAID = 0.15


class KilledBoxDriver:
    """A driver reached through the box's socket."""

    def __init__(self, box: KilledBox, slot: str) -> None:
        self._box, self._slot = box, slot

    def __getattr__(self, method: str) -> Any:
        return lambda *arguments: self._box.call(self._slot, method, arguments)


class KilledBoxView(NamedTuple):
    """The view of a device's link that people need."""

    connected: bool


class KilledBoxSlot:
    """A slot, with the parts that people need."""

    def __init__(self, box: KilledBox, name: str) -> None:
        self._box = box
        self.driver = KilledBoxDriver(box, name)

    @property
    def view(self) -> KilledBoxView:
        """Return a connected view while the box runs: these machines are never unplugged."""
        return KilledBoxView(self._box.powered)


class KilledBox:
    """The box as its screen shows it: a table that follows the steps on its disk."""

    def __init__(self, house: KilledBoxTable, table: Table) -> None:
        self.house = house
        self.table = table
        self.controller = self
        self.slots: Any = {name: KilledBoxSlot(self, name) for name in house.machines}
        self.powered = False
        self.pid = 0
        self.boots = 0
        self._peer: asyncio.StreamWriter | None = None
        self._calls: dict[int, asyncio.Future[None]] = {}
        self._numbers = count(1)

    def submit(self, event: ev.Event) -> None:
        """Submit an event to the box."""
        if self.powered and self._peer is not None:
            send(self._peer, ("submit", event))

    async def call(self, slot: str, method: str, arguments: tuple[Any, ...]) -> None:
        """Call a driver through the box as a technician; LinkClosed if the box is down or dies."""
        if not self.powered or self._peer is None:
            raise LinkClosed("the box is dark")
        number = next(self._numbers)
        answer = self._calls[number] = asyncio.get_running_loop().create_future()
        send(self._peer, ("call", number, slot, method, arguments))
        try:
            await answer
        finally:
            del self._calls[number]

    async def serve(self, source: asyncio.StreamReader, peer: asyncio.StreamWriter) -> None:
        """Follow one boot until it ends."""
        self._peer = peer
        try:
            while True:
                self._on_message(await receive(source))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.powered, self._peer = False, None
            for waiting in self._calls.values():
                if not waiting.done():
                    waiting.set_exception(LinkClosed("the box died"))
        finally:
            peer.close()

    def _on_message(self, what: tuple[Any, ...]) -> None:
        match what:
            case ("step", event, decisions, snapshot):
                self.table.restore(snapshot)
                if isinstance(event, ev.BoxStarted):
                    self.powered, self.boots = True, event.boot
                self.house.see_step(event, decisions)
            case ("device_event", slot, event):
                self.house.people.see_device_event(slot, event)
            case ("answer", number, failed):
                waiting = self._calls.get(number)
                if waiting is not None and not waiting.done():
                    if failed is None:
                        waiting.set_result(None)
                    else:
                        waiting.set_exception(LinkClosed(failed))

    def stop(self) -> None:
        """Stop the box in order."""
        assert self._peer is not None
        send(self._peer, ("stop",))

    async def disconnect(self) -> None:
        """Do nothing: the box is in another process."""


class KilledBoxWatch(LightWatch):
    """Only records the lights; the disk is read after the box is killed."""

    def _light(self, number: int, seat: int) -> None:
        self.lit.append((number, seat))


class KilledBoxTable(PowerCutTable):
    """`async with KilledBoxTable(...)`: machines on ptys, and a program that forks boxes."""

    box: Any

    @property
    def is_box_down(self) -> bool:
        return not self.box.powered

    def request_reports_again(self) -> bool:
        """Return False: the box itself asks an unverified device again."""
        return False

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self._chosen = choices_of(GAME, seed)
        super().__init__(GAME, seed=seed, speed=SPEED, pace=PACE, choices=self._chosen)
        self.watch = KilledBoxWatch(self)
        self._machine_ports: list[PtyPort] = []
        self._server: Any = None
        self._program: Any = None
        self._ended: asyncio.Task[str] | None = None
        self._soon: asyncio.TimerHandle | None = None

    def _start(self) -> Any:
        kinds: Any = {slot: machine.kind for slot, machine in self.machines.items()}
        return KilledBox(self, Table(self.edition, self.submission, kinds))

    def see_step(self, event: ev.Event, decisions: Any) -> None:
        """Show people a step that is on disk."""
        self._stepped(event, decisions)

    async def __aenter__(self) -> KilledBoxTable:
        for name, machine in self.machines.items():
            write_trust_files(machine, self.folder)
            self._machine_ports.append(PtyPort(machine, self.folder / name))
        self._server = await asyncio.start_unix_server(self.box.serve, self.folder / SOCKET)
        pairs = [f"{name}={machine.kind}" for name, machine in self.machines.items()]
        self._program = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.support.box.forked_box",
            str(self.folder),
            GAME,
            json.dumps(self._chosen),
            *pairs,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert await self._line() == "ready"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.people.close()
        async with asyncio.timeout(LIMIT):
            if self._ended is not None:
                self.kill()
                await self._ended
            self._program.stdin.close()
            await self._program.wait()
        self._server.close()
        await self._server.wait_closed()
        for port in self._machine_ports:
            port.close()

    async def _line(self) -> str:
        """Return the next line of the program: that it is ready, a box's process id, or that a box has ended."""
        return str((await self._program.stdout.readline()).decode().strip())

    # --- one boot -----------------------------------------------------------------------------------------------------

    async def boot(self, crash: str = "") -> None:
        """Start a box with a crash point, or none; return when it has started, or is dead."""
        self.box.powered = False
        self._program.stdin.write(f"{crash}\n".encode())
        self.box.pid = int(await self._line())
        ended = self._ended = asyncio.create_task(self._line())
        ended.add_done_callback(lambda _: setattr(self.box, "pid", 0))
        async with asyncio.timeout(LIMIT):
            while not self.box.powered and not ended.done():  # noqa: ASYNC110 - another process is waited for
                await asyncio.sleep(0.005)
        if self.box.powered:
            self.people.look_at_screen()

    def kill(self) -> None:
        """Kill the box, if it runs."""
        if self.box.pid:
            with suppress(ProcessLookupError):  # it has just died
                os.kill(self.box.pid, signal.SIGKILL)

    def kill_soon(self, after: float) -> None:
        """Kill the box so many seconds after the next claim."""

        def claimed() -> None:
            self.on_claim = None
            self._soon = asyncio.get_running_loop().call_later(after, self.kill)

        self.on_claim = claimed

    def cancel_kill(self) -> None:
        """Cancel the kill after the next claim."""
        self.on_claim = None
        if self._soon is not None:
            self._soon.cancel()

    async def until_dead(self) -> None:
        """Wait until the box is dead and its last message is read."""
        assert self._ended is not None
        async with asyncio.timeout(LIMIT):
            await self._ended
            while self.box.powered:  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    def records(self) -> list[Record]:
        """Return everything that is on disk."""
        return list(reader.read(self.folder / "journal", 1))

    # --- under load ---------------------------------------------------------------------------------------------------

    async def play_until_dead(self, rng: Random) -> None:
        """Play rounds with bets until the box is dead."""
        while not self.is_box_down:
            await self.until_quiescent()
            if not self.box.powered:
                return
            state = self.controller.table.state
            if state.round.state == mc.BETTING:
                self.controller.submit(ev.NoMoreBets(_dealer()))
            elif not [deck for deck in state.decks.values() if deck.state != mc.REMOVED]:
                await self.bring_deck(f"deck {len(state.decks)}")
            else:
                await self.round(tuple(seat for seat in BETTORS if rng.random() < 0.7))
            await asyncio.sleep(0.01)

    async def until_round_played(self) -> None:
        """Resume play until one more round was played from open to idle."""
        async with asyncio.timeout(4 * LIMIT):
            while True:
                await self.until_quiescent()
                state = self.controller.table.state
                if state.round.state == mc.BETTING:
                    self.controller.submit(ev.NoMoreBets(_dealer()))
                elif state.round.state == mc.IDLE and not state.holds and not state.prompts:
                    before = state.round.number
                    if not [deck for deck in state.decks.values() if deck.state != mc.REMOVED]:
                        await self.bring_deck(f"deck {len(state.decks)}")
                    await self.round(BETTORS)
                    await self.until_quiescent()
                    state = self.controller.table.state
                    if state.round.number > before and state.round.state == mc.IDLE:
                        return
                await asyncio.sleep(0.05)


def _dealer() -> ev.Person:
    return ev.Person("dealer", "dealer-1")


async def kill_and_compare(folder: Path, seed: int, kills: int) -> Counter[str]:
    """Kill a table's box so often, at random and at every crash point in turn; compare with the truth."""
    rng, seen = Random(seed), Counter[str]()
    async with KilledBoxTable(folder, seed) as house:
        await house.boot()
        await house.bring_deck("blue")
        await house.bring_deck("red")
        for number in range(kills):
            point = (*POINTS, "random", "claim")[number % (len(POINTS) + 2)]
            if point == "claim":
                house.kill_soon(rng.uniform(0.0, UNTIL_PAID))
            crash = f"{point}:{rng.randrange(1, 120)}" if point in POINTS else ""
            await _one_kill(house, crash, rng.uniform(0.0, 0.7) if point == "random" else POINT_TIMEOUT_S, rng)
            seen["kills"] += 1
            seen[point] += 1
            records = house.records()
            house.before = shown(records)
            seen["with_a_hit_open"] += bool(house.before.hits)
            on_disk = {(d.round, d.seat) for d in decided(records) if isinstance(d, BetAccepted)}
            assert set(house.watch.lit) <= on_disk, f"lit and not on disk: {set(house.watch.lit) - on_disk}"
        await house.boot()
        await house.until_round_played()
        seen["boots"] = house.box.boots
        house.box.stop()
        await house.until_dead()
        records, verdict = house.records(), reader.verify(house.folder / "journal")
        assert verdict.ok, verdict
        compare(house, house.watch, records)
        seen["bets"] = sum(isinstance(d, BetAccepted) for d in decided(records))
        seen["lights"] = len(house.watch.lit)
        assert isinstance(house.people, WinningPlayers)
        seen["hits"] = len(house.people.paid)
        seen["rounds"] = house.controller.table.state.round.number
    return seen


async def _one_kill(house: KilledBoxTable, crash: str, after: float, rng: Random) -> None:
    """Run a box until it dies: at a point, or after some seconds."""
    if house.is_box_down:
        await house.boot(crash)
    killer = asyncio.get_running_loop().call_later(after, house.kill)
    try:
        await house.play_until_dead(rng)
        await house.until_dead()
    finally:
        killer.cancel()
        house.cancel_kill()
