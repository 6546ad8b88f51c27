"""What is known of a dice shaker, folded from its events. Pure: no clock, no link, and no rule of a game."""

from __future__ import annotations

import msgspec

from devices.report import LinkDown, LinkUp, Misread, Reported, Told, View, unsettled_after
from devices.shaker import messages as m
from devices.witness import link_trigger
from firmware_bridge.commands import Settled

# Everything that a shaker's driver tells.
DriverEvent = m.Event | Told


class ShakerView(View, frozen=True):
    """The last known picture of one shaker.

    `roll`, `values` and `no_roll` are the last roll and its end, and outlive the link; the rest does not.
    """

    state: m.State | None = None
    lid_on: bool | None = None
    covered: bool | None = None  # by the last Lid event of this link alone, which no report can overtake
    door_open: bool = False
    openings: int = 0  # of the door, as last reported
    dice: int | None = None
    shakes: int = 0
    roll: int | None = None
    values: tuple[int, ...] | None = None
    no_roll: m.Reason | None = None
    disturbed: bool = False  # the dice do not lie any more as they were read


def fold(view: ShakerView, event: DriverEvent) -> ShakerView:
    """Return the picture after an event."""
    replace = msgspec.structs.replace
    match event:
        case LinkUp() | LinkDown():
            return ShakerView(
                connected=isinstance(event, LinkUp), unsettled=view.unsettled,
                roll=view.roll, values=view.values, no_roll=view.no_roll,
            )  # fmt: skip
        case Reported(inventory=m.Status() as status):
            return _fold_status(view, status)
        case Misread() | Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case m.Shaken(roll=None):
            return replace(view, shakes=event.shakes)
        case m.Shaken() if event.roll == view.roll and _ended(view):
            return view  # told before, and older than the report that was told first
        case m.Shaken():
            return replace(view, state=m.State.ARMED, roll=event.roll, shakes=event.shakes, values=None, no_roll=None,
                           disturbed=False)  # fmt: skip
        case m.Lid():
            opened = view.state is m.State.ARMED and not event.on
            return replace(view, lid_on=event.on, covered=event.on, disturbed=view.disturbed and not event.on,
                           state=m.State.SETTLING if opened else view.state)  # fmt: skip
        case m.Reading():
            return replace(view, state=m.State.RESTING, roll=event.command, shakes=event.shakes,
                           values=tuple(event.values), no_roll=None)  # fmt: skip
        case m.NoRoll():
            return replace(view, state=m.State.RESTING, roll=event.command, shakes=event.shakes, dice=event.dice,
                           values=None, no_roll=event.reason)  # fmt: skip
        case m.Dice():
            return replace(view, door_open=event.door_open, dice=event.dice, disturbed=event.disturbed)
        case m.SelfTested():
            return replace(view, state=m.State.FAULTY if event.bad_sensors else m.State.RESTING)
        case _:
            return view


def _fold_status(view: ShakerView, status: m.Status) -> ShakerView:
    ended = _end_of(status)
    if ended is None and status.roll == view.roll and _ended(view):
        ended = (view.values, view.no_roll)  # the status is older than the event that ended the roll
    values, no_roll = ended or (None, None)
    return msgspec.structs.replace(
        view, state=status.state, lid_on=status.lid_on, door_open=status.door_open, openings=status.openings,
        dice=status.dice, shakes=status.shakes, roll=status.roll, values=values, no_roll=no_roll,
        disturbed=status.disturbed,
    )  # fmt: skip


def _ended(view: ShakerView) -> bool:
    return view.values is not None or view.no_roll is not None


def _end_of(message: m.Status | m.Roll | m.Reading | m.NoRoll) -> tuple[tuple[int, ...] | None, m.Reason | None] | None:
    """Return the end that something says of a roll: its values or why it is none; None if it has not ended."""
    match message:
        case m.Reading():
            return tuple(message.values), None
        case m.NoRoll():
            return None, message.reason
        case m.Roll(ending=m.Ending.READ) if message.values is not None:
            return tuple(message.values), None
        case m.Roll(ending=m.Ending.NO_ROLL):
            return None, message.reason
        case m.Status(values=None) if message.roll is not None and message.reason:
            return None, message.reason
        case m.Status() if message.values is not None:
            return tuple(message.values), None
        case _:
            return None


def contradiction(view: ShakerView, said: object) -> str | None:
    """Return what is wrong with something that a shaker says, by itself or by what it told before; None if nothing."""
    if isinstance(said, m.Sensors) and said.lid.active and said.dice:
        return "dice were told that lie under the lid"
    if not isinstance(said, m.Status | m.Roll | m.Reading | m.NoRoll):
        return None
    roll = said.roll if isinstance(said, m.Status) else said.command
    end = _end_of(said)
    if end is not None and roll == view.roll and _ended(view):
        known = (view.values, view.no_roll)
        return None if end == known else f"roll {roll} ended as {_words(known)}, and now as {_words(end)}"
    if isinstance(said, m.Reading):
        if said.shakes < m.LEAST_SHAKES:
            return f"roll {roll} was read after {said.shakes} shakes"
        if not all(said.flat):
            return f"roll {roll} was read with a die that is not flat"
        if view.covered:
            return f"roll {roll} was read under the lid"
    return None


def _words(end: tuple[tuple[int, ...] | None, m.Reason | None]) -> str:
    values, reason = end
    return " ".join(map(str, values)) if values is not None else f"no roll ({reason.name if reason else '?'})"


def service_trigger(event: DriverEvent) -> str | None:
    """Return what an event means for the slot's service state (`devices.service`), or None.

    A roll that is no roll is the dice's doing, not a fault of the shaker.
    """
    match event:
        case Reported(inventory=m.Status(state=m.State.FAULTY)):
            return "fault"
        case Reported(inventory=m.Status(state=m.State.RESTING)):
            return "verify"
        case m.SelfTested() if event.bad_sensors:
            return "fault"
        case _:
            return link_trigger(event)
