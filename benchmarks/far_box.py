"""The box's end of every row of the press: `pitbox run` itself with a door for the benchmark, or a bare fan-out.

Run by `benchmarks.press` as `python -m benchmarks.far_box service CONFIG` or `... bare|sealed FOLDER`. Over the door, a
socket beside CONFIG or in FOLDER, the next round is opened, unmeasured; after a press it tells when six things had
happened, by the clock that all processes of a computer share. Nothing is measured here.
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
from table_controller.cli.run import besides_of
from table_controller.config import load_config
from table_controller.controller.serve import serve
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from table_controller.config import TableConfig
    from table_controller.controller.box import Box

DOOR: Final = "door.sock"
PRESS: Final = "press.sock"
# What is told of a press, in its order. A bare fan-out decides nothing.
MOMENTS: Final = ("came", "written", "confirmed", "decided")
_LOOK: Final = 0.0005


class Times:
    """When each of six things had happened after a press; `tell` is called with all of it."""

    def __init__(self, moments: tuple[str, ...]) -> None:
        self._moments = moments
        self._left: dict[str, int] = {}
        self._at: dict[str, int] = {}
        self.tell: Callable[[dict[str, int]], None] = print

    @property
    def over(self) -> bool:
        """Nothing of the press before is under way."""
        return not any(self._left.values())

    def begin(self) -> None:
        """A press has come."""
        self._left = dict.fromkeys(self._moments, SEATS)
        self._at = {"came": perf_counter_ns()}

    def one(self, moment: str) -> None:
        """One of six things has happened."""
        if not self._left.get(moment):
            return
        self._left[moment] -= 1
        if not self._left[moment]:
            self._at[moment] = perf_counter_ns()
            if self.over:
                self.tell(self._at)


async def open_door(path: Path, times: Times, open_round: Callable[[int], Awaitable[Any]]) -> asyncio.Server:
    """Listen for `NUMBER` lines, each a round to open."""

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def tell(what: Any) -> None:
            writer.write(msgspec.json.encode(what) + b"\n")

        times.tell = tell
        while line := await reader.readline():
            await open_round(int(line))
            tell({})
        writer.close()

    return await asyncio.start_unix_server(serve_one, path)


# --- the service ------------------------------------------------------------------------------------------------------


class Watched:
    """The whole service, watched at the ports of its sensors and at its core."""

    def __init__(self, box: Box) -> None:
        assert box.controller is not None
        self._box = box
        self._controller = box.controller
        self._sensors = [slot for slot in box.slots.values() if slot.kind.name == m.KIND]
        self.times = Times(MOMENTS[1:])
        self._plain = self._controller.table.take
        self._controller.table.take = self._take  # type: ignore[method-assign]

    async def ready(self) -> None:
        for slot in self._sensors:
            await slot.driver.ready()
            self._box.taps[slot.name].watchers.append(self._frame)

    def _take(self, event: ev.Event) -> Any:
        if isinstance(event, ev.NoMoreBets):
            self.times.begin()
        decided = self._plain(event)
        if isinstance(event, ev.SeatLatched):
            self.times.one("decided")
        return decided

    def _frame(self, _slot: str, outgoing: bool, _signed: bytes, _mac: bytes) -> None:
        self.times.one("written" if outgoing else "confirmed")

    async def open_round(self, number: int) -> None:
        """Set the core to open bets, once all of the press before is over and on disk."""
        while not self.times.over:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK)
        await open_bets(self._controller, self._sensors, number)


async def _watch(box: Box, config: TableConfig) -> None:
    """Run beside the table as its panel does."""
    watched = Watched(box)
    await watched.ready()
    async with await open_door(config.path.parent / DOOR, watched.times, watched.open_round) as server:
        await server.serve_forever()


async def service(path: Path) -> None:
    """Run what `pitbox run` runs: panel, uplink if there is one, control socket, journal; and the door."""
    config = load_config(path)
    await serve(config, {**besides_of(config), "benchmark": _watch})


# --- the floors -------------------------------------------------------------------------------------------------------


class _Press(asyncio.Protocol):
    def __init__(self, pressed: Callable[[], Any]) -> None:
        self._pressed = pressed

    def data_received(self, _: bytes) -> None:
        self._pressed()


async def _floor(folder: Path, *, sealed: bool) -> None:
    times = Times(MOMENTS[1:3])
    with ExitStack() as closing:
        fan: Fan | SessionFan
        fan, ask = await session_fan(folder, closing) if sealed else bare_fan(folder, closing)
        fan.on_write, fan.on_read = lambda: times.one("written"), lambda: times.one("confirmed")
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
