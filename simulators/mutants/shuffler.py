"""Mutants of the shuffler (SH) at rest, in a cycle, and with a deck behind its gate."""

from __future__ import annotations

from typing import Any, Final

from devices.shuffler import messages as m
from simulators.mutants.mutant_tools import (
    MutantGroup,
    Real,
    answer,
    dark_unreported,
    event,
    event_twice,
    kept,
    no_event,
    other_answer,
    refusal,
    replaced,
    skipped,
    stop_reported,
)

GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason
row: Final = GROUP.row


# --- at rest ----------------------------------------------------------------------------------------------------------


row("PL-12", "findings-are-status", "Asked for findings it reports its state.",
    other_answer(m.GetFindings, lambda machine, _: machine.firmware._status()), also="SH-18")  # fmt: skip
row("SH-01", "level-without-threshold", "A level below the threshold is not called blocked.",
    dark_unreported(m.GetSensors, m.Sensor.EXIT), also="SH-20 SH-24 SH-51")  # fmt: skip
row("SH-02", "nothing-to-eject-is-nothing-loaded", "With nothing behind the gate it reports that nothing is loaded.",
    refusal(m.Eject, R.NOTHING_TO_EJECT, R.NOTHING_LOADED))  # fmt: skip
row("SH-03", "reports-stop-when-idle", "A stop at rest is reported as if something had moved.",
    stop_reported(m.Stop, (S.IDLE,), lambda stop: m.Stopped(stop.command, 0, 0, R.STOPPED)))  # fmt: skip
row("SH-04", "no-test-result", "A self-test ends without its result.", no_event(m.SelfTested))
row("SH-08", "stalled-is-done", "It reports a motor that did not turn, and its jog as done.",
    event(m.Jogged, turned=False))  # fmt: skip
row("SH-09", "jogs-into-cards", "The motor that draws cards in is jogged while cards lie there.",
    refusal(object, R.CARDS_IN_REACH))  # fmt: skip
row("SH-05", "mode-while-testing", "The mode can be changed while it tests itself.",
    refusal(m.SetMode, R.BUSY, state=S.TESTING))  # fmt: skip
row("SH-06", "test-cannot-be-stopped", "A self-test cannot be stopped.",
    skipped("firmware._stop", lambda firmware, _: firmware.state is S.TESTING))  # fmt: skip
row("SH-07", "mode-survives", "It starts in the mode in which it ended.", kept("firmware._forget", "firmware.mode"))


# --- a cycle ----------------------------------------------------------------------------------------------------------


row("SH-10", "always-unloading", "It always reports UNLOADING.",
    answer(m.GetStatus, when=lambda status: status.state is S.FEEDING, state=S.UNLOADING))  # fmt: skip
row("SH-11", "completes-twice", "A cycle is completed twice.", event_twice(m.Completed))
row("SH-12", "cycles-uncounted", "It does not count its cycles.", answer(m.GetStatus, cycles=0))
row(
    "SH-12",
    "one-card-short",
    "It forgets the last card behind the gate.",
    answer(
        m.GetStatus,
        when=lambda status: status.state is S.READY and status.behind_gate,
        behind_gate=lambda status: status.behind_gate - 1,
    ),
    also="SH-46",
)
row("SH-13", "progress-runs-ahead", "Cards come out before the last one is in.",
    event(m.Progress, when=lambda e: e.left, left=lambda e: e.entered + 1))  # fmt: skip
row("SH-13", "last-cards-unreported", "Its last report of a phase is not that of its end.",
    no_event(m.Progress, when=lambda e: e.left == e.entered))  # fmt: skip
row("SH-13", "reports-no-progress", "It never reports its progress.", no_event(m.Progress))
row("SH-14", "mode-while-feeding", "The mode can be changed while it feeds.",
    refusal(m.SetMode, R.BUSY, state=S.FEEDING))  # fmt: skip
row("SH-15", "nothing-to-eject-while-unloading", "While it unloads it reports that there is nothing to eject.",
    refusal(m.Eject, R.BUSY, R.NOTHING_TO_EJECT, state=S.UNLOADING))  # fmt: skip
row("SH-16", "silent-intake", "It does not report that its intake ran empty.",
    no_event(m.Intake, when=lambda e: not e.cards))  # fmt: skip
row(
    "SH-17",
    "counts-transits-twice",
    "A card counts twice in the statistics.",
    other_answer(
        m.GetTransits,
        lambda _, transits: m.Transits([replaced(transit, cards=transit.cards * 2) for transit in transits.segments]),
    ),
)
row("SH-18", "findings-about-a-good-deck", "It has findings about a good deck.",
    other_answer(m.GetFindings, lambda _, __: m.Findings(1, b"", b"")))  # fmt: skip


# --- a deck behind the gate -------------------------------------------------------------------------------------------


row("SH-20", "occupied-is-busy", "With cards behind the gate it reports that it is busy.",
    refusal(m.StartCycle, R.GATE_OCCUPIED, R.BUSY))  # fmt: skip


@GROUP.method("firmware._tested", "SH-21")
def test_forgets_the_gate(firmware: Any, real: Real, command: int) -> None:
    """A self-test makes it forget how many cards lie behind the gate."""
    if firmware._at_rest is S.READY:
        firmware._behind_gate = None
    real(command)


row("SH-22", "gate-cannot-be-stopped", "The gate opens to its end, stopped or not.",
    skipped("firmware._stop", lambda firmware, _: firmware._at_rest is S.READY))  # fmt: skip
row("SH-23", "remembers-the-gate", "After a restart it reports a count behind the gate that it cannot know.",
    answer(m.GetStatus, when=lambda status: status.behind_gate is None, behind_gate=53))  # fmt: skip
row("SH-24", "gate-never-empty", "Cards that it gave out still count as behind its gate.",
    kept("firmware._ejected", "firmware._behind_gate"))  # fmt: skip
row("SH-25", "empty-is-busy", "With an empty intake it reports that it is busy.",
    refusal(object, R.NOTHING_LOADED, R.BUSY))  # fmt: skip
