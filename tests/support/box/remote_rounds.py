"""Rounds at a table whose box is another process: people resume play after any state that a killed box left."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.service import IN_SERVICE
from simulators.casino.dealer import DEALER
from table_controller.table import events as ev
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from simulators.casino.remote_table import RemoteTable

# Time limit of a round with everything that must be cleared before it, on a busy computer (s).
LIMIT: Final = 240.0


async def until_round_played(table: RemoteTable, bets: tuple[int, ...]) -> None:
    """Resume play until one more round was played from open to idle; if none is, report what the table waits for."""
    try:
        await _play_on(table, bets)
    except TimeoutError as late:
        state = table.controller.table.state
        slots = {name: slot.state for name, slot in state.slots.items() if slot.state != IN_SERVICE}
        decks = {deck.name: (deck.state, deck.place) for deck in state.decks.values()}
        raise AssertionError(
            f"no round in {LIMIT:g} s: round {state.round.state}, prompts {[p.kind for p in state.prompts.values()]}, "
            f"holds {[h.trigger for h in state.holds.values()]}, slots {slots}, decks {decks}, "
            f"commands {state.commands}, box down: {table.is_box_down}, answer pending: {table.is_answer_pending()}"
        ) from late


async def _play_on(table: RemoteTable, bets: tuple[int, ...]) -> None:
    async with asyncio.timeout(LIMIT):
        while True:
            await table.until_quiescent()
            state = table.controller.table.state
            if state.round.state == mc.BETTING:
                table.controller.submit(ev.NoMoreBets(DEALER))
            elif state.round.state == mc.IDLE and not state.holds and not state.prompts:
                before = state.round.number
                await bring_missing_deck(table)
                await table.round(bets)
                await table.until_quiescent()
                state = table.controller.table.state
                if state.round.number > before and state.round.state == mc.IDLE:
                    return
            await asyncio.sleep(0.05)


async def bring_missing_deck(table: RemoteTable) -> bool:
    """Bring a deck if all were removed; return whether they were."""
    decks = table.controller.table.state.decks
    if any(deck.state != mc.REMOVED for deck in decks.values()):
        return False
    await table.bring_deck(f"deck {len(decks)}")
    return True
