"""Details of the command line: exit codes, defaults and useful advice."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import ConfigurationError, JournalBusy
from table_controller.cli import NO_BOX, USAGE, command_parser, exit_code, main
from table_controller.cli.commands import explain
from table_controller.cli.pins import people_file
from table_controller.config import DEFAULT, default_path
from tests.support.box.configs import write_saigon_config

if TYPE_CHECKING:
    from collections.abc import Iterator
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
    config = write_saigon_config(tmp_path, "/dev/KIND", lambda: b"k" * 32)
    monkeypatch.setenv("PITBOX_CONFIG", str(config))
    assert default_path() == config
    assert people_file(argparse.Namespace(people=None, config=None)) == tmp_path / "data" / "people.json"
    monkeypatch.setenv("PITBOX_CONFIG", str(tmp_path / "gone.toml"))
    with pytest.raises(ConfigurationError, match=r"gone\.toml does not exist"):
        people_file(argparse.Namespace(people=None, config=None))
    monkeypatch.delenv("PITBOX_CONFIG")
    assert default_path() == DEFAULT


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (("fault", "3", "--step", "open"), "--step and --order need --as"),
        (("trace", "--seconds", "1"), "use --port for a device on the bench"),
        (("device", "shoe", "dispense", "--port", "x"), "--cards N belongs to the actions dispense"),
        (("journal", "tail", "-n", "-1", "."), "-n takes a number of records"),
        (("faults", "--since", "soon"), "--since takes 8h"),
        (("rng", "report", "--draws", "1"), "--draws takes a number"),
        (("keys", "new", "shoe", "x" * 40), "is not a serial number"),
        (("version", "--json"), "need --manifest"),
        (("conform",), "name the device with --port"),
        (("demo", "--speed", "0"), "--speed takes a number"),
        (("sim", "up", "shoe", "--speed", "0"), "--speed takes a number"),
    ],
)
def test_a_usage_mistake_shows_the_usage_and_is_no_configuration_error(
    typed: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*typed]) == USAGE
    printed = capsys.readouterr().err
    assert printed.startswith("pitbox: PB-856 usage error: "), printed
    assert f"\nusage: pitbox {typed[0]} " in printed, printed
    assert expected in printed, printed
    assert "PB-610" not in printed


def _pages(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the help page of every command and of every subcommand."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield below
                yield from _pages(below)


def test_every_help_page_has_a_description_and_an_example() -> None:
    pages = list(_pages(command_parser()))
    assert len(pages) > 50
    assert [page.prog for page in pages if f"example: {page.prog}" not in (page.epilog or "")] == []
    assert [page.prog for page in pages if not page.description] == []


@pytest.mark.parametrize(("alias", "name"), [("jam", "fault"), ("jams", "faults")])
def test_an_alias_runs_its_command(alias: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([alias, "--help"])
    printed = capsys.readouterr()
    assert printed.out.startswith(f"usage: pitbox {name} ")
    assert printed.err == ""


def test_the_former_name_of_submit_works_and_gives_the_new_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["say", "--help"])
    printed = capsys.readouterr()
    assert printed.out.startswith("usage: pitbox submit ")
    assert printed.err == "pitbox: `pitbox say` is now `pitbox submit`\n"


def test_former_names_and_aliases_are_not_listed_as_commands() -> None:
    names = {page.prog.partition(" ")[2] for page in _pages(command_parser())}
    assert {"submit", "fault", "faults"} <= names
    assert not {"say", "jam", "jams"} & names
