"""Mutants of the shuffler (SH) that only its models for a batch, or without cycles, can be."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from devices.shuffler import messages as m
from simulators.mutants.mutant_tools import (
    MutantGroup,
    Real,
    dark_unreported,
    event,
    kept,
    method,
    no_event,
    other_answer,
    refusal,
    skipped,
)

GROUP: Final = MutantGroup(m.KIND)
R: Final = m.Reason
row: Final = GROUP.row
batch = partial(GROUP.row, model="shuffler-batch")
continuous = partial(GROUP.row, model="shuffler-continuous")


# --- for a batch ------------------------------------------------------------------------------------------------------


row(
    "SH-80",
    "findings-of-one-deck",
    "It reports the findings of a batch as if it were one deck.",
    other_answer(
        m.GetFindings,
        lambda _, findings: (
            m.Findings(findings.command, b"\x01", b"\x02") if isinstance(findings, m.BatchFindings) else findings
        ),
    ),
    model="shuffler-batch-identifying",
)
batch("SH-81", "hides-what-stayed", "It reports cards that stayed inside as delivered.",
    event(m.Incomplete, cards_out=lambda e: e.cards_in))  # fmt: skip


@GROUP.method("firmware._refusal", "SH-82", model="shuffler-batch")
def mixes_batches(firmware: Any, real: Real, message: Any) -> Any:
    """It lays one batch upon the other behind its gate."""
    reason = real(message)
    waits = reason is R.GATE_OCCUPIED and firmware._mechanics.blocked(m.Sensor.INTAKE)
    return R.NONE if waits else reason


# --- without cycles ---------------------------------------------------------------------------------------------------


continuous("SH-84", "continuous-level-without-threshold", "A level below the threshold is not called blocked.",
    dark_unreported(m.GetSensors, m.Sensor.EXIT))  # fmt: skip


@GROUP.mutant("SH-85", model="shuffler-continuous")
def takes_cycles_for_its_own(machine: Any) -> None:
    """It accepts cycles that it cannot run."""
    board = machine.board
    board._messages = m.ToDevice
    board.power_off()
    board.power_on()


continuous("SH-86", "takes-in-one-more", "It counts one card more than it took in.",
    event(m.TakenIn, count=lambda e: e.count + 1))  # fmt: skip
continuous(
    "SH-87",
    "uncounted-is-too-few",
    "It refuses a delivery from an uncounted set with a wrong reason: too few cards.",
    refusal(m.Deliver, R.NOT_COUNTED, R.TOO_FEW_CARDS),
    also="SH-96",
)
continuous("SH-88", "counts-one-short", "It counts one card fewer than it contains.",
    event(m.Counted, count=lambda e: e.count - 1))  # fmt: skip


@GROUP.method("firmware._begin", "SH-89", model="shuffler-continuous")
def delivers_one_more(firmware: Any, real: Real, message: Any) -> Any:
    """It delivers a card more than was ordered."""
    ended = real(message)
    firmware._ordered_cards += isinstance(message, m.Deliver)
    return ended


continuous("SH-90", "chute-is-busy", "With cards in the chute it reports that it is busy.",
    refusal(m.CountAll, R.CHUTE_OCCUPIED, R.BUSY))  # fmt: skip


@GROUP.method("firmware._forget", "SH-91", model="shuffler-continuous")
def restart_forgets_what_is_outside(firmware: Any, real: Real) -> None:
    """After a restart it does not know any more what it gave out."""
    real()
    firmware._set.open()


continuous("SH-92", "silent-draws", "It does not report that a card was drawn.",
    no_event(m.StoreChanged, when=lambda e: not e.reason))  # fmt: skip
row("SH-93", "outside-for-ever", "Cards that came back still count as outside.",
    kept("firmware._set.take_back", "firmware._set.outside"), also="SH-95", model="shuffler-continuous")  # fmt: skip
continuous("SH-94", "trusts-its-chute", "It does not report that its chute ran empty too soon.",
    event(m.StoreChanged, when=lambda e: e.reason is R.COUNTS_DISAGREE, reason=R.NONE))  # fmt: skip


@GROUP.method("firmware._set.take_back", "SH-95", model="shuffler-continuous")
def takes_strangers_in(counted: Any, real: Real, cards: int) -> Any:
    """All cards in its intake join its set, foreign ones too."""
    if not real(cards):
        counted.outside = 0
    return True


continuous("SH-96", "delivers-after-the-door", "A hand in its store does not disturb it.",
    skipped("firmware._set.disturb"))  # fmt: skip
continuous("SH-97", "stop-is-called-door", "A delivery that was stopped is reported as ended by the door.",
    method("firmware._stop", lambda _, real, __: real(R.DOOR_OPEN)))  # fmt: skip
continuous("SH-98", "continuous-silent-about-power", "It does not report that power was lost.", no_event(m.Power))
