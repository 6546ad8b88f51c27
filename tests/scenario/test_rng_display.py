"""A table whose starting position is drawn: the last number is cleared from the display before the next draw."""

from __future__ import annotations

import pytest

from simulators.casino.table import CasinoTable
from table_controller.table import events as ev
from table_controller.table.decisions import Command


@pytest.mark.parametrize("game", ["asia_poker", "face_up_pai_gow"])
async def test_every_round_draws_its_own_number(seed: int, game: str) -> None:
    house = CasinoTable(game, seed=seed, models={"rng.1": "rng"}, choices={"start": "rng"})
    try:
        await house.open("blue", "red")
        for _ in range(3):
            await house.round()
        drawn = [event for event, _ in house.step_log if isinstance(event, ev.NumberDrawn)]
        ordered = [d for _, decided in house.step_log for d in decided if isinstance(d, Command) and d.act == "draw"]
        assert len(house.dealt_rounds) == 3
        assert len(drawn) == len(ordered) == 3
        assert not house.controller.table.state.holds
    finally:
        await house.close()


@pytest.mark.parametrize("fault", ["withhold:message=Clear", "withhold:message=Draw", "unplug:seconds=2", "reboot"])
async def test_a_draw_that_is_cut_off_between_clear_and_number_is_found_and_the_table_goes_on(
    seed: int, fault: str
) -> None:
    house = CasinoTable("asia_poker", seed=seed, models={"rng.1": "rng"}, choices={"start": "rng"})
    try:
        await house.open("blue", "red")
        await house.round()
        house.machines["rng.1"].inject(fault)
        await house.round()
        house.machines["rng.1"].inject("calm")
        await house.until_quiescent()
        for _ in range(2):
            await house.round()
        numbers = [number for number, _, _ in house.dealt_rounds]
        assert numbers[-1] > 2, "no round is dealt after the fault"
        assert len(numbers) == len(set(numbers))
        assert not house.controller.table.state.holds
    finally:
        await house.close()
