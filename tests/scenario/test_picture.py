"""Pictures of real tables: they fit the published schema in every phase and fault, and stay as they are."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest
from jsonschema import Draft202012Validator

from simulators.casino.table import CasinoTable
from table_controller.controller.shown_money import shown_money_of
from table_controller.picture.build import picture_of_table
from table_controller.picture.types import PICTURE_VERSION, BoxPicture, picture_in
from table_controller.rulebook import GAMES
from tests.support.core.ideal_table import IdealTable
from tools import ROOT
from tools.docs import picture_schema

if TYPE_CHECKING:
    from table_controller.controller.controller import DurableStep

SCHEMA: Final = ROOT / "docs" / "picture.schema.json"
PHASES: Final = {"idle", "betting", "dealing", "settling"}


@cache
def validator() -> Any:
    return Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))


def misfits(picture: BoxPicture) -> list[str]:
    """Return every point in which a picture, as it is sent, does not fit the schema."""
    plain = msgspec.json.decode(msgspec.json.encode(picture))
    assert picture_in(plain) == picture, "a client reads what the box has sent"
    return [f"{error.json_path}: {error.message}" for error in validator().iter_errors(plain)]


def test_the_schema_is_valid_and_committed() -> None:
    Draft202012Validator.check_schema(json.loads(SCHEMA.read_text("utf-8")))
    assert SCHEMA.read_text("utf-8") == picture_schema.text()


def test_a_wrong_picture_does_not_fit_the_schema() -> None:
    floor = IdealTable("dj_wild")
    right = msgspec.json.decode(msgspec.json.encode(picture_of_table(floor.table, 1, shown_money_of(floor.table))))
    schema = json.loads(SCHEMA.read_text("utf-8"))
    table = Draft202012Validator(schema | {"$ref": "#/$defs/TablePicture"})
    assert table.is_valid(right)
    assert not table.is_valid(right | {"seq": "1"})
    assert not table.is_valid({name: value for name, value in right.items() if name != "permits"})


@pytest.mark.parametrize("game", GAMES)
async def test_pictures_of_every_phase_and_fault_fit_the_schema(seed: int, game: str) -> None:
    house = CasinoTable(game, seed=seed)
    seen: set[Any] = set()
    wrong: list[str] = []

    def follow(_: DurableStep) -> None:
        picture = house.box.pictures.box()
        state = picture.state
        assert state is not None
        moment = (
            state.round.state,
            state.progressive.state,
            *sorted(each.hold.trigger for each in state.holds),
            *sorted(prompt.kind for prompt in state.prompts),
            *(slot.state for slot in state.slots.values()),
        )
        if moment not in seen:
            seen.add(moment)
            wrong.extend(misfits(picture))

    house.controller.followers.append(follow)
    try:
        await house.open("blue", "red")
        await house.round((1, 4) if house.controller.table.context.has_progressive else ())
        for machine in ("shuffler.1", "shoe.1"):
            house.machines[machine].inject("jam")
            await house.round()
        assert not wrong
        assert {moment[0] for moment in seen} >= PHASES
        last = house.box.pictures.box()
        assert last.picture == PICTURE_VERSION
        assert last.state is not None
        assert last.state.on_disk
    finally:
        await house.close()


@pytest.mark.parametrize("game", GAMES)
def test_a_kept_picture_does_not_change_with_later_steps(game: str) -> None:
    floor = IdealTable(game)
    floor.bets = {1, 3}
    kept: list[tuple[Any, bytes]] = []

    def look(_: Any) -> None:
        picture = picture_of_table(floor.table, len(kept), shown_money_of(floor.table))
        kept.append((picture, msgspec.json.encode(picture)))

    floor.override = look
    floor.start("blue", "red")
    floor.round()
    assert len({encoded for _, encoded in kept}) > 30
    assert all(msgspec.json.encode(picture) == encoded for picture, encoded in kept)
