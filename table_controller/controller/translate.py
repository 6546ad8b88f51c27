"""From what a device's driver tells to the core's events, kind by kind. Pure; applies no rule and decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as bet_sensor
from devices.button import messages as button
from devices.report import Reported
from devices.rng import messages as rng
from devices.shaker import messages as shaker
from devices.shoe import messages as shoe
from devices.shuffler import messages as shuffler
from devices.shuffler import state as shuffler_state
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Which irregularity a roll that does not count is, by the shaker's reason; what is not here is simply no roll.
_NO_ROLL: Final = {
    shaker.Reason.DIE_NOT_FLAT: "dice_not_flat",
    shaker.Reason.DIE_OUTSIDE: "die_out_of_shaker",
    shaker.Reason.NOT_THREE_DICE: "die_out_of_shaker",
}

# What lies there clearly enough to be a confirmation.
_CLEAR: Final = (bet_sensor.Lies.EMPTY, bet_sensor.Lies.CHIP)


def seat_of(slot: str) -> int:
    """Return the seat of a device that stands at a seat: the number in its slot's name."""
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
        case shuffler_state.GivenOut():
            yield ev.GivenOut(slot)
        case shuffler.Intake():
            yield ev.CardsInserted(slot) if event.cards else ev.IntakeEmptied(slot)
        case Reported(inventory=shuffler.Status() as status):  # what hands did while nobody listened
            if status.state is shuffler.State.READY:
                yield ev.BehindGate(slot)
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
    """What hands did while nobody listened."""
    if not status.in_slot:
        yield ev.StackTaken(slot)
    if status.state is shoe.State.DEALING and status.moved:
        yield ev.CardsDrawn(slot, status.moved, reported=True)
    if status.state is shoe.State.IDLE and status.sure and not status.in_well:
        yield ev.ShoeEmpty(slot)


def _shaker(slot: str, event: Any) -> Iterator[ev.Event]:
    match event:
        case shaker.Reading():
            one, two, three = event.values
            yield ev.DiceRead(slot, (one, two, three))
        case shaker.Dice(door_open=True):
            yield ev.DiceOpened(slot)
        case shaker.NoRoll():
            yield ev.NoRoll(slot, _NO_ROLL.get(event.reason, "too_few_shakes"))  # type: ignore[arg-type]


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
            yield _lying(seat, event)
            if event.change is bet_sensor.Change.LATE:
                yield ev.LateBet(seat)
        case Reported(inventory=bet_sensor.Status() as status):  # what hands did while nobody listened
            yield _lying(seat, status)
        case bet_sensor.Locked(latch=latch):
            bet = latch.lies is bet_sensor.Lies.CHIP
            yield ev.SeatLatched(seat, latch.round, latch.lock_id, latch.last, bet, latch.lies in _CLEAR)
        case bet_sensor.LockRefused():
            held = event.latch
            if event.reason is bet_sensor.Reason.OTHER_LOCK and held is not None and held.lies in _CLEAR:
                yield ev.LatchStands(seat, held.round, held.lock_id, held.last, held.lies is bet_sensor.Lies.CHIP)
            yield ev.LockRefused(seat, event.lock_id, event.reason)


def _lying(seat: int, told: bet_sensor.Changed | bet_sensor.Status) -> ev.BetSensed:
    return ev.BetSensed(seat, told.sequence, told.lies is bet_sensor.Lies.CHIP, told.lies in _CLEAR)


_BY_KIND: Final[dict[str, Callable[[str, Any], Iterator[ev.Event]]]] = {
    shuffler.KIND: _shuffler,
    shoe.KIND: _shoe,
    shaker.KIND: _shaker,
    rng.KIND: _rng,
    button.KIND: _button,
    bet_sensor.KIND: _bet_sensor,
}


# Half of what machines tell is how far they are: nothing in it is for the core.
_NOTHING_HAPPENED: Final = frozenset({shuffler.Progress, shoe.Progress})


def translate(slot: str, kind: str, trigger: str | None, event: Any) -> list[ev.Event]:
    """Return the core's events for one event of a driver: first what it means for the slot, then what happened."""
    found: list[ev.Event] = []
    if trigger in ("appear", "vanish", "verify", "doubt", "fault"):
        found.append(ev.SlotChanged(slot, trigger))  # type: ignore[arg-type]
    maker = None if type(event) in _NOTHING_HAPPENED else _BY_KIND.get(kind)
    return found + list(maker(slot, event)) if maker else found
