"""The panel of one box, without the web server: live pages, sessions, requests, and their shared parts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from table_controller.host.quota import Screens, origin_of
from table_controller.panel.documents import DocumentPages
from table_controller.panel.history import LinkHistory
from table_controller.panel.journal_access import JournalAccess
from table_controller.panel.live import LivePages
from table_controller.panel.page_requests import PageRequests
from table_controller.panel.round_index import RoundIndex
from table_controller.panel.sessions import PanelSessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from table_controller.access.people_file import CredentialHolder
    from table_controller.controller.box import Box
    from table_controller.host.quota import Origin
    from table_controller.panel.journal_access import ThreadRunner
    from table_controller.panel.page_requests import Check
    from table_controller.panel.sessions import PanelSession


class SimulatedMachines(Protocol):
    """Controls of simulated machines; a real table has none."""

    def faults(self) -> dict[str, list[tuple[str, str]]]:
        """Return the faults of each machine, with their meaning."""

    def inject(self, slot: str, fault: str) -> str:
        """Inject a fault; return what happened. BadFault if there is no such fault."""

    def hints(self) -> dict[str, str]:
        """Return what the simulated dealer found, by question."""


class Panel:
    """`secure`: served with TLS. `local`: on a loopback address only. `status`: returns the box's own metrics.

    `in_thread` runs file access; tests without threads replace it. `data`: the box's data folder, if it has one.
    `unverified`: the software is not approved, and every page shows it. `screens`: addresses of the table's own
    screens. `metrics_token`: lets a program on another computer read the metrics.
    """

    def __init__(
        self,
        box: Box,
        check: Check,
        *,
        name: str,
        secure: bool = False,
        local: bool = True,
        bench: SimulatedMachines | None = None,
        status: Callable[[], str] = str,
        in_thread: ThreadRunner = asyncio.to_thread,
        data: Path | None = None,
        unverified: bool = False,
        screens: Iterable[str] = (),
        metrics_token: str | None = None,
    ) -> None:
        self.box = box
        self._screens = Screens(screens)
        self.name = name
        self.unverified = unverified
        self.metrics_token = metrics_token
        self.secure = secure
        self.local = local
        self.bench = bench
        self.status = status
        self.data = data
        self.live = LivePages(box, name, None if bench is None else bench.hints)
        self.journal = JournalAccess(lambda: box.store, in_thread, box.pictures.is_locking)
        if box.controller is not None:
            self.live.archive = RoundIndex(box.controller, self.journal, self.live.on_older_findings)
            self.live.archive.begin()
        self.documents = DocumentPages(box, self.journal)
        self.links = LinkHistory(box, lambda: box.clock.now()[0])
        self.requests = PageRequests(box, check)
        self.sessions = PanelSessions(asyncio.get_running_loop().time, self._signed_off)

    def origin(self, peer: str, local: str) -> Origin:
        """Return the origin of a peer. `local` is the address of this box that it reached."""
        if self._screens.includes(peer, local):
            return origin_of(peer, own=True)
        return origin_of(peer, known=self.box.plan.people.is_known_address(peer))

    def signed_on(self, who: CredentialHolder) -> str:
        """Begin a session for a person and record the sign-on; return the session's token."""
        token = self.sessions.begin(who)
        if self.box.presence is not None:
            self.box.presence.sign_on(who.event_person, who.proof)
        self.live.schedule_update()
        return token

    def _signed_off(self, session: PanelSession) -> None:
        presence = self.box.presence
        if presence is not None and not self.live.closed:
            presence.sign_off(session.who.event_person, session.who.proof)
            self.live.schedule_update()

    def close(self) -> None:
        """Close every page; the table plays on."""
        self.links.close()
        if self.live.archive is not None:
            self.live.archive.close()
        self.live.close()
