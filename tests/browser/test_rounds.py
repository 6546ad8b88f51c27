"""A whole round of each game through the dealer's page, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import StateChanged
from tests.support.box.browsers import chromium, serve_table

if TYPE_CHECKING:
    from pathlib import Path

# `make test` has a whole round in test_trouble.py, with a jackpot in it; here are all five.
pytestmark = [pytest.mark.realtime, pytest.mark.proof]

# The questions of every round of a game to the dealer, in order; others may come in between.
GAMES: Final = {
    "asia_poker": ["seats", "announce", "stub", "hands_set", "reveal", "settled", "collected"],
    "saigon_5_card": ["seats", "hands_set", "reveal", "settled", "collected"],
    "over_under": ["seats", "dealt", "settled"],
    "dj_wild": ["seats", "decide", "reveal", "settled", "collected"],
    "face_up_pai_gow": ["seats", "chips", "announce", "stub", "hands_set", "reveal", "settled", "collected"],
}


async def play(stage: Any, page: Any) -> None:
    """Play one round with the dealer's page alone, from open to idle."""
    await page.click("[data-act=open_round]")
    await page.wait_for_selector("[data-act=no_more_bets]")
    bets = (1, 2, 4) if stage.house.controller.table.context.has_progressive else ()
    for seat in bets:
        stage.house.machines[f"bet_sensor.{seat}"].inject("place_bet")
    for seat in bets:
        await page.wait_for_selector(f'[data-seat="{seat}"] .lamp.sensed')
    await page.click("[data-act=no_more_bets]")
    await stage.answer_until(page, lambda: _moved(stage)[-1] == mc.IDLE)


def _moved(stage: Any) -> list[str]:
    """Return the states of the round as recorded on disk."""
    return [
        d.state
        for _, reported in stage.house.step_log
        for d in reported
        if isinstance(d, StateChanged) and d.what == "round"
    ]


async def test_a_round_of_each_game(tmp_path: Path) -> None:
    async with chromium() as browser:
        for game, asked in GAMES.items():
            (tmp_path / game).mkdir()
            async with serve_table(browser, tmp_path / game, game) as stage:
                page = await stage.page("/dealer", "dealer-1")
                await play(stage, page)
                assert mc.COMPLETE in _moved(stage)
                assert mc.VOID not in _moved(stage)
                left = iter(stage.answered)
                assert all(kind in left for kind in asked), (game, stage.answered)
                entries = [event.who for event, _ in stage.house.step_log if isinstance(event, ev.Answer)]
                assert entries[-1] == ev.Person("dealer", "dealer-1")
                await stage.until(lambda: not stage.hands.is_busy, "rest")
