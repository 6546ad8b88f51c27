"""The shipped box in memory and virtual time: simulated machines and disk, a real people file."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from firmware_bridge.errors import PitboxError
from firmware_bridge.keys import save_key
from simulators.casino.device_bench import trust_for
from simulators.casino.disk import Disk
from simulators.casino.disk_writer import DiskWriter
from simulators.casino.power import SimulatedClock
from simulators.casino.table_layout import default_choices, make_machines, table_slots
from simulators.engine.ports.memory import MemoryPort
from table_controller.access import people_file
from table_controller.access.pin_check import PinChecker
from table_controller.access.request_json import read_line
from table_controller.access.session import ClientSession
from table_controller.controller.box import Box
from table_controller.controller.plan import Plan, SlotPlan
from table_controller.journal import records as rec
from table_controller.rulebook import check_submission, edition

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from firmware_bridge.errors import JournalError
    from simulators.engine.machine import SimulatedMachine
    from table_controller.journal.chain import Record

PIN = "271828"
CHEAP = people_file.Cost(n=2, r=1, p=1)
ROLES = {"D1": "dealer", "D2": "dealer", "F1": "floorperson", "T1": "technician", "A1": "auditor"}


def ignore_failure(_: Exception) -> None:
    """Ignore a journal failure before the box has a controller."""


class BoxTestBench:
    """Machines and a disk that survive boxes; `start` makes the next box."""

    def __init__(
        self, folder: Path, game: str = "face_up_pai_gow", *, seed: int = 1, more: dict[str, str] | None = None
    ) -> None:
        """`more`: further slots of the table, with the model in each."""
        self.folder = folder
        slots = table_slots(game) | (more or {})
        self.machines = {m.slot: m for m in make_machines(slots, seed=seed, speed=20.0)}
        self.ports = {slot: MemoryPort(machine) for slot, machine in self.machines.items()}
        self.disk = Disk(seed)
        self.clock = SimulatedClock()
        self.journal_error: JournalError | None = None
        self.box: Box
        rules = edition(game)
        submission = check_submission(rules, {"adjacent_boxes": 1} | default_choices(game))
        file = folder / "people.json"
        for id_, role in ROLES.items():
            people_file.add_credential(file, id_, role, PIN, cost=CHEAP)
        people_file.add_credential(
            file, "A9", "auditor", PIN, person="F1", cost=CHEAP
        )  # the floorperson's second credential
        checker = PinChecker(file, clock=lambda: self.clock.now()[1] / 1e9)
        places = tuple(
            SlotPlan(slot, machine.kind, partial(self._plug, slot), trust_for(machine), slot, self._key_file(machine))
            for slot, machine in self.machines.items()
        )
        self.plan = Plan(
            "bench",
            rules,
            submission,
            places,
            checker,
            escalate_after_s=10.0,
            former_revocation_list=folder / "revoked.json",
        )

    def _plug(self, slot: str) -> Any:
        return self.ports[slot].open()

    def _key_file(self, machine: SimulatedMachine) -> Path:
        path = self.folder / f"{machine.slot}.key"
        save_key(path, machine.key)
        return path

    async def start(self, settle: float = 2.0) -> Box:
        """Start a box and wait so long for its machines (s)."""
        self.box = Box(self.plan, self.clock, threads=False)
        await self.box.begin(self._open)
        await asyncio.sleep(settle)
        return self.box

    def _open(self, digests: Mapping[str, str]) -> Any:
        if self.journal_error is not None:
            raise self.journal_error
        store = self.disk.open(version=rec.VERSION, digests=digests, clocks=self.clock.now)
        return store, DiskWriter(store, ignore_failure)

    def notes(self, kind: str) -> list[rec.Note]:
        """Return the notes of one kind that the box recorded."""
        bodies = [msgspec.json.decode(r.body, type=rec.Note) for r in self.records() if r.kind == rec.NOTE]
        return [note for note in bodies if note.kind == kind]

    def records(self) -> list[Record]:
        return list(self.disk.records)

    def close(self) -> None:
        for machine in self.machines.values():
            machine.board.power_off()


class DirectClient:
    """A client without a socket: requests in, lines out."""

    def __init__(self, box: Box) -> None:
        self.lines: list[dict[str, Any]] = []
        self._numbers = count(1)
        self.session = ClientSession(box, self._receive, 1000)
        if box.controller is not None:
            box.controller.followers.append(self._step)

    def _receive(self, what: Any) -> None:
        self.lines.append(msgspec.json.decode(msgspec.json.encode(what)))

    def _step(self, step: Any) -> None:
        if self.session.is_sent(step):
            self._receive({"step": step})
        self.session.on_durable(step)

    async def ask(self, do: str, **details: Any) -> Any:
        """Send one request; return the answer, or the text of the error."""
        number = next(self._numbers)
        try:
            self.session.handle(read_line(msgspec.json.encode({"do": do, "id": number, **details})))
        except PitboxError as refused:
            return f"{refused.code} {refused}"
        for _ in range(200):
            answers = [line for line in self.lines if line.get("id") == number]
            if answers:
                return (
                    answers[0]["ok"]
                    if "ok" in answers[0]
                    else f"{answers[0]['error']['code']} {answers[0]['error']['text']}"
                )
            await asyncio.sleep(0.05)
        raise AssertionError(f"{do} was not answered")

    async def sign_on(self, *credentials: str) -> DirectClient:
        for credential in credentials:
            reply = await self.ask("sign_on", credential=credential, pin=PIN)
            assert reply["credential"] == credential, reply
        return self

    async def submit(self, name: str, **fields: Any) -> Any:
        """Send a request to the table, with `by` and `second`."""
        return await self.ask(name, **fields)


@asynccontextmanager
async def running(
    folder: Path, game: str = "face_up_pai_gow", *, more: dict[str, str] | None = None
) -> AsyncIterator[tuple[BoxTestBench, Box, DirectClient]]:
    """Run a box with a client; at the end it is stopped in order, if it still runs."""
    bench = BoxTestBench(folder, game, more=more)
    box = await bench.start()
    try:
        yield bench, box, DirectClient(box)
    finally:
        if not bench.box.is_stopping:
            await bench.box.stop()
        bench.close()
