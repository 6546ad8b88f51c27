"""The rules as data: each chapter as a dated edition, and the lookups over them.

edition(game)                              facts and irregularities of a game
rulings(edition, trigger, phase, facts)    what the rule orders
precede(edition, triggers)                 simultaneous triggers in order of precedence
clause(id), clauses(game)                  every duty, in our words
enforcement(id)                            how the box handles a clause: enforced, prompted, computed, outside, not yet
paytables(game), reading(id)               paytables as printed; how an unclear wording is read
check_submission(edition, raw)             the certificate holder's choices, or every objection to them

Import `cards`, `hands`, `settlement` and `payback` by name: ranking of hands, settlement of wagers, expected paybacks.
"""

from table_controller.rulebook.irregularity_rows import Choice, Conditions, Facts, IrregularityRow, NumberReference
from table_controller.rulebook.loader import edition
from table_controller.rulebook.lookup import DEFAULT_READING, Ruling, default_ruling, find_ruling, order_by_precedence
from table_controller.rulebook.registry import CHAPTERS, GAMES
from table_controller.rulebook.schema import Edition
from table_controller.rulebook.submission import Submission, check_submission, default_submission
from table_controller.rulebook.texts import (
    ENFORCEMENT,
    Clause,
    ClauseReading,
    Enforcement,
    Paytable,
    clause,
    clause_vocabulary,
    clauses,
    enforcement,
    paytables,
    reading,
    readings,
)
from table_controller.rulebook.vocabulary import (
    DECK_OUTCOMES,
    EVIDENCE,
    OUTCOMES,
    PHASES,
    TRIGGERS,
    Evidence,
    Outcome,
    Phase,
    Trigger,
)

__all__ = [
    "CHAPTERS",
    "DECK_OUTCOMES",
    "DEFAULT_READING",
    "ENFORCEMENT",
    "EVIDENCE",
    "GAMES",
    "OUTCOMES",
    "PHASES",
    "TRIGGERS",
    "Choice",
    "Clause",
    "ClauseReading",
    "Conditions",
    "Edition",
    "Enforcement",
    "Evidence",
    "Facts",
    "IrregularityRow",
    "NumberReference",
    "Outcome",
    "Paytable",
    "Phase",
    "Ruling",
    "Submission",
    "Trigger",
    "check_submission",
    "clause",
    "clause_vocabulary",
    "clauses",
    "default_ruling",
    "default_submission",
    "edition",
    "enforcement",
    "find_ruling",
    "order_by_precedence",
    "paytables",
    "reading",
    "readings",
]  # fmt: skip
