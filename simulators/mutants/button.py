"""Mutants of the flat button's mat (FB): guessed places and unreported moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.button import messages as m
from simulators.kinds.button.firmware import PRESENT
from simulators.mutants.mutant_tools import (
    Mistake,
    MutantGroup,
    Real,
    answer,
    assigned,
    event,
    kept,
    method,
    no_event,
    other_answer,
    refusal,
    replaced,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup(m.KIND)
R: Final = m.Reason
row: Final = GROUP.row


def guesses(reason: m.Reason, guess: Callable[[Any, list[int]], int | None]) -> Mistake:
    """Guess a place from machine and levels where there is none for a reason; None leaves it as it is."""

    def apply(machine: Any) -> None:
        def judge(_: Any, real: Real) -> tuple[int | None, m.Reason]:
            judged: tuple[int | None, m.Reason] = real()
            place = guess(machine, machine.mat.levels()) if judged[1] is reason else None
            return judged if place is None else (place, R.NONE)

        method("firmware._judge", judge)(machine)

    return apply


def strongest(_: Any, levels: list[int]) -> int:
    """Return the place with the highest level."""
    return levels.index(max(levels)) + 1


row("PL-12", "levels-are-status", "Asked for its levels it reports its state.",
    other_answer(m.GetSensors, lambda machine, _: machine.firmware.handle(m.GetStatus())),
    also="FB-01 FB-05")  # fmt: skip
row("FB-01", "levels-of-an-empty-mat", "Its levels show no button, and its status reports one.",
    answer(m.GetSensors, levels=[40] * m.PLACES), also="FB-05")  # fmt: skip


@GROUP.mutant("FB-02")
def chatters(machine: Any) -> None:
    """It reports a place though the button was not moved."""
    firmware = machine.firmware

    def handle(real: Real, message: Any) -> Any:
        status, session = real(message), machine.board._link

        def again() -> None:
            if machine.board._link is session and (firmware._place, firmware._moves) == (status.place, status.moves):
                machine.board.emit(m.Moved(status.place, status.place, R.NONE))

        if isinstance(message, m.GetStatus) and status.place is not None:
            machine.clock.after(1.8, again)
        return status

    wrap(machine.board, "_handle", handle)


row("FB-03", "unreported-places", "A self-test ends without reporting which sensors passed.", no_event(m.SelfTested))
row("FB-04", "tests-while-testing", "It begins a self-test while one runs.", refusal(m.SelfTest, R.BUSY), also="CM-06")
row("FB-05", "blind-until-moved", "After a restart it does not detect the button until it is moved.",
    assigned("board._on_boot", after={"firmware._place": None, "firmware._reason": R.NO_BUTTON}),
    also="FB-01 FB-19")  # fmt: skip
row("FB-10", "reports-the-end-only", "It does not report at once that the button moves.",
    no_event(m.Moved, when=lambda e: e.reason is R.MOVING))  # fmt: skip
row("FB-10", "forgets-where-it-lay", "It does not report the place before.", event(m.Moved, before=None))


@GROUP.method("firmware._judge", "FB-10")
def places_run_the_other_way(_: Any, real: Real) -> tuple[int | None, m.Reason]:
    """It counts its places clockwise."""
    place, reason = real()
    return (9 - place if place and place > 1 else place, reason)


row("FB-11", "nearest-place", "A button between two places is at the nearer one.",
    guesses(R.BETWEEN_PLACES, strongest), also="FB-14 FB-16")  # fmt: skip
row("FB-11", "place-with-a-reason", "It reports an unclear place.",
    event(m.Moved, when=lambda e: e.reason is R.BETWEEN_PLACES, place=lambda e: e.before), also="FB-16")  # fmt: skip
row("FB-12", "stronger-of-two", "Of two buttons it takes the stronger one.", guesses(R.MORE_THAN_ONE, strongest))
row("FB-13", "lies-where-it-lay", "A button that was taken away is still where it lay.",
    guesses(R.NO_BUTTON, lambda machine, _: machine.firmware._before))  # fmt: skip
row("FB-14", "looks-at-the-strongest-only", "If one place is clear it does not look at the others.",
    guesses(R.BETWEEN_PLACES, lambda machine, levels: strongest(machine, levels) if max(levels) >= PRESENT else None),
)  # fmt: skip


@GROUP.mutant("FB-15")
def last_place_while_moving(machine: Any) -> None:
    """While the button moves its status reports the last place."""

    def change(status: m.Status) -> m.Status:
        moving = status.reason is R.MOVING and machine.firmware._before is not None
        return replaced(status, place=machine.firmware._before, reason=R.NONE) if moving else status

    other_answer(m.GetStatus, lambda _, status: change(status))(machine)


@GROUP.method("firmware._steady", "FB-16")
def counts_every_landing(firmware: Any, real: Real) -> None:
    """A button that comes back to its own place counts as a move."""
    real()
    firmware._moves += firmware._place is not None and firmware._place == firmware._before


row("FB-16", "moves-uncounted", "It does not count moves.", answer(m.GetStatus, moves=0))
row("FB-17", "dead-sensor-unnamed", "Its self-test does not report which sensor is dead.",
    event(m.SelfTested, bad_places=0))  # fmt: skip
row("FB-17", "guesses-without-a-sensor", "With a dead sensor it guesses a place by the others.",
    guesses(R.SENSOR_DEAD, strongest))  # fmt: skip
row("FB-18", "restart-mends-the-mat", "A restart makes it forget that a sensor was dead.",
    assigned("board._on_boot", before={"firmware._faulty": False}))  # fmt: skip
row("FB-19", "counts-over-restarts", "Its count of moves goes on after a restart.",
    kept("board._on_boot", "firmware._moves"))  # fmt: skip
