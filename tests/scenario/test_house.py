"""Whole tables through simulators, wire, drivers, controller and core: rounds, and what really went wrong at tables."""

from __future__ import annotations

import pytest

from simulators.house.incidents import INCIDENTS, Incident, replay
from simulators.house.table import CHOICES, House
from table_controller.table import machines as mc
from table_controller.table.decisions import Found


@pytest.mark.parametrize("game", list(CHOICES))
async def test_rounds_of_every_game_go_through_the_whole_stack(seed: int, game: str) -> None:
    house = House(game, seed=seed)
    try:
        await house.open("blue", "red")
        bets = (1, 4) if house.controller.table.context.progressive else ()
        for number in (1, 2, 3):
            await house.round(bets)
            assert house.controller.table.state.round.number == number
            assert house.controller.table.state.round.state == mc.IDLE
        assert [whole for _, _, whole in house.dealt_rounds] == [True, True, True]
        found = [d for _, decisions in house.log for d in decisions if isinstance(d, Found)]
        assert found == []
        assert house.notes == []
    finally:
        await house.close()


@pytest.mark.parametrize("incident", INCIDENTS, ids=[incident.id for incident in INCIDENTS])
async def test_no_hand_is_dealt_from_bad_cards_after_the_first_check_that_can_see_it(
    seed: int, incident: Incident
) -> None:
    found = await replay(incident, seed)
    assert found.noticed
    assert found.after == ()
    assert set(found.before) <= set(found.listed), "a round dealt from bad cards is not listed"
