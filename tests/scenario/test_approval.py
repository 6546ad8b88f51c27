"""A running table whose approved manifest is deleted or replaced: it halts, with every machine stopped."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from simulators.casino.table_layout import table_slots, table_toml
from table_controller.config import load_config
from table_controller.host import approval
from table_controller.host.approval import MANIFEST, approve
from table_controller.host.manifest import FORMAT, Component, Manifest, configuration_components
from table_controller.host.self_check import CHECK_EVERY_S, watch_approval
from table_controller.journal.migrations import SOFTWARE
from table_controller.journal.versions import software_digest
from tests.support.box.boxes import BoxTestBench
from tests.support.box.configs import write_config
from tests.support.box.return_to_service import start

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig
    from table_controller.controller.box import Box


def approved_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> TableConfig:
    text = table_toml("over_under", {slot: f"/dev/{slot}" for slot in table_slots("over_under")})
    (folder / "data").mkdir(parents=True)
    config = load_config(write_config(folder, text.replace("development = true", "development = false")))
    parts = (Component(SOFTWARE, "0.1.0", software_digest()), *configuration_components(config))
    monkeypatch.setattr(approval, "build_manifest", lambda _config: Manifest(FORMAT, "0.1.0", parts))
    approve(config, "T3", "A3", "2031-01-01T00:00:00+00:00")
    return config


def cause_of(box: Box) -> str:
    return "" if box.cause is None else box.cause.code


@pytest.mark.parametrize("deed", ["deleted", "replaced"])
async def test_a_manifest_that_is_lost_under_a_running_table_halts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    config = approved_table(tmp_path / "table", monkeypatch)
    bench = BoxTestBench(tmp_path, "face_up_pai_gow")
    box = await start(bench, tmp_path)
    watching = asyncio.create_task(watch_approval(box, config))
    await asyncio.sleep(3 * CHECK_EVERY_S)
    assert cause_of(box) == "", "an approved table plays on"
    file = config.path.parent / MANIFEST
    if deed == "deleted":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes() + b" ")
    await asyncio.sleep(CHECK_EVERY_S + 1)
    code = cause_of(box)
    assert code == {"deleted": "PB-319", "replaced": "PB-317"}[deed]
    assert watching.done()
    await asyncio.sleep(1.0)
    (note,) = bench.notes("halted")
    assert note.text.startswith(code)
    await box.stop()
    bench.close()
