"""Measures a press with ten open panels, and with a page that reads the journal, against a box without pages.

Each box is the whole service in its own process, as in `benchmarks.press`, and serves a panel. One process acts as ten
browsers at one box: it signs on and reads the streams. At the third box a floorperson's page requests the history of
the machines without a pause, so that the box reads its whole journal, 200 records at a time. The boxes are pressed in
turn, a few times each, so that noise affects all alike: the ratio is the median over these turns; p99 is of all
presses.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.budgets import BUDGETS
from benchmarks.link import remote_device
from benchmarks.press import GAME, WholeService, at_sensors, box
from benchmarks.rows import Role, arguments, print_table, print_verdict
from simulators.casino.broker import free_port
from simulators.casino.remote_table import RemoteTable
from simulators.casino.table_layout import BENCH_PIN

PANELS: Final = 10
# Presses in a row at one box, before the next box.
PAIR: Final = 4
ROUNDS: Final = 100
# Presses beforehand at the box whose journal is read: some thousands of records.
LONG: Final = 400
# Arguments that make this program act as browsers.
BROWSE: Final = "--browse"
READ: Final = "--read"


async def _browse(port: int) -> None:
    """Act as ten browsers: sign on and read streams; two of them show the machines. Ends with standard input."""
    people = ["dealer-1", "floor-1", "tech-1"]
    readers = [asyncio.create_task(_follow(port, people[n % 3], machines=n < 2)) for n in range(PANELS)]
    await asyncio.sleep(1.0)
    print("following", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for reader in readers:
        reader.cancel()
    await asyncio.wait(readers)


async def _read(port: int) -> None:
    """Act as one browser that requests the history without a pause. Ends with standard input."""
    cookie = await _signed_on(port, "floor-1")
    pages = 0
    begun = asyncio.Event()

    async def go_on() -> None:
        nonlocal pages
        while True:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"Host: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
            writer.write(f"GET /api/history HTTP/1.1\r\n{head}".encode())
            answer = await reader.read()
            writer.close()
            assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
            pages += 1
            begun.set()

    reading = asyncio.create_task(go_on())
    await begun.wait()
    print("following", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    assert not reading.done(), reading.exception()
    reading.cancel()
    await asyncio.wait({reading})
    print(pages, flush=True)


async def _follow(port: int, id_: str, *, machines: bool) -> None:
    cookie = await _signed_on(port, id_)
    head = f"Host: 127.0.0.1:{port}\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    path = "/api/stream?machines" if machines else "/api/stream"
    writer.write(f"GET {path} HTTP/1.1\r\n{head}Cookie: {cookie}\r\n\r\n".encode())
    while await reader.read(1 << 16):
        pass


async def _signed_on(port: int, id_: str) -> str:
    """Sign on; return the session's cookie."""
    body = json.dumps({"who": {"id": id_, "pin": BENCH_PIN}})
    head = f"Host: 127.0.0.1:{port}\r\n"
    cookie = ""
    while not cookie:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = f"Origin: http://127.0.0.1:{port}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
        writer.write(f"POST /api/sign_on HTTP/1.1\r\n{head}{sent}".encode())
        answer = (await reader.read()).decode()
        writer.close()
        cookies = [line for line in answer.split("\r\n") if line.lower().startswith("set-cookie: ")]
        cookie = cookies[0][12:].partition(";")[0] if cookies else ""  # the box checks one PIN at a time: try again
    return cookie


def _browsers(port: int, kind: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.panel", kind, str(port)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


async def _box(folder: Path, name: str, closing: AsyncExitStack, role: Role = "ours") -> tuple[WholeService, int]:
    """Start a separate table; return its dealer and its panel's port."""
    place, sensors = folder / name, folder / f"{name} sensors"
    place.mkdir()
    sensors.mkdir()
    closing.enter_context(remote_device("fan_session", sensors))
    table = RemoteTable(place, GAME, seed=1)
    table.panel_port = free_port()
    await closing.enter_async_context(table)
    at_sensors(table.config, sensors)
    closing.enter_context(box("service", table.config))
    service = await WholeService(name, role).start(place)
    closing.push_async_callback(service.hang_up)
    return service, table.panel_port


def _following(port: int, kind: str, closing: AsyncExitStack) -> subprocess.Popen[bytes]:
    """Start browsers and wait until they are connected."""
    browsers = _browsers(port, kind)
    closing.callback(browsers.communicate)
    assert browsers.stdout is not None
    message = browsers.stdout.readline()
    assert message == b"following\n", message
    return browsers


async def _measure(folder: Path, rounds: int) -> tuple[WholeService, WholeService, WholeService, int, int]:
    async with AsyncExitStack() as closing:
        alone, _ = await _box(folder, "no panel", closing, "floor")
        followed, port = await _box(folder, f"{PANELS} panels", closing)
        asked, port_asked = await _box(folder, "journal read", closing)
        await asked.batch(keep=False, presses=LONG)  # make a long journal
        await asyncio.to_thread(_following, port, BROWSE, closing)
        reader = await asyncio.to_thread(_following, port_asked, READ, closing)
        hosts = (alone, followed, asked)
        for number in range(rounds + 1):  # the first only warms up
            for host in (*hosts[number % 3 :], *hosts[: number % 3]):
                await host.batch(keep=number > 0, presses=PAIR)
        pages, _ = await asyncio.to_thread(reader.communicate)
        records = await asked.records()
    return alone, followed, asked, int(pages), records


def main() -> None:
    """Measure, print, judge."""
    if sys.argv[1:2] in ([BROWSE], [READ]):
        asyncio.run((_browse if sys.argv[1] == BROWSE else _read)(int(sys.argv[2])))
        return
    rounds = arguments("A press with ten panels and without.", "python -m benchmarks.panel --rounds 10", ROUNDS)
    with TemporaryDirectory() as folder:
        alone, followed, asked, pages, records = asyncio.run(_measure(Path(folder), rounds))
    hosts = (alone, followed, asked)
    rows = [host.rows[moment] for moment in ("written", "confirmed", "decided") for host in hosts]
    title = f'press of "no more bets"; {PANELS} pages follow one box, the journal of another is read without a pause'
    print_table(title, rows, [rows[0], rows[3]])
    print(f"{pages} pages were served from a journal of {records:,} records meanwhile")
    for without, *others in (rows[:3], rows[3:6]):
        for with_ in others:
            print_verdict(BUDGETS["panel"], f"{with_.name} / without, p50", with_.ratio(without))
            print(f"{with_.name} / without, p99: {with_.percentile(0.99) / without.percentile(0.99):.2f} x")


if __name__ == "__main__":
    main()
