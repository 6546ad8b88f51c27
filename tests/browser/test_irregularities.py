"""Irregularities seen and cleared in a real browser: a jam, a jackpot, a panel that dies."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from table_controller.host.certificates import Certificate
from table_controller.journal.records import Note
from table_controller.ledger.money import format_dollars
from table_controller.rulebook.cards import format_cards
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.box.browsers import chromium, serve_table, show_credential, sign_on
from tests.support.box.documents import pdf_pages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(900)]


MACHINE = '[data-machine="shuffler.1"]'


async def _do(bench: Any, fault: str, message: str) -> None:
    """Inject a fault into the shuffler on the bench page."""
    await bench.fill(f"{MACHINE} .benchrow input", fault)
    await bench.click(f"{MACHINE} [data-inject]")
    await bench.wait_for_selector(f"{MACHINE} .message:has-text('{message}')")


async def _order(page: Any, call: str) -> None:
    """Give the machine of the open fault report an order, with a PIN, and wait until it has ended."""
    await page.click(f'#orders [data-call="{call}"]')
    await show_credential(page, "tech-1")
    await page.wait_for_selector(f"#stepmessage:has-text('{call.replace('_', ' ')}: done')")


async def _next(page: Any, step: str) -> None:
    await page.wait_for_selector(f'#steps [data-at="{step}"][data-state="next"]')


async def test_a_jam_from_the_bench_through_floor_and_technician_back_to_service(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "saigon_5_card", decks=()) as stage:
        bench = await stage.page("/bench", "tech-1")
        await bench.click(f'{MACHINE} [data-segment="lift"]')  # a click on the machine aims at its segment
        assert await bench.input_value(f"{MACHINE} .benchrow input") == "jam:segment=lift,card=0"
        await _do(bench, "dust:sensor=lift,percent=70", "lift")
        await _do(bench, "jam:segment=lift,card=9", "a card sticks")
        dealer, floor = await stage.page("/dealer", "dealer-1"), await stage.page("/floor", "floor-1")
        stage.hands.is_ignoring = True  # nobody touches the machine before it was looked at
        stage.house.world.make_deck("tray", "blue")
        await dealer.click("#more")
        await dealer.fill("#newdeck", "blue")
        await dealer.click("#bring")
        await stage.answer_until(dealer, lambda: bool(stage.state.holds), floor)
        await floor.wait_for_selector(".hold:has-text('Shuffler fault')")
        await bench.wait_for_selector(f"{MACHINE} .badge:has-text('Out of service')")
        await bench.wait_for_selector(f"{MACHINE} .path .wrong:has-text('lift')")
        await dealer.wait_for_selector("#lock.bad")
        await dealer.click("#why")
        await dealer.wait_for_selector("dialog :text('Floorperson must sign')")
        await dealer.click("dialog > button")
        await _way_back(stage, bench)
        stage.hands.stop_ignoring()
        await stage.answer_until(
            dealer,
            lambda: not stage.state.holds and stage.state.slots["shuffler.1"].state == "in_service"
            and stage.state.decks["blue"].state == mc.READY,
            floor,
        )  # fmt: skip
        assert "acknowledge" in stage.answered
        await bench.wait_for_selector(f"{MACHINE} .badge:has-text('in service')")
        await bench.click("#past")
        await bench.wait_for_selector("#history[data-ready] figure:has-text('Time to clear')")
        await stage.until(lambda: not stage.hands.is_busy, "rest")


async def _way_back(stage: Any, bench: Any) -> None:
    """Complete the return to service on the page: the technician's steps, then the floorperson's."""
    technician = await stage.page("/technician", "tech-1")
    await technician.click(f"{MACHINE} [data-report]")
    await technician.wait_for_selector("dialog h2:has-text('Shuffler 1: ')")
    await technician.click("[data-step=begin]")
    await _next(technician, "clear")
    await bench.wait_for_selector(f"{MACHINE} .badge:has-text('test mode')")
    await _do(bench, "mend", "")
    await _do(bench, "clear_path", "taken off the path")
    await _do(bench, "take_intake", "out of the intake")
    await _order(technician, "clear_jam")
    await _next(technician, "path_empty")
    await technician.click("[data-step=path_empty]")
    await _next(technician, "sensor_test")
    await _order(technician, "self_test")
    await _next(technician, "motor_jog")
    motors = await technician.eval_on_selector_all("#ask-jog-motor option", "(all) => all.map((one) => one.value)")
    for motor in motors:
        await technician.select_option("#ask-jog-motor", motor)
        await technician.evaluate("() => { document.getElementById('stepmessage').textContent = ''; }")
        await _order(technician, "jog")
    await _next(technician, "one_card")
    for cards in ("1", "0"):
        if stage.house.world.count("shuffler.1/gate"):
            await _order(technician, "eject")
            await _do(bench, "take_deck", "from the gate")
        await _do(bench, f"load:cards={cards}", "put into the intake")
        await _order(technician, "shuffle")
    await _next(technician, "count")
    await technician.fill("#cards", "52")
    await technician.click("[data-step=count]")
    await technician.wait_for_selector("#stepmessage:has-text('53 should be there')")
    await technician.fill("#cards", "53")
    await technician.click("[data-step=count]")
    await _next(technician, "return")
    await technician.click("[data-step=return]")
    await show_credential(technician, "floor-1")
    await technician.wait_for_selector("#stepmessage:has-text('cards are behind its gate')")
    await _order(technician, "eject")
    await _do(bench, "take_deck", "from the gate")
    await technician.click("[data-step=return]")
    await show_credential(technician, "floor-1")
    await technician.wait_for_selector('#steps [data-at="return"][data-state="done"]')
    await bench.wait_for_selector(f"{MACHINE}:not(:has(.badge:has-text('test mode')))")
    notes = [msgspec.json.decode(r.body, type=Note) for r in stage.house.disk.records if r.kind == "note"]
    ordered = [note.who.credential for note in notes if note.kind == "service" and note.who is not None]
    assert set(ordered) == {"tech-1"}, "every order is written down, with who"


async def test_a_press_is_not_lost_when_the_page_changes_under_the_finger(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "face_up_pai_gow") as stage:
        dealer, floor = await stage.page("/dealer", "dealer-1"), await stage.page("/floor", "floor-1")
        await dealer.click("[data-act=open_round]")
        await dealer.hover("[data-act=no_more_bets]")
        await dealer.mouse.down()
        stage.house.machines["bet_sensor.2"].inject("place_bet")
        await stage.until(lambda: stage.state.progressive.seats[2].placed, "the bet")
        seq = stage.house.controller.durable_seq
        await floor.wait_for_selector(f'body[data-seq="{seq}"]')  # by now the dealer's page shows it too
        await dealer.wait_for_function("() => new Promise((done) => setTimeout(() => done(true), 200))")
        await dealer.mouse.up()
        await stage.until(lambda: stage.state.round.state != mc.BETTING, "no more bets")
        await dealer.wait_for_selector('[data-seat="2"] .lamp.sensed')


async def test_a_jackpot_is_validated_by_a_floorperson_and_shown_on_the_sign(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "face_up_pai_gow") as stage:
        meter = stage.house.controller.table.context.meter
        assert meter is not None
        stage.hands.choices["progressive"] = meter.awards[0].hand
        stage.hands.false_numbers["hand_pay"] = 4711
        dealer, floor = await stage.page("/dealer", "dealer-1"), await stage.page("/floor", "floor-1")
        sign = await stage.page("/sign")
        await dealer.click("[data-act=open_round]")
        await dealer.wait_for_selector("[data-act=no_more_bets]")
        stage.house.machines["bet_sensor.2"].inject("place_bet")
        await dealer.wait_for_selector('[data-seat="2"] .lamp.sensed')
        await dealer.click("[data-act=no_more_bets]")
        await stage.answer_until(dealer, lambda: stage.asks("progressive"), floor)
        await dealer.wait_for_selector('[data-kind="progressive"]')
        offered = await dealer.eval_on_selector_all("[data-choice]", "all => all.map((one) => one.dataset.choice)")
        assert offered == ["no_win"], "no single touch claims a jackpot"
        await stage.answer_until(dealer, lambda: stage.asks("hit_validate"), floor)
        (hit,) = stage.state.money.hits.values()
        assert stage.answered.index("cards") < stage.answered.index("progressive")
        cards = format_cards(stage.state.round.hands[2].cards)
        shown = await floor.wait_for_selector("[data-shows]")
        assert await shown.inner_text() == f"{cards}; {meter.awards[0].label}; {format_dollars(hit.amount)}"
        assert not await sign.query_selector("#won .hit"), "nothing is public before it is validated"
        assert not (await sign.inner_text("#pending"))
        await stage.answer_until(dealer, lambda: hit.state == mc.HIT_HAND_PAY, floor)
        await sign.wait_for_selector(f"#won:has-text('Seat 2 wins {format_dollars(hit.amount)}')")
        await sign.wait_for_selector("#pending:has-text('Pending')")
        shown = format_dollars(stage.state.money.book.meters.current // 10_000 * 10_000)
        await sign.wait_for_selector(f"#value:has-text('{shown}')")
        await stage.answer_until(dealer, lambda: stage.state.round.state == mc.IDLE, floor)
        assert hit.state == mc.HIT_DOCUMENTED
        assert {"hit_hand", "hit_light", "hit_validate", "hand_pay"} <= set(stage.answered)
        answers = [event for event, _ in stage.house.step_log if isinstance(event, ev.Answer)]
        validated = [answer.who for answer in answers if answer.choice == "hand_pay"]
        assert validated == [ev.Person("floorperson", "floor-1")]
        await floor.click("#reviewround")  # and the review of the round shows all of it
        await floor.wait_for_selector('#review[data-round="1"]')
        for part in ("Phases", "The deck and its checks", "Starting position", "Entries of the meter"):
            await floor.wait_for_selector(f"#review h3:has-text('{part}')")
        await floor.wait_for_selector("#review li:has-text('seat 2: progressive bet of')")
        await floor.wait_for_selector("#review li:has-text('claimed')")
        await floor.wait_for_selector("#review .badge:has-text('not affected')")
        await stage.until(lambda: not stage.hands.is_busy, "rest")
        await floor.goto(f"http://127.0.0.1:{stage.port}/document/hand-pay?slip=4711")
        await floor.wait_for_selector(f"dd:has-text('{format_dollars(hit.amount)}')")
        assert pdf_pages(await floor.pdf(prefer_css_page_size=True), tmp_path) == 1


@pytest.mark.proof  # test_killed.py kills the whole box; here only the panel dies, and the table goes on
async def test_a_page_reconnects_by_itself_after_the_panel_died(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "saigon_5_card") as stage:
        dealer, sign = await stage.page("/dealer", "dealer-1"), await stage.page("/sign")
        await dealer.click("[data-act=open_round]")
        await dealer.wait_for_selector("[data-act=no_more_bets]")
        stage.panel.cancel()
        await asyncio.wait({stage.panel})
        assert stage.state.round.state == mc.BETTING, "the table goes on"
        await sign.wait_for_selector("#state:has-text('The sign is being checked')")
        await _until_lost(dealer)
        await stage.show(stage.port)
        await sign.wait_for_selector("#state:not(:has-text('being checked'))", state="attached")
        await dealer.wait_for_selector("#signon")  # nobody is signed on at a panel that was started anew
        await sign_on(dealer, "dealer-1")
        await dealer.wait_for_selector("[data-phase=betting]")
        await dealer.click("[data-act=no_more_bets]")
        await stage.until(lambda: stage.state.round.state == mc.NO_MORE_BETS, "no more bets")


async def _until_lost(page: Any) -> None:
    await page.wait_for_selector(".lost:not(.hidden)")


async def test_an_expired_certificate_is_shown_to_floorperson_and_technician_until_it_is_renewed(
    tmp_path: Path,
) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "saigon_5_card", decks=()) as stage:
        floor, technician = await stage.page("/floor", "floor-1"), await stage.page("/technician", "tech-1")
        around = stage.house.box.notice_watch
        around.update_files([Certificate("panel.cert", "panel.pem", 0, 86_400)], [])
        for page in (floor, technician):
            await page.wait_for_selector("#notices:has-text('PB-850 panel.cert: panel.pem expired on 1970-01-02')")
        around.update_files([], [])
        for page in (floor, technician):
            await page.wait_for_selector("#notices", state="detached")
