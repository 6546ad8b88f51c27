"""The flat button's mat at the table: it reports where the button is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices import kinds
from devices.button import messages as m
from devices.button.driver import ButtonDriver
from devices.driver_events import Reported
from table_controller.controller.kinds.controller_kind import ControllerKind, order
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devices.button.state import DriverEvent


def _core_events(slot: str, event: DriverEvent) -> Iterator[ev.Event]:
    match event:
        case m.Moved():
            yield ev.ButtonSeen(slot, event.place)
        case Reported(inventory=m.Status() as status):
            yield ev.ButtonSeen(slot, status.place)


BUTTON: Final = ControllerKind(
    device=kinds.BUTTON,
    core_events=_core_events,
    questions=(ButtonDriver.sensors, ButtonDriver.where),
    orders=(order(ButtonDriver.self_test), order(ButtonDriver.reset)),
    is_used=lambda _, submission: submission.start == "flat_button",
    is_private=False,
)
