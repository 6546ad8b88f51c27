"""Translates events of drivers to events of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Iterable

    from devices.kinds import DriverEvent
    from devices.service import ReportTrigger


def translate(slot: str, kind: str, trigger: ReportTrigger | None, event: DriverEvent) -> list[ev.Event]:
    """Return the events of the core for one event of a driver: first the change of the slot, then the event itself."""
    events: list[ev.Event] = []
    if trigger is not None:
        events.append(ev.SlotChanged(slot, trigger))
    own: Iterable[ev.Event] = CONTROLLER_KINDS[kind].core_events(slot, event)
    return [*events, *own]
