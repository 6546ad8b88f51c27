"""The machines for the technician's page: service state, card path with its sensors, link quality."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from devices.shoe.state import ShoeView
from devices.shuffler.state import ShufflerView
from table_controller.catalogue import catalogue
from table_controller.cli.render.card_path import draw_path
from table_controller.cli.render.shoe_path import draw_shoe
from table_controller.journal.record_text import to_words
from table_controller.maintenance.service_calls import orders_in_mode
from table_controller.panel.labels import service_text
from table_controller.panel.view import reason_view

if TYPE_CHECKING:
    from devices.driver_events import DeviceView
    from firmware_bridge.errors import PitboxError
    from table_controller.controller.box import Box
    from table_controller.controller.kinds.controller_kind import ServiceOrder
    from table_controller.controller.slot import AnySlot
    from table_controller.picture.types import MachinePicture, TablePicture, TestPicture


def devices(box: Box) -> list[dict[str, Any]]:
    """Return every machine, with why it cannot be used and what a technician may order."""
    table = box.pictures.table()
    return [
        _device(machine, box.slots[machine.name], table)
        | {
            "orders": [_order(each) for each in orders_in_mode(machine.kind, is_testing=machine.testing is not None)],
            "test": None if table is None else _test(table.slots[machine.name].test),
        }
        for machine in box.pictures.machines(table)
    ]


def _test(test: TestPicture | None) -> dict[str, Any] | None:
    """Return the possible call for test mode, with every reason against it; None if there is none."""
    if test is None:
        return None
    return {"call": f"{test.act}_test", "blocked_by": [reason_view(reason) for reason in test.reasons]}


def _order(order: ServiceOrder) -> dict[str, Any]:
    """Return an order with its arguments."""
    asks = [_argument(name, kind) for name, kind in order.arguments.items()]
    return {"call": order.name, "text": to_words(order.name), "asks": asks}


def _argument(name: str, kind: type) -> dict[str, Any]:
    """Return an argument: a flag, one of some names, or a number."""
    if kind is bool:
        return {"name": name, "kind": "yes"}
    if issubclass(kind, IntEnum):
        return {"name": name, "kind": "one", "of": [each.name.lower() for each in kind]}
    return {"name": name, "kind": "number"}


def _device(machine: MachinePicture, slot: AnySlot, table: TablePicture | None) -> dict[str, Any]:
    return {
        "name": machine.name,
        "kind": machine.kind,
        "state": machine.state,
        "text": service_text(machine.state),
        "connected": machine.connected,
        "cause": error_view(slot.cause),
        "serial": machine.serial,
        "model": machine.model,
        "firmware": machine.firmware,
        "doing": _doing(slot),
        "deck": machine.deck,
        "path": [] if table is None else _path(slot.view, table),
        "door": bool(getattr(slot.view, "door_open", False)),
        "link": _link(machine),
        "testing": machine.testing,
        "blocked_by": [] if table is None else [
            reason_view(reason) for reason in table.reasons_against("return_to_service", machine.name)
        ],
    }  # fmt: skip


def error_view(error: PitboxError | None) -> dict[str, str] | None:
    """Return an error with the action that it needs."""
    if error is None:
        return None
    entry = catalogue().get(error.code)
    act = "" if entry is None else entry.act
    return {"code": error.code, "text": str(error), "title": "" if entry is None else entry.title, "act": act}


def _doing(slot: AnySlot) -> str:
    state = getattr(slot.view, "state", None)
    return "" if state is None else to_words(state.name if hasattr(state, "name") else str(state))


def _path(view: DeviceView, table: TablePicture) -> list[tuple[str, str]]:
    """Return the card path as styled pieces of text; empty for machines without one."""
    if isinstance(view, ShufflerView):
        return draw_path(view, table.rules.cards)
    if isinstance(view, ShoeView):
        return draw_shoe(view, by_hand=table.dealing != "automated_shoe")
    return []


def _link(machine: MachinePicture) -> dict[str, Any]:
    """Return the counters of the link, and its round-trip time (ms)."""
    phase: dict[str, Any] = {"phase": to_words(machine.phase), "failures": machine.failures}
    link = machine.link
    if link is None:
        return phase
    return phase | {
        "round_trip_ms": round(link.round_trip_us / 1000, 2),
        "sent": link.sent,
        "received": link.received,
        "retransmitted": link.retransmitted,
        "gaps": link.gaps,
        "late_replies": link.late_replies,
    }
