"""The start's own look around: software and configuration against a manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from firmware_bridge.errors import ConfigurationError, SoftwareNotApproved
from firmware_bridge.keys import save_approved
from simulators.machine import approved
from simulators.table import layout, table_toml
from table_controller.config import load_config
from table_controller.controller.self_check import MANIFEST, check_software
from table_controller.journal.migrations import SOFTWARE
from table_controller.journal.versions import digests_of, software_digest
from table_controller.manifest import FORMAT, Component, Manifest, as_json, configuration
from tests.support.configs import lay_out

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig


def written(folder: Path, *components: Component) -> None:
    (folder / MANIFEST).write_bytes(as_json(Manifest(FORMAT, "0.1.0", components)))


def configured(folder: Path) -> TableConfig:
    return load_config(
        lay_out(folder, table_toml("over_under", {slot: f"/dev/{slot}" for slot in layout("over_under")}))
    )


def looked_at(config: TableConfig) -> str:
    return check_software(config, digests_of(config.edition, config.submission, config.kinds))[1]


def test_the_software_that_runs_is_the_one_that_the_manifest_names(tmp_path: Path) -> None:
    config = configured(tmp_path)
    assert "no " in looked_at(config)
    written(tmp_path, Component(SOFTWARE, "0.1.0", software_digest()))
    assert looked_at(config).startswith("software (it names no configuration) as ")
    written(tmp_path, Component(SOFTWARE, "0.1.0", "ab" * 32))
    with pytest.raises(SoftwareNotApproved, match="software abababababababab"):
        looked_at(config)
    written(tmp_path)
    with pytest.raises(SoftwareNotApproved, match="names software none"):
        looked_at(config)
    (tmp_path / MANIFEST).write_text("not one")
    with pytest.raises(ConfigurationError, match="not a manifest"):
        looked_at(config)


def test_other_choices_another_edition_and_a_longer_list_of_firmware_are_not_what_was_approved(tmp_path: Path) -> None:
    config = configured(tmp_path)
    software = Component(SOFTWARE, "0.1.0", software_digest())
    parts = configuration(config)
    written(tmp_path, software, *parts)
    assert looked_at(config).startswith("software and configuration as ")
    for name in ("choices", "edition", "approved"):
        others = [replace(p, digest="cd" * 32) if p.name == f"configuration/{name}" else p for p in parts]
        written(tmp_path, software, *others)
        with pytest.raises(SoftwareNotApproved, match=f"configuration/{name} cdcdcdcdcdcdcdcd"):
            looked_at(config)
    written(tmp_path, software, *parts)
    save_approved(tmp_path / "approved.toml", frozenset([*config.approved, approved("abacus")]))  # one more, by hand
    with pytest.raises(SoftwareNotApproved, match="configuration/approved"):
        looked_at(load_config(config.path))
    save_approved(tmp_path / "approved.toml", config.approved)
    config.path.write_text(config.path.read_text() + "\n# another port is no other choice\n")
    assert looked_at(load_config(config.path)).startswith("software and configuration as ")
