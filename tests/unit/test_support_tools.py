"""A test that lacks a program: a skip with advice on a laptop, a failure in CI."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.suite.required_tools import need, need_tool

TESTS = Path(__file__).resolve().parents[1]
# How pytest can skip a test. Only `lack` may use one, because it knows that CI leaves nothing out.
LEFT_OUT = re.compile(r"\bpytest\.(skip\(|importorskip|xfail|mark\.(skip|xfail))")


def test_a_missing_program_skips_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt install some-package"):
        need_tool("no-such-program", "some-package")


def test_a_missing_program_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt install some-package"):
        need_tool("no-such-program", "some-package")


def test_a_program_is_found_outside_the_search_path_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    daemon = tmp_path / "a-daemon"
    daemon.write_text("#!/bin/sh\n")
    daemon.chmod(0o755)
    monkeypatch.setattr("tests.support.suite.required_tools._ALSO", (str(tmp_path),))
    assert need_tool("a-daemon", "some-package") == str(daemon)


def test_a_missing_right_skips_with_a_sentence_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    need("a right", "never read")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="run this as root"):
        need(None, "only root may do it (run this as root)")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="run this as root"):
        need(None, "only root may do it (run this as root)")


def test_no_test_is_left_out_but_by_the_rule_for_missing_parts() -> None:
    own = {Path(__file__), TESTS / "support/suite/required_tools.py"}
    results = [str(path.relative_to(TESTS)) for path in sorted(TESTS.rglob("*.py"))
             if path not in own and LEFT_OUT.search(path.read_text())]  # fmt: skip
    assert results == [], "use tests.support.suite.required_tools.need: it fails in CI and skips elsewhere"
