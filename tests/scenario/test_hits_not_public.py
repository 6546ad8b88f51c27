"""Nothing of a hit is public before a floorperson has validated it: sign, /sign page, meters of the uplink, pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from simulators.casino.dealer import SimulatedPeople
from simulators.casino.panel import people_file
from simulators.casino.table import CasinoTable
from table_controller.access.pin_check import PinChecker
from table_controller.ledger.money import format_dollars
from table_controller.panel.app import app_of
from table_controller.panel.live import SIGN, LivePages
from table_controller.panel.panel import Panel
from table_controller.table import state_machines as mc
from table_controller.uplink.state_messages import describe_meters
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.panel_threads import check_inline, run_inline

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.table.decisions import Prompt

GLASS = "meter_sign.1"
# A line that wins the whole meter, a share of it, and a fixed amount.
LINES = ("seven_card_straight_flush_any", "five_aces", "four_of_a_kind")


class Patient(SimulatedPeople):
    """People who claim a hand; the floorperson validates once `validates` is set."""

    validates = False

    async def _obey(self, prompt: Prompt) -> None:
        if prompt.kind == "hit_validate":
            await self.casino.until(lambda: self.validates, 600.0)
        await super()._obey(prompt)


class Public:
    """What everybody can see of a table."""

    def __init__(self, house: CasinoTable, panel: Panel) -> None:
        self.house, self.panel = house, panel
        self.live = LivePages(house.box, "table 7")

    async def everything(self) -> dict[str, Any]:
        """Return what the sign, the sign page, the meters on MQTT and pages without a person show now."""
        table = self.house.box.pictures.table()
        assert table is not None
        glass: Any = self.house.slots[GLASS].view
        page = {key: value for key, value in self.live.view(SIGN).items() if key != "seq"}
        meters = msgspec.to_builtins(describe_meters(table, "now"))
        browser = AsgiBrowser(app_of(self.panel), place="10.0.0.9")
        stream = await browser.stream("/api/sign", lambda events: any(e.get("event") == "state" for e in events))
        streamed = {key: value for key, value in stream[-1]["data"].items() if key != "seq"}
        stranger = {}
        for path in ("/api/hits", "/api/stream", "/hits"):
            answer = await browser.get(path)
            stranger[path] = (answer.status, answer.status == 200 and "four" in str(answer))
        return {
            "glass": (glass.requested.value, glass.requested.pending, glass.requested.won), "page": page,
            "uplink": {key: value for key, value in meters.items() if key not in ("seq", "entry")},
            "stream": streamed, "stranger": stranger,
        }  # fmt: skip

    def close(self) -> None:
        self.live.close()
        self.panel.close()


@pytest.mark.parametrize("line", LINES)
async def test_nothing_of_a_hit_is_public_before_it_is_validated(line: str, tmp_path: Path) -> None:
    house = CasinoTable("face_up_pai_gow", seed=5, people=Patient, models={GLASS: "meter-sign"})
    people: Any = house.people
    people.choices["progressive"] = line
    people.false_numbers["hand_pay"] = 77
    check = check_inline(PinChecker(people_file(tmp_path), clock=asyncio.get_running_loop().time))
    public = Public(house, Panel(house.box, check, name="table 7", in_thread=run_inline))
    state = house.controller.table.state
    try:
        await house.open("blue", "red")
        before: dict[str, Any] = {}

        def look(_event: Any, _decisions: Any) -> None:
            if state.round.state == mc.SETTLING and not before:
                before["meter"] = state.money.book.meters

        house.watchers.append(look)
        playing = asyncio.create_task(house.round((4,)))
        await house.until(lambda: any(hit.state == mc.HIT_LIGHT_SEEN for hit in state.money.hits.values()), 600.0)
        await house.wait(3.0)
        (hit,) = state.money.hits.values()
        rules = house.controller.table.context.meter
        assert rules is not None
        label = next(award.label for award in rules.awards if award.hand == line)
        seen = await public.everything()
        was = before["meter"]
        assert seen["glass"] == (was.current // 10_000, 0, 0), "the glass shows the meter as if nothing was claimed"
        assert seen["uplink"]["current"] == was.current
        assert (seen["uplink"]["pending"], seen["uplink"]["reserve"]) == (0, was.reserve)
        for page in (seen["page"], seen["stream"]):
            assert page["meter"]["current"] == was.current
            assert (page["meter"]["hits"], page["meter"]["pending"]) == ([], "")
        words = [label, line, f"'pending': {hit.amount}", "prompt", "seat"]
        words += [format_dollars(hit.amount)] if hit.percent < 100 else []  # else it is the meter's own amount
        for shown in (str(seen), str(msgspec.json.encode(seen))):
            assert [word for word in words if word in shown] == []
        assert all(status in (401, 403) or not shows for status, shows in seen["stranger"].values()), seen["stranger"]
        table = house.box.pictures.table()
        assert table is not None
        assert table.meters is not None
        assert [each.hand for each in table.meters.hits] == [line], "people who work with it see it"
        people.validates = True
        await house.until(lambda: any(hit.state in mc.HIT_OPEN[3:] for hit in state.money.hits.values()), 60.0)
        await house.wait(0.2)
        now = public.live.view(SIGN)["meter"]
        assert [each["amount"] for each in now["hits"]] == [format_dollars(hit.amount)]
        assert now["current"] == state.money.book.meters.current
        await playing
    finally:
        public.close()
        await asyncio.sleep(1.0)
        await house.close()
