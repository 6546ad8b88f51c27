"""kill -9 of the box, a real process on real ports with a real disk: no accepted bet is lost, none counted twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.box.killed_box import kill_and_compare
from tests.support.suite.case_counts import count_cases

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime


async def test_a_killed_box_comes_back_with_every_bet_and_the_exact_meter(tmp_path: Path, seed: int) -> None:
    seen = await kill_and_compare(tmp_path, seed, 25)
    assert seen["kills"] == 25


@pytest.mark.proof
@pytest.mark.timeout(900)
@pytest.mark.parametrize("table", range(count_cases(10)))
async def test_many_killed_boxes(tmp_path: Path, seed: int, table: int) -> None:
    seen = await kill_and_compare(tmp_path, 100 * seed + table, 51)
    figures = ", ".join(f"{times} {what.replace('_', ' ')}" for what, times in seen.items())
    print(f"table {table}: {figures}; no bet or hit lost, none doubled, every account exact to the micro-dollar")
    assert seen["kills"] == 51
