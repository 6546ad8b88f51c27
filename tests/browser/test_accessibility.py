"""Every page as it is drawn: contrast in light and dark, accessible names, a table used by keyboard alone."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import BoxLocked
from simulators.casino.panel import PINS
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.box.browsers import SCREEN, chromium, serve_table
from tests.support.box.page_checks import check_page

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(900)]


async def _tab_to(page: Any, selector: str) -> None:
    """Move the focus to an element with the Tab key."""
    for _ in range(60):
        if await page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {selector}")


async def test_a_round_is_opened_and_questions_are_answered_with_keys_alone(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "face_up_pai_gow") as stage:
        page = await stage.page("/dealer")
        await page.wait_for_selector("#signon")
        await page.keyboard.type("dealer-1")
        await page.keyboard.press("Tab")
        await page.keyboard.type(PINS["dealer-1"])
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[data-act=open_round]")
        await _tab_to(page, "[data-act=open_round]")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("[data-act=no_more_bets]")
        await _tab_to(page, "[data-act=no_more_bets]")
        await page.keyboard.press("Space")
        await page.wait_for_selector("#next [data-kind=seats]")
        for seat in (2, 5):
            await _tab_to(page, f'#next [data-seat="{seat}"]')
            await page.keyboard.press("Space")
            await page.wait_for_selector(f'#next [data-seat="{seat}"][aria-pressed=true]')
        await _tab_to(page, "#next [data-choice=done]")
        await page.keyboard.press("Enter")
        await stage.until(lambda: stage.state.round.seats == (2, 5), "the seats")
        await stage.answer_until(page, lambda: _asks(stage, "stub"))
        await page.wait_for_selector("#next [data-kind=stub]")
        stub = await stage.until(
            lambda: next((a for id_, a in stage.hands.ready_answers.items() if _kind(stage, id_) == "stub"), None),
            "the stub",
        )
        await page.keyboard.type(f"{stub.number}9")
        await page.keyboard.press("Backspace")
        await page.wait_for_selector(f".entry:has-text('{stub.number}')")
        await _tab_to(page, "#next [data-choice=done]")
        await page.keyboard.press("Enter")
        await stage.until(lambda: not _asks(stage, "stub"), "the stub's answer")
        await page.click("#why, #more")
        await page.wait_for_selector("dialog")  # it may be asked for first
        await page.keyboard.press("Escape")
        await page.wait_for_selector("dialog", state="detached")


def _asks(stage: Any, kind: str) -> bool:
    """Return whether the first question on a dealer's page is of this kind."""
    prompts = stage.state.prompts
    return bool(prompts) and prompts[min(prompts)].kind == kind


def _kind(stage: Any, id_: int) -> str:
    prompt = stage.state.prompts.get(id_)
    return "" if prompt is None else str(prompt.kind)


async def test_everything_can_be_read_in_light_and_dark_and_has_a_name(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "face_up_pai_gow") as stage:
        looked = {}
        front = await stage.page("/")
        await front.wait_for_selector("#signon")
        looked["front"] = await check_page(front, "front")
        dealer = await stage.page("/dealer", "dealer-1")
        await dealer.click("[data-act=open_round]")
        await dealer.wait_for_selector("[data-act=no_more_bets]")
        for seat in (1, 4):
            stage.house.machines[f"bet_sensor.{seat}"].inject("place_bet")
            await dealer.wait_for_selector(f'[data-seat="{seat}"] .lamp.sensed')
        looked["betting"] = await check_page(dealer, "betting")
        await dealer.click("#more")
        await dealer.wait_for_selector("dialog #report")
        looked["more"] = await check_page(dealer, "more")
        await dealer.keyboard.press("Escape")
        await dealer.click("[data-act=no_more_bets]")
        await stage.answer_until(dealer, lambda: _asks(stage, "stub"))
        await dealer.wait_for_selector("#next [data-kind=stub]")
        await dealer.dblclick('#next [data-key="4"]')  # a person who types 44 means both
        await dealer.wait_for_selector(".entry:has-text('44')")
        looked["stub"] = await check_page(dealer, "stub")
        stage.house.machines["shuffler.1"].inject("door:to=open")
        floor = await stage.page("/floor", "floor-1")
        await floor.set_viewport_size({"width": 1024, "height": 2400})
        await floor.wait_for_selector("#reviewround")
        looked["floor"] = await check_page(floor, "floor")
        for button, ready in (
            ("#reviewround", "#review[data-round]"),
            ("[data-meter=correct_meter]", "#goon"),
            ("[data-slot='shuffler.1'][data-order]", "#by-pin"),
        ):
            await floor.click(button)
            await floor.wait_for_selector(ready)
            looked[button] = await check_page(floor, button)
            await floor.keyboard.press("Escape")
            await floor.wait_for_selector("dialog", state="detached")
        bench = await stage.page("/bench", "tech-1")
        await bench.set_viewport_size({"width": 1024, "height": 3000})
        await bench.wait_for_selector("[data-inject]")
        looked["bench"] = await check_page(bench, "bench")
        for button, ready in (
            ("[data-machine='shuffler.1'] [data-orders]", "[data-call]"),
            ("[data-machine='shuffler.1'] [data-report]", "dialog h2"),
            ("#past", "#history[data-ready]"),
        ):
            await bench.click(button)
            await bench.wait_for_selector(ready)
            looked[button] = await check_page(bench, button)
            await bench.keyboard.press("Escape")
            await bench.wait_for_selector("dialog", state="detached")
        technician = await stage.page("/technician", "tech-1")
        await technician.wait_for_selector("[data-machine]")
        looked["technician"] = await check_page(technician, "technician")
        sign = await stage.page("/sign")
        await sign.wait_for_selector("#value:has-text('$')")
        looked["sign"] = await check_page(sign, "sign")
        assert all(looked.values()), looked
        assert sum(looked.values()) > 1000, looked


