"""A table whose box runs in another process: machines on ptys, people and true state are here.

People and technician use the control socket, signed on; they see what is on the box's disk. The caller starts and ends
the box.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from devices.kinds import kind_named
from firmware_bridge.errors import LinkClosed, NoBox, PitboxError
from simulators.casino.table import CasinoTable
from simulators.casino.table_layout import BENCH_PEOPLE, BENCH_PIN, table_toml, write_bench_people
from simulators.engine.control import write_trust_files
from simulators.engine.ports.pty import PtyPort
from table_controller.access.control_client import BoxClient
from table_controller.access.event_json import event_from_json
from table_controller.access.request_rules import RULES
from table_controller.controller.shown_money import shown_money_of
from table_controller.journal import former_names, reader
from table_controller.journal import records as rec
from table_controller.picture.build import picture_of_table
from table_controller.table import state_machines as mc
from table_controller.table.core import Table

if TYPE_CHECKING:
    from pathlib import Path

    from devices.kinds import DriverEvent
    from table_controller.picture.types import TablePicture
    from table_controller.table import events as ev

# Time limit for the start of a box, even on a busy computer (s).
START_TIMEOUT_S: Final = 30.0
# Time limit for any reaction of a box and its machines, even on a busy computer (s).
WAIT_TIMEOUT_S: Final = 120.0
# How often is looked whether a box answers (s).
LOOK_S: Final = 0.02
# A box that has pushed nothing for this time (s), even on a busy computer, waits for people.
LATE_S: Final = 2.0
# The request that a person sends for each event.
REQUEST_OF: Final = {rule.event: kind.name() for kind, rule in RULES.items() if rule.event is not None}


def _fields(event: ev.Event) -> dict[str, Any]:
    """Return the fields of the request for an event, with the credentials of its signers."""
    fields: dict[str, Any] = {key: value for key, value in msgspec.to_builtins(event).items() if value is not None}
    del fields["type"]
    signers = {"who": "by", "second": "second"}
    return {signers.get(key, key): value["credential"] if key in signers else value for key, value in fields.items()}


class RemoteDriver:
    """A driver reached through the box's socket; the box numbers its commands itself."""

    def __init__(self, box: RemoteBox, slot: str) -> None:
        self._box, self._slot = box, slot

    def __getattr__(self, method: str) -> Any:
        """Return a function that sends this call to the device."""
        return lambda _command=0, *arguments: self._box.call(self._slot, method, arguments)


class RemoteSlot:
    """A slot, with the parts that people need."""

    def __init__(self, box: RemoteBox, name: str, kind: str) -> None:
        self.driver = RemoteDriver(box, name)
        self.kind = kind_named(kind)
        self.view = self.kind.initial_view

    def apply_event(self, event: DriverEvent) -> None:
        """Apply an event of the machine."""
        self.view = self.kind.fold(self.view, event)


