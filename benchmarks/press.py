"""Measures a press of "no more bets" until the sixth sensor is locked, against two bare fan-outs.

Every row has three processes: a dealer here, who presses over a socket; the box, which is `pitbox run` with journal,
control socket and panel, or only a fan-out to six ptys; and six sensors that only confirm. So every row has the same
input, and the fan-out with codec and MAC has the same sensors as the service. All processes are idle for a moment
before a press, as at a table. One press gives all moments of a row: the sixth lock written, the sixth confirmation
read, the sixth latch decided, and the press on disk.
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import msgspec

from benchmarks.budgets import BUDGETS
from benchmarks.link import remote_device
from benchmarks.remote_box import DOOR, MOMENTS, PRESS
from benchmarks.remote_devices import seat_ports, sensor_keys
from benchmarks.rows import BenchmarkRow, Role, arguments, print_table, print_verdict
from firmware_bridge.keys import save_key
from simulators.casino.box_process import BoxProcess
from simulators.casino.broker import free_port
from simulators.casino.remote_table import RemoteTable
from simulators.casino.table_layout import BENCH_PIN
from table_controller.access.control_client import BoxClient

if TYPE_CHECKING:
    from collections.abc import Sequence

GAME: Final = "face_up_pai_gow"
BATCH: Final = 20
ROUNDS: Final = 40
# Idle time before a press (s).
PAUSE_S: Final = 0.002
START_PATIENCE: Final = 30.0
PRESS_PATIENCE: Final = 10.0
WORDS: Final = {
    "came": "press received", "written": "sixth lock written", "confirmed": "sixth confirmation read",
    "decided": "sixth latch decided", "durable": "press on disk",
}  # fmt: skip


class PressedBox:
    """One box, bare or whole, and a row for each moment."""

    def __init__(self, name: str, moments: Sequence[str], role: Role) -> None:
        self.rows = {moment: BenchmarkRow(f"{name}: {WORDS[moment]}", list, role) for moment in moments}
        self._numbers = count(2)
        self._door: tuple[asyncio.StreamReader, asyncio.StreamWriter]

    async def meet(self, door: Path) -> None:
        """Wait until the box listens."""
        self._door = await _connected(door)

    async def press(self) -> int | None:
        """Press; return when the press was on disk, if it is recorded."""
        raise NotImplementedError

    async def batch(self, *, keep: bool, presses: int = BATCH) -> None:
        """Press several times; with `keep`, record the times."""
        took: dict[str, list[float]] = {moment: [] for moment in self.rows}
        reader, writer = self._door
        for _ in range(presses):
            async with asyncio.timeout(PRESS_PATIENCE):
                writer.write(b"%d\n" % next(self._numbers))
                assert await reader.readline() == b"{}\n"
                await asyncio.sleep(PAUSE_S)
                began = time.perf_counter_ns()
                durable = await self.press()
                at = msgspec.json.decode(await reader.readline()) | {"durable": durable}
            for moment, times in took.items():
                times.append((at[moment] - began) / 1e9)
        for moment, times in took.items():
            if keep:
                self.rows[moment].keep(times)

    def close(self) -> None:
        """Hang up."""
        self._door[1].close()


class BareFanOut(PressedBox):
    """A bare fan-out."""

    def __init__(self, name: str) -> None:
        super().__init__(name, MOMENTS[:3], "floor")
        self._button: asyncio.StreamWriter

    async def start(self, folder: Path) -> BareFanOut:
        """Meet the box in this folder."""
        _, self._button = await _connected(folder / PRESS)
        await self.meet(folder / DOOR)
        return self

    async def press(self) -> None:
        """Press."""
        self._button.write(b"no more bets\n")

    def close(self) -> None:
        """Hang up."""
        super().close()
        self._button.close()


class WholeService(PressedBox):
    """The whole service; a dealer is signed on over the control socket."""

    def __init__(self, name: str = "service", role: Role = "ours") -> None:
        super().__init__(name, (*MOMENTS, "durable"), role)
        self._client: BoxClient

    async def start(self, folder: Path) -> WholeService:
        """Meet the box in this folder."""
        await self.meet(folder / DOOR)
        self._client = await BoxClient.connect(folder / "data" / "control.sock")
        await self._client.request("sign_on", credential="dealer-1", pin=BENCH_PIN)
        return self

    async def press(self) -> int:
        """Press, as the dealer who is signed on."""
        await self._client.request("no_more_bets")
        return time.perf_counter_ns()

    async def records(self) -> int:
        """Return how many records the journal has."""
        status = await self._client.request("status")
        return int(status["seq"])

    async def hang_up(self) -> None:
        """Sign off."""
        await self._client.close()
        self.close()


async def _connected(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    async with asyncio.timeout(START_PATIENCE):
        while True:
            with suppress(FileNotFoundError, ConnectionRefusedError):
                return await asyncio.open_unix_connection(path)
            await asyncio.sleep(0.02)


def box(kind: str, path: Path) -> BoxProcess:
    """Start a box in its own process; it ends with the `with` block."""
    return BoxProcess(path, command=(sys.executable, "-m", "benchmarks.remote_box", kind))


def at_sensors(config: Path, folder: Path) -> None:
    """Point a table's configuration to the bet sensors in this folder."""
    text = config.read_text("utf-8")
    for port, key in zip(seat_ports(folder), sensor_keys(), strict=True):
        own = config.parent / port.name
        assert f'"{own}"' in text
        text = text.replace(f'"{own}"', f'"{port}"')
        (config.parent / f"{port.name}.key").unlink()
        save_key(config.parent / f"{port.name}.key", key)
    config.write_text(text, "utf-8")


