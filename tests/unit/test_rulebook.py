"""The rulebook's lookup: every clause with an outcome is carried once, every case has exactly one ruling."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from table_controller import rulebook
from table_controller.rulebook import (
    DECK_OUTCOMES,
    EVIDENCE,
    GAMES,
    OUTCOMES,
    PHASES,
    TRIGGERS,
    Edition,
    Facts,
    IrregularityRow,
    find_ruling,
    order_by_precedence,
    vocabulary,
)
from table_controller.rulebook.validation import phases_of
from tests.support.core.all_facts import all_facts

# A report is only an irregularity when the number is wrong.
RENAMED = {"shuffle_count_reported": "count_wrong"}
# Conditions of a clause that its row omits, because the trigger cannot come otherwise.
IMPLIED = {"shuffler_fault": {"shuffler": ("automated",)}, "device_unusable": {"shuffler": ("automated",)}}


@pytest.fixture(params=GAMES)
def edition(request: pytest.FixtureRequest) -> Edition:
    return rulebook.edition(request.param)


def carriers(edition: Edition, clause: str) -> list[IrregularityRow]:
    return [row for row in edition.irregularities if clause in row.clauses]


def test_every_clause_with_an_outcome_is_carried_by_exactly_one_row(edition: Edition) -> None:
    ordered = [clause for clause in rulebook.clauses(edition.game) if clause.outcome]
    assert all(clause.outcome for clause in rulebook.clauses(edition.game) if clause.kind == "irregularity")
    for clause in ordered:
        (row,) = carriers(edition, clause.id)
        assert row.outcomes == clause.outcome, clause.id
        assert row.trigger == RENAMED.get(clause.trigger, clause.trigger), clause.id
        assert set(clause.see) <= set(row.see), clause.id
        asked = dict(clause.applies_when)
        given = msgspec.to_builtins(row.when)
        for name in ("hand_deal_over", "device", "deck", "decisions"):  # what a row knows beyond its clause
            given.pop(name, None)
        if asked == IMPLIED.get(row.trigger):
            asked = {}
        assert given == asked, clause.id
    cited = [clause for row in edition.irregularities for clause in row.clauses]
    assert sorted(cited) == sorted(clause.id for clause in ordered)


def test_how_many_clauses_and_rows_there_are() -> None:
    """A row that disappears fails here."""
    expected = {
        "asia_poker": (132, 28), "saigon_5_card": (105, 17), "over_under": (84, 8), "dj_wild": (126, 19),
        "face_up_pai_gow": (183, 27),
    }  # fmt: skip
    for game, counts in expected.items():
        assert (len(rulebook.clauses(game)), len(rulebook.edition(game).irregularities)) == counts, game


def test_a_row_without_a_clause_rests_on_a_reading(edition: Edition) -> None:
    for row in edition.irregularities:
        assert set(row.see) <= set(rulebook.readings())
        if not row.clauses:
            reading = row.id.partition(":")[2].partition("/")[0]
            assert reading in row.see


def test_every_case_has_exactly_one_ruling(edition: Edition) -> None:
    pairs = {
        (trigger, phase)
        for row in edition.irregularities
        for trigger in (row.trigger, *row.also)
        for phase in phases_of(row)
    }
    cases = 0
    for facts in all_facts(edition):
        for trigger, phase in pairs:
            fitting = [
                row
                for row in edition.irregularities
                if trigger in (row.trigger, *row.also) and phase in phases_of(row) and row.when.are_met(phase, facts)
            ]
            governing = [row for row in fitting if not row.adds]
            assert len(governing) <= 1, (trigger, phase, facts)
            ruling = find_ruling(edition, trigger, phase, facts)
            assert ruling.rows == (
                tuple(row.id for row in (*governing, *(r for r in fitting if r.adds))) if governing else ()
            )
            assert len(set(DECK_OUTCOMES) & set(ruling.outcomes)) <= 1
            assert "ask_floorperson" not in ruling.outcomes or (ruling.decides == "floorperson" and ruling.choices)
            cases += 1
    assert cases >= 1_000
    nothing = {(trigger, phase) for trigger in TRIGGERS for phase in PHASES} - pairs
    assert nothing
    for trigger, phase in nothing:
        assert find_ruling(edition, trigger, phase, next(all_facts(edition))).rows == ()


def test_where_no_row_holds_play_stops_and_the_floorperson_decides() -> None:
    saigon = rulebook.edition("saigon_5_card")
    ruling = find_ruling(saigon, "player_card_exposed", "dealing", Facts(dealing="hand", shuffler="counting"))
    assert ruling.outcomes == ("ask_floorperson",)
    assert ruling.stop
    assert ruling.decides == ruling.acknowledges == "floorperson"
    assert ruling.rows == ruling.clauses == ()
    assert ruling.evidence == ("table_seen",)
    assert ruling.see == ("rule 2",)
    assert rulebook.reading("rule 2").title == "silence is not permission"
    assert [choice.name for choice in ruling.choices] == ["continue", "void", "void_and_remove"]


def test_unknown_words_are_refused_not_ruled() -> None:
    edition = rulebook.edition("over_under")
    facts = Facts(dealing="dealing_shoe", shuffler="none")
    with pytest.raises(ValueError, match="no such case"):
        find_ruling(edition, "shoe_jam", "dealing", facts)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no such case"):
        find_ruling(edition, "shoe_fault", "void", facts)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no such triggers: jam"):
        order_by_precedence(edition, ["jam"])  # type: ignore[list-item]
    with pytest.raises(KeyError):
        rulebook.edition("blackjack")


def test_simultaneous_triggers_come_in_one_order(edition: Edition) -> None:
    assert order_by_precedence(edition, ["count_wrong", "shoe_fault", "count_wrong"]) == ("shoe_fault", "count_wrong")
    # A wrong number of cards leaves nothing to settle, so it comes before what settles side wagers.
    assert order_by_precedence(edition, ["cards_revealed_before_raise", "wrong_card_count"])[0] == "wrong_card_count"
    # Late cards need a shoe that has some.
    assert order_by_precedence(edition, ["additional_cards_missed", "shoe_short"])[0] == "shoe_short"
    assert order_by_precedence(edition, ["face_up_card_first", "face_up_card_more"])[0] == "face_up_card_more"
    assert sorted(order_by_precedence(edition, TRIGGERS)) == sorted(TRIGGERS)
    assert order_by_precedence(edition, []) == ()


def test_a_changed_edition_is_looked_up_anew() -> None:
    edition = rulebook.edition("face_up_pai_gow")
    facts = Facts(dealing="automated_shoe", shuffler="counting", start="rng")
    assert find_ruling(edition, "shoe_fault", "dealing", facts).outcomes[0] == "void_round"
    fewer = tuple(row for row in edition.irregularities if row.id != "688a.13(l)")
    changed = msgspec.structs.replace(edition, irregularities=fewer)
    assert find_ruling(changed, "shoe_fault", "dealing", facts).outcomes == ("ask_floorperson",)
    assert find_ruling(edition, "shoe_fault", "dealing", facts).outcomes[0] == "void_round"


def test_an_edition_cannot_be_changed_and_is_loaded_once(edition: Edition) -> None:
    assert rulebook.edition(edition.game) is edition
    with pytest.raises(AttributeError):
        edition.title = "x"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        edition.cards.count = 52  # type: ignore[misc]
    with pytest.raises(TypeError):
        edition.change_hours["hand"] = 9  # type: ignore[index]
    with pytest.raises(TypeError):
        edition.deal.replacement_card["hand"] = "bet"  # type: ignore[index]


def test_words_and_their_meanings_agree() -> None:
    for literal, meanings in (
        (vocabulary.Trigger, TRIGGERS),
        (vocabulary.Outcome, OUTCOMES),
        (vocabulary.Evidence, EVIDENCE),
        (vocabulary.Scope, vocabulary.SCOPES),
        (vocabulary.Decider, vocabulary.DECIDERS),
    ):
        assert list(get_args(literal)) == list(meanings)
        assert all(meanings.values())
    assert get_args(vocabulary.Phase) == PHASES
    assert set(DECK_OUTCOMES) <= set(OUTCOMES)


def test_every_word_is_used_by_some_row() -> None:
    rows = [row for game in GAMES for row in rulebook.edition(game).irregularities]
    assert {trigger for row in rows for trigger in (row.trigger, *row.also)} == set(TRIGGERS)
    assert {evidence for row in rows for evidence in row.evidence} == set(EVIDENCE)
    chosen = {outcome for row in rows for choice in row.choices for outcome in choice.outcomes}
    assert {outcome for row in rows for outcome in row.outcomes} | chosen == set(OUTCOMES)


def test_every_citation_leads_somewhere(edition: Edition) -> None:
    """Clauses, readings, tables and settings that the facts name exist."""
    known = {clause.id for clause in rulebook.clauses(edition.game)}
    seen = 0
    for name, value in leaves(msgspec.to_builtins(edition, enc_hook=dict)):
        if "clause" in name:
            assert value in known, name
            seen += 1
        elif name == "lifts":
            assert any(clause.startswith(value) for clause in known), value
        elif name in {"see", "reading"}:
            assert value in rulebook.readings()
    assert seen > 30
    assert {table.id for table in rulebook.paytables(edition.game)} == set(edition.tables)
    for table in rulebook.paytables(edition.game):
        paid = [wager.name for wager in edition.wagers if table.id in wager.tables]
        assert paid == list(table.wagers)
        assert set(table.clauses) <= known


def test_every_setting_is_named_by_its_reading_and_the_other_way_round() -> None:
    named = {(name, reading.id) for reading in rulebook.readings().values() for name in reading.settings}
    settings = {(s.name, s.reading) for game in GAMES for s in rulebook.edition(game).settings}
    assert named - settings == {("progressive_rate_bp", "W11")}  # a number, so a field of the submission
    assert settings <= named
    due = {reading.id for reading in rulebook.readings().values() if reading.ruling}
    assert due == {"W15", "W8", "W10", "W11", "W14", "F8", "F3", "A3", "O9", "X2"}


def leaves(value: Any, name: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        # The clauses are mapped by the name of the dealing method.
        return [
            leaf for key, inner in value.items() for leaf in leaves(inner, name if name == "change_clauses" else key)
        ]
    if isinstance(value, list | tuple):
        return [leaf for inner in value for leaf in leaves(inner, name)]
    return [] if value is None or value == "" else [(name, value)]


def test_the_package_stands_alone() -> None:
    """It imports the standard library, msgspec, the error tree and itself."""
    folder = Path(rulebook.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                assert node.level == 0
                ours = node.module.startswith(("table_controller", "devices", "firmware_bridge", "simulators"))
                assert (
                    not ours
                    or node.module.startswith("table_controller.rulebook")
                    or node.module == "firmware_bridge.errors"
                )


def test_loading_an_edition_reads_no_clauses_and_no_paytables(monkeypatch: pytest.MonkeyPatch) -> None:
    from table_controller.rulebook import loader, registry

    read: list[str] = []
    original = registry.read

    def spy(name: str) -> bytes:
        read.append(name)
        return original(name)

    monkeypatch.setattr(loader, "read", spy)
    loader.edition.__wrapped__("dj_wild")
    assert read == ["687a/edition.toml"]
