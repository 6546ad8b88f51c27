"""The meter's pages in a real browser: a sign page that proves what it shows, corrections with their reason, hits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulators.casino.dealer import FLOOR
from simulators.casino.panel import PINS
from table_controller.table import events as ev
from table_controller.table.meter_visibility import PAGE
from tests.support.box.browsers import chromium, serve_table, show_credential
from tests.support.box.page_checks import check_page

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(900)]


async def test_an_open_sign_page_proves_that_the_meter_is_visible_and_a_closed_one_does_not(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "face_up_pai_gow") as stage:
        stage.house.machines["meter_sign.1"].inject("unplug:seconds=100000")
        await stage.until(lambda: not stage.house.controller.table.context.is_meter_visible, "a lost sign")
        sign = await stage.page("/sign")
        await stage.until(lambda: stage.state.signs.get(PAGE) == "", "the page's report")
        assert not stage.house.controller.table.context.is_meter_visible, (
            "the sign of the table is dark, and not covered"
        )
        stage.house.controller.submit(ev.SlotOrdered("meter_sign.1", "give_up", FLOOR))
        stage.house.controller.submit(ev.SlotOrdered("meter_sign.1", "sign", FLOOR))
        await stage.until(lambda: stage.house.controller.table.context.is_meter_visible, "the page in its place")
        await sign.close()
        await stage.until(lambda: stage.state.signs[PAGE] == "stale", "a stale page")
        assert not stage.house.controller.table.context.is_meter_visible


async def test_a_correction_is_entered_with_its_reason_and_the_hits_are_shown(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "face_up_pai_gow") as stage:
        floor = await stage.page("/floor", "floor-1")
        before = stage.state.money.book.meters.current
        await floor.click("[data-meter=correct_meter]")
        await floor.fill("#paper", "MC-9")
        for unclear in ("100", "1.00", "+1", "-1.0"):  # dollars or cents, up or down?
            await floor.fill("#amount", unclear)
            await floor.click("#goon")
            await floor.wait_for_selector("dialog .message:has-text('this is not an amount')")
        await floor.fill("#amount", "-1.00")
        await floor.wait_for_selector("#preview:has-text('now $10,000.00, after $9,999.00 (-$1.00)')")
        await floor.select_option("#why", "malfunction: dealing_error")
        await floor.fill("#paper", "MC-9")
        await floor.click("#goon")
        await floor.fill("#by-pin", PINS["floor-1"])
        await floor.click("#by-ok")
        await floor.wait_for_selector("dialog label:has-text('Auditor')")
        await show_credential(floor, "audit-1")
        await stage.until(lambda: stage.state.money.book.meters.current == before - 1_000_000, "the correction")
        hits = await stage.page("/hits", "floor-1")
        await hits.wait_for_selector("#hits:has-text('No hit has been claimed')")
        assert await check_page(hits, "hits")


async def test_the_sign_page_shows_the_whole_posting_and_reports_its_number(tmp_path: Path) -> None:
    posted = {"posted_on_sign": ["odds"], "wagers": ["trips"], "paytables": {"trips": "687a-trips-DJWT-05"}}
    async with chromium() as browser, serve_table(browser, tmp_path, "dj_wild", choices=posted) as stage:
        assert not stage.house.controller.table.context.are_odds_visible
        sign = await stage.page("/sign")
        await sign.wait_for_selector("#posting td:has-text('2,000 to 1')")
        await stage.until(lambda: stage.house.controller.table.context.are_odds_visible, "the page's report")
        assert await check_page(sign, "sign with the posting")
        assert await sign.evaluate("document.querySelector('main').scrollHeight <= window.innerHeight"), "it fits"
        await sign.evaluate("document.querySelector('#posting td:nth-child(2)').textContent = '9,999 to 1'")
        await stage.until(lambda: not stage.house.controller.table.context.are_odds_visible, "a changed text")
        paper = await stage.page("/posting")
        await paper.wait_for_selector("h2:has-text('Trips Bonus Wager')")
        assert await check_page(paper, "posting")
