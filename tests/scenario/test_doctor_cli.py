"""`pitbox doctor` at a simulated table on real ptys: on the bench, and while a box runs."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.box.processes import background, pitbox, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.realtime


@contextmanager
def table(folder: Path) -> Iterator[Path]:
    with background(
        "sim", "up", "table", "--game", "saigon_5_card", "--speed", "40", "--folder", str(folder)
    ) as process:
        wait_for(folder / "table.toml", process)
        yield folder / "table.toml"


def lines(config: Path, *words: str, expect: int = 1) -> dict[str, dict[str, Any]]:
    """Run doctor; a build machine's clock may be unsynchronized, so a warning is the best result."""
    output = json.loads(pitbox("doctor", "--config", str(config), "--json", *words, expect=expect))
    assert output["exit"] == expect
    return {line["what"]: line for line in output["lines"]}


def test_on_the_bench_every_machine_is_asked_and_a_pulled_cable_is_a_failure(tmp_path: Path) -> None:
    with table(tmp_path) as config:
        rows = lines(config)
        assert rows["box"]["state"] == "warn"
        assert rows["ports"]["state"] == rows["firmware"]["state"] == rows["machines"]["state"] == "ok"
        assert "ms round trip" in rows["link of shuffler.1"]["text"]
        pitbox("sim", "inject", "shoe.1", "unplug:seconds=0", "--folder", str(tmp_path))
        rows = lines(config, expect=2)
        assert rows["port of shoe.1"]["state"] == "fail"
        assert "shoe.1" not in rows, "once is enough"
        assert "are ready for service" in rows["machines"]["text"]


def test_rogue_firmware_is_named(tmp_path: Path) -> None:
    with table(tmp_path) as config:
        pitbox("sim", "inject", "shuffler.1", "rogue_firmware", "--folder", str(tmp_path))
        rows = lines(config, expect=2)
    assert rows["firmware of shuffler.1"]["state"] == "fail"
    assert "firmware" not in rows


def test_while_a_box_runs_doctor_queries_the_box(tmp_path: Path) -> None:
    with table(tmp_path) as config, background("run", "--config", str(config)) as box:
        wait_for(tmp_path / "data" / "control.sock", box)
        rows = lines(config)
        assert rows["box"]["state"] == "ok"
        assert f"process {box.pid}" in rows["box"]["text"]
        assert rows["journal"]["state"] == "ok"
        assert f"in use by the box ({box.pid})" in rows["ports"]["text"]
