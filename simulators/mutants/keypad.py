"""Mutants of the dealer's keypad (KP): presses, the key switch, entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.keypad import messages as m
from simulators.mutants.workshop import Workshop, allows, answers, each_event, replaced, tells, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.machines.keypad import SimulatedKeypad

WORKSHOP: Final = Workshop(m.KIND)
R: Final = m.Reason


# --- at rest ----------------------------------------------------------------------------------------------------------


@WORKSHOP.mutant("PL-12")
def status_is_a_press(machine: SimulatedKeypad) -> None:
    """Asked what it does it tells a press."""
    answers(machine, m.GetStatus, lambda _: m.Pressed(1, 0, 0, m.Key.START_GAME, m.Switch.DEALER))


@WORKSHOP.mutant("KP-01", also="CM-08")
def attention_stays_dark(machine: SimulatedKeypad) -> None:
    """It does not switch the lamp ATTENTION."""
    twin: Any = machine.twin

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        ended = real(message)
        twin._lamps &= ~(1 << m.Lamp.ATTENTION)
        return ended

    wrap(twin, "_begin", begin)


@WORKSHOP.mutant("KP-02")
def test_in_an_entry(machine: SimulatedKeypad) -> None:
    """While it asks it says to a test that a key is held."""
    twin: Any = machine.twin

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        return R.KEY_HELD if isinstance(message, m.SelfTest) and twin._prompt else real(message)

    wrap(twin, "_refusal", refusal)


@WORKSHOP.mutant("KP-03")
def lamps_while_testing(machine: SimulatedKeypad) -> None:
    """Its lamps can be switched while it tests them."""
    allows(machine, m.SetLamps, R.BUSY)


@WORKSHOP.mutant("KP-04")
def lamps_survive(machine: SimulatedKeypad) -> None:
    """Its lamps burn on after a restart."""
    twin: Any = machine.twin

    def forget(real: Callable[[], None]) -> None:
        lamps = twin._lamps
        real()
        twin._lamps = lamps

    wrap(twin, "_forget", forget)


# --- presses ----------------------------------------------------------------------------------------------------------


@WORKSHOP.mutant("KP-10")
def presses_twice(machine: SimulatedKeypad) -> None:
    """Every press is told twice."""
    tells(machine, m.Pressed, lambda event: [event, event])


@WORKSHOP.mutant("KP-10")
def numbers_with_gaps(machine: SimulatedKeypad) -> None:
    """It leaves a number out after each press."""
    twin: Any = machine.twin

    def tell(real: Callable[..., None], make: Any) -> None:
        twin._press += 1
        real(make)

    wrap(twin, "_tell", tell)


@WORKSHOP.mutant("KP-11")
def forgets_with_the_link(machine: SimulatedKeypad) -> None:
    """A new session hears nothing of what was pressed before."""
    machine.board.on_host = lambda: None


@WORKSHOP.mutant("KP-11")
def always_fresh(machine: SimulatedKeypad) -> None:
    """An old press is told as if it had just been made."""
    each_event(machine, lambda event: [replaced(event, age_ms=0)] if hasattr(event, "age_ms") else [event])


@WORKSHOP.mutant("KP-12")
def clock_of_its_own(machine: SimulatedKeypad) -> None:
    """It tells the time of a press by another clock than its status."""
    each_event(
        machine, lambda event: [replaced(event, at_ms=event.at_ms + 60_000)] if hasattr(event, "at_ms") else [event]
    )


@WORKSHOP.mutant("KP-13")
def counts_every_bounce(machine: SimulatedKeypad) -> None:
    """It does not wait for a contact to come to rest."""
    twin: Any = machine.twin

    def edge(real: Callable[..., None], key: m.Key, down: bool) -> None:
        twin._closed_at.clear()
        real(key, down)

    machine.mechanics.on_edge = lambda key, down: edge(twin._edge, key, down)


@WORKSHOP.mutant("KP-14")
def silent_about_stuck_keys(machine: SimulatedKeypad) -> None:
    """It does not tell that a key is stuck."""
    tells(machine, m.Fault, lambda _: [])


@WORKSHOP.mutant("KP-15")
def takes_stuck_keys(machine: SimulatedKeypad) -> None:
    """A key that was stuck is taken again as soon as it comes up."""
    twin: Any = machine.twin

    def unwatch(real: Callable[[m.Key], None], key: m.Key) -> None:
        if key not in machine.mechanics.down:
            twin._stuck.discard(key)
        real(key)

    wrap(twin, "_unwatch", unwatch)


@WORKSHOP.mutant("KP-16")
def numbers_begin_again(machine: SimulatedKeypad) -> None:
    """After a restart its presses have the old numbers again."""
    twin: Any = machine.twin

    def forget(real: Callable[[], None]) -> None:
        real()
        twin._press = 0

    wrap(twin, "_forget", forget)


@WORKSHOP.mutant("KP-16")
def presses_survive(machine: SimulatedKeypad) -> None:
    """After a restart it tells again what was pressed before it."""
    twin: Any = machine.twin

    def forget(real: Callable[[], None]) -> None:
        remembered = twin._remembered
        real()
        twin._remembered = remembered

    wrap(twin, "_forget", forget)


# --- the key switch ---------------------------------------------------------------------------------------------------


@WORKSHOP.mutant("KP-20")
def silent_switch(machine: SimulatedKeypad) -> None:
    """It does not tell that its switch was turned."""
    tells(machine, m.Turned, lambda _: [])


@WORKSHOP.mutant("KP-21")
def starts_in_every_position(machine: SimulatedKeypad) -> None:
    """A game can be started with the switch off."""
    twin: Any = machine.twin

    def pressed(real: Callable[[m.Key], None], key: m.Key) -> None:
        switch = machine.mechanics.switch
        if key is m.Key.START_GAME:
            twin._tell(lambda press, age, at: m.Pressed(press, age, at, key, switch))
        else:
            real(key)

    wrap(twin, "_pressed", pressed)


@WORKSHOP.mutant("KP-21")
def no_lock_out_when_off(machine: SimulatedKeypad) -> None:
    """With the switch off the lock-out is not taken."""

    def pressed(real: Callable[[m.Key], None], key: m.Key) -> None:
        if machine.mechanics.switch is not m.Switch.OFF:
            real(key)

    wrap(machine.twin, "_pressed", pressed)


@WORKSHOP.mutant("KP-21")
def asks_when_off(machine: SimulatedKeypad) -> None:
    """It asks for an entry that nobody could make."""
    allows(machine, m.Show, R.SWITCHED_OFF)


# --- entries ----------------------------------------------------------------------------------------------------------


@WORKSHOP.mutant("KP-30")
def enters_for_ever(machine: SimulatedKeypad) -> None:
    """CONFIRM enters again though nothing is asked any more."""
    twin: Any = machine.twin

    def seat_key(real: Callable[[m.Key], None], key: m.Key) -> None:
        real(key)
        if key is m.Key.CONFIRM:
            twin._prompt = m.Prompt.SEATS

    wrap(twin, "_seat_key", seat_key)


@WORKSHOP.mutant("KP-30")
def tells_seat_by_seat(machine: SimulatedKeypad) -> None:
    """Every seat key is told as an entry."""
    twin: Any = machine.twin

    def seat_key(real: Callable[[m.Key], None], key: m.Key) -> None:
        real(key)
        if key is not m.Key.CONFIRM:
            asked, seats = twin._asked, twin._seats
            twin._tell(lambda press, age, at: m.SeatsEntered(press, age, at, asked, seats))

    wrap(twin, "_seat_key", seat_key)


@WORKSHOP.mutant("KP-31")
def four_digits(machine: SimulatedKeypad) -> None:
    """The fourth digit replaces the third."""
    twin: Any = machine.twin

    def digit_key(real: Callable[[m.Key], None], key: m.Key) -> None:
        if m.Key.DIGIT_0 <= key <= m.Key.DIGIT_9:
            twin._digits = twin._digits[:2]
        real(key)

    wrap(twin, "_digit_key", digit_key)


@WORKSHOP.mutant("KP-32")
def keeps_half_an_entry(machine: SimulatedKeypad) -> None:
    """A new question begins with the digits that were typed for the old one."""
    twin: Any = machine.twin

    def ask(real: Callable[[m.Show], None], message: m.Show) -> None:
        digits = twin._digits if twin._prompt else ""
        real(message)
        twin._digits = digits

    wrap(twin, "_ask", ask)


@WORKSHOP.mutant("KP-33")
def no_lock_out_in_an_entry(machine: SimulatedKeypad) -> None:
    """While it asks the lock-out is not taken."""
    twin: Any = machine.twin

    def pressed(real: Callable[[m.Key], None], key: m.Key) -> None:
        if key is not m.Key.LOCK_OUT or not twin._prompt:
            real(key)

    wrap(twin, "_pressed", pressed)