class RemoteBox:
    """The box as people see it: a table that follows the steps on the box's disk. `powered`: it answers."""

    def __init__(self, casino: RemoteTable, table: Table) -> None:
        self.casino = casino
        self.table = table
        self.controller = self
        self.slots: Any = {name: RemoteSlot(self, name, machine.kind) for name, machine in casino.machines.items()}
        self.powered = False
        self.seq = 0
        self.pushed_at = 0.0  # when the box last pushed a step or an event (loop time, s)
        self.client: BoxClient | None = None
        self.failure: Exception | None = None  # why a push of the box could not be followed; play ends with it
        self.refused: list[str] = []  # requests that the box rejected
        self._unanswered = 0  # requests of people that the box has not answered
        self._answered_at = 0  # the record that the last answer names
        self._tasks: set[asyncio.Task[None]] = set()
        self._early: list[dict[str, Any]] = []

    async def connect(self, socket: Path, journal: Path) -> None:
        """Connect to a started box: sign all people on, read its journal, and follow it."""
        if self.client is not None:
            await self.client.close()
            self.client = None
        self.client = await BoxClient.connect(socket, self._pushed)
        self._go(self._watch(self.client))
        for credential in BENCH_PEOPLE:
            await self.client.request("sign_on", credential=credential, pin=BENCH_PIN)
        self._early = []
        reply = await self.client.request("follow", device_events=True)
        self.read_steps(journal, reply["seq"])
        assert self.table.snapshot() == msgspec.convert(reply["state"], bytes), (
            "the box's state differs from its journal"
        )
        self.seq, self.powered = reply["seq"], True
        early, self._early = self._early, []
        for push in early:
            self._apply_push(push)
        self.casino.people.look_at_screen()

    def read_steps(self, journal: Path, last: int | None = None) -> None:
        """Follow the steps that are on the disk of the box, up to this record or to the end."""
        for record in reader.read(journal, self.seq + 1, last):
            if record.kind == rec.STEP:
                self._step(record.body)
            self.seq = record.seq

    async def _watch(self, client: BoxClient) -> None:
        await client.ended.wait()
        if client is self.client:
            self.powered = False

    def _pushed(self, push: dict[str, Any]) -> None:
        if not self.powered:
            self._early.append(push)
            return
        try:
            self._apply_push(push)
        except Exception as error:
            self.failure = error
            raise

    def _apply_push(self, push: dict[str, Any]) -> None:
        self.pushed_at = asyncio.get_running_loop().time()
        if "step" in push:
            self.seq = push["step"]["seq"]
            self._step(former_names.stamp(msgspec.json.encode(push["step"]), rec.VERSION))
        elif "device_event" in push:
            slot = push["device_event"]["slot"]
            event = event_from_json(slot.partition(".")[0], push["device_event"])
            if event is not None:
                self.slots[slot].apply_event(event)
                self.casino.people.see_device_event(slot, event)

    def _step(self, body: bytes) -> None:
        step = rec.decode_step(body)
        decided = self.table.step(step.event)
        assert decided == step.decisions, "the box decides differently from its own core"
        self.casino.see_step(step.event, step.decisions)

    def _go(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def is_answer_pending(self) -> bool:
        """Whether a request is unanswered, or an answered step has not arrived here."""
        return self.powered and (self._unanswered > 0 or self.seq < self._answered_at)

    def submit(self, event: ev.Event) -> None:
        """Submit an event to the box."""
        if self.powered:
            self._unanswered += 1
            self._go(self._submit(event))

    async def _submit(self, event: ev.Event) -> None:
        assert self.client is not None
        try:
            answer = await self.client.request(REQUEST_OF[type(event)], **_fields(event))
            self._answered_at = max(self._answered_at, answer["seq"])
        except NoBox:
            return
        except PitboxError as refused:
            self.refused.append(f"{refused.code} {refused}")
        finally:
            self._unanswered -= 1

    async def call(self, slot: str, method: str, arguments: tuple[Any, ...]) -> None:
        """Call a driver through the box as a technician; LinkClosed if the box is down."""
        if not self.powered or self.client is None:
            raise LinkClosed("the box is dark")
        await self.order(slot, method, {"mode": arguments[0].name} if arguments else {})

    async def order(self, slot: str, call: str, arguments: dict[str, Any]) -> None:
        """Send a technician's command to a machine; LinkClosed if the box is down."""
        if self.client is None:
            raise LinkClosed("the box is dark")
        await self.client.request("device", slot=slot, call=call, arguments=arguments, by="tech-1")

    async def do_return_step(self, report: int, step: str | None, by: str | None, **more: Any) -> dict[str, Any]:
        """Complete a return-to-service step of a fault report, or read its progress."""
        if self.client is None:
            raise LinkClosed("the box is dark")
        asked = {"do": "fault"} if step is None else {"do": "return_step", "step": step, "by": by, **more}
        reply: dict[str, Any] = await self.client.request(fault_report=report, **asked)
        return reply

    def keep(self) -> None:
        """Do nothing: the box is in another process."""

    async def disconnect(self) -> None:
        """Disconnect."""
        self.powered = False
        if self.client is not None:
            await self.client.close()
        if self._tasks:
            await asyncio.wait(self._tasks)


class RemoteTable(CasinoTable):
    """A table with machines on ptys and its table.toml in a folder. Use it with `async with`; then `connect_to_box`."""

    box: Any

    panel_port: int | None = None  # port of the panel; None: no panel

    def __init__(self, folder: Path, game: str, **options: Any) -> None:
        self.folder = folder
        self._choices = options.get("choices") or {}
        super().__init__(game, **options)
        self._machine_ports: list[PtyPort] = []

    @property
    def config(self) -> Path:
        """The configuration file of the box."""
        return self.folder / "table.toml"

    @property
    def journal(self) -> Path:
        """The journal of the box."""
        return self.folder / "data" / "journal"

    @property
    def socket(self) -> Path:
        """The control socket of the box."""
        return self.folder / "data" / "control.sock"

    @property
    def is_box_down(self) -> bool:
        """Whether the box is down. Raise what ended the following of a box that is not."""
        if self.box.failure is not None:
            raise RuntimeError("a step of the box could not be followed") from self.box.failure
        return not self.box.powered

    def request_reports_again(self) -> bool:
        """Return False: the box itself asks an unverified device again."""
        return False

    def is_answer_pending(self) -> bool:
        """Return whether the box has yet to answer, which can take long on a busy computer."""
        return bool(self.box.is_answer_pending)

    async def until(self, condition: Any, seconds: float | None = None) -> None:
        """Wait until a condition holds: at most WAIT, or so many seconds of these people's time."""
        if seconds is not None:
            await super().until(condition, seconds)
            return
        async with asyncio.timeout(WAIT_TIMEOUT_S):
            while not condition():
                await self.wait(0.1)

    async def until_quiescent(self, seconds: float | None = None) -> None:
        """Wait until nobody has anything to do: at most WAIT, or so many seconds of these people's time.

        While dice are shaken or cards are dealt, a pause is no end: a box or a machine on a busy computer is only late.
        """
        limit = WAIT_TIMEOUT_S / self.pace if seconds is None else seconds
        await super().until_quiescent(limit)
        while self._may_be_late():
            await asyncio.sleep(LOOK_S)
            await super().until_quiescent(limit)

    def _may_be_late(self) -> bool:
        """Return whether machines work on the round, and the box was silent only for a moment."""
        is_moving = not self.is_box_down and self.controller.table.state.round.state in (
            mc.STARTING_POSITION,
            mc.DEALING,
        )
        return is_moving and asyncio.get_running_loop().time() - self.box.pushed_at < LATE_S

    async def bring_deck(self, back: str) -> None:
        """Bring a new deck once the box has read every machine."""
        await self.until(lambda: self.is_box_down or not self._meeting())
        await super().bring_deck(back)

    def _meeting(self) -> bool:
        """Return whether the box has yet to connect to a machine or to read it."""
        slots = self.controller.table.state.slots.values()
        return any(slot.state in ("absent", "unverified") for slot in slots)

    def _start(self) -> Any:
        kinds: Any = {slot: machine.kind for slot, machine in self.machines.items()}
        return RemoteBox(self, Table(self.edition, self.submission, kinds))

    def picture(self) -> TablePicture:
        """Return the picture of the table at the last step that was followed; all of them are on the box's disk."""
        table = self.controller.table
        return picture_of_table(table, self.box.seq, shown_money_of(table))

    def see_step(self, event: ev.Event, decisions: Any) -> None:
        """Show people a step that is on disk."""
        self._stepped(event, decisions)

    async def __aenter__(self) -> Self:
        """Plug every machine in."""
        ports: dict[str, str] = {}
        for name, machine in self.machines.items():
            write_trust_files(machine, self.folder)
            port = PtyPort(machine, self.folder / name)
            self._machine_ports.append(port)
            ports[name] = str(port.port)
        panel = "enabled = false" if self.panel_port is None else f"port = {self.panel_port}"
        self.config.write_text(
            f"{table_toml(self.edition.game, ports, choices=self._choices)}\n[panel]\n{panel}\n", "utf-8"
        )
        write_bench_people(self.folder / "data")
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the people's activities and unplug the machines."""
        await self.people.close()
        await self.box.disconnect()
        for port in self._machine_ports:
            port.close()

    async def connect_to_box(self) -> None:
        """Wait until the box answers, and follow it."""
        async with asyncio.timeout(START_TIMEOUT_S):
            while True:
                with suppress(NoBox):
                    await self.box.connect(self.socket, self.journal)
                    return
                await asyncio.sleep(LOOK_S)
