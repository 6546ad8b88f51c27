"""Mutants of the dealing shoe (SO) at rest, while it takes a block in, and while it deals it."""

from __future__ import annotations

from typing import Any, Final

from devices.path_telemetry import OpticalLevel
from devices.shoe import messages as m
from simulators.mutants.mutant_tools import (
    MutantGroup,
    Real,
    answer,
    dark_unreported,
    event,
    event_twice,
    events,
    method,
    no_event,
    other_answer,
    refusal,
    skipped,
    stop_reported,
)

GROUP: Final = MutantGroup(m.KIND)
S: Final = m.State
R: Final = m.Reason
row: Final = GROUP.row


# --- at rest ----------------------------------------------------------------------------------------------------------


row("PL-12", "transits-are-sensors", "Asked for its transit times it reports its sensors.",
    other_answer(m.GetTransits, lambda machine, _: m.Sensors(machine.mechanics.levels(), machine.mechanics.currents())),
)  # fmt: skip
row("SO-01", "shoe-level-without-threshold", "A level below the threshold is not called blocked.",
    dark_unreported(m.GetSensors, m.Sensor.DRAW), also="SO-41")  # fmt: skip
row(
    "SO-01",
    "shoe-invents-a-sensor",
    "A manual shoe reports an intake that it does not have.",
    other_answer(
        m.GetSensors,
        lambda _, sensors: m.Sensors([OpticalLevel(False, 900, 500), *sensors.levels[1:]], sensors.currents),
    ),
    model="shoe-manual",
)
row("SO-02", "rounds-are-busy", "An automated shoe reports that it is busy when it is asked for a round.",
    refusal(m.StartRound, R.NOT_CAPABLE, R.BUSY))  # fmt: skip
row("SO-02", "stacks-are-too-large", "A manual shoe finds a stack too large that it could not deal at all.",
    refusal(m.Dispense, R.NOT_CAPABLE, R.STACK_SIZE), model="shoe-manual")  # fmt: skip
row("SO-03", "too-large-is-too-few", "A stack of more cards than it ever deals is called too few cards.",
    refusal(m.Dispense, R.STACK_SIZE, R.TOO_FEW_CARDS))  # fmt: skip
row("SO-04", "shoe-reports-stop-when-idle", "A stop at rest is reported as if something had moved.",
    stop_reported(m.Stop, (S.IDLE, S.READY), lambda stop: m.Stopped(stop.command, m.Phase.LOADING, 0, 0, 0, R.STOPPED)),
)  # fmt: skip
row("SO-05", "shoe-no-test-result", "A self-test ends without its result.", no_event(m.SelfTested))
row("SO-08", "shoe-jogs-one-way", "A motor always turns forward.", event(m.Jogged, reverse=False))
row("SO-06", "shoe-testing-needs-clearing", "While it tests itself it reports that it has to be cleared.",
    refusal(m.Load, R.BUSY, R.NEEDS_CLEARING, state=S.TESTING))  # fmt: skip
row("SO-07", "shoe-test-cannot-be-stopped", "A self-test cannot be stopped.",
    skipped("firmware._stop", lambda firmware, _: firmware.state is S.TESTING))  # fmt: skip


# --- a block ----------------------------------------------------------------------------------------------------------


row("SO-10", "loads-twice", "One block is reported as loaded twice.", event_twice(m.Loaded))
row("SO-11", "loads-one-too-many", "It counts one card more than the well contains.",
    event(m.Loaded, count=lambda e: e.count + 1), also="SO-27")  # fmt: skip
row("SO-11", "last-cards-of-a-block-unreported", "While it loads a block it stops reporting progress before the end.",
    no_event(m.Progress, when=lambda e: e.phase is m.Phase.LOADING and e.moved > 45))  # fmt: skip
row("SO-12", "loading-is-empty", "While it loads a block it reports that it is empty.",
    refusal(m.Dispense, R.BUSY, R.SHOE_EMPTY, state=S.LOADING))  # fmt: skip
row("SO-13", "loaded-is-nothing-loaded", "With a block in its well it asks for one in its intake.",
    refusal(m.Load, R.ALREADY_LOADED, R.NOTHING_LOADED))  # fmt: skip


# --- stacks -----------------------------------------------------------------------------------------------------------


row("SO-14", "stack-counted-too-far", "Its last Progress of a stack has a card more than the stack.",
    event(m.Progress, when=lambda e: e.phase is m.Phase.DISPENSING and e.moved == 7, moved=8))  # fmt: skip


@GROUP.method("firmware._begin", "SO-14")
def one_card_too_many(firmware: Any, real: Real, message: Any) -> Any:
    """Every stack has a card more than was ordered."""
    ended = real(message)
    firmware._ordered_cards += isinstance(message, m.Dispense)
    return ended


row("SO-15", "stacks-uncounted", "It does not count its stacks.", answer(m.GetStatus, stacks=0))
row("SO-16", "dispensing-is-occupied", "While it deals a stack it reports that the slot is occupied.",
    refusal(m.Dispense, R.BUSY, R.SLOT_OCCUPIED, state=S.DISPENSING))  # fmt: skip
row("SO-17", "stack-on-a-stack", "It deals a stack onto one in the slot.", refusal(m.Dispense, R.SLOT_OCCUPIED))
row("SO-20", "silent-slot", "It does not report that a stack was taken.",
    no_event(m.Pile, when=lambda e: e.place is m.Place.SLOT))  # fmt: skip
row("SO-21", "too-few-is-empty", "With too few cards it reports that it has none.",
    refusal(m.Dispense, R.TOO_FEW_CARDS, R.SHOE_EMPTY))  # fmt: skip
row("SO-22", "stub-one-short", "Its stub is a card too small.",
    event(m.Stub, count=lambda e: max(0, e.count - 1)), also="SO-23")  # fmt: skip
row("SO-23", "forgets-its-stacks", "At the stub it has forgotten what it dealt before.",
    event(m.Stub, drawn=lambda e: e.count))  # fmt: skip
row("SO-24", "empty-is-too-few", "Empty, it reports that it has too few cards.",
    refusal(m.Dispense, R.SHOE_EMPTY, R.TOO_FEW_CARDS))  # fmt: skip
row("SO-25", "short-stack-is-a-stack", "A stack that came short is reported as dealt.",
    events(m.ShortStack, lambda e: [m.Dispensed(e.command, e.dispensed, 0, e.left)]))  # fmt: skip
row("SO-26", "silent-about-faces", "It does not report a face-up card.", no_event(m.FaceUp))
row("SO-27", "cover-is-a-card", "A cover card counts as a card of the block and of the stack.",
    method("firmware._arrived", lambda _, real, **__: real(cover=False)))  # fmt: skip
row("SO-28", "every-hand-is-ordered", "A card that a hand draws is reported as ordered.", event(m.Drawn, ordered=True))
