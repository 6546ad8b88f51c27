"""The money of the meter as people may see it: as it was after the last step that is on disk. Computes nothing.

The core is ahead of the disk by the steps whose sync is under way. What a power cut can take back is shown to nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from table_controller.ledger.hits import Hit
from table_controller.ledger.meter import MeterRules
from table_controller.ledger.money import Meters
from table_controller.table import machines as mc

if TYPE_CHECKING:
    from table_controller.table.core import Table


class ShownMoney(msgspec.Struct, frozen=True):
    """The amounts, how many entries led there, the hits of the round that stand, and the rules in force.

    `final`: the numbers of the hits whose amount no earlier claim can change any more.
    """

    meters: Meters
    entries: int
    hits: tuple[Hit, ...]
    rules: MeterRules
    final: frozenset[int] = frozenset()
    closed: str = ""  # why the meter is closed to play; empty while it is open

    def is_final(self, hit: Hit) -> bool:
        """Tell whether a hit's amount can be paid."""
        return hit.id in self.final


def money_of(table: Table) -> ShownMoney | None:
    """Return a copy of what the table knows now; None where it has no meter. What comes later does not change it."""
    rules, money = table.context.meter, table.state.money
    if rules is None:
        return None
    hits = tuple([msgspec.structs.replace(hit) for hit in money.hits.values() if hit.state != mc.HIT_WITHDRAWN])
    final = frozenset([hit.id for hit in hits if money.is_final(hit)])
    return ShownMoney(money.book.meters, money.book.entries, hits, rules, final, money.closed)
