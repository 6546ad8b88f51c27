"""Pushes the table to every open page by server-sent events. Shows nothing that is not on disk; takes nothing in.

Every message is the whole picture, so a page that reconnects, or missed any number of messages, is right again with the
next one. A page that reads slowly skips to the newest picture; nobody waits for it.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.controller.lock_window import LockWindow
from table_controller.panel.devices import devices, problem
from table_controller.panel.metrics import Tally
from table_controller.panel.view import finding, meter, testing, view
from table_controller.quota import Quota, origin_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from table_controller.controller.box import Box
    from table_controller.controller.loop import Step
    from table_controller.panel.archive import Archive
    from table_controller.quota import Origin, Seat

# Steps that come within so long (s) are one picture: faster than eyes, and a burst of bets costs one drawing.
GATHER: Final = 0.04
# How often machines are looked at while somebody watches them (s).
LOOK: Final = 0.25
# A stream says at least so often (s) that it lives; a page that hears nothing for three of them says so.
BEAT: Final = 2.0
# Pages that may follow at once: ten at a busy table, and room for forgotten ones. For whoever is signed on anywhere,
# and for them and the table's own screens; of them, for one credential and one screen.
PAGES: Final = (0, 40, 48)
PAGES_EACH: Final = (0, 16, 48)
# Meter signs at once, which need no credential: for strangers, for addresses where somebody signed on, and for all with
# the table's own screens; of them, for one network, one address and one screen.
SIGNS: Final = (8, 12, 16)
SIGNS_EACH: Final = (4, 4, 16)
# A sign's page may report what it shows once in so long (s).
REPORTS: Final = 0.2
# So many findings are shown; a kind has few, so that each kind of the important ones has its place.
FINDINGS: Final = 80
# What a stream without a role is shown: the meter sign.
SIGN: Final = "sign"
# Where a stream comes from that nobody opened over a network.
HERE: Final = origin_of("local", own=True)
# Who is shown what a technician must see to.
TECHNICAL: Final = ("floorperson", "technician")

_encode: Final = msgspec.json.Encoder().encode


class Stream:
    """One page's stream: per kind of message the newest one that was not sent."""

    def __init__(self, role: str, *, machines: bool, alive: Callable[[], bool]) -> None:
        self.role = role
        self.machines = machines
        self.alive = alive
        self.seat: tuple[Quota, Seat] | None = None
        self.ended = False
        self.page = secrets.token_urlsafe(16) if role == SIGN else ""  # by which the page that reads it is known
        self.reported = 0.0  # when that page last reported what it shows
        self._newest: dict[str, tuple[int, bytes]] = {}
        self._wake = asyncio.Event()

    def put(self, kind: str, seq: int, data: bytes) -> None:
        """Have this sent next, in place of an older one of its kind."""
        self._newest[kind] = (seq, data)
        self._wake.set()

    def end(self) -> None:
        """Say goodbye and stop."""
        self.ended = True
        self._wake.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield what is to be sent until the stream ends, or whoever opened it is signed off."""
        yield b"retry: 500\n\n"
        while not self.ended:
            if not self.alive():
                yield b"event: gone\ndata: {}\n\n"
                return
            try:
                async with asyncio.timeout(BEAT):
                    await self._wake.wait()
            except TimeoutError:
                yield b"event: beat\ndata: {}\n\n"
                continue
            self._wake.clear()
            ready, self._newest = self._newest, {}
            for kind, (seq, data) in ready.items():
                yield b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, kind.encode(), data)


class Live:
    """Everybody who follows the table. `close` ends every stream, so that the server can stop at once."""

    def __init__(self, box: Box, name: str, hints: Callable[[], dict[str, str]] | None = None) -> None:
        """`hints`: what simulated hands found, by question; a real table has none."""
        self._box = box
        self._hints = hints
        self._name = name
        self._loop = asyncio.get_running_loop()
        self.tally = Tally()
        self.streams: set[Stream] = set()
        self._pages = Quota(PAGES, PAGES_EACH)
        self._signs = Quota(SIGNS, SIGNS_EACH)
        self.archive: Archive | None = None
        self._waiting: dict[int, tuple[Any, asyncio.Future[Step]]] = {}
        self._due: asyncio.TimerHandle | None = None
        self._lock_window = LockWindow()
        self._looking: asyncio.TimerHandle | None = None
        self._machines = b""
        self._shown: tuple[Any, ...] = (None, None, [])  # what the newest pictures had of what no step announces
        self.closed = False
        if box.controller is not None:
            self.tally.seq = box.controller.durable
            box.controller.followers.append(self.take)
            box.controller.on_noted.append(self.renew)

    # --- from the table -----------------------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        """A step is on disk: whoever said it is told, and everybody is shown what came of it."""
        self.tally.take(step)
        waiting = self._waiting.pop(id(step.event), None)
        if waiting is not None and not waiting[1].done():
            waiting[1].set_result(step)
        if self.archive is not None:
            self.archive.take(step)
        self.renew()

    def expect(self, event: Any) -> asyncio.Future[Step]:
        """Return what will be the step of an event that is submitted next."""
        future: asyncio.Future[Step] = self._loop.create_future()
        self._waiting[id(event)] = (event, future)  # the event is kept, so that its id stays its own
        return future

    def forget(self, event: Any) -> None:
        """Nobody waits for this event any more."""
        self._waiting.pop(id(event), None)

    # --- to the pages -------------------------------------------------------------------------------------------------

    def follow(self, role: str, origin: Origin = HERE, *, machines: bool, alive: Callable[[], bool]) -> Stream | None:
        """Begin a stream; None if there are too many. Signs and pages do not take each other's places."""
        places = self._signs if role == SIGN else self._pages
        seat = None if self.closed else places.admit(origin)
        if seat is None:
            return None
        stream = Stream(role, machines=machines, alive=alive)
        stream.seat = (places, seat)
        self.streams.add(stream)
        if stream.page:
            stream.put("page", 0, _encode({"page": stream.page}))
        self._machines = b""  # the new one has seen nothing yet
        self.renew()
        self._look()
        return stream

    def sign_shown(self, page: str, text: str) -> str:
        """A sign's page reports what can be read on it; return why that counts for nothing, empty if it counts."""
        stream = next((one for one in self.streams if one.page and secrets.compare_digest(one.page, page)), None)
        if stream is None:
            return "no open sign page has this number"
        now = self._loop.time()
        if now - stream.reported < REPORTS:
            return "this page reported a moment ago"
        stream.reported = now
        if self._box.sign is None or not self._box.sign.page_shown(text):
            return "this is not the amount of the meter"
        return ""

    def leave(self, stream: Stream) -> None:
        """A page is gone."""
        self.streams.discard(stream)
        if stream.seat is not None:
            places, seat = stream.seat
            places.release(seat)

    def renew(self) -> None:
        """Have everybody shown the table as it is, soon."""
        if self._due is None and self.streams and not self.closed:
            self._due = self._loop.call_later(GATHER, self._show)

    def _show(self) -> None:
        self._due = None
        if self.locking():
            self.renew()
            return
        controller = self._box.controller
        if controller is not None and controller.halted is None and controller.durable < controller.newest:
            return  # the state is ahead of the disk; the step that brings it there calls again
        self._shown = self._unannounced()
        pictures: dict[str, bytes] = {}
        for stream in tuple(self.streams):
            if stream.role not in pictures:
                pictures[stream.role] = _encode(self.picture(stream.role))
            stream.put("state", self.tally.seq, pictures[stream.role])

    def _unannounced(self) -> tuple[Any, ...]:
        """Return what pages show and no step announces: why the box halted, hints, notices."""
        return self._box.cause, None if self._hints is None else self._hints(), self._box.surroundings.notices

    def locking(self) -> bool:
        """Whether sensors are being locked: then the loop is theirs, and pictures wait."""
        controller = self._box.controller
        if controller is None or controller.halted is not None:
            return False
        return self._lock_window.is_open(controller.table.state)

    def picture(self, role: str) -> dict[str, Any]:
        """Return what somebody of this role is shown."""
        controller = self._box.controller
        picture: dict[str, Any] = {"seq": self.tally.seq, "table": self._name, "halted": problem(self._box.cause)}
        if controller is None:
            return picture
        picture["testing"] = testing(controller.table)
        if role == SIGN:
            return picture | {
                "meter": meter(controller.table, controller.shown_money),
                "game": controller.table.context.edition.title,
            }
        picture["notices"] = [notice.sentence for notice in self._box.surroundings.notices] if role in TECHNICAL else []
        picture |= view(controller.table, role, controller.time_left(), controller.shown_money)
        if self._hints is not None:
            picture["hints"] = self._hints()
        picture["findings"] = [finding(one) for one in controller.findings.listed()[:FINDINGS]]
        if self._box.presence is not None:
            dealer = self._box.presence.dealer
            picture["dealer"] = None if dealer is None else dealer.credential
        return picture

    # --- machines, and what no step tells -----------------------------------------------------------------------------

    def _look(self) -> None:
        """Look at the machines as long as anybody is there; a box that halts meanwhile is shown so."""
        if self._looking is not None:
            self._looking.cancel()
        self._looking = None
        if self.closed or not self.streams:
            return
        self._looking = self._loop.call_later(LOOK, self._look)
        if self._unannounced() != self._shown:
            self.renew()
        watching = [stream for stream in self.streams if stream.machines and not self.locking()]
        if watching:
            controller = self._box.controller
            table = None if controller is None else controller.table
            data = _encode(devices(self._box, table))
            if data != self._machines:
                self._machines = data
                for stream in watching:
                    stream.put("machines", self.tally.seq, data)

    def close(self) -> None:
        """Follow no more; end every stream."""
        self.closed = True
        controller = self._box.controller
        if controller is not None and self.take in controller.followers:
            controller.followers.remove(self.take)
            controller.on_noted.remove(self.renew)
        for handle in (self._due, self._looking):
            if handle is not None:
                handle.cancel()
        for stream in tuple(self.streams):
            stream.end()
        for _, future in self._waiting.values():
            future.cancel()
