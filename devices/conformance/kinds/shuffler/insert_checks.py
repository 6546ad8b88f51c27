"""SH-70 to SH-75: requirements on a shuffler that pushes its stack into the dealing shoe. Needs an operator."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from devices.conformance.assertions import begin_command, expect_refused, expect_settled, run_command
from devices.conformance.kinds.shuffler.setup import (
    CHAPTER,
    COMMANDS,
    CYCLE_LIMIT_S,
    ENDS,
    RELOAD,
    bring_to_idle,
    bring_to_loaded,
    status_of,
)
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import expect, preparation
from devices.conformance.shared_checks import SHORT_LIMIT_S, expect_all_refused, expect_end_among, try_commands
from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.commands import Settled

requirement = partial(CHAPTER.requirement, capability=m.INSERTS, needs_operator=True, needs=("SH-11",))
pushed = partial(CHAPTER.requirement, capability=m.INSERTS, needs_operator=True, needs=("SH-70",))
TITLE: Final = "Directly into the shoe"

STICK: Final = ManualStep("let the next stack stick in the chute", ("chute_jam:cards=20",))
BLOCK: Final = ManualStep("put five cards of the intake where the chute ends", ("block_chute:cards=5",))


@preparation
async def bring_to_push(bench: ConformanceBench) -> None:
    """Bring it to READY with the whole deck behind its gate and a free chute."""
    await bring_to_idle(bench)
    await bench.perform(RELOAD)
    async with bench.session() as visit:
        await visit.complete_command(m.StartCycle(bench.next_id()), CYCLE_LIMIT_S)


def _expect_end(events: list[Any], command: int, kind: type[Any], settled: Settled) -> Any:
    """Expect exactly one end of a push, of this kind, then its one Settled; return the end."""
    return expect_end_among(events, command, kind, settled, (*ENDS, m.Inserted))


def _expect_unknown(status: m.Status, reason: m.Reason) -> None:
    """Expect HALTED with this reason, and that the number of cards behind the gate is not known."""
    seen = (status.state, status.reason, status.behind_gate)
    expect(seen == (m.State.HALTED, reason, None), f"HALTED with {reason.value}, nil behind the gate", status)


@requirement(70, TITLE, at=bring_to_push)
async def inserts(bench: ConformanceBench, visit: CheckSession) -> None:
    """Insert ends in one Inserted with the count from behind the gate, then Settled DONE; then it is IDLE and empty."""
    before = await status_of(visit)
    command = bench.next_id()
    settled = await run_command(visit, m.Insert(command), SHORT_LIMIT_S)
    expect_settled(settled, Outcome.DONE, m.Reason.NONE)
    await asyncio.sleep(QUIET_S)
    ended: m.Inserted = _expect_end(visit.events, command, m.Inserted, settled)
    expect(ended.count == before.behind_gate, f"{before.behind_gate} cards", ended)
    status = await status_of(visit)
    expect((status.state, status.behind_gate) == (m.State.IDLE, 0), "IDLE with nothing behind the gate", status)


@pushed(71, TITLE, at=bring_to_idle)
async def nothing_to_insert(bench: ConformanceBench, visit: CheckSession) -> None:
    """Without a stack behind the gate Insert is refused with 424."""
    await expect_refused(visit, m.Insert(bench.next_id()), m.Reason.NOTHING_TO_EJECT, "with nothing behind the gate")


@pushed(72, TITLE)
async def occupied(bench: ConformanceBench) -> None:
    """While cards are in the chute or where it ends, Insert is refused with 438, and the stack stays where it is."""
    await bring_to_loaded(bench)
    await bench.perform(RELOAD)
    await bench.perform(BLOCK)
    async with bench.session() as visit:
        await visit.complete_command(m.StartCycle(bench.next_id()), CYCLE_LIMIT_S)
        before = await status_of(visit)
        await expect_refused(visit, m.Insert(bench.next_id()), m.Reason.CHUTE_OCCUPIED, "with cards at its end")
        await asyncio.sleep(QUIET_S)
        expect(await status_of(visit) == before, repr(before), await status_of(visit))


@pushed(73, TITLE)
async def stuck(bench: ConformanceBench) -> None:
    """A stack that sticks ends the push in Fault 446 and Settled FAILED with 446; HALTED, nil behind the gate."""
    await bring_to_push(bench)
    await bench.perform(STICK)
    async with bench.session() as visit:
        command = await begin_command(visit, m.Insert(bench.next_id()))
        settled = await visit.wait_settled(command, SHORT_LIMIT_S)
        await asyncio.sleep(QUIET_S)
        expect_settled(settled, Outcome.FAILED, m.Reason.CHUTE_JAMMED)
        ended: m.Fault = _expect_end(visit.events, command, m.Fault, settled)
        seen = (ended.reason, ended.entered, ended.left)
        expect(seen == (m.Reason.CHUTE_JAMMED, 0, 0), "reason 446 without counts of a cycle", ended)
        _expect_unknown(await status_of(visit), m.Reason.CHUTE_JAMMED)


@pushed(74, TITLE, needs=("SH-73",))
async def stuck_until_cleared(bench: ConformanceBench) -> None:
    """With cards in the chute every command is refused: ClearJam with 426, the others with 423."""
    await bring_to_push(bench)
    await bench.perform(STICK)
    async with bench.session() as visit:
        await run_command(visit, m.Insert(bench.next_id()), SHORT_LIMIT_S)
        blocked = await try_commands(visit, bench, COMMANDS, ["ClearJam"])
        others = await try_commands(visit, bench, COMMANDS, [name for name in COMMANDS if name != "ClearJam"])
        expect_all_refused(blocked, m.Reason.PATH_BLOCKED, "with cards in the chute")
        expect_all_refused(others, m.Reason.NEEDS_CLEARING, "in HALTED")


@pushed(75, TITLE, at=bring_to_push)
async def stopped(bench: ConformanceBench, visit: CheckSession) -> None:
    """Stop in a push ends it in Stopped with 434 without counts, then Settled FAILED; HALTED, nil behind the gate."""
    command = await begin_command(visit, m.Insert(bench.next_id()))
    await visit.send_command(m.Stop(bench.next_id()))
    settled = await visit.wait_settled(command, SHORT_LIMIT_S)
    await asyncio.sleep(QUIET_S)
    expect_settled(settled, Outcome.FAILED, m.Reason.STOPPED)
    ended: m.Stopped = _expect_end(visit.events, command, m.Stopped, settled)
    expect((ended.reason, ended.entered, ended.left) == (m.Reason.STOPPED, 0, 0), "434 without counts", ended)
    _expect_unknown(await status_of(visit), m.Reason.STOPPED)
