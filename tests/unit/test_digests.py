"""Soak and incidents journal the same as when the digests were recorded; names do not count."""

from __future__ import annotations

import msgspec
import pytest

from table_controller.rulebook.registry import CHAPTERS
from tools import digests
from tools.digests import Canonical, differences


def test_soak_and_incidents_journal_the_same_as_recorded() -> None:
    assert differences(digests.stored(), digests.measured()) == []


def test_another_name_of_a_type_a_field_or_a_word_gives_the_same() -> None:
    old = msgspec.defstruct("Declared", [("what", str), ("seat", int)])
    new = msgspec.defstruct("Reported", [("trigger", str), ("seat", int)])
    before, after = Canonical(), Canonical()
    for what, trigger in (("jam", "fault"), ("other", "else"), ("jam", "fault")):
        assert before.value([old(what, 3)]) == after.value([new(trigger, 3)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["x", 1_000_000], ["x", 1_000_001]),
        (["688a.9(b)"], ["688a.9(c)"]),
        (["x", "y", "x"], ["x", "y", "y"]),
        (["deck blue", "deck red"], ["deck blue", "deck blue"]),
        ([None], [False]),
    ],
)
def test_another_number_clause_or_another_use_of_a_word_gives_another(one: object, other: object) -> None:
    assert Canonical().value(one) != Canonical().value(other)


def test_a_sentence_does_not_count() -> None:
    assert Canonical().value("the table is idle") == Canonical().value("No round is open at this table")


def test_a_digest_that_differs_is_named() -> None:
    (sentence,) = differences({"soak 1": {"records": 7}, "soak 2": {}}, {"soak 1": {"records": 8}, "soak 2": {}})
    assert sentence.startswith("soak 1: ")


def test_every_game_has_its_soak() -> None:
    assert set(digests.stored()) == {*CHAPTERS.values(), "incidents"}
