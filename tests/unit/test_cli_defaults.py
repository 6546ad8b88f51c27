"""Small promises of the command line: exit codes, defaults and advice that leads somewhere."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import ConfigurationError, JournalBusy
from table_controller.cli import NO_BOX, exit_code, explain
from table_controller.cli.pins import people_file
from table_controller.config import DEFAULT, default_path
from tests.support.configs import saigon

if TYPE_CHECKING:
    from pathlib import Path


def test_a_journal_that_another_process_writes_ends_a_command_with_code_6() -> None:
    assert exit_code(JournalBusy("process 7 writes this journal")) == NO_BOX


@pytest.mark.parametrize("asked", ["X8", "x8", "O11"])
def test_a_reading_that_is_asked_for_as_a_code_leads_to_the_rules(asked: str) -> None:
    with pytest.raises(ConfigurationError, match=f"pitbox rules show {asked.upper()}"):
        explain.run(argparse.Namespace(code=asked))


def test_people_are_found_by_the_configuration_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = saigon(tmp_path, "/dev/KIND", lambda: b"k" * 32)
    monkeypatch.setenv("PITBOX_CONFIG", str(config))
    assert default_path() == config
    assert people_file(argparse.Namespace(people=None, config=None)) == tmp_path / "data" / "people.json"
    monkeypatch.setenv("PITBOX_CONFIG", str(tmp_path / "gone.toml"))
    with pytest.raises(ConfigurationError, match=r"gone\.toml: none"):
        people_file(argparse.Namespace(people=None, config=None))
    monkeypatch.delenv("PITBOX_CONFIG")
    assert default_path() == DEFAULT
