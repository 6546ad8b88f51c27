"""Mutants of the dealing shoe (SO) when hands, stuck cards or power end a motion, and of the manual shoe."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from devices.shoe import messages as m
from simulators.kinds.shared.card_tracker import SensorPulse
from simulators.mutants.mutant_tools import (
    MutantGroup,
    Real,
    assigned,
    event,
    event_twice,
    events,
    method,
    no_event,
    refusal,
    skipped,
)
from simulators.mutants.shoe import R, S

GROUP: Final = MutantGroup(m.KIND)
row: Final = GROUP.row
by_hand = partial(GROUP.row, model="shoe-manual")


# --- the door, and a stop in mid-stack ------------------------------------------------------------------------------


row("SO-30", "shoe-door-is-busy", "With the door open it reports that it is busy.",
    refusal(m.CountStub, R.DOOR_OPEN, R.BUSY))  # fmt: skip


@GROUP.method("firmware.door", "SO-31", also="SO-25")
def door_without_doubt(firmware: Any, real: Real, *, is_open: bool) -> None:
    """A door that was open with cards inside causes no doubt."""
    sure, ready = (firmware._counts.sure, firmware.state is S.READY)
    real(is_open=is_open)
    if ready:
        firmware._counts.sure = sure


row("SO-32", "shoe-deaf-to-stop", "A stack that was begun is dealt to its end, stopped or not.",
    skipped("firmware._stop", lambda firmware, reason: firmware.state is S.DISPENSING and reason is R.STOPPED),
)  # fmt: skip
row("SO-32", "stop-loses-a-card", "The card that was on its way when it was stopped is in no count.",
    event(m.Stopped, in_path=0, moved=lambda e: e.moved - 1))  # fmt: skip
row(
    "SO-32",
    "last-word-without-the-card-under-way",
    "Its last report before a halt leaves out the card in transit.",
    assigned(
        "firmware._report_last_progress", before={"firmware._left_then": lambda machine: machine.firmware._counts.left}
    ),
    also="SO-41",
)
row("SO-33", "shoe-halted-is-busy", "In HALTED it reports that it is busy.",
    refusal(m.Dispense, R.NEEDS_CLEARING, R.BUSY, state=S.HALTED))  # fmt: skip


@GROUP.method("firmware._counts.tested", "SO-34")
def shoe_test_ends_doubt(counts: Any, real: Real) -> Any:
    """Any self-test that passes ends every doubt."""
    counts._looked |= not counts.sure
    return real()


row("SO-35", "door-is-called-stop", "A stack that the door ended is called stopped.",
    method("firmware._stop", lambda _, real, __: real(R.STOPPED)))  # fmt: skip


# --- cards that stick, and two as one -------------------------------------------------------------------------------


row("SO-40", "shoe-jams-twice", "One card that sticks is reported twice.", event_twice(m.Jam))
row("SO-41", "jam-a-segment-early", "It names the segment before the one in which the card sticks.",
    event(m.Jam, segment=lambda e: m.Segment(e.segment - 1)))  # fmt: skip
row("SO-41", "jam-still-in-the-well", "The card that sticks still counts as left in the well.",
    event(m.Jam, left=lambda e: e.left + 1))  # fmt: skip
row("SO-42", "shoe-blocked-needs-clearing", "While the path is dark it reports that it has to be cleared.",
    refusal(m.ClearJam, R.PATH_BLOCKED, R.NEEDS_CLEARING))  # fmt: skip


@GROUP.method("firmware._fault", "SO-43")
def two_cards_without_doubt(firmware: Any, real: Real, pulse: SensorPulse, segment: m.Segment, phase: m.Phase) -> None:
    """After two cards at once it still knows its counts."""
    if pulse is SensorPulse.TWO:
        firmware._halt_with(R.DOUBLE_FEED, segment, phase)
    else:
        real(pulse, segment, phase)


row("SO-44", "never-compares", "It never compares what came out with what went in.",
    method("firmware._counts.agree", lambda *_, **__: True))  # fmt: skip
row("SO-50", "shoe-power-is-called-stop", "What power interrupted is called stopped.",
    method("board.memory.fail_running", lambda _, real, __: real(R.STOPPED)), also="CM-17 CM-18")  # fmt: skip
row("SO-50", "shoe-silent-about-power", "It does not report that power was lost.", no_event(m.Power))


# --- a manual shoe ----------------------------------------------------------------------------------------------------


by_hand("SO-60", "claims-a-count", "It reports a count for an uncounted block.", event(m.Loaded, count=53))
by_hand("SO-61", "round-one-short", "A round ends with a card fewer than were drawn.",
    event(m.RoundEnded, count=lambda e: e.count - 1))  # fmt: skip


@GROUP.method("firmware._begin", "SO-62", model="shoe-manual")
def rounds_without_end(firmware: Any, real: Real, message: Any) -> Any:
    """It does not report the end of a round that the next one ends."""
    if isinstance(message, m.StartRound):
        firmware._opened = None
    return real(message)


by_hand("SO-63", "always-ordered", "A card that is drawn out of turn is reported as ordered.",
    event(m.Drawn, ordered=True))  # fmt: skip
by_hand("SO-64", "stub-without-rounds", "At the stub it has forgotten what was drawn before.",
    event(m.Stub, drawn=lambda e: e.count))  # fmt: skip
by_hand("SO-65", "lifted-is-a-stub", "Cards that were lifted out are reported as a counted stub.",
    events(m.Fault, lambda e: [e, m.Stub(e.command, 0, 0, 0)] if e.command else [e]))  # fmt: skip
by_hand("SO-66", "sure-after-a-jam", "It is sure of its counts though hands can take what sticks.",
    skipped("firmware._reach_in"))  # fmt: skip
