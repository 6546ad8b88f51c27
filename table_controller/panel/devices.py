"""The machines for the technician's page: service state, card path with its sensors, link quality."""

from __future__ import annotations

import inspect
import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from devices.shoe.state import ShoeView
from devices.shuffler.state import ShufflerView
from table_controller.catalogue import catalogue
from table_controller.cli.render.card_path import draw_path
from table_controller.cli.render.shoe_path import draw_shoe
from table_controller.journal.record_text import to_words
from table_controller.maintenance.service_calls import BEGIN_TEST, LEAVE_TEST, orders_of
from table_controller.panel.labels import sentence, service_text

if TYPE_CHECKING:
    from firmware_bridge.errors import PitboxError
    from table_controller.controller.box import Box
    from table_controller.controller.slot import Slot
    from table_controller.table.core import Table
    from table_controller.table.decisions import DenialReason


# Cache: the arguments of each driver's orders.
_ASKED: Final[dict[tuple[str, str], list[dict[str, Any]]]] = {}


def devices(box: Box, table: Table | None) -> list[dict[str, Any]]:
    """Return every machine, with why it cannot be used and what a technician may order."""
    return [
        _device(slot, table)
        | {
            "testing": box.test_mode.tested_report(name),
            "orders": _orders(slot, orders_of(box, name)),
            "test": _test(box, name),
        }
        for name, slot in box.slots.items()
    ]


def _test(box: Box, name: str) -> dict[str, Any] | None:
    """Return the possible call for test mode, with every reason against it; None if there is none."""
    if box.test_mode.is_without_fault(name):
        return {"call": LEAVE_TEST, "blocked_by": []}
    reasons = box.test_mode.reasons_against(name)
    return None if reasons is None else {"call": BEGIN_TEST, "blocked_by": [_reason(reason) for reason in reasons]}


def _reason(reason: DenialReason) -> dict[str, str]:
    return {
        "text": sentence(reason.text),
        "clause": reason.clause,
        "clears": reason.clears,
        "evidence": reason.evidence,
    }


def _orders(slot: Slot[Any, Any], names: list[str]) -> list[dict[str, Any]]:
    """Return orders with their arguments, from the signatures of the driver."""
    own = (BEGIN_TEST, LEAVE_TEST)  # have their own button
    return [
        {"call": name, "text": to_words(name), "asks": _asks(slot.driver, name)} for name in names if name not in own
    ]


def _asks(driver: Any, call: str) -> list[dict[str, Any]]:
    """Return the arguments of an order: a number, one of some names, or a flag."""
    key = (type(driver).__qualname__, call)
    if key not in _ASKED:
        _ASKED[key] = _signature(getattr(driver, call))
    return _ASKED[key]


def _signature(method: Any) -> list[dict[str, Any]]:
    known = vars(sys.modules[method.__module__])
    asked: list[dict[str, Any]] = []
    for name, parameter in inspect.signature(method).parameters.items():
        if name in ("self", "command"):
            continue
        kind = parameter.annotation
        if isinstance(kind, str):
            kind = eval(kind, dict(known))  # noqa: S307 - our own driver's own annotation
        if kind is bool:
            asked.append({"name": name, "kind": "yes"})
        elif isinstance(kind, type) and issubclass(kind, IntEnum):
            asked.append({"name": name, "kind": "one", "of": [each.name.lower() for each in kind]})
        else:
            asked.append({"name": name, "kind": "number"})
    return asked


def _device(slot: Slot[Any, Any], table: Table | None) -> dict[str, Any]:
    known = None if table is None else table.state.slots.get(slot.name)
    state = slot.service.state if known is None else known.state
    reported = slot.driver.reported
    hello = None if reported is None else reported.hello
    return {
        "name": slot.name,
        "kind": slot.kind.name,
        "state": state,
        "text": service_text(state),
        "connected": slot.view.connected,
        "cause": error_view(slot.cause),
        "serial": "" if hello is None else hello.serial,
        "model": "" if hello is None else hello.model,
        "firmware": "" if hello is None else hello.firmware,
        "doing": _doing(slot),
        "deck": None if known is None else known.deck,
        "path": [] if table is None else _path(slot.view, table),
        "door": bool(getattr(slot.view, "door_open", False)),
        "link": _link(slot),
        "blocked_by": [] if table is None else [
            _reason(reason) for reason in table.permit("return_to_service", slot.name)
        ],
    }  # fmt: skip


def error_view(error: PitboxError | None) -> dict[str, str] | None:
    """Return an error with the action that it needs."""
    if error is None:
        return None
    entry = catalogue().get(error.code)
    act = "" if entry is None else entry.act
    return {"code": error.code, "text": str(error), "title": "" if entry is None else entry.title, "act": act}


def _doing(slot: Slot[Any, Any]) -> str:
    state = getattr(slot.view, "state", None)
    return "" if state is None else to_words(state.name if hasattr(state, "name") else str(state))


def _path(view: Any, table: Table) -> list[tuple[str, str]]:
    """Return the card path as styled pieces of text; empty for machines without one."""
    if isinstance(view, ShufflerView):
        return draw_path(view, table.context.edition.cards.count)
    if isinstance(view, ShoeView):
        return draw_shoe(view, by_hand=table.state.dealing != "automated_shoe")
    return []


def _link(slot: Slot[Any, Any]) -> dict[str, Any]:
    """Return the counters of the link, and its round-trip time (ms)."""
    link = slot.driver.link
    if link is None:
        return {"phase": to_words(slot.supervisor.phase.name), "failures": slot.supervisor.failures}
    counters = link.counters
    return {
        "phase": to_words(slot.supervisor.phase.name),
        "failures": slot.supervisor.failures,
        "round_trip_ms": round(link.round_trip_s * 1000, 2),
        "sent": counters.sent,
        "received": counters.received,
        "retransmitted": counters.retransmitted,
        "gaps": counters.gaps,
        "late_replies": counters.late_replies,
    }
