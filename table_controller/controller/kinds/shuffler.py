"""The shuffler at the table: ends of its cycles and moved cards for the core, and its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices import kinds
from devices.driver_events import Reported
from devices.shuffler import messages as m
from devices.shuffler.driver import ShufflerDriver
from devices.shuffler.state import DeckEjected
from table_controller.controller.kinds.controller_kind import (
    ControllerKind,
    MakeSafe,
    order,
    order_in_test_mode,
    stop_order,
)
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devices.shuffler.state import DriverEvent
    from table_controller.rulebook import Edition, Submission


def _core_events(slot: str, event: DriverEvent) -> Iterator[ev.Event]:
    match event:
        case m.Completed():
            yield ev.ShuffleEnded(slot, event.count, event.mode is m.Mode.SHUFFLE, event.rejected)
        case m.Incomplete():
            yield ev.ShuffleFailed(slot, m.Reason.COUNTS_DISAGREE, None)
        case m.Jam():
            yield ev.ShuffleFailed(slot, m.Reason.JAM, event.inside)
        case m.Stopped() | m.Fault():
            yield ev.ShuffleFailed(slot, event.reason, m.cards_inside(event.entered, event.left))
        case DeckEjected():
            yield ev.DeckGivenOut(slot)
        case m.Inserted():
            yield ev.StackInserted(slot, event.count)
        case m.Intake():
            yield ev.CardsInserted(slot) if event.cards else ev.IntakeEmptied(slot)
        case Reported(inventory=m.Status() as status):  # what people did while the link was down
            if status.state is m.State.READY:
                yield ev.CardsBehindGate(slot)
            yield ev.CardsInserted(slot) if status.cards_in_intake else ev.IntakeEmptied(slot)


def _obstacle_to_test(status: m.Status) -> str:
    """Return what a person must do first; a halted shuffler passes, because its report has the fault."""
    match status.state:
        case m.State.HALTED | m.State.DOUBTFUL:
            return ""
        case m.State.READY:
            return "cards are behind its gate; let it eject them, and take them out"
        case m.State.IDLE if status.cards_in_intake:
            return "cards are in its intake; take them out"
        case m.State.IDLE:
            return "cards are inside; let it clear them out" if status.inside else ""
        case _:
            return "its last command has not ended"


def _why_required(rules: Edition, submission: Submission) -> str:
    return "" if submission.shuffler == "none" else f'rules.shuffler = "{submission.shuffler}" ({rules.cards.clause})'


def _needed_capabilities(submission: Submission) -> frozenset[str]:
    return frozenset({m.INSERTS}) if submission.inserts_into_shoe else frozenset()


SHUFFLER: Final = ControllerKind(
    device=kinds.SHUFFLER,
    core_events=_core_events,
    commands={
        "shuffle": lambda driver, c: driver.shuffle(c.id),
        "eject": lambda driver, c: driver.eject(c.id),
        "insert": lambda driver, c: driver.insert(c.id),
        "clear_out": lambda driver, c: driver.eject(c.id),
    },
    make_safe=MakeSafe(send=lambda driver, command, _: driver.stop(command)),
    permits=("shuffle", "eject", "insert", "clear_out"),
    questions=(ShufflerDriver.status, ShufflerDriver.sensors, ShufflerDriver.transits, ShufflerDriver.edge_log),
    orders=(
        order(ShufflerDriver.self_test),
        order(ShufflerDriver.clear_jam),
        order(ShufflerDriver.eject),
        order(ShufflerDriver.set_mode, mode=m.Mode),
        order(ShufflerDriver.reset),
        stop_order(ShufflerDriver.stop),
        order_in_test_mode(ShufflerDriver.shuffle),
        order_in_test_mode(ShufflerDriver.take_in),
        order_in_test_mode(ShufflerDriver.deliver, cards=int),
        order_in_test_mode(ShufflerDriver.count_all),
        order_in_test_mode(ShufflerDriver.jog, motor=m.Motor, reverse=bool),
    ),
    obstacle_to_test=_obstacle_to_test,
    why_required=_why_required,
    needed_capabilities=_needed_capabilities,
    is_private=False,
)
