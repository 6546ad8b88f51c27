"""A seeded meter keeps its paytable, unit, seed, reserve, awards and rate through every edit of table.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from firmware_bridge.errors import VersionsDiffer
from table_controller.journal import records as rec
from table_controller.journal.meter_terms import check_meter
from table_controller.journal.migrations import CONFIGURATION
from table_controller.journal.recovery import encode_snapshot, recover
from table_controller.journal.timers import Timers
from table_controller.journal.versions import digests_of
from table_controller.rulebook import Submission
from tests.support.box.journal_prefixes import RecordedRun
from tests.support.core.ideal_table import WILD_PROGRESSIVE, IdealTable

if TYPE_CHECKING:
    from table_controller.journal.recovery import Recovered

PAI_GOW = "face_up_pai_gow"
WILD = "dj_wild"
# Edits of table.toml by game; each with the old and new value that the refusal names.
EDITS: list[tuple[str, dict[str, Any], str]] = [
    (PAI_GOW, {"paytables": {"progressive": "688a-progressive-2"}}, "table 688a-progressive-1 -> 688a-progressive-2"),
    (PAI_GOW, {"paytables": {"progressive": "688a-progressive-3"}}, r"seed \$10,000.00 -> \$2,000.00"),
    (PAI_GOW, {"paytables": {"progressive": "688a-progressive-4"}}, r"unit \$1.00 -> \$5.00"),
    (PAI_GOW, {"wagers": [], "paytables": {}}, "688a-progressive-1 -> no progressive"),
    (WILD, {"paytables": {"progressive": "687a-progressive-2"}}, "687a-progressive-1 -> 687a-progressive-2"),
    (WILD, {"settings": {"envy_paid_to": "progressive_bettors", "stake_returned": "yes"}}, "awards"),
]


def _choices(game: str) -> dict[str, Any]:
    return dict(WILD_PROGRESSIVE) if game == WILD else {}


def _stopped(game: str) -> tuple[RecordedRun, IdealTable]:
    """Return a table that played a round and was stopped in order."""
    run = RecordedRun(game, 1, 1, **_choices(game))
    floor = run.recovered(len(run.disk.records))
    store = run.disk.open(version=rec.VERSION, digests=run.digests) if run.disk._owner is None else run.disk._owner
    assert store is not None
    last = store.last()
    assert last is not None
    store.snapshot(last.seq, encode_snapshot(floor.table, Timers(), run.digests, rec.Timestamp(1, 1, "kernel")))
    store.close()
    return run, floor


def _started(run: RecordedRun, game: str, edit: dict[str, Any]) -> tuple[Recovered, IdealTable]:
    """Start the same software with an edited table.toml on the journal of a run."""
    other = run.digests | {CONFIGURATION: "1" * 64}
    floor = IdealTable(game, **(_choices(game) | edit))
    return recover(run.disk.open(version=rec.VERSION, digests=other), floor.table, other), floor


@pytest.mark.parametrize(("game", "edit", "names"), EDITS)
def test_an_edited_meter_is_refused_with_what_it_was_and_what_to_do(
    game: str, edit: dict[str, Any], names: str
) -> None:
    run, _ = _stopped(game)
    with pytest.raises(VersionsDiffer, match=names) as refused:
        _started(run, game, edit)
    assert "pitbox journal begin" in str(refused.value)


def test_an_edit_that_leaves_the_meter_alone_is_accepted() -> None:
    run, before = _stopped(WILD)
    results, floor = _started(run, WILD, {"adjacent_boxes": 2})
    assert results.migration is not None
    assert floor.state.money.book == before.state.money.book


def test_another_rate_in_the_configuration_changes_nothing_and_opens_no_round() -> None:
    """Two people set it while the meter is closed, with the Rules Submission; `test_table_meters` shows how."""
    run, before = _stopped(WILD)
    _, floor = _started(run, WILD, {"progressive_rate_bp": 1600})
    assert floor.table.context.meter is not None
    assert before.table.context.meter is not None
    assert floor.table.context.meter.rate_bp == before.table.context.meter.rate_bp == 1500
    assert "rate_differs" in floor.reasons_against_opening()


def test_another_rate_is_refused_where_the_state_does_not_hold_the_old_one() -> None:
    """As a snapshot of the first version."""
    run, floor = _stopped(WILD)
    rules = floor.table.context.meter
    assert rules is not None
    state = msgspec.structs.replace(floor.state, money=msgspec.structs.replace(floor.state.money, rate_bp=None))
    with pytest.raises(VersionsDiffer, match="rate 1500 -> 1600"):
        check_meter(state, rules, msgspec.structs.replace(rules, rate_bp=1600))
    assert run.disk.records


def test_a_table_that_never_booked_anything_may_change_its_meter() -> None:
    """No progressive was offered; now one is."""
    run = RecordedRun(PAI_GOW, 1, 1, wagers=[], paytables={})
    floor = run.recovered(len(run.disk.records))
    assert not floor.state.money.book.entries
    store = run.disk._owner
    assert store is not None
    last = store.last()
    assert last is not None
    store.snapshot(last.seq, encode_snapshot(floor.table, Timers(), run.digests, rec.Timestamp(1, 1, "kernel")))
    store.close()
    _, new = _started(run, PAI_GOW, {})
    assert new.table.context.meter is not None


@pytest.mark.parametrize("name", [f for f in Submission.__struct_fields__ if f != "warnings"])
def test_no_choice_of_the_rules_changes_without_the_digest_that_two_people_approve(name: str) -> None:
    """`check_software` compares this digest with the approved manifest: an edit by one person locks the table."""
    context = IdealTable(PAI_GOW).table.context
    edited = msgspec.structs.replace(context.submission, **{name: "something else"})
    before, after = (digests_of(context.edition, each, {})[CONFIGURATION] for each in (context.submission, edited))
    assert before != after
