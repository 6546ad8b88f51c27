"""The last hits of each level, with time, seat, amount and state: built from steps, stored in every snapshot.

The equivalents of 605a.7 require that the last 25 hits can be shown. A level is a line of the progressive paytable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.table.decisions import HitClaimed, HitRebooked, StateChanged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.table.decisions import Decision

# The newest hits of each level in this log; the journal has all.
KEPT_PER_LEVEL: Final = 25
_HIT: Final = "hit "


class LoggedHit(msgspec.Struct):
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
    """The newest hits of each level, the oldest first."""

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
        level = self.levels.setdefault(claim.hand, [])
        amount = claim.fixed + claim.share
        level.append(
            LoggedHit(claim.hit, claim.round, claim.seat, claim.hand, amount, "claimed", wall_ns, wall_ns)
        )  # fmt: skip
        del level[:-KEPT_PER_LEVEL]

    def _rebooked(self, wall_ns: int, claim: HitRebooked) -> None:
        for one in self.levels.get(claim.hand, ()):
            if one.hit == claim.hit:
                one.amount, one.changed_ns = claim.fixed + claim.share, wall_ns

    def _moved(self, wall_ns: int, hit: int, state: str) -> None:
        for level in self.levels.values():
            for one in level:
                if one.hit == hit:
                    one.state, one.changed_ns = state, wall_ns
