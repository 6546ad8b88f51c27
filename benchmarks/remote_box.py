"""The box process of `benchmarks.press`: `pitbox run` with a socket for the benchmark, or a bare fan-out.

Run by `benchmarks.press` as `python -m benchmarks.remote_box service DEFAULT_CONFIG` or `... bare|sealed FOLDER`. The
benchmark opens the next round, unmeasured, over a socket next to CONFIG or in FOLDER; after a press the process reports
when each step had happened six times, by the clock that all processes of a computer share.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

import msgspec

from benchmarks.lockout import SEATS, Fan, SessionFan, bare_fan, open_bets, session_fan
from devices.bet_sensor import messages as m
from table_controller.cli.commands.run import background_services
from table_controller.config import load_config
from table_controller.host.serve import serve
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from table_controller.config import TableConfig
    from table_controller.controller.box import Box

DOOR: Final = "door.sock"
PRESS: Final = "press.sock"
# The moments of a press, in order. A bare fan-out has no "decided".
MOMENTS: Final = ("came", "written", "confirmed", "decided")
_LOOK: Final = 0.0005


class PressTimes:
    """The time when each moment has happened six times after a press; `report` is called with all times."""

    def __init__(self, moments: tuple[str, ...]) -> None:
        self._moments = moments
        self._left: dict[str, int] = {}
        self._at: dict[str, int] = {}
        self.report: Callable[[dict[str, int]], None] = print

    @property
    def over(self) -> bool:
        """Whether all moments of the last press have happened."""
        return not any(self._left.values())

    def begin(self) -> None:
        """Start the times of a press."""
        self._left = dict.fromkeys(self._moments, SEATS)
        self._at = {"came": perf_counter_ns()}

    def count(self, moment: str) -> None:
        """Count one occurrence of a moment."""
        if not self._left.get(moment):
            return
        self._left[moment] -= 1
        if not self._left[moment]:
            self._at[moment] = perf_counter_ns()
            if self.over:
                self.report(self._at)


async def open_door(path: Path, times: PressTimes, open_round: Callable[[int], Awaitable[Any]]) -> asyncio.Server:
    """Listen for lines with a number, each a round to open."""

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def send(what: Any) -> None:
            writer.write(msgspec.json.encode(what) + b"\n")

        times.report = send
        while line := await reader.readline():
            await open_round(int(line))
            send({})
        writer.close()

    return await asyncio.start_unix_server(serve_one, path)


# --- the service ------------------------------------------------------------------------------------------------------


class WatchedService:
    """The whole service, observed at the ports of its sensors and at its core."""

    def __init__(self, box: Box) -> None:
        assert box.controller is not None
        self._box = box
        self._controller = box.controller
        self._sensors = [slot for slot in box.slots.values() if slot.kind.name == m.KIND]
        self.times = PressTimes(MOMENTS[1:])
        self._plain = self._controller.table.apply
        self._controller.table.apply = self._step  # type: ignore[method-assign]

    async def ready(self) -> None:
        for slot in self._sensors:
            await slot.driver.ready()
            self._box.frame_monitors[slot.name].watchers.append(self._frame)

    def _step(self, event: ev.Event) -> Any:
        if isinstance(event, ev.NoMoreBets):
            self.times.begin()
        decided = self._plain(event)
        if isinstance(event, ev.SeatLatched):
            self.times.count("decided")
        return decided

    def _frame(self, _slot: str, outgoing: bool, _signed: bytes, _mac: bytes) -> None:
        self.times.count("written" if outgoing else "confirmed")

    async def open_round(self, number: int) -> None:
        """Set the core to open bets after the last press is complete and on disk."""
        while not self.times.over:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK)
        await open_bets(self._controller, self._sensors, number)


async def _watch(box: Box, config: TableConfig) -> None:
    """Run as a background service of the table, as its panel does."""
    watched = WatchedService(box)
    await watched.ready()
    async with await open_door(config.path.parent / DOOR, watched.times, watched.open_round) as server:
        await server.serve_forever()


async def service(path: Path) -> None:
    """Run everything of `pitbox run` (panel, uplink, control socket, journal) and the benchmark's socket."""
    config = load_config(path)
    await serve(config, {**background_services(config), "benchmark": _watch})


# --- the floors -------------------------------------------------------------------------------------------------------


class _Press(asyncio.Protocol):
    def __init__(self, pressed: Callable[[], Any]) -> None:
        self._pressed = pressed

    def data_received(self, _: bytes) -> None:
        self._pressed()


async def _floor(folder: Path, *, sealed: bool) -> None:
    times = PressTimes(MOMENTS[1:3])
    with ExitStack() as closing:
        fan: Fan | SessionFan
        fan, ask = await session_fan(folder, closing) if sealed else bare_fan(folder, closing)
        fan.on_write, fan.on_read = lambda: times.count("written"), lambda: times.count("confirmed")
        number = 0

        async def open_round(next_: int) -> None:
            nonlocal number
            number = next_
            await ask(2 * number)

        def pressed() -> None:
            times.begin()
            ask(2 * number + 1)

        server = await asyncio.get_running_loop().create_unix_server(lambda: _Press(pressed), folder / PRESS)
        async with server, await open_door(folder / DOOR, times, open_round) as door:
            await door.serve_forever()


async def _main(name: str, path: Path) -> None:
    if name == "service":
        await service(path)
    else:
        await _floor(path, sealed=name == "sealed")


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], Path(sys.argv[2])))
