"""SH-81 and SH-82: more requirements on a shuffler for a batch than for one deck. Needs an operator."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from devices.conformance.assertions import begin_command, expect_refused, expect_settled
from devices.conformance.kinds.shuffler.setup import (
    CHAPTER,
    CYCLE_LIMIT_S,
    bring_to_loaded,
    bring_to_ready,
    expect_one_end,
    status_of,
)
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import NotChecked, expect
from devices.conformance.shared_checks import SHORT_LIMIT_S
from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

requirement = partial(CHAPTER.requirement, capability=m.BATCH, needs_operator=True, needs=("SH-11",))
# Cards that hide inside.
HIDDEN: Final = 16
HIDE: Final = ManualStep(
    "let sixteen cards of the next cycle slip behind the shelves", (f"cards_left_inside:count={HIDDEN}",)
)
OTHER_BATCH: Final = ManualStep("lay the other batch into the intake", ("swap_batches",))


@requirement(81, "What a count can see, and what it cannot")
async def stayed_inside(bench: ConformanceBench) -> None:
    """Cards that stay inside are reported: Incomplete with both numbers, FAILED with 433, HALTED, nil inside."""
    await bring_to_loaded(bench)
    await bench.perform(HIDE)
    async with bench.session() as visit:
        command = await begin_command(visit, m.StartCycle(bench.next_id()))
        settled = expect_settled(
            await visit.wait_settled(command, CYCLE_LIMIT_S), Outcome.FAILED, m.Reason.COUNTS_DISAGREE
        )
        await asyncio.sleep(QUIET_S)
        ended: m.Incomplete = expect_one_end(visit.events, command, m.Incomplete, settled)
        expect(ended.cards_in - ended.cards_out == HIDDEN, f"{HIDDEN} fewer out than in", ended)
        status = await status_of(visit)
        unknown = (status.state, status.inside, status.reason) == (m.State.HALTED, None, m.Reason.COUNTS_DISAGREE)
        expect(unknown, "HALTED with 433, nil inside", status)


@requirement(82, "A cycle", at=bring_to_ready)
async def apart(bench: ConformanceBench, visit: CheckSession) -> None:
    """With one batch behind the gate and another in the intake, no cycle starts: they are never mixed."""
    await bench.perform(OTHER_BATCH)
    before = await status_of(visit)
    if before.state is not m.State.READY or not before.cards_in_intake:
        raise NotChecked("there is no second batch")
    await expect_refused(visit, m.StartCycle(bench.next_id()), m.Reason.GATE_OCCUPIED, "with a batch in each")
    await asyncio.sleep(QUIET_S)
    expect(await status_of(visit) == before, repr(before), await status_of(visit))
    await visit.complete_command(m.Eject(bench.next_id()), SHORT_LIMIT_S)
    status = await status_of(visit)
    expect(status.cards_in_intake and status.behind_gate == 0, "the other batch still in the intake", status)
