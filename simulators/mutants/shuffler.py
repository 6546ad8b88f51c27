"""Mutants of the shuffler (SH) at rest, in a cycle, and with a deck behind its gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.path_telemetry import OpticalLevel
from devices.shuffler import messages as m
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_reply, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.shuffler.machine import SimulatedShuffler

GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason


def replace_status(machine: SimulatedShuffler, change: Callable[[m.Status], m.Status]) -> None:
    """Change the reported status, not the behavior."""
    replace_reply(machine, m.GetStatus, change)


def refuses(machine: SimulatedShuffler, command: type[Any], state: m.State, reason: m.Reason) -> None:
    """Give another reason to a command in a state: NONE lets it happen."""
    firmware: Any = machine.firmware

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        real_reason = real(message)
        meant = isinstance(message, command) and firmware.state is state and real_reason is not R.DOOR_OPEN
        return reason if meant else real_reason

    wrap(firmware, "_refusal", refusal)


# --- at rest ----------------------------------------------------------------------------------------------------------


@GROUP.mutant("PL-12", also="SH-18")
def findings_are_status(machine: SimulatedShuffler) -> None:
    """Asked for findings it reports its state."""
    firmware: Any = machine.firmware
    replace_reply(machine, m.GetFindings, lambda _: firmware._status())


@GROUP.mutant("SH-01", also="SH-20 SH-24 SH-51")
def level_without_threshold(machine: SimulatedShuffler) -> None:
    """A level below the threshold is not called blocked."""

    def change(sensors: m.Sensors) -> m.Sensors:
        levels = list(sensors.levels)
        levels[m.Sensor.EXIT] = OpticalLevel(False, 400, 500)
        return m.Sensors(levels, sensors.currents)

    replace_reply(machine, m.GetSensors, change)


@GROUP.mutant("SH-02")
def nothing_to_eject_is_nothing_loaded(machine: SimulatedShuffler) -> None:
    """With nothing behind the gate it reports that nothing is loaded."""
    refuses(machine, m.Eject, S.IDLE, R.NOTHING_LOADED)


@GROUP.mutant("SH-03")
def reports_stop_when_idle(machine: SimulatedShuffler) -> None:
    """A stop at rest is reported as if something had moved."""

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        if isinstance(message, m.Stop) and machine.firmware.state is S.IDLE:
            machine.board.emit(m.Stopped(message.command, 0, 0, R.STOPPED))
        return real(message)

    wrap(machine.firmware, "_begin", begin)


@GROUP.mutant("SH-04")
def no_test_result(machine: SimulatedShuffler) -> None:
    """A self-test ends without its result."""
    replace_event(machine, m.SelfTested, lambda _: [])


@GROUP.mutant("SH-08")
def stalled_is_done(machine: SimulatedShuffler) -> None:
    """It reports a motor that did not turn, and its jog as done."""
    replace_event(machine, m.Jogged, lambda event: [replaced(event, turned=False)])


@GROUP.mutant("SH-09")
def jogs_into_cards(machine: SimulatedShuffler) -> None:
    """The motor that draws cards in is jogged while cards lie there."""

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        real_reason = real(message)
        return R.NONE if real_reason is R.CARDS_IN_REACH else real_reason

    wrap(machine.firmware, "_refusal", refusal)


@GROUP.mutant("SH-05")
def mode_while_testing(machine: SimulatedShuffler) -> None:
    """The mode can be changed while it tests itself."""
    refuses(machine, m.SetMode, S.TESTING, R.NONE)


def _deaf_to_stop(machine: SimulatedShuffler, state: m.State) -> None:
    def stop(real: Callable[..., None], reason: m.Reason) -> None:
        if machine.firmware.state is not state:
            real(reason)

    wrap(machine.firmware, "_stop", stop)


@GROUP.mutant("SH-06")
def test_cannot_be_stopped(machine: SimulatedShuffler) -> None:
    """A self-test cannot be stopped."""
    _deaf_to_stop(machine, S.TESTING)


@GROUP.mutant("SH-07")
def mode_survives(machine: SimulatedShuffler) -> None:
    """It starts in the mode in which it ended."""
    firmware: Any = machine.firmware

    def forget(real: Callable[[], None]) -> None:
        mode = firmware.mode
        real()
        firmware.mode = mode

    wrap(firmware, "_forget", forget)


# --- a cycle ----------------------------------------------------------------------------------------------------------


@GROUP.mutant("SH-10")
def always_unloading(machine: SimulatedShuffler) -> None:
    """It always reports UNLOADING."""
    replace_status(machine, lambda status: replaced(status, state=S.UNLOADING) if status.state is S.FEEDING else status)


@GROUP.mutant("SH-11")
def completes_twice(machine: SimulatedShuffler) -> None:
    """A cycle is completed twice."""
    replace_event(machine, m.Completed, lambda event: [event, event])


@GROUP.mutant("SH-12")
def cycles_uncounted(machine: SimulatedShuffler) -> None:
    """It does not count its cycles."""
    replace_status(machine, lambda status: replaced(status, cycles=0))


@GROUP.mutant("SH-12", also="SH-46")
def one_card_short(machine: SimulatedShuffler) -> None:
    """It forgets the last card behind the gate."""

    def change(status: m.Status) -> m.Status:
        behind = status.behind_gate
        return replaced(status, behind_gate=behind - 1) if status.state is S.READY and behind else status

    replace_status(machine, change)


@GROUP.mutant("SH-13")
def progress_runs_ahead(machine: SimulatedShuffler) -> None:
    """Cards come out before the last one is in."""
    replace_event(machine, m.Progress, lambda event: [replaced(event, left=event.entered + 1) if event.left else event])


@GROUP.mutant("SH-13")
def last_cards_unreported(machine: SimulatedShuffler) -> None:
    """Its last report of a phase is not that of its end."""
    replace_event(machine, m.Progress, lambda event: [] if event.left == event.entered else [event])


@GROUP.mutant("SH-13")
def reports_no_progress(machine: SimulatedShuffler) -> None:
    """It never reports its progress."""
    replace_event(machine, m.Progress, lambda _: [])


@GROUP.mutant("SH-14")
def mode_while_feeding(machine: SimulatedShuffler) -> None:
    """The mode can be changed while it feeds."""
    refuses(machine, m.SetMode, S.FEEDING, R.NONE)


@GROUP.mutant("SH-15")
def nothing_to_eject_while_unloading(machine: SimulatedShuffler) -> None:
    """While it unloads it reports that there is nothing to eject."""
    refuses(machine, m.Eject, S.UNLOADING, R.NOTHING_TO_EJECT)


@GROUP.mutant("SH-16")
def silent_intake(machine: SimulatedShuffler) -> None:
    """It does not report that its intake ran empty."""
    replace_event(machine, m.Intake, lambda event: [event] if event.cards else [])


@GROUP.mutant("SH-17")
def counts_transits_twice(machine: SimulatedShuffler) -> None:
    """A card counts twice in the statistics."""

    def change(transits: m.Transits) -> m.Transits:
        return m.Transits([replaced(transit, cards=transit.cards * 2) for transit in transits.segments])

    replace_reply(machine, m.GetTransits, change)


@GROUP.mutant("SH-18")
def findings_about_a_good_deck(machine: SimulatedShuffler) -> None:
    """It has findings about a good deck."""
    replace_reply(machine, m.GetFindings, lambda _: m.Findings(1, b"", b""))


# --- a deck behind the gate -------------------------------------------------------------------------------------------


@GROUP.mutant("SH-20")
def occupied_is_busy(machine: SimulatedShuffler) -> None:
    """With cards behind the gate it reports that it is busy."""
    refuses(machine, m.StartCycle, S.READY, R.BUSY)


@GROUP.mutant("SH-21")
def test_forgets_the_gate(machine: SimulatedShuffler) -> None:
    """A self-test makes it forget how many cards lie behind the gate."""
    firmware: Any = machine.firmware

    def tested(real: Callable[[int], None], command: int) -> None:
        if firmware._at_rest is S.READY:
            firmware._behind_gate = None
        real(command)

    wrap(firmware, "_tested", tested)


@GROUP.mutant("SH-22")
def gate_cannot_be_stopped(machine: SimulatedShuffler) -> None:
    """The gate opens to its end, stopped or not."""
    firmware: Any = machine.firmware

    def stop(real: Callable[..., None], reason: m.Reason) -> None:
        if firmware._at_rest is not S.READY:
            real(reason)

    wrap(firmware, "_stop", stop)


@GROUP.mutant("SH-23")
def remembers_the_gate(machine: SimulatedShuffler) -> None:
    """After a restart it reports a count behind the gate that it cannot know."""
    replace_status(machine, lambda status: replaced(status, behind_gate=53) if status.behind_gate is None else status)


@GROUP.mutant("SH-24")
def gate_never_empty(machine: SimulatedShuffler) -> None:
    """Cards that it gave out still count as behind its gate."""
    firmware: Any = machine.firmware

    def ejected(real: Callable[[int], None], command: int) -> None:
        behind = firmware._behind_gate
        real(command)
        firmware._behind_gate = behind

    wrap(firmware, "_ejected", ejected)


@GROUP.mutant("SH-25")
def empty_is_busy(machine: SimulatedShuffler) -> None:
    """With an empty intake it reports that it is busy."""
    firmware: Any = machine.firmware

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        reason = real(message)
        return R.BUSY if reason is R.NOTHING_LOADED else reason

    wrap(firmware, "_refusal", refusal)
