"""Mutants of the meter sign (MS): shown amounts, reported amounts, and their age."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.meter_sign import messages as m
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_refusal, replace_reply, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.meter_sign.machine import SimulatedMeterSign

GROUP: Final = MutantGroup(m.KIND)
R: Final = m.Reason
S: Final = m.State


def _shows(machine: SimulatedMeterSign, change: Callable[[m.Show], Any]) -> None:
    """Change the shown amounts."""
    wrap(machine.firmware, "_show", lambda real, message: real(change(message)))


# --- what it shows ----------------------------------------------------------------------------------------------------


@GROUP.mutant("PL-12", also="MS-01 MS-05")
def glass_is_status(machine: SimulatedMeterSign) -> None:
    """Asked for the shown digits it reports its state."""
    replace_reply(machine, m.GetShown, lambda shown: m.Status(shown.state, shown.sequence, 0, 5000, R.NONE))


@GROUP.mutant("MS-01")
def rows_change_places(machine: SimulatedMeterSign) -> None:
    """It shows what is pending as won."""
    _shows(machine, lambda message: replaced(message, pending=message.won, won=message.pending))


@GROUP.mutant("MS-01")
def cents_are_cut(machine: SimulatedMeterSign) -> None:
    """It shows whole dollars."""
    _shows(machine, lambda message: replaced(message, value=message.value // 100 * 100))


@GROUP.mutant("MS-02")
def never_falls(machine: SimulatedMeterSign) -> None:
    """A value that is lower than what it shows is refused."""
    firmware: Any = machine.firmware
    shown = [0]

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        falls = isinstance(message, m.Show) and firmware.state is S.SHOWING and message.value < shown[0]
        reason = R.TOO_LARGE if falls and not real(message) else real(message)
        if isinstance(message, m.Show) and not reason:
            shown[0] = message.value
        return reason

    wrap(firmware, "_refusal", refusal)


@GROUP.mutant("MS-03", also="MS-05 MS-13")
def takes_late_shows(machine: SimulatedMeterSign) -> None:
    """A late Show replaces a newer one."""
    replace_refusal(machine, m.Show, R.OLD_SEQUENCE)


@GROUP.mutant("MS-04")
def too_large_is_cut(machine: SimulatedMeterSign) -> None:
    """Of an amount that is too large it shows the last ten digits."""
    replace_refusal(machine, m.Show, R.TOO_LARGE)

    def cut(message: m.Show) -> Any:
        value, pending, won = (cents % (m.MAX_CENTS + 1) for cents in (message.value, message.pending, message.won))
        return replaced(message, value=value, pending=pending, won=won)

    _shows(machine, cut)


@GROUP.mutant("MS-05", also="MS-06")
def blank_is_zero(machine: SimulatedMeterSign) -> None:
    """With nothing to show it shows nothing won, nothing pending, no value: 0.00."""

    def zero(shown: m.Shown) -> m.Shown:
        return replaced(shown, value=0, pending=0, won=0) if shown.state is S.BLANK else shown

    replace_reply(machine, m.GetShown, zero)


@GROUP.mutant("MS-06")
def remembers_its_amounts(machine: SimulatedMeterSign) -> None:
    """After a restart it shows what it showed before."""
    firmware: Any = machine.firmware

    def forget(real: Callable[[], None]) -> None:
        state, rows, sequence = firmware.state, firmware._rows, firmware._sequence
        real()
        if state is not m.State.TESTING:
            firmware.state, firmware._rows, firmware._sequence = state, rows, sequence

    wrap(firmware, "_forget", forget)


# --- how old it is ----------------------------------------------------------------------------------------------------


@GROUP.mutant("MS-10")
def age_of_the_last_question(machine: SimulatedMeterSign) -> None:
    """It reports no age until it is stale."""
    replace_reply(
        machine, m.GetStatus, lambda status: replaced(status, age_ms=0) if status.state is S.SHOWING else status
    )


@GROUP.mutant("MS-11", also="CM-06")
def never_is_a_limit(machine: SimulatedMeterSign) -> None:
    """A limit of 0 is taken."""
    replace_refusal(machine, m.SetLimit, R.NO_LIMIT)


@GROUP.mutant("MS-12")
def never_grows_stale(machine: SimulatedMeterSign) -> None:
    """It shows its last amounts forever, as if they were new."""
    setattr(machine.firmware, "_grow_old", lambda: None)  # noqa: B010 - a method of this one machine


@GROUP.mutant("MS-12")
def stale_without_a_mark(machine: SimulatedMeterSign) -> None:
    """It reports that it is stale, but its display shows no mark."""
    replace_reply(machine, m.GetShown, lambda shown: replaced(shown, stale=False))


@GROUP.mutant("MS-12")
def stale_too_soon(machine: SimulatedMeterSign) -> None:
    """It is stale after a third of its limit."""
    firmware: Any = machine.firmware

    def expect(real: Callable[[], None]) -> None:
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


@GROUP.mutant("MS-12")
def stale_again_and_again(machine: SimulatedMeterSign) -> None:
    """It reports twice that it is stale."""
    replace_event(machine, m.Stale, lambda event: [event, event])


@GROUP.mutant("MS-13")
def refused_is_fresh(machine: SimulatedMeterSign) -> None:
    """Any Show takes the mark off, refused or not."""
    firmware: Any = machine.firmware

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        reason = real(message)
        if isinstance(message, m.Show) and reason and firmware.state is S.STALE:
            firmware.state = S.SHOWING
            firmware._drive()
        return reason

    wrap(firmware, "_refusal", refusal)


@GROUP.mutant("MS-14")
def limit_for_the_next(machine: SimulatedMeterSign) -> None:
    """A new limit holds from the next Show on."""
    firmware: Any = machine.firmware

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        if not isinstance(message, m.SetLimit):
            return real(message)
        firmware._limit_ms = message.limit_ms
        return True

    wrap(firmware, "_begin", begin)


# --- the test, and a broken glass -------------------------------------------------------------------------------------


@GROUP.mutant("MS-20")
def pattern_stays(machine: SimulatedMeterSign) -> None:
    """After a self-test the pattern is still shown."""
    firmware: Any = machine.firmware

    def tested(real: Callable[[int], None], command: int) -> None:
        wrap(firmware, "_drive", lambda _: None)
        real(command)
        del firmware._drive

    wrap(firmware, "_tested", tested)


@GROUP.mutant("MS-21")
def limit_while_testing(machine: SimulatedMeterSign) -> None:
    """Its limit can be changed while it tests itself."""
    replace_refusal(machine, m.SetLimit, R.BUSY)


@GROUP.mutant("MS-30", also="MS-31")
def never_measures_its_display(machine: SimulatedMeterSign) -> None:
    """It never measures its display."""
    wrap(machine.firmware, "_wrong", lambda *_: [0, 0, 0])


@GROUP.mutant("MS-30")
def reads_back_the_command(machine: SimulatedMeterSign) -> None:
    """Asked for the shown digits it reports the commanded ones."""
    commands: list[m.Show] = []

    def change(message: m.Show) -> m.Show:
        commands[:] = [message]
        return message

    def read(shown: m.Shown) -> m.Shown:
        return replaced(shown, value=commands[0].value) if commands and shown.state is S.SHOWING else shown

    _shows(machine, change)
    replace_reply(machine, m.GetShown, read)


@GROUP.mutant("MS-31")
def forgives_itself(machine: SimulatedMeterSign) -> None:
    """A self-test that failed is forgotten at once."""
    replace_reply(
        machine,
        m.GetStatus,
        lambda status: replaced(status, reason=R.NONE) if status.reason is R.SELF_TEST_FAILED else status,
    )
