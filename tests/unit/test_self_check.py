"""The start's own look around: software against a manifest, and what people should know before a round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import ConfigurationError, SoftwareNotApproved
from table_controller.controller.self_check import MANIFEST, check_software
from table_controller.journal.migrations import SOFTWARE
from table_controller.journal.versions import software_digest
from table_controller.manifest import FORMAT, Component, Manifest, as_json

if TYPE_CHECKING:
    from pathlib import Path


def written(folder: Path, *components: Component) -> None:
    (folder / MANIFEST).write_bytes(as_json(Manifest(FORMAT, "0.1.0", components)))


def test_the_software_that_runs_is_the_one_that_the_manifest_names(tmp_path: Path) -> None:
    runs = {SOFTWARE: software_digest()}
    assert "no " in check_software(tmp_path, runs)[1]
    written(tmp_path, Component("software", "0.1.0", software_digest()))
    assert check_software(tmp_path, runs)[1].startswith("as ")
    written(tmp_path, Component("software", "0.1.0", "ab" * 32))
    with pytest.raises(SoftwareNotApproved, match="abababababababab"):
        check_software(tmp_path, runs)
    written(tmp_path)
    with pytest.raises(SoftwareNotApproved, match="names software none"):
        check_software(tmp_path, runs)
    (tmp_path / MANIFEST).write_text("not one")
    with pytest.raises(ConfigurationError, match="not a manifest"):
        check_software(tmp_path, runs)
