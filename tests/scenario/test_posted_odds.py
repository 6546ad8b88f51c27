"""The posting at a table of the casino: the page to print, and the sign page without which no round opens."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from simulators.casino.dealer import DEALER
from simulators.casino.table import CasinoTable
from table_controller.panel.app import HEADERS, app_of
from table_controller.panel.panel import Panel
from table_controller.rulebook.posting.build import build_posting
from table_controller.rulebook.settlement.terms import SettlementTerms
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import RequestRefused
from table_controller.table.view import ODDS
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.panel_threads import run_inline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def with_panel(game: str, seed: int, **options: Any) -> AsyncIterator[tuple[CasinoTable, Panel, AsgiBrowser]]:
    """A table that is open for play, and its panel."""
    house = CasinoTable(game, seed=seed, **options)

    async def nobody(_id: str, _pin: str, _place: object) -> Any:
        raise AssertionError("nobody signs on here")

    try:
        await house.open("blue", "red")
        panel = Panel(house.box, nobody, name="table 7", in_thread=run_inline)
        try:
            yield house, panel, AsgiBrowser(app_of(panel))
        finally:
            panel.close()
            await asyncio.sleep(1.0)
    finally:
        await house.close()


async def test_everybody_can_print_the_posting_from_the_panel(seed: int) -> None:
    async with with_panel("dj_wild", seed) as (house, panel, browser):
        page = await browser.get("/posting")
        assert page.status == 200
        assert page.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
        text = page.body.decode()
        assert "<style" not in text, "no inline style"
        plan = house.box.plan
        posting = build_posting(SettlementTerms(plan.edition, plan.submission))
        assert posting == panel.live.posting
        for wager in posting.wagers:
            assert wager.title in text
        assert posting.number in text
        style = await browser.get("/static/posting.css")
        assert (style.status, style.headers["content-type"].split(";")[0]) == (200, "text/css")


async def try_to_open(house: CasinoTable) -> set[str]:
    """Try to open a round as dealer; return the reasons against it."""
    before = len(house.step_log)
    house.controller.submit(ev.OpenRound(DEALER))
    await asyncio.sleep(0.5)
    refused = [d for _, decisions in house.step_log[before:] for d in decisions if isinstance(d, RequestRefused)]
    return {reason.key for one in refused for reason in one.reasons}


async def test_a_table_whose_odds_are_posted_opens_only_while_the_sign_page_shows_its_own_posting(seed: int) -> None:
    async with with_panel("over_under", seed, choices={"posted_on_sign": ["odds"]}) as (house, panel, browser):
        assert await try_to_open(house) == {"odds_not_posted"}
        stream = panel.live.open_stream("sign", machines=False, alive=lambda: True)
        assert stream is not None
        number = panel.live.posting.number
        for posting, status in (("", 409), ("00000000", 409), (number.lower(), 409), (number, 200)):
            await asyncio.sleep(1.0)
            answer = await browser.post("/api/sign_shown", {"page": stream.page, "text": "", "posting": posting})
            assert answer.status == status, answer.json
            assert ("odds_not_posted" in await try_to_open(house)) is (status != 200)
        assert house.controller.table.state.round.state == mc.BETTING
        await asyncio.sleep(7.0)
        assert house.controller.table.state.signs[ODDS] == "stale", "the page reports no more"
        assert house.controller.table.state.round.state == mc.BETTING, "what is open stays open"


async def test_the_posting_is_sent_to_the_sign_page_once_with_its_texts(seed: int) -> None:
    async with with_panel("face_up_pai_gow", seed) as (_house, panel, _browser):
        stream = panel.live.open_stream("sign", machines=False, alive=lambda: True)
        assert stream is not None
        chunks = stream.chunks()
        sent = b"".join([await anext(chunks) for _ in range(3)])
        assert b"event: posting" in sent
        assert panel.live.posting.wagers[0].title.encode() in sent
        signed_on = panel.live.open_stream("dealer", machines=False, alive=lambda: True)
        assert signed_on is not None
        chunks = signed_on.chunks()
        assert b"event: posting" not in b"".join([await anext(chunks) for _ in range(2)])


async def test_a_report_that_is_too_long_is_no_report(seed: int) -> None:
    async with with_panel("over_under", seed) as (_house, _panel, browser):
        report = {"page": "x", "text": "", "posting": "123456789"}
        assert (await browser.post("/api/sign_shown", report)).status == 400
