"""Pushes the state of the table to every open page by server-sent events, only after it is on disk.

Every message is the whole state, so a page that reconnects or missed messages is right with the next one. A slow page
skips to the newest state.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.host.quota import Quota, origin_of
from table_controller.panel.devices import devices, error_view
from table_controller.panel.metrics import EventCounters
from table_controller.panel.view import finding_view, machines_in_test_mode, public_meter_view, table_view
from table_controller.rulebook.posting.build import build_posting
from table_controller.rulebook.settlement.terms import SettlementTerms

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from table_controller.controller.box import Box
    from table_controller.controller.controller import DurableStep
    from table_controller.host.quota import Admission, Origin
    from table_controller.panel.round_index import RoundIndex

# Steps within this time (s) become one message, so that a burst of bets costs one update.
GATHER_S: Final = 0.04
# Interval of machine updates while a page shows them (s).
LOOK_S: Final = 0.25
# Interval of heartbeats (s); a page that receives nothing for three of them shows a warning.
HEARTBEAT_S: Final = 2.0
# Most pages: ten at a busy table, and forgotten ones. For people signed on anywhere, and for them with the table's own
# screens; below, for one credential and one screen.
PAGES: Final = (0, 40, 48)
PAGES_EACH: Final = (0, 16, 48)
# Most meter signs, which need no credential: for strangers, with known addresses, and with the table's own screens;
# below, for one network, one known address and one screen.
SIGNS: Final = (8, 12, 16)
SIGNS_EACH: Final = (4, 4, 16)
# A sign page may report at most once in this time (s).
REPORT_EVERY_S: Final = 0.2
# Most findings on a page; each kind has few, so that every important kind fits.
MAX_FINDINGS: Final = 80
# The role of a meter sign's stream, which has no person.
SIGN: Final = "sign"
# The origin of a stream that does not come over a network.
LOCAL_ORIGIN: Final = origin_of("local", own=True)
# Roles that see the notices for technicians.
TECHNICAL_ROLES: Final = ("floorperson", "technician")

_encode: Final = msgspec.json.Encoder().encode


class PageStream:
    """One page's stream: for each kind of message, the newest one that is not sent yet."""

    def __init__(self, role: str, *, machines: bool, alive: Callable[[], bool]) -> None:
        self.role = role
        self.machines = machines
        self.alive = alive
        self.seat: tuple[Quota, Admission] | None = None
        self.ended = False
        self.page = secrets.token_urlsafe(16) if role == SIGN else ""  # identifies the sign page in its reports
        self.reported = 0.0  # when that page last reported
        self._newest: dict[str, tuple[int, bytes]] = {}
        self._wake = asyncio.Event()

    def put(self, kind: str, seq: int, data: bytes) -> None:
        """Queue a message in place of an older one of its kind."""
        self._newest[kind] = (seq, data)
        self._wake.set()

    def end(self) -> None:
        """End the stream."""
        self.ended = True
        self._wake.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield messages until the stream ends, or its person is signed off."""
        yield b"retry: 500\n\n"
        while not self.ended:
            if not self.alive():
                yield b"event: gone\ndata: {}\n\n"
                return
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await self._wake.wait()
            except TimeoutError:
                yield b"event: beat\ndata: {}\n\n"
                continue
            self._wake.clear()
            ready, self._newest = self._newest, {}
            for kind, (seq, data) in ready.items():
                yield b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, kind.encode(), data)


class LivePages:
    """The open pages of one table. `close` ends every stream, so that the server can stop at once."""

    def __init__(self, box: Box, name: str, hints: Callable[[], dict[str, str]] | None = None) -> None:
        """`hints`: what the simulated dealer found, by question; a real table has none."""
        self._box = box
        self.posting = build_posting(SettlementTerms(box.plan.edition, box.plan.submission))
        self._hints = hints
        self._name = name
        self._loop = asyncio.get_running_loop()
        self.tally = EventCounters()
        self.streams: set[PageStream] = set()
        self._pages = Quota(PAGES, PAGES_EACH)
        self._signs = Quota(SIGNS, SIGNS_EACH)
        self.archive: RoundIndex | None = None
        self._due: asyncio.TimerHandle | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._machines = b""
        self._shown: tuple[Any, ...] = (None, None, [])  # the last sent parts that no step announces
        self.closed = False
        if box.controller is not None:
            self.tally.seq = box.controller.durable_seq
            box.controller.followers.append(self.on_step)
            box.controller.on_noted.append(self.schedule_update)

    # --- from the table -----------------------------------------------------------------------------------------------

    def on_step(self, step: DurableStep) -> None:
        """Count a durable step, and update all pages."""
        self.tally.add_step(step)
        if self.archive is not None:
            self.archive.add_step(step)
        self.schedule_update()

    # --- to the pages -------------------------------------------------------------------------------------------------

    def open_stream(
        self, role: str, origin: Origin = LOCAL_ORIGIN, *, machines: bool, alive: Callable[[], bool]
    ) -> PageStream | None:
        """Open a stream; None if there are too many. Signs and pages have separate limits."""
        places = self._signs if role == SIGN else self._pages
        seat = None if self.closed else places.admit(origin)
        if seat is None:
            return None
        stream = PageStream(role, machines=machines, alive=alive)
        stream.seat = (places, seat)
        self.streams.add(stream)
        if stream.page:
            stream.put("page", 0, _encode({"page": stream.page}))
            stream.put("posting", 0, _encode(self.posting))
        self._machines = b""  # the new page needs a first message
        self.schedule_update()
        self._look()
        return stream

    def sign_shown(self, page: str, text: str, posting: str) -> str:
        """Process the report of a sign page; return why it is refused, empty if it is accepted."""
        stream = next((one for one in self.streams if one.page and secrets.compare_digest(one.page, page)), None)
        if stream is None:
            return "no open sign page has this id"
        now = self._loop.time()
        if now - stream.reported < REPORT_EVERY_S:
            return "this page reported too recently"
        stream.reported = now
        if self._box.meter_signs is None:
            return "the box is locked"
        return self._box.meter_signs.on_page_report(text, posting)

    def close_stream(self, stream: PageStream) -> None:
        """Remove a closed page, and release its place."""
        self.streams.discard(stream)
        if stream.seat is not None:
            places, seat = stream.seat
            places.release(seat)

    def on_older_findings(self) -> None:
        """Show findings that were read from older records."""
        self._box.pictures.forget()
        self.schedule_update()

    def schedule_update(self) -> None:
        """Schedule an update of all pages."""
        if self._due is None and self.streams and not self.closed:
            self._due = self._loop.call_later(GATHER_S, self._show)

    def _show(self) -> None:
        self._due = None
        if self._box.pictures.is_locking():
            self.schedule_update()
            return
        controller = self._box.controller
        if controller is not None and controller.halted is None and not controller.is_on_disk:
            return  # the state is not durable yet; the next durable step calls again
        self._shown = self._unannounced()
        views: dict[str, bytes] = {}
        for stream in tuple(self.streams):
            if stream.role not in views:
                views[stream.role] = _encode(self.view(stream.role))
            stream.put("state", self.tally.seq, views[stream.role])

    def _unannounced(self) -> tuple[Any, ...]:
        """Return the shown parts that no step announces: the cause of a halt, hints, notices."""
        return self._box.cause, None if self._hints is None else self._hints(), self._box.notice_watch.notices

    def view(self, role: str) -> dict[str, Any]:
        """Return what a page of this role shows."""
        box, table = self._box, self._box.pictures.table()
        view: dict[str, Any] = {"seq": self.tally.seq, "table": self._name, "halted": error_view(box.cause)}
        if table is None or box.controller is None:
            return view
        view["testing"] = machines_in_test_mode(table)
        if role == SIGN:
            return view | {"meter": public_meter_view(table), "game": table.rules.title}
        view["notices"] = [notice.sentence for notice in box.notice_watch.notices] if role in TECHNICAL_ROLES else []
        view |= table_view(table, role, box.controller.time_left())
        if self._hints is not None:
            view["hints"] = self._hints()
        view["findings"] = [finding_view(one) for one in table.findings[:MAX_FINDINGS]]
        dealer = box.dealer()
        view["dealer"] = None if dealer is None else dealer.credential
        return view

    # --- machines and unannounced changes -----------------------------------------------------------------------------

    def _look(self) -> None:
        """Update machines and unannounced changes while any page is open."""
        if self._looking is not None:
            self._looking.cancel()
        self._looking = None
        if self.closed or not self.streams:
            return
        self._looking = self._loop.call_later(LOOK_S, self._look)
        if self._unannounced() != self._shown:
            self.schedule_update()
        watching = [stream for stream in self.streams if stream.machines and not self._box.pictures.is_locking()]
        if watching:
            data = _encode(devices(self._box))
            if data != self._machines:
                self._machines = data
                for stream in watching:
                    stream.put("machines", self.tally.seq, data)

    def close(self) -> None:
        """Stop following the table, and end every stream."""
        self.closed = True
        controller = self._box.controller
        if controller is not None and self.on_step in controller.followers:
            controller.followers.remove(self.on_step)
            controller.on_noted.remove(self.schedule_update)
        for handle in (self._due, self._looking):
            if handle is not None:
                handle.cancel()
        for stream in tuple(self.streams):
            stream.end()
