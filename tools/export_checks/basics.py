"""Shared by all checks: how a failed check is reported, the accounts, and amounts."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
Transfers = dict[tuple[str, str], int]  # (from, to) -> micro-dollars

CENT = 10_000  # micro-dollars
WHOLE = 10_000  # hundredths of a percent
# Editions of the booking rules; the record of a start names the edition. Since the fourth, claims have cards.
FIRST, SECOND, THIRD, FOURTH = 1, 2, 3, 4
ACCOUNTS = (
    "bets", "seed", "meter", "reserve", "house", "pending", "fixed_awards", "hand_pays", "envy", "stakes_returned",
    "corrections", "overflow",
)  # fmt: skip
NEVER_BELOW_ZERO = ("meter", "reserve", "overflow", "pending", "fixed_awards", "hand_pays", "envy", "stakes_returned")


class CheckFailed(Exception):
    """A check failed; the text names it."""


def need(holds: Any, why: str) -> None:
    """Raise Bad unless the condition holds."""
    if not holds:
        raise CheckFailed(why)


def person(who: Json) -> str:
    """Return the person of a credential, in a form that can be compared."""
    return str(who.get("person") or who["credential"]).casefold()


def inverse(transfers: Transfers) -> Transfers:
    """Return the transfers that undo these exactly."""
    return {(to, source): amount for (source, to), amount in transfers.items()}
