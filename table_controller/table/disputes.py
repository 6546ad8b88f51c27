"""Disputes: the dealer disputes what the table proposes to settle, and a floorperson rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt


def open_dispute(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """The dealer disputes the proposals of a prompt: the seat waits for a floorperson."""
    assert prompt.seat is not None
    c.state.round.disputed.append(prompt.seat)
    _record(c, "settlement_disputed", prompt, answer)


def end_dispute(c: Context, prompt: Prompt, answer: ev.Answer, about: str = "") -> int:
    """A floorperson ruled: record it, and let the dealer settle without the cards if that is ruled; return the seat."""
    assert prompt.seat is not None
    c.state.round.disputed.remove(prompt.seat)
    if answer.choice == "dealer_settles":
        c.state.round.dealer_settles.append(prompt.seat)
    _record(c, "dispute_ruled", prompt, answer, about)
    return prompt.seat


def _record(c: Context, kind: str, prompt: Prompt, answer: ev.Answer, about: str = "") -> None:
    wagers = ", ".join(proposal.wager for proposal in prompt.proposals)
    who = answer.who.credential
    where = f"round {c.state.round.number}, seat {prompt.seat}, {wagers}"
    c.record_finding(kind, f"{where}: {answer.choice} by {who}{about}")
