"""The amounts of the meter that people may see: those after the last step on disk.

The core is ahead of the disk by the steps that are being written. Amounts that a power cut could undo are not shown.
Players see nothing of a hit that no floorperson has validated: for them its claim was not made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from table_controller.ledger.hits import Hit
from table_controller.ledger.meter import MeterRules
from table_controller.ledger.money import Meters
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from table_controller.table.core import Table


class ShownMoney(msgspec.Struct, frozen=True):
    """The amounts, the number of entries, the hits of the round that are not withdrawn, and the rules of the meter.

    `final`: the hits whose amount no earlier claim can change any more.
    """

    meters: Meters
    entries: int
    hits: tuple[Hit, ...]
    rules: MeterRules
    final: frozenset[int] = frozenset()
    closed: str = ""  # why the meter is closed to play; empty while it is open
    next_slip: int = 1  # the next free number of a hand pay's slip

    @property
    def public(self) -> Meters:
        """The amounts for players: as if the hits that are not validated had not been claimed."""
        claims = [hit for hit in self.hits if not is_public(hit.state)]
        seeded = sum(hit.from_reserve + hit.from_seed for hit in claims)
        return msgspec.structs.replace(
            self.meters,
            current=self.meters.current + sum(hit.share for hit in claims) - seeded,
            reserve=self.meters.reserve + sum(hit.from_reserve for hit in claims),
            pending=self.meters.pending - sum(hit.amount for hit in claims),
        )

    def is_final(self, hit: Hit) -> bool:
        """Return whether the amount of a hit is final and can be paid."""
        return hit.id in self.final


def is_public(state: str) -> bool:
    """Return whether players may see a hit in this state: a floorperson has validated it."""
    return state not in mc.HIT_UNVALIDATED


def shown_money_of(table: Table) -> ShownMoney | None:
    """Return a copy of the amounts of now; None if the table has no meter."""
    rules, money = table.context.meter, table.state.money
    if rules is None:
        return None
    hits = tuple([msgspec.structs.replace(hit) for hit in money.hits.values() if hit.state != mc.HIT_WITHDRAWN])
    final = frozenset([hit.id for hit in hits if money.is_final(hit)])
    return ShownMoney(money.book.meters, money.book.entries, hits, rules, final, money.closed, money.book.next_slip())
