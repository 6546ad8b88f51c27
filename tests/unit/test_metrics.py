"""The page of metrics: every line is valid for Prometheus and matches the status."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import replace

from firmware_bridge.errors import ReplayDiffers
from table_controller.host.certificates import Certificate
from table_controller.host.metrics import metrics_text
from table_controller.host.notice_watch import UplinkStatus
from table_controller.panel.metrics import EventCounters, counters_text
from tests.support.box.boxes import BoxTestBench

_NAME = r"[a-z_]+"
_SAMPLE = re.compile(rf'({_NAME})(\{{(?:{_NAME}="(?:[^"\\\n]|\\[\\"n])*",?)*\}})? (-?\d+(?:\.\d+)?)')


def samples(page: str) -> dict[str, float]:
    """Read a page as strictly as its format is written; return name and labels with the value."""
    results: dict[str, float] = {}
    typed: list[str] = []
    assert page.endswith("\n")
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert kind in ("gauge", "counter")
            assert name not in typed, f"{name} is typed twice"
            typed.append(name)
        elif not line.startswith("# HELP "):
            match = _SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] == typed[-1], f"{line} stands among {typed[-1]}"
            assert f"{match[1]}{match[2] or ''}" not in results, line
            results[f"{match[1]}{match[2] or ''}"] = float(match[3])
    return results


async def test_the_page_matches_the_status(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    try:
        status = box.pictures.box()
        read = samples(metrics_text(replace(status, table='a "quoted"\\\nname')))
        assert read['pitbox_phase{phase="running"}'] == 1
        assert read['pitbox_phase{phase="locked"}'] == 0
        assert read['pitbox_slot_in_service{slot="shoe.1",state="in_service"}'] == 1
        assert read['pitbox_meter_microdollars{amount="current"}'] == 10_000_000_000
        assert read["pitbox_journal_record"] == status.seq > 0
        assert read["pitbox_round_permitted"] == 0
        assert read["pitbox_copy_configured"] == 0
        assert sum(value for name, value in read.items() if name.startswith("pitbox_phase")) == 1
    finally:
        await box.stop()
        bench.close()


async def test_a_locked_box_has_a_page_too(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path, "asia_poker")
    bench.journal_error = ReplayDiffers("record 7")
    box = await bench.start()
    try:
        read = samples(metrics_text(box.pictures.box()))
        assert read['pitbox_phase{phase="locked"}'] == 1
        assert not [name for name in read if name.startswith(("pitbox_round", "pitbox_meter"))]
    finally:
        await box.stop()
        bench.close()


async def test_the_page_has_uplink_backlog_and_the_end_of_every_certificate(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    try:
        read = samples(metrics_text(box.pictures.box()))
        assert read["pitbox_uplink_configured"] == 0
        assert "pitbox_uplink_connected" not in read
        box.notice_watch.uplink = lambda: UplinkStatus(True, acknowledged=7, behind=5)
        box.notice_watch.update_files([Certificate("panel.cert", 'a "b".pem', 0, 86_400)], [])
        read = samples(metrics_text(box.pictures.box()))
        assert (read["pitbox_uplink_configured"], read["pitbox_uplink_connected"]) == (1, 1)
        assert (read["pitbox_uplink_behind_records"], read["pitbox_uplink_acknowledged_record"]) == (5, 7)
        expiry = 'pitbox_certificate_expiry_timestamp_seconds{certificate="panel.cert",where="a \\"b\\".pem"}'
        assert read[expiry] == 86_400
        assert read['pitbox_notices{code="PB-850"}'] == 1
    finally:
        await box.stop()
        bench.close()


async def test_docs_list_every_metric_with_its_meaning(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    try:
        box.notice_watch.uplink = lambda: UplinkStatus(True)
        box.notice_watch.update_files([Certificate("panel.cert", "panel.pem", 0, 86_400)], [])
        page = metrics_text(box.pictures.box()) + counters_text(EventCounters(), 0)
    finally:
        await box.stop()
        bench.close()
    listed = (Path(__file__).parents[2] / "docs" / "box.md").read_text("utf-8")
    for name in re.findall(r"# TYPE (\S+)", page):
        assert f"| `{name}` |" in listed, f"docs/box.md does not list {name}"
