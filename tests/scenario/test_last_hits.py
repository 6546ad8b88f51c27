"""The last hits of each level on a live table: over a power cut, for the panel, and from the journal alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from simulators.casino.panel import PINS, people_file
from simulators.casino.table import CasinoTable
from simulators.casino.winning_players import WinningPlayers
from table_controller.access.pin_check import PinChecker
from table_controller.journal import records as rec
from table_controller.journal.hit_log import HitLog
from table_controller.panel.app import app_of
from table_controller.panel.panel import Panel
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.panel_threads import check_inline, run_inline

if TYPE_CHECKING:
    from pathlib import Path

GAME = "face_up_pai_gow"


async def played(seed: int, rounds: int = 2, **options: Any) -> CasinoTable:
    """A table where every bettor's hand wins."""
    house = CasinoTable(GAME, seed=seed, people=lambda house: WinningPlayers(house, seed, wins=1.0), **options)
    await house.open("blue", "red")
    for _ in range(rounds):
        await house.round((1, 2, 4, 6))
    return house


def plain_levels(log: HitLog) -> Any:
    return msgspec.to_builtins(log.levels)


async def test_the_last_hits_survive_a_power_cut_with_and_without_a_snapshot(seed: int) -> None:
    for snapshot_every in (1000, 1):
        house = await played(seed, snapshot_every=snapshot_every)
        try:
            before = plain_levels(house.controller.last_hits)
            hits = [hit for level in before.values() for hit in level]
            assert len(hits) >= 4
            assert {hit["state"] for hit in hits} <= {"paid", "documented", "withdrawn"}
            assert all(hit["amount"] > 0 and hit["claimed_ns"] <= hit["changed_ns"] for hit in hits)
            house.disk.cut()
            await house.power_up()
            assert plain_levels(house.controller.last_hits) == before
        finally:
            await house.close()


async def test_the_journal_alone_gives_the_same_hits(seed: int) -> None:
    house = await played(seed)
    try:
        log = HitLog()
        for record in house.disk.records:
            if record.kind == rec.STEP:
                log.add_step(record.wall_ns, rec.decode_step(record.body).decisions)
        assert plain_levels(log) == plain_levels(house.controller.last_hits)
    finally:
        await house.close()


async def test_floorperson_and_auditor_see_the_hits_at_the_panel_and_nobody_else(tmp_path: Path, seed: int) -> None:
    house = await played(seed, rounds=1)
    loop = asyncio.get_running_loop()
    check = check_inline(PinChecker(people_file(tmp_path), clock=loop.time))
    panel = Panel(house.box, check, name="table 7", in_thread=run_inline)
    try:
        app = app_of(panel)
        assert (await AsgiBrowser(app).get("/api/hits")).status == 401
        for id_, status in (("dealer-1", 403), ("tech-1", 403), ("floor-1", 200), ("audit-1", 200)):
            browser = AsgiBrowser(app)
            await browser.sign_on(id_, PINS[id_])
            answer = await browser.get("/api/hits")
            assert answer.status == status
        shown = [hit for level in answer.json["levels"] for hit in level["hits"]]
        assert len(shown) == sum(map(len, house.controller.last_hits.levels.values())) > 0
        assert {"at", "round", "seat", "amount", "state"} == set(shown[0])
        assert (await AsgiBrowser(app).get("/hits")).status == 200
    finally:
        panel.close()
        await asyncio.sleep(1.0)
        await house.close()
