"""What views select from one picture: the same moment for all, one build, and nothing that a reader must not see."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from simulators.casino.dealer import DEALER, FLOOR
from simulators.casino.table import CasinoTable
from table_controller.panel.live import SIGN, LivePages
from table_controller.picture import pictures
from table_controller.picture.build import picture_of_table
from table_controller.rulebook import GAMES
from table_controller.uplink.service import source_of
from table_controller.uplink.state_messages import describe_meters, describe_state
from tests.support.box.pictures import picture_of

if TYPE_CHECKING:
    from table_controller.controller.controller import DurableStep

ROLES: Final = ("dealer", "floorperson", "technician", SIGN)


async def test_ten_pages_and_the_uplink_cost_one_picture_per_step(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    house = CasinoTable("face_up_pai_gow", seed=seed)
    built: Counter[int] = Counter()

    def count(table: Any, seq: int, *others: Any, **more: Any) -> Any:
        built[seq] += 1
        return picture_of_table(table, seq, *others, **more)

    monkeypatch.setattr(pictures, "picture_of_table", count)
    live = LivePages(house.box, "T1")

    def follow(_: DurableStep) -> None:
        if not house.controller.is_on_disk:
            return
        for role in (*ROLES, *ROLES, *ROLES):
            live.view(role)
        table = picture_of(house.box)
        assert table.on_disk
        describe_state(table, None, "now")
        describe_meters(table, "now")
        house.box.pictures.box()

    house.controller.followers.append(follow)
    try:
        await house.open("blue")
        await house.round((1, 4))
        assert len(built) > 50
        assert set(built.values()) == {1}
    finally:
        live.close()
        await house.close()


async def test_no_picture_is_built_for_pages_and_uplink_while_bet_sensors_lock(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = CasinoTable("face_up_pai_gow", seed=seed)
    box = house.box
    built: Counter[bool] = Counter()
    locking: list[bool] = []

    def count(*table: Any, **more: Any) -> Any:
        built[box.pictures.is_locking()] += 1
        return picture_of_table(*table, **more)

    monkeypatch.setattr(pictures, "picture_of_table", count)
    live, source = LivePages(box, "T1"), source_of(box)
    for role in ROLES:
        live.open_stream(role, machines=role == "technician", alive=lambda: True)

    def follow(_: DurableStep) -> None:
        if box.pictures.is_locking():
            locking.append(source.is_ready())

    house.controller.followers.append(follow)
    try:
        await house.open("blue")
        house.machines["bet_sensor.3"].inject("withhold:message=Lock")  # the other five are locked without it
        await house.round((1, 2, 3, 4, 5, 6))
        assert locking
        assert not any(locking)
        assert built[False] > 10
        assert not built[True]
    finally:
        live.close()
        await house.close()


async def test_views_of_one_moment_agree(seed: int) -> None:
    house = CasinoTable("dj_wild", seed=seed)
    live = LivePages(house.box, "T1")
    holds: set[int] = set()

    def follow(_: DurableStep) -> None:
        if not house.controller.is_on_disk:
            return
        status = house.box.pictures.box()
        assert status.state is not None
        sent = describe_state(status.state, None, "now")
        page = live.view("floorperson")
        assert [each.hold.id for each in status.state.holds] == [each.hold for each in sent.holds]
        assert [each.hold.id for each in status.state.holds] == [each["id"] for each in page["holds"]]
        assert {slot.name: slot.state for slot in status.slots} == {name: one.state for name, one in sent.slots.items()}
        assert {slot.name: slot.state for slot in status.slots} == {one["name"]: one["state"] for one in page["slots"]}
        assert {prompt.id for prompt in status.state.prompts} == {prompt["id"] for prompt in page["prompts"]}
        if page["round"]["state"] == "idle":
            keys = [reason.key for reason in status.state.next_round]
            assert (
                [reason.key for reason in sent.blocked_by] == [reason["key"] for reason in page["blocked_by"]] == keys
            )
        assert page["dealer"] == status.dealer
        holds.update(each.hold.id for each in status.state.holds)

    house.controller.followers.append(follow)
    try:
        await house.open("blue", "red")
        await house.round()
        house.machines["shuffler.1"].inject("jam")
        await house.round()
        assert holds, "an irregularity was among them"
    finally:
        live.close()
        await house.close()


@pytest.mark.parametrize("game", GAMES)
async def test_no_sign_and_no_message_names_a_person_or_has_more_than_its_part(seed: int, game: str) -> None:
    house = CasinoTable(game, seed=seed)
    live = LivePages(house.box, "T1")
    sent: list[bytes] = []

    def follow(_: DurableStep) -> None:
        table = picture_of(house.box)
        sent.append(msgspec.json.encode((describe_state(table, None, "now"), live.view(SIGN))))

    house.controller.followers.append(follow)
    try:
        await house.open("blue", "red")
        await house.round()
        text = b"".join(sent).decode()
        assert not [each.credential for each in (DEALER, FLOOR) if f'"{each.credential}"' in text]
        for state, sign in map(msgspec.json.decode, sent):
            assert set(sign) == {"seq", "table", "halted", "testing", "meter", "game"}
            assert not [prompt for prompt in state["prompts"] if "choices" in prompt]
            assert not [finding for finding in state["findings"] if "text" in finding]
    finally:
        live.close()
        await house.close()
