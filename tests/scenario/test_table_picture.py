"""The picture of a table, drawn from what the box knows while whole rounds are played."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from simulators.casino.table import CasinoTable
from simulators.casino.table_picture import WIDTH, draw_table
from table_controller.rulebook import GAMES
from table_controller.table import state_machines as mc


def _drawn(house: CasinoTable) -> str:
    console = Console(file=io.StringIO(), width=WIDTH)
    views = {name: slot.view for name, slot in house.slots.items()}
    console.print(draw_table(house.picture(), views, [Text("the last event")], "a table"))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


class Album:
    """Draws the table at every step and keeps the first picture of each phase."""

    def __init__(self, house: CasinoTable) -> None:
        self.of: dict[str, str] = {}
        self.locked: list[str] = []
        self._house = house
        house.controller.followers.append(self._keep_first)

    def _keep_first(self, _: object) -> None:
        text = _drawn(self._house)
        assert {len(line) for line in text.splitlines()} == {WIDTH}
        self.of.setdefault(self._house.controller.table.state.round.state, text)
        if "LOCKED" in text:
            self.locked.append(text)


@pytest.mark.parametrize("game", GAMES)
async def test_every_phase_of_every_game_can_be_drawn(seed: int, game: str) -> None:
    house = CasinoTable(game, seed=seed)
    try:
        await house.open("blue", "red")
        album = Album(house)
        await house.round()
        cards = house.edition.hand.first_deal
        assert "▮" * cards in album.of[mc.PLAYING] + album.of[mc.SETTLING]
        assert album.locked == []
        assert "shuffler.1" in album.of[mc.PLAYING]
        assert "cards      ·" in album.of[mc.BETTING]
    finally:
        await house.close()


async def test_bets_meter_and_starting_position_are_drawn(seed: int) -> None:
    house = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await house.open("blue", "red")
        album = Album(house)
        await house.round((1, 4))
        assert album.of[mc.DEALING].count("● accepted") == 2
        assert album.of[mc.DEALING].count("▶") == 1
        assert "meter $10,000.56" in album.of[mc.DEALING], "two bets of $1 at 28 %"
    finally:
        await house.close()


async def test_a_jam_is_drawn_where_it_is_with_its_clause_and_who_clears_it(seed: int) -> None:
    house = CasinoTable("dj_wild", seed=seed)
    try:
        await house.open("blue")
        album = Album(house)
        house.machines["shuffler.1"].inject("jam:segment=lift,card=27")
        await house.round()
        assert album.locked
        assert "✖lift✖" in album.locked[0]
        assert "LOCKED  shuffler fault shuffler.1 deck blue   687a." in album.locked[0]
        assert "floorperson clears it" in album.locked[0]
        assert "faulted" in album.locked[0]
    finally:
        await house.close()
