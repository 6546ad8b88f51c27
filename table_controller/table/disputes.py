"""Disputes: the dealer disputes what the table proposes to settle, and a floorperson rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

# The place of a dispute that concerns no single seat.
NO_SEAT: Final = 0


def open_dispute(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """The dealer disputes the proposals of a prompt: the seat waits for a floorperson."""
    c.state.round.disputed.append(_place(prompt))
    _record(c, "settlement_disputed", prompt, answer)


def end_dispute(c: Context, prompt: Prompt, answer: ev.Answer, about: str = "") -> int:
    """A floorperson ruled: record it, and let the dealer settle without the cards if that is ruled; return the seat."""
    place = _place(prompt)
    c.state.round.disputed.remove(place)
    if answer.choice == "dealer_settles":
        c.state.round.dealer_settles.append(place)
    _record(c, "dispute_ruled", prompt, answer, about)
    return place


def _place(prompt: Prompt) -> int:
    return NO_SEAT if prompt.seat is None else prompt.seat


def _record(c: Context, kind: str, prompt: Prompt, answer: ev.Answer, about: str = "") -> None:
    wagers = ", ".join(proposal.wager for proposal in prompt.proposals)
    who = answer.who.credential
    what = "envy" if prompt.seat is None else f"seat {prompt.seat}, {wagers}"
    c.record_finding(kind, f"round {c.state.round.number}, {what}: {answer.choice} by {who}{about}")
