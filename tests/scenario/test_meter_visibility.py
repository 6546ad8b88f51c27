"""The meter is visible or no round opens: a live table with real frames to a simulated sign and a real page."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from devices.service import SIGNED
from simulators.casino.dealer import DEALER, FLOOR
from simulators.casino.table import CasinoTable
from table_controller.ledger.money import format_dollars
from table_controller.panel.app import app_of
from table_controller.panel.panel import Panel
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import RequestRefused
from table_controller.table.meter_visibility import PAGE
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.panel_threads import run_inline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TECH = ev.Person("technician", "T1")
SIGN = "meter_sign.1"
GAME = "face_up_pai_gow"


@asynccontextmanager
async def opened(seed: int, **options: Any) -> AsyncIterator[CasinoTable]:
    house = CasinoTable(GAME, seed=seed, **options)
    try:
        await house.open("blue", "red")
        yield house
    finally:
        await house.close()


async def try_to_open(house: CasinoTable) -> set[str]:
    """Try to open a round as dealer; return the reasons against it."""
    before = len(house.step_log)
    house.controller.submit(ev.OpenRound(DEALER))
    await asyncio.sleep(0.5)
    refused = [d for _, decisions in house.step_log[before:] for d in decisions if isinstance(d, RequestRefused)]
    return {reason.key for one in refused for reason in one.reasons}


def phase(house: CasinoTable) -> str:
    return house.controller.table.state.round.state


@pytest.mark.clauses("688a.2(d)")
async def test_a_pulled_sign_bars_the_next_round_until_it_shows_the_meter_again(seed: int) -> None:
    async with opened(seed) as house:
        await house.round((1, 4))
        house.machines[SIGN].inject("unplug:seconds=60")
        await asyncio.sleep(2.0)
        assert await try_to_open(house) == {"meter_not_seen"}
        assert phase(house) == mc.IDLE
        await asyncio.sleep(120.0)
        assert await try_to_open(house) == set()
        assert phase(house) == mc.BETTING


async def test_a_round_that_is_open_goes_on_without_its_sign(seed: int) -> None:
    async with opened(seed) as house:
        house.controller.submit(ev.OpenRound(DEALER))
        await asyncio.sleep(1.0)
        house.machines[SIGN].inject("unplug:seconds=100000")
        await asyncio.sleep(10.0)
        assert phase(house) == mc.BETTING
        house.controller.submit(ev.NoMoreBets(DEALER))
        await house.until_quiescent()
        assert phase(house) == mc.IDLE
        assert "meter_not_seen" in await try_to_open(house)


async def test_a_sign_shows_the_meter_after_a_restart_with_open_bets_although_a_sensor_is_awaited(seed: int) -> None:
    async with opened(seed) as house:
        await house.round((1, 4))
        house.controller.submit(ev.OpenRound(DEALER))
        await asyncio.sleep(1.0)
        house.machines["bet_sensor.2"].inject("unplug:seconds=600")
        house.machines["bet_sensor.1"].inject("place_bet")
        await asyncio.sleep(1.0)
        house.disk.cut()
        await house.power_up()
        await asyncio.sleep(5.0)
        state = house.controller.table.state
        assert (state.progressive.state, state.progressive.overdue) == (mc.LOCKING, False)
        assert state.signs.get(SIGN) == "", state.signs


async def test_a_glass_that_shows_a_wrong_amount_is_cleared_by_technician_and_floorperson(seed: int) -> None:
    async with opened(seed) as house:
        house.machines[SIGN].inject("dead_digit:row=value,digit=4")
        await asyncio.sleep(5.0)
        assert await try_to_open(house) == {"meter_not_seen"}
        house.machines[SIGN].inject("mend")
        await asyncio.sleep(10.0)
        assert await try_to_open(house) == {"meter_not_seen"}, "nobody has cleared the fault"
        await house.slots[SIGN].driver.self_test(77)
        house.controller.submit(ev.SlotOrdered(SIGN, "clear", TECH))
        house.controller.submit(ev.SlotOrdered(SIGN, "acknowledge", FLOOR))
        await asyncio.sleep(10.0)
        assert await try_to_open(house) == set()


async def test_a_sign_that_confirms_nothing_is_stale_after_five_seconds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(seed) as house:
        state = house.controller.table.state
        assert state.signs[SIGN] == ""
        monkeypatch.setattr(house.slots[SIGN].driver, "show", lambda *_: asyncio.sleep(1e6))  # it never confirms
        await asyncio.sleep(2.5)
        assert state.signs[SIGN] == ""
        await asyncio.sleep(4.0)
        assert state.signs[SIGN] == "stale"
        assert "meter_not_seen" in await try_to_open(house)


# --- the panel's page -------------------------------------------------------------------------------------------------


@asynccontextmanager
async def with_page(seed: int, *, covered: bool = True) -> AsyncIterator[tuple[CasinoTable, Panel, AsgiBrowser]]:
    """A table whose own sign is dark, out of order and covered, and its panel."""
    async with opened(seed) as house:
        house.machines[SIGN].inject("unplug:seconds=1000000")
        await asyncio.sleep(2.0)
        if covered:
            house.controller.submit(ev.SlotOrdered(SIGN, "give_up", FLOOR))
            house.controller.submit(ev.SlotOrdered(SIGN, "sign", FLOOR))
            await house.until(lambda: house.controller.table.state.slots[SIGN].state == SIGNED)

        async def nobody(_id: str, _pin: str, _place: object) -> Any:
            raise AssertionError("nobody signs on here")

        panel = Panel(house.box, nobody, name="table 7", in_thread=run_inline)
        try:
            yield house, panel, AsgiBrowser(app_of(panel))
        finally:
            panel.close()
            await asyncio.sleep(1.0)


def amount(house: CasinoTable) -> str:
    return format_dollars(house.controller.table.state.money.book.meters.current // 10_000 * 10_000)


async def test_a_sign_page_counts_while_it_reports_the_amount_that_it_shows(seed: int) -> None:
    async with with_page(seed) as (house, panel, browser):
        assert "meter_not_seen" in await try_to_open(house)
        stream = panel.live.open_stream("sign", machines=False, alive=lambda: True)
        assert stream is not None
        chunks = stream.chunks()
        first = b"".join([await anext(chunks), await anext(chunks)])
        assert stream.page.encode() in first
        assert "meter_not_seen" in await try_to_open(house), "a stream alone proves nothing"
        for page, text, status in (
            ("nobody", amount(house), 409), (stream.page, "$1.00", 409), (stream.page, amount(house), 200),
        ):  # fmt: skip
            await asyncio.sleep(1.0)
            answer = await browser.post("/api/sign_shown", {"page": page, "text": text})
            assert answer.status == status, answer.json
            assert ("meter_not_seen" in await try_to_open(house)) is (status != 200)
        assert house.controller.table.state.signs[PAGE] == ""
        assert phase(house) == mc.BETTING
        await asyncio.sleep(7.0)
        assert house.controller.table.state.signs[PAGE] == "stale"
        assert phase(house) == mc.BETTING, "what is open stays open"


async def test_a_page_in_the_office_does_not_stand_for_a_sign_that_was_pulled(seed: int) -> None:
    async with with_page(seed, covered=False) as (house, panel, browser):
        stream = panel.live.open_stream("sign", machines=False, alive=lambda: True)
        assert stream is not None
        answer = await browser.post("/api/sign_shown", {"page": stream.page, "text": amount(house)})
        assert answer.status == 200
        await asyncio.sleep(1.0)
        assert house.controller.table.state.signs[PAGE] == ""
        assert "meter_not_seen" in await try_to_open(house)


async def test_a_sign_page_that_reports_too_often_is_ignored(seed: int) -> None:
    async with with_page(seed) as (house, panel, browser):
        stream = panel.live.open_stream("sign", machines=False, alive=lambda: True)
        assert stream is not None
        answers = [await browser.post("/api/sign_shown", {"page": stream.page, "text": amount(house)}) for _ in "ab"]
        assert [answer.status for answer in answers] == [200, 409]


async def test_what_is_no_report_is_refused(seed: int) -> None:
    async with with_page(seed) as (_house, _panel, browser):
        assert (await browser.post("/api/sign_shown", {"page": "x"})).status == 400
        assert (await browser.post("/api/sign_shown", {"page": "x" * 5000, "text": ""})).status == 413


# --- a sensor that chatters -------------------------------------------------------------------------------------------


async def test_a_sensor_that_chatters_adds_nothing_to_the_meter_and_closes_it(seed: int) -> None:
    async with opened(seed) as house:
        table = house.controller.table
        house.controller.submit(ev.OpenRound(DEALER))
        await asyncio.sleep(2.0)
        before = table.state.money.book.meters
        for _ in range(51):
            house.machines["bet_sensor.4"].inject("place_bet")
            await asyncio.sleep(0.3)
            house.machines["bet_sensor.4"].inject("take_bet")
            await asyncio.sleep(0.3)
        house.machines["bet_sensor.4"].inject("place_bet")
        await asyncio.sleep(1.0)
        house.controller.submit(ev.NoMoreBets(DEALER))
        await house.until_quiescent()
        assert table.state.money.closed == mc.UNREASONABLE
        assert table.state.money.book.meters == before
        assert "meter_closed" in await try_to_open(house)
        house.controller.submit(ev.MeterOpened("MO-1", FLOOR, ev.Person("auditor", "A1")))
        await asyncio.sleep(1.0)
        assert "meter_closed" in await try_to_open(house)
        house.controller.submit(ev.MeterOpened("MO-1", FLOOR, TECH))
        await asyncio.sleep(1.0)
        assert await try_to_open(house) == set()
