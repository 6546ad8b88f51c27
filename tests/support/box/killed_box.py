"""A table whose box is killed again and again: `pitbox run`, forked. Machines on ptys, people and truth are here."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

from simulators.casino.dealer import DEALER
from simulators.casino.remote_table import RemoteTable
from simulators.casino.winning_players import WinningPlayers
from table_controller.journal import reader
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetAccepted
from tests.support.box.forked_box import POINTS
from tests.support.box.power_cuts import BETTORS, LightWatch, PowerCutTable, choices_of, compare, decided, shown
from tests.support.box.remote_rounds import bring_missing_deck, until_round_played

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


class KilledBoxWatch(LightWatch):
    """Only records the lights; the disk is read after the box is killed."""

    def _light(self, number: int, seat: int) -> None:
        self.lit.append((number, seat))


class KilledBoxTable(PowerCutTable, RemoteTable):
    """`async with KilledBoxTable(...)`: machines on ptys, and a program that forks boxes."""

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, GAME, seed=seed, speed=SPEED, pace=PACE, choices=choices_of(GAME, seed))
        self.watch = KilledBoxWatch(self)
        self.boots = 0
        self._settled = 0  # how much of `not_shown` is about earlier kills
        self._pid = 0
        self._program: Any = None
        self._ended: asyncio.Task[str] | None = None
        self._soon: asyncio.TimerHandle | None = None

    def see_step(self, event: ev.Event, decisions: Any) -> None:
        if isinstance(event, ev.BoxStarted):
            self.boots = event.boot
        super().see_step(event, decisions)

    def note_shown(self, records: list[Record]) -> None:
        """Note what is on disk when the box is dead; the next start that people follow must show it."""
        self.before, self._settled = shown(records), len(self.not_shown)

    def _still_shown(self) -> None:
        """Compare at the newest start; one before it was killed before anybody followed it."""
        del self.not_shown[self._settled :]
        super()._still_shown()

    async def __aenter__(self) -> KilledBoxTable:
        await super().__aenter__()
        self._program = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.support.box.forked_box", str(self.config),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
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
        await super().__aexit__()

    async def _line(self) -> str:
        """Return the next line of the program: that it is ready, a box's process id, or that a box has ended."""
        return str((await self._program.stdout.readline()).decode().strip())

    # --- one boot -----------------------------------------------------------------------------------------------------

    async def boot(self, crash: str = "") -> None:
        """Start a box with a crash point, or none; return when people follow it, or it is dead."""
        self._program.stdin.write(f"{crash}\n".encode())
        self._pid = int(await self._line())
        ended = self._ended = asyncio.create_task(self._line())
        ended.add_done_callback(lambda _: setattr(self, "_pid", 0))
        meeting = asyncio.create_task(self.connect_to_box())
        await asyncio.wait({meeting, ended}, return_when=asyncio.FIRST_COMPLETED)
        meeting.cancel()
        await asyncio.wait({meeting})
        if not meeting.cancelled():
            meeting.result()
        elif not crash and not self.is_kill_due:
            raise AssertionError(f"nobody follows the box, which nobody killed; see {self.folder / 'box.log'}")

    @property
    def is_kill_due(self) -> bool:
        """Whether a claim that was seen kills the box soon, or has killed it."""
        return self._soon is not None and not self._soon.cancelled()

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Kill the box, if it runs, or stop it in order."""
        if self._pid:
            with suppress(ProcessLookupError):  # it has just died
                os.kill(self._pid, number)

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

    async def stop(self) -> None:
        """Stop the box in order, and read what it recorded at the end."""
        self.kill(signal.SIGTERM)
        await self.until_dead()
        self.box.read_steps(self.journal)

    def records(self) -> list[Record]:
        """Return everything that is on disk."""
        return list(reader.read(self.journal, 1))

    # --- under load ---------------------------------------------------------------------------------------------------

    async def play_until_dead(self, rng: Random) -> None:
        """Play rounds with bets until the box is dead."""
        while not self.is_box_down:
            await self.until_quiescent()
            if not self.box.powered:
                return
            state = self.controller.table.state
            if state.round.state == mc.BETTING:
                self.controller.submit(ev.NoMoreBets(DEALER))
            elif not await bring_missing_deck(self):
                await self.round(tuple(seat for seat in BETTORS if rng.random() < 0.7))
            await asyncio.sleep(0.01)


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
            house.note_shown(records)
            seen["with_a_hit_open"] += bool(house.before.hits)
            on_disk = {(d.round, d.seat) for d in decided(records) if isinstance(d, BetAccepted)}
            assert set(house.watch.lit) <= on_disk, f"lit and not on disk: {set(house.watch.lit) - on_disk}"
        await house.boot()
        await until_round_played(house, BETTORS)
        seen["boots"] = house.boots
        await house.stop()
        records, verdict = house.records(), reader.verify(house.journal)
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
