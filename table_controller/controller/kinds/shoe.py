"""The dealing shoe at the table, automated or manual: its reports for the core, and its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices import kinds
from devices.cards import card_name
from devices.driver_events import Reported
from devices.shoe import messages as m
from devices.shoe.driver import ShoeDriver
from table_controller.controller.kinds.controller_kind import (
    ControllerKind,
    MakeSafe,
    order,
    order_in_test_mode,
    stop_order,
)
from table_controller.rulebook.duties import duty_clauses
from table_controller.table import events as ev
from table_controller.table.decisions import DealtCards

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from devices.shoe.state import DriverEvent
    from table_controller.rulebook import Edition, Submission
    from table_controller.table.decisions import Command


_FAULTS: Final = {
    m.ShortStack: m.Reason.SHORT_STACK, m.Jam: m.Reason.JAM, m.Unbalanced: m.Reason.COUNTS_DISAGREE,
}  # fmt: skip


def _core_events(slot: str, event: DriverEvent) -> Iterator[ev.Event]:
    match event:
        case Reported():
            yield from _reported(slot, event)
        case m.CardsReleased():
            cards = " ".join(card_name(card) for card in event.cards)
            yield ev.HandReleased(slot, event.command, event.dealt_by, cards, event.unread)
        case m.Loaded():
            yield ev.ShoeLoaded(slot, event.count)
        case m.Dispensed():
            yield ev.StackOut(slot, event.count, event.face_up)
        case m.Stub():
            yield ev.StubOut(slot, event.count)
        case m.Pile(place=m.Place.SLOT, cards=False):
            yield ev.StackTaken(slot)
        case m.Drawn():
            yield ev.CardsDrawn(slot, event.moved)
        case m.FaceUp():
            yield ev.FaceUpSeen(slot)
        case m.CoverCard():
            yield ev.CoverCardOut(slot)
        case m.ShortStack() | m.Jam() | m.Unbalanced():
            yield ev.ShoeFault(slot, _FAULTS[type(event)])
        case m.Stopped() | m.Fault():
            yield ev.ShoeFault(slot, event.reason)


def _reported(slot: str, report: Reported) -> Iterator[ev.Event]:
    """Yield what the shoe can do, and what people did while the link was down."""
    status: m.Status = report.inventory
    if m.IDENTIFIES in report.hello.capabilities:
        yield ev.ShoeIdentifies(slot)
    if not status.in_slot:
        yield ev.StackTaken(slot)
    if status.state is m.State.DEALING and status.moved:
        yield ev.CardsDrawn(slot, status.moved, reported=True)
    if status.state is m.State.IDLE and status.counts_certain and not status.in_well:
        yield ev.ShoeEmpty(slot)


def _release(driver: ShoeDriver, command: Command) -> Awaitable[object]:
    """Order the cards that the table named."""
    assert isinstance(command.dealt, DealtCards), "the core names the cards that it releases"
    if command.dealt.cards:
        return driver.release_drawn(command.id, command.dealt.dealt_by, command.dealt.cards)
    return driver.release_cards(command.id, command.dealt.dealt_by)


def _obstacle_to_test(status: m.Status) -> str:
    """Return what a person must do first; a halted shoe passes, because its report has the fault."""
    if status.state in (m.State.HALTED, m.State.DOUBTFUL):
        return ""
    if status.state not in (m.State.IDLE, m.State.READY, m.State.DEALING):
        return "its last command has not ended"
    places = (("intake", status.in_intake), ("well", status.in_well), ("slot", status.in_slot))
    occupied = next((place for place, cards in places if cards), "")
    return f"cards are in its {occupied}; take them out" if occupied else ""


def _why_required(rules: Edition, submission: Submission) -> str:
    if submission.inserts_into_shoe:  # only the shoe can confirm what was inserted
        return f"rules.inserts_into_shoe = true ({', '.join(duty_clauses(rules.game, 'single_stack'))})"
    if submission.dealing != "automated_shoe":
        return ""
    method = rules.method(submission.dealing)
    return f'rules.dealing = "{submission.dealing}" ({method.clause if method else rules.deal.clause})'


SHOE: Final = ControllerKind(
    device=kinds.SHOE,
    core_events=_core_events,
    commands={
        "load": lambda driver, c: driver.load(c.id),
        "dispense": lambda driver, c: driver.dispense(c.id, c.number),
        "start_round": lambda driver, c: driver.start_round(c.id),
        "give_stub": lambda driver, c: driver.count_stub(c.id),
        "release_cards": _release,
    },
    make_safe=MakeSafe(send=lambda driver, command, _: driver.stop(command)),
    permits=("load", "dispense", "start_round", "give_stub"),
    questions=(ShoeDriver.status, ShoeDriver.sensors, ShoeDriver.transits, ShoeDriver.edge_log),
    orders=(
        order(ShoeDriver.self_test),
        order(ShoeDriver.clear_jam),
        order(ShoeDriver.reset),
        stop_order(ShoeDriver.stop),
        order_in_test_mode(ShoeDriver.load),
        order_in_test_mode(ShoeDriver.dispense, cards=int),
        order_in_test_mode(ShoeDriver.start_round),
        order_in_test_mode(ShoeDriver.count_stub),
        order_in_test_mode(ShoeDriver.jog, motor=m.Motor, reverse=bool),
    ),
    obstacle_to_test=_obstacle_to_test,
    why_required=_why_required,
    is_used=lambda _, submission: submission.dealing in ("manual_shoe", "dealing_shoe"),
    is_private=False,
)
