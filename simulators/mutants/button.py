"""Mutants of the flat button's mat (FB): guessed places and unreported moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.button import messages as m
from simulators.kinds.button.firmware import PRESENT
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_refusal, replace_reply, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.button.machine import SimulatedButton

GROUP: Final = MutantGroup(m.KIND)
R: Final = m.Reason


def guesses(machine: SimulatedButton, reason: m.Reason, guess: Callable[[list[int]], int | None]) -> None:
    """Guess a place from the levels where there is none for a reason; None leaves it as it is."""

    def judge(real: Callable[[], tuple[int | None, m.Reason]]) -> tuple[int | None, m.Reason]:
        judged = real()
        place = guess(machine.mat.levels()) if judged[1] is reason else None
        return (place, R.NONE) if place is not None else judged

    wrap(machine.firmware, "_judge", judge)


def strongest(levels: list[int]) -> int:
    """Return the place with the highest level."""
    return levels.index(max(levels)) + 1


def at_boot(machine: SimulatedButton, around: Callable[[Callable[[], None], Any], None]) -> None:
    """Change how it starts; `around` gets the real start and the firmware."""
    wrap(machine.board, "_on_boot", lambda real: around(real, machine.firmware))


@GROUP.mutant("PL-12", also="FB-01 FB-05")
def levels_are_status(machine: SimulatedButton) -> None:
    """Asked for its levels it reports its state."""
    replace_reply(machine, m.GetSensors, lambda _: machine.firmware.handle(m.GetStatus()))


@GROUP.mutant("FB-01", also="FB-05")
def levels_of_an_empty_mat(machine: SimulatedButton) -> None:
    """Its levels show no button, and its status reports one."""
    replace_reply(machine, m.GetSensors, lambda sensors: replaced(sensors, levels=[40] * m.PLACES))


@GROUP.mutant("FB-02")
def chatters(machine: SimulatedButton) -> None:
    """It reports a place though the button was not moved."""
    firmware: Any = machine.firmware

    def handle(real: Callable[[Any], Any], message: Any) -> Any:
        status, session = real(message), machine.board._link

        def again() -> None:
            if machine.board._link is session and (firmware._place, firmware._moves) == (status.place, status.moves):
                machine.board.emit(m.Moved(status.place, status.place, R.NONE))

        if isinstance(message, m.GetStatus) and status.place is not None:
            machine.clock.after(1.8, again)
        return status

    wrap(machine.board, "_handle", handle)


@GROUP.mutant("FB-03")
def unreported_places(machine: SimulatedButton) -> None:
    """A self-test ends without reporting which sensors passed."""
    replace_event(machine, m.SelfTested, lambda _: [])


@GROUP.mutant("FB-04", also="CM-06")
def tests_while_testing(machine: SimulatedButton) -> None:
    """It begins a self-test while one runs."""
    replace_refusal(machine, m.SelfTest, R.BUSY)


@GROUP.mutant("FB-05", also="FB-01 FB-19")
def blind_until_moved(machine: SimulatedButton) -> None:
    """After a restart it does not detect the button until it is moved."""

    def boot(real: Callable[[], None], firmware: Any) -> None:
        real()
        firmware._place, firmware._reason = None, R.NO_BUTTON

    at_boot(machine, boot)


@GROUP.mutant("FB-10")
def reports_the_end_only(machine: SimulatedButton) -> None:
    """It does not report at once that the button moves."""
    replace_event(machine, m.Moved, lambda event: [] if event.reason is R.MOVING else [event])


@GROUP.mutant("FB-10")
def forgets_where_it_lay(machine: SimulatedButton) -> None:
    """It does not report the place before."""
    replace_event(machine, m.Moved, lambda event: [replaced(event, before=None)])


@GROUP.mutant("FB-10")
def places_run_the_other_way(machine: SimulatedButton) -> None:
    """It counts its places clockwise."""

    def judge(real: Callable[[], tuple[int | None, m.Reason]]) -> tuple[int | None, m.Reason]:
        place, reason = real()
        return (9 - place if place and place > 1 else place), reason

    wrap(machine.firmware, "_judge", judge)


@GROUP.mutant("FB-11", also="FB-14 FB-16")
def nearest_place(machine: SimulatedButton) -> None:
    """A button between two places is at the nearer one."""
    guesses(machine, R.BETWEEN_PLACES, strongest)


@GROUP.mutant("FB-11", also="FB-16")
def place_with_a_reason(machine: SimulatedButton) -> None:
    """It reports an unclear place."""
    replace_event(
        machine, m.Moved,
        lambda event: [replaced(event, place=event.before) if event.reason is R.BETWEEN_PLACES else event],
    )  # fmt: skip


@GROUP.mutant("FB-12")
def stronger_of_two(machine: SimulatedButton) -> None:
    """Of two buttons it takes the stronger one."""
    guesses(machine, R.MORE_THAN_ONE, strongest)


@GROUP.mutant("FB-13")
def lies_where_it_lay(machine: SimulatedButton) -> None:
    """A button that was taken away is still where it lay."""
    guesses(machine, R.NO_BUTTON, lambda _: machine.firmware._before)


@GROUP.mutant("FB-14")
def looks_at_the_strongest_only(machine: SimulatedButton) -> None:
    """If one place is clear it does not look at the others."""
    guesses(machine, R.BETWEEN_PLACES, lambda levels: strongest(levels) if max(levels) >= PRESENT else None)


@GROUP.mutant("FB-15")
def last_place_while_moving(machine: SimulatedButton) -> None:
    """While the button moves its status reports the last place."""

    def change(status: m.Status) -> m.Status:
        moving = status.reason is R.MOVING and machine.firmware._before is not None
        return replaced(status, place=machine.firmware._before, reason=R.NONE) if moving else status

    replace_reply(machine, m.GetStatus, change)


@GROUP.mutant("FB-16")
def counts_every_landing(machine: SimulatedButton) -> None:
    """A button that comes back to its own place counts as a move."""
    firmware: Any = machine.firmware

    def steady(real: Callable[[], None]) -> None:
        real()
        firmware._moves += firmware._place is not None and firmware._place == firmware._before

    wrap(firmware, "_steady", steady)


@GROUP.mutant("FB-16")
def moves_uncounted(machine: SimulatedButton) -> None:
    """It does not count moves."""
    replace_reply(machine, m.GetStatus, lambda status: replaced(status, moves=0))


@GROUP.mutant("FB-17")
def dead_sensor_unnamed(machine: SimulatedButton) -> None:
    """Its self-test does not report which sensor is dead."""
    replace_event(machine, m.SelfTested, lambda event: [replaced(event, bad_places=0)])


@GROUP.mutant("FB-17")
def guesses_without_a_sensor(machine: SimulatedButton) -> None:
    """With a dead sensor it guesses a place by the others."""
    guesses(machine, R.SENSOR_DEAD, strongest)


@GROUP.mutant("FB-18")
def restart_mends_the_mat(machine: SimulatedButton) -> None:
    """A restart makes it forget that a sensor was dead."""

    def boot(real: Callable[[], None], firmware: Any) -> None:
        firmware._faulty = False
        real()

    at_boot(machine, boot)


@GROUP.mutant("FB-19")
def counts_over_restarts(machine: SimulatedButton) -> None:
    """Its count of moves goes on after a restart."""

    def boot(real: Callable[[], None], firmware: Any) -> None:
        count = firmware._moves
        real()
        firmware._moves = count

    at_boot(machine, boot)
