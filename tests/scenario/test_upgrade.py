"""New software at a table, the whole stack in virtual time: it continues from a snapshot between rounds only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import VersionsDiffer
from simulators.casino.table import CasinoTable
from table_controller.journal import record_text, versions
from table_controller.journal import records as rec
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetAccepted
from tests.support.box.journals import decode_migration

if TYPE_CHECKING:
    from table_controller.journal.chain import Record

GAME = "face_up_pai_gow"


def _steps(records: list[Record]) -> list[rec.StepRecord]:
    return [rec.decode_step(record.body) for record in records if record.kind == rec.STEP]


async def test_new_software_goes_on_from_the_snapshot_with_meter_and_decks_and_replays_from_there(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = CasinoTable(GAME, seed=seed)
    try:
        await house.open("blue", "red")
        await house.round((1, 4))
        await house.until_quiescent()
        before = house.controller.table.snapshot()
        await house.power_down()
        old = versions.software_digest()
        monkeypatch.setattr(versions, "software_digest", lambda: "1" * 64)
        stopped = len(house.disk.records)
        await house.power_up()
        since = house.disk.records[stopped:]
        assert [record.kind for record in since][:5] == ["start", "migration", "snapshot", "box", "step"]
        reported = decode_migration(since[1].body)
        assert (reported.name, reported.old["software"], reported.new["software"]) == ("same_state", old, "1" * 64)
        assert "software changed between rounds" in record_text.record_line(since[1])
        assert house.disk.snapshots[-1].seq == since[1].seq
        assert isinstance(rec.decode_step(since[4].body).event, ev.BoxStarted)
        kept = house.disk.snapshots[-1].body
        assert before in kept, "the state is taken as it was"
        await house.round((1, 2, 6))
        house.disk.cut()  # no orderly stop this time: the same software replays its records
        await house.power_up()
        await house.until_quiescent()
        bets = [d for step in _steps(house.disk.records) for d in step.decisions if isinstance(d, BetAccepted)]
        assert len(bets) == 5
        rules = house.controller.table.context.meter
        assert rules is not None
        book = house.controller.table.state.money.book
        assert book.meters.current == rules.seed + 5 * rules.unit * rules.rate_bp // 10_000
        assert house.box.store is not None
        assert house.box.store.verify().ok
    finally:
        await house.close()


@pytest.mark.parametrize("how", ["in the middle of a round", "after a power cut"])
async def test_new_software_is_refused_where_no_order_was_left_and_the_old_one_goes_on(
    seed: int, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = CasinoTable(GAME, seed=seed, snapshot_every=1)
    try:
        await house.open("blue", "red")
        await house.round((1, 4))
        if how == "after a power cut":
            house.disk.cut()
        else:
            house.controller.submit(ev.OpenRound(ev.Person("dealer", "dealer-1")))
            await house.wait(1.0)
            assert house.controller.table.state.round.state == mc.BETTING
            await house.power_down()
        with monkeypatch.context() as other:
            other.setattr(versions, "software_digest", lambda: "1" * 64)
            await house.power_up()
            assert house.box.controller is None
            assert isinstance(house.box.cause, VersionsDiffer)
            assert re.search(r"once more with the software.*end the round, stop the box in order", str(house.box.cause))
            await house.power_down()
        await house.power_up()
        await house.until_quiescent()
        assert not house.is_box_down
        assert not [record for record in house.disk.records if record.kind == rec.MIGRATION]
    finally:
        await house.close()
