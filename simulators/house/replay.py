"""Plays a recorded fault into the real drivers: slot by slot, in its own time, and tells what they make of it.

A recording is a capture, or the frames of a dossier. A dossier begins in the middle of a session and brings along what
that had begun with, so a link of the bench's own is made anew. Where nothing tells who spoke, or where it stood, there
is nobody to shake hands with: then the events are folded, and the driver is asked nothing.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from devices.kinds import KINDS, kind_named
from devices.registry import MACHINES, members
from devices.report import LinkUp, Reported
from devices.service import Service
from firmware_bridge import frame as fr
from firmware_bridge.capture import Packet
from firmware_bridge.commands import GetReport
from firmware_bridge.errors import BadCapture, PitboxError, PortMissing
from firmware_bridge.handshake import Trust
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from firmware_bridge.messages import DeviceHello, encode
from simulators.recorded import RecordedMachine, Said, Session, read_message, sessions
from table_controller.controller.slot import Slot
from table_controller.diagnosis.dossier import Frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.messages import Message
    from firmware_bridge.wire import Transport
    from table_controller.diagnosis.dossier import Dossier

    Tell = Callable[[float, str, Any], None]


class Played(NamedTuple):
    """What is known of a slot after its recording: the folded picture, its service state, what could not be said."""

    slot: str
    kind: str
    view: Any
    service: str
    linked: bool  # through a driver and its link; otherwise folded only
    unanswered: tuple[str, ...]


def by_slot(packets: list[Packet]) -> dict[str, list[Session]]:
    """Cut a recording into the sessions of its slots."""
    began = packets[0].time_ns if packets else 0
    slots: dict[str, list[Packet]] = {}
    for packet in packets:
        slots.setdefault(packet.slot, []).append(packet)
    return {slot: split for slot, mine in slots.items() if (split := sessions(mine, began))}


def packets_of(dossier: Dossier) -> list[Packet]:
    """Return the frames of a dossier as a capture has them, its opening at once before them. A dossier keeps no MAC."""
    begins = max((kept.before_ms for kept in dossier.frames), default=0)
    opening = [_packet(dossier, begins, kept) for kept in dossier.opening]
    frames = [_packet(dossier, kept.before_ms, kept) for kept in dossier.frames]
    packets = [packet for packet in (*opening, *frames) if packet is not None]
    messages = [read_message(packet.frame.payload) for packet in packets]
    if not any(isinstance(message, DeviceHello) for message in messages):
        packets[:0] = _hello_of(dossier, begins, messages)
    return packets


def _packet(dossier: Dossier, before_ms: int, kept: Frame) -> Packet | None:
    sealed = bool(kept.data) and kept.data[0] & fr.SEALED
    frame = fr.parse(kept.data + bytes(fr.MAC_SIZE if sealed else 0) + bytes(fr.CRC_SIZE))
    at = dossier.at_ns - before_ms * 1_000_000
    return None if frame is None else Packet(dossier.machine.slot, at, kept.outgoing, False, "", frame)


def _hello_of(dossier: Dossier, before_ms: int, messages: list[Message | None]) -> list[Packet]:
    """Return a hello by what a dossier tells of its machine; none if it tells too little to shake hands."""
    machine = dossier.machine
    stood = machine.kind in KINDS and any(isinstance(m, kind_named(machine.kind).messages.Status) for m in messages)
    if not stood or not machine.serial:
        return []
    hello = DeviceHello(
        machine.kind, machine.serial, machine.model, machine.firmware, bytes.fromhex(machine.digest),
        list(machine.capabilities), 0, bytes(16),
    )  # fmt: skip
    head = fr.head(0, fr.HANDSHAKE, fr.FIRST_SEQ, 0, fr.NO_RE, fr.FIRST_COUNTER)
    packet = _packet(dossier, before_ms, Frame(before_ms, False, head + encode(hello)))
    return [] if packet is None else [packet]


def kind_of(slot: str, played: list[Session]) -> str:
    """Return what kind of machine a recording is of: by its hello, its slot's name, or what it says."""
    for session in played:
        if session.hello is not None:
            return session.hello.kind
    if slot.partition(".")[0] in KINDS:
        return slot.partition(".")[0]
    own = {message: machine.KIND for machine in MACHINES for message in members(machine.Event)}
    for session in played:
        for recorded in session.said:
            if type(recorded.message) in own:
                return str(own[type(recorded.message)])
    raise BadCapture(f"nothing in the frames of {slot} tells what kind of machine it is")


async def replay(packets: list[Packet], tell: Tell) -> list[Played]:
    """Play everything beside each other; `tell(seconds, slot, event)` hears what the drivers tell."""
    slots = by_slot(packets)
    if not slots:
        raise BadCapture("it holds no message that could be played")
    began = asyncio.get_running_loop().time()
    players = [_Player(slot, played, tell, began) for slot, played in slots.items()]
    return list(await asyncio.gather(*(player.run() for player in players)))


