"""Questions and orders that a technician may send to a device through a running box.

Questions are always answered; a report or an outcome reaches the table only if a technician asked, so that other
questions record nothing. An order that moves something needs a technician, and a machine that no round needs: out of
service, named by an irregularity, or permitted to be tested. No call deals a card or opens bets: cards move only in
test mode, in a machine that is not in service.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.driver_events import Reported
from devices.shoe import messages as sh
from devices.shuffler import messages as sf
from devices.shuffler.messages import Mode
from firmware_bridge.errors import BadRequest, NotAllowed, PitboxError
from firmware_bridge.messages import Message
from table_controller.journal import records as rec
from table_controller.maintenance.return_to_service import raise_refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.box import Box
    from table_controller.table.core import Table
    from table_controller.table.decisions import DenialReason
    from table_controller.table.events import Person

_QUESTIONS: Final = ("report", "outcome", "status", "sensors", "health", "transits", "edge_log", "where", "shown")
_ORDERS: Final = ("self_test", "clear_jam", "eject", "set_mode", "reset", "stop", "disarm", "blank", "clear")
# Orders that move cards: only for a machine in test mode, which no round can use until it is returned to service.
_TESTS: Final = (
    "shuffle", "take_in", "deliver", "count_all", "load", "dispense", "start_round", "count_stub", "jog",
)  # fmt: skip
# Orders that the box carries out itself: begin test mode of a machine in service, and leave it.
BEGIN_TEST: Final = "begin_test"
LEAVE_TEST: Final = "leave_test"
# Fail-safe orders; they need no permit.
_SAFE: Final = ("stop", "disarm")
_ROLES: Final = ("technician",)
# Service commands have their own ids, far above those of the core; the time (microseconds) makes them different.
_FIRST: Final = 1 << 62
# The largest id of a command, and the largest number of cards in one.
_MOST: Final = (1 << 63) - 1
_MOST_CARDS: Final = 255


def orders_of(box: Box, slot: str) -> list[str]:
    """Return the orders that a slot accepts now, before permits are checked."""
    names = (*_ORDERS, *(_TESTS if box.test_mode.tested_report(slot) is not None else ()))
    orders = [name for name in names if hasattr(box.slots[slot].driver, name)]
    if box.test_mode.is_without_fault(slot):
        return [LEAVE_TEST, *orders]
    return [BEGIN_TEST, *orders] if box.test_mode.reasons_against(slot) is not None else orders


def reasons_against(table: Table, slot: str, name: str) -> tuple[DenialReason, ...]:
    """Return every reason against an order of a technician; an empty tuple means permitted."""
    known = table.state.slots[slot]
    reasons = table.permit("test", slot, known.deck)
    busy = tuple(reason for reason in reasons if reason.key == "device_busy")
    if name in _SAFE:
        return ()
    if not table.context.is_in_service(slot) or table.context.is_held(slot=slot, deck=known.deck):
        return busy  # no round uses it; only its last command must have ended
    return reasons


async def call_device(
    box: Box, slot: str, name: str, arguments: dict[str, Any], who: Callable[[], Person]
) -> dict[str, Any] | None:
    """Ask a question or give an order; return the answer as plain data. Orders are recorded with their result."""
    device = box.slots.get(slot)
    if device is None:
        raise BadRequest(f"there is no slot {slot}; slots: {', '.join(box.slots)}")
    if name in (BEGIN_TEST, LEAVE_TEST):
        await _test_mode(box, slot, name, _technician(name, who))
        return None
    names = (*_QUESTIONS, *_ORDERS, *(_TESTS if box.test_mode.tested_report(slot) is not None else ()))
    method = getattr(device.driver, name, None) if name in names else None
    if method is None:
        offered = [each for each in names if hasattr(device.driver, each)]
        raise BadRequest(f"a {device.kind.name} has no call {name!r} now; calls: {', '.join(offered)}")
    if "mode" in arguments:
        arguments = arguments | {"mode": _mode(arguments["mode"])}
    if "motor" in arguments:
        arguments = arguments | {"motor": _motor(device.kind.name, arguments["motor"])}
    _check_numbers(arguments)
    if name in _QUESTIONS:
        quietly = {"report": device.driver.read_inventory, "outcome": device.driver.query_outcome}.get(name)
        if quietly is not None and not _is_technician(who):
            method = quietly
        return _plain(await _called(method, arguments))
    person = _technician(name, who)
    controller = box.running_controller()
    _permit(controller.table, slot, name)
    number = _FIRST + box.clock.now()[0] // 1000
    outcome = "it was not sent"
    try:
        if name not in _SAFE:  # recorded before it is sent, and still permitted then
            await controller.note_and_wait(rec.Note("service", f"{name}: ordered", who=person, slot=slot))
            _permit(controller.table, slot, name)
        outcome = "it was sent, and the technician disconnected before its end"
        answer = _plain(await _called(method, arguments | {"command": number}))
        outcome = "done"
    except BadRequest as error:
        outcome = f"it was not sent: {error}"
        raise
    except PitboxError as error:
        outcome = f"{error.code} {error}"
        raise
    else:
        return answer
    finally:
        box.note(rec.Note("service", f"{name}: {outcome}", who=person, slot=slot))


async def _test_mode(box: Box, slot: str, name: str, person: Person) -> None:
    """Begin or leave test mode; record the result as for every order."""
    outcome = "it was interrupted"
    try:
        raise_refusal(await (box.test_mode.begin if name == BEGIN_TEST else box.test_mode.leave)(slot, person))
        outcome = "done"
    except PitboxError as error:
        outcome = f"{error.code} {error}"
        raise
    finally:
        box.note(rec.Note("service", f"{name}: {outcome}", who=person, slot=slot))


def _technician(name: str, who: Callable[[], Person]) -> Person:
    """Return the technician; raise NotAllowed for any other role."""
    person = who()
    if person.role not in _ROLES:
        raise NotAllowed(f"{name} is for the technician; {person.credential} is signed on as {person.role}")
    return person


def _is_technician(who: Callable[[], Person]) -> bool:
    try:
        return who().role in _ROLES
    except NotAllowed:  # nobody with a valid credential is signed on
        return False


def _permit(table: Table, slot: str, name: str) -> None:
    """Raise NotAllowed with every reason against an order."""
    reasons = reasons_against(table, slot, name)
    if reasons:
        raise NotAllowed(f"{name} {slot}: " + "; ".join(f"{r.text} [{r.clause}], {r.clears}" for r in reasons))


def _check_numbers(arguments: dict[str, Any]) -> None:
    """Refuse numbers that a message cannot carry: a device ends its session when it gets invalid data."""
    for key, value in arguments.items():
        most = _MOST if key == "command" else _MOST_CARDS
        if isinstance(value, Mode | sf.Motor | sh.Motor) or (key == "reverse" and isinstance(value, bool)):
            continue
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise BadRequest(f"{key} must be a whole number from 1 to {most}")


def _mode(name: Any) -> Mode:
    try:
        return Mode[str(name).upper()]
    except KeyError:
        raise BadRequest(f"there is no mode {name!r}; modes: {', '.join(m.name.lower() for m in Mode)}") from None


def _motor(kind: str, name: Any) -> sf.Motor | sh.Motor:
    motors: Any = {sf.KIND: sf.Motor, sh.KIND: sh.Motor}.get(kind, ())
    chosen: sf.Motor | sh.Motor | None = next((motor for motor in motors if motor.name.lower() == name), None)
    if chosen is None:
        raise BadRequest(f"there is no motor {name!r}; motors: {', '.join(m.name.lower() for m in motors)}")
    return chosen


async def _called(method: Any, arguments: dict[str, Any]) -> Any:
    try:
        work = method(**arguments)
    except TypeError as error:
        raise BadRequest(str(error)) from error
    return await work


def _plain(answer: Any) -> dict[str, Any] | None:
    """Return an answer as plain data; None if it has cards."""
    if isinstance(answer, Reported):
        answer = answer.inventory
    if answer is None or (isinstance(answer, Message) and answer.carries_cards):
        return None
    fields = {name: msgspec.to_builtins(getattr(answer, name), enc_hook=str) for name in answer.__struct_fields__}
    return {"type": type(answer).__name__, **fields}
