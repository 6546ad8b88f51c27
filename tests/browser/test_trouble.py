"""Trouble at the table, seen and cleared in a real browser: a jam, a jackpot, a panel that dies."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from table_controller.ledger.money import dollars
from table_controller.table import events as ev
from table_controller.table import machines as mc
from tests.support.browsers import chromium, served, sign_on

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(300)]


async def test_a_jam_from_the_bench_through_the_floor_back_to_service(tmp_path: Path) -> None:
    async with chromium() as browser, served(browser, tmp_path, "saigon_5_card", decks=()) as stage:
        bench = await stage.page("/bench", "tech-1")
        machine = '[data-machine="shuffler.1"]'
        await bench.select_option(f"{machine} select", value="jam:segment=lift,card=0")
        await bench.click(f"{machine} [data-inject]")
        await bench.wait_for_selector(f"{machine} .said:has-text('a card sticks')")
        dealer = await stage.page("/dealer", "dealer-1")
        floor = await stage.page("/floor", "floor-1")
        stage.hands.ignoring = True  # nobody touches the machine before it was looked at
        stage.house.world.make_deck("tray", "blue")
        await dealer.click("#more")
        await dealer.fill("#newdeck", "blue")
        await dealer.click("#bring")
        await stage.answer_until(dealer, lambda: bool(stage.state.holds), floor)
        await floor.wait_for_selector(".hold:has-text('Shuffler fault')")
        await bench.wait_for_selector(f"{machine} .badge:has-text('faulted')")
        await bench.wait_for_selector(f"{machine} .path .wrong:has-text('lift')")
        await dealer.wait_for_selector("#lock.bad")
        await dealer.click("#why")
        await dealer.wait_for_selector("dialog :text('cleared by floorperson')")
        await dealer.click("dialog > button")
        stage.hands.heed()
        await stage.answer_until(
            dealer,
            lambda: not stage.state.holds and stage.state.slots["shuffler.1"].state == "in_service"
            and stage.state.decks["blue"].state == mc.READY,
            floor,
        )  # fmt: skip
        assert "acknowledge" in stage.answered
        await bench.wait_for_selector(f"{machine} .badge:has-text('in service')")
        await stage.until(lambda: not stage.hands.busy, "rest")


async def test_a_table_that_changes_under_the_finger_swallows_no_press(tmp_path: Path) -> None:
    async with chromium() as browser, served(browser, tmp_path, "face_up_pai_gow") as stage:
        dealer, floor = await stage.page("/dealer", "dealer-1"), await stage.page("/floor", "floor-1")
        await dealer.click("[data-act=open_round]")
        await dealer.hover("[data-act=no_more_bets]")
        await dealer.mouse.down()
        stage.house.machines["bet_sensor.2"].inject("place_bet")
        await stage.until(lambda: stage.state.progressive.seats[2].placed, "the bet")
        seq = stage.house.controller.durable
        await floor.wait_for_selector(f'body[data-seq="{seq}"]')  # by now the dealer's page has heard of it too
        await dealer.wait_for_function("() => new Promise((done) => setTimeout(() => done(true), 200))")
        await dealer.mouse.up()
        await stage.until(lambda: stage.state.round.state != mc.BETTING, "no more bets")
        await dealer.wait_for_selector('[data-seat="2"] .lamp.sensed')


async def test_a_jackpot_is_validated_by_a_floorperson_and_shown_on_the_sign(tmp_path: Path) -> None:
    async with chromium() as browser, served(browser, tmp_path, "face_up_pai_gow") as stage:
        meter = stage.house.controller.table.context.meter
        assert meter is not None
        stage.hands.choices["progressive"] = meter.awards[0].hand
        stage.hands.lies["hand_pay"] = 4711
        dealer, floor = await stage.page("/dealer", "dealer-1"), await stage.page("/floor", "floor-1")
        sign = await stage.page("/sign")
        await dealer.click("[data-act=open_round]")
        await dealer.wait_for_selector("[data-act=no_more_bets]")
        stage.house.machines["bet_sensor.2"].inject("place_bet")
        await dealer.wait_for_selector('[data-seat="2"] .lamp.sensed')
        await dealer.click("[data-act=no_more_bets]")
        await stage.answer_until(dealer, lambda: bool(stage.state.money.hits), floor)
        (hit,) = stage.state.money.hits.values()
        await sign.wait_for_selector(f"#won:has-text('Seat 2 wins {dollars(hit.amount)}')")
        shown = dollars(stage.state.money.book.meters.current // 10_000 * 10_000)
        await sign.wait_for_selector(f"#value:has-text('{shown}')")
        await stage.answer_until(dealer, lambda: stage.state.round.state == mc.IDLE, floor)
        assert hit.state == mc.HIT_DOCUMENTED
        assert {"hit_hand", "hit_light", "hit_validate", "hand_pay"} <= set(stage.answered)
        answers = [event for event, _ in stage.house.log if isinstance(event, ev.Answer)]
        validated = [answer.who for answer in answers if answer.choice == "hand_pay"]
        assert validated == [ev.Person("floorperson", "floor-1")]
        await stage.until(lambda: not stage.hands.busy, "rest")


@pytest.mark.proof  # test_killed.py kills the whole box; here only the panel dies, and the table goes on
async def test_a_page_comes_back_by_itself_after_the_panel_died(tmp_path: Path) -> None:
    async with chromium() as browser, served(browser, tmp_path, "saigon_5_card") as stage:
        dealer, sign = await stage.page("/dealer", "dealer-1"), await stage.page("/sign")
        await dealer.click("[data-act=open_round]")
        await dealer.wait_for_selector("[data-act=no_more_bets]")
        stage.panel.cancel()
        await asyncio.wait({stage.panel})
        assert stage.state.round.state == mc.BETTING, "the table goes on"
        await sign.wait_for_selector("#value.stale")
        await _until_lost(dealer)
        await stage.show(stage.port)
        await sign.wait_for_selector("#value:not(.stale)", state="attached")
        await dealer.wait_for_selector("#signon")  # nobody is signed on at a panel that was started anew
        await sign_on(dealer, "dealer-1")
        await dealer.wait_for_selector("[data-phase=betting]")
        await dealer.click("[data-act=no_more_bets]")
        await stage.until(lambda: stage.state.round.state == mc.NO_MORE_BETS, "no more bets")


async def _until_lost(page: Any) -> None:
    await page.wait_for_selector(".lost:not(.hidden)")
