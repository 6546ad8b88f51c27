"""Dealers who err at the card pad of the shipped box: every error is caught or harmless. Wrong proposals count."""

from __future__ import annotations

from collections import Counter

import pytest

from table_controller.rulebook import GAMES
from tests.support.box.erring_dealer import CAUGHT, CONTRADICTED, HARMLESS, REFUSED, SLIPPED, ErringTable
from tests.support.suite import case_counts
from tools.studies.proposals import MUTANTS, count_wrong_proposals, error_rows

# `make test` plays a few rounds in which one of six entries is wrong; `make proof` 2,000 rounds over the five games
# with one of fifty; `make marathon` as many in every lap, at tables of other seeds.
SHORT = 8
OFTEN = 6
ROUNDS = 100
PROOF = 2_000
PROOF_SEED = 5_000
TABLES = [
    (game, PROOF_SEED + row)
    for row in case_counts.draw_seeds(0, PROOF // ROUNDS // len(GAMES))
    for game in GAMES
]  # fmt: skip


def ends(counted: Counter[tuple[str, str]]) -> Counter[str]:
    """Return how many errors ended in each way."""
    total: Counter[str] = Counter()
    for (_, end), number in counted.items():
        total[end] += number
    return total


@pytest.mark.parametrize("game", GAMES)
def test_every_error_of_a_dealer_who_compares_is_caught_or_harmless(game: str, seed: int) -> None:
    played = ErringTable(game, seed, one_in=OFTEN)
    played.play(SHORT)
    assert not played.slipped
    assert ends(played.counted)[REFUSED]


@pytest.mark.proof
@pytest.mark.parametrize(("game", "seed"), TABLES)
def test_of_one_wrong_entry_in_fifty_none_changes_a_settlement(game: str, seed: int) -> None:
    case_counts.count_cases(ROUNDS)
    played = ErringTable(game, seed)
    played.play(ROUNDS)
    for row in error_rows(played.counted):
        print(f"{game}, seed {seed}: {', '.join(row)}")
    assert not played.slipped
    assert ends(played.counted).keys() <= {*CAUGHT, HARMLESS}
    assert played.counted


def test_without_comparing_the_box_catches_what_cannot_be_and_the_rest_is_counted() -> None:
    """A wrong card that no other hand has, or wrong chips, only people can see."""
    played = ErringTable("saigon_5_card", 3, one_in=OFTEN, attention=0.0)
    played.play(25)
    counted_ends = ends(played.counted)
    assert counted_ends[SLIPPED]
    assert all(mismatches and slips for mismatches, slips in played.slipped)
    assert counted_ends[REFUSED] + counted_ends[CONTRADICTED] > counted_ends[SLIPPED]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_wrong_proposals_are_disputed_by_those_who_compare_and_counted_with_those_who_do_not(mutant: str) -> None:
    games = ("saigon_5_card", "face_up_pai_gow")
    shown, wrong = count_wrong_proposals(mutant, 0.0, 10, games)
    assert 0 < wrong <= shown
    assert count_wrong_proposals(mutant, 1.0, 10, games)[1] == 0
