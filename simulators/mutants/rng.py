"""Mutants of the number generator (RN): numbers that change, untested noise, wrong displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.rng import messages as m
from firmware_bridge.commands import Outcome
from simulators.mutants.mutant_tools import (
    MutantGroup,
    Real,
    answer,
    assigned,
    before,
    events,
    method,
    no_event,
    other_answer,
    refusal,
    replaced,
    skipped,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason
row: Final = GROUP.row


def numbers(machine: Any, change: Callable[[Real], Any]) -> None:
    """Draw other numbers; `change` gets the generator's own function."""

    def draw(firmware: Any, real: Real, command: int) -> None:
        own = firmware._generator.draw_numbers
        firmware._generator.draw_numbers = lambda: change(own)
        real(command)
        firmware._generator.draw_numbers = own

    method("firmware._draw", draw)(machine)


# --- healthy ----------------------------------------------------------------------------------------------------------


row("PL-12", "draw-is-status", "Asked for a draw it reports its state.",
    other_answer(m.GetDraw, lambda machine, _: machine.firmware.handle(m.GetStatus())),
    also="RN-05 RN-07 RN-09 RN-12 RN-20 RN-22 RN-26")  # fmt: skip
row("RN-01", "lenient-cutoff", "Its noise may repeat itself far too often.", answer(m.GetHealth, repetition_cutoff=40))
row("RN-02", "draws-twice", "A draw gives two numbers.",
    events(m.Drawn, lambda e: [e, replaced(e, number=e.number % 7 + 1, segments=m.SEGMENTS[e.number % 7 + 1])]),
)  # fmt: skip
row("RN-02", "draws-uncounted", "It does not count its draws.", answer(m.GetStatus, draws=0))
row("RN-03", "shown-before-it-is-drawn", "While it draws it reports that a number is shown.",
    refusal(m.Draw, R.BUSY, R.NUMBER_SHOWN, state=S.DRAWING))  # fmt: skip
row("RN-04", "draws-over-a-number", "A number can take the place of one that people are looking at.",
    refusal(m.Draw, R.NUMBER_SHOWN))  # fmt: skip


@GROUP.mutant("RN-05", also="RN-12")
def number_changes_when_cleared(machine: Any) -> None:
    """A number that is no longer shown is reported as another one."""

    def change(past: m.PastDraw) -> m.PastDraw:
        hidden = past.number is not None and machine.firmware.state is not S.SHOWING
        return replaced(past, number=(past.number or 0) % 7 + 1) if hidden else past

    other_answer(m.GetDraw, lambda _, past: change(past))(machine)


@GROUP.mutant("RN-05")
def draws_again(machine: Any) -> None:
    """A draw whose id comes back is drawn again."""
    memory: Any = machine.board.memory

    def once(real: Real, message: Any, *how: Any) -> Any:
        if isinstance(message, m.Draw) and memory.recall(message.command).outcome is Outcome.DONE:
            memory._known.pop(message.command)
            memory._tags.pop(message.command)
        return real(message, *how)

    wrap(machine.board, "once", once)


row("RN-06", "clears-silently", "It does not report that its display is blank.", no_event(m.Cleared))


@GROUP.mutant("RN-07")
def invents_numbers(machine: Any) -> None:
    """A draw that it does not know drew a 1."""

    def change(past: m.PastDraw) -> m.PastDraw:
        known = machine.board.memory.recall(past.command).outcome is not Outcome.UNKNOWN
        return past if known or past.number is not None else replaced(past, number=1)

    other_answer(m.GetDraw, lambda _, past: change(past))(machine)


row("RN-08", "blank-after-restart", "A number is not shown any more after a restart.",
    assigned("board._on_boot", before={"firmware._shown": None}))  # fmt: skip


@GROUP.mutant("RN-09")
def interrupted_draw_counts(machine: Any) -> None:
    """A draw that was interrupted has a number all the same."""

    def invent(machine: Any) -> None:
        for command, known in machine.board.memory._known.items():
            if known.outcome is Outcome.RUNNING:
                machine.firmware._draws[command] = 3

    before("board._on_boot", invent)(machine)


