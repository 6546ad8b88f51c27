"""Power cuts in virtual time at any write to disk or wire, compared with the simulators; any journal prefix."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from simulators.casino.table_layout import default_choices
from table_controller.rulebook import GAMES
from tests.support.box.box_money import TABLES, check
from tests.support.box.journal_prefixes import RecordedRun, resume_every_prefix
from tests.support.box.power_cuts import cut_and_compare
from tests.support.core.ideal_table import WILD_PROGRESSIVE
from tests.support.suite.case_counts import count_cases, draw_seeds

if TYPE_CHECKING:
    from pathlib import Path

# Tables whose journals are cut off after every record.
RUNS: list[tuple[str, dict[str, Any]]] = [(game, {}) for game in GAMES] + [("dj_wild", WILD_PROGRESSIVE)]
NAMES = [f"{game}{'-progressive' if more else ''}" for game, more in RUNS]


@pytest.mark.parametrize(("game", "cuts"), [(game, 24 if game == "face_up_pai_gow" else 8) for game in GAMES])
async def test_a_box_that_loses_power_loses_no_bet_doubles_none_and_plays_on(seed: int, game: str, cuts: int) -> None:
    seen = await cut_and_compare(game, seed, cuts)
    assert seen["cuts"] >= cuts
    assert seen["hits"] or "progressive" not in default_choices(game).get("wagers", ()), "nobody won anything"


@pytest.mark.parametrize("game", GAMES)
async def test_a_box_that_keeps_its_state_after_every_step_loses_nothing_either(seed: int, game: str) -> None:
    """A snapshot may be kept at any step: in a round, while a machine moves, with an irregularity or a hit open."""
    assert (await cut_and_compare(game, seed + 1, 8, snapshot_every=1))["cuts"] >= 8


async def test_an_irregularity_whose_acknowledgment_was_lost_in_a_power_cut_is_shown_again() -> None:
    """Power goes while the box starts, right after the acknowledgment, which never reached the disk."""
    assert (await cut_and_compare("dj_wild", 52, 8))["cuts"] >= 8


@pytest.mark.parametrize(("game", "more"), RUNS, ids=NAMES)
def test_every_prefix_of_a_journal_recovers_and_play_continues(seed: int, game: str, more: dict[str, object]) -> None:
    assert resume_every_prefix(RecordedRun(game, seed, 2, **more)) > 50


@pytest.mark.proof
@pytest.mark.parametrize(("game", "first"), [*((game, 1000) for game in GAMES), ("face_up_pai_gow", 2000)])
async def test_many_power_cuts(seed: int, game: str, first: int) -> None:
    began, seen = time.process_time(), Counter[str]()
    first += seed
    for table in range(first, first + count_cases(6)):
        seen += await cut_and_compare(game, table, 25)
    took = time.process_time() - began
    print(f"{game}: {seen['cuts']} power cuts of the whole stack at seeded points, {seen['rounds']} rounds,")
    print(f"{seen['bets']} bets accepted, {seen['hits']} hits paid, {seen['with a hit open']} cuts while one was open:")
    print(f"none lost, none doubled, every account exact, chain whole, errors still shown ({took:.0f} s of CPU)")
    assert seen["cuts"] >= 150


@pytest.mark.proof
@pytest.mark.parametrize(("game", "more"), RUNS, ids=NAMES)
def test_many_prefixes(seed: int, game: str, more: dict[str, object]) -> None:
    began, cuts, run, expected = time.process_time(), 0, seed + 1, count_cases(4000)
    while cuts < expected:
        cuts += resume_every_prefix(RecordedRun(game, run, 6, **more))
        run += 1
    took = time.process_time() - began
    print(f"{game}: {cuts} prefixes of {run - seed - 1} journals, each recovered bit for bit, restarted and led on")
    print(f"to an idle table with the meter exact ({took:.0f} s of CPU)")


@pytest.mark.proof
@pytest.mark.parametrize("table", TABLES)
async def test_journals_of_many_boxes_match_the_reference_ledger(table: str, tmp_path: Path) -> None:
    for number in draw_seeds(100, 10):
        await check(table, number, tmp_path / str(number))
