"""What a technician may ask and order of a device through a running box, and when. No wire.

Questions are always answered; the table hears of a report or an outcome only if a technician asked for it, so that
asking alone writes nothing. What moves something needs a technician, and a machine that no round needs: out of
service, named by an irregularity, or permitted to be tested. There is no call that deals a card or opens a bet: cards
are moved only in test mode, by a machine that does not serve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.report import Reported
from devices.shoe import messages as sh
from devices.shuffler import messages as sf
from devices.shuffler.messages import Mode
from firmware_bridge.errors import BadRequest, NotAllowed, PitboxError
from firmware_bridge.messages import Message
from table_controller.journal import records as rec

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.box import Box
    from table_controller.table.core import Table
    from table_controller.table.decisions import Reason
    from table_controller.table.events import Person

_QUESTIONS: Final = ("report", "outcome", "status", "sensors", "health", "transits", "trail", "where", "shown")
_ORDERS: Final = ("self_test", "clear_jam", "eject", "set_mode", "reset", "stop", "disarm", "blank", "clear")
# What moves cards: only of a machine in test mode, which no round can use until it was returned to service.
_TESTS: Final = (
    "shuffle", "take_in", "deliver", "count_all", "load", "dispense", "start_round", "count_stub", "jog",
)  # fmt: skip
# What is the box's own to do: to test a machine that serves, and to have it serve again.
BEGIN_TEST: Final = "begin_test"
LEAVE_TEST: Final = "leave_test"
# These only make things safe: no permit is asked.
_SAFE: Final = ("stop", "disarm")
_ROLES: Final = ("technician",)
# Service commands have numbers of their own, far above those of the core; told apart by the time (microseconds).
_FIRST: Final = 1 << 62
# The largest number of a command, and the most cards that one can be about.
_MOST: Final = (1 << 63) - 1
_MOST_CARDS: Final = 255


def orders_of(box: Box, slot: str) -> list[str]:
    """Return what a technician may order of a slot now, permits apart."""
    names = (*_ORDERS, *(_TESTS if slot in box.testing else ()))
    found = [name for name in names if hasattr(box.slots[slot].driver, name)]
    if box.test_mode.alone(slot):
        return [LEAVE_TEST, *found]
    return [BEGIN_TEST, *found] if box.test_mode.against(slot) is not None else found


def against(table: Table, slot: str, name: str) -> tuple[Reason, ...]:
    """Return every reason against a technician's order to a slot; none means granted."""
    known = table.state.slots[slot]
    reasons = table.permit("test", slot, known.deck)
    busy = tuple(reason for reason in reasons if reason.key == "device_busy")
    if name in _SAFE:
        return ()
    if not table.context.serves(slot) or table.context.held(slot=slot, deck=known.deck):
        return busy  # no round uses it as it is; only what it was told before must have ended
    return reasons


async def call(
    box: Box, slot: str, name: str, arguments: dict[str, Any], who: Callable[[], Person]
) -> dict[str, Any] | None:
    """Ask or order; return what the device told, as plain data. Orders are written down, with how they ended."""
    found = box.slots.get(slot)
    if found is None:
        raise BadRequest(f"there is no slot {slot}; there are: {', '.join(box.slots)}")
    if name in (BEGIN_TEST, LEAVE_TEST):
        await _test_mode(box, slot, name, _technician(name, who))
        return None
    names = (*_QUESTIONS, *_ORDERS, *(_TESTS if slot in box.testing else ()))
    method = getattr(found.driver, name, None) if name in names else None
    if method is None:
        offered = [each for each in names if hasattr(found.driver, each)]
        raise BadRequest(f"a {found.kind.name} has no {name!r} here; it has: {', '.join(offered)}")
    if "mode" in arguments:
        arguments = arguments | {"mode": _mode(arguments["mode"])}
    if "motor" in arguments:
        arguments = arguments | {"motor": _motor(found.kind.name, arguments["motor"])}
    _check_numbers(arguments)
    if name in _QUESTIONS:
        quietly = {"report": found.driver.look, "outcome": found.driver.look_up}.get(name)
        if quietly is not None and not _is_technician(who):
            method = quietly
        return _plain(await _called(method, arguments))
    person = _technician(name, who)
    controller = box.running()
    _permit(controller.table, slot, name)
    number = _FIRST + box.clock.now()[0] // 1000
    outcome = "it was not sent"
    try:
        if name not in _SAFE:  # what moves something is on disk before, and permitted at the moment of sending
            await controller.noted(rec.Note("service", f"{name}: ordered", who=person, slot=slot))
            _permit(controller.table, slot, name)
        outcome = "it was sent, and whoever ordered it left before its end"
        told = _plain(await _called(method, arguments | {"command": number}))
        outcome = "done"
    except BadRequest as error:
        outcome = f"it was not sent: {error}"
        raise
    except PitboxError as error:
        outcome = f"{error.code} {error}"
        raise
    else:
        return told
    finally:
        box.note(rec.Note("service", f"{name}: {outcome}", who=person, slot=slot))


