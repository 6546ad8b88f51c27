"""Tiny tables with a progressive, under random actions of people who err and devices that fail; the monitor checks.

Breadth first, a search takes long to come to a hit. A walk plays rounds to their end, with trouble now and then.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.table import events as ev
from table_controller.table.decisions import Booked
from tests.support.box.money_adversary import attacks
from tests.support.core.ideal_table import AUDITOR, FLOOR
from tests.support.core.meters import PROGRESSIVES, choices
from tests.support.core.search_moves import SearchModel
from tests.support.core.search_trouble import SearchMove, SearchTrouble
from tests.support.core.tiny_editions import tiny_table
from tests.support.suite.case_counts import draw_seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

_SENSORS: Final = {"bet_sensor.1": "bet_sensor", "bet_sensor.2": "bet_sensor"}
_PAI_GOW: Final[dict[str, Any]] = {"shoe.1": "shoe", "rng.1": "rng", **_SENSORS}
_WILD: Final[dict[str, Any]] = {"shoe.1": "shoe", **_SENSORS}
TABLES: Final[dict[str, tuple[str, dict[str, Any], dict[str, Any], tuple[str, ...]]]] = {
    "688a-progressive-1": ("face_up_pai_gow", _PAI_GOW, {"dealing": "automated_shoe", "start": "rng"}, ()),
    "688a-progressive-4": ("face_up_pai_gow", _PAI_GOW, {"dealing": "automated_shoe", "start": "rng"}, ()),
    "687a-progressive-1": ("dj_wild", _WILD, {"dealing": "automated_shoe"}, ("cards_revealed_before_raise",)),
    "687a-progressive-2": ("dj_wild", _WILD, {"dealing": "automated_shoe"}, ("cards_revealed_before_raise",)),
}
# Percent of moves that are faults or errors.
TROUBLE: Final = 3
# The least that all walks of a table together must reach; some only where the table has it.
EXPECTED: Final = {"seed", "bet", "bet_returned", "hit", "hit_withdrawn", "award_paid", "hand_pay_paid", "correction"}


class Walk:
    """One table under random moves."""

    def __init__(self, name: str, seed: int) -> None:
        game, slots, more, declared = TABLES[name]
        self.rng = Random(seed)
        self.table = tiny_table(game, slots, **choices(name, **more))
        slots_in_trouble = tuple(slot for slot in slots if slot != "shoe.1")
        declares = ("wrong_card_count", "player_card_exposed", *declared)
        trouble = SearchTrouble(
            declared=declares, links=slots_in_trouble, slow=("shoe.1",), bets=True, variety=True, money=True
        )
        self.model = SearchModel(self.table, trouble)
        self.monitor = self.model.prepared()
        self.kinds: Counter[str] = Counter({"seed": 1})
        self.rounds = 0

    def _moves(self) -> Iterator[SearchMove]:
        for move in (*self.model._prompted(), *self.model._commanded(), *self.model._hands(), *self.model._slots()):
            if not move.trouble:
                yield move

    def go(self, moves: int) -> None:
        for _ in range(moves):
            options = list(self._moves()) or [
                SearchMove("lock due", (ev.Due("lock"),))
            ]  # no answer: the deadline passes
            trouble = list(self.model.troubles())
            if self.rng.randrange(100) < TROUBLE and trouble and not self.table.state.holds:
                options = trouble
            if self.table.state.round.state == "idle" and self.rng.randrange(5) == 0:
                self._apply(SearchMove("correction", (self._correction(),)))
            self._apply(self.rng.choice(options))

    def _correction(self) -> ev.Event:
        by = self.rng.randrange(-(10**9), 10**9)
        return ev.MeterCorrected(by, "MC-1", FLOOR, AUDITOR, "malfunction", "sensor_fault")

    def _apply(self, move: SearchMove) -> None:
        for event in move.events:
            decisions = self.table.step(event)
            self.rounds += isinstance(event, ev.NoMoreBets)
            self.kinds.update(each.entry.kind for each in decisions if isinstance(each, Booked))
            self.monitor.watch(event, decisions, self.table.state)


def walk(name: str, seeds: range, moves: int) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for seed in seeds:
        one = Walk(name, seed)
        try:
            one.go(moves)
        except AssertionError as broken:
            raise AssertionError(f"{name}, seed {seed}, round {one.rounds}: {broken}") from broken
        kinds += one.kinds
        kinds["rounds"] += one.rounds
    return kinds


@pytest.mark.parametrize("name", list(TABLES))
def test_random_walks_break_no_invariant_of_money(name: str) -> None:
    kinds = walk(name, range(6), 1_500)
    print(name, dict(kinds))
    assert set(kinds) >= EXPECTED


@pytest.mark.proof
@pytest.mark.parametrize("name", list(TABLES))
def test_long_random_walks_break_no_invariant_of_money(name: str) -> None:
    kinds = walk(name, draw_seeds(1_000, 25), 4_000)
    print(name, dict(kinds))
    assert set(kinds) >= EXPECTED


@pytest.mark.proof
@pytest.mark.parametrize("table", list(PROGRESSIVES))
def test_no_attack_by_chance_moves_a_cent_that_is_not_owed(table: str) -> None:
    """`test_money_adversary` shows what such an attack does, and that it sees planted mistakes."""
    attacks(table, draw_seeds(1_000, 20), 8)
