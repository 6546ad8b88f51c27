"""Which devices a Rules Submission requires, and which it can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.duties import duties
from table_controller.table.view import START_KINDS

if TYPE_CHECKING:
    from table_controller.rulebook import Edition, Submission


def devices_needed(rules: Edition, submission: Submission) -> dict[str, str]:
    """Return the kinds of devices that the choices of the table require, each with the reason."""
    needed: dict[str, str] = {}
    if submission.shuffler != "none":
        needed["shuffler"] = f'rules.shuffler = "{submission.shuffler}" ({rules.cards.clause})'
    if submission.dealing == "automated_shoe":
        method = rules.method(submission.dealing)
        needed["shoe"] = f'rules.dealing = "{submission.dealing}" ({method.clause if method else rules.deal.clause})'
    if submission.start in ("shaker", "rng"):
        clause = next(start.clause for start in rules.starts if start.name == submission.start)
        needed[START_KINDS[submission.start]] = f'rules.start = "{submission.start}" ({clause})'
    if rules.progressive is not None and rules.progressive.wager in submission.wagers:
        wager = rules.wager(rules.progressive.wager)
        clause = wager.clause if wager else rules.chapter
        needed["bet_sensor"] = f'rules.wagers has "{rules.progressive.wager}", and every seat is sensed ({clause})'
    return needed


def why_sign_needed(rules: Edition, submission: Submission) -> str:
    """Return why players must see the meter on a sign; empty if the table offers no progressive."""
    if rules.progressive is None or rules.progressive.wager not in submission.wagers:
        return ""
    seen = duties(rules.game).get("meter_seen")
    clause = ", ".join((*seen, "605a.7")) if isinstance(seen, tuple) else rules.chapter
    return f'rules.wagers has "{rules.progressive.wager}", and its meter is seen from the front of the table ({clause})'


def optional_devices(rules: Edition, submission: Submission) -> tuple[str, ...]:
    """Return the kinds of devices that the table uses if it has them and can play without."""
    shoe = ("shoe",) if submission.dealing in ("manual_shoe", "dealing_shoe") else ()
    button = ("button",) if submission.start == "flat_button" else ()
    sign = ("meter_sign",) if "bet_sensor" in devices_needed(rules, submission) else ()
    return ("keypad", *shoe, *button, *sign)
