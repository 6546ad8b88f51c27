"""A slot: the place of one device at the table. Keeps its link and its view, and reports what the device does.

The service state of the device belongs to the owner of the slot: the core of a running table (`Box.service_state`), or
a `devices.service.Service` where no core runs.
"""

from __future__ import annotations

import asyncio
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from devices.driver import Driver
from devices.driver_events import LinkDown, Reported
from devices.kinds import AnyDriver, AnyView, D, Kind, V
from firmware_bridge.errors import LinkError, LinkUnsteady, PortBusy, PortMissing
from firmware_bridge.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from devices.kinds import DriverEvent
    from firmware_bridge.errors import PitboxError
    from firmware_bridge.handshake import Trust
    from firmware_bridge.link_drops import LinkDrops
    from firmware_bridge.wire import Capture, Transport
    from table_controller.controller.confirmation_batch import ConfirmationBatch

# From this number of losses of an unsteady link on, only each doubling of the number is reported.
REPORT_FROM_FALLS: Final = 8


class Slot(Generic[D, V]):
    """`driver` sends commands, `view` is the known state, `cause` why the device is not connected.

    `on_event` is called after `view` was updated. With a `confirmation_batch`, confirmations of fail-safe commands are
    handled together when all have arrived. With `longest_trial`, an unsteady link must stay up before it counts, at
    most for the time (s) that it returns; `on_unsteady` gets the report.
    """

    def __init__(
        self,
        name: str,
        kind: Kind[D, V],
        open_port: Callable[[], Awaitable[Transport]],
        trust: Trust,
        on_event: Callable[[DriverEvent], None],
        *,
        capture: Capture | None = None,
        jitter: Random | None = None,
        confirmation_batch: ConfirmationBatch | None = None,
        longest_trial: Callable[[], float] | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.view = kind.initial_view
        self.cause: PitboxError | None = None
        self.driver = kind.driver(self._handle)
        self._longest_trial = longest_trial
        self.supervisor = Supervisor(
            name, open_port, trust, kind.decoder, self.driver, capture=capture, jitter=jitter or Random(),
            flap_listener=None if longest_trial is None else self,
        )  # fmt: skip
        self._on_event = on_event
        self._batch = confirmation_batch
        self.on_failed: Callable[[Exception], None] | None = None  # called when the code of the driver failed
        self.on_unsteady: Callable[[str], None] | None = None

    def _handle(self, event: DriverEvent) -> None:
        """Handle an event, now or with the other confirmations; events keep their order."""
        if self._batch is not None:
            if isinstance(event, self.kind.confirmation_events) and self._batch.defer(partial(self._handle_now, event)):
                return
            self._batch.run_deferred()
        self._handle_now(event)

    def _handle_now(self, event: DriverEvent) -> None:
        """Handle an event. If that fails, drop the link: the device is read again after the reconnection."""
        try:
            self._fold(event)
        except Exception as bug:  # noqa: BLE001 - the driver of one machine must not stop the others
            context = {"message": f"{self.name}: its driver failed at {type(event).__name__}", "exception": bug}
            asyncio.get_running_loop().call_exception_handler(context)
            if self.on_failed is not None:
                self.on_failed(bug)
            link = self.supervisor.link
            if link is not None:
                link.fail(LinkError(f"{self.name}: its driver failed: {bug!r}"))

    def _fold(self, event: DriverEvent) -> None:
        self.view = self.kind.fold(self.view, event)
        if isinstance(event, LinkDown):
            self.cause = self._shown(event.cause)
        elif isinstance(event, Reported):
            self.cause = None
        self._on_event(event)

    # --- unsteady links -----------------------------------------------------------------------------------------------

    def longest_trial_s(self) -> float:
        """Return how long (s) the link must stay up before it counts; 0: the device is needed at once."""
        return 0.0 if self._longest_trial is None else self._longest_trial()

    def on_flapping(self, drops: LinkDrops, cause: PitboxError) -> None:
        """Report an unsteady link: at first, and then each time the number of its losses has doubled."""
        self.cause = self._shown(cause)
        if drops.unreported == 0 or (
            drops.unreported >= REPORT_FROM_FALLS and drops.unreported & (drops.unreported - 1) == 0
        ):
            self._report(str(self.cause))

    def on_steady(self, drops: LinkDrops) -> None:
        """Report that the link is steady again, with the number of losses that were not reported."""
        self._report(f"{self.name}: the link is steady again; {drops.unreported} losses were counted and not recorded")

    def _shown(self, cause: PitboxError) -> PitboxError:
        """Return why the device is not connected, for people."""
        falls = self.supervisor.drops
        if not falls.is_flapping or not isinstance(cause, LinkError) or isinstance(cause, PortMissing | PortBusy):
            return cause  # a wrong device or a missing port is more important than an unsteady link
        return LinkUnsteady(
            f"{self.name}: the link is unsteady ({falls.unreported} losses counted, not recorded); it must stay up for "
            f"up to {falls.trial_s():.0f} s before the table counts it as connected; last loss: {cause.code} {cause}"
        )

    def _report(self, text: str) -> None:
        if self.on_unsteady is not None:
            self.on_unsteady(text)

    def start(self) -> None:
        """Start to keep the device connected."""
        self.supervisor.start()

    async def close(self) -> None:
        """Close the port."""
        await self.supervisor.close()


AnySlot = Slot[AnyDriver, AnyView]
_D = TypeVar("_D", bound=Driver)


def slots_of(slots: Mapping[str, AnySlot], driver: type[_D]) -> dict[str, Slot[_D, AnyView]]:
    """Return the slots whose devices have this driver."""
    return {name: cast("Slot[_D, AnyView]", slot) for name, slot in slots.items() if isinstance(slot.driver, driver)}
