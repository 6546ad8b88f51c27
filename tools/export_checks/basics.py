"""What every check uses: how a rule that does not hold is reported, the accounts, and amounts."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
Ways = dict[tuple[str, str], int]  # (from, to) -> micro-dollars

CENT = 10_000  # micro-dollars
WHOLE = 10_000  # hundredths of a percent
# Editions of the rules by which entries are booked; a start says which.
FIRST, SECOND, THIRD = 1, 2, 3
ACCOUNTS = (
    "bets", "seed", "meter", "reserve", "house", "pending", "fixed_awards", "hand_pays", "envy", "stakes_returned",
    "corrections", "overflow",
)  # fmt: skip
NEVER_BELOW_ZERO = ("meter", "reserve", "overflow", "pending", "fixed_awards", "hand_pays", "envy", "stakes_returned")


class Bad(Exception):
    """Something does not hold; says what."""


def need(holds: Any, why: str) -> None:
    """Go on only if it holds."""
    if not holds:
        raise Bad(why)


def person(who: Json) -> str:
    """Return the person behind a credential, as two are compared."""
    return str(who.get("person") or who["credential"]).casefold()


def inverse(ways: Ways) -> Ways:
    """Return what undoes transfers exactly."""
    return {(to, source): amount for (source, to), amount in ways.items()}
