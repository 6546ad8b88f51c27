"""Whether a test that lacks a program says so: a skip with advice on a laptop, a failure in CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.tools import need_tool

if TYPE_CHECKING:
    from pathlib import Path


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
    monkeypatch.setattr("tests.support.tools._ALSO", (str(tmp_path),))
    assert need_tool("a-daemon", "some-package") == str(daemon)
