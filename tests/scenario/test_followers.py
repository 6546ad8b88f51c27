"""Followers of a running table receive what is on disk, in order, and can never stop the table."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from simulators.casino.table import CasinoTable
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from table_controller.controller.controller import DurableStep


async def test_followers_see_every_step_in_the_order_of_the_journal_and_a_failing_one_stops_nothing(seed: int) -> None:
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
    house = CasinoTable("dj_wild", seed=seed)
    seen: list[DurableStep] = []

    def fail(_: Any) -> None:
        raise RuntimeError("a panel's mistake")

    house.controller.followers += [fail, seen.append]
    try:
        await house.open("blue")
        await house.round((1,))
        assert house.controller.table.state.round.state == mc.IDLE
        assert [(step.event, step.decisions) for step in seen] == house.step_log[-len(seen) :]
        on_disk = {r.seq: r for r in house.disk.records}
        assert all(on_disk[step.seq].wall_ns == step.wall_ns for step in seen)
        assert all(on_disk[step.seq].head == step.head for step in seen)
        assert [step.seq for step in seen] == sorted({step.seq for step in seen})
        assert len(reported) == len(seen) > 50
    finally:
        await house.close()
