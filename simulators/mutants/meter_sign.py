"""Mutants of the meter sign (MS): shown amounts, reported amounts, and their age."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.meter_sign import messages as m
from simulators.mutants.mutant_tools import (
    Mistake,
    MutantGroup,
    Real,
    answer,
    event_twice,
    method,
    other_answer,
    refusal,
    replaced,
    skipped,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup(m.KIND)
R: Final = m.Reason
S: Final = m.State
row: Final = GROUP.row


def shows(change: Callable[[m.Show], Any]) -> Mistake:
    """Show other amounts."""
    return method("firmware._show", lambda _, real, message: real(change(message)))


# --- what it shows ----------------------------------------------------------------------------------------------------


row("PL-12", "glass-is-status", "Asked for the shown digits it reports its state.",
    other_answer(m.GetShown, lambda _, shown: m.Status(shown.state, shown.sequence, 0, 5000, R.NONE)),
    also="MS-01 MS-05")  # fmt: skip
row("MS-01", "rows-change-places", "It shows what is pending as won.",
    shows(lambda message: replaced(message, pending=message.won, won=message.pending)))  # fmt: skip
row("MS-01", "cents-are-cut", "It shows whole dollars.",
    shows(lambda message: replaced(message, value=message.value // 100 * 100)))  # fmt: skip


@GROUP.mutant("MS-02")
def never_falls(machine: Any) -> None:
    """A value that is lower than what it shows is refused."""
    firmware: Any = machine.firmware
    shown = [0]

    def refusal(real: Real, message: Any) -> m.Reason:
        falls = isinstance(message, m.Show) and firmware.state is S.SHOWING and message.value < shown[0]
        reason = R.TOO_LARGE if falls and not real(message) else real(message)
        if isinstance(message, m.Show) and not reason:
            shown[0] = message.value
        return reason

    wrap(firmware, "_refusal", refusal)


row("MS-03", "takes-late-shows", "A late Show replaces a newer one.",
    refusal(m.Show, R.OLD_SEQUENCE), also="MS-05 MS-13")  # fmt: skip


@GROUP.mutant("MS-04")
def too_large_is_cut(machine: Any) -> None:
    """Of an amount that is too large it shows the last ten digits."""
    refusal(m.Show, R.TOO_LARGE)(machine)

    def cut(message: m.Show) -> Any:
        value, pending, won = (cents % (m.MAX_CENTS + 1) for cents in (message.value, message.pending, message.won))
        return replaced(message, value=value, pending=pending, won=won)

    shows(cut)(machine)


row("MS-05", "blank-is-zero", "With nothing to show it shows nothing won, nothing pending, no value: 0.00.",
    answer(m.GetShown, when=lambda shown: shown.state is S.BLANK, value=0, pending=0, won=0), also="MS-06")  # fmt: skip


@GROUP.method("firmware._forget", "MS-06")
def remembers_its_amounts(firmware: Any, real: Real) -> None:
    """After a restart it shows what it showed before."""
    state, rows, sequence = (firmware.state, firmware._rows, firmware._sequence)
    real()
    if state is not m.State.TESTING:
        firmware.state, firmware._rows, firmware._sequence = (state, rows, sequence)


# --- how old it is ----------------------------------------------------------------------------------------------------


row("MS-10", "age-of-the-last-question", "It reports no age until it is stale.",
    answer(m.GetStatus, when=lambda status: status.state is S.SHOWING, age_ms=0))  # fmt: skip
row("MS-11", "never-is-a-limit", "A limit of 0 is taken.", refusal(m.SetLimit, R.NO_LIMIT), also="CM-06")
row("MS-12", "never-grows-stale", "It shows its last amounts forever, as if they were new.",
    skipped("firmware._grow_old"))  # fmt: skip
row("MS-12", "stale-without-a-mark", "It reports that it is stale, but its display shows no mark.",
    answer(m.GetShown, stale=False))  # fmt: skip


@GROUP.mutant("MS-12")
def stale_too_soon(machine: Any) -> None:
    """It is stale after a third of its limit."""
    firmware: Any = machine.firmware

    def expect(real: Real) -> None:
        limit, firmware._limit_ms = firmware._limit_ms, firmware._limit_ms // 3
        real()
        firmware._limit_ms = limit
        firmware._watch.cancel()
        firmware._watch = machine.clock.after(limit / 3000, grow)

    def grow() -> None:
        updated_at = firmware._updated_at
        firmware._updated_at = updated_at - firmware._limit_ms / 1000
        firmware._grow_old()
        firmware._updated_at = updated_at

    wrap(firmware, "_expect", expect)


row("MS-12", "stale-again-and-again", "It reports twice that it is stale.", event_twice(m.Stale))


@GROUP.method("firmware._refusal", "MS-13")
def refused_is_fresh(firmware: Any, real: Real, message: Any) -> Any:
    """Any Show takes the mark off, refused or not."""
    reason = real(message)
    if isinstance(message, m.Show) and reason and (firmware.state is S.STALE):
        firmware.state = S.SHOWING
        firmware._drive()
    return reason


@GROUP.method("firmware._begin", "MS-14")
def limit_for_the_next(firmware: Any, real: Real, message: Any) -> Any:
    """A new limit holds from the next Show on."""
    if not isinstance(message, m.SetLimit):
        return real(message)
    firmware._limit_ms = message.limit_ms
    return True


# --- the test, and a broken glass -------------------------------------------------------------------------------------


@GROUP.method("firmware._tested", "MS-20")
def pattern_stays(firmware: Any, real: Real, command: int) -> None:
    """After a self-test the pattern is still shown."""
    wrap(firmware, "_drive", lambda _: None)
    real(command)
    del firmware._drive


row("MS-21", "limit-while-testing", "Its limit can be changed while it tests itself.", refusal(m.SetLimit, R.BUSY))
row("MS-30", "never-measures-its-display", "It never measures its display.",
    method("firmware._wrong", lambda *_: [0, 0, 0]), also="MS-31")  # fmt: skip


@GROUP.mutant("MS-30")
def reads_back_the_command(machine: Any) -> None:
    """Asked for the shown digits it reports the commanded ones."""
    commands: list[m.Show] = []

    def change(message: m.Show) -> m.Show:
        commands[:] = [message]
        return message

    def read(shown: m.Shown) -> m.Shown:
        return replaced(shown, value=commands[0].value) if commands and shown.state is S.SHOWING else shown

    shows(change)(machine)
    other_answer(m.GetShown, lambda _, shown: read(shown))(machine)


row("MS-31", "forgives-itself", "A self-test that failed is forgotten at once.",
    answer(m.GetStatus, when=lambda status: status.reason is R.SELF_TEST_FAILED, reason=R.NONE))  # fmt: skip
