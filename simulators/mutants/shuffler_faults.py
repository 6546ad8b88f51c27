"""Mutants of the shuffler (SH) where hands are at work: doors, stops, jams, power cuts, doubt."""

from __future__ import annotations

from typing import Any, Final

from devices.edge_log import GetEdgeLog
from devices.shuffler import messages as m
from firmware_bridge.commands import Settled
from firmware_bridge.errors import LinkSilent
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
    refusal,
    replace_all_events,
    skipped,
)
from simulators.mutants.shuffler import R, S

GROUP: Final = MutantGroup(m.KIND)
row: Final = GROUP.row


row("SH-30", "silent-load", "It does not report that cards were put in.", no_event(m.Intake, when=lambda e: e.cards))
row("SH-31", "sort-is-called-shuffle", "Every cycle is called a shuffle.", event(m.Completed, mode=m.Mode.SHUFFLE))


@GROUP.mutant("SH-32")
def stops_when_alone(machine: Any) -> None:
    """A cycle ends when its host falls silent."""

    def down(_: Any, real: Real, cause: Any) -> None:
        if isinstance(cause, LinkSilent):
            machine.firmware._stop(R.STOPPED)
        real(cause)

    method("link.on_down", down)(machine)


row("SH-40", "silent-door", "It does not report that its door was closed.", no_event(m.Door, when=lambda e: not e.open))
row("SH-41", "mode-with-open-door", "The mode can be changed with the door open.",
    refusal(m.SetMode, R.DOOR_OPEN), also="SH-47")  # fmt: skip


def settled_before(kind: type[Any]) -> Mistake:
    """Report the end of a command before its cause."""

    def apply(machine: Any) -> None:
        held: list[Any] = []

        def change(sent: Any) -> list[Any]:
            if isinstance(sent, kind):
                held.append(sent)
                return []
            return [sent, held.pop()] if isinstance(sent, Settled) and held else [sent]

        replace_all_events(machine, change)

    return apply


row("SH-42", "settled-before-stopped", "Settled comes before Stopped.", settled_before(m.Stopped), also="SH-47")
row("SH-43", "halted-without-reason", "Halted, it does not report that it was stopped.",
    answer(m.GetStatus, when=lambda status: status.reason is R.STOPPED, reason=R.NONE))  # fmt: skip
row("SH-44", "nothing-to-eject-when-halted", "Halted, it reports that there is nothing to eject.",
    refusal(m.Eject, R.NEEDS_CLEARING, R.NOTHING_TO_EJECT, state=S.HALTED))  # fmt: skip
row("SH-45", "empty-while-clearing", "It claims to be empty while it is emptied.",
    answer(m.GetStatus, when=lambda status: status.state is S.CLEARING, inside=0))  # fmt: skip
row("SH-46", "clears-too-many", "More cards come out than went in.", event(m.Cleared, emptied=lambda e: e.emptied + 60))
row("SH-47", "door-does-not-stop", "An open door does not stop it.",
    skipped("firmware._stop", lambda _, reason: reason is R.DOOR_OPEN))  # fmt: skip
row("SH-48", "test-ends-doubt", "A self-test ends every doubt without an inspection.",
    assigned("firmware._counts.tested", after={"firmware._counts.sure": True}))  # fmt: skip
row("SH-50", "settled-before-jam", "Settled comes before Jam.", settled_before(m.Jam))
row("SH-51", "counts-cards-from-zero", "It counts jammed cards from 0.", event(m.Jam, card=lambda e: e.card - 1))
row("SH-52", "jammed-without-reason", "Jammed, it does not report why it is halted.",
    answer(m.GetStatus, when=lambda status: status.reason is R.JAM, reason=R.NONE))  # fmt: skip
row("SH-53", "dark-needs-clearing", "With a dark path it reports that it needs clearing.",
    refusal(object, R.PATH_BLOCKED, R.NEEDS_CLEARING))  # fmt: skip
row("SH-54", "double-feed-counts-as-one", "Two cards at once count as one, without a doubt.",
    assigned("firmware._halt_with", after={"firmware._counts.sure": True}))  # fmt: skip
row("SH-55", "short-is-called-double", "Part of a card is called a double feed.",
    method("firmware._halt_with", lambda _owner, real, _, segment: real(R.DOUBLE_FEED, segment)))  # fmt: skip


# --- power ------------------------------------------------------------------------------------------------------------


row("SH-60", "power-is-called-stop", "What power interrupted is called stopped.",
    method("board.memory.fail_running", lambda _, real, __: real(R.STOPPED)), also="CM-17 CM-18")  # fmt: skip
row("SH-61", "silent-about-power", "It does not report that power was lost.", no_event(m.Power))
row("SH-62", "doubtful-is-busy", "In doubt, it reports that it is busy.",
    refusal(m.SelfTest, R.NEEDS_CLEARING, R.BUSY, state=S.DOUBTFUL))  # fmt: skip
row("SH-49", "edges-backwards", "It reports its last edges in reverse order.",
    answer(GetEdgeLog, edges=lambda trail: trail.edges[::-1]))  # fmt: skip
row("SH-63", "emptying-ends-doubt", "Emptying ends every doubt.",
    assigned("firmware._counts.emptied", after={"firmware._counts.sure": True}), also="SH-48")  # fmt: skip
row("SH-80", "never-looks", "It never looks at the faces.",
    method("firmware._judge_faces", lambda *_: False), model="shuffler-identifying")  # fmt: skip
row("SH-80", "findings-outlive-the-deck", "Its findings are still reported when the deck has been given out.",
    kept("firmware._ejected", "firmware._findings"), model="shuffler-identifying")  # fmt: skip
