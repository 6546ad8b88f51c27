"""`pitbox rules`: the output leads from a clause to its row; unknown names get a suggestion."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from table_controller import rulebook
from table_controller.cli import USAGE, main
from table_controller.config.example import example
from table_controller.table.state_machines import MACHINES
from tests.support.box.configs import write_config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # nothing is folded


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["rules", *words]) == 0
    return capsys.readouterr().out


def data(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(printed(capsys, *words, "--json"))


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["rules", *words]) == USAGE
    out = capsys.readouterr()
    assert out.out == ""
    return out.err


def test_games(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "games")
    for game in rulebook.GAMES:
        edition = rulebook.edition(game)
        assert f"{game} " in shown
        assert edition.digest[:12] in shown
    assert [(each["game"], each["digest"]) for each in data(capsys, "games")] == [
        (game, rulebook.edition(game).digest) for game in rulebook.GAMES
    ]


def test_a_clause_with_its_duty_its_enforcement_and_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "show", "688a.13(l)")
    for part in (
        "Face Up Pai Gow Poker (proposed, rulemaking 125-223)",
        "shoe_fault: the automated shoe jams",
        "dealing is automated_shoe",
        "enforced in play: the live table refuses a violation, stops, or carries the clause out itself",
        "device: detected or blocked by a device",
        "void_round: all hands of the round are void",
        "betting to settling",
        "floorperson, with cards_removed, path_clear, cards_counted, wagers_returned",
        "688a:X18, added to the one that governs",
    ):
        assert part in shown, part
    (entry,) = data(capsys, "show", "688a.13(l)")
    assert entry["clause"]["outcome"] == ["void_round", "return_wagers", "reshuffle_with_dealt"]
    assert [row["id"] for row in entry["rows"]] == ["688a.13(l)", "688a:X18"]


def test_a_clause_that_is_not_done_or_only_computed_is_shown_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert "not yet: not done, or only in part" in printed(capsys, "show", "688a.2(d)")
    assert "computed on request: computed when a person asks" in printed(capsys, "show", "688a.12(d)/4")
    (entry,) = data(capsys, "show", "688a.2(d)")
    assert entry["in_play"] == "not yet"


def test_a_clause_without_a_row_still_shows_its_readings(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "show", "687a.11(f)(3)(ii)")
    assert any(line.split()[:6] == ["reading", "W15", "one", "way", "or", "two"] for line in shown.splitlines())
    assert "option is bad_beat" in shown
    assert "\nrow " not in shown


def test_a_subsection_shows_its_parts_and_a_section_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "show", "688a.13(e)")
    assert "688a.13(e)/1  Face" in shown
    assert "688a.13(e)/2  Face" in shown
    lines = printed(capsys, "show", "686a.9").splitlines()
    assert lines[0].split() == ["clause", "in", "play", "duty"]
    assert lines[1].split()[1:4] == ["enforced", "in", "play"]
    assert [line.split()[0] for line in lines[1:]] == [
        "686a.9(a)/1", "686a.9(a)/2", "686a.9(b)", "686a.9(c)", "686a.9(d)", "686a.9(e)",
    ]  # fmt: skip
    assert "686a.1:Hand" in printed(capsys, "show", "686a.1")


def test_a_reading_with_its_settings_and_clauses(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "show", "W14")
    assert "stake_returned = yes or no (no default: must be stated)" in shown
    assert "required before use" in shown
    assert "687a.11(f)(1)(i)" in shown
    parsed = data(capsys, "show", "X7")
    assert parsed["clauses"] == ["575.13(c)", "688a.13(c)"]


def test_irregularities_in_their_precedence(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "irregularities", "over_under")
    assert shown.index("686a.9(d)") < shown.index("686a:O11") < shown.index("686a.9(a)/1")
    assert "decides: player (late_cards or dead_hand)" in shown
    assert "In every other case: play stops, the floorperson decides" in shown
    assert printed(capsys, "irregularities", "686a") == shown
    rows = data(capsys, "irregularities", "asia_poker")
    assert {row["id"] for row in rows} == {row.id for row in rulebook.edition("asia_poker").irregularities}


def test_one_trigger_by_any_of_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    rows = data(capsys, "irregularities", "dj_wild", "--trigger", "player_card_exposed")
    assert [row["id"] for row in rows] == ["687a.13(d)", "687a:W19"]
    assert data(capsys, "irregularities", "saigon_5_card", "--trigger", "player_card_exposed") == []
    empty = printed(capsys, "irregularities", "saigon_5_card", "--trigger", "player_card_exposed")
    rule = "In every other case: play stops, the floorperson decides, and the journal keeps the decision (rule 2).\n"
    assert empty == rule


def test_what_is_unknown_is_named_with_what_was_probably_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no clause or reading 688a.13(z) (nearest: 688a.13(" in refused(capsys, "show", "688a.13(z)")
    assert "688a.6(b)(1) has no duty of its own (nearest: 688a.6(b))" in refused(capsys, "show", "688a.6(b)(1)")
    assert "no trigger shoe_jam (nearest: shoe_" in refused(capsys, "irregularities", "575", "--trigger", "shoe_jam")
    assert "no game over_unter (nearest: over_under)" in refused(capsys, "irregularities", "over_unter")
    assert "known are asia_poker, 575" in refused(capsys, "irregularities", "bridge")


@pytest.mark.parametrize("name", ["ROUND", "DECK", "PROGRESSIVE", "SERVICE"])
def test_a_diagram_has_every_state_and_every_change_of_its_machine(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    shown = printed(capsys, "diagram", name)
    assert printed(capsys, "diagram", name.capitalize()) == shown
    first, start, *arrows = shown.splitlines()
    _, states, transitions = MACHINES[name.lower()]
    assert (first, start) == ("stateDiagram-v2", f"    [*] --> {states[0]}")
    drawn = []
    for arrow in arrows:
        path_taken, _, triggers = arrow.strip().partition(": ")
        source, _, to = path_taken.partition(" --> ")
        drawn += [[trigger, source, to] for trigger in triggers.split(", ")]
    assert sorted(drawn) == sorted(row for row in transitions if row[1] != row[2])


def test_an_unknown_machine_is_answered_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no machine SHOE; known are ROUND, DECK, PROGRESSIVE, HIT, SERVICE" in refused(capsys, "diagram", "SHOE")


# --- house ways -------------------------------------------------------------------------------------------------------


def test_a_house_way_is_printed_as_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "house-way", "688a")
    assert "standard_5_2: the first rule that fits sets the hand" in shown
    assert "Two pair: split them, the lower pair in the low hand" in shown
    assert "fours_kept_to = 6" in shown
    rules = data(capsys, "house-way", "575")["rules"]
    assert [each["rule"] for each in rules] == list(range(1, 15))
    assert rules[0]["when"] == "five aces or five aces and a pair"
    assert rules[-1] == {
        "rule": 14,
        "when": "every other hand",
        "sets": "high: high card of first",
        "reason": "No pair: the highest card in the high hand, the next in the medium hand and the low hand",
    }


def test_a_hand_is_set_with_the_rule_and_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "house-way", "face_up_pai_gow", "9d 9h 4d 4h As 5c 3s")
    for part in ("9d 9h 4d 4h 3s", "As 5c", "14 of standard_5_2", "keep both in the high hand", "688a.11(c)"):
        assert part in shown
    answer = data(capsys, "house-way", "saigon_5_card", "As 2d 7c Kd 9h")
    assert [each["cards"] for each in answer["hands"]] == ["As 2d 7c", "Kd 9h"]
    assert (answer["rule"], answer["house_way"]) == (1, "highest_point_count")


def test_a_table_of_ones_own_begins_from_the_editions_and_is_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(printed(capsys, "house-way", "680a", "--toml").replace("highest_point_count", "ours"), "utf-8")
    assert data(capsys, "house-way", "680a", "--table", str(own))["house_way"] == "ours"
    own.write_text(own.read_text("utf-8").replace("showdown", "shodown"), "utf-8")
    message = refused(capsys, "house-way", "680a", "As 2d 7c Kd 9h", "--table", str(own))
    assert "PB-625" in message
    assert "there is no shodown; did you mean showdown?" in message
    own.write_bytes(b"\xff")
    assert "not UTF-8: byte 1" in refused(capsys, "house-way", "680a", "--table", str(own))
    assert "No such file" in refused(capsys, "house-way", "680a", "--table", str(tmp_path / "none.toml"))


def test_the_house_way_of_a_table_toml_is_used_with_its_ranks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = example("face_up_pai_gow").replace("#house_way_ranks", 'house_way_ranks = { fours_kept_to = "8" }\n#house')
    file = write_config(tmp_path, text)
    fours = "8s 8h 8d 8c Qs Jd 9h"
    assert data(capsys, "house-way", "688a", fours)["rule"] == 5
    assert data(capsys, "house-way", "688a", fours, "--config", str(file))["rule"] == 3
    assert data(capsys, "house-way", "688a", "--config", str(file))["ranks"]["fours_kept_to"] == "8"
    assert "is a table of face_up_pai_gow" in refused(capsys, "house-way", "575", "--config", str(file))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dj_wild",), "the dealer sets no hands"),
        (("688a", "9d 9d 4d 4h As 5c 3s"), "9d appears 2 times"),
        (("688a", "9d 9h 4d"), "3 cards; a hand has 7"),
        (("688a", "9d 9h 4d 4h As 5c 1s"), "is not a card"),
        (("689a",), "there is no game 689a"),
    ],
)
def test_a_house_way_that_cannot_be_shown(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert message in refused(capsys, "house-way", *words)
