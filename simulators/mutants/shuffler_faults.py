"""Mutants of the shuffler (SH) where hands are at work: doors, stops, jams, power cuts, doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.edge_log import GetEdgeLog
from devices.shuffler import messages as m
from firmware_bridge.commands import Settled
from firmware_bridge.errors import LinkSilent
from simulators.mutants.mutant_tools import (
    MutantGroup,
    each_session,
    replace_all_events,
    replace_event,
    replace_reply,
    replaced,
    wrap,
)
from simulators.mutants.shuffler import R, S, refuses, replace_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.shuffler.machine import SimulatedShuffler

GROUP: Final = MutantGroup(m.KIND)


@GROUP.mutant("SH-30")
def silent_load(machine: SimulatedShuffler) -> None:
    """It does not report that cards were put in."""
    replace_event(machine, m.Intake, lambda event: [] if event.cards else [event])


@GROUP.mutant("SH-31")
def sort_is_called_shuffle(machine: SimulatedShuffler) -> None:
    """Every cycle is called a shuffle."""
    replace_event(machine, m.Completed, lambda event: [replaced(event, mode=m.Mode.SHUFFLE)])


@GROUP.mutant("SH-32")
def stops_when_alone(machine: SimulatedShuffler) -> None:
    """A cycle ends when its host falls silent."""
    firmware: Any = machine.firmware

    def spoil(link: Any) -> None:
        def down(real: Callable[..., None], cause: Any) -> None:
            if isinstance(cause, LinkSilent):
                firmware._stop(R.STOPPED)
            real(cause)

        wrap(link, "on_down", down)

    each_session(machine, spoil)


@GROUP.mutant("SH-40")
def silent_door(machine: SimulatedShuffler) -> None:
    """It does not report that its door was closed."""
    replace_event(machine, m.Door, lambda event: [event] if event.open else [])


@GROUP.mutant("SH-41", also="SH-47")
def mode_with_open_door(machine: SimulatedShuffler) -> None:
    """The mode can be changed with the door open."""

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        reason = real(message)
        return R.NONE if reason is R.DOOR_OPEN and isinstance(message, m.SetMode) else reason

    wrap(machine.firmware, "_refusal", refusal)


def _settled_first(machine: SimulatedShuffler, kind: type[Any]) -> None:
    """Report the end of a command before its cause."""
    held: list[Any] = []

    def change(event: Any) -> list[Any]:
        if isinstance(event, kind):
            held.append(event)
            return []
        if isinstance(event, Settled) and held:
            return [event, held.pop()]
        return [event]

    replace_all_events(machine, change)


@GROUP.mutant("SH-42", also="SH-47")
def settled_before_stopped(machine: SimulatedShuffler) -> None:
    """Settled comes before Stopped."""
    _settled_first(machine, m.Stopped)


def _no_reason(machine: SimulatedShuffler, reason: m.Reason) -> None:
    replace_status(machine, lambda status: replaced(status, reason=R.NONE) if status.reason is reason else status)


@GROUP.mutant("SH-43")
def halted_without_reason(machine: SimulatedShuffler) -> None:
    """Halted, it does not report that it was stopped."""
    _no_reason(machine, R.STOPPED)


@GROUP.mutant("SH-44")
def nothing_to_eject_when_halted(machine: SimulatedShuffler) -> None:
    """Halted, it reports that there is nothing to eject."""
    refuses(machine, m.Eject, S.HALTED, R.NOTHING_TO_EJECT)


@GROUP.mutant("SH-45")
def empty_while_clearing(machine: SimulatedShuffler) -> None:
    """It claims to be empty while it is emptied."""
    replace_status(machine, lambda status: replaced(status, inside=0) if status.state is S.CLEARING else status)


@GROUP.mutant("SH-46")
def clears_too_many(machine: SimulatedShuffler) -> None:
    """More cards come out than went in."""
    replace_event(machine, m.Cleared, lambda event: [replaced(event, emptied=event.emptied + 60)])


@GROUP.mutant("SH-47")
def door_does_not_stop(machine: SimulatedShuffler) -> None:
    """An open door does not stop it."""
    firmware: Any = machine.firmware

    def stop(real: Callable[..., None], reason: m.Reason) -> None:
        if reason is not R.DOOR_OPEN:
            real(reason)

    wrap(firmware, "_stop", stop)


@GROUP.mutant("SH-48")
def test_ends_doubt(machine: SimulatedShuffler) -> None:
    """A self-test ends every doubt without an inspection."""
    counts: Any = machine.firmware._counts

    def tested(_: Callable[[], None]) -> None:
        counts.sure = True

    wrap(counts, "tested", tested)


@GROUP.mutant("SH-50")
def settled_before_jam(machine: SimulatedShuffler) -> None:
    """Settled comes before Jam."""
    _settled_first(machine, m.Jam)


@GROUP.mutant("SH-51")
def counts_cards_from_zero(machine: SimulatedShuffler) -> None:
    """It counts jammed cards from 0."""
    replace_event(machine, m.Jam, lambda event: [replaced(event, card=event.card - 1)])


@GROUP.mutant("SH-52")
def jammed_without_reason(machine: SimulatedShuffler) -> None:
    """Jammed, it does not report why it is halted."""
    _no_reason(machine, R.JAM)


@GROUP.mutant("SH-53")
def dark_needs_clearing(machine: SimulatedShuffler) -> None:
    """With a dark path it reports that it needs clearing."""

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        reason = real(message)
        return R.NEEDS_CLEARING if reason is R.PATH_BLOCKED else reason

    wrap(machine.firmware, "_refusal", refusal)


@GROUP.mutant("SH-54")
def double_feed_counts_as_one(machine: SimulatedShuffler) -> None:
    """Two cards at once count as one, without a doubt."""
    firmware: Any = machine.firmware

    def halt_with(real: Callable[..., None], reason: m.Reason, segment: m.Segment) -> None:
        real(reason, segment)
        firmware._counts.sure = True

    wrap(firmware, "_halt_with", halt_with)


@GROUP.mutant("SH-55")
def short_is_called_double(machine: SimulatedShuffler) -> None:
    """Part of a card is called a double feed."""

    def halt_with(real: Callable[..., None], _: m.Reason, segment: m.Segment) -> None:
        real(R.DOUBLE_FEED, segment)

    wrap(machine.firmware, "_halt_with", halt_with)


# --- power ------------------------------------------------------------------------------------------------------------


@GROUP.mutant("SH-60", also="CM-17 CM-18")
def power_is_called_stop(machine: SimulatedShuffler) -> None:
    """What power interrupted is called stopped."""
    wrap(machine.board.memory, "fail_running", lambda real, _: real(R.STOPPED))


@GROUP.mutant("SH-61")
def silent_about_power(machine: SimulatedShuffler) -> None:
    """It does not report that power was lost."""
    replace_event(machine, m.Power, lambda _: [])


@GROUP.mutant("SH-62")
def doubtful_is_busy(machine: SimulatedShuffler) -> None:
    """In doubt, it reports that it is busy."""
    refuses(machine, m.SelfTest, S.DOUBTFUL, R.BUSY)


@GROUP.mutant("SH-49")
def edges_backwards(machine: SimulatedShuffler) -> None:
    """It reports its last edges in reverse order."""
    replace_reply(machine, GetEdgeLog, lambda trail: replaced(trail, edges=trail.edges[::-1]))


@GROUP.mutant("SH-63", also="SH-48")
def emptying_ends_doubt(machine: SimulatedShuffler) -> None:
    """Emptying ends every doubt."""
    counts: Any = machine.firmware._counts

    def emptied(real: Callable[[], int]) -> int:
        brought = real()
        counts.sure = True
        return brought

    wrap(counts, "emptied", emptied)


@GROUP.mutant("SH-80", model="shuffler-identifying")
def never_looks(machine: SimulatedShuffler) -> None:
    """It never looks at the faces."""
    setattr(machine.firmware, "_judge_faces", lambda _: False)  # noqa: B010 - a method of this one machine


@GROUP.mutant("SH-80", model="shuffler-identifying")
def findings_outlive_the_deck(machine: SimulatedShuffler) -> None:
    """Its findings are still reported when the deck has been given out."""
    firmware: Any = machine.firmware

    def ejected(real: Callable[[int], None], command: int) -> None:
        findings = firmware._findings
        real(command)
        firmware._findings = findings

    wrap(firmware, "_ejected", ejected)
