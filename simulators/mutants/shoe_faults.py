"""Mutants of the dealing shoe (SO) when hands, stuck cards or power end a motion, and of the manual shoe."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from devices.shoe import messages as m
from simulators.kinds.shared.card_tracker import SensorPulse
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_refusal, replaced, wrap
from simulators.mutants.shoe import R, S, refuses

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.shoe.machine import SimulatedManualShoe, SimulatedShoe

GROUP: Final = MutantGroup(m.KIND)
mutant = GROUP.mutant
by_hand = partial(GROUP.mutant, model="shoe-manual")


# --- the door, and a stop in mid-stack ------------------------------------------------------------------------------


@mutant("SO-30")
def shoe_door_is_busy(machine: SimulatedShoe) -> None:
    """With the door open it reports that it is busy."""
    replace_refusal(machine, m.CountStub, R.DOOR_OPEN, R.BUSY)


@mutant("SO-31", also="SO-25")
def door_without_doubt(machine: SimulatedShoe) -> None:
    """A door that was open with cards inside causes no doubt."""
    firmware: Any = machine.firmware

    def door(real: Callable[..., None], *, is_open: bool) -> None:
        sure, ready = firmware._counts.sure, firmware.state is S.READY
        real(is_open=is_open)
        if ready:
            firmware._counts.sure = sure

    wrap(firmware, "door", door)


@mutant("SO-32")
def shoe_deaf_to_stop(machine: SimulatedShoe) -> None:
    """A stack that was begun is dealt to its end, stopped or not."""

    def stop(real: Callable[..., None], reason: m.Reason) -> None:
        if machine.firmware.state is not S.DISPENSING or reason is not R.STOPPED:
            real(reason)

    wrap(machine.firmware, "_stop", stop)


@mutant("SO-32")
def stop_loses_a_card(machine: SimulatedShoe) -> None:
    """The card that was on its way when it was stopped is in no count."""

    def change(event: m.Stopped) -> list[Any]:
        return [replaced(event, in_path=0, moved=event.moved - 1)]

    replace_event(machine, m.Stopped, change)


@mutant("SO-32", also="SO-41")
def last_word_without_the_card_under_way(machine: SimulatedShoe) -> None:
    """Its last report before a halt leaves out the card in transit."""
    firmware: Any = machine.firmware

    def report(real: Callable[[], None]) -> None:
        firmware._left_then = firmware._counts.left
        real()

    wrap(firmware, "_report_last_progress", report)


@mutant("SO-33")
def shoe_halted_is_busy(machine: SimulatedShoe) -> None:
    """In HALTED it reports that it is busy."""
    refuses(machine, m.Dispense, S.HALTED, R.BUSY)


@mutant("SO-34")
def shoe_test_ends_doubt(machine: SimulatedShoe) -> None:
    """Any self-test that passes ends every doubt."""
    counts: Any = machine.firmware._counts

    def tested(real: Callable[[], bool]) -> bool:
        counts._looked |= not counts.sure
        return real()

    wrap(counts, "tested", tested)


@mutant("SO-35")
def door_is_called_stop(machine: SimulatedShoe) -> None:
    """A stack that the door ended is called stopped."""
    wrap(machine.firmware, "_stop", lambda real, _: real(R.STOPPED))


# --- cards that stick, and two as one -------------------------------------------------------------------------------


@mutant("SO-40")
def shoe_jams_twice(machine: SimulatedShoe) -> None:
    """One card that sticks is reported twice."""
    replace_event(machine, m.Jam, lambda event: [event, event])


@mutant("SO-41")
def jam_a_segment_early(machine: SimulatedShoe) -> None:
    """It names the segment before the one in which the card sticks."""
    replace_event(machine, m.Jam, lambda event: [replaced(event, segment=m.Segment(event.segment - 1))])


@mutant("SO-41")
def jam_still_in_the_well(machine: SimulatedShoe) -> None:
    """The card that sticks still counts as left in the well."""
    replace_event(machine, m.Jam, lambda event: [replaced(event, left=event.left + 1)])


@mutant("SO-42")
def shoe_blocked_needs_clearing(machine: SimulatedShoe) -> None:
    """While the path is dark it reports that it has to be cleared."""
    replace_refusal(machine, m.ClearJam, R.PATH_BLOCKED, R.NEEDS_CLEARING)


@mutant("SO-43")
def two_cards_without_doubt(machine: SimulatedShoe) -> None:
    """After two cards at once it still knows its counts."""
    firmware: Any = machine.firmware

    def fault(real: Callable[..., None], pulse: SensorPulse, segment: m.Segment, phase: m.Phase) -> None:
        if pulse is SensorPulse.TWO:
            firmware._halt_with(R.DOUBLE_FEED, segment, phase)
        else:
            real(pulse, segment, phase)

    wrap(firmware, "_fault", fault)


@mutant("SO-44")
def never_compares(machine: SimulatedShoe) -> None:
    """It never compares what came out with what went in."""
    wrap(machine.firmware._counts, "agree", lambda _, *, empty: True)  # noqa: ARG005


@mutant("SO-50", also="CM-17 CM-18")
def shoe_power_is_called_stop(machine: SimulatedShoe) -> None:
    """What power interrupted is called stopped."""
    wrap(machine.board.memory, "fail_running", lambda real, _: real(R.STOPPED))


@mutant("SO-50")
def shoe_silent_about_power(machine: SimulatedShoe) -> None:
    """It does not report that power was lost."""
    replace_event(machine, m.Power, lambda _: [])


# --- a manual shoe ----------------------------------------------------------------------------------------------------


@by_hand("SO-60")
def claims_a_count(machine: SimulatedManualShoe) -> None:
    """It reports a count for an uncounted block."""
    replace_event(machine, m.Loaded, lambda event: [replaced(event, count=53)])


@by_hand("SO-61")
def round_one_short(machine: SimulatedManualShoe) -> None:
    """A round ends with a card fewer than were drawn."""
    replace_event(machine, m.RoundEnded, lambda event: [replaced(event, count=event.count - 1)])


@by_hand("SO-62")
def rounds_without_end(machine: SimulatedManualShoe) -> None:
    """It does not report the end of a round that the next one ends."""
    firmware: Any = machine.firmware

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        if isinstance(message, m.StartRound):
            firmware._opened = None
        return real(message)

    wrap(firmware, "_begin", begin)


@by_hand("SO-63")
def always_ordered(machine: SimulatedManualShoe) -> None:
    """A card that is drawn out of turn is reported as ordered."""
    replace_event(machine, m.Drawn, lambda event: [replaced(event, ordered=True)])


@by_hand("SO-64")
def stub_without_rounds(machine: SimulatedManualShoe) -> None:
    """At the stub it has forgotten what was drawn before."""
    replace_event(machine, m.Stub, lambda event: [replaced(event, drawn=event.count)])


@by_hand("SO-65")
def lifted_is_a_stub(machine: SimulatedManualShoe) -> None:
    """Cards that were lifted out are reported as a counted stub."""
    replace_event(machine, m.Fault, lambda event: [event, m.Stub(event.command, 0, 0, 0)] if event.command else [event])


@by_hand("SO-66")
def sure_after_a_jam(machine: SimulatedManualShoe) -> None:
    """It is sure of its counts though hands can take what sticks."""
    setattr(machine.firmware, "_reach_in", lambda: None)  # noqa: B010 - a method of this one machine
