"""Replays a recorded fault into the real drivers, slot by slot at its recorded times, and reports what they do.

A recording is a capture, or the frames of a fault report. A fault report starts in mid-session and includes how that
session started, so the replay makes a new link. Without an identity or a status in the recording no handshake is
possible: then the events are only folded into a view, and no driver runs.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from devices.driver_events import DeviceView, LinkUp, Reported
from devices.kinds import KINDS, DriverEvent, kind_named
from devices.message_registry import KIND_MESSAGES, union_members
from devices.service import Service
from firmware_bridge import frame as fr
from firmware_bridge.capture import CapturedFrame
from firmware_bridge.commands import GetReport
from firmware_bridge.errors import BadCapture, PitboxError, PortMissing
from firmware_bridge.handshake import Trust
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from firmware_bridge.messages import DeviceHello, encode
from simulators.engine.recorded_machine import (
    RecordedMachine,
    RecordedMessage,
    RecordedSession,
    read_message,
    split_sessions,
)
from table_controller.controller.slot import AnySlot, Slot
from table_controller.diagnosis.fault_report import FrameAtFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.messages import Message
    from firmware_bridge.wire import Transport
    from table_controller.diagnosis.fault_report import FaultReport

    EventCallback = Callable[[float, str, Any], None]


class ReplayedSlot(NamedTuple):
    """The state of a slot after its replay: view, service state, and questions without a recorded answer."""

    slot: str
    kind: str
    view: DeviceView
    service: str
    linked: bool  # replayed through a driver and its link; otherwise folded only
    unanswered: tuple[str, ...]


def split_by_slot(packets: list[CapturedFrame]) -> dict[str, list[RecordedSession]]:
    """Split a recording into the sessions of its slots."""
    began = packets[0].time_ns if packets else 0
    slots: dict[str, list[CapturedFrame]] = {}
    for packet in packets:
        slots.setdefault(packet.slot, []).append(packet)
    return {slot: split for slot, mine in slots.items() if (split := split_sessions(mine, began))}


def packets_of(report: FaultReport) -> list[CapturedFrame]:
    """Return the frames of a fault report as capture packets, its opening first. A fault report stores no MAC."""
    begins = max((kept.before_ms for kept in report.frames), default=0)
    opening = [_packet(report, begins, kept) for kept in report.opening]
    frames = [_packet(report, kept.before_ms, kept) for kept in report.frames]
    packets = [packet for packet in (*opening, *frames) if packet is not None]
    messages = [read_message(packet.frame.payload) for packet in packets]
    if not any(isinstance(message, DeviceHello) for message in messages):
        packets[:0] = _hello_of(report, begins, messages)
    return packets


def _packet(report: FaultReport, before_ms: int, kept: FrameAtFault) -> CapturedFrame | None:
    sealed = bool(kept.data) and kept.data[0] & fr.SEALED
    frame = fr.parse(kept.data + bytes(fr.MAC_SIZE if sealed else 0) + bytes(fr.CRC_SIZE))
    at = report.at_ns - before_ms * 1_000_000
    return None if frame is None else CapturedFrame(report.machine.slot, at, kept.outgoing, False, "", frame)


def _hello_of(report: FaultReport, before_ms: int, messages: list[Message | None]) -> list[CapturedFrame]:
    """Return a hello built from a fault report; none if it holds too little for a handshake."""
    machine = report.machine
    stood = machine.kind in KINDS and any(isinstance(m, kind_named(machine.kind).messages.Status) for m in messages)
    if not stood or not machine.serial:
        return []
    hello = DeviceHello(
        machine.kind, machine.serial, machine.model, machine.firmware, bytes.fromhex(machine.digest),
        list(machine.capabilities), 0, bytes(16),
    )  # fmt: skip
    head = fr.pack_header(0, fr.HANDSHAKE, fr.FIRST_SEQ, 0, fr.NO_RE, fr.FIRST_COUNTER)
    packet = _packet(report, before_ms, FrameAtFault(before_ms, False, head + encode(hello)))
    return [] if packet is None else [packet]


def kind_of(slot: str, played: list[RecordedSession]) -> str:
    """Return the kind of machine of a recording, by its hello, its slot's name, or its events."""
    for session in played:
        if session.hello is not None:
            return session.hello.kind
    if slot.partition(".")[0] in KINDS:
        return slot.partition(".")[0]
    own = {message: machine.KIND for machine in KIND_MESSAGES for message in union_members(machine.Event)}
    for session in played:
        for recorded in session.messages:
            if type(recorded.message) in own:
                return str(own[type(recorded.message)])
    raise BadCapture(f"the frames of {slot} do not show the kind of machine")


