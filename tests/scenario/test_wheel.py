"""The two wheels of `make wheel`: the whole one, and one for a production box, without simulators and conformance kit.

Each is built, unpacked and run by an interpreter that sees only the unpacked files and the dependencies.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from zipfile import ZipFile

import pytest

from table_controller.config.example import example
from tests.support.box.configs import write_config
from tests.support.box.processes import LIMIT
from tests.support.second_edition import unpacked
from tests.support.suite.required_tools import need, need_tool
from tools import ROOT, wheel

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime

BENCH_COMMANDS: Final = {
    "sim": "simulators", "demo": "simulators", "panel": "simulators", "replay": "simulators",
    "conform": "devices.conformance",
}  # fmt: skip
BOX_COMMANDS: Final = {"config", "doctor", "explain", "fault", "journal", "rules", "run", "status", "submit", "version"}
PACKAGES: Final = ("firmware_bridge/", "devices/", "table_controller/", "simulators/")


@dataclass(frozen=True)
class Installed:
    """A wheel, unpacked in a folder."""

    folder: Path
    names: frozenset[str]

    def pitbox(self, *arguments: str, expect: int = 0) -> str:
        """Run `pitbox` of this wheel; return what it printed. -S ignores the .pth file of the editable install."""
        paths = (str(self.folder), sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
        done = subprocess.run(
            [sys.executable, "-S", "-m", "table_controller.cli", *arguments],
            cwd=self.folder, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"},
            capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        assert done.returncode == expect, printed
        assert "Traceback" not in printed, printed
        return printed

    def commands(self) -> set[str]:
        return set(re.findall(r"^ {4}([a-z]+) ", self.pitbox("--help"), re.MULTILINE))


def install(folder: Path, *words: str) -> Installed:
    """Build a wheel as a person types it, and unpack it."""
    need_tool("git", "git")
    need((ROOT / ".git").exists(), "this tree is no git repository: tools.wheel copies the files that git tracks")
    command = [sys.executable, "-m", "tools.wheel", "--to", str(folder / "built"), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=4 * LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = (folder / "built").iterdir()
    assert done.stdout.strip() == str(built)
    with ZipFile(built) as archive:
        archive.extractall(folder / "unpacked")
        return Installed(folder / "unpacked", frozenset(archive.namelist()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("production"), "--production")


def expected_names(*, production: bool) -> set[str]:
    return {name for name in wheel.tracked_files(production=production) if name.startswith(PACKAGES)}


def contents(installed: Installed) -> set[str]:
    return {name for name in installed.names if ".dist-info/" not in name}


def test_the_whole_wheel_has_every_tracked_file_and_every_command(whole: Installed) -> None:
    assert contents(whole) == expected_names(production=False)
    assert whole.commands() >= BOX_COMMANDS | BENCH_COMMANDS.keys()
    assert "HS-01" in whole.pitbox("conform", "--list")
    assert "example: pitbox demo" in whole.pitbox("--help")


def test_the_production_wheel_lacks_the_bench_and_nothing_else(production: Installed) -> None:
    assert not [name for name in production.names if name.startswith(("simulators/", "devices/conformance/"))]
    assert contents(production) == expected_names(production=True)
    assert contents(production) >= {
        "table_controller/catalogue.toml", "table_controller/journal/former_names.toml",
        "table_controller/panel/static/index.html", "table_controller/rulebook/data/688a/clauses.toml",
    }  # fmt: skip
    manifest = production.pitbox("version", "--manifest", "--files")
    assert "package/table_controller" in manifest
    assert "file/table_controller/journal/former_names.toml" in manifest
    assert "simulators" not in manifest
    assert "conformance" not in manifest


def test_a_production_box_has_the_commands_of_a_box_alone(production: Installed) -> None:
    commands = production.commands()
    assert commands >= BOX_COMMANDS
    assert not commands & BENCH_COMMANDS.keys()
    shown = production.pitbox("--help")
    assert not [name for name in BENCH_COMMANDS if f"pitbox {name}" in shown]


@pytest.mark.parametrize("name", BENCH_COMMANDS)
def test_a_command_of_the_bench_is_refused_by_name_and_package(production: Installed, name: str) -> None:
    shown = production.pitbox(name, "--help", expect=2)
    sentence = f"{name!r} is not installed on this box: the package {BENCH_COMMANDS[name]} is missing"
    assert sentence in shown
    assert sentence not in production.pitbox("nonsense", expect=2)


def test_a_usbip_port_is_refused_and_any_other_configuration_works(production: Installed, tmp_path: Path) -> None:
    text = production.pitbox("config", "example")
    assert text == example("face_up_pai_gow")
    text = text.replace("#[data]\n", '[data]\nfolder = "data"\n')
    file = write_config(tmp_path, text)
    assert "can be used" in production.pitbox("config", "check", str(file))
    port = "usbip://127.0.0.1:3240/1209:0001:SN-1"
    file.write_text(text.replace("/dev/ttyUSB0", port), "utf-8")
    refused = production.pitbox("config", "check", str(file), expect=2)
    sentence = "usbip:// ports are for the bench, and this installation was made without them"
    assert f"device.shuffler.1.port: {sentence}" in refused
    assert "1 problem: a box does not start with this file" in refused
    assert sentence in production.pitbox("usb", "--server", "127.0.0.1:3240", expect=2)


def test_data_files_are_read_from_the_production_wheel(production: Installed, tmp_path: Path) -> None:
    assert "who must act       technician" in production.pitbox("explain", "PB-430")
    assert "Face Up Pai Gow Poker" in production.pitbox("rules", "show", "688a.13(l)")
    journal = str(unpacked("wild", tmp_path))  # of an earlier version: former_names.toml gives the present names
    assert "records 1 to 645 are intact" in production.pitbox("journal", "verify", journal)
    assert "the box stops in order" in production.pitbox("journal", "tail", journal)
