"""Lock-out at a table that ten panels follow, beside the same table without any.

Both tables run whole rounds in this process, in turn, with their own machines; the ten browsers are one other process
that signs on and reads its streams. Measured is the time from the step that calls no more bets until the step that
takes the sixth sensor's latch: what a panel's work on the same event loop could hold up.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from benchmarks.rows import Row, arguments, interleave, print_at_most, print_table
from simulators.house.panel import PINS, people_file, show, silent_house
from table_controller.table import events as ev

if TYPE_CHECKING:
    from simulators.house.table import House

PANELS: Final = 10
SEATS: Final = 6
BATCH: Final = 4
ROUNDS: Final = 25
# Bets fall so close (s) before the call that their pictures are drawn while sensors lock.
PACE: Final = 0.02
BUDGET: Final = 1.5


async def _measured(house: House) -> list[float]:
    """Play a few rounds; return how long each lock-out took."""
    took: list[float] = []
    table = house.controller.table
    plain = table.take
    began, latched = 0.0, 0

    def take(event: ev.Event) -> Any:
        nonlocal began, latched
        if isinstance(event, ev.NoMoreBets):
            began, latched = perf_counter(), 0
        decided = plain(event)
        if isinstance(event, ev.SeatLatched):
            latched += 1
            if latched == SEATS:
                took.append(perf_counter() - began)
        return decided

    table.take = take  # type: ignore[method-assign]
    try:
        while len(took) < BATCH:
            await house.round((1, 2, 3, 4, 5, 6))
    finally:
        table.take = plain  # type: ignore[method-assign]
    return took


async def _browse(port: int) -> None:
    """Be ten browsers: sign on, follow, read; two of them watch the machines. Ends with standard input."""
    people = ["dealer-1", "floor-1", "tech-1"]
    readers = [asyncio.create_task(_follow(port, people[n % 3], machines=n < 2)) for n in range(PANELS)]
    await asyncio.sleep(1.0)
    print("following", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for reader in readers:
        reader.cancel()
    await asyncio.wait(readers)


async def _follow(port: int, id_: str, *, machines: bool) -> None:
    body = json.dumps({"who": {"id": id_, "pin": PINS[id_]}})
    head = f"Host: 127.0.0.1:{port}\r\n"
    cookie = ""
    while not cookie:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = f"Origin: http://127.0.0.1:{port}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
        writer.write(f"POST /api/sign_on HTTP/1.1\r\n{head}{sent}".encode())
        answer = (await reader.read()).decode()
        writer.close()
        found = [line for line in answer.split("\r\n") if line.lower().startswith("set-cookie: ")]
        cookie = found[0][12:].partition(";")[0] if found else ""  # one PIN is checked at a time: try again
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    path = "/api/stream?machines" if machines else "/api/stream"
    writer.write(f"GET {path} HTTP/1.1\r\n{head}Cookie: {cookie}\r\n\r\n".encode())
    while await reader.read(1 << 16):
        pass


def _browsers(port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.panel", "--browse", str(port)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class _Tables:
    """Two tables alike; a panel and its ten browsers at the second."""

    def __init__(self, runner: asyncio.Runner, folder: Path) -> None:
        self._runner = runner
        self.alone, self.followed = runner.run(self._open()), runner.run(self._open())
        self._panel, self._browsers = runner.run(self._show(folder))

    async def _open(self) -> House:
        house, hands = silent_house("face_up_pai_gow", speed=400.0, pace=PACE)
        hands.silent = False
        await house.open("blue", "red")
        return house

    async def _show(self, folder: Path) -> tuple[asyncio.Task[None], subprocess.Popen[bytes]]:
        ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        panel = asyncio.create_task(show(self.followed, people_file(folder), on_ready=ready.set_result))
        port = await ready
        browsers = _browsers(port)
        assert browsers.stdout is not None
        said = await asyncio.to_thread(browsers.stdout.readline)
        assert said == b"following\n", said
        return panel, browsers

    def rows(self) -> list[Row]:
        return [
            Row("no panel", lambda: self._runner.run(_measured(self.alone))),
            Row(f"{PANELS} panels", lambda: self._runner.run(_measured(self.followed))),
        ]

    def close(self) -> None:
        self._browsers.communicate()

        async def end() -> None:
            self._panel.cancel()
            await asyncio.wait({self._panel})
            await self.alone.close()
            await self.followed.close()

        self._runner.run(end())


def main() -> None:
    """Measure, print, judge."""
    if sys.argv[1:2] == ["--browse"]:
        asyncio.run(_browse(int(sys.argv[2])))
        return
    rounds = arguments("Lock-out with ten panels and without.", "python -m benchmarks.panel --rounds 10", ROUNDS)
    with TemporaryDirectory() as folder, asyncio.Runner() as runner:
        tables = _Tables(runner, Path(folder))
        rows = tables.rows()
        interleave(rows, rounds)
        tables.close()
        alone, followed = rows
        print_table("no more bets -> sixth sensor's latch taken, machines in the same process", rows, [alone])
        print_at_most("ten panels / no panel, p50", BUDGET, followed.ratio(alone))
        p99 = followed.percentile(0.99) / alone.percentile(0.99)
        print_at_most("ten panels / no panel, p99", BUDGET, p99)


if __name__ == "__main__":
    main()
