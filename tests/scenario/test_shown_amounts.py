"""No amount of the meter is shown anywhere before it is on disk: sign, sign page, status, metrics, MQTT. Slow syncs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest

from devices.meter_sign.messages import Row
from simulators.casino import disk_writer as disks
from table_controller.ledger.money import CENT
from table_controller.panel.live import SIGN, LivePages
from table_controller.table import events as ev
from table_controller.table.decisions import Booked
from table_controller.uplink.state_messages import describe_meters
from tests.support.box.boxes import BoxTestBench
from tests.support.box.pictures import picture_of
from tests.support.box.power_cuts import decided
from tests.support.core.ideal_table import AUDITOR, FLOOR

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.controller.box import Box

# Amounts (micro-dollars) that are each added once, so that every sum identifies its entries.
ADDED = [1_000_000 << n for n in range(12)]


def on_disk(bench: BoxTestBench) -> set[int]:
    """Return every amount that the meter has had on disk."""
    return {d.entry.meter_after for d in decided(bench.records()) if isinstance(d, Booked)}


def shown(bench: BoxTestBench, box: Box, live: LivePages) -> dict[str, int]:
    """Return the amounts shown to people, players and other systems now, in micro-dollars."""
    state = box.pictures.box().state
    assert state is not None
    assert state.meters is not None
    reported = describe_meters(picture_of(box), "now")
    assert reported is not None
    results = {
        "status": state.meters.current, "uplink": reported.current,
        "sign page": live.view(SIGN)["meter"]["current"],
        "floor page": live.view("floorperson")["meter"]["current"],
    }  # fmt: skip
    glass = cast("Any", bench.machines["meter_sign.1"]).glass.read(Row.VALUE).lstrip()
    return results | ({"sign": int(glass) * CENT} if glass.isdecimal() else {})


@pytest.mark.parametrize("seed", range(4))
async def test_no_shown_amount_is_ahead_of_the_disk(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = BoxTestBench(tmp_path, seed=seed + 1)
    box = await bench.start()
    live = LivePages(box, "T1")
    try:
        monkeypatch.setattr(disks, "SYNC_TIME_S", (0.2, 1.5))
        seen: set[int] = set()
        for number, amount in enumerate(ADDED):
            memo = f"memo {number}"
            box.running_controller().submit(
                ev.MeterCorrected(amount, memo, FLOOR, AUDITOR, "malfunction", "sensor_fault")
            )
            for _ in range(8):
                await asyncio.sleep(0.06)
                durable = on_disk(bench)
                for where, value in shown(bench, box, live).items():
                    assert value in durable, f"{where} shows {value}, and the disk has {max(durable)}"
                    seen.add(value)
        await asyncio.sleep(10.0)
        assert len(seen) > 3, "amounts were shown while syncs were on their way"
        assert set(shown(bench, box, live).values()) == {10_000_000_000 + sum(ADDED)}
    finally:
        await box.stop()
        bench.close()
