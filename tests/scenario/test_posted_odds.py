"""The posting at a table of the casino: the panel's page to print."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from simulators.casino.table import CasinoTable
from table_controller.panel.app import HEADERS, app_of
from table_controller.panel.panel import Panel
from table_controller.rulebook.posting.build import build_posting
from table_controller.rulebook.settlement.terms import SettlementTerms
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
        assert posting == panel.posting
        for wager in posting.wagers:
            assert wager.title in text
        assert posting.number in text
        style = await browser.get("/static/posting.css")
        assert (style.status, style.headers["content-type"].split(";")[0]) == (200, "text/css")
