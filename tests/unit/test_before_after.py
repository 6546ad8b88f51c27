"""The table of figures before and after the renames finds every figure that fell, and no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tools import before_after as module
from tools import benchmark_figures
from tools.before_after import ComparedFigure, has_fallen, is_banned, table

if TYPE_CHECKING:
    from pathlib import Path

    from tools.before_after import Rule


@pytest.mark.parametrize(
    ("rule", "before", "now", "fell"),
    [
        ("not fewer", 10, 9, True), ("not fewer", 10, 11, False),
        ("not more", 10, 11, True), ("not more", 10, 9, False),
        ("the same", "a", "b", True), ("the same", "a", "a", False), ("shown", 10, 99, False),
    ],
)  # fmt: skip
def test_a_figure_falls_by_its_rule(rule: Rule, before: float | str, now: float | str, fell: bool) -> None:
    assert has_fallen("tests", before, ComparedFigure(now, rule)) is fell


def test_what_is_measured_on_one_side_only_has_not_fallen() -> None:
    assert not has_fallen("coverage, percent", None, ComparedFigure(3.0, "not fewer"))
    assert not has_fallen("coverage, percent", 90.0, None)


def test_benchmarks_have_room_for_noise() -> None:
    assert not has_fallen("benchmarks, link", 2.0, ComparedFigure(2.1, "not more"))
    assert has_fallen("benchmarks, link", 2.0, ComparedFigure(2.3, "not more"))
    assert not has_fallen("benchmarks, codec", 2.0, ComparedFigure(1.9, "not fewer"))
    assert has_fallen("benchmarks, codec", 2.0, ComparedFigure(1.7, "not fewer"))


def test_each_mean_of_a_benchmark_has_its_direction() -> None:
    rules = {name: figure.rule for name, figure in module.measured_elsewhere().items()}
    assert rules["benchmarks, codec"] == "not fewer"
    assert rules["benchmarks, link"] == "not more"
    assert rules["benchmarks, hands"] == rules["benchmarks, journal"] == rules["benchmarks, mean"] == "shown"


@pytest.mark.parametrize(
    "name", ["on_told", "tellRecord", "ToldMoney", "_said", "wants", "found", "_rest", "Ways", "besides"]
)
def test_banned_names_are_found(name: str) -> None:
    assert is_banned(name)


@pytest.mark.parametrize("name", ["house_way", "not_found", "storytelling", "stall", "restart", "interested", "essays"])
def test_terms_and_longer_words_are_not_banned(name: str) -> None:
    assert not is_banned(name)


def test_the_table_names_every_figure_and_what_fell() -> None:
    before = {"commit": "abc", "figures": {"tests": 10, "golden bytes": "aa", "coverage, percent": 90.0}}
    now = {
        "tests": ComparedFigure(9, "not fewer"),
        "golden bytes": ComparedFigure("aa", "the same"),
        "lines of tools": ComparedFigure(1234),
    }
    lines, fell = table(before, now)
    assert fell == 1
    assert lines[1].split() == ["tests", "10", "9", "not", "fewer", "FELL"]
    assert "1,234" in lines[4]
    assert lines[-1] == "1 of 4 figures fell"


def test_golden_bytes_are_kept_under_other_names_and_next_to_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tests" / "wire" / "golden"
    folder.mkdir(parents=True)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    (folder / "told.toml").write_text('[[told]]\npayload = "00112233"\n')
    before = module.golden_bytes()
    (folder / "told.toml").rename(folder / "reported.toml")
    (folder / "reported.toml").write_text('[[reported]]\npayload = "00112233"\n[[new]]\npayload = "44556677"\n')
    assert before < module.golden_bytes()
    (folder / "reported.toml").write_text('[[reported]]\npayload = "00112234"\n')
    assert not before & module.golden_bytes()


def test_every_golden_byte_string_of_before_is_kept() -> None:
    assert len(module.former_golden_bytes()) == 239
    assert module.former_golden_bytes() - module.golden_bytes() == set()


@pytest.mark.parametrize(("tests", "code"), [(14_778, 0), (14_777, 1)])
def test_the_command_fails_when_something_fell(
    tests: int, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "measured", lambda: {"tests": ComparedFigure(tests, "not fewer")})
    assert module.main([]) == code
    printed = capsys.readouterr().out
    assert ("FELL" in printed) is bool(code)
    assert f"measured at commit {benchmark_figures.stored().commit}\n" in printed


def test_figures_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BEFORE", tmp_path / "before.json")
    monkeypatch.setattr(module, "measured", lambda: {"tests": ComparedFigure(5, "not fewer")})
    assert module.main(["--record", "abc"]) == 0
    assert json.loads((tmp_path / "before.json").read_text()) == {"commit": "abc", "figures": {"tests": 5}}


def test_source_figures_of_this_tree_are_counted() -> None:
    assert module.repeated_classes() >= 0
    assert module.lines()["lines of table_controller"].value > 10_000  # type: ignore[operator]
