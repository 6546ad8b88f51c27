"""A simulated table whose box is the real service: machines on ptys here, people who speak over its control socket.

What they see of the table is a mirror: the same core, fed with the steps that the box says are on disk. A mirror that
decides otherwise than the box is an error, so every show proves once more that the same events give the same decisions.
"""

from __future__ import annotations

import asyncio
import base64
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.kinds import kind_named
from devices.service import IN_SERVICE
from firmware_bridge.errors import BoxLocked, LinkClosed, NoBox
from simulators.control import lay_out_trust
from simulators.hosts.pty import PtyHost
from simulators.house.dealer import DEALER, FLOOR, TECHNICIAN
from simulators.house.table import House
from simulators.table import layout, table_toml
from table_controller.config import load_config
from table_controller.controller.client import BoxClient, Refused
from table_controller.controller.told import lively
from table_controller.journal import reader
from table_controller.journal.records import STEP, decode_step
from table_controller.people import Cost, add
from table_controller.table.core import Table

if TYPE_CHECKING:
    from pathlib import Path

    from simulators.machine import Machine
    from table_controller.config import TableConfig
    from table_controller.table import events as ev
    from table_controller.table.decisions import Decision

# The people of a simulated table have PINs that anybody may know: there is nothing to guard.
_PIN: Final = "271828"
_PEOPLE: Final = (DEALER, FLOOR, TECHNICIAN)
# A box that has not begun to answer after so long (s) never will.
PATIENCE: Final = 30.0
_CHEAP: Final = Cost(n=2, r=1, p=1)


class _Driver:
    """A technician's way to a device: through the box."""

    def __init__(self, box: RemoteBox, slot: str) -> None:
        self._box, self._slot = box, slot

    def __getattr__(self, call: str) -> Any:
        return lambda *arguments: self._box.device(self._slot, call, arguments)


class RemoteSlot:
    """A slot as its followers know it."""

    def __init__(self, box: RemoteBox, name: str, kind: str) -> None:
        self.driver = _Driver(box, name)
        self.kind = kind_named(kind)
        self.view = self.kind.blank

    def take(self, event: Any) -> None:
        """See what the machine told."""
        self.view = self.kind.fold(self.view, event)


