"""Questions and orders that a technician may send to a device through a running box.

Questions are always answered; a report or an outcome reaches the table only if a technician asked, so that other
questions record nothing. An order that moves something needs a technician, and a machine that no round needs: out of
service, named by an irregularity, or permitted to be tested. No call deals a card or opens bets: cards move only in
test mode, in a machine that is not in service.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.driver_events import Reported
from firmware_bridge.errors import BadRequest, NotAllowed, PitboxError
from firmware_bridge.messages import Message
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.journal import records as rec
from table_controller.maintenance.return_to_service import raise_refusal
from table_controller.table.signers import TECHNICIAN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from table_controller.controller.box import Box
    from table_controller.controller.kinds.controller_kind import ServiceOrder
    from table_controller.table.core import Table
    from table_controller.table.decisions import DenialReason
    from table_controller.table.events import Person

# Questions to every machine, in addition to those of its kind.
_QUESTIONS: Final = ("report", "outcome")
# Orders that the box carries out itself: begin test mode of a machine in service, and leave it.
BEGIN_TEST: Final = "begin_test"
LEAVE_TEST: Final = "leave_test"
# Service commands have their own ids, far above those of the core; the time (microseconds) makes them different.
_FIRST: Final = 1 << 62
# The largest id of a command, and the largest number of cards in one.
_MOST: Final = (1 << 63) - 1
_MOST_CARDS: Final = 255


def possible_orders(box: Box, slot: str) -> list[ServiceOrder]:
    """Return the orders that a machine can carry out now; those that move cards only in test mode."""
    return orders_in_mode(box.slots[slot].kind.name, is_testing=box.test_mode.tested_report(slot) is not None)


def orders_in_mode(kind: str, *, is_testing: bool) -> list[ServiceOrder]:
    """Return the orders that a machine of a kind can carry out; those that move cards only in test mode."""
    return [each for each in CONTROLLER_KINDS[kind].orders if is_testing or not each.needs_test_mode]


def orders_of(box: Box, slot: str) -> list[str]:
    """Return the orders that a slot accepts now, before permits are checked."""
    orders = [each.name for each in possible_orders(box, slot)]
    if box.test_mode.is_without_fault(slot):
        return [LEAVE_TEST, *orders]
    return [BEGIN_TEST, *orders] if box.test_mode.reasons_against(slot) is not None else orders


def reasons_against(table: Table, slot: str) -> tuple[DenialReason, ...]:
    """Return every reason against an order of a technician that is not fail-safe; an empty tuple means permitted."""
    known = table.state.slots[slot]
    reasons = table.permit("test", slot, known.deck)
    busy = tuple(reason for reason in reasons if reason.key == "device_busy")
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
    questions = (*_QUESTIONS, *(each.__name__ for each in CONTROLLER_KINDS[device.kind.name].questions))
    orders = {each.name: each for each in possible_orders(box, slot)}
    if name not in (*questions, *orders):
        raise BadRequest(f"a {device.kind.name} has no call {name!r} now; calls: {', '.join((*questions, *orders))}")
    arguments = _converted(arguments, orders[name].arguments if name in orders else {})
    if name in questions:
        quietly = {"report": device.driver.read_inventory, "outcome": device.driver.query_outcome}.get(name)
        asked = quietly if quietly is not None and not _is_technician(who) else getattr(device.driver, name)
        return _plain(await _called(asked, arguments))
    return await _carry_out(box, slot, orders[name], arguments, _technician(name, who))


async def _carry_out(
    box: Box, slot: str, order: ServiceOrder, arguments: dict[str, Any], person: Person
) -> dict[str, Any] | None:
    """Carry out an order and record its result."""
    controller, number = box.running_controller(), _FIRST + box.clock.now()[0] // 1000
    _permit(box, slot, order, person)
    outcome = "it was not sent"
    try:
        if not order.is_safe:  # recorded before it is sent, and still permitted then
            await controller.note_and_wait(rec.Note("service", f"{order.name}: ordered", who=person, slot=slot))
            _permit(box, slot, order, person)
            if box.fault_reports is not None:
                box.fault_reports.ordered_by[slot] = person.identity
        outcome = "it was sent, and the technician disconnected before its end"
        method = getattr(box.slots[slot].driver, order.name)
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
        box.note(rec.Note("service", f"{order.name}: {outcome}", who=person, slot=slot))


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
    if person.role not in TECHNICIAN:
        raise NotAllowed(f"{name} is for the technician; {person.credential} is signed on as {person.role}")
    return person


def _is_technician(who: Callable[[], Person]) -> bool:
    try:
        return who().role in TECHNICIAN
    except NotAllowed:  # nobody with a valid credential is signed on
        return False


def _permit(box: Box, slot: str, order: ServiceOrder, who: Person) -> None:
    """Raise NotAllowed with every reason against an order; a fail-safe order needs no permit.

    In test mode only the assigned technician gives orders, so that nobody signs for work of their own.
    """
    if order not in possible_orders(box, slot):
        raise NotAllowed(f"{order.name} {slot}: it is not in test mode any more")
    if order.is_safe:
        return
    assigned = box.test_mode.assigned_technician(slot)
    if assigned not in ("", who.identity):
        raise NotAllowed(
            f"{order.name} {slot}: it is in test mode of {assigned}; take over the return to service first"
        )
    reasons = reasons_against(box.running_controller().table, slot)
    if reasons:
        raise NotAllowed(f"{order.name} {slot}: " + "; ".join(f"{r.text} [{r.clause}], {r.clears}" for r in reasons))


def _converted(arguments: dict[str, Any], types: Mapping[str, type]) -> dict[str, Any]:
    """Return the arguments with their types: the name of a choice as the choice, a flag, or a number in range.

    A number that a message cannot carry is refused: a device ends its session when it gets invalid data.
    """
    converted = dict(arguments)
    for key, value in arguments.items():
        kind = types.get(key, int)
        if issubclass(kind, IntEnum):
            converted[key] = _chosen(kind, key, value)
        elif kind is not bool or not isinstance(value, bool):
            _check_number(key, value)
    return converted


def _chosen(kind: type[IntEnum], key: str, name: Any) -> IntEnum:
    chosen = next((choice for choice in kind if choice.name.lower() == str(name).lower()), None)
    if chosen is None:
        known = ", ".join(choice.name.lower() for choice in kind)
        raise BadRequest(f"there is no {key} {name!r}; {key}s: {known}")
    return chosen


def _check_number(key: str, value: Any) -> None:
    most = _MOST if key == "command" else _MOST_CARDS
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise BadRequest(f"{key} must be a whole number from 1 to {most}")


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
