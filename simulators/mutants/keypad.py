"""Mutants of the dealer's keypad (KP): presses, the key switch, entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.keypad import messages as m
from simulators.mutants.mutant_tools import (
    MutantGroup,
    replace_all_events,
    replace_event,
    replace_refusal,
    replace_reply,
    replaced,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.keypad.machine import SimulatedKeypad

GROUP: Final = MutantGroup(m.KIND)
R: Final = m.Reason


# --- at rest ----------------------------------------------------------------------------------------------------------


@GROUP.mutant("PL-12")
def status_is_a_press(machine: SimulatedKeypad) -> None:
    """Asked for its status it reports a press."""
    replace_reply(machine, m.GetStatus, lambda _: m.Pressed(1, 0, 0, m.Key.START_GAME, m.Switch.DEALER))


@GROUP.mutant("KP-01", also="CM-08")
def attention_stays_dark(machine: SimulatedKeypad) -> None:
    """It does not switch the lamp ATTENTION."""
    firmware: Any = machine.firmware

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        ended = real(message)
        firmware._lamps &= ~(1 << m.Lamp.ATTENTION)
        return ended

    wrap(firmware, "_begin", begin)


@GROUP.mutant("KP-02")
def test_in_an_entry(machine: SimulatedKeypad) -> None:
    """While a question is open it refuses a test because a key is held."""
    firmware: Any = machine.firmware

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        return R.KEY_HELD if isinstance(message, m.SelfTest) and firmware._prompt else real(message)

    wrap(firmware, "_refusal", refusal)


@GROUP.mutant("KP-03")
def lamps_while_testing(machine: SimulatedKeypad) -> None:
    """Its lamps can be switched while it tests them."""
    replace_refusal(machine, m.SetLamps, R.BUSY)


@GROUP.mutant("KP-04")
def lamps_survive(machine: SimulatedKeypad) -> None:
    """Its lamps stay on after a restart."""
    firmware: Any = machine.firmware

    def forget(real: Callable[[], None]) -> None:
        lamps = firmware._lamps
        real()
        firmware._lamps = lamps

    wrap(firmware, "_forget", forget)


# --- presses ----------------------------------------------------------------------------------------------------------


@GROUP.mutant("KP-10")
def presses_twice(machine: SimulatedKeypad) -> None:
    """Every press is reported twice."""
    replace_event(machine, m.Pressed, lambda event: [event, event])


@GROUP.mutant("KP-10")
def numbers_with_gaps(machine: SimulatedKeypad) -> None:
    """It leaves a number out after each press."""
    firmware: Any = machine.firmware

    def report(real: Callable[..., None], make: Any) -> None:
        firmware._press += 1
        real(make)

    wrap(firmware, "_report_press", report)


@GROUP.mutant("KP-11")
def forgets_with_the_link(machine: SimulatedKeypad) -> None:
    """A new session gets no presses from before it."""
    machine.board.on_session_start = lambda: None


@GROUP.mutant("KP-11")
def always_fresh(machine: SimulatedKeypad) -> None:
    """An old press is reported as if it had just been made."""
    replace_all_events(machine, lambda event: [replaced(event, age_ms=0)] if hasattr(event, "age_ms") else [event])


@GROUP.mutant("KP-12")
def clock_of_its_own(machine: SimulatedKeypad) -> None:
    """It timestamps presses with another clock than its status."""
    replace_all_events(
        machine, lambda event: [replaced(event, at_ms=event.at_ms + 60_000)] if hasattr(event, "at_ms") else [event]
    )


@GROUP.mutant("KP-13")
def counts_every_bounce(machine: SimulatedKeypad) -> None:
    """It does not debounce contacts."""
    firmware: Any = machine.firmware

    def edge(real: Callable[..., None], key: m.Key, down: bool) -> None:
        firmware._closed_at.clear()
        real(key, down)

    machine.mechanics.on_edge = lambda key, down: edge(firmware._edge, key, down)


@GROUP.mutant("KP-14")
def silent_about_stuck_keys(machine: SimulatedKeypad) -> None:
    """It does not report that a key is stuck."""
    replace_event(machine, m.Fault, lambda _: [])


@GROUP.mutant("KP-15")
def takes_stuck_keys(machine: SimulatedKeypad) -> None:
    """A stuck key is accepted again as soon as it comes up."""
    firmware: Any = machine.firmware

    def unwatch(real: Callable[[m.Key], None], key: m.Key) -> None:
        if key not in machine.mechanics.down:
            firmware._stuck.discard(key)
        real(key)

    wrap(firmware, "_unwatch", unwatch)


@GROUP.mutant("KP-16")
def numbers_begin_again(machine: SimulatedKeypad) -> None:
    """After a restart its presses have the old numbers again."""
    firmware: Any = machine.firmware

    def forget(real: Callable[[], None]) -> None:
        real()
        firmware._press = 0

    wrap(firmware, "_forget", forget)


@GROUP.mutant("KP-16")
def presses_survive(machine: SimulatedKeypad) -> None:
    """After a restart it sends the presses from before again."""
    firmware: Any = machine.firmware

    def forget(real: Callable[[], None]) -> None:
        remembered = firmware._remembered
        real()
        firmware._remembered = remembered

    wrap(firmware, "_forget", forget)


# --- the key switch ---------------------------------------------------------------------------------------------------


@GROUP.mutant("KP-20")
def silent_switch(machine: SimulatedKeypad) -> None:
    """It does not report that its switch was turned."""
    replace_event(machine, m.Turned, lambda _: [])


@GROUP.mutant("KP-21")
def starts_in_every_position(machine: SimulatedKeypad) -> None:
    """A game can be started with the switch off."""
    firmware: Any = machine.firmware

    def pressed(real: Callable[[m.Key], None], key: m.Key) -> None:
        switch = machine.mechanics.switch
        if key is m.Key.START_GAME:
            firmware._report_press(lambda press, age, at: m.Pressed(press, age, at, key, switch))
        else:
            real(key)

    wrap(firmware, "_pressed", pressed)


@GROUP.mutant("KP-21")
def no_lock_out_when_off(machine: SimulatedKeypad) -> None:
    """With the switch off the lock-out is not taken."""

    def pressed(real: Callable[[m.Key], None], key: m.Key) -> None:
        if machine.mechanics.switch is not m.Switch.OFF:
            real(key)

    wrap(machine.firmware, "_pressed", pressed)


@GROUP.mutant("KP-21")
def asks_when_off(machine: SimulatedKeypad) -> None:
    """It accepts a question that nobody can answer."""
    replace_refusal(machine, m.Show, R.SWITCHED_OFF)


# --- entries ----------------------------------------------------------------------------------------------------------


@GROUP.mutant("KP-30")
def enters_for_ever(machine: SimulatedKeypad) -> None:
    """CONFIRM enters again though nothing is asked any more."""
    firmware: Any = machine.firmware

    def seat_key(real: Callable[[m.Key], None], key: m.Key) -> None:
        real(key)
        if key is m.Key.CONFIRM:
            firmware._prompt = m.KeypadPrompt.SEATS

    wrap(firmware, "_seat_key", seat_key)


@GROUP.mutant("KP-30")
def reports_seat_by_seat(machine: SimulatedKeypad) -> None:
    """Every seat key is reported as an entry."""
    firmware: Any = machine.firmware

    def seat_key(real: Callable[[m.Key], None], key: m.Key) -> None:
        real(key)
        if key is not m.Key.CONFIRM:
            asked, seats = firmware._asked, firmware._seats
            firmware._report_press(lambda press, age, at: m.SeatsEntered(press, age, at, asked, seats))

    wrap(firmware, "_seat_key", seat_key)


@GROUP.mutant("KP-31")
def four_digits(machine: SimulatedKeypad) -> None:
    """The fourth digit replaces the third."""
    firmware: Any = machine.firmware

    def digit_key(real: Callable[[m.Key], None], key: m.Key) -> None:
        if m.Key.DIGIT_0 <= key <= m.Key.DIGIT_9:
            firmware._digits = firmware._digits[:2]
        real(key)

    wrap(firmware, "_digit_key", digit_key)


@GROUP.mutant("KP-32")
def keeps_half_an_entry(machine: SimulatedKeypad) -> None:
    """A new question begins with the digits that were typed for the old one."""
    firmware: Any = machine.firmware

    def ask(real: Callable[[m.Show], None], message: m.Show) -> None:
        digits = firmware._digits if firmware._prompt else ""
        real(message)
        firmware._digits = digits

    wrap(firmware, "_ask", ask)


@GROUP.mutant("KP-33")
def no_lock_out_in_an_entry(machine: SimulatedKeypad) -> None:
    """While it asks the lock-out is not taken."""
    firmware: Any = machine.firmware

    def pressed(real: Callable[[m.Key], None], key: m.Key) -> None:
        if key is not m.Key.LOCK_OUT or not firmware._prompt:
            real(key)

    wrap(firmware, "_pressed", pressed)
