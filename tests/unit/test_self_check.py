"""The self-check at start: software and configuration against the manifest that two people approved."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from firmware_bridge.errors import ConfigurationError, NoManifest, SoftwareNotApproved
from firmware_bridge.keys import save_approved
from simulators.casino.table_layout import table_slots, table_toml
from simulators.engine.machine import approved_firmware
from table_controller.config import load_config
from table_controller.host import approval
from table_controller.host.approval import MANIFEST, RECORD, approve, check_approval, read_approval
from table_controller.host.manifest import FORMAT, Component, Manifest, configuration_components, manifest_json
from table_controller.host.self_check import check_software
from table_controller.journal.migrations import SOFTWARE
from table_controller.journal.versions import digests_of, software_digest
from table_controller.maintenance.doctor import computer
from table_controller.maintenance.doctor.check_result import FAIL, OK, WARN
from tests.support.box.configs import write_config
from tests.support.suite.required_tools import need

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig

DEVELOPMENT = "development = true"


def configured(folder: Path, *, development: bool = False) -> TableConfig:
    text = table_toml("over_under", {slot: f"/dev/{slot}" for slot in table_slots("over_under")})
    assert text.count(DEVELOPMENT) == 1
    (folder / "data").mkdir(exist_ok=True)
    text = text if development else text.replace(DEVELOPMENT, "development = false")
    file = folder / "table.toml"
    if file.exists():
        file.write_text(text)
        return load_config(file)
    return load_config(write_config(folder, text))


def signed(monkeypatch: pytest.MonkeyPatch, config: TableConfig, *components: Component) -> None:
    """Approve, by two people, a manifest of just these components; the full list takes a second."""
    with monkeypatch.context() as patched:
        patched.setattr(approval, "build_manifest", lambda _config: Manifest(FORMAT, "0.1.0", components))
        approve(config, "T3", "A3", "2031-01-01T00:00:00+00:00")


def looked_at(config: TableConfig) -> str:
    return check_software(config, digests_of(config.edition, config.submission, config.kinds))[1]


def everything(config: TableConfig) -> tuple[Component, ...]:
    return (Component(SOFTWARE, "0.1.0", software_digest()), *configuration_components(config))


def test_without_an_approved_manifest_nothing_starts(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with pytest.raises(NoManifest, match="is missing; two people must approve"):
        looked_at(config)
    (tmp_path / MANIFEST).write_bytes(manifest_json(Manifest(FORMAT, "0.1.0", everything(config))))
    with pytest.raises(NoManifest, match="nobody approved"):
        looked_at(config)


def test_a_manifest_that_is_deleted_or_written_anew_by_one_person_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(tmp_path)
    signed(monkeypatch, config, *everything(config))
    assert "technician T3 and auditor A3 approved manifest" in looked_at(config)
    data = (tmp_path / MANIFEST).read_bytes()
    (tmp_path / MANIFEST).write_bytes(data + b"\n")
    with pytest.raises(SoftwareNotApproved, match="not the file that two people approved"):
        looked_at(config)
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(NoManifest, match=r"but technician T3 and auditor A3 approved manifest"):
        looked_at(config)
    (tmp_path / MANIFEST).write_bytes(data)
    assert looked_at(config)
    (config.data / RECORD).unlink()
    with pytest.raises(NoManifest, match="nobody approved"):
        looked_at(config)
    (config.data / RECORD).write_text("[")
    with pytest.raises(SoftwareNotApproved, match="not a record of an approval"):
        looked_at(config)
    (config.data / RECORD).write_bytes(b'{"format": 1, "manifest": "\xff"}')
    with pytest.raises(SoftwareNotApproved, match="not a record of an approval"):
        looked_at(config)


def test_a_development_table_is_unverified_and_never_the_table_that_was_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(tmp_path, development=True)
    assert looked_at(config).startswith("UNVERIFIED")
    assert check_approval(config) is None
    assert computer.check_approved_software(config).state == WARN
    approved_one = configured(tmp_path)
    assert computer.check_approved_software(approved_one).state == FAIL
    signed(monkeypatch, approved_one, *everything(approved_one))
    assert read_approval(approved_one) is not None
    assert computer.check_approved_software(approved_one).state == OK
    with pytest.raises(SoftwareNotApproved, match="was approved for play"):
        looked_at(configured(tmp_path, development=True))


def test_the_software_that_runs_is_the_one_that_the_manifest_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(tmp_path)
    parts = configuration_components(config)
    signed(monkeypatch, config, Component(SOFTWARE, "0.1.0", "ab" * 32), *parts)
    with pytest.raises(SoftwareNotApproved, match="software abababababababab"):
        looked_at(config)
    signed(monkeypatch, config, *parts)
    with pytest.raises(SoftwareNotApproved, match="names software none"):
        looked_at(config)
    signed(monkeypatch, config, Component(SOFTWARE, "0.1.0", software_digest()))
    with pytest.raises(SoftwareNotApproved, match="names configuration/choices none"):
        looked_at(config)
    with monkeypatch.context() as patched:
        patched.setattr(approval, "manifest_json", lambda created: b"not one")
        approve(config, "T3", "A3", "2031-01-01T00:00:00+00:00")
    with pytest.raises(ConfigurationError, match="not a manifest"):
        looked_at(config)


def test_other_choices_another_edition_and_a_longer_list_of_firmware_are_not_what_was_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(tmp_path)
    software, *parts = everything(config)
    signed(monkeypatch, config, software, *parts)
    assert looked_at(config).startswith("software and configuration as approved")
    for name in ("choices", "edition", "approved"):
        others = [replace(p, digest="cd" * 32) if p.name == f"configuration/{name}" else p for p in parts]
        signed(monkeypatch, config, software, *others)
        with pytest.raises(SoftwareNotApproved, match=f"configuration/{name} cdcdcdcdcdcdcdcd"):
            looked_at(config)
    signed(monkeypatch, config, software, *parts)
    save_approved(
        tmp_path / "approved.toml", frozenset([*config.approved, approved_firmware("abacus")])
    )  # one more, by hand
    with pytest.raises(SoftwareNotApproved, match="configuration/approved"):
        looked_at(load_config(config.path))
    save_approved(tmp_path / "approved.toml", config.approved)
    config.path.write_text(config.path.read_text() + "\n# another port is no other choice\n")
    assert looked_at(load_config(config.path)).startswith("software and configuration as approved")


def test_a_write_that_fails_leaves_the_approval_before_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(tmp_path)
    signed(monkeypatch, config, *everything(config))
    before = (tmp_path / MANIFEST).read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("table_controller.host.private_file.os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            signed(monkeypatch, config, *everything(config))
    assert (tmp_path / MANIFEST).read_bytes() == before
    assert sorted(file.name for file in tmp_path.glob(".manifest*")) == []
    assert looked_at(config)


def test_an_approval_by_root_belongs_to_the_user_who_runs_the_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(os.geteuid() == 0, "only root writes files for another user: run the tests as root")
    config = configured(tmp_path)
    for folder in (tmp_path, config.data):
        os.chown(folder, 12_345, 12_345)
    signed(monkeypatch, config, *everything(config))
    for file in (tmp_path / MANIFEST, config.data / RECORD):
        assert (file.stat().st_uid, file.stat().st_mode & 0o777) == (12_345, 0o600)