async def replay(packets: list[CapturedFrame], on_event: EventCallback) -> list[ReplayedSlot]:
    """Replay all slots in parallel; `on_event(seconds, slot, event)` is called for every event of the drivers."""
    slots = split_by_slot(packets)
    if not slots:
        raise BadCapture("it contains no message that could be played")
    began = asyncio.get_running_loop().time()
    players = [_Player(slot, played, on_event, began) for slot, played in slots.items()]
    return list(await asyncio.gather(*(player.run() for player in players)))


class _Player:
    """One slot's recording."""

    def __init__(self, slot: str, played: list[RecordedSession], on_event: EventCallback, began: float) -> None:
        self._slot, self._sessions, self._on_event, self._began = slot, played, on_event, began
        self._kind = kind_named(kind_of(slot, played))
        self._rng = Random(slot)
        self._machine: RecordedMachine | None = None
        self._reported = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._unanswered: list[str] = []

    async def run(self) -> ReplayedSlot:
        hellos = [session.hello for session in self._sessions]
        if None in hellos:
            return await self._folded()
        key = DeviceKey(hellos[0].serial, self._kind.name, self._rng.randbytes(32))  # type: ignore[union-attr]
        approved = frozenset(ApprovedFirmware(h.kind, h.firmware, h.digest) for h in hellos if h is not None)
        keys = {h.serial: DeviceKey(h.serial, h.kind, key.key) for h in hellos if h is not None}
        service = Service()

        def on_event(event: DriverEvent) -> None:
            service.apply_report(self._kind.trigger(event), unsettled=bool(slot.view.unsettled))
            self._on_driver_event(event)

        trust = Trust(self._kind.name, keys, approved)
        slot = Slot(self._slot, self._kind, self._open, trust, on_event, jitter=self._rng)
        slot.start()
        try:
            for session in self._sessions:
                assert session.hello is not None
                await self._session(session, session.hello, keys[session.hello.serial], slot)
            view, state = slot.view, service.state
        finally:
            self._on_event = _silent
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await slot.close()
        return ReplayedSlot(self._slot, self._kind.name, view, state, True, tuple(self._unanswered))

    async def _open(self) -> Transport:
        if self._machine is None:
            raise PortMissing("the recording has not begun")
        return await self._machine.open()

    async def _session(self, session: RecordedSession, hello: DeviceHello, key: DeviceKey, slot: AnySlot) -> None:
        loop = asyncio.get_running_loop()
        wait = self._began + session.messages[0].at - loop.time()
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
            return  # it did not report in the recording either
        first = [recorded for recorded in session.messages if isinstance(recorded.message, GetReport)][:1]
        await machine.play(self._began, lambda recorded: None if recorded in first else self._again(recorded, slot))

    def _again(self, recorded: RecordedMessage, slot: AnySlot) -> None:
        """Have the driver repeat its commands and report requests; other questions change nothing."""
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
        if name == "Eject":  # its driver also reports when hands have the cards
            await driver.eject(command)
        else:
            await driver.actuate(message, command, urgent=name == "Stop")

    async def _quietly(self, work: Any) -> None:
        try:
            await work
        except PitboxError as error:
            self._on_event(asyncio.get_running_loop().time() - self._began, self._slot, error)

    def _on_driver_event(self, event: DriverEvent) -> None:
        if isinstance(event, Reported):
            self._reported.set()
        self._on_event(asyncio.get_running_loop().time() - self._began, self._slot, event)

    async def _folded(self) -> ReplayedSlot:
        """Fold the recorded events, without a link."""
        loop = asyncio.get_running_loop()
        view, service = self._kind.initial_view, Service()
        hello = DeviceHello(self._kind.name, "recorded", "recorded", "recorded", bytes(32), [], 0, bytes(16))
        started: list[Any] = [LinkUp(hello)]
        for event in started:
            view = self._kind.fold(view, event)
            service.apply_report(self._kind.trigger(event), unsettled=False)
        for recorded in (each for session in self._sessions for each in session.messages):
            if recorded.outgoing or recorded.type != fr.EVENT:
                continue
            wait = self._began + recorded.at - loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
            view = self._kind.fold(view, recorded.message)
            service.apply_report(self._kind.trigger(recorded.message), unsettled=bool(view.unsettled))
            self._on_event(recorded.at, self._slot, recorded.message)
        return ReplayedSlot(self._slot, self._kind.name, view, service.state, False, ())


def _silent(_at: float, _slot: str, _event: Any) -> None:
    """Ignore events during shutdown."""
