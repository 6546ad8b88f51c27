"""The known state of the keypad, built up from its events, and which presses are too old to act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from devices.driver_events import CommonEvent, DeviceView, LinkDown, LinkUp, OutcomeLost, Reported, unsettled_after
from devices.keypad import messages as m
from firmware_bridge.commands import Settled
from firmware_bridge.errors import StalePress

if TYPE_CHECKING:
    from devices.service import ReportTrigger

# A press older than this (ms) is refused: the dealer, seeing no effect, has done something else meanwhile.
FRESH_MS: Final = 1500


class Prompted(msgspec.Struct, frozen=True):
    """The keypad shows the requested prompt."""

    command: int
    prompt: m.KeypadPrompt


# All events of a keypad's driver.
DriverEvent = m.Event | Prompted | CommonEvent


class KeypadView(DeviceView, frozen=True):
    """The last known state of the keypad."""

    state: m.State | None = None
    switch: m.Switch | None = None
    prompt: m.KeypadPrompt | None = None
    press: int = 0  # the last number received
    lost_presses: int = 0  # presses that are lost for good
    start_press: int | None = None  # the number of the last valid Start Game
    refused: m.KeypadAction | None = None  # the last press that was too old
    seats: m.SeatsEntered | None = None
    count: m.CountEntered | None = None
    answered: int = 0  # the id of the last Show that was answered
    stuck: int = 0  # bit per Key


def check_freshness(action: m.KeypadAction) -> StalePress | None:
    """Return why a press must not be acted on, or None. A lock-out is never too old."""
    lock_out = isinstance(action, m.Pressed) and action.key is m.Key.LOCK_OUT
    if lock_out or isinstance(action, m.Turned) or action.age_ms <= FRESH_MS:  # a switch position has no age
        return None
    return StalePress(f"press {action.press} is {action.age_ms / 1000:.1f} s old, more than {FRESH_MS / 1000:g} s")


def fold(view: KeypadView, event: DriverEvent) -> KeypadView:
    """Return the view after an event; a repeated press changes nothing."""
    replace = msgspec.structs.replace
    match event:
        case m.Pressed() | m.SeatsEntered() | m.CountEntered() | m.Turned():
            return _fold_act(view, event) if event.press > view.press else view
        case LinkUp():
            return KeypadView(
                connected=True, unsettled=view.unsettled, press=view.press, lost_presses=view.lost_presses
            )
        case LinkDown():
            return replace(view, connected=False, state=None, switch=None, prompt=None, start_press=None)
        case Reported(inventory=m.Status() as s):
            gone = max(0, s.oldest - 1 - view.press) if view.press else 0
            return replace(view, state=s.state, switch=s.switch, prompt=s.prompt, stuck=s.stuck,
                           lost_presses=view.lost_presses + gone, press=max(view.press, s.oldest - 1))  # fmt: skip
        case Prompted() if event.command != view.answered:
            asking = m.State.ASKING if event.prompt else m.State.IDLE
            return replace(view, state=asking, prompt=event.prompt)
        case m.Fault():
            return replace(view, stuck=view.stuck | 1 << event.key)
        case m.SelfTested():
            return replace(view, stuck=event.bad_keys)
        case OutcomeLost() | Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case _:
            return view


def _fold_act(view: KeypadView, act: m.KeypadAction) -> KeypadView:
    replace = msgspec.structs.replace
    known = replace(view, press=act.press, lost_presses=view.lost_presses + act.press - view.press - 1)
    if isinstance(act, m.SeatsEntered | m.CountEntered):
        known = replace(known, state=m.State.IDLE, prompt=m.KeypadPrompt.NOTHING, answered=act.asked)
    if check_freshness(act) is not None:
        return replace(known, refused=act)
    match act:
        case m.Pressed(key=m.Key.START_GAME):
            return replace(known, start_press=act.press)
        case m.SeatsEntered():
            return replace(known, seats=act)
        case m.CountEntered():
            return replace(known, count=act)
        case m.Turned():
            return replace(known, switch=act.switch)
        case _:
            return known


def seats_of(entered: m.SeatsEntered) -> tuple[int, ...]:
    """Return the seats that were entered, in order."""
    return tuple(seat for seat in range(1, 7) if entered.seats >> (seat - 1) & 1)


def service_trigger(event: DriverEvent) -> ReportTrigger | None:
    """Return the service trigger of an event (`devices.service`), or None."""
    match event:
        case LinkUp():
            return "appear"
        case LinkDown():
            return "vanish"
        case Reported(inventory=m.Status() as status):
            if status.stuck:
                return "fault"
            return None if status.state is m.State.TESTING else "verify"
        case OutcomeLost():
            return "doubt"
        case m.Fault():
            return "fault"
        case m.SelfTested() if event.bad_keys or event.bad_lamps or not event.display:
            return "fault"
        case _:
            return None