async def _largest(stage: Any) -> Any:
    """Open the sign of a meter at its largest amount."""
    most = {"current": 99_999_999_990_000, "pending": "", "hits": []}
    reported = f"event: state\ndata: {json.dumps({'game': 'Game', 'meter': most, 'testing': []})}\n\n"

    async def notify(route: Any) -> None:
        await route.fulfill(body=reported, content_type="text/event-stream")

    sign = await stage.page("/sign", stubs={"/api/sign": notify})
    await sign.wait_for_selector("#value:has-text('$99,999,999.99')")
    return await (await sign.query_selector("#value")).bounding_box()


async def test_locks_wins_and_stale_values_can_be_read_in_light_and_dark(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "face_up_pai_gow") as stage:
        looked = {}
        meter = stage.house.controller.table.context.meter
        assert meter is not None
        stage.hands.choices["progressive"] = meter.awards[0].hand
        dealer, sign = await stage.page("/dealer", "dealer-1"), await stage.page("/sign")
        await dealer.click("[data-act=open_round]")
        await dealer.wait_for_selector("[data-act=no_more_bets]")
        stage.house.machines["bet_sensor.2"].inject("place_bet")
        await dealer.wait_for_selector('[data-seat="2"] .lamp.sensed')
        await dealer.click("[data-act=no_more_bets]")
        public = (mc.HIT_VALIDATED, mc.HIT_HAND_PAY)
        await stage.answer_until(dealer, lambda: any(hit.state in public for hit in stage.state.money.hits.values()))
        for shown in ("#won .hit b", "#pending:has-text('Pending')"):
            await sign.wait_for_selector(shown)
        looked["won"] = await check_page(sign, "won")
        box = await _largest(stage)
        assert 0 <= box["x"] < box["x"] + box["width"] <= SCREEN["width"]
        stage.hands.is_ignoring = True
        stage.house.controller.submit(
            ev.IrregularityReported("shoe_fault", ev.Person("dealer", "dealer-1"), slot="shoe.1")
        )
        await dealer.wait_for_selector("#lock.bad")
        looked["locked"] = await check_page(dealer, "locked")
        await dealer.click("#why")
        await dealer.wait_for_selector("dialog .clause")
        looked["why"] = await check_page(dealer, "why")
        await dealer.click("dialog .clause")
        await dealer.wait_for_selector("dialog:nth-of-type(2) h2")
        looked["clause"] = await check_page(dealer, "clause")
        stage.house.controller.halted = BoxLocked("the journal cannot be written")
        await dealer.keyboard.press("Escape")
        await dealer.keyboard.press("Escape")
        await dealer.wait_for_selector("#next :text('The box is locked')")
        looked["halted"] = await check_page(dealer, "halted")
        await sign.wait_for_selector("#value.stale")
        await sign.wait_for_selector("#state:has-text('closed for the moment')")
        looked["closed"] = await check_page(sign, "closed")
        stage.panel.cancel()
        await asyncio.wait({stage.panel})
        await sign.wait_for_selector("#state:has-text('is being checked')")
        looked["stale"] = await check_page(sign, "stale")
        await dealer.wait_for_selector(".lost:not(.hidden)")
        looked["lost"] = await check_page(dealer, "lost")
        stage.house.controller.halted = None
        assert all(looked.values()), looked
