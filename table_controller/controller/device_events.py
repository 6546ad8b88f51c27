"""Translates events of drivers to events of the core, by kind of device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as bet_sensor
from devices.button import messages as button
from devices.driver_events import Reported
from devices.rng import messages as rng
from devices.shaker import messages as shaker
from devices.shoe import messages as shoe
from devices.shuffler import messages as shuffler
from devices.shuffler import state as shuffler_state
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from devices.service import ReportTrigger

# Reason of the shaker -> irregularity of a roll that does not count; any other reason means too few shakes.
_NO_ROLL: Final = {
    shaker.Reason.DIE_NOT_FLAT: "dice_not_flat",
    shaker.Reason.DIE_OUTSIDE: "die_out_of_shaker",
    shaker.Reason.NOT_THREE_DICE: "die_out_of_shaker",
}

# Contents of a spot that are certain enough to confirm a lock.
_CLEAR: Final = (bet_sensor.SpotContent.EMPTY, bet_sensor.SpotContent.CHIP)


def seat_of(slot: str) -> int:
    """Return the seat of a device that belongs to a seat: the number in the name of its slot."""
    return int(slot.rpartition(".")[2])


def _shuffler(slot: str, event: Any) -> Iterator[ev.Event]:
    match event:
        case shuffler.Completed():
            yield ev.ShuffleEnded(slot, event.count, event.mode is shuffler.Mode.SHUFFLE, event.rejected)
        case shuffler.Incomplete():
            yield ev.ShuffleFailed(slot, shuffler.Reason.COUNTS_DISAGREE, None)
        case shuffler.Jam():
            yield ev.ShuffleFailed(slot, shuffler.Reason.JAM, event.inside)
        case shuffler.Stopped() | shuffler.Fault():
            yield ev.ShuffleFailed(slot, event.reason, shuffler.cards_inside(event.entered, event.left))
        case shuffler_state.DeckEjected():
            yield ev.DeckGivenOut(slot)
        case shuffler.Intake():
            yield ev.CardsInserted(slot) if event.cards else ev.IntakeEmptied(slot)
        case Reported(inventory=shuffler.Status() as status):  # what people did while the link was down
            if status.state is shuffler.State.READY:
                yield ev.CardsBehindGate(slot)
            yield ev.CardsInserted(slot) if status.cards_in_intake else ev.IntakeEmptied(slot)


def _shoe(slot: str, event: Any) -> Iterator[ev.Event]:
    if isinstance(event, Reported):
        yield from _shoe_report(slot, event.inventory)
        return
    match event:
        case shoe.Loaded():
            yield ev.ShoeLoaded(slot, event.count)
        case shoe.Dispensed():
            yield ev.StackOut(slot, event.count, event.face_up)
        case shoe.Stub():
            yield ev.StubOut(slot, event.count)
        case shoe.Pile(place=shoe.Place.SLOT, cards=False):
            yield ev.StackTaken(slot)
        case shoe.Drawn():
            yield ev.CardsDrawn(slot, event.moved)
        case shoe.FaceUp():
            yield ev.FaceUpSeen(slot)
        case shoe.CoverCard():
            yield ev.CoverCardOut(slot)
        case shoe.ShortStack():
            yield ev.ShoeFault(slot, shoe.Reason.SHORT_STACK)
        case shoe.Jam():
            yield ev.ShoeFault(slot, shoe.Reason.JAM)
        case shoe.Unbalanced():
            yield ev.ShoeFault(slot, shoe.Reason.COUNTS_DISAGREE)
        case shoe.Stopped() | shoe.Fault():
            yield ev.ShoeFault(slot, event.reason)


def _shoe_report(slot: str, status: shoe.Status) -> Iterator[ev.Event]:
    """Yield what people did while the link was down."""
    if not status.in_slot:
        yield ev.StackTaken(slot)
    if status.state is shoe.State.DEALING and status.moved:
        yield ev.CardsDrawn(slot, status.moved, reported=True)
    if status.state is shoe.State.IDLE and status.counts_certain and not status.in_well:
        yield ev.ShoeEmpty(slot)


def _shaker(slot: str, event: Any) -> Iterator[ev.Event]:
    match event:
        case shaker.Reading():
            one, two, three = event.values
            yield ev.DiceRead(slot, (one, two, three))
        case shaker.Dice(door_open=True):
            yield ev.DiceOpened(slot)
        case shaker.NoRoll():
            yield ev.NoRollReported(slot, _NO_ROLL.get(event.reason, "too_few_shakes"))  # type: ignore[arg-type]


def _rng(slot: str, event: Any) -> Iterator[ev.Event]:
    if isinstance(event, rng.Drawn):
        yield ev.NumberDrawn(slot, event.number)


def _button(slot: str, event: Any) -> Iterator[ev.Event]:
    match event:
        case button.Moved():
            yield ev.ButtonSeen(slot, event.place)
        case Reported(inventory=button.Status() as status):
            yield ev.ButtonSeen(slot, status.place)


def _bet_sensor(slot: str, event: Any) -> Iterator[ev.Event]:
    seat = seat_of(slot)
    match event:
        case bet_sensor.Changed():
            yield _bet_sensed(seat, event)
            if event.change is bet_sensor.Change.LATE:
                yield ev.LateBet(seat)
        case Reported(inventory=bet_sensor.Status() as status):  # what people did while the link was down
            yield _bet_sensed(seat, status)
        case bet_sensor.Locked(latch=latch):
            bet = latch.content is bet_sensor.SpotContent.CHIP
            yield ev.SeatLatched(seat, latch.round, latch.lock_id, latch.last_change, bet, latch.content in _CLEAR)
        case bet_sensor.LockRefused():
            held = event.latch
            if event.reason is bet_sensor.Reason.OTHER_LOCK and held is not None and held.content in _CLEAR:
                yield ev.EarlierLatchReported(
                    seat, held.round, held.lock_id, held.last_change, held.content is bet_sensor.SpotContent.CHIP
                )
            yield ev.SeatLockRefused(seat, event.lock_id, event.reason)


def _bet_sensed(seat: int, spot: bet_sensor.Changed | bet_sensor.Status) -> ev.BetSensed:
    return ev.BetSensed(seat, spot.sequence, spot.content is bet_sensor.SpotContent.CHIP, spot.content in _CLEAR)


_BY_KIND: Final[dict[str, Callable[[str, Any], Iterator[ev.Event]]]] = {
    shuffler.KIND: _shuffler,
    shoe.KIND: _shoe,
    shaker.KIND: _shaker,
    rng.KIND: _rng,
    button.KIND: _button,
    bet_sensor.KIND: _bet_sensor,
}


# Half of the events of machines are progress reports, which the core does not use.
_PROGRESS: Final = frozenset({shuffler.Progress, shoe.Progress})


def translate(slot: str, kind: str, trigger: ReportTrigger | None, event: Any) -> list[ev.Event]:
    """Return the events of the core for one event of a driver: first the change of the slot, then the event itself."""
    events: list[ev.Event] = []
    if trigger is not None:
        events.append(ev.SlotChanged(slot, trigger))
    maker = None if type(event) in _PROGRESS else _BY_KIND.get(kind)
    return events + list(maker(slot, event)) if maker else events
