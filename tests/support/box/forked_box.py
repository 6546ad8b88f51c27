"""The shipped box in a process of its own, on a real disk and real ports; people reach it through a local socket.

Run as a program it forks one box after the other, so that a start needs no imports. PITBOX_TEST_CRASH=POINT:N kills a
box with SIGKILL at its N-th pass of a point; only this program reads that variable.
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
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import PitboxError
from firmware_bridge.handshake import Trust
from firmware_bridge.keys import load_approved, load_key
from firmware_bridge.transport.serial import open_serial
from simulators.casino.power import NoCredentials
from simulators.casino.table_layout import default_choices
from table_controller.controller.box import Box
from table_controller.controller.clock import BoxClock
from table_controller.controller.plan import Plan, SlotPlan
from table_controller.journal import reader
from table_controller.journal.records import STEP, VERSION, decode_step
from table_controller.journal.segment import JournalSegment
from table_controller.journal.store import Policy, Store
from table_controller.journal.versions import software_digest
from table_controller.journal.writer import GroupCommitWriter
from table_controller.rulebook import Submission, check_submission, edition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.controller.controller import DurableStep

CRASH: Final = "PITBOX_TEST_CRASH"
POINTS: Final = ("before_sync", "after_sync", "before_write", "after_write")
SOCKET: Final = "panel.sock"
JOURNAL: Final = "journal"
# Small segments, so that a run goes through several (bytes).
_POLICY: Final = Policy(segment_bytes=256 << 10, ballast_bytes=1 << 20)


class CrashPoints:
    """Counts the passes of each point, and kills the process at the named one."""

    def __init__(self, named: str) -> None:
        self.point, _, number = named.partition(":")
        self._left = int(number or 0)
        self._lock = threading.Lock()

    def count(self, point: str) -> None:
        if point == self.point:
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

    def watch_disk(self) -> None:
        """Count every commit of this process; each is one sync."""
        commit = JournalSegment.append

        def watched(segment: JournalSegment, *details: Any) -> Any:
            self.count("before_sync")
            done = commit(segment, *details)
            self.count("after_sync")
            return done

        JournalSegment.append = watched  # type: ignore[method-assign,assignment]

    def watched_port(self, path: Path) -> Any:
        """Return a function that opens a port whose writes are points."""

        async def open_port() -> Any:
            transport: Any = await open_serial(str(path))
            write = transport.write

            def watched(data: bytes) -> None:
                self.count("before_write")
                write(data)
                self.count("after_write")

            transport.write = watched
            return transport

        return open_port


def send(writer: asyncio.StreamWriter, what: tuple[Any, ...]) -> None:
    """Send one message to the other process."""
    body = pickle.dumps(what)
    writer.write(len(body).to_bytes(4, "big") + body)


async def receive(reader: asyncio.StreamReader) -> tuple[Any, ...]:
    """Receive one message of the other process; IncompleteReadError if it is gone."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    what: tuple[Any, ...] = pickle.loads(await reader.readexactly(size))
    return what


class ForkedBox:
    """One boot of the shipped box, until it is stopped or killed; people are behind a socket."""

    def __init__(
        self, folder: Path, submission: Submission, kinds: dict[str, Any], points: CrashPoints, peer: Any
    ) -> None:
        self._folder = folder
        self._reader, self._writer = peer
        self._tasks: set[asyncio.Task[None]] = set()
        self._sent = 0  # number of the last step sent to the people
        places = tuple(self._place(name, kind, points) for name, kind in kinds.items())
        plan = Plan("forked", edition(submission.game), submission, places, NoCredentials())
        self.clock = BoxClock()
        self.box = Box(plan, self.clock, snapshot_every=150)

    def _place(self, name: str, kind: str, points: CrashPoints) -> SlotPlan:
        key = load_key(self._folder / f"{name}.key")
        trust = Trust(kind, {key.serial: key}, load_approved(self._folder / "approved.toml"))
        return SlotPlan(name, kind, points.watched_port(self._folder / name), trust)

    def _open_journal(self, digests: Mapping[str, str]) -> tuple[Store, GroupCommitWriter]:
        store = Store.open(
            self._folder / JOURNAL, version=VERSION, digests=digests, policy=_POLICY, clocks=self.clock.now
        )
        return store, GroupCommitWriter(store, lambda error: sys.exit(f"the journal failed: {error}"))

    def _follow(self, step: DurableStep) -> None:
        self._sent = step.seq
        send(self._writer, ("step", step.event, step.decisions, self.box.running_controller().table.snapshot()))

    def _on_device_event(self, name: str, event: Any) -> None:
        if type(event).__name__ in ("DeckEjected", "Dispensed", "Stub", "Shaken", "Reading", "NoRoll"):
            send(self._writer, ("device_event", name, event))

    async def run(self) -> None:
        """Serve until the people stop it."""
        await self.box.begin(self._open_journal)
        controller = self.box.running_controller()
        controller.followers.append(self._follow)
        self.box.on_device_event.append(self._on_device_event)
        while True:
            match await receive(self._reader):
                case ("submit", event):
                    controller.submit(event)
                case ("call", number, slot, method, arguments):
                    task = asyncio.create_task(self._call(number, slot, method, arguments))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                case _:
                    break
        while self.box.pending_records:  # noqa: ASYNC110 - wait for pending records
            await asyncio.sleep(0.002)
        await self.box.stop()
        for record in reader.read(self._folder / JOURNAL, self._sent + 1):  # the stop itself has no follower
            if record.kind == STEP:
                step = decode_step(record.body)
                send(self._writer, ("step", step.event, step.decisions, controller.table.snapshot()))
        self._writer.close()
        await self._writer.wait_closed()  # until everything is read

    async def _call(self, number: int, slot: str, method: str, arguments: tuple[Any, ...]) -> None:
        """Call a driver for a technician."""
        try:
            await getattr(self.box.slots[slot].driver, method)(*arguments)
        except PitboxError as failed:
            send(self._writer, ("answer", number, str(failed)))
        else:
            send(self._writer, ("answer", number, None))


async def _boot(folder: Path, submission: Submission, kinds: dict[str, Any]) -> None:
    points = CrashPoints(os.environ.get(CRASH, ""))
    points.watch_disk()
    peer = await asyncio.open_unix_connection(folder / SOCKET)
    box = ForkedBox(folder, submission, kinds, points, peer)
    try:
        await box.run()
    except asyncio.IncompleteReadError:
        os._exit(3)  # the people are gone


def main(folder: Path, game: str, choices: dict[str, Any], kinds: dict[str, Any]) -> None:
    """Fork a box for every line of standard input, its crash point; print its process id, and when it ended."""
    software_digest()
    submission = check_submission(edition(game), {"adjacent_boxes": 1} | default_choices(game) | choices)
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
