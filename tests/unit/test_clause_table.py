"""Every binding clause is named by a test, and its status claims no more than its deciding test shows."""

from __future__ import annotations

import json
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from table_controller import rulebook
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.core.ideal_table import DEALER, FLOOR, TECH, IdealTable
from tests.support.suite import clause_evidence
from tests.support.suite.required_tools import need
from tools import clause_table

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_every_binding_clause_is_named_by_a_test_or_waits_for_something() -> None:
    assert clause_table.unnamed() == []


def test_a_waiting_clause_binds_and_no_test_names_it_unless_only_a_part_waits() -> None:
    binding = {clause for game in rulebook.GAMES for clause in clause_table.binding(game)}
    assert sorted(clause_table.due().keys() - binding) == []
    whole = clause_table.due().keys() - clause_table.due_in_part()
    assert sorted(whole & clause_table.named().keys()) == [], "named: take it out of the list"


def test_a_clause_comes_to_wait_only_by_a_review_that_names_it() -> None:
    for clause, page in clause_table.reviewed().items():
        assert f"`{clause}`" in (clause_table.ROOT / page).read_text(), f"{page} does not name {clause}"


def test_the_list_of_waiting_clauses_only_shrinks() -> None:
    """Every committed version of the list has at least the clauses of this one, except those a review added."""
    path = clause_table.DUE.relative_to(clause_table.ROOT).as_posix()
    asked = ["git", "-C", str(clause_table.ROOT)]
    log = subprocess.run([*asked, "log", "--format=%H", "--", path], capture_output=True, text=True, check=False)
    need(log.returncode == 0, "the history is not here; clone the repository with git to compare with it")
    for commit in log.stdout.split():
        old = subprocess.run([*asked, "show", f"{commit}:{path}"], capture_output=True, text=True, check=False)
        if old.returncode == 0:
            before = {c for wait in tomllib.loads(old.stdout).get("waits", []) for c in wait["clauses"]}
            new = clause_table.due().keys() - before - clause_table.reviewed().keys()
            assert sorted(new) == [], f"new since {commit}"


# --- words ------------------------------------------------------------------------------------------------------------

ANEW = "write it anew: python -m tools.clause_table --record"


def test_every_deciding_test_exists_and_is_marked_with_its_clause() -> None:
    gone = [
        (clause, each["test"])
        for clause, each in clause_evidence.deciding_tests().items()
        if each["test"] not in clause_table.cases().get(clause, ())
    ]
    assert gone == [], ANEW


def test_every_named_clause_has_a_deciding_test() -> None:
    assert sorted(clause_table.named().keys() - clause_evidence.deciding_tests().keys()) == [], ANEW


def test_the_shipped_clause_words_follow_from_the_deciding_tests() -> None:
    for game in rulebook.GAMES:
        assert clause_table.enforcement_file(game).read_text() == clause_table.enforcement_text(game), ANEW
        for clause in rulebook.clauses(game):
            assert rulebook.enforcement(clause.id) == clause_table.word_of(clause)


def test_somebody_has_read_every_test_that_drives_the_core_without_a_citation() -> None:
    assert sorted(set(clause_table.uncited()) - clause_table.readings().keys()) == [], (
        "read its test, and record what it shows"
    )
    assert sorted(clause_table.readings().keys() - set(clause_table.uncited())) == [], "cited now: take it out"
    assert clause_table.unread() == [], "the test that was read is gone: read the one in its place"


def test_without_a_reading_an_uncited_clause_is_not_yet_enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    (clause,) = (each for each in rulebook.clauses("asia_poker") if each.id == "575.5(g)(1)(iii)")
    assert clause_table.word_of(clause) == "enforced in play"
    monkeypatch.setattr(clause_table, "readings", dict)
    assert clause_table.word_of(clause) == "not yet"


def test_a_question_at_the_right_moment_is_no_enforcement() -> None:
    """With cards in people's hands the core prompts for the right order but cannot enforce it."""
    for clause in ("575.11(a)", "688a.11(d)/3", "688a.9(b)/2", "687a.11(c)", "687a.1:Blind Wager"):
        assert rulebook.enforcement(clause) == "prompted", clause


def test_a_part_that_is_not_done_is_shown_even_if_tests_name_the_other_parts() -> None:
    assert rulebook.enforcement("688a.2(d)") == "not yet"


def test_what_decides_a_wager_and_how_its_hands_rank_binds_where_cards_are_known() -> None:
    """The table refuses a result that entered cards contradict, and cites what decides it."""
    for clause in ("575.11(f)(1)", "680a.12(b)", "686a.8(b)", "687a.12(a)", "688a.12(b)"):
        assert rulebook.enforcement(clause) == "enforced in play", clause
    for clause in ("575.6(b)", "680a.6(a)", "686a.6(e)", "687a.6(b)", "687a.12(b)", "688a.6(b)"):
        assert rulebook.enforcement(clause) == "enforced in play", clause
    for clause in ("686a.2(b)(4)", "687a.11(f)", "688a.2(b)(8)", "688a.12(d)/4"):
        assert rulebook.enforcement(clause) == "computed on request", clause


def test_a_clause_that_does_not_bind_the_controller_is_outside() -> None:
    outside = [c for game in rulebook.GAMES for c in rulebook.clauses(game) if c.enforce in ("outside", "record")]
    assert {rulebook.enforcement(clause.id) for clause in outside} == {"outside"}


