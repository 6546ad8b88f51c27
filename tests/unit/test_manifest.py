"""`pitbox version`: the manifest names everything by its digest, and any difference is found."""

from __future__ import annotations

import base64
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

import firmware_bridge
from simulators.casino.table_layout import table_slots, table_toml
from table_controller.cli import FAULT, OK, USAGE, main
from table_controller.config import load_config
from table_controller.host.manifest import (
    Component,
    Manifest,
    build_manifest,
    configuration_components,
    differences,
    manifest_json,
    manifest_lines,
    read_manifest,
)
from table_controller.journal.migrations import CONFIGURATION
from table_controller.journal.versions import digests_of, software_digest
from table_controller.rulebook import GAMES, edition
from tests.support.box.configs import write_config


@pytest.fixture(scope="module")
def here() -> Manifest:
    """The manifest of what runs this test; it reads every file of every distribution, so it is made once."""
    return build_manifest()


def run_version(capsys: pytest.CaptureFixture[str], *words: str, expect: int = OK) -> str:
    assert main(["version", *words]) == expect
    printed = capsys.readouterr()
    return printed.err if expect == USAGE else printed.out


@pytest.fixture
def gadget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a small distribution next to the others; return its one module."""
    site = tmp_path / "site"
    info = site / "gadget-1.2.dist-info"
    info.mkdir(parents=True)
    module = site / "gadget.py"
    module.write_text("WHEELS = 4\n")
    digest = base64.urlsafe_b64encode(sha256(module.read_bytes()).digest()).rstrip(b"=").decode()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gadget\nVersion: 1.2\n")
    (info / "RECORD").write_text(f"gadget.py,sha256={digest},11\ngadget-1.2.dist-info/RECORD,,\n")
    monkeypatch.syspath_prepend(str(site))
    return module


def test_the_manifest_names_every_part_by_its_digest(here: Manifest) -> None:
    created = {each.name: each for each in here.components}
    assert created["software"].digest == software_digest()
    for game in GAMES:
        assert created[f"edition/{edition(game).chapter}"].digest == edition(game).digest
    source = Path(firmware_bridge.__file__).with_name("errors.py")
    assert created["file/firmware_bridge/errors.py"].digest == sha256(source.read_bytes()).hexdigest()
    assert "file/table_controller/rulebook/data/688a/edition.toml" in created
    assert {"package/firmware_bridge", "package/devices", "package/table_controller"} <= set(created)
    assert created["dependency/msgspec"].version == msgspec.__version__
    assert {"dependency/transitions", "dependency/pyserial", "dependency/pyusb"} <= set(created)
    assert "other/pytest" in created
    assert len(created["system/python"].digest) == 64
    assert len(created) == len(here.components), "a name stands for one component"


def test_a_manifest_comes_back_and_equals_what_is_here(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, here: Manifest
) -> None:
    file = tmp_path / "m.json"
    file.write_bytes(manifest_json(here))
    assert read_manifest(file) == here
    assert run_version(capsys, "--diff", str(file), "here") == f"the same: {len(here.components)} components\n"


def test_every_kind_of_difference_is_a_line() -> None:
    old = Manifest(1, "1", (Component("a", "1", "aa"), Component("b", "1", "bb"), Component("c", "1", "cc")))
    new = Manifest(1, "1", (Component("a", "1", "a0"), Component("c", "1", "cc", ("x.py",)), Component("d", "2", "dd")))
    assert differences(old, new) == ["~ a 1 aa -> 1 a0", "- b 1 bb", "~ c 1 cc -> 1 cc altered: x.py", "+ d 2 dd"]


def test_a_file_that_was_changed_after_it_was_installed_is_named(
    capsys: pytest.CaptureFixture[str], here: Manifest, gadget: Path
) -> None:
    gadget.write_text("WHEELS = 5\n")
    shown = run_version(capsys, "--manifest", "--json", expect=FAULT)
    created = msgspec.json.decode(shown, type=Manifest)
    (result,) = (each for each in created.components if each.name == "other/gadget")
    assert differences(here, created) == [f"+ other/gadget 1.2 {result.digest[:16]} altered: gadget.py"]
    assert "ALTERED since the installation: other/gadget: gadget.py" in manifest_lines(created)


def test_a_configuration_is_named_as_the_journal_names_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, here: Manifest
) -> None:
    file = write_config(
        tmp_path, table_toml("saigon_5_card", {slot: f"/dev/{slot}" for slot in table_slots("saigon_5_card")})
    )
    config = load_config(file)
    created = {each.name: each for each in configuration_components(config)}
    named = digests_of(config.edition, config.submission, config.kinds)
    assert created["configuration/choices"].digest == named[CONFIGURATION]
    assert created["configuration/file"].digest == sha256(file.read_bytes()).hexdigest()
    old = tmp_path / "old.json"
    old.write_bytes(manifest_json(Manifest(1, "1", (*here.components, *configuration_components(config)))))
    file.write_text(file.read_text().replace("two_decks = true", "two_decks = false"))
    shown = run_version(capsys, "--diff", str(old), "here", "--config", str(file), expect=FAULT)
    assert [line.split()[1] for line in shown.splitlines()] == ["configuration/file", "configuration/choices"]


def test_single_files_are_shown_on_request(capsys: pytest.CaptureFixture[str], here: Manifest) -> None:
    assert "file/" not in "".join(manifest_lines(here))
    assert "file/firmware_bridge/errors.py " in "".join(manifest_lines(here, files=True))
    assert software_digest() in run_version(capsys)


def test_bad_input_is_a_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "f.json").write_text('{"format": 2, "pitbox": "9", "components": []}')
    for words, expected in (
        (("--diff", str(tmp_path / "none"), "here"), "No such file"),
        (("--diff", str(tmp_path / "x.json"), "here"), "not a manifest"),
        (("--diff", str(tmp_path / "f.json"), "here"), "format 2"),
        (("--json",), "need --manifest"),
        (("--manifest", "--config", str(tmp_path / "none.toml")), "is missing"),
    ):
        assert expected in run_version(capsys, *words, expect=USAGE)
