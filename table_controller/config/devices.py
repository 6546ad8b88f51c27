"""Which devices a Rules Submission requires, and which it can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.controller.kinds.table_needs import offers_progressive
from table_controller.rulebook.duties import duty_clauses

if TYPE_CHECKING:
    from table_controller.rulebook import Edition, Submission


def devices_needed(rules: Edition, submission: Submission) -> dict[str, str]:
    """Return the kinds of devices that the choices of the table require, each with the reason."""
    reasons = {name: kind.why_required(rules, submission) for name, kind in CONTROLLER_KINDS.items()}
    return {name: why for name, why in reasons.items() if why}


def why_sign_needed(rules: Edition, submission: Submission) -> str:
    """Return why players must see the meter on a sign; empty if the table offers no progressive."""
    if rules.progressive is None or not offers_progressive(rules, submission):
        return ""
    seen = duty_clauses(rules.game, "meter_seen")
    clause = ", ".join((*seen, "605a.7")) if seen else rules.chapter
    return f'rules.wagers has "{rules.progressive.wager}", and its meter is seen from the front of the table ({clause})'


def optional_devices(rules: Edition, submission: Submission) -> tuple[str, ...]:
    """Return the kinds of devices that the table uses if it has them and can play without."""
    return tuple(name for name, kind in CONTROLLER_KINDS.items() if kind.is_used(rules, submission))
