"""A slot: one device's place at the table. Keeps its link, folds its events, moves its service. No rules."""

from __future__ import annotations

import asyncio
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Final, Generic

from devices.kinds import D, Kind, V
from devices.report import LinkDown, Reported
from devices.service import Service
from firmware_bridge.errors import LinkError, LinkUnsteady, PortBusy, PortMissing
from firmware_bridge.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from firmware_bridge.errors import PitboxError
    from firmware_bridge.falls import Falls
    from firmware_bridge.handshake import Trust
    from firmware_bridge.wire import Capture, Transport
    from table_controller.controller.hold import Hold

# From so many falls of a link on trial on, each doubling of their number is reported once more.
QUIET: Final = 8


class Slot(Generic[D, V]):
    """`driver` to ask and command, `view` what is known, `service` whether it may serve, `cause` why it is not there.

    `on_event` is called after view and service state have taken the event. With a `hold`, what only confirms is taken
    once everything that was made safe together has confirmed. With `longest_trial`, a link that falls again and again
    must hold before it counts, at most for as long (s) as that returns; `on_unsteady` is told so in words.
    """

    def __init__(
        self,
        name: str,
        kind: Kind[D, V],
        open_port: Callable[[], Awaitable[Transport]],
        trust: Trust,
        on_event: Callable[[Any], None],
        *,
        capture: Capture | None = None,
        jitter: Random | None = None,
        hold: Hold | None = None,
        longest_trial: Callable[[], float] | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.view = kind.blank
        self.service = Service()
        self.cause: PitboxError | None = None
        self.driver = kind.driver(self._take)
        self._longest_trial = longest_trial
        self.supervisor = Supervisor(
            name, open_port, trust, kind.decoder, self.driver, capture=capture, jitter=jitter or Random(),
            watch=None if longest_trial is None else self,
        )  # fmt: skip
        self._on_event = on_event
        self._hold = hold
        self.on_failed: Callable[[Exception], None] | None = None  # told when the driver's own code failed
        self.on_unsteady: Callable[[str], None] | None = None

    def _take(self, event: Any) -> None:
        """Take an event, now or with the others that confirm; the order of the wire stays."""
        if self._hold is not None:
            if isinstance(event, self.kind.confirms) and self._hold.later(partial(self._take_now, event)):
                return
            self._hold.catch_up()
        self._take_now(event)

    def _take_now(self, event: Any) -> None:
        """Take an event. What was not taken is not known: then the link is dropped, and the device is read anew."""
        try:
            self._fold(event)
        except Exception as bug:  # noqa: BLE001 - one machine's driver must not stop the others
            context = {"message": f"{self.name}: its driver failed at {type(event).__name__}", "exception": bug}
            asyncio.get_running_loop().call_exception_handler(context)
            if self.on_failed is not None:
                self.on_failed(bug)
            link = self.supervisor.link
            if link is not None:
                link.fail(LinkError(f"{self.name}: its driver failed: {bug!r}"))

    def _fold(self, event: Any) -> None:
        self.view = self.kind.fold(self.view, event)
        if isinstance(event, self.kind.pictures):
            self._on_event(event)
            return
        self.service.take(self.kind.trigger(event), unsettled=bool(self.view.unsettled))
        if isinstance(event, LinkDown):
            self.cause = self._shown(event.cause)
        elif isinstance(event, Reported):
            self.cause = None
        self._on_event(event)

    # --- a link that falls again and again ----------------------------------------------------------------------------

    def longest_trial(self) -> float:
        """Return for how long (s) this device's link may be on trial now; 0: somebody waits for the device."""
        return 0.0 if self._longest_trial is None else self._longest_trial()

    def flapping(self, falls: Falls, cause: PitboxError) -> None:
        """Report a link on trial: when that begins, and then whenever its falls have doubled."""
        self.cause = self._shown(cause)
        if falls.counted == 0 or (falls.counted >= QUIET and falls.counted & (falls.counted - 1) == 0):
            self._report(str(self.cause))

    def steady(self, falls: Falls) -> None:
        """Report that the link holds again, and what was not reported one by one."""
        self._report(f"{self.name}: its link holds again; {falls.counted} falls were counted and not recorded")

    def _shown(self, cause: PitboxError) -> PitboxError:
        """Return why the device is not there, as people read it."""
        falls = self.supervisor.falls
        if not falls.is_flapping or not isinstance(cause, LinkError) or isinstance(cause, PortMissing | PortBusy):
            return cause  # another device or no port at all is worse news than a link that falls
        return LinkUnsteady(
            f"{self.name}: its link falls again and again ({falls.counted} falls counted, not recorded); it must hold "
            f"for up to {falls.trial():.0f} s before the table counts it as there; the last fall: {cause.code} {cause}"
        )

    def _report(self, text: str) -> None:
        if self.on_unsteady is not None:
            self.on_unsteady(text)

    def start(self) -> None:
        """Begin to keep the device connected."""
        self.supervisor.start()

    async def close(self) -> None:
        """Give the port back."""
        await self.supervisor.close()
