"""The last hits of each level, with time, seat, amount and state: built from steps, stored in every snapshot.

The equivalents of 605a.7 require that the last 25 hits can be shown. A level is a line of the progressive paytable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from table_controller.table.decisions import HitClaimed, HitRebooked, StateChanged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.table.decisions import Decision

# The newest hits of each level in this log; the journal has all.
KEPT_PER_LEVEL: Final = 25
_HIT: Final = "hit "


class LoggedHit(msgspec.Struct, frozen=True):
    """One hit: when it was claimed and last changed (wall clock, ns), and its present state."""

    hit: int
    round: int
    seat: int
    level: str
    amount: int  # micro-dollars
    state: str
    claimed_ns: int
    changed_ns: int


class HitLog(msgspec.Struct):
    """The newest hits of each level, the oldest first. A step replaces the lists that it changes."""

    levels: dict[str, list[LoggedHit]] = {}

    def add_step(self, wall_ns: int, decisions: Iterable[Decision]) -> None:
        """Add the hits in the decisions of one step."""
        for decision in decisions:
            if isinstance(decision, HitClaimed):
                self._claimed(wall_ns, decision)
            elif isinstance(decision, HitRebooked):
                self._rebooked(wall_ns, decision)
            elif isinstance(decision, StateChanged) and decision.what.startswith(_HIT):
                self._moved(wall_ns, int(decision.what.removeprefix(_HIT)), decision.state)

    def _claimed(self, wall_ns: int, claim: HitClaimed) -> None:
        amount = claim.fixed + claim.share
        new = LoggedHit(claim.hit, claim.round, claim.seat, claim.hand, amount, "claimed", wall_ns, wall_ns)
        self.levels[claim.hand] = [*self.levels.get(claim.hand, ()), new][-KEPT_PER_LEVEL:]

    def _rebooked(self, wall_ns: int, claim: HitRebooked) -> None:
        self._change(claim.hit, amount=claim.fixed + claim.share, changed_ns=wall_ns)

    def _moved(self, wall_ns: int, hit: int, state: str) -> None:
        self._change(hit, state=state, changed_ns=wall_ns)

    def _change(self, hit: int, **fields: Any) -> None:
        for level, hits in self.levels.items():
            if any(one.hit == hit for one in hits):
                self.levels[level] = [replace(one, **fields) if one.hit == hit else one for one in hits]
