"""The figures of benchmarks: budgets of the design page, directions of rows, and what is stored of a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import rows as bench
from benchmarks.budgets import BUDGETS, Budget
from tools import benchmark_figures as module

if TYPE_CHECKING:
    from benchmarks.rows import Role

_FOLDER = Path(bench.__file__).parent


def row(name: str, role: Role, seconds: float) -> bench.BenchmarkRow:
    """A row that was measured once."""
    measured = bench.BenchmarkRow(name, list, role)
    measured.keep([seconds])
    return measured


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of a run with a floor, our row and a peer, and two verdicts."""
    path = tmp_path / "log.jsonl"
    monkeypatch.setenv(bench.LOG, str(path))
    floor, ours, peer = row("echo", "floor", 1e-4), row("pitbox", "ours", 2e-4), row("other", "peer", 4e-4)
    bench.print_table("a request", [floor, ours, peer], [floor, ours])
    bench.print_verdict(BUDGETS["link"], "pitbox / echo", ours.ratio(floor))
    bench.print_verdict(BUDGETS["codec"], "other / pitbox", peer.ratio(ours) + 1)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:  # the benchmark is the program that runs: here it is pytest
        line["benchmark"] = "codec" if line.get("verdict") == "other / pitbox" else "link"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    monkeypatch.delenv(bench.LOG)
    return path


def test_the_budgets_are_those_of_the_design_page() -> None:
    limits = {name: (budget.better, budget.limit, budget.unit) for name, budget in BUDGETS.items()}
    assert limits == {
        "link": ("lower", 1.25, "x"), "link, peer": ("lower", 1.0, "x"), "bridge": ("lower", 1.3, "x"),
        "lock-out": ("lower", 1.8, "x"), "press": ("lower", 1.8, "x"), "press, p50": ("lower", 1.0, "ms"),
        "panel": ("lower", 1.2, "x"), "codec": ("higher", 3.0, "x"), "bet": ("lower", 1.2, "x"),
        "bet, syncs": ("lower", 1.0, "syncs"), "eight bets": ("lower", 1.3, "x"),
        "eight bets, rate": ("higher", 5.0, "x"), "core": ("lower", 2.5, "x"), "core, growth": ("lower", 1.2, "x"),
        "core, year": ("lower", 15.0, "minutes"), "settling": ("lower", 5.0, "ms"),
        "rounds": ("higher", 60.0, "rounds/s"),
        "rounds, game": ("higher", 45.0, "rounds/s"), "mqtt": ("lower", 1.3, "x"), "version": ("lower", 1.5, "x"),
        "ready": ("lower", 1.5, "s"), "memory": ("lower", 64.0, "MB"), "hands": ("higher", 3.0, "x"),
    }  # fmt: skip


@pytest.mark.parametrize("name", BUDGETS)
def test_each_budget_is_judged_by_its_benchmark_and_a_ratio_names_its_floor_or_peer(name: str) -> None:
    budget = BUDGETS[name]
    source = (_FOLDER / f"{budget.benchmark}.py").read_text("utf-8")
    assert f'BUDGETS["{name}"]' in source
    assert budget.reference.startswith(("floor: ", "peer: ")) == (budget.unit == "x")


def test_no_benchmark_has_a_limit_of_its_own() -> None:
    for path in _FOLDER.glob("*.py"):
        assert not re.search(r"print_at_|\bheld if|BUDGET: Final", path.read_text("utf-8")), path.name


def test_a_budget_is_met_in_its_direction() -> None:
    low, high = Budget("x", "time", "lower", 2.0), Budget("x", "rate", "higher", 2.0)
    assert [low.is_met(value) for value in (1.9, 2.0, 2.1)] == [True, True, False]
    assert [high.is_met(value) for value in (1.9, 2.0, 2.1)] == [False, True, True]
    assert (low.text(), high.text()) == ("<= 2 x", ">= 2 x")


def test_each_ratio_has_the_direction_that_is_good_for_us() -> None:
    floor, ours, other, peer = (row(role, role, 1.0) for role in ("floor", "ours", "ours", "peer"))
    assert ours.better(floor) == ours.better(peer) == ours.better(other) == "lower"
    assert peer.better(ours) == floor.better(ours) == "higher"
    assert peer.better(floor) == floor.better(floor) == ours.better(ours) == "-"


def test_a_printed_row_has_its_role_and_its_direction(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    floor, ours = row("echo", "floor", 1e-4), row("pitbox", "ours", 2e-4)
    bench.print_table("a request", [floor, ours], [floor])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].split() == ["echo", "floor", "100.00", "us", "100.00", "us", "1.00", "-"]
    assert lines[-1].split() == ["pitbox", "ours", "200.00", "us", "200.00", "us", "2.00", "lower"]


def test_a_log_becomes_figures_with_the_measured_commit(log: Path) -> None:
    figures = module.read_log(log.read_text().splitlines())
    commit = bench.measured_commit()
    assert figures.commit == commit
    assert len(figures.ratios) == 6
    (ours,) = [each for each in figures.ratios if (each.row, each.base) == ("pitbox", "echo")]
    assert (ours.role, ours.base_role, ours.better, ours.ratio) == ("ours", "floor", "lower", 2.0)
    assert {(each.budget, each.held, each.commit) for each in figures.verdicts} == {
        (BUDGETS["link"].what, False, commit), (BUDGETS["codec"].what, True, commit),
    }  # fmt: skip
    assert figures.means["mean"] == 1.0  # the last column: 0.5, 1, 2


def test_a_log_without_rows_or_of_several_commits_is_refused(log: Path) -> None:
    lines = log.read_text().splitlines()
    with pytest.raises(ValueError, match="no rows"):
        module.read_log([line for line in lines if "verdict" in line])
    other = json.dumps(json.loads(lines[0]) | {"commit": "0123abcd"})
    with pytest.raises(ValueError, match="mixes commits"):
        module.read_log([*lines, other])


def test_figures_are_recorded_and_printed(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "LOG", tmp_path / "gone.jsonl")
    monkeypatch.setattr(module, "FIGURES", tmp_path / "figures.json")
    assert module.main(["--record"]) == 1
    assert "run `make bench` first" in capsys.readouterr().err
    monkeypatch.setattr(module, "LOG", log)
    assert module.main(["--record"]) == 1  # a budget is not held
    printed = capsys.readouterr().out
    assert "2.00 x  lower  is good  pitbox (ours) / echo (floor)" in printed
    assert "2.00 x, budget <= 1.25: NOT held: pitbox / echo" in printed
    assert "3.00 x, budget >= 3: held: other / pitbox" in printed
    assert f"| <= 1.25 x | 2.00 x | {bench.measured_commit()} |" in module.budget_table()
    assert "| <= 1.3 x | not measured yet |" in module.budget_table()


def test_stored_figures_have_the_budgets_of_today() -> None:
    budgets = {(budget.benchmark, budget.what): budget for budget in BUDGETS.values()}
    for verdict in module.stored().verdicts:
        budget = budgets[verdict.benchmark, verdict.budget]
        assert (verdict.limit, verdict.better, verdict.unit) == (budget.limit, budget.better, budget.unit)
        assert verdict.held == budget.is_met(verdict.measured)
