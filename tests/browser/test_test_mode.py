"""A technician tests a machine in service, in a real browser: test mode is begun, shown on every page, and left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from devices.service import IN_SERVICE, UNVERIFIED
from tests.support.box.browsers import SCREEN, chromium, serve_table, show_credential
from tests.support.box.page_checks import check_page

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(900)]

MACHINE = '[data-machine="shuffler.1"]'
BANNER = ".testing:not(.hidden):has-text('TEST MODE: Shuffler 1')"


async def test_test_mode_is_begun_shown_and_left_on_the_technicians_page(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "saigon_5_card", decks=()) as stage:
        technician, dealer = await stage.page("/technician", "tech-1"), await stage.page("/dealer", "dealer-1")
        sign = await stage.page("/sign")
        await technician.click(f"{MACHINE} [data-test=begin_test]")
        await show_credential(technician, "tech-1")
        await technician.wait_for_selector(f"{MACHINE} .badge:has-text('test mode')")
        assert stage.state.slots["shuffler.1"].state == UNVERIFIED
        for page in (technician, dealer, sign):
            await page.wait_for_selector(BANNER)
        assert await check_page(dealer, "dealer beside test mode")
        stage.house.world.make_deck("tray", "blue")  # a test deck, in the technician's hand
        stage.house.machines["shuffler.1"].inject("load")
        await technician.click(f"{MACHINE} [data-orders]")
        await technician.click('[data-call="shuffle"]')
        await show_credential(technician, "tech-1")
        await technician.wait_for_selector("dialog .message:has-text('shuffle: done')")
        await technician.keyboard.press("Escape")
        await technician.click(f"{MACHINE} [data-test=leave_test]")
        await show_credential(technician, "tech-1")
        await technician.wait_for_selector(f"{MACHINE} .message:has-text('cards are behind its gate')")
        await technician.click(f"{MACHINE} [data-orders]")
        await technician.click('[data-call="eject"]')
        await show_credential(technician, "tech-1")
        await technician.wait_for_selector("dialog .message:has-text('eject: done')")
        await technician.keyboard.press("Escape")
        stage.house.machines["shuffler.1"].inject("take_deck")
        await technician.click(f"{MACHINE} [data-test=leave_test]")
        await show_credential(technician, "tech-1")
        await technician.wait_for_selector(f"{MACHINE} .badge:has-text('in service')")
        await technician.wait_for_selector(f"{MACHINE} [data-test=begin_test]")
        await stage.until(lambda: stage.state.slots["shuffler.1"].state == IN_SERVICE, "its report")
        await dealer.wait_for_selector(".testing.hidden", state="attached")
        assert not stage.state.decks, "the table got no event of the deck"
        assert not stage.state.holds


async def test_continuing_a_return_to_service_leaves_test_mode_on_the_page(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "saigon_5_card", decks=()) as stage:
        technician = await stage.page("/technician", "tech-1")
        await technician.set_viewport_size({**SCREEN, "height": 900})
        stage.hands.is_ignoring = True
        machine = stage.house.machines["shuffler.1"]
        stage.house.world.make_deck("tray", "blue")
        await technician.click(f"{MACHINE} [data-test=begin_test]")
        await show_credential(technician, "tech-1")
        await technician.wait_for_selector(f"{MACHINE} [data-test=leave_test]")
        machine.inject("load")
        machine.inject("dust:sensor=lift,percent=70")
        await technician.click(f"{MACHINE} [data-orders]")
        await technician.click('[data-call="shuffle"]')
        await show_credential(technician, "tech-1")
        await technician.wait_for_selector(
            f"{MACHINE} .badge:has-text('Out of service')"
        )  # a fault ends the test, and latches
        await technician.keyboard.press("Escape")
        await technician.click(f"{MACHINE} [data-report]")
        await technician.click("[data-step=begin]")
        await technician.wait_for_selector(BANNER)
        await technician.click("[data-step=leave]")
        await technician.wait_for_selector("[data-step=begin]")
        await technician.wait_for_selector(".testing.hidden", state="attached")
        assert stage.state.slots["shuffler.1"].state == "faulted", "nobody returns it to service"