async def _measure(folder: Path, rounds: int) -> tuple[BareFanOut, BareFanOut, WholeService]:
    with ExitStack() as stack:

        def far(kind: str, name: str) -> Path:
            place = folder / name
            place.mkdir()
            stack.enter_context(remote_device(kind, place))
            return place

        floors = []
        for name, title, end in (("bare", "bare", "fan_bare"), ("sealed", "codec + MAC", "fan_session")):
            place = far(end, name)
            stack.enter_context(box(name, place))
            floors.append(await BareFanOut(title).start(place))
        at = folder / "table"
        at.mkdir()
        table = RemoteTable(at, GAME, seed=1)
        table.panel_port = free_port()
        async with table:
            at_sensors(table.config, far("fan_session", "sensors"))
            with box("service", table.config):
                service = await WholeService().start(at)
                hosts: list[PressedBox] = [*floors, service]
                for number in range(rounds + 1):  # the first only warms up
                    for host in (*hosts[number % 3 :], *hosts[: number % 3]):
                        await host.batch(keep=number > 0)
                await service.hang_up()
        for floor in floors:
            floor.close()
    return floors[0], floors[1], service


def press(rounds: int) -> None:
    """Measure, print, judge."""
    with TemporaryDirectory() as folder:
        bare, codec, service = asyncio.run(_measure(Path(folder), rounds))
    floors = [bare.rows["confirmed"], codec.rows["confirmed"]]
    rows = [row for host in (bare, codec, service) for row in host.rows.values()]
    print_table('press of "no more bets" over a socket, box and sensors in processes of their own', rows, floors)
    written, read = service.rows["written"], service.rows["confirmed"]
    tenths = [row.percentile(0.1) for row in (floors[1], written, read)]
    print("lowest tenth, as on idle cores: ", end="")
    print(
        "codec + MAC {:.0f} us, lock written {:.0f} us, confirmation read {:.0f} us".format(*(t * 1e6 for t in tenths)),
        end="",
    )
    print(f" ({tenths[2] / tenths[0]:.2f} x)")
    print_verdict(BUDGETS["press"], "sixth lock written / fan-out + codec + MAC, p50", written.ratio(floors[1]))
    print_verdict(BUDGETS["press"], "sixth confirmation read / fan-out + codec + MAC, p50", read.ratio(floors[1]))
    p99 = read.percentile(0.99) / floors[1].percentile(0.99)
    print_verdict(BUDGETS["press"], "sixth confirmation read / fan-out + codec + MAC, p99", p99)
    print_verdict(BUDGETS["press, p50"], "sixth confirmation read, p50", read.percentile(0.5) * 1000)


def main() -> None:
    """Run this benchmark."""
    press(
        arguments(
            "A press until the sixth sensor is locked, through the whole service, compared with bare fan-outs.",
            "python -m benchmarks.press --rounds 10",
            ROUNDS,
        )
    )


if __name__ == "__main__":
    main()
