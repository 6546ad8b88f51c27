"""Which clauses rank the hands of a wager: a verdict cites them after the clause that decides it.

They are duties of the chapter (`duties.toml`): one for each class of hand that has a clause of its own,
`hand_class` where the classes decide, `hand_cards` where the cards do, `hand_wild` where a wild card is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.hands.ranking import class_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from table_controller.rulebook.cards import Card
    from table_controller.rulebook.hands.ranking import HandClass
    from table_controller.rulebook.texts import PaytableLine


def cited(*groups: Iterable[str]) -> tuple[str, ...]:
    """Return the clauses of several groups in order, each once."""
    return tuple(dict.fromkeys(clause for group in groups for clause in group))


def duties_of(game: str, *names: str) -> tuple[str, ...]:
    """Return the clauses of several duties, each once."""
    return cited(*(duty_clauses(game, name) for name in names))


def ranked_by(
    game: str,
    own: Iterable[Card],
    other: Iterable[Card],
    strength: Callable[[Iterable[Card]], int],
    wild: Collection[Card],
) -> tuple[str, ...]:
    """Return the clauses by which two hands rank as they do: their classes, their cards, their wild cards."""
    own, other = tuple(own), tuple(other)
    mine, its = class_of(strength(own)), class_of(strength(other))
    decides = "hand_cards" if mine is its else "hand_class"
    used = ("hand_wild",) if any(card in wild for card in (*own, *other)) else ()
    return duties_of(game, decides, *map(_class_duty, {mine: None, its: None}), *used)


def _class_duty(hand_class: HandClass) -> str:
    return f"hand_{hand_class.name.lower()}"


def line_by(game: str, wager: str, line: PaytableLine | None) -> tuple[str, ...]:
    """Return the clauses that rank the hands for a wager with a paytable, and those of the line that pays it."""
    named = () if line is None else (f"hand_for_{wager}_{line.hand}",)
    return duties_of(game, f"hand_for_{wager}", *named)
