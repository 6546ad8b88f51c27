"""The minimum counts of what is proven: a lower count, or a lower figure without a reason, fails the build."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tools import minimum_counts as module
from tools.minimum_counts import Lowered, MinimumCounts, fallen, parse, renewed, unexplained, written

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = MinimumCounts({"tests": 100, "killed, rules: permits": 7}, (Lowered("tests", 120, 100, "an older fall"),))


def test_a_count_below_its_figure_is_named_with_both_and_one_above_is_no_fault() -> None:
    (sentence,) = fallen(BEFORE.figures, {"tests": 99, "killed, rules: permits": 8})
    assert sentence.startswith("tests: 99 of 100 are left.")
    assert "--renew --reason" in sentence


def test_a_subject_that_is_gone_has_fallen() -> None:
    assert len(fallen(BEFORE.figures, {"tests": 100})) == 1


def test_a_figure_that_fell_needs_a_new_entry_with_both_figures_and_a_reason() -> None:
    figures = BEFORE.figures | {"tests": 90}
    for entries in (
        (),
        BEFORE.lowered,
        (*BEFORE.lowered, Lowered("tests", 100, 91, "another figure")),
        (*BEFORE.lowered, Lowered("tests", 100, 90, "")),
        (*BEFORE.lowered, Lowered("killed, rules: permits", 100, 90, "another subject")),
    ):
        assert len(unexplained(BEFORE, MinimumCounts(figures, entries))) == 1
    explained = (*BEFORE.lowered, Lowered("tests", 100, 90, "two tests became one"))
    assert unexplained(BEFORE, MinimumCounts(figures, explained)) == []
    assert unexplained(BEFORE, MinimumCounts({"tests": 101, "killed, rules: permits": 7})) == []


def test_a_reason_of_an_earlier_commit_does_not_explain_the_next_fall() -> None:
    again = MinimumCounts({"tests": 120}, (Lowered("tests", 120, 100, "once"),))
    assert unexplained(again, MinimumCounts({"tests": 100}, again.lowered)) != []


def test_renewing_raises_figures_and_lowers_none_without_a_reason() -> None:
    counted = {"tests": 130, "killed, rules: permits": 6}
    assert renewed(BEFORE, counted, "").figures == {"tests": 130, "killed, rules: permits": 7}
    lowered = renewed(BEFORE, counted, "a permit is gone")
    assert lowered.figures == counted
    assert lowered.lowered[-1] == Lowered("killed, rules: permits", 7, 6, "a permit is gone")
    assert unexplained(BEFORE, lowered) == []
    assert parse(written(lowered)) == lowered


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose file was raised from 100 to 110 in its last commit."""
    file = tmp_path / "minimum_counts.toml"
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "FILE", file)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, "init", "-q"], check=True)
    for figure in (100, 110):
        file.write_text(written(MinimumCounts({"tests": figure})))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", str(figure)], check=True)
    return file


def test_a_changed_file_is_compared_with_the_last_commit_and_a_committed_one_with_its_parent(repository: Path) -> None:
    assert module.committed_before(repository.read_text()).figures == {"tests": 100}
    assert module.committed_before(written(MinimumCounts({"tests": 90}))).figures == {"tests": 110}


def test_without_a_history_the_file_alone_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "FILE", tmp_path / "minimum_counts.toml")
    assert module.committed_before("") == MinimumCounts()


@pytest.mark.parametrize(("counted", "code"), [(110, 0), (111, 0), (109, 1)])
def test_the_command_fails_only_when_something_fell(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], counted: int, code: int
) -> None:
    monkeypatch.setattr(module, "count", lambda: {"tests": counted})
    assert module.main([]) == code
    printed = capsys.readouterr().out
    assert ("keep them with" in printed) is (counted > 110)
    assert ("109 of 110 are left" in printed) is (code == 1)
    assert module.main(["--renew"]) == code
    assert module.main(["--renew", "--reason", "the subject was removed"]) == 0
