"""Mutants of the number generator (RN): numbers that change, untested noise, wrong displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.rng import messages as m
from firmware_bridge.commands import Outcome
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_refusal, replace_reply, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.rng.machine import SimulatedRng

GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason


def refuses(machine: SimulatedRng, command: type[Any], state: m.State, reason: m.Reason) -> None:
    """Give another reason to a command in a state."""

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        real_reason = real(message)
        return reason if isinstance(message, command) and machine.firmware.state is state else real_reason

    wrap(machine.firmware, "_refusal", refusal)


def at_boot(machine: SimulatedRng, spoil: Callable[[Any], None]) -> None:
    """Do something to the firmware before it starts."""

    def boot(real: Callable[[], None]) -> None:
        spoil(machine.firmware)
        real()

    wrap(machine.board, "_on_boot", boot)


def numbers(machine: SimulatedRng, change: Callable[[Callable[[], Any]], Any]) -> None:
    """Draw other numbers; `change` gets the generator's own function."""
    firmware: Any = machine.firmware

    def draw(real: Callable[[int], None], command: int) -> None:
        own = firmware._generator.draw_numbers
        firmware._generator.draw_numbers = lambda: change(own)
        real(command)
        firmware._generator.draw_numbers = own

    wrap(firmware, "_draw", draw)


def fails_as(machine: SimulatedRng, reason: m.Reason, instead: m.Reason) -> None:
    """Call one failure another."""

    def latch(real: Callable[[m.Reason], None], real_reason: m.Reason) -> None:
        real(instead if real_reason is reason else real_reason)

    wrap(machine.firmware, "_latch", latch)


# --- healthy ----------------------------------------------------------------------------------------------------------


@GROUP.mutant("PL-12", also="RN-05 RN-07 RN-09 RN-12 RN-20 RN-22 RN-26")
def draw_is_status(machine: SimulatedRng) -> None:
    """Asked for a draw it reports its state."""
    replace_reply(machine, m.GetDraw, lambda _: machine.firmware.handle(m.GetStatus()))


@GROUP.mutant("RN-01")
def lenient_cutoff(machine: SimulatedRng) -> None:
    """Its noise may repeat itself far too often."""
    replace_reply(machine, m.GetHealth, lambda health: replaced(health, repetition_cutoff=40))


@GROUP.mutant("RN-02")
def draws_twice(machine: SimulatedRng) -> None:
    """A draw gives two numbers."""
    replace_event(
        machine, m.Drawn,
        lambda event: [event, replaced(event, number=event.number % 7 + 1, segments=m.SEGMENTS[event.number % 7 + 1])],
    )  # fmt: skip


@GROUP.mutant("RN-02")
def draws_uncounted(machine: SimulatedRng) -> None:
    """It does not count its draws."""
    replace_reply(machine, m.GetStatus, lambda status: replaced(status, draws=0))


@GROUP.mutant("RN-03")
def shown_before_it_is_drawn(machine: SimulatedRng) -> None:
    """While it draws it reports that a number is shown."""
    refuses(machine, m.Draw, S.DRAWING, R.NUMBER_SHOWN)


@GROUP.mutant("RN-04")
def draws_over_a_number(machine: SimulatedRng) -> None:
    """A number can take the place of one that people are looking at."""
    replace_refusal(machine, m.Draw, R.NUMBER_SHOWN)


@GROUP.mutant("RN-05", also="RN-12")
def number_changes_when_cleared(machine: SimulatedRng) -> None:
    """A number that is no longer shown is reported as another one."""

    def change(past: m.PastDraw) -> m.PastDraw:
        hidden = past.number is not None and machine.firmware.state is not S.SHOWING
        return replaced(past, number=(past.number or 0) % 7 + 1) if hidden else past

    replace_reply(machine, m.GetDraw, change)


@GROUP.mutant("RN-05")
def draws_again(machine: SimulatedRng) -> None:
    """A draw whose id comes back is drawn again."""
    memory: Any = machine.board.memory

    def once(real: Callable[..., Any], message: Any, *how: Any) -> Any:
        if isinstance(message, m.Draw) and memory.recall(message.command).outcome is Outcome.DONE:
            memory._known.pop(message.command)
            memory._tags.pop(message.command)
        return real(message, *how)

    wrap(machine.board, "once", once)


@GROUP.mutant("RN-06")
def clears_silently(machine: SimulatedRng) -> None:
    """It does not report that its display is blank."""
    replace_event(machine, m.Cleared, lambda _: [])


@GROUP.mutant("RN-07")
def invents_numbers(machine: SimulatedRng) -> None:
    """A draw that it does not know drew a 1."""

    def change(past: m.PastDraw) -> m.PastDraw:
        known = machine.board.memory.recall(past.command).outcome is not Outcome.UNKNOWN
        return past if known or past.number is not None else replaced(past, number=1)

    replace_reply(machine, m.GetDraw, change)


@GROUP.mutant("RN-08")
def blank_after_restart(machine: SimulatedRng) -> None:
    """A number is not shown any more after a restart."""

    def spoil(firmware: Any) -> None:
        firmware._shown = None

    at_boot(machine, spoil)


