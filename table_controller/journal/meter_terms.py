"""Refuses a configuration that changes the terms of a meter with money in it.

Players paid into the meter under one paytable (605a.7): another table, unit, seed, reserve or award for the same money
needs two people and a new journal. Two people change the rate with a document in the journal, never in a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import VersionsDiffer
from table_controller.ledger.money import format_dollars

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.table.state import TableState

_OUT: Final = (
    "put the old line back into table.toml; or, if the meter must really change, move this journal away as evidence "
    "and have a technician and a floorperson begin another one (pitbox journal begin)"
)
_AMOUNTS: Final = ("unit", "seed", "reseed")


def check_meter(state: TableState, old: MeterRules | None, new: MeterRules | None) -> None:
    """Raise VersionsDiffer if a meter with entries in its book would get other terms.

    `old` and `new` are the submitted terms; documented changes since then are in the state.
    """
    if not state.money.book.entries:
        return
    changes = _changes(state, old, new)
    if changes:
        raise VersionsDiffer(f"the configuration changes a meter with money in it: {'; '.join(changes)}; {_OUT}")


def _changes(state: TableState, old: MeterRules | None, new: MeterRules | None) -> list[str]:
    if old is None or new is None:
        names = [rules.table if rules is not None else "no progressive" for rules in (old, new)]
        return [] if old is new else [f"table {names[0]} -> {names[1]}"]
    changes = [f"table {old.table} -> {new.table}"] if old.table != new.table else []
    for name in _AMOUNTS:
        before, after = getattr(old, name), getattr(new, name)
        changes += [f"{name} {format_dollars(before)} -> {format_dollars(after)}"] if before != after else []
    if old.reserve_bp != new.reserve_bp:
        changes.append(f"reserve {old.reserve_bp} -> {new.reserve_bp} hundredths of a percent")
    if state.money.rate_bp is None and new.rate_bp != old.rate_bp:
        # A rate in the state stays in force, and no round opens before two people set the submitted rate.
        changes.append(f"rate {old.rate_bp} -> {new.rate_bp} hundredths of a percent, which needs a documented change")
    if old.awards != new.awards and old.table == new.table:
        changes.append(f"awards of {', '.join(_lines(old, new))}")
    return changes


def _lines(old: MeterRules, new: MeterRules) -> list[str]:
    """Return the hands whose award differs."""
    before, after = ({award.hand: award for award in rules.awards} for rules in (old, new))
    return [hand for hand in {**before, **after} if before.get(hand) != after.get(hand)]
