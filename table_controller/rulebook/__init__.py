"""The rules as data: five chapters as dated editions, and the lookups over them. Imports nothing of the rest.

edition(game)                              facts and irregularities of a game
rulings(edition, trigger, phase, facts)    what the rule orders
precede(edition, triggers)                 simultaneous triggers in order
"""

from table_controller.rulebook.load import edition
from table_controller.rulebook.rows import Choice, Conditions, Facts, Number, Row
from table_controller.rulebook.rulings import Ruling, default_ruling, precede, rulings
from table_controller.rulebook.schema import Edition
from table_controller.rulebook.vocabulary import (
    DECK_OUTCOMES,
    EVIDENCE,
    GAMES,
    OUTCOMES,
    PHASES,
    TRIGGERS,
    Evidence,
    Outcome,
    Phase,
    Trigger,
)

__all__ = [
    "DECK_OUTCOMES", "EVIDENCE", "GAMES", "OUTCOMES", "PHASES", "TRIGGERS",
    "Choice", "Conditions", "Edition", "Evidence", "Facts", "Number", "Outcome", "Phase", "Row", "Ruling", "Trigger",
    "default_ruling", "edition", "precede", "rulings",
]  # fmt: skip
