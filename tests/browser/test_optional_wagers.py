"""The seats of optional wagers are touched on the dealer's page, and the wagers are settled by cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.table import state_machines as mc
from table_controller.table.decisions import WagerSettled
from tests.support.box.browsers import FITS, chromium, serve_table
from tests.support.core.ideal_table import WILD_PROGRESSIVE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime

# Two optional wagers to touch, and a progressive, whose collected chips are counted before the lock.
CHOICES: Final[dict[str, Any]] = WILD_PROGRESSIVE | {
    "wagers": ["progressive", "trips", "bad_beat"],
    "paytables": {"progressive": "687a-progressive-1", "trips": "687a-trips-DJWT-04",
                  "bad_beat": "687a-badbeat-DJWBB-01"},
}  # fmt: skip
HANDS: Final = {0: "Ks Qh 8d 6c 3h", 1: "9s 9h 9d 7s 4s"}


async def _pressed(page: Any, wager: str, seat: int, *, by: str = "#next") -> None:
    """Wait until the button of a seat shows, by its text and its state, that the seat has the wager."""
    await page.wait_for_selector(f"{by} [data-spot='{wager}-{seat}'][aria-pressed='true']:has-text('{seat} \u2713')")


async def _enter(page: Any, place: int, cards: str) -> None:
    await page.click(f'#pad [data-place="{place}"]')
    for card in cards.split():
        await page.click(f'#pad [data-card="{card}"]')
    await page.click("#padenter")


async def test_touched_seats_have_the_wager_in_what_the_page_proposes(tmp_path: Path) -> None:
    async with chromium() as browser, serve_table(browser, tmp_path, "dj_wild", choices=CHOICES) as stage:
        stage.hands.choices["decide"] = "raise"
        first, last = min(stage.house.seats), max(stage.house.seats)
        page = await stage.page("/dealer", "dealer-1")
        await page.click("[data-act=open_round]")
        for seat in (first, last):
            await page.click(f'#next [data-spot="trips-{seat}"]')
            await _pressed(page, "trips", seat)
        entered = stage.state.round
        await stage.until(lambda: entered.optional_wagers == {"trips": [first, last]}, "both seats")
        assert not await page.evaluate(FITS)
        await page.click(f'#next [data-spot="bad_beat-{last}"]')
        await page.click(f'#next [data-spot="bad_beat-{last}"]')
        await stage.until(lambda: entered.optional_wagers.get("bad_beat") == [], "nobody")
        stage.house.machines[f"bet_sensor.{first}"].inject("place_bet")
        await page.wait_for_selector(f'[data-seat="{first}"] .lamp.sensed')
        await page.click("[data-act=no_more_bets]")
        await page.click("#openwagers")
        await _pressed(page, "trips", last, by="#wagers")
        await page.click(f'#wagers [data-spot="bad_beat-{first}"]')
        await stage.until(lambda: entered.optional_wagers.get("bad_beat") == [first], "a seat before the lock")
        await page.click("dialog > button")
        await stage.answer_until(page, lambda: stage.state.round.state == mc.SETTLING)
        assert "chips" in stage.answered
        await page.wait_for_selector('[data-kind="settled"]')
        assert not await page.query_selector("#openwagers"), "the wagers are locked"
        seat = next(p.seat for p in stage.state.prompts.values() if p.kind == "settled")
        assert seat in (first, last)
        await page.click("#openpad")
        await _enter(page, 0, HANDS[0])
        await stage.until(lambda: 0 in stage.state.round.hands, "the dealer's hand")
        await _enter(page, seat, HANDS[1])
        await stage.until(lambda: seat in stage.state.round.hands, "the player's hand")
        await page.click("dialog > button")
        await page.wait_for_selector("[data-proposal]:has-text('raise')")  # the main wagers first: three lines fit
        assert not await page.evaluate(FITS)
        await page.click('[data-choice="confirmed"]')
        await page.wait_for_selector("[data-kind='side_settled'] ~ [data-proposal]:has-text('trips')")
        assert not await page.evaluate(FITS)
        await page.click('[data-choice="confirmed"]')

        def settled() -> list[WagerSettled]:
            decided = [each for _, step in stage.house.step_log for each in step]
            return [each for each in decided if isinstance(each, WagerSettled) and each.result.wager == "trips"]

        await stage.until(lambda: bool(settled()), "the settlement on disk")
        (trips,) = settled()
        assert (trips.seat, trips.result.outcome, trips.result.paid_cents) == (seat, "wins", None)
        assert stage.errors == []
