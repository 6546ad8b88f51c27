"""A box that is killed under a dealer's page, and started again: the page comes back and shows what is on disk."""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import TYPE_CHECKING

import pytest

from simulators.casino.panel import run_hands
from simulators.casino.remote_table import RemoteTable
from simulators.casino.table_layout import BENCH_PIN
from table_controller.table import state_machines as mc
from tests.support.box.browsers import PATIENCE, SCREEN, chromium
from tests.support.box.running_box import RunningBox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(900)]


def _free_port() -> int:
    with socket.socket() as created:
        created.bind(("127.0.0.1", 0))
        port: int = created.getsockname()[1]
        return port


async def test_a_page_comes_back_after_its_box_was_killed(tmp_path: Path) -> None:
    table = RemoteTable(tmp_path, "saigon_5_card", seed=5, speed=400.0, pace=0.01)
    table.panel_port = _free_port()
    async with chromium() as browser, table:
        box = RunningBox(table.config)
        tending = asyncio.create_task(run_hands(table))  # hands that wait for a deck, however slow the box is
        try:
            await table.connect_to_box()
            await table.until_quiescent()
            await table.bring_deck("blue")
            page = await browser.new_page(viewport=SCREEN)
            page.set_default_timeout(PATIENCE * 1000)
            for _ in range(300):  # the panel begins after the table
                if "panel: http" in box.log_text():
                    break
                await asyncio.sleep(0.1)
            await page.goto(f"http://127.0.0.1:{table.panel_port}/dealer")
            await page.fill("#who", "dealer-1")
            await page.fill("#pin", BENCH_PIN)
            await page.click("#signon button[type=submit]")
            await page.click("[data-act=open_round]")
            await page.wait_for_selector("[data-phase=betting]")
            tending.cancel()
            assert await asyncio.to_thread(box.end, signal.SIGKILL) == -signal.SIGKILL
            await page.wait_for_selector(".lost:not(.hidden)")
            box = RunningBox(table.config)
            await page.wait_for_selector("#signon")  # nobody is signed on at a box that has just started
            await page.fill("#who", "dealer-1")
            await page.fill("#pin", BENCH_PIN)
            await page.click("#signon button[type=submit]")
            await page.wait_for_selector("#lock.bad :text('Box restarted')")
            await table.connect_to_box()
            state = table.controller.table.state
            assert state.round.number == 1
            assert state.round.state in (mc.BETTING, mc.NO_MORE_BETS, mc.VOID)
            shown = await page.get_attribute("[data-phase]", "data-phase")
            assert shown in (mc.BETTING, mc.NO_MORE_BETS, mc.VOID)
            assert await asyncio.to_thread(box.end) == 0
        finally:
            tending.cancel()
            await asyncio.wait({tending})
            if box.process.poll() is None:
                box.end(signal.SIGKILL)
