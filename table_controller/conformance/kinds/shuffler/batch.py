"""SH-81 and SH-82: requirements on a shuffler for a batch besides all that holds for one deck. Needs an operator."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from table_controller.conformance.hands import Step
from table_controller.conformance.kinds.shuffler.machine import (
    CHAPTER,
    CYCLE,
    SHORT,
    all_refused,
    begin,
    loaded,
    one_end,
    ready,
    refusals,
    settled_as,
    status_of,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import NotChecked, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench

requirement = partial(CHAPTER.requirement, capability=m.BATCH, hands=True, needs=("SH-11",))
# Cards that hide inside.
HIDDEN: Final = 16
HIDE: Final = Step(
    "let sixteen cards of the next cycle slip behind the shelves", (f"cards_left_inside:count={HIDDEN}",)
)
OTHER_BATCH: Final = Step("lay the other batch into the intake", ("swap_batches",))


@requirement(81, "What a count can see, and what it cannot")
async def stayed_inside(bench: Bench) -> None:
    """Cards that stay inside are reported: Incomplete with both numbers, FAILED with 433, HALTED, nil inside."""
    await loaded(bench)
    await bench.do(HIDE)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
        settled = settled_as(await visit.end(command, CYCLE), Outcome.FAILED, m.Reason.COUNTS_DISAGREE)
        await asyncio.sleep(QUIET)
        ended: m.Incomplete = one_end(visit.events, command, m.Incomplete, settled)
        expect(ended.cards_in - ended.cards_out == HIDDEN, f"{HIDDEN} fewer out than in", ended)
        status = await status_of(visit)
        unknown = (status.state, status.inside, status.reason) == (m.State.HALTED, None, m.Reason.COUNTS_DISAGREE)
        expect(unknown, "HALTED with 433, nil inside", status)


@requirement(82, "A cycle")
async def apart(bench: Bench) -> None:
    """With one batch behind the gate and another in the intake, no cycle starts: they are never mixed."""
    await ready(bench)
    async with bench.visit() as visit:
        await bench.do(OTHER_BATCH)
        before = await status_of(visit)
        if before.state is not m.State.READY or not before.cards_in_intake:
            raise NotChecked("there is no second batch")
        all_refused(await refusals(visit, bench, ["StartCycle"]), m.Reason.GATE_OCCUPIED, "with a batch in each")
        await asyncio.sleep(QUIET)
        expect(await status_of(visit) == before, repr(before), await status_of(visit))
        await visit.done(m.Eject(bench.next_id()), SHORT)
        status = await status_of(visit)
        expect(status.cards_in_intake and status.behind_gate == 0, "the other batch still in the intake", status)