row("RN-10", "unreported-health-test", "A self-test ends without reporting what passed.", no_event(m.SelfTested))
row("RN-11", "unhealthy-while-testing", "While it tests itself it reports that it is not healthy.",
    refusal(m.Draw, R.BUSY, R.NOT_HEALTHY, state=S.TESTING))  # fmt: skip


@GROUP.method("firmware._draw", "RN-12")
def remembers_eight_draws(firmware: Any, real: Real, command: int) -> None:
    """It remembers eight draws."""
    real(command)
    while len(firmware._draws) > 8:
        firmware._draws.popitem(last=False)


row("RN-12", "draws-lost-with-the-power", "Its numbers do not survive a restart.",
    before("board._on_boot", lambda machine: machine.firmware._draws.clear()), also="RN-08 RN-23")  # fmt: skip


@GROUP.mutant("RN-13", also="RN-20 RN-22")
def number_waits_in_memory(machine: Any) -> None:
    """It draws a few numbers at a time and keeps the others for later."""
    stock: list[int] = []

    def change(own: Callable[[], Any]) -> Any:
        if not stock:
            stock.extend(own())
        return [stock.pop(0)] if stock else []

    numbers(machine, change)


row("RN-14", "never-seven", "It never draws a seven.",
    lambda machine: numbers(machine, lambda own: [number % 7 or 1 for number in own()]))  # fmt: skip


# --- failures ---------------------------------------------------------------------------------------------------------


row("RN-20", "fails-silently", "It does not report that its health failed.",
    no_event(m.HealthFailed), also="RN-22 RN-25 RN-26")  # fmt: skip


@GROUP.method("board.settle", "RN-20", also="RN-21 RN-22 RN-26")
def fails_with_a_number(board: Any, real: Real, command: int, outcome: Outcome, *reason: int) -> None:
    """A failed draw still reports a number."""
    if outcome is Outcome.FAILED:
        board.emit(m.Drawn(command, 4, m.SEGMENTS[4]))
    real(command, outcome, *reason)


row("RN-21", "biased-passes", "Its self-test does not look for a sample that comes too often.",
    method("firmware._test_noise", lambda _, real: R.NONE if (reason := real()) is R.NOISE_BIASED else reason),
)  # fmt: skip
row("RN-22", "dead-is-stuck", "It calls a dead source stuck.",
    method("firmware._latch", lambda _, real, reason: real(R.NOISE_STUCK if reason is R.NOISE_DEAD else reason)),
)  # fmt: skip
row("RN-23", "draws-in-failure", "It draws though its health failed.", refusal(m.Draw, R.NOT_HEALTHY), also="RN-24")
row("RN-23", "restart-heals", "A power cycle clears its failure.",
    assigned("board._on_boot", before={"firmware._latched": R.NONE}))  # fmt: skip


@GROUP.mutant("RN-24")
def starts_untested(machine: Any) -> None:
    """It starts without testing its noise."""
    firmware: Any = machine.firmware

    def boot(real: Real) -> None:
        own = firmware._test_noise
        firmware._test_noise = lambda: R.NONE
        real()
        firmware._test_noise = own

    wrap(machine.board, "_on_boot", boot)


row("RN-25", "never-reads-back", "It does not look at its display any more once a number is shown.",
    skipped("firmware._read_back"))  # fmt: skip


@GROUP.mutant("RN-26")
def shows_it_anyway(machine: Any) -> None:
    """A number counts though the display cannot show it."""
    firmware: Any = machine.firmware

    def show(_: Callable[[int], bool], number: int) -> bool:
        machine.display.show(m.SEGMENTS[number])
        firmware.state, firmware._shown = S.SHOWING, number
        return True

    wrap(firmware, "_show", show)


@GROUP.mutant("RN-27")
def cleared_but_lit(machine: Any) -> None:
    """It reports a blank display without checking it."""
    firmware: Any = machine.firmware

    def clear(_: Callable[[int], bool], command: int) -> bool:
        machine.display.show(m.BLANK)
        firmware.state, firmware._shown = S.FAILED if firmware._latched else S.IDLE, None
        machine.board.emit(m.Cleared(command))
        return True

    wrap(firmware, "_clear", clear)
