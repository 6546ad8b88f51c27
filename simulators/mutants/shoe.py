"""Mutants of the dealing shoe (SO) at rest, while it takes a block in, and while it deals it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.path_telemetry import OpticalLevel
from devices.shoe import messages as m
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_refusal, replace_reply, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.shoe.machine import SimulatedShoe

GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason


def replace_status(machine: SimulatedShoe, change: Callable[[m.Status], m.Status]) -> None:
    """Change the reported status, not the behavior."""
    replace_reply(machine, m.GetStatus, change)


def refuses(machine: SimulatedShoe, command: type[Any], state: m.State, reason: m.Reason) -> None:
    """Give another reason to a command in a state."""
    firmware: Any = machine.firmware

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        real_reason = real(message)
        return reason if isinstance(message, command) and firmware.state is state and real_reason else real_reason

    wrap(firmware, "_refusal", refusal)


# --- at rest ----------------------------------------------------------------------------------------------------------


@GROUP.mutant("PL-12")
def transits_are_sensors(machine: SimulatedShoe) -> None:
    """Asked for its transit times it reports its sensors."""
    mechanics = machine.mechanics
    replace_reply(machine, m.GetTransits, lambda _: m.Sensors(mechanics.levels(), mechanics.currents()))


@GROUP.mutant("SO-01", also="SO-41")
def shoe_level_without_threshold(machine: SimulatedShoe) -> None:
    """A level below the threshold is not called blocked."""

    def change(sensors: m.Sensors) -> m.Sensors:
        levels = list(sensors.levels)
        levels[m.Sensor.DRAW] = OpticalLevel(False, 400, 500)
        return m.Sensors(levels, sensors.currents)

    replace_reply(machine, m.GetSensors, change)


@GROUP.mutant("SO-01", model="shoe-manual")
def shoe_invents_a_sensor(machine: SimulatedShoe) -> None:
    """A manual shoe reports an intake that it does not have."""

    def change(sensors: m.Sensors) -> m.Sensors:
        return m.Sensors([OpticalLevel(False, 900, 500), *sensors.levels[1:]], sensors.currents)

    replace_reply(machine, m.GetSensors, change)


@GROUP.mutant("SO-02")
def rounds_are_busy(machine: SimulatedShoe) -> None:
    """An automated shoe reports that it is busy when it is asked for a round."""
    replace_refusal(machine, m.StartRound, R.NOT_CAPABLE, R.BUSY)


@GROUP.mutant("SO-02", model="shoe-manual")
def stacks_are_too_large(machine: SimulatedShoe) -> None:
    """A manual shoe finds a stack too large that it could not deal at all."""
    replace_refusal(machine, m.Dispense, R.NOT_CAPABLE, R.STACK_SIZE)


@GROUP.mutant("SO-03")
def too_large_is_too_few(machine: SimulatedShoe) -> None:
    """A stack of more cards than it ever deals is called too few cards."""
    replace_refusal(machine, m.Dispense, R.STACK_SIZE, R.TOO_FEW_CARDS)


@GROUP.mutant("SO-04")
def shoe_reports_stop_when_idle(machine: SimulatedShoe) -> None:
    """A stop at rest is reported as if something had moved."""

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        if isinstance(message, m.Stop) and machine.firmware.state in (S.IDLE, S.READY):
            machine.board.emit(m.Stopped(message.command, m.Phase.LOADING, 0, 0, 0, R.STOPPED))
        return real(message)

    wrap(machine.firmware, "_begin", begin)


@GROUP.mutant("SO-05")
def shoe_no_test_result(machine: SimulatedShoe) -> None:
    """A self-test ends without its result."""
    replace_event(machine, m.SelfTested, lambda _: [])


@GROUP.mutant("SO-08")
def shoe_jogs_one_way(machine: SimulatedShoe) -> None:
    """A motor always turns forward."""
    replace_event(machine, m.Jogged, lambda event: [replaced(event, reverse=False)])


@GROUP.mutant("SO-06")
def shoe_testing_needs_clearing(machine: SimulatedShoe) -> None:
    """While it tests itself it reports that it has to be cleared."""
    refuses(machine, m.Load, S.TESTING, R.NEEDS_CLEARING)


def _deaf_to_stop(machine: SimulatedShoe, state: m.State) -> None:
    def stop(real: Callable[..., None], reason: m.Reason) -> None:
        if machine.firmware.state is not state:
            real(reason)

    wrap(machine.firmware, "_stop", stop)


@GROUP.mutant("SO-07")
def shoe_test_cannot_be_stopped(machine: SimulatedShoe) -> None:
    """A self-test cannot be stopped."""
    _deaf_to_stop(machine, S.TESTING)


# --- a block ----------------------------------------------------------------------------------------------------------


@GROUP.mutant("SO-10")
def loads_twice(machine: SimulatedShoe) -> None:
    """One block is reported as loaded twice."""
    replace_event(machine, m.Loaded, lambda event: [event, event])


@GROUP.mutant("SO-11", also="SO-27")
def loads_one_too_many(machine: SimulatedShoe) -> None:
    """It counts one card more than the well holds."""
    replace_event(machine, m.Loaded, lambda event: [replaced(event, count=event.count + 1)])


@GROUP.mutant("SO-11")
def last_cards_of_a_block_unreported(machine: SimulatedShoe) -> None:
    """While it loads a block it stops reporting progress before the end."""
    replace_event(
        machine, m.Progress, lambda event: [] if event.phase is m.Phase.LOADING and event.moved > 45 else [event]
    )


@GROUP.mutant("SO-12")
def loading_is_empty(machine: SimulatedShoe) -> None:
    """While it loads a block it reports that it is empty."""
    refuses(machine, m.Dispense, S.LOADING, R.SHOE_EMPTY)


@GROUP.mutant("SO-13")
def loaded_is_nothing_loaded(machine: SimulatedShoe) -> None:
    """With a block in its well it asks for one in its intake."""
    replace_refusal(machine, m.Load, R.ALREADY_LOADED, R.NOTHING_LOADED)


# --- stacks -----------------------------------------------------------------------------------------------------------


@GROUP.mutant("SO-14")
def stack_counted_too_far(machine: SimulatedShoe) -> None:
    """Its last Progress of a stack has a card more than the stack."""
    phase = m.Phase.DISPENSING
    replace_event(machine, m.Progress,
          lambda event: [replaced(event, moved=8) if event.phase is phase and event.moved == 7 else event])  # fmt: skip


@GROUP.mutant("SO-14")
def one_card_too_many(machine: SimulatedShoe) -> None:
    """Every stack has a card more than was ordered."""
    firmware: Any = machine.firmware

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        ended = real(message)
        firmware._ordered_cards += isinstance(message, m.Dispense)
        return ended

    wrap(firmware, "_begin", begin)


@GROUP.mutant("SO-15")
def stacks_uncounted(machine: SimulatedShoe) -> None:
    """It does not count its stacks."""
    replace_status(machine, lambda status: replaced(status, stacks=0))


@GROUP.mutant("SO-16")
def dispensing_is_occupied(machine: SimulatedShoe) -> None:
    """While it deals a stack it reports that the slot is occupied."""
    refuses(machine, m.Dispense, S.DISPENSING, R.SLOT_OCCUPIED)


@GROUP.mutant("SO-17")
def stack_on_a_stack(machine: SimulatedShoe) -> None:
    """It deals a stack onto one in the slot."""
    replace_refusal(machine, m.Dispense, R.SLOT_OCCUPIED)


@GROUP.mutant("SO-20")
def silent_slot(machine: SimulatedShoe) -> None:
    """It does not report that a stack was taken."""
    replace_event(machine, m.Pile, lambda event: [] if event.place is m.Place.SLOT else [event])


@GROUP.mutant("SO-21")
def too_few_is_empty(machine: SimulatedShoe) -> None:
    """With too few cards it reports that it has none."""
    replace_refusal(machine, m.Dispense, R.TOO_FEW_CARDS, R.SHOE_EMPTY)


@GROUP.mutant("SO-22", also="SO-23")
def stub_one_short(machine: SimulatedShoe) -> None:
    """Its stub is a card too small."""
    replace_event(machine, m.Stub, lambda event: [replaced(event, count=max(0, event.count - 1))])


@GROUP.mutant("SO-23")
def forgets_its_stacks(machine: SimulatedShoe) -> None:
    """At the stub it has forgotten what it dealt before."""
    replace_event(machine, m.Stub, lambda event: [replaced(event, drawn=event.count)])


@GROUP.mutant("SO-24")
def empty_is_too_few(machine: SimulatedShoe) -> None:
    """Empty, it reports that it has too few cards."""
    replace_refusal(machine, m.Dispense, R.SHOE_EMPTY, R.TOO_FEW_CARDS)


@GROUP.mutant("SO-25")
def short_stack_is_a_stack(machine: SimulatedShoe) -> None:
    """A stack that came short is reported as dealt."""
    replace_event(machine, m.ShortStack, lambda event: [m.Dispensed(event.command, event.dispensed, 0, event.left)])


@GROUP.mutant("SO-26")
def silent_about_faces(machine: SimulatedShoe) -> None:
    """It does not report a face-up card."""
    replace_event(machine, m.FaceUp, lambda _: [])


@GROUP.mutant("SO-27")
def cover_is_a_card(machine: SimulatedShoe) -> None:
    """A cover card counts as a card of the block and of the stack."""
    wrap(machine.firmware, "_arrived", lambda real, *, cover: real(cover=False))  # noqa: ARG005


@GROUP.mutant("SO-28")
def every_hand_is_ordered(machine: SimulatedShoe) -> None:
    """A card that a hand draws is reported as ordered."""
    replace_event(machine, m.Drawn, lambda event: [replaced(event, ordered=True)])
