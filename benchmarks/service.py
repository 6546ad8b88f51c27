"""The whole service: start to ready, memory, CPU at two paces of play, and lock-out through controller and journal.

A box is a real `pitbox run` on ptys whose machines and people are in this process. The rows of the lock-out share this
process: a box with its journal on disk and six ptys, beside the bare fan-outs of `benchmarks.lockout`. Before every
measured lock the core's state is set to open bets, unmeasured. From the press on, three moments are told apart: the
sixth lock is written (its sensor latches when it gets it), its confirmation is read, and the core has decided on it.
Each confirmation is a step of the core that is handed to the journal, and one loop takes them one after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from benchmarks.far_ends import seat_ports, sensor_keys
from benchmarks.link import far_end
from benchmarks.lockout import BATCH, _bare, _codec, _row
from benchmarks.rows import Row, interleave, print_at_most, print_table
from devices.bet_sensor import messages as m
from firmware_bridge.handshake import Trust
from firmware_bridge.transport.serial import open_serial
from simulators.house.far_table import FarTable
from simulators.machine import approved
from simulators.table import CHOICES
from table_controller.controller.box import Box
from table_controller.controller.clock import BoxClock
from table_controller.controller.plan import Place, Plan
from table_controller.journal.records import VERSION
from table_controller.journal.store import Store
from table_controller.journal.writer import Writer
from table_controller.people_check import Checker
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.state import Progressive, Round, SeatBets

if TYPE_CHECKING:
    from firmware_bridge.keys import DeviceKey

GAME: Final = "face_up_pai_gow"
LOCK_ROUNDS: Final = 60
STARTS: Final = 5
# Budgets of the design page.
READY_S: Final = 1.5
RESIDENT_MB: Final = 64
SERVICE: Final = 2.0
PRESS_MS: Final = 1.0
_DEALER: Final = ev.Person("dealer", "dealer-1")


# --- lock-out ---------------------------------------------------------------------------------------------------------


def _fail(error: Exception) -> None:
    raise error


class Pressed:
    """A box with six sensors on ptys and a journal on disk, and when each of six things had happened after a press."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = iter(range(1 << 40, 1 << 41))
        self._left = dict.fromkeys(("written", "confirmed", "decided"), 0)
        self._done: dict[str, asyncio.Future[None]] = {}
        self.box: Box

    async def start(self) -> Pressed:
        places = tuple(
            Place(f"bet_sensor.{seat}", m.KIND, partial(open_serial, str(port)), trust_of(key), str(port))
            for seat, (port, key) in enumerate(zip(seat_ports(self._folder), sensor_keys(), strict=True), 1)
        )
        rules = edition(GAME)
        submission = check_submission(rules, {"adjacent_boxes": 1} | CHOICES[GAME])
        clock = BoxClock()
        self.box = Box(Plan("bench", rules, submission, places, Checker(self._folder / "nobody")), clock)

        def open_journal(digests: Any) -> tuple[Store, Writer]:
            store = Store.open(self._folder / "journal", version=VERSION, digests=digests, clocks=clock.now)
            return store, Writer(store, _fail)

        await self.box.begin(open_journal)
        for slot in self.box.slots.values():
            await slot.driver.ready()
            self.box.taps[slot.name].watchers.append(self._frame)
        self.box.on_told.append(self._told)
        return self

    def _frame(self, _slot: str, outgoing: bool, _signed: bytes, _mac: bytes) -> None:
        self._came("written" if outgoing else "confirmed")

    def _told(self, _slot: str, event: Any) -> None:
        if isinstance(event, m.Locked):
            self._came("decided")

    def _came(self, what: str) -> None:
        self._left[what] -= 1
        if self._left[what] == 0:
            self._done[what].set_result(None)

    async def open_round(self, number: int) -> None:
        """Set the core to open bets, once all of the lock before is over; nothing of this is measured."""
        controller = self.box.controller
        assert controller is not None
        while controller.durable < controller.newest or any(left > 0 for left in self._left.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.0005)
        state = controller.table.state
        state.prompts.clear()
        state.commands.clear()
        state.money.bets.clear()
        state.round = Round(number, mc.BETTING)
        state.progressive = Progressive(mc.OPEN, {seat: SeatBets() for seat in range(1, 7)})
        for slot in self.box.slots.values():
            await slot.driver.need_link().request(m.Open(next(self._numbers), number), 1.0)

    async def press(self, until: str) -> None:
        """Take the dealer's call; return when the sixth thing of this kind has happened."""
        assert self.box.controller is not None
        self._left = dict.fromkeys(self._left, 6)
        self._done = {what: asyncio.get_running_loop().create_future() for what in self._left}
        self.box.controller.submit(ev.NoMoreBets(_DEALER))
        await self._done[until]


def trust_of(key: DeviceKey) -> Trust:
    return Trust(m.KIND, {key.serial: key}, frozenset([approved(m.KIND)]))


WHOLE: Final = {
    "written": "service: sixth lock written",
    "confirmed": "service: sixth confirmation read",
    "decided": "service: sixth latch decided",
}


