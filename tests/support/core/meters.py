"""Every progressive paytable of the rulebook with its rules, and ledgers with a chosen meter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from table_controller.ledger import meter
from table_controller.ledger.money import METER, MoneyBook
from table_controller.rulebook import check_submission, edition, paytables

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.rulebook.texts import Paytable

PROGRESSIVES: Final[dict[str, tuple[str, Paytable]]] = {
    table.id: (game, table)
    for game in ("dj_wild", "face_up_pai_gow")
    for table in paytables(game)
    if "progressive" in table.wagers
}


def choices(table: str, **changes: Any) -> dict[str, Any]:
    """Return the choices of a Rules Submission that offer one progressive paytable."""
    raw: dict[str, Any] = {"adjacent_boxes": 1, "wagers": ["progressive"], "paytables": {"progressive": table}}
    if PROGRESSIVES[table][0] == "dj_wild":
        raw |= {
            "progressive_rate_bp": 1500,
            "folded_progressive": True,
            "settings": {"envy_paid_to": "progressive_bettors", "stake_returned": "no"},
        }
    return raw | changes


def rules_of(table: str, **changes: Any) -> MeterRules:
    """Return the rules of a table's meter."""
    rulebook = edition(PROGRESSIVES[table][0])
    rules = meter.meter_rules(rulebook, check_submission(rulebook, choices(table, **changes)))
    assert rules is not None
    return rules


def opened(rules: MeterRules, amount: int | None = None) -> MoneyBook:
    """Return a ledger whose meter was seeded and set to an amount."""
    book = MoneyBook()
    meter.open_meter(book, rules)
    if amount is not None:
        meter.correct_meter(book, amount - book.balance(METER), "test 1")
    return book
