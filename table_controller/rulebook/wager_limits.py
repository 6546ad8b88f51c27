"""The amounts that one wager may have: the table's minimum and maximum, and the unit of a progressive.

Amounts that depend on another wager of the seat (a Raise, a Blind) are checked in `settlement.check`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.loader import edition
from table_controller.rulebook.texts import paytables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from table_controller.rulebook.schema import Edition, Wager
    from table_controller.rulebook.submission import Submission


def citation_of(game: str, wager: Wager) -> str:
    """Return the clause on a wager, and those that define it, for a refusal to cite."""
    return ", ".join((wager.clause, *duty_clauses(game, f"wager_{wager.name}")))


def wager_objection(submission: Submission, wager: str, cents: int | None) -> str | None:
    """Return why a wager of so many cents is not accepted at this table, with its clause; None if it is accepted.

    `cents` None: the amount is not known, and nothing objects to it.
    """
    rules = edition(submission.game)
    placed = rules.wager(wager)
    if placed is None:
        return f"{rules.title} has no wager {wager}"
    if wager not in submission.paytables:
        return f"the {placed.title} is not offered at this table ({citation_of(rules.game, placed)})"
    if cents is None:
        return None
    if cents < 1:
        return f"{wager} = {cents} cents is not a wager"
    unit = _unit_cents(rules, submission, wager) if placed.amount == "table_unit" else None
    if unit is not None and cents != unit:
        return f"{wager} = {cents} cents must be {unit} ({placed.clause})"
    least, most = limits_of(submission, placed)
    if least is not None and cents < least:
        return f"{wager} = {cents} cents is below the table minimum of {least} ({placed.clause})"
    if most is not None and cents > most:
        return f"{wager} = {cents} cents is above the table maximum of {most} ({placed.clause})"
    return None


def limits_of(submission: Submission, wager: Wager) -> tuple[int | None, int | None]:
    """Return the table's minimum and maximum of a wager, in cents; None where the table has no such limit.

    A wager whose amount follows from another one, or from its paytable, has no limits of its own.
    """
    if not has_own_amount(wager, submission.settings):
        return None, None
    return submission.least_wagers_cents.get(wager.name), submission.most_wagers_cents.get(wager.name)


def has_own_amount(wager: Wager, settings: Mapping[str, str]) -> bool:
    """Return whether the player chooses the amount of a wager freely within the table's limits."""
    return wager.amount == "free" or (wager.amount == "submission" and settings.get("blind_amount") != "equal_to_ante")


def limit_problems(rules: Edition, stated: Submission) -> Iterator[str]:
    """Yield every objection to the minimum and maximum wagers that a Rules Submission states."""
    for name, cents in stated.least_wagers_cents.items():
        if rules.wager(name) is None:
            yield f"least_wagers_cents: {rules.title} has no wager {name}"
        elif cents < 1:
            yield f"least_wagers_cents: {name} = {cents} must be at least 1"
    for name, cents in stated.most_wagers_cents.items():
        wager = rules.wager(name)
        if wager is None:
            yield f"most_wagers_cents: {rules.title} has no wager {name}"
        elif wager.option and name not in stated.wagers:
            yield f"most_wagers_cents: {name} is not offered ({wager.clause})"
        elif not has_own_amount(wager, stated.settings):
            yield f"most_wagers_cents: the text fixes the amount of {name}, so it has no maximum ({wager.clause})"
        elif cents < max(1, stated.least_wagers_cents.get(name, 1)):
            least = max(1, stated.least_wagers_cents.get(name, 1))
            yield f"most_wagers_cents: {name} = {cents} must be at least {least} ({wager.clause})"


def _unit_cents(rules: Edition, submission: Submission, wager: str) -> int | None:
    """Return the unit of the paytable that the table uses for a wager."""
    table = submission.paytables[wager]
    return next(each.unit_cents for each in paytables(rules.game) if each.id == table)
