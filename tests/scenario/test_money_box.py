"""The shipped Box, its power cut and its meter touched by hand: its journal matches the reference ledger.

The ledger follows docs/money.md (`tests/support/oracles/second_ledger.py`); `test_money_adversary` attacks the core
harder, and `test_power_cuts` more of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.box.box_money import TABLES, check

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("table", TABLES)
async def test_the_journal_of_a_box_that_loses_power_matches_the_reference_ledger(
    seed: int, table: str, tmp_path: Path
) -> None:
    seen = await check(table, seed, tmp_path / "export")
    assert seen >= {"bet", "MeterClosed", "MeterOpened", "MeterParameters"}, seen
