"""The check of contributions: an unreasonable one is not recorded and closes the meter.

The parallel texts of 605a.7 use this name for an increment that is judged invalid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger.meter import WHOLE_BP
from table_controller.table import state_machines as mc
from table_controller.table.meter_play import close_meter

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.table.context import Context

# How many chip changes at one seat are plausible while bets are open. A chattering sensor reports hundreds.
MOST_CHANGES: Final = 100


def is_reasonable(c: Context, rules: MeterRules, seat: int) -> bool:
    """Return whether a latched bet may be recorded; if not, close the meter to play and record why."""
    why = _objection(c, rules, seat)
    if not why:
        return True
    c.record_finding(
        "unreasonable_contribution", f"{why}; the bet of seat {seat} is not accepted, the meter is closed to play"
    )
    close_meter(c, mc.UNREASONABLE)
    return False


def _objection(c: Context, rules: MeterRules, seat: int) -> str:
    """Return why this contribution is unreasonable; empty if it is not."""
    if not 1 <= seat <= c.submission.seats:
        return f"a bet of seat {seat}, but this table has {c.submission.seats} seats"
    changes = c.state.progressive.seats[seat].changes
    if changes > MOST_CHANGES:
        return (
            f"the sensor of seat {seat} reported {changes} changes while bets were open; {MOST_CHANGES} are plausible"
        )
    if not 0 < rules.rate_bp <= WHOLE_BP - rules.reserve_bp:
        return f"a rate of {rules.rate_bp} hundredths of a percent adds nothing, or more than the bet"
    return ""