async def _test_mode(box: Box, slot: str, name: str, person: Person) -> None:
    """Begin test mode, or leave it; how it ended is written down as of every order."""
    outcome = "it was given up"
    try:
        await (box.test_mode.begin if name == BEGIN_TEST else box.test_mode.leave)(slot, person)
        outcome = "done"
    except PitboxError as error:
        outcome = f"{error.code} {error}"
        raise
    finally:
        box.note(rec.Note("service", f"{name}: {outcome}", who=person, slot=slot))


def _technician(name: str, who: Callable[[], Person]) -> Person:
    """Return who orders; NotAllowed if that is no technician."""
    person = who()
    if person.role not in _ROLES:
        raise NotAllowed(f"{name} is for the technician; {person.credential} is signed on as {person.role}")
    return person


def _is_technician(who: Callable[[], Person]) -> bool:
    try:
        return who().role in _ROLES
    except NotAllowed:  # nobody is signed on, or nobody who still may be
        return False


def _permit(table: Table, slot: str, name: str) -> None:
    """Raise every reason against an order."""
    reasons = against(table, slot, name)
    if reasons:
        raise NotAllowed(f"{name} {slot}: " + "; ".join(f"{r.text} [{r.clause}], {r.clears}" for r in reasons))


def _check_numbers(arguments: dict[str, Any]) -> None:
    """Refuse what a message cannot carry: a device that is sent nonsense gives up its session, also in a deal."""
    for key, value in arguments.items():
        most = _MOST if key == "command" else _MOST_CARDS
        if isinstance(value, Mode | sf.Motor | sh.Motor) or (key == "reverse" and isinstance(value, bool)):
            continue
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise BadRequest(f"{key} takes a whole number from 1 to {most}")


def _mode(name: Any) -> Mode:
    try:
        return Mode[str(name).upper()]
    except KeyError:
        raise BadRequest(f"there is no mode {name!r}; there are: {', '.join(m.name.lower() for m in Mode)}") from None


def _motor(kind: str, name: Any) -> sf.Motor | sh.Motor:
    motors: Any = {sf.KIND: sf.Motor, sh.KIND: sh.Motor}.get(kind, ())
    found: sf.Motor | sh.Motor | None = next((motor for motor in motors if motor.name.lower() == name), None)
    if found is None:
        raise BadRequest(f"there is no motor {name!r}; there are: {', '.join(m.name.lower() for m in motors)}")
    return found


async def _called(method: Any, arguments: dict[str, Any]) -> Any:
    try:
        work = method(**arguments)
    except TypeError as error:
        raise BadRequest(str(error)) from error
    return await work


def _plain(told: Any) -> dict[str, Any] | None:
    """Return an answer as plain data, without cards."""
    if isinstance(told, Reported):
        told = told.inventory
    if told is None or (isinstance(told, Message) and told.carries_cards):
        return None
    fields = {name: msgspec.to_builtins(getattr(told, name), enc_hook=str) for name in told.__struct_fields__}
    return {"type": type(told).__name__, **fields}
