"""Mutants of the dealer's keypad (KP): presses, the key switch, entries."""

from __future__ import annotations

from typing import Any, Final

from devices.keypad import messages as m
from firmware_bridge.messages import Message
from simulators.mutants.mutant_tools import (
    MutantGroup,
    Real,
    assigned,
    event,
    event_twice,
    kept,
    method,
    no_event,
    other_answer,
    refusal,
    skipped,
)

GROUP: Final = MutantGroup(m.KIND)
R: Final = m.Reason
row: Final = GROUP.row


# --- at rest ----------------------------------------------------------------------------------------------------------


row("PL-12", "status-is-a-press", "Asked for its status it reports a press.",
    other_answer(m.GetStatus, lambda _, __: m.Pressed(1, 0, 0, m.Key.START_GAME, m.Switch.DEALER)))  # fmt: skip


@GROUP.method("firmware._begin", "KP-01", also="CM-08")
def attention_stays_dark(firmware: Any, real: Real, message: Any) -> Any:
    """It does not switch the lamp ATTENTION."""
    ended = real(message)
    firmware._lamps &= ~(1 << m.Lamp.ATTENTION)
    return ended


row(
    "KP-02",
    "test-in-an-entry",
    "While a question is open it refuses a test because a key is held.",
    method(
        "firmware._refusal",
        lambda firmware, real, message: (
            R.KEY_HELD if isinstance(message, m.SelfTest) and firmware._prompt else real(message)
        ),
    ),
)
row("KP-03", "lamps-while-testing", "Its lamps can be switched while it tests them.", refusal(m.SetLamps, R.BUSY))
row("KP-04", "lamps-survive", "Its lamps stay on after a restart.", kept("firmware._forget", "firmware._lamps"))


# --- presses ----------------------------------------------------------------------------------------------------------


row("KP-10", "presses-twice", "Every press is reported twice.", event_twice(m.Pressed))
row("KP-10", "numbers-with-gaps", "It leaves a number out after each press.",
    assigned("firmware._report_press", before={"firmware._press": lambda machine: machine.firmware._press + 1}),
)  # fmt: skip


@GROUP.mutant("KP-11")
def forgets_with_the_link(machine: Any) -> None:
    """A new session gets no presses from before it."""
    machine.board.on_session_start = lambda: None


row("KP-11", "always-fresh", "An old press is reported as if it had just been made.",
    event(Message, when=lambda e: hasattr(e, "age_ms"), age_ms=0))  # fmt: skip
row("KP-12", "clock-of-its-own", "It timestamps presses with another clock than its status.",
    event(Message, when=lambda e: hasattr(e, "at_ms"), at_ms=lambda e: e.at_ms + 60_000))  # fmt: skip


@GROUP.mutant("KP-13")
def counts_every_bounce(machine: Any) -> None:
    """It does not debounce contacts."""
    firmware = machine.firmware

    def edge(key: m.Key, down: bool) -> None:
        firmware._closed_at.clear()
        firmware._edge(key, down)

    machine.mechanics.on_edge = edge


row("KP-14", "silent-about-stuck-keys", "It does not report that a key is stuck.", no_event(m.Fault))


@GROUP.mutant("KP-15")
def takes_stuck_keys(machine: Any) -> None:
    """A stuck key is accepted again as soon as it comes up."""

    def unwatch(firmware: Any, real: Real, key: m.Key) -> None:
        if key not in machine.mechanics.down:
            firmware._stuck.discard(key)
        real(key)

    method("firmware._unwatch", unwatch)(machine)


row("KP-16", "numbers-begin-again", "After a restart its presses have the old numbers again.",
    assigned("firmware._forget", after={"firmware._press": 0}))  # fmt: skip
row("KP-16", "presses-survive", "After a restart it sends the presses from before again.",
    kept("firmware._forget", "firmware._remembered"))  # fmt: skip


# --- the key switch ---------------------------------------------------------------------------------------------------


row("KP-20", "silent-switch", "It does not report that its switch was turned.", no_event(m.Turned))


@GROUP.mutant("KP-21")
def starts_in_every_position(machine: Any) -> None:
    """A game can be started with the switch off."""

    def pressed(firmware: Any, real: Real, key: m.Key) -> None:
        switch = machine.mechanics.switch
        if key is m.Key.START_GAME:
            firmware._report_press(lambda press, age, at: m.Pressed(press, age, at, key, switch))
        else:
            real(key)

    method("firmware._pressed", pressed)(machine)


@GROUP.mutant("KP-21")
def no_lock_out_when_off(machine: Any) -> None:
    """With the switch off the lock-out is not taken."""
    skipped("firmware._pressed", lambda *_: machine.mechanics.switch is m.Switch.OFF)(machine)


row("KP-21", "asks-when-off", "It accepts a question that nobody can answer.", refusal(m.Show, R.SWITCHED_OFF))


# --- entries ----------------------------------------------------------------------------------------------------------


@GROUP.method("firmware._seat_key", "KP-30")
def enters_for_ever(firmware: Any, real: Real, key: m.Key) -> None:
    """CONFIRM enters again though nothing is asked any more."""
    real(key)
    if key is m.Key.CONFIRM:
        firmware._prompt = m.KeypadPrompt.SEATS


@GROUP.method("firmware._seat_key", "KP-30")
def reports_seat_by_seat(firmware: Any, real: Real, key: m.Key) -> None:
    """Every seat key is reported as an entry."""
    real(key)
    if key is not m.Key.CONFIRM:
        asked, seats = (firmware._asked, firmware._seats)
        firmware._report_press(lambda press, age, at: m.SeatsEntered(press, age, at, asked, seats))


@GROUP.method("firmware._digit_key", "KP-31")
def four_digits(firmware: Any, real: Real, key: m.Key) -> None:
    """The fourth digit replaces the third."""
    if m.Key.DIGIT_0 <= key <= m.Key.DIGIT_9:
        firmware._digits = firmware._digits[:2]
    real(key)


@GROUP.method("firmware._ask", "KP-32")
def keeps_half_an_entry(firmware: Any, real: Real, message: m.Show) -> None:
    """A new question begins with the digits that were typed for the old one."""
    digits = firmware._digits if firmware._prompt else ""
    real(message)
    firmware._digits = digits


row("KP-33", "no-lock-out-in-an-entry", "While it asks the lock-out is not taken.",
    skipped("firmware._pressed", lambda firmware, key: key is m.Key.LOCK_OUT and firmware._prompt))  # fmt: skip
