"""Rule mutation: every changed row and every changed permit reason is noticed by a named test."""

from __future__ import annotations

from itertools import groupby

import pytest

from table_controller.rulebook import GAMES, edition
from table_controller.table.permits import REASONS
from tests.support.core import ideal_table
from tools import rule_mutants
from tools.mutate_rules import Killed, in_force, killed, part, report, unchanged

PARTS = 4
SAMPLE = 3  # mutants of each kind in the short run


def test_without_a_mutant_every_test_of_rows_and_permits_passes() -> None:
    """Otherwise a mutant could be killed by a test that always fails."""
    assert unchanged() == []


def test_some_mutants_of_every_kind_are_noticed() -> None:
    every, _ = rule_mutants.every()
    by_kind = sorted(every, key=lambda mutant: mutant.kind)
    some = []
    for _, group in groupby(by_kind, key=lambda mutant: mutant.kind):
        kind = list(group)
        some += kind[:: max(1, len(kind) // SAMPLE)][:SAMPLE]
    assert len(some) >= 50
    assert [one.mutant.name for one in map(killed, some) if one.test is None] == []


def test_every_row_is_deleted_once_and_every_reason_too() -> None:
    every, _ = rule_mutants.every()
    rows = {(mutant.game, mutant.key) for mutant in every if mutant.kind == "delete"}
    assert rows == {(game, row.id) for game in GAMES for row in edition(game).irregularities}
    reasons = {mutant.key for mutant in every if mutant.kind == "reason"}
    assert reasons == {reason.key for reason in REASONS}


def test_a_mutant_that_no_test_notices_is_reported_and_the_committed_rules_are_restored() -> None:
    every, _ = rule_mutants.every()
    harmless = every[0]._replace(about=("nothing",))
    assert killed(harmless) == Killed(harmless, None)
    assert "survived: " + harmless.name in report([killed(harmless)])
    with in_force(every[0]):
        assert ideal_table.EDITIONS
    assert not ideal_table.EDITIONS
    assert not ideal_table.PERMITS


@pytest.mark.proof
@pytest.mark.parametrize("which", range(1, PARTS + 1))
def test_every_mutant_is_noticed_by_a_named_test(which: int) -> None:
    every, same = rule_mutants.every()
    results = [killed(mutant) for mutant in part(every, which, PARTS)]
    print(f"part {which} of {PARTS}, {same} changes left out that are the same rule\n{report(results)}")
    assert [one.mutant.name for one in results if one.test is None] == []


@pytest.mark.proof
def test_no_change_that_is_left_out_as_the_same_rule_is_noticed_by_any_test() -> None:
    left_out = [mutant for game in GAMES for mutant, same in rule_mutants.of_rows(game) if same]
    noticed = [(one.mutant.name, one.test) for one in map(killed, left_out) if one.test is not None]
    print(f"{len(left_out)} changes left out as the same rule, {len(noticed)} noticed by a test")
    assert left_out
    assert noticed == []
