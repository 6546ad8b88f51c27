"""Records of a table are read back exactly and hold no order of cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given

from table_controller.journal import records as rec
from table_controller.table.events import BoxStarted, Event, OpenRound, Person
from tests.support.box.journal_prefixes import RecordedRun, steps_of
from tests.support.core.any_value import any_value
from tests.support.core.ideal_table import CHOICES, WILD_PROGRESSIVE

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision


@pytest.mark.parametrize("kind", rec.EVENTS, ids=lambda kind: kind.__name__)
def test_every_event_is_read_back_exactly(kind: type[Event]) -> None:
    @given(any_value(kind))
    def read_back(event: Event) -> None:
        body = rec.encode_step(event, [])
        assert rec.decode_step(body) == rec.StepRecord(event, [])
        assert rec.encode_step(rec.decode_step(body).event, []) == body

    read_back()


@pytest.mark.parametrize("kind", rec.DECISIONS, ids=lambda kind: kind.__name__)
def test_every_decision_is_read_back_exactly(kind: type[Decision]) -> None:
    @given(any_value(kind))
    def read_back(decision: Decision) -> None:
        event = OpenRound(Person("dealer", "d"))
        body = rec.encode_step(event, [decision, decision])
        result = rec.decode_step(body)
        assert result == rec.StepRecord(event, [decision, decision])
        assert type(result.decisions[0]) is kind

    read_back()


def test_another_records_type_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        rec.decode_step(b'{"event":{"type":"NoSuchEvent"},"decisions":[]}')
    with pytest.raises(msgspec.DecodeError):
        rec.decode_step(rec.encode_body(rec.BoxRecord("1", "k", set=True, back=False)))


def test_records_of_whole_rounds_hold_counts_and_no_cards() -> None:
    """Cards are written as rank and suit everywhere in this software; no record holds a list of them, or one."""
    for game, more in [*((game, {}) for game in CHOICES), ("dj_wild", WILD_PROGRESSIVE)]:
        for step in steps_of(RecordedRun(game, 3, 2, **more).disk.records):
            for value in (step.event, *step.decisions):
                for name in value.__struct_fields__:
                    assert "card" not in name or name == "cards", (value, name)
                    assert not isinstance(getattr(value, name), list), value


def test_the_boxs_start_is_the_only_event_that_names_a_boot() -> None:
    named = [kind for kind in rec.EVENTS if "boot" in kind.__struct_fields__]
    assert named == [BoxStarted]
