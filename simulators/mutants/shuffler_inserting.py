"""Mutants of a shuffler that inserts its stack into the dealing shoe (SH-70 up)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from devices.shuffler import messages as m
from simulators.mutants.mutant_tools import MutantGroup, Real, event, event_twice, no_event, refusal
from simulators.mutants.shuffler import R, S

GROUP: Final = MutantGroup(m.KIND)
row = partial(GROUP.row, model="shuffler-inserting")
mutant_method = partial(GROUP.method, model="shuffler-inserting")

row("SH-70", "inserts-silently", "It does not report that its stack has left the chute.", no_event(m.Inserted))
row("SH-70", "reports-insertion-twice", "It reports one insertion twice.", event_twice(m.Inserted))
row("SH-70", "inserts-one-more", "It reports a card more than was behind its gate.",
    event(m.Inserted, count=lambda e: e.count + 1))  # fmt: skip
row("SH-71", "nothing-to-insert-is-busy", "Without a stack it reports that it is busy.",
    refusal(m.Insert, R.NOTHING_TO_EJECT, R.BUSY))  # fmt: skip
row("SH-72", "inserts-upon-cards", "It pushes its stack onto the cards in the shoe.",
    refusal(m.Insert, R.CHUTE_OCCUPIED))  # fmt: skip


@mutant_method("firmware._pushed", "SH-73")
def calls_a_stuck_stack_inserted(firmware: Any, real: Real, command: int, count: int | None) -> Any:
    """It reports a stack that stuck in the chute as inserted."""
    chute = firmware._mechanics.shoe_chute
    chute.finish()
    hidden = firmware._mechanics.world.at(chute.place)
    for card in hidden:
        firmware._mechanics.world.move(card, chute.entry)
    return real(command, count)


@mutant_method("firmware._break_off", "SH-73", also="SH-75")
def knows_what_stuck(firmware: Any, real: Real, reason: Any, sent: Any) -> Any:
    """After a push that ended early it still reports the stack as behind its gate."""
    if firmware.state is S.INSERTING:
        firmware._behind_gate = 53
    return real(reason, sent)


@mutant_method("firmware._refusal", "SH-74")
def clears_a_full_chute(firmware: Any, real: Real, message: Any) -> Any:
    """It lets itself be cleared while cards are in its chute."""
    reason = real(message)
    own = isinstance(message, m.ClearJam) and reason is R.PATH_BLOCKED and firmware._mechanics.shoe_chute.has_cards
    return R.NONE if own else reason


row("SH-75", "stop-in-chute-has-counts", "A push that was stopped is reported with the counts of the last cycle.",
    event(m.Stopped, when=lambda e: not e.entered, entered=53, left=53))  # fmt: skip