class RemoteBox:
    """The box as its screen shows it. `powered`: whether it answers."""

    def __init__(self, house: RemoteHouse, machines: dict[str, Machine]) -> None:
        kinds: dict[str, Any] = {slot: machine.kind for slot, machine in machines.items()}
        self.table = Table(house.edition, house.submission, kinds)
        self.controller: Any = self
        self.slots: dict[str, Any] = {slot: RemoteSlot(self, slot, kind) for slot, kind in kinds.items()}
        self.powered = False
        self.refused: list[str] = []  # what the box would not have said
        self._house = house
        self._client: BoxClient | None = None
        self._seq = 0
        self._early: list[dict[str, Any]] | None = []
        self._tasks: set[asyncio.Task[Any]] = set()

    async def connect(self, path: Path, journal: Path) -> None:
        """Follow the table, and sign everybody on. What was recorded before is read from the journal."""
        self._early = []
        self._client = client = await BoxClient.connect(path, self._push)
        followed = await client.request("follow", told=True)
        for record in reader.read(journal, self._seq + 1, followed["seq"]):
            self._record(record.seq, record.kind, record.body)
        assert self.table.snapshot() == base64.b64decode(followed["state"]), "the box's state is not its journal's"
        early, self._early = self._early or [], None
        for told in early:
            self._push(told)
        for who in _PEOPLE:
            await client.request("sign_on", credential=who.credential, pin=_PIN)
        self.powered = True

    def _push(self, told: dict[str, Any]) -> None:
        if self._early is not None:  # the state that this follows is not in place yet
            self._early.append(told)
        elif "step" in told:
            step = {key: told["step"][key] for key in ("event", "decisions")}
            self._record(told["step"]["seq"], STEP, msgspec.json.encode(step))
        elif "told" in told:
            slot = told["told"]["slot"]
            event = lively(self._house.machines[slot].kind, told["told"])
            if event is not None:
                self.slots[slot].take(event)
                self._house.people.told(slot, event)

    def _record(self, seq: int, kind: str, body: bytes) -> None:
        """Follow one record of the journal."""
        self._seq = seq
        if kind == STEP:
            step = decode_step(body)
            decisions = self.table.step(step.event)
            assert decisions == step.decisions, f"record {seq} was decided otherwise"
            self._house.stepped(step.event, decisions)

    def submit(self, event: ev.Event) -> None:
        """Somebody says something to the box."""
        task = asyncio.get_running_loop().create_task(self._say(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _say(self, event: ev.Event) -> None:
        assert self._client is not None
        said = msgspec.to_builtins(event)
        who = said.pop("who", None)
        try:
            await self._client.request("say", event=said, by=DEALER.credential if who is None else who["credential"])
        except (Refused, NoBox, BoxLocked) as refused:
            self.refused.append(f"{refused.code} {refused}")

    async def device(self, slot: str, call: str, arguments: tuple[Any, ...]) -> Any:
        """A technician uses a device; the box gives the command its number."""
        assert self._client is not None
        more = {"mode": arguments[1].name.lower()} if call == "set_mode" else {}
        try:
            return await self._client.request("device", slot=slot, call=call, arguments=more, by=TECHNICIAN.credential)
        except NoBox as gone:
            raise LinkClosed(str(gone)) from gone

    async def bury(self) -> None:
        """Hang up."""
        self.powered = False
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._client is not None:
            await self._client.close()


class RemoteHouse(House):
    """Machines on ptys, `pitbox run` as a process of its own, people at its socket. `open` starts it, `close` ends it.

    Power leaves the box by `cut`: the process is killed, and starts again with `power_up`.
    """

    box: Any

    def __init__(self, game: str, folder: Path, *, seed: int, speed: float) -> None:
        """`folder`: empty; everything of this table is put there."""
        self.folder = folder
        asked = {slot: model for slot, model in layout(game).items() if slot.startswith(("keypad", "meter_sign"))}
        super().__init__(game, seed=seed, speed=speed, pace=1 / speed, models=asked)
        self._hosts: list[PtyHost] = []
        self._service: asyncio.subprocess.Process | None = None
        self._config: TableConfig | None = None

    def _start(self) -> Any:
        return RemoteBox(self, self.machines)

    def _ask_again(self) -> bool:
        """The box itself asks a device in doubt again."""
        return False

    def stepped(self, event: ev.Event, decisions: list[Decision]) -> None:
        """People see a step that is on disk."""
        self._stepped(event, decisions)

    async def open(self, *decks: str) -> None:
        """Plug the machines in, start the service, sign everybody on, bring decks."""
        for name, machine in self.machines.items():
            lay_out_trust(machine, self.folder)
            self._hosts.append(PtyHost(machine, self.folder / name))
        file = self.folder / "table.toml"
        file.write_text(table_toml(self.edition.game, {name: str(self.folder / name) for name in self.machines}))
        self._config = load_config(file)
        self._config.data.mkdir(mode=0o700)
        for who in _PEOPLE:
            add(self._config.people, who.credential, who.role, _PIN, cost=_CHEAP)
        await self._boot()
        await self.until(lambda: all(s.state == IN_SERVICE for s in self.controller.table.state.slots.values()), 3600)
        for back in decks:
            await self.bring(back)

    async def _boot(self) -> None:
        """Start the service and wait until it answers; what it said instead is the error."""
        assert self._config is not None
        log_file = self.folder / "service.log"
        with log_file.open("ab") as log:
            self._service = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "table_controller.cli", "run", "--config", str(self._config.path),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        for _ in range(round(PATIENCE / 0.05)):
            with suppress(NoBox):
                await self.box.connect(self._config.control.socket, self._config.journal.folder)
                self.people.look_again()
                return
            if self._service.returncode is not None:
                break
            await asyncio.sleep(0.05)
        raise NoBox(f"the box does not start: {log_file.read_text('utf-8', 'replace').strip()}")

    def cut(self) -> None:
        """Power leaves the box, at once and without a word."""
        if self._service is not None and self._service.returncode is None and self.box.powered:
            self.disk.cuts += 1
            self._service.kill()
            self.box.powered = False

    async def power_up(self) -> None:
        """Power comes back."""
        assert self._service is not None
        await self._service.wait()
        await self.box.bury()
        await self._boot()

    async def close(self) -> None:
        """End everything, in order; every card must still be in exactly one place."""
        await self.people.close()
        await self.box.bury()
        if self._service is not None and self._service.returncode is None:
            self._service.terminate()
            try:
                await asyncio.wait_for(self._service.wait(), PATIENCE)
            except TimeoutError:
                self._service.kill()
                await self._service.wait()
        for host in self._hosts:
            host.close()
        for machine in self.machines.values():
            machine.board.power_off()
        self.world.check()
