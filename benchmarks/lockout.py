"""Lock-out over six real ptys: from the call until the sixth sensor has confirmed, compared with bare fan-outs.

The host's ends of all rows share this process and one event loop; each row's six far ends are one process. Before every
measured lock each row opens a round, unmeasured, so that every lock is a new latch. The bridge is measured against far
ends that do no more than the floor's; the last row has six of our own twins there, which one process plays in turn.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from benchmarks.budgets import BUDGETS
from benchmarks.link import TRIP_PATIENCE, remote_device
from benchmarks.remote_devices import CHUNK, TO_DEVICE, TO_HOST, EndCodec, latched, seat_ports, sensor_keys
from benchmarks.rows import BenchmarkRow, Role, arguments, interleave, print_table, print_verdict
from devices.bet_sensor import messages as m
from devices.kinds import BET_SENSOR
from firmware_bridge.errors import LinkClosed
from firmware_bridge.frame import FIRST_SEQ, NO_RE, REQUEST, to_wire
from firmware_bridge.framer import Framer
from firmware_bridge.handshake import Trust, open_session
from firmware_bridge.messages import encode
from firmware_bridge.transport.serial import open_serial
from firmware_bridge.wire import Wire
from simulators.casino.dealer import DEALER
from simulators.casino.power import NoCredentials
from simulators.casino.table_layout import default_choices
from simulators.engine.machine import approved_firmware
from table_controller.controller.box import Box
from table_controller.controller.clock import BoxClock
from table_controller.controller.plan import Plan, SlotPlan
from table_controller.journal.records import VERSION
from table_controller.journal.store import Policy, Store
from table_controller.journal.writer import GroupCommitWriter
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.state import Progressive, Round, SeatBets

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello, Message
    from table_controller.controller.controller import Controller
    from table_controller.controller.slot import AnySlot

    # Opens a round (unmeasured) and then locks it (measured); both take the round's number.
    Steps = tuple[Callable[[int], Awaitable[Any]], Callable[[int], Awaitable[Any]]]

GAME: Final = "face_up_pai_gow"
SEATS: Final = 6
SLOTS: Final = tuple(f"bet_sensor.{seat}" for seat in range(1, SEATS + 1))
BATCH: Final = 40
ROUNDS: Final = 80
BATCH_PATIENCE: Final = 30.0


def _nobody() -> None:
    """Do nothing."""


class Fan:
    """The host's end of both floors: sends bytes to six ports; the sixth answer resolves a future."""

    def __init__(self, folder: Path, read: list[Callable[[bytes], Any]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._fds = [os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK) for port in seat_ports(folder)]
        self._left = 0
        self._done: asyncio.Future[None]
        self.on_write: Callable[[], None] = _nobody
        self.on_read: Callable[[], None] = _nobody
        for fd, decode in zip(self._fds, read, strict=True):
            self._loop.add_reader(fd, self._readable, fd, decode)

    def ask(self, frames: list[bytes]) -> asyncio.Future[None]:
        self._done = self._loop.create_future()
        self._left = len(self._fds)
        for fd, frame in zip(self._fds, frames, strict=True):
            os.write(fd, frame)
            self.on_write()
        return self._done

    def _readable(self, fd: int, decode: Callable[[bytes], Any]) -> None:
        decode(os.read(fd, CHUNK))
        self.on_read()
        self._left -= 1
        if not self._left:
            self._done.set_result(None)

    def close(self) -> None:
        for fd in self._fds:
            self._loop.remove_reader(fd)
            os.close(fd)


def bare_fan(folder: Path, closing: ExitStack) -> tuple[Fan, Callable[[int], Awaitable[Any]]]:
    """Return a fan with messages of the size of a lock, and the function that sends to all six."""
    frame = EndCodec(TO_DEVICE, TO_HOST, m.ToHost, REQUEST).write(m.Lock(1, 1))
    fan = Fan(folder, [bytes] * SEATS)
    closing.callback(fan.close)
    return fan, lambda _: fan.ask([frame] * SEATS)


def codec_fan(folder: Path, closing: ExitStack) -> tuple[Fan, Callable[[int], Awaitable[Any]]]:
    """Return a fan with sealed and checked locks, and the function that sends to all six."""
    ends = [EndCodec(TO_DEVICE, TO_HOST, m.ToHost, REQUEST) for _ in range(SEATS)]
    fan = Fan(folder, [end.read for end in ends])
    closing.callback(fan.close)

    def ask(number: int) -> Awaitable[Any]:
        lock = m.Lock(number, number)
        return fan.ask([end.write(lock) for end in ends])

    return fan, ask


async def _bare(folder: Path, closing: ExitStack) -> Steps:
    _, ask = bare_fan(folder, closing)
    return ask, ask


async def _codec(folder: Path, closing: ExitStack) -> Steps:
    _, ask = codec_fan(folder, closing)
    return ask, ask


async def _links(folder: Path, closing: ExitStack) -> list[tuple[Link, DeviceHello]]:
    links = []
    for port, key in zip(seat_ports(folder), sensor_keys(), strict=True):
        trust = Trust(m.KIND, {key.serial: key}, frozenset([approved_firmware(m.KIND)]))
        transport = await open_serial(str(port))
        closing.callback(transport.close)
        link, hello = await open_session(Wire(transport), trust, BET_SENSOR.decoder)
        closing.callback(link.close)
        links.append((link, hello))
    return links


class SessionFan:
    """The host's end of the floor with real sessions: after the handshake the session is handled here."""

    def __init__(self, links: list[tuple[Link, DeviceHello]]) -> None:
        self._ends = [(link.wire.transport, link._sealer.seal) for link, _ in links]
        self._left = 0
        self._seq = FIRST_SEQ
        self._done: asyncio.Future[None]
        self.on_write: Callable[[], None] = _nobody
        self.on_read: Callable[[], None] = _nobody
        for link, _ in links:
            transport = link.wire.transport
            link.fail(LinkClosed("from here on by hand"))  # its timers too
            transport.on_bytes = partial(self._readable, Framer().feed, link._opener.accepts, BET_SENSOR.decoder.decode)

    def ask(self, message: Message) -> asyncio.Future[None]:
        """Send a message to all six; return the future of the sixth answer."""
        self._done = asyncio.get_running_loop().create_future()
        self._left = len(self._ends)
        self._seq = (self._seq + 1) & 0xFFFF
        for transport, seal in self._ends:
            transport.write(to_wire(*seal(0, REQUEST, self._seq, FIRST_SEQ, NO_RE, encode(message))))
            self.on_write()
        return self._done

    def _readable(self, feed: Any, accepts: Any, decode: Any, chunk: bytes) -> None:
        for frame in feed(chunk):
            if accepts(frame):
                decode(frame.payload)
                self.on_read()
                self._left -= 1
                if not self._left:
                    self._done.set_result(None)


async def session_fan(folder: Path, closing: ExitStack) -> tuple[SessionFan, Callable[[int], Awaitable[Any]]]:
    """Return a fan with locks over real sessions, and the function that sends to all six."""
    fan = SessionFan(await _links(folder, closing))
    return fan, lambda number: fan.ask(m.Lock(number, number))


async def _bridge(folder: Path, closing: ExitStack) -> Steps:
    """Return the steps for six links without drivers."""
    links = [link for link, _ in await _links(folder, closing)]

    left, done = 0, asyncio.get_running_loop().create_future()

    def answered(_: object) -> None:
        nonlocal left
        left -= 1
        if not left:
            done.set_result(None)

    def lock(number: int) -> Awaitable[Any]:
        nonlocal left, done
        left, done = len(links), asyncio.get_running_loop().create_future()
        message = m.Lock(number, 2 * number)
        for link in links:
            link.request(message, TRIP_PATIENCE, urgent=True, actuation=True, on_end=answered)
        return done

    async def open_round(number: int) -> None:
        for link in links:
            await link.request(m.Open(2 * number - 1, number), TRIP_PATIENCE)

    await open_round(1)
    for link in links:
        assert isinstance(await link.request(m.Lock(1, 2), TRIP_PATIENCE), m.Locked)
    return open_round, lock


async def open_bets(controller: Controller, sensors: Iterable[AnySlot], number: int) -> None:
    """Set the core and its sensors to open bets, after the last round is decided and on disk."""
    state = controller.table.state
    while controller.durable_seq < controller.newest_seq or state.progressive.state == mc.LOCKING:  # noqa: ASYNC110
        await asyncio.sleep(0.0005)
    assert not [p for p in state.prompts.values() if p.kind == "seat_undecided"], "a seat is undecided"
    state.prompts.clear()
    state.commands.clear()
    state.money.bets.clear()
    state.round = Round(number, mc.BETTING)
    state.progressive = Progressive(mc.OPEN, {seat: SeatBets() for seat in range(1, SEATS + 1)})
    for slot in sensors:
        await slot.driver.require_link().request(m.Open((1 << 40) + number, number), TRIP_PATIENCE)


class LockOut:
    """The shipped box at six ports, with its journal on a disk: all of `pitbox run` but its panel and sockets.

    Those are in `benchmarks.press`, which also measures when the core has decided the sixth latch. Measured here is the
    moment when the frame of the sixth confirmation was read at its port, as in the rows of the floor.
    """

    def __init__(self, folder: Path) -> None:
        rules = edition(GAME)
        submission = check_submission(rules, {"adjacent_boxes": 1} | default_choices(GAME))
        places = [
            SlotPlan(
                name, m.KIND, partial(open_serial, str(port)),
                Trust(m.KIND, {key.serial: key}, frozenset([approved_firmware(m.KIND)])), str(port),
            )
            for name, port, key in zip(SLOTS, seat_ports(folder), sensor_keys(), strict=True)
        ]  # fmt: skip
        self._folder = folder / "journal"
        self.box = Box(Plan("benchmark", rules, submission, tuple(places), NoCredentials()), BoxClock())
        self._unconfirmed: set[str] = set()
        self._confirmed: asyncio.Future[None]

    async def begin(self) -> None:
        """Start the box, and wait for every sensor."""
        await self.box.begin(self._open_journal)
        for slot in self.box.slots.values():
            await slot.driver.ready()
            self.box.frame_monitors[slot.name].watchers.append(self._on_frame)

    def _open_journal(self, digests: Mapping[str, str]) -> tuple[Store, GroupCommitWriter]:
        journal = Store.open(self._folder, version=VERSION, digests=digests, policy=Policy(ballast_bytes=0))
        return journal, GroupCommitWriter(journal, _failed)

    async def open_round(self, number: int) -> None:
        """Open bets of a round."""
        await open_bets(self.box.running_controller(), self.box.slots.values(), number)

    def lock(self, _number: int) -> asyncio.Future[None]:
        """The dealer calls no more bets; return the future of the sixth confirmation."""
        self._unconfirmed = set(SLOTS)
        self._confirmed = asyncio.get_running_loop().create_future()
        self.box.running_controller().submit(ev.NoMoreBets(DEALER))
        return self._confirmed

    def _on_frame(self, slot: str, outgoing: bool, _signed: bytes, _mac: bytes) -> None:
        if not outgoing and slot in self._unconfirmed:
            self._unconfirmed.remove(slot)
            if not self._unconfirmed:
                self._confirmed.set_result(None)


async def _lock_out(folder: Path, closing: ExitStack) -> Steps:
    """Return the steps for the shipped box: slots, translation, core, journal, signs."""
    loop = asyncio.get_running_loop()
    lock_out = LockOut(folder)
    closing.callback(lambda: loop.run_until_complete(lock_out.box.stop()))
    await lock_out.begin()
    await lock_out.open_round(1)
    await lock_out.lock(1)
    return lock_out.open_round, lock_out.lock


def _failed(error: Exception) -> None:
    raise error


ROWS: Final[dict[str, Any]] = {
    "bare": ("bare fan-out", "floor", "fan_bare", _bare),
    "codec": ("fan-out + codec + MAC", "floor", "fan_codec", _codec),
    "bridge": ("six links", "ours", "fan_session", _bridge),
    "lockout": ("lock-out", "ours", "fan_session", _lock_out),
    "twins": ("lock-out, six twins", "ours", "fan_pitbox", _lock_out),
}


def _row(runner: asyncio.Runner, name: str, role: Role, steps: Steps) -> BenchmarkRow:
    open_round, lock = steps
    numbers = count(2)

    async def locks() -> list[float]:
        took = []
        async with asyncio.timeout(BATCH_PATIENCE):
            for _ in range(BATCH):
                number = next(numbers)
                await open_round(number)
                start = perf_counter()
                await lock(number)
                took.append(perf_counter() - start)
        return took

    return BenchmarkRow(name, lambda: runner.run(locks()), role)


def main() -> None:
    """Start the device processes, measure, print, judge."""
    rounds = arguments(
        "Lock-out of six bet sensors over six ptys compared with two bare fan-outs. Ratios count.",
        "python -m benchmarks.lockout --rounds 40",
        ROUNDS,
    )
    assert latched(m.Lock(1, 1)).latch.content is m.SpotContent.CHIP
    with TemporaryDirectory() as folder, ExitStack() as far_ends, asyncio.Runner() as runner, ExitStack() as hosts:
        rows = []
        for name, (title, role, far, host) in ROWS.items():
            Path(folder, name).mkdir()
            far_ends.enter_context(remote_device(far, Path(folder, name)))
            rows.append(_row(runner, title, role, runner.run(host(Path(folder, name), hosts))))
        interleave(rows, rounds)
        bare, codec, bridge, lock_out, _ = rows
        print_table("lock written -> sixth sensor confirmed, two processes", rows, [bare, codec])
        print_verdict(BUDGETS["bridge"], "six links / fan-out + codec + MAC, p50", bridge.ratio(codec))
        print_verdict(
            BUDGETS["lock-out"], "lock-out of the shipped box / fan-out + codec + MAC, p50", lock_out.ratio(codec)
        )


if __name__ == "__main__":
    main()
