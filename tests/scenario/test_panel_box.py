"""The panel of a running box: who deals, fault reports, return to service, and one page of metrics."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from simulators.world.table import TRAY
from table_controller.host.certificates import Certificate
from table_controller.host.metrics import metrics_text
from table_controller.panel.app import HEADERS, PAGES, app_of
from table_controller.panel.panel import Panel
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.boxes import PIN, BoxTestBench
from tests.support.box.panel_threads import run_inline
from tests.support.box.return_to_service import SLOT, fault, start

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from table_controller.panel.page_requests import Check


class BoxPanelStage:
    def __init__(self, bench: BoxTestBench, panel: Panel, check: Check) -> None:
        self.bench, self.panel, self.app, self.check = bench, panel, app_of(panel), check

    async def person(self, id_: str) -> AsgiBrowser:
        browser = AsgiBrowser(self.app)
        assert (await browser.sign_on(id_, PIN)).status == 200
        return browser


async def _step(browser: AsgiBrowser, step: str, **more: Any) -> Any:
    browser.request_number += 1
    body = {"n": browser.request_number, "do": "return_step", "fault_report": 1, "step": step, **more}
    return await browser.post("/api/request", body, x_pitbox_page=browser.page)


@asynccontextmanager
async def staged(folder: Path) -> AsyncIterator[BoxPanelStage]:
    bench = BoxTestBench(folder, "face_up_pai_gow")
    box = await start(bench, folder)
    panel = Panel(
        box, box.check_person, name="bench", status=lambda: metrics_text(box.pictures.box()), in_thread=run_inline
    )
    try:
        yield BoxPanelStage(bench, panel, box.check_person)
    finally:
        panel.close()
        await box.stop()
        bench.close()


async def test_signing_on_is_journaled_and_only_the_dealer_at_the_table_opens_a_round(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        first = await stage.person("D1")
        second = await stage.person("D2")
        barred = await first.submit("open_round")
        assert (barred.status, barred.json["code"]) == (403, "PB-813")
        assert (await second.submit("open_round")).status == 409, "the core has its own reasons: there is no deck"
        await second.post("/api/sign_off", {}, x_pitbox_page=second.page)
        await asyncio.sleep(1.0)  # until it is on disk
        notes = [(note.kind, note.who.credential) for note in stage.bench.notes("signed_on") if note.who]
        assert notes == [("signed_on", "D1"), ("signed_on", "D2")]
        assert [note.who.credential for note in stage.bench.notes("signed_off") if note.who] == ["D2"]


async def test_a_fault_report_is_shown_and_its_return_steps_are_completed_by_permitted_people(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        technician, dealer, floor = await stage.person("T1"), await stage.person("D1"), await stage.person("F1")
        assert (await technician.get("/api/fault_reports")).json == []
        assert (await _step(technician, "begin")).status == 409, "there is none"
        await fault(stage.bench, "jam:segment=lift,card=9", "dust:sensor=lift,percent=70")
        (shown,) = (await technician.get("/api/fault_reports")).json
        assert shown["slot"] == SLOT
        assert any("lift" in line for line in shown["where"])
        assert not shown["begun"]
        assert (await AsgiBrowser(stage.app).get("/api/fault_reports")).status == 401
        assert (await dealer.get("/api/fault_reports")).status == 403
        assert (await floor.get("/api/fault_reports")).status == 200
        assert (await _step(dealer, "begin")).status == 403
        assert (await _step(floor, "begin")).json["pin"], "a floorperson's word needs the PIN"
        assert (await _step(technician, "begin")).status == 200
        replayed = {"n": technician.request_number, "do": "return_step", "fault_report": 1, "step": "begin"}
        assert (await technician.post("/api/request", replayed, x_pitbox_page=technician.page)).status == 409
        assert (await technician.get("/api/fault_reports")).json[0]["begun"]
        (tmp_path / "fault-reports" / "000001.steps").unlink()  # the page shows the picture of the table, not a file
        (shown,) = (await technician.get("/api/fault_reports")).json
        assert (shown["begun"], shown["steps"][0]["state"]) == (True, "next")
        word = await _step(technician, "clear")
        assert (word.status, word.json["code"]) == (409, "PB-631"), "a word is no evidence"
        by = {"id": "F1", "pin": PIN}
        assert (await floor.submit("slot", slot=SLOT, act="clear", by=by)).status == 200
        early = await floor.submit("slot", slot=SLOT, act="acknowledge", by=by)
        assert early.status == 409, "not before its way is gone"
        (reason,) = [each for each in early.json["reasons"] if "return to service" in each["text"]]
        assert "next, in fault report 1: clear: " in reason["evidence"]


async def _order(browser: AsgiBrowser, call: str, **more: Any) -> Any:
    browser.request_number += 1
    body = {"n": browser.request_number, "do": "device", "slot": SLOT, "call": call, **more}
    return await browser.post("/api/request", body, x_pitbox_page=browser.page)


async def test_a_technicians_order_needs_the_pin_each_time_and_is_written_down(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        technician, floor = await stage.person("T1"), await stage.person("F1")
        by = {"id": "T1", "pin": PIN}
        assert (await _order(technician, "self_test")).json["pin"]
        assert (await _order(AsgiBrowser(stage.app), "self_test", by=by)).status == 401
        barred = await _order(floor, "self_test", by={"id": "F1", "pin": PIN})
        assert (barred.status, barred.json["code"]) == (403, "PB-813")
        assert (await _order(technician, "shuffle", by=by)).status == 409, "cards move in test mode only"
        assert (await _order(technician, "report", by=by)).status == 409, "a question is no order"
        assert (await _order(technician, "self_test", by=by)).json["ok"]
        replayed = {"n": technician.request_number, "do": "device", "slot": SLOT, "call": "self_test", "by": by}
        assert (await technician.post("/api/request", replayed, x_pitbox_page=technician.page)).status == 409
        await asyncio.sleep(1.0)
        notes = [(note.text, note.who.credential) for note in stage.bench.notes("service") if note.who]
        assert notes == [("self_test: ordered", "T1"), ("self_test: done", "T1")]


async def test_test_mode_is_begun_with_a_technicians_pin_and_by_nobody_else(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        technician, floor, dealer = [await stage.person(id_) for id_ in ("T1", "F1", "D1")]
        machine: Any = stage.bench.machines[SLOT]
        machine.world.move_all(machine.mechanics.intake, TRAY)
        machine.firmware.hands_moved()
        await asyncio.sleep(0.5)
        by = {"id": "T1", "pin": PIN}
        assert (await _order(technician, "begin_test")).json["pin"]
        assert (await _order(AsgiBrowser(stage.app), "begin_test", by=by)).status == 401
        for other, id_ in ((floor, "F1"), (dealer, "D1")):
            assert (await _order(other, "begin_test", by={"id": id_, "pin": PIN})).status == 403
        assert stage.bench.box.test_mode.tested_report(SLOT) is None
        assert (await _order(technician, "leave_test", by=by)).status == 409, "it is not offered"
        assert (await _order(technician, "begin_test", by=by)).json["ok"]
        assert stage.bench.box.test_mode.tested_report(SLOT) == 0
        assert (await _order(floor, "leave_test", by={"id": "F1", "pin": PIN})).status == 403
        assert (await _order(technician, "leave_test", by=by)).json["ok"]
        assert stage.bench.box.test_mode.tested_report(SLOT) is None


async def test_only_permitted_roles_see_the_history_of_machines(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        technician, dealer = await stage.person("T1"), await stage.person("D1")
        await fault(stage.bench, "jam:segment=lift,card=9")
        reported = (await technician.get("/api/history")).json
        assert [wait["slot"] for wait in reported["waits"]] == [SLOT]
        assert sum(sum(row["hours"]) for row in reported["heat"]) == 1
        assert {link["slot"] for link in reported["links"]} == set(stage.bench.box.slots)
        assert (await dealer.get("/api/history")).status == 403
        assert (await AsgiBrowser(stage.app).get("/api/history")).status == 401


async def test_the_boxs_page_of_metrics_and_the_counters_are_one_valid_text(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        page = (await AsgiBrowser(stage.app).get("/metrics")).body.decode()
        names = re.findall(r"# TYPE (\S+)", page)
        assert len(names) == len(set(names))
        assert {"pitbox_slot_in_service", "pitbox_meter_microdollars", "pitbox_rounds_total"} <= set(names)
        assert all(line.startswith("# ") or re.fullmatch(r"[a-z_]+(\{.*\})? \S+", line) for line in page.splitlines())


async def test_notices_for_a_technician_are_shown_to_floor_and_technician_only(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        past = Certificate("panel.cert", "panel.pem", 0, 86_400)
        stage.bench.box.notice_watch.update_files([past], [])
        for role, shown in (("floorperson", True), ("technician", True), ("dealer", False)):
            notices = stage.panel.live.view(role)["notices"]
            assert [text.startswith("PB-850 panel.cert: panel.pem expired on 1970-01-02") for text in notices] == [
                True
            ] * shown
        assert "notices" not in stage.panel.live.view("sign")


async def test_every_page_of_a_development_table_shows_that_nobody_approved_what_runs(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        unverified = Panel(stage.panel.box, stage.check, name="bench", in_thread=run_inline, unverified=True)
        approved, development = AsgiBrowser(stage.app), AsgiBrowser(app_of(unverified))
        for path in PAGES:
            assert b"UNVERIFIED" not in (await approved.get(path)).body, path
            assert b'role="note"' in (await development.get(path)).body, path
            assert b">UNVERIFIED</div>" in (await development.get(path)).body, path
        unverified.close()


async def test_a_404_response_has_the_same_security_headers(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        browser = AsgiBrowser(stage.app)
        for answer, status in (
            (await browser.get("/nowhere"), 404),
            (await browser.get("/static/../app.py"), 404),
            (await browser.ask("PUT", "/dealer"), 405),
        ):
            assert answer.status == status
            for name, value in HEADERS.items():
                assert answer.headers[name.lower()] == value
