"""One box's panel: what it follows, who is signed on, and what its parts share. No web server here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from table_controller.panel.desk import Desk
from table_controller.panel.live import Live
from table_controller.panel.sessions import Sessions
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firmware_bridge.errors import PitboxError
    from table_controller.controller.dossiers import Dossiers
    from table_controller.controller.loop import Controller
    from table_controller.controller.presence import Presence
    from table_controller.controller.slot import Slot
    from table_controller.panel.desk import Check
    from table_controller.panel.sessions import Session
    from table_controller.people import Person


class Box(Protocol):
    """What a panel needs of a box."""

    @property
    def controller(self) -> Controller | None:
        """Who runs the table; None if the journal cannot be taken."""

    @property
    def slots(self) -> Mapping[str, Slot[Any, Any]]:
        """The machines."""

    @property
    def presence(self) -> Presence | None:
        """Who deals."""

    @property
    def cause(self) -> PitboxError | None:
        """Why nothing goes on, if nothing does."""

    def holds(self, who: ev.Person, proof: str = "", /) -> bool:
        """Tell whether a credential was not revoked since somebody signed on with it."""

    @property
    def guards(self) -> list[Callable[[ev.Event], None]]:
        """Who raises what speaks against something that people say."""

    @property
    def dossiers(self) -> Dossiers | None:
        """The frozen faults of its machines, if it keeps any."""


class Bench(Protocol):
    """What can be done to simulated machines; a real table has none."""

    def faults(self) -> dict[str, list[tuple[str, str]]]:
        """Return the faults that each machine knows, with their meaning."""

    def inject(self, slot: str, fault: str) -> str:
        """Do something to a machine; return what happened. BadFault if there is no such fault."""

    def hints(self) -> dict[str, str]:
        """Return what simulated hands found, by question."""


class Panel:
    """`secure`: served with TLS. `local`: on a loopback address only. `status`: the box's own page of metrics."""

    def __init__(
        self,
        box: Box,
        check: Check,
        *,
        name: str,
        secure: bool = False,
        local: bool = True,
        bench: Bench | None = None,
        status: Callable[[], str] = str,
    ) -> None:
        self.box = box
        self.secure = secure
        self.local = local
        self.bench = bench
        self.status = status
        self.live = Live(box, name, None if bench is None else bench.hints)
        self.desk = Desk(box, self.live, check)
        self.sessions = Sessions(asyncio.get_running_loop().time, self._signed_off)

    def signed_on(self, who: Person) -> str:
        """Somebody proved who they are: begin a session, tell the table; return the session's token."""
        token = self.sessions.begin(who)
        if self.box.presence is not None:
            self.box.presence.signed_on(ev.Person(who.role, who.id), who.proof)
        self.live.renew()
        return token

    def _signed_off(self, session: Session) -> None:
        presence = self.box.presence
        if presence is not None and not self.live.closed:
            presence.signed_off(ev.Person(session.who.role, session.who.id), session.who.proof)
            self.live.renew()

    def close(self) -> None:
        """Let every page go; the table goes on without them."""
        self.live.close()