class _Player:
    """One slot's recording."""

    def __init__(self, slot: str, played: list[Session], on_event: Tell, began: float) -> None:
        self._slot, self._sessions, self._on_event, self._began = slot, played, on_event, began
        self._kind = kind_named(kind_of(slot, played))
        self._rng = Random(slot)
        self._machine: RecordedMachine | None = None
        self._reported = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._unanswered: list[str] = []

    async def run(self) -> Played:
        hellos = [session.hello for session in self._sessions]
        if None in hellos:
            return await self._folded()
        key = DeviceKey(hellos[0].serial, self._kind.name, self._rng.randbytes(32))  # type: ignore[union-attr]
        approved = frozenset(ApprovedFirmware(h.kind, h.firmware, h.digest) for h in hellos if h is not None)
        keys = {h.serial: DeviceKey(h.serial, h.kind, key.key) for h in hellos if h is not None}
        slot: Slot[Any, Any] = Slot(
            self._slot,
            self._kind,
            self._open,
            Trust(self._kind.name, keys, approved),
            self._on_driver_event,
            jitter=self._rng,
        )
        slot.start()
        try:
            for session in self._sessions:
                assert session.hello is not None
                await self._session(session, session.hello, keys[session.hello.serial], slot)
            view, service = slot.view, slot.service.state
        finally:
            self._on_event = _silent
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await slot.close()
        return Played(self._slot, self._kind.name, view, service, True, tuple(self._unanswered))

    async def _open(self) -> Transport:
        if self._machine is None:
            raise PortMissing("the recording has not begun")
        return await self._machine.open()

    async def _session(self, session: Session, hello: DeviceHello, key: DeviceKey, slot: Slot[Any, Any]) -> None:
        loop = asyncio.get_running_loop()
        wait = self._began + session.said[0].at - loop.time()
        if wait > 0:
            await asyncio.sleep(wait)
        if self._machine is not None:
            self._machine.unplug()
        self._reported.clear()
        machine = RecordedMachine(session, hello, key, self._rng, self._kind.messages.ToDevice)
        machine.unanswered = self._unanswered
        self._machine = machine
        try:
            async with asyncio.timeout(10.0):
                await self._reported.wait()
        except TimeoutError:
            return  # it never reported in the recording either
        first = [recorded for recorded in session.said if isinstance(recorded.message, GetReport)][:1]
        await machine.play(self._began, lambda recorded: None if recorded in first else self._again(recorded, slot))

    def _again(self, recorded: Said, slot: Slot[Any, Any]) -> None:
        """Have the driver do what it did then: commands and reports; other questions change nothing."""
        command = getattr(recorded.message, "command", None)
        if isinstance(recorded.message, GetReport):
            work = self._quietly(slot.driver.report())
        elif command is not None and isinstance(recorded.message, self._kind.messages.Actuation):
            work = self._quietly(self._command(recorded.message, command, slot.driver))
        else:
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _command(self, message: Any, command: int, driver: Any) -> None:
        name = type(message).__name__
        if name == "Eject":  # its driver tells when the cards are in people's hands
            await driver.eject(command)
        else:
            await driver.actuate(message, command, urgent=name == "Stop")

    async def _quietly(self, work: Any) -> None:
        try:
            await work
        except PitboxError as error:
            self._on_event(asyncio.get_running_loop().time() - self._began, self._slot, error)

    def _on_driver_event(self, event: Any) -> None:
        if isinstance(event, Reported):
            self._reported.set()
        self._on_event(asyncio.get_running_loop().time() - self._began, self._slot, event)

    async def _folded(self) -> Played:
        """Fold what machines said, without a link."""
        loop = asyncio.get_running_loop()
        view, service = self._kind.blank, Service()
        hello = DeviceHello(self._kind.name, "recorded", "recorded", "recorded", bytes(32), [], 0, bytes(16))
        started: list[Any] = [LinkUp(hello)]
        for event in started:
            view = self._kind.fold(view, event)
            service.take(self._kind.trigger(event), unsettled=False)
        for recorded in (each for session in self._sessions for each in session.said):
            if recorded.outgoing or recorded.type != fr.EVENT:
                continue
            wait = self._began + recorded.at - loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
            view = self._kind.fold(view, recorded.message)
            service.take(self._kind.trigger(recorded.message), unsettled=bool(view.unsettled))
            self._on_event(recorded.at, self._slot, recorded.message)
        return Played(self._slot, self._kind.name, view, service.state, False, ())


def _silent(_at: float, _slot: str, _event: Any) -> None:
    """Nobody hears what comes of putting things away."""