@GROUP.mutant("RN-09")
def interrupted_draw_counts(machine: SimulatedRng) -> None:
    """A draw that was interrupted has a number all the same."""
    memory: Any = machine.board.memory

    def spoil(firmware: Any) -> None:
        for command, known in memory._known.items():
            if known.outcome is Outcome.RUNNING:
                firmware._draws[command] = 3

    at_boot(machine, spoil)


@GROUP.mutant("RN-10")
def unreported_health_test(machine: SimulatedRng) -> None:
    """A self-test ends without reporting what passed."""
    replace_event(machine, m.SelfTested, lambda _: [])


@GROUP.mutant("RN-11")
def unhealthy_while_testing(machine: SimulatedRng) -> None:
    """While it tests itself it reports that it is not healthy."""
    refuses(machine, m.Draw, S.TESTING, R.NOT_HEALTHY)


@GROUP.mutant("RN-12")
def remembers_eight_draws(machine: SimulatedRng) -> None:
    """It remembers eight draws."""

    def draw(real: Callable[[int], None], command: int) -> None:
        real(command)
        while len(machine.firmware._draws) > 8:
            machine.firmware._draws.popitem(last=False)

    wrap(machine.firmware, "_draw", draw)


@GROUP.mutant("RN-12", also="RN-08 RN-23")
def draws_lost_with_the_power(machine: SimulatedRng) -> None:
    """Its numbers do not survive a restart."""
    at_boot(machine, lambda firmware: firmware._draws.clear())


@GROUP.mutant("RN-13", also="RN-20 RN-22")
def number_waits_in_memory(machine: SimulatedRng) -> None:
    """It draws a few numbers at a time and keeps the others for later."""
    stock: list[int] = []

    def change(own: Callable[[], Any]) -> Any:
        if not stock:
            stock.extend(own())
        return [stock.pop(0)] if stock else []

    numbers(machine, change)


@GROUP.mutant("RN-14")
def never_seven(machine: SimulatedRng) -> None:
    """It never draws a seven."""
    numbers(machine, lambda own: [number % 7 or 1 for number in own()])


# --- failures ---------------------------------------------------------------------------------------------------------


@GROUP.mutant("RN-20", also="RN-22 RN-25 RN-26")
def fails_silently(machine: SimulatedRng) -> None:
    """It does not report that its health failed."""
    replace_event(machine, m.HealthFailed, lambda _: [])


@GROUP.mutant("RN-20", also="RN-21 RN-22 RN-26")
def fails_with_a_number(machine: SimulatedRng) -> None:
    """A failed draw still reports a number."""

    def settle(real: Callable[..., None], command: int, outcome: Outcome, *reason: int) -> None:
        if outcome is Outcome.FAILED:
            machine.board.emit(m.Drawn(command, 4, m.SEGMENTS[4]))
        real(command, outcome, *reason)

    wrap(machine.board, "settle", settle)


@GROUP.mutant("RN-21")
def biased_passes(machine: SimulatedRng) -> None:
    """Its self-test does not look for a sample that comes too often."""

    def test(real: Callable[[], m.Reason]) -> m.Reason:
        real_reason = real()
        return R.NONE if real_reason is R.NOISE_BIASED else real_reason

    wrap(machine.firmware, "_test_noise", test)


@GROUP.mutant("RN-22")
def dead_is_stuck(machine: SimulatedRng) -> None:
    """It calls a dead source stuck."""
    fails_as(machine, R.NOISE_DEAD, R.NOISE_STUCK)


@GROUP.mutant("RN-23", also="RN-24")
def draws_in_failure(machine: SimulatedRng) -> None:
    """It draws though its health failed."""
    replace_refusal(machine, m.Draw, R.NOT_HEALTHY)


@GROUP.mutant("RN-23")
def restart_heals(machine: SimulatedRng) -> None:
    """A power cycle clears its failure."""

    def spoil(firmware: Any) -> None:
        firmware._latched = R.NONE

    at_boot(machine, spoil)


@GROUP.mutant("RN-24")
def starts_untested(machine: SimulatedRng) -> None:
    """It starts without testing its noise."""
    firmware: Any = machine.firmware

    def boot(real: Callable[[], None]) -> None:
        own = firmware._test_noise
        firmware._test_noise = lambda: R.NONE
        real()
        firmware._test_noise = own

    wrap(machine.board, "_on_boot", boot)


@GROUP.mutant("RN-25")
def never_reads_back(machine: SimulatedRng) -> None:
    """It does not look at its display any more once a number is shown."""
    wrap(machine.firmware, "_read_back", lambda _: None)


@GROUP.mutant("RN-26")
def shows_it_anyway(machine: SimulatedRng) -> None:
    """A number counts though the display cannot show it."""
    firmware: Any = machine.firmware

    def show(_: Callable[[int], bool], number: int) -> bool:
        machine.display.show(m.SEGMENTS[number])
        firmware.state, firmware._shown = S.SHOWING, number
        return True

    wrap(firmware, "_show", show)


@GROUP.mutant("RN-27")
def cleared_but_lit(machine: SimulatedRng) -> None:
    """It reports a blank display without checking it."""
    firmware: Any = machine.firmware

    def clear(_: Callable[[int], bool], command: int) -> bool:
        machine.display.show(m.BLANK)
        firmware.state, firmware._shown = S.FAILED if firmware._latched else S.IDLE, None
        machine.board.emit(m.Cleared(command))
        return True

    wrap(firmware, "_clear", clear)
