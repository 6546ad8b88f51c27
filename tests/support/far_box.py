"""A box in a process of its own: real controller, real journal on disk, real ports; people reach it by a local socket.

Run as a program it forks one box after the other, so that a start costs no imports. Where a box is to die is in the
environment: PITBOX_TEST_CRASH=POINT:N kills it with SIGKILL at the N-th time that it comes to a point. Only this
program reads it. No tests here.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Final

from devices.kinds import kind_named
from firmware_bridge.errors import PitboxError
from firmware_bridge.handshake import Trust
from firmware_bridge.keys import load_approved, load_key
from firmware_bridge.transport.serial import open_serial
from simulators.house.table import CHOICES
from table_controller.controller.clock import BoxClock
from table_controller.controller.slot import Slot
from table_controller.controller.start import start
from table_controller.journal.records import VERSION
from table_controller.journal.segment import Segment
from table_controller.journal.store import Policy, Store
from table_controller.journal.versions import digests_of, software_digest
from table_controller.journal.writer import Writer
from table_controller.rulebook import Submission, check_submission, edition
from table_controller.table.core import Table

CRASH: Final = "PITBOX_TEST_CRASH"
POINTS: Final = ("before_sync", "after_sync", "before_write", "after_write")
SOCKET: Final = "panel.sock"
# Small segments, so that a run goes through several (bytes).
_POLICY: Final = Policy(segment_bytes=256 << 10, ballast_bytes=1 << 20)


class Points:
    """Counts how often each point is passed, and dies at the one that was named."""

    def __init__(self, named: str) -> None:
        self.point, _, number = named.partition(":")
        self._left = int(number or 0)
        self._lock = threading.Lock()

    def passing(self, point: str) -> None:
        if point == self.point:
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

    def watch_disk(self) -> None:
        """Every commit of this process, wherever it comes from; each is one sync."""
        commit = Segment.append

        def watched(segment: Segment, *details: Any) -> Any:
            self.passing("before_sync")
            done = commit(segment, *details)
            self.passing("after_sync")
            return done

        Segment.append = watched  # type: ignore[method-assign,assignment]

    def watched_port(self, path: Path) -> Any:
        """Return what opens a port all of whose writes are points."""

        async def open_port() -> Any:
            transport: Any = await open_serial(str(path))
            write = transport.write

            def watched(data: bytes) -> None:
                self.passing("before_write")
                write(data)
                self.passing("after_write")

            transport.write = watched
            return transport

        return open_port


def send(writer: asyncio.StreamWriter, what: tuple[Any, ...]) -> None:
    """Send one thing to the other process."""
    body = pickle.dumps(what)
    writer.write(len(body).to_bytes(4, "big") + body)


async def receive(reader: asyncio.StreamReader) -> tuple[Any, ...]:
    """Take one thing from the other process; IncompleteReadError if it is gone."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    what: tuple[Any, ...] = pickle.loads(await reader.readexactly(size))
    return what


class FarBox:
    """One boot, until it is told to stop or killed."""

    def __init__(self, folder: Path, submission: Submission, kinds: dict[str, Any], points: Points, peer: Any) -> None:
        self._reader, self._writer = peer
        rules = edition(submission.game)
        digests, clock = digests_of(rules, submission, kinds), BoxClock()
        self.store = Store.open(folder / "journal", version=VERSION, digests=digests, policy=_POLICY, clocks=clock.now)
        self.writer = Writer(self.store, lambda error: sys.exit(f"the journal failed: {error}"))
        table = Table(rules, submission, kinds)
        self.controller = start(table, self.store, self.writer, clock, digests, self._stepped, snapshot_every=150)
        self._tasks: set[asyncio.Task[None]] = set()
        approved = load_approved(folder / "approved.toml")
        self.slots: dict[str, Slot[Any, Any]] = {}
        for name, kind in kinds.items():
            key = load_key(folder / f"{name}.key")
            trust = Trust(kind, {key.serial: key}, approved)
            port = points.watched_port(folder / name)
            take = self._listener(name)
            self.slots[name] = Slot(name, kind_named(kind), port, trust, take, hold=self.controller.hold)
        self.controller.slots = self.slots

    def _stepped(self, event: Any, decisions: Any) -> None:
        send(self._writer, ("step", event, decisions, self.controller.table.snapshot()))

    def _listener(self, name: str) -> Any:
        submit = self.controller.listener(name)

        def take(event: Any) -> None:
            submit(event)
            if type(event).__name__ in ("GivenOut", "Dispensed", "Stub", "Shaken", "Reading", "NoRoll"):
                send(self._writer, ("told", name, event))

        return take

    async def run(self) -> None:
        """Serve until the people say stop."""
        self.controller.begin()
        for slot in self.slots.values():
            slot.start()
        while True:
            match await receive(self._reader):
                case ("submit", event):
                    self.controller.submit(event)
                case ("call", number, slot, method, arguments):
                    task = asyncio.create_task(self._call(number, slot, method, arguments))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                case _:
                    break
        self.controller.keep()
        while self.writer.waiting:  # noqa: ASYNC110 - what is on its way to the disk is still shown
            await asyncio.sleep(0.002)
        await self.controller.close()
        for slot in self.slots.values():
            await slot.close()
        await self.writer.close()
        self.store.close()
        self._writer.close()
        await self._writer.wait_closed()  # and all of it is read

    async def _call(self, number: int, slot: str, method: str, arguments: tuple[Any, ...]) -> None:
        """A technician uses a driver through the box."""
        try:
            await getattr(self.slots[slot].driver, method)(*arguments)
        except PitboxError as failed:
            send(self._writer, ("answer", number, str(failed)))
        else:
            send(self._writer, ("answer", number, None))


async def _boot(folder: Path, submission: Submission, kinds: dict[str, Any]) -> None:
    points = Points(os.environ.get(CRASH, ""))
    points.watch_disk()
    peer = await asyncio.open_unix_connection(folder / SOCKET)
    box = FarBox(folder, submission, kinds, points, peer)
    try:
        await box.run()
    except asyncio.IncompleteReadError:
        os._exit(3)  # the people are gone


def main(folder: Path, game: str, choices: dict[str, Any], kinds: dict[str, Any]) -> None:
    """Fork a box for every line of standard input, which names where it dies; say its process id, and when it ended."""
    software_digest()
    submission = check_submission(edition(game), {"adjacent_boxes": 1} | CHOICES[game] | choices)
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.environ[CRASH] = line.strip()
            asyncio.run(_boot(folder, submission, kinds))
            os._exit(0)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(f"ended {status}", flush=True)


if __name__ == "__main__":
    devices = dict(pair.split("=") for pair in sys.argv[4:])
    main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), devices)
