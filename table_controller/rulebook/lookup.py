"""The lookup: a trigger in a phase, with the facts of the table, gives exactly one ruling."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.rulebook.irregularity_rows import Choice, Facts, IrregularityRow, NumberReference
from table_controller.rulebook.validation import phases_of
from table_controller.rulebook.vocabulary import (
    DECK_OUTCOMES,
    PHASES,
    TRIGGERS,
    Decider,
    Evidence,
    Outcome,
    Phase,
    Role,
    Scope,
    Trigger,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.rulebook.schema import Edition


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What the rule orders. Without a row: stop, and the floorperson decides."""

    trigger: Trigger
    phase: Phase
    rows: tuple[str, ...]  # row ids; empty: no rule covers this case
    outcomes: tuple[Outcome, ...]
    scope: Scope
    decides: Decider
    stop: bool  # the round stops until the decision
    choices: tuple[Choice, ...]
    acknowledges: Role
    evidence: tuple[Evidence, ...]
    numbers: tuple[NumberReference, ...]
    clauses: tuple[str, ...]
    see: tuple[str, ...]


# What the floorperson may order where no row applies; "rule 2" is the second rule of the readings.
DEFAULT_CHOICES: Final = (
    Choice("continue", ("continue_round",)),
    Choice("void", ("void_round", "return_wagers", "reshuffle")),
    Choice("void_and_remove", ("void_round", "return_wagers", "remove_deck")),
)
DEFAULT_READING: Final = "rule 2"
# Cache size: more cases than a table meets in a year; a miss costs microseconds.
_REMEMBERED: Final = 4096


def find_ruling(edition: Edition, trigger: Trigger, phase: Phase, facts: Facts) -> Ruling:
    """Return the ruling for a case; ValueError for a trigger or phase outside the vocabulary."""
    return _ruling(edition, trigger, phase, facts)


@lru_cache(_REMEMBERED)
def _ruling(edition: Edition, trigger: Trigger, phase: Phase, facts: Facts) -> Ruling:
    if trigger not in TRIGGERS or phase not in PHASES:
        raise ValueError(f"no such case: {trigger} in {phase}")
    rows = [row for row in _index(edition).get((trigger, phase), ()) if row.when.are_met(phase, facts)]
    return _merged(trigger, phase, rows) if any(not row.adds for row in rows) else default_ruling(trigger, phase)


def order_by_precedence(edition: Edition, triggers: Iterable[Trigger]) -> tuple[Trigger, ...]:
    """Return simultaneous triggers in order of precedence, each once."""
    given = set(triggers)
    if not given <= TRIGGERS.keys():
        raise ValueError(f"no such triggers: {', '.join(sorted(given - TRIGGERS.keys()))}")
    return tuple(trigger for trigger in edition.precedence if trigger in given)


@lru_cache(64)
def _index(edition: Edition) -> dict[tuple[Trigger, Phase], list[IrregularityRow]]:
    """Return the rows by trigger and phase: the governing row first, then the rows that add to it."""
    index: dict[tuple[Trigger, Phase], list[IrregularityRow]] = {}
    for row in sorted(edition.irregularities, key=lambda row: (row.adds, row.order)):
        for trigger in (row.trigger, *row.also):
            for phase in phases_of(row):
                index.setdefault((trigger, phase), []).append(row)
    return index


def _merged(trigger: Trigger, phase: Phase, rows: list[IrregularityRow]) -> Ruling:
    """Merge the governing row with the rows that add to it. A person's decision outranks the rule's."""
    governs = rows[0]
    decided = next((row for row in rows if row.decides != "rule"), governs)
    return Ruling(
        trigger=trigger,
        phase=phase,
        rows=tuple(row.id for row in rows),
        outcomes=_outcomes(rows),
        scope=governs.scope,
        decides=decided.decides,
        stop=any(row.stop for row in rows),
        choices=decided.choices,
        acknowledges="floorperson" if any(row.acknowledges == "floorperson" for row in rows) else "dealer",
        evidence=tuple(dict.fromkeys(evidence for row in rows for evidence in row.evidence)),
        numbers=tuple(dict.fromkeys(number for row in rows for number in row.numbers)),
        clauses=tuple(dict.fromkeys(clause for row in rows for clause in row.clauses)),
        see=tuple(dict.fromkeys(reading for row in rows for reading in row.see)),
    )


def _outcomes(rows: list[IrregularityRow]) -> tuple[Outcome, ...]:
    """Return the outcomes of all rows: one per deck, and no continue before an added question is answered."""
    ordered = dict.fromkeys(outcome for row in rows for outcome in row.outcomes)
    strongest = next((outcome for outcome in DECK_OUTCOMES if outcome in ordered), None)
    dropped = {outcome for outcome in DECK_OUTCOMES if outcome != strongest}
    if any(row.adds and row.stop for row in rows):
        dropped.add("continue_round")
    return tuple(outcome for outcome in ordered if outcome not in dropped)


def default_ruling(trigger: Trigger, phase: Phase) -> Ruling:
    """Return the ruling where no row applies: stop, and the floorperson decides."""
    return Ruling(
        trigger=trigger,
        phase=phase,
        rows=(),
        outcomes=("ask_floorperson",),
        scope="round",
        decides="floorperson",
        stop=True,
        choices=DEFAULT_CHOICES,
        acknowledges="floorperson",
        evidence=("table_seen",),
        numbers=(),
        clauses=(),
        see=(DEFAULT_READING,),
    )
