"""A slot: one device's place at the table. Keeps its link, folds its events, moves its service. No rules."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Generic

from devices.kinds import D, Kind, V
from devices.report import LinkDown, Reported
from devices.service import Service
from firmware_bridge.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from firmware_bridge.errors import PitboxError
    from firmware_bridge.handshake import Trust
    from firmware_bridge.wire import Capture, Transport


class Slot(Generic[D, V]):
    """`driver` to ask and command, `view` what is known, `service` whether it may serve, `cause` why it is not there.

    `on_event` is called after view and service state have taken the event.
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
    ) -> None:
        self.name = name
        self.kind = kind
        self.view = kind.blank
        self.service = Service()
        self.cause: PitboxError | None = None
        self.driver = kind.driver(self._take)
        self.supervisor = Supervisor(
            name, open_port, trust, kind.decoder, self.driver, capture=capture, jitter=jitter or Random()
        )
        self._on_event = on_event

    def _take(self, event: Any) -> None:
        self.view = self.kind.fold(self.view, event)
        self.service.take(self.kind.trigger(event), unsettled=bool(self.view.unsettled))
        if isinstance(event, LinkDown):
            self.cause = event.cause
        elif isinstance(event, Reported):
            self.cause = None
        self._on_event(event)

    def start(self) -> None:
        """Begin to keep the device connected."""
        self.supervisor.start()

    async def close(self) -> None:
        """Give the port back."""
        await self.supervisor.close()