# --- what a test shows ------------------------------------------------------------------------------------------------


@pytest.fixture
def seen() -> Iterator[clause_evidence.ClauseEvidence]:
    watched = clause_evidence.begin()
    yield watched
    clause_evidence.end(watched, "nobody's", [])


def test_without_the_live_core_a_clause_is_computed(seen: clause_evidence.ClauseEvidence) -> None:
    rulebook.clause("575.3(a)")
    assert seen.shows("575.3(a)") == clause_evidence.COMPUTED


def test_a_question_that_cites_a_clause_is_a_prompt_and_no_enforcement(seen: clause_evidence.ClauseEvidence) -> None:
    floor = IdealTable("asia_poker").start("blue", "red").play_to(mc.SETTLING)
    (asked,) = floor.prompts("settled")
    assert seen.shows("575.11(e)") == clause_evidence.ASKED
    for who in (FLOOR, TECH):
        floor.step(ev.Answer(asked.id, "settled", who))
    floor.step(ev.Answer(asked.id, "nonsense", DEALER))
    assert seen.shows("575.11(e)") == clause_evidence.ASKED, "that others may not answer enforces no clause"


def test_a_refusal_that_cites_a_clause_is_enforcement(seen: clause_evidence.ClauseEvidence) -> None:
    floor = IdealTable("asia_poker").start("blue", "red")
    assert seen.shows("575.3(b)(1)") == clause_evidence.ASKED
    floor.step(ev.DeckReceived("Blue", DEALER))
    assert seen.shows("575.3(b)(1)") == clause_evidence.REFUSED


def test_a_table_that_is_stopped_by_a_clause_enforces_it(seen: clause_evidence.ClauseEvidence) -> None:
    floor = IdealTable("asia_poker").start("blue", "red").play_to(mc.DEALING)
    assert seen.shows("575.13(m)") != clause_evidence.REFUSED
    floor.step(ev.ShoeFault("shoe.1", 1))
    assert seen.shows("575.13(m)") == clause_evidence.REFUSED


def test_a_result_that_known_cards_decide_is_enforcement_and_one_that_the_dealer_states_is_none(
    seen: clause_evidence.ClauseEvidence,
) -> None:
    for entered, shows in ((False, clause_evidence.DRIVEN), (True, clause_evidence.SETTLED)):
        floor = IdealTable("dj_wild").start("blue", "red")
        floor.seats = (3,)
        floor.play_to(mc.SETTLING)
        if entered:
            floor.step(ev.HandEntered(0, "Ks Qh 8d 6c 3h", DEALER))
            floor.step(ev.HandEntered(3, "9s 9h 9d 7s 4s", DEALER))
        floor.step(ev.SeatsSettled(DEALER, wins=(3,)))
        assert seen.shows("687a.11(e)(1)") == shows
        assert seen.shows("687a.11(e)") != clause_evidence.SETTLED


def test_a_sentence_cites_each_clause_of_its_list_and_no_part_of_one() -> None:
    sentence = "seat 3 has no Bonus Wager (680a.7(d)(2), 680a.1:Bonus Wager)"
    assert clause_evidence.cites(sentence, "680a.7(d)(2)")
    assert clause_evidence.cites(sentence, "680a.1:Bonus Wager")
    assert not clause_evidence.cites(sentence, "680a.7(d)")
    assert not clause_evidence.cites(sentence, "680a.7")


def test_what_the_core_does_without_a_citation_is_driven(seen: clause_evidence.ClauseEvidence) -> None:
    IdealTable("asia_poker").start("blue", "red")
    assert seen.shows("575.5(g)(1)(iii)") == clause_evidence.DRIVEN


def test_a_deciding_test_that_shows_less_than_is_claimed_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(clause_evidence.RECORD, raising=False)
    claims = {"575.3(a)": {"test": "this", "shows": clause_evidence.ASKED}}
    monkeypatch.setattr(clause_evidence, "deciding_tests", lambda: claims)
    assert clause_evidence.end(clause_evidence.begin(), "another", ["575.3(a)"]) is None
    short = clause_evidence.end(clause_evidence.begin(), "this", ["575.3(a)"])
    assert short is not None
    assert "claims 'asked' of this test; it shows 'computed'" in short
    claims["575.3(a)"]["shows"] = clause_evidence.COMPUTED
    assert clause_evidence.end(clause_evidence.begin(), "this", ["575.3(a)"]) is None


def test_the_deciding_test_is_the_test_that_shows_most(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(type(clause_evidence.DECIDING_TESTS), "write_text", lambda _, text: written.append(text))
    clause_table.write_deciding_tests([
        {"test": "a", "shown": {"575.3(a)": clause_evidence.ASKED}},
        {"test": "b", "shown": {"575.3(a)": clause_evidence.REFUSED}},
        {"test": "c", "shown": {"575.3(a)": clause_evidence.REFUSED, "575.3(b)": clause_evidence.COMPUTED}},
    ])  # fmt: skip
    result = tomllib.loads(written[0])
    assert json.loads(json.dumps(result)) == {
        "575.3(a)": {"shows": "refused", "test": "b"},
        "575.3(b)": {"shows": "computed", "test": "c"},
    }