def lock_out(rounds: int) -> None:
    """Measure a press until the sixth sensor is locked."""
    with TemporaryDirectory() as folder, ExitStack() as far_ends, asyncio.Runner() as runner, ExitStack() as hosts:

        def far(kind: str) -> Path:
            place = Path(folder, kind)
            place.mkdir()
            far_ends.enter_context(far_end(kind, place))
            return place

        bare = _row(runner, "bare fan-out", runner.run(_bare(far("fan_bare"), hosts)))
        codec = _row(runner, "fan-out + codec + MAC", runner.run(_codec(far("fan_codec"), hosts)))
        pressed = runner.run(Pressed(far("fan_session")).start())
        numbers = count(2)
        rows = [bare, codec]
        for until, title in WHOLE.items():

            async def locks(until: str = until) -> list[float]:
                took = []
                for _ in range(BATCH):
                    await pressed.open_round(next(numbers))
                    began = time.perf_counter()
                    await pressed.press(until)
                    took.append(time.perf_counter() - began)
                return took

            rows.append(Row(title, lambda locks=locks: runner.run(locks())))  # type: ignore[misc]
        interleave(rows, rounds)
        runner.run(pressed.box.stop())
        print_table('"no more bets" through the whole service', rows, [bare, codec])
        for row in rows[2:4]:
            print_at_most(f"{row.name} / fan-out + codec + MAC, p50", SERVICE, row.ratio(codec))
        p50 = rows[3].percentile(0.5) * 1000
        print(f"p50: budget < {PRESS_MS:g} ms: measured {p50:.2f} ms: {'held' if p50 < PRESS_MS else 'NOT held'}")


# --- the process ------------------------------------------------------------------------------------------------------


class Process:
    """A `pitbox run` and what the system knows of it."""

    def __init__(self, config: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = config.parent / "notify.sock"
        path.unlink(missing_ok=True)
        self._socket.bind(str(path))
        self._socket.settimeout(30)
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "table_controller.cli", "run", "--config", str(config)],
            stderr=subprocess.DEVNULL, env=os.environ | {"NOTIFY_SOCKET": str(path)},
        )  # fmt: skip

    def ready(self) -> float:
        """Wait for READY=1; return how long that took (s)."""
        while b"READY=1" not in self._socket.recv(1000):
            pass
        return time.perf_counter() - self.began

    @property
    def resident_mb(self) -> float:
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    @property
    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)
        self._socket.close()


def _interpreter() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import asyncio"], check=True)
    return time.perf_counter() - began


def _table(folder: Path) -> FarTable:
    """Return a table whose box serves its panel, too, at a port that is free."""
    table = FarTable(folder, GAME, seed=1, speed=400.0, pace=0.01)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        table.panel_port = free.getsockname()[1]
    return table


async def _starts(folder: Path) -> None:
    async with _table(folder) as table:
        took, floors, sizes = [], [], []
        for _ in range(STARTS):
            floors.append(await asyncio.to_thread(_interpreter))
            process = Process(table.config)
            took.append(await asyncio.to_thread(process.ready))
            sizes.append(process.resident_mb)
            await asyncio.to_thread(process.stop)
    ready, floor = median(took), median(floors)
    held = "held" if ready < READY_S else "NOT held"
    print(
        f"start to ready: budget < {READY_S} s: measured {ready:.2f} s ({ready / floor:.1f} x import asyncio): {held}"
    )
    print(f"resident when ready: {median(sizes):.1f} MB")


async def _pace(folder: Path, per_minute: int, seconds: float) -> None:
    async with _table(folder) as table:
        process = Process(table.config)
        try:
            await table.meet()
            await table.rest()
            await table.bring("blue")
            await table.bring("red")
            rounds, began, cpu = 0, time.perf_counter(), process.cpu_s
            while (late := time.perf_counter() - began) < seconds:
                if late >= rounds * 60 / per_minute:
                    rounds += 1
                    await table.round((1, 3))
                else:
                    await asyncio.sleep(0.05)
            used, passed = process.cpu_s - cpu, time.perf_counter() - began
            resident = process.resident_mb
        finally:
            await asyncio.to_thread(process.stop)
    real = rounds / passed * 60
    held = "held" if resident < RESIDENT_MB else "NOT held"
    print(f"{per_minute} rounds/min ({real:.0f} played): {100 * used / passed:.1f} % of one core; ", end="")
    print(f"resident budget < {RESIDENT_MB} MB: measured {resident:.1f} MB: {held}")


def main() -> None:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(
        description="The whole service: start, memory, CPU, lock-out.", epilog="example: python -m benchmarks.service"
    )
    parser.add_argument("--rounds", type=int, default=LOCK_ROUNDS, metavar="N", help="batches per row of the lock-out")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each pace is played (default 60)")
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        for name in ("starts", "1", "60"):
            at = Path(folder, name)
            at.mkdir()
            asyncio.run(_starts(at) if name == "starts" else _pace(at, int(name), args.seconds))
    lock_out(args.rounds)


if __name__ == "__main__":
    main()
