"""The card pad in a real browser: cards, how a player set them, and the proposal that the dealer confirms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from table_controller.rulebook.cards import format_cards
from table_controller.table import state_machines as mc
from table_controller.table.decisions import WagerSettled
from tests.support.box.browsers import chromium, serve_table

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime

DEALERS = "Ks Kh 9d 7c 4s Qd Jc"
PLAYERS = "As Ah 2d 9h 5s 2c 5d"


def _settled(stage: Any) -> list[WagerSettled]:
    return [d for _, decided in stage.house.step_log for d in decided if isinstance(d, WagerSettled)]


async def _touch(page: Any, cards: str) -> None:
    for card in cards.split():
        await page.click(f'#pad [data-card="{card}"]')


async def _enter(page: Any, place: int, cards: str) -> None:
    await page.click(f'#pad [data-place="{place}"]')
    await _touch(page, cards)
    await page.click("#padenter")


async def test_cards_and_the_players_setting_are_touched_and_the_proposal_is_confirmed(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "face_up_pai_gow") as stage:
        page = await stage.page("/dealer", "dealer-1")
        await page.click("[data-act=open_round]")
        await page.wait_for_selector("[data-act=no_more_bets]")
        assert not await page.query_selector("#openpad"), "no card is face up"
        await page.click("[data-act=no_more_bets]")
        await stage.answer_until(page, lambda: stage.state.round.state == mc.SETTLING)
        await page.wait_for_selector('[data-kind="settled"]')
        seat = next(p.seat for p in stage.state.prompts.values() if p.kind == "settled")
        await page.click("#openpad")
        await _enter(page, 0, DEALERS)
        await stage.until(lambda: 0 in stage.state.round.hands, "the dealer's hand")
        await page.click(f'#pad [data-place="{seat}"]')
        await page.wait_for_selector('#pad [data-card="Ks"]:disabled')  # another place has it
        await _touch(page, PLAYERS)
        assert await page.is_enabled("#padenter")
        await page.click("#padenter")
        await page.wait_for_selector("#pad h3:has-text('lower hand')")
        await _touch(page, "5s 5d")  # two touches for the low hand
        await page.click("#padenter")
        await page.wait_for_selector("#padset:has-text('As Ah 2d 9h 2c | 5s 5d')")
        await page.click("dialog > button")
        await page.wait_for_selector("[data-shows]:has-text('Ks Kh 9d 7c 4s | Qd Jc')")  # the house way, and its reason
        await page.click('[data-choice="done"]')
        assert format_cards(stage.state.round.hands[seat].cards) == "As Ah 2d 9h 2c 5s 5d"
        await page.wait_for_selector("[data-proposal]:has-text('wins')")
        await page.click('[data-choice="confirmed"]')
        await stage.until(lambda: bool(_settled(stage)), "the settlement on disk")
        settled = _settled(stage)
        assert [(d.seat, d.result.outcome, d.cards[1]) for d in settled] == [(seat, "wins", DEALERS)]
