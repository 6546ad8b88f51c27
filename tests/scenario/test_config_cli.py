"""`pitbox config` as a person types it: all errors at once, or a summary of the file."""

from __future__ import annotations

import json
import socket
import tomllib
from typing import TYPE_CHECKING

import pytest

from table_controller.access import people_file
from table_controller.cli import OK, USAGE, main
from table_controller.config import load_config
from table_controller.config.example import example
from table_controller.config.schema import schema
from table_controller.journal.versions import digests_of
from tests.support.box.configs import certificate, write_config
from tests.support.box.processes import pitbox

if TYPE_CHECKING:
    from pathlib import Path

TEXT = example("face_up_pai_gow").replace("#[data]\n", '[data]\nfolder = "data"\n')


def run_config(capsys: pytest.CaptureFixture[str], *words: str, expect: int = OK) -> str:
    assert main(["config", *words]) == expect
    printed = capsys.readouterr()
    assert not printed.err
    return printed.out


def test_a_good_file_is_summarized(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_config(tmp_path, TEXT)
    shown = run_config(capsys, "check", str(file))
    for expected in (
        "Table 7 (site/table-7)", "chapter 688a", "dealing automated_shoe", "wagers progressive", "bet_sensor.6",
        "broker  none", "copy    none", "http://127.0.0.1:8080/", f"{file} can be used",
        "note    device.shuffler.1: /dev/ttyUSB0 is missing now", "its key is not enrolled",
        "if this disk fails, the meters are lost", "nobody can sign on",
    ):  # fmt: skip
        assert expected in shown, expected


def test_every_problem_is_printed_with_its_code(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_config(tmp_path, TEXT)
    (tmp_path / "keys/shoe.1.key").chmod(0o644)
    (tmp_path / "keys/keypad.1.key").unlink()
    (tmp_path / "approved.toml").write_text("firmware = 7\n")
    text = TEXT.replace("adjacent_boxes = 1", "adjacent_boxes = 7").replace("#[panel]", "[panel]\nprot = 1")
    file.write_text(text)
    lines = run_config(capsys, "check", str(file), expect=USAGE).splitlines()
    assert [line[:6] for line in lines[:-1]] == ["PB-617", "PB-612", "PB-612", "PB-614", "PB-619"]
    assert lines[-1] == "5 problems: a box does not start with this file"


@pytest.mark.realtime
def test_ports_and_files_that_the_configuration_names_are_checked_on_this_computer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        certificate(tmp_path, name)
    text = TEXT.replace("#[panel]\n", '[panel]\nlisten = "0.0.0.0"\ncert = "a.pem"\nkey = "b.key"\n')
    text = text.replace("#[mqtt]\n", '[mqtt]\nhost = "broker"\nca = "approved.toml"\n')
    text = text.replace("#[control]\n", '[control]\ngroup = "no-such-group"\n')
    text = text.replace("#[people]\n", '[people]\nfile = "table.toml"\n')
    file = write_config(tmp_path, text)
    shown = run_config(capsys, "check", str(file), expect=USAGE)
    for expected in (
        "panel.cert and panel.key are not a usable pair", "approved.toml contains no certificate",
        'control.group = "no-such-group": this system has no such group', "table.toml: not a people file",
    ):  # fmt: skip
        assert expected in shown, shown
    good = text.replace("b.key", "a.key").replace('ca = "approved.toml"', 'ca = "a.pem"')
    good = good.replace("no-such-group", "root").replace('file = "table.toml"', 'file = "people.json"')
    good = good.replace("#[journal]\n", '[journal]\ncopy = "copy"\n')
    for role in ("dealer", "floorperson", "technician"):
        people_file.add_credential(tmp_path / "people.json", role, role, "739164", cost=people_file.Cost(n=2, r=1, p=1))
    file.write_text(good)
    assert f"journal.copy: {tmp_path / 'copy'} is missing now" in run_config(capsys, "check", str(file))
    (tmp_path / "copy").mkdir()
    assert "pitbox journal begin-copy" in run_config(capsys, "check", str(file))
    assert main(["journal", "begin-copy", str(tmp_path / "copy")]) == OK
    capsys.readouterr()
    shown = run_config(capsys, "check", str(file))
    assert "journal.copy" not in shown
    assert "people.file" not in shown
    assert "broker:8883 as pitbox/site/table-7 with TLS" in shown
    assert f"https://{socket.getfqdn()}:8080/" in shown, "nobody can sign on at 0.0.0.0"


def test_the_printed_example_passes_the_check(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = run_config(capsys, "example", "--game", "over_under")
    assert load_config(write_config(tmp_path, text)).game == "over_under"
    assert tomllib.loads(run_config(capsys, "example"))["table"]["game"] == "face_up_pai_gow"
    assert json.loads(run_config(capsys, "schema")) == json.loads(json.dumps(schema()))


@pytest.mark.realtime
def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    shown = pitbox("config", "check", str(tmp_path / "none.toml"), expect=2)
    assert "is missing" in shown
    assert "1 problem: a box does not start with this file" in shown


def test_the_edition_has_the_digest_that_the_journal_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_config(tmp_path, TEXT)
    config = load_config(file)
    named = digests_of(config.edition, config.submission, config.kinds)["edition"]
    assert f"digest {named} in the journal, {config.edition.digest} in the manifest" in run_config(
        capsys, "check", str(file)
    )


def test_a_token_for_metrics_is_private_one_line_and_long_enough(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = write_config(tmp_path, TEXT.replace("#[panel]\n", '[panel]\nmetrics_token_file = "metrics.token"\n'))
    token = tmp_path / "metrics.token"
    assert "panel.metrics_token_file" in run_config(capsys, "check", str(file), expect=USAGE)
    token.write_text("0123456789abcdef\n")
    token.chmod(0o640)
    assert "chmod 600" in run_config(capsys, "check", str(file), expect=USAGE)
    token.chmod(0o600)
    run_config(capsys, "check", str(file))
    config = load_config(file)
    assert config.panel.metrics_token == "0123456789abcdef"
    assert "0123456789abcdef" not in repr(config)
    token.write_text("short\n")
    assert "at least 16 characters" in run_config(capsys, "check", str(file), expect=USAGE)
