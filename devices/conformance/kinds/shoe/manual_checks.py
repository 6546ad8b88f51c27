"""Requirements from SO-60 on a manual shoe, from which hands draw: rounds, the stub, removed cards, stuck cards."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from devices.conformance.assertions import expect_refused
from devices.conformance.kinds.shoe.setup import CHAPTER, LIFT, bring_to_block_ready, bring_to_loaded, status_of
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import expect
from devices.shoe import messages as m
from firmware_bridge.commands import Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

requirement = partial(CHAPTER.requirement, capability=m.DRAWS)
ROUND: Final = 4
DRAW_ROUND: Final = ManualStep("draw four cards, one after the other", ("draw:cards=4",))
DRAW_ONE: Final = ManualStep("draw one card", ("draw:cards=1",))
RUN_OUT: Final = ManualStep("draw every card that is left, one after the other", ("draw:cards=200",))
STICK: Final = ManualStep(
    "draw a card halfway out of the throat and leave it there", ("jam:segment=exit", "draw:cards=1")
)
# No hand takes longer to draw one card (s).
HAND_DRAW_LIMIT_S: Final = 5.0


async def _at_once(visit: CheckSession, message: m.Load | m.StartRound | m.CountStub | m.Stop) -> int:
    """Have a command done at once; return its id."""
    reply = await visit.send_command(message)
    expect(reply == Settled(message.command, Outcome.DONE, 0), f"{type(message).__name__} DONE at once", reply)
    return message.command


async def _drawn(bench: ConformanceBench, visit: CheckSession, step: ManualStep, cards: int) -> list[m.Drawn]:
    """Have cards drawn, and return what was reported of them."""
    since = len(visit.events)
    await bench.perform(step)
    await visit.wait_until(
        lambda _: len(visit.events_of(m.Drawn, since)) >= cards, bench.operator.effect_timeout_s, since
    )
    await asyncio.sleep(QUIET_S)
    return visit.events_of(m.Drawn, since)


@requirement(60, "Rounds drawn by hand", at=bring_to_block_ready)
async def load(bench: ConformanceBench, visit: CheckSession) -> None:
    """Load starts a block at once: Loaded with a nil count, READY, nil left, 0 drawn; a second is refused with 443."""
    await expect_refused(visit, m.StartRound(bench.next_id()), m.Reason.SHOE_EMPTY, "before Load")
    await expect_refused(visit, m.CountStub(bench.next_id()), m.Reason.NOTHING_TO_EJECT, "before Load")
    command = await _at_once(visit, m.Load(bench.next_id()))
    reported = await visit.wait_for_event(m.Loaded, QUIET_S)
    expect(reported == m.Loaded(command, None, 0, None, None), "Loaded with a nil count", reported)
    status = await status_of(visit)
    begun = (status.state, status.left, status.drawn) == (m.State.READY, None, 0)
    expect(begun, "READY, nil left, 0 drawn", status)
    await expect_refused(visit, m.Load(bench.next_id()), m.Reason.ALREADY_LOADED, "in READY")


@requirement(61, "Rounds drawn by hand", needs_operator=True, needs=("SO-60",), at=bring_to_loaded)
async def rounds(bench: ConformanceBench, visit: CheckSession) -> None:
    """Every card of a round is reported once with its number; Stop ends the round in RoundEnded with its count."""
    command = await _at_once(visit, m.StartRound(bench.next_id()))
    expect((await status_of(visit)).state is m.State.DEALING, "DEALING", await status_of(visit))
    reported = await _drawn(bench, visit, DRAW_ROUND, ROUND)
    expected = [m.Drawn(True, card, card, None) for card in range(1, ROUND + 1)]
    expect(reported == expected, f"Drawn, ordered, from 1 to {ROUND}", reported)
    await expect_refused(visit, m.SelfTest(bench.next_id()), m.Reason.BUSY, "in DEALING")
    await _at_once(visit, m.Stop(bench.next_id()))
    await asyncio.sleep(QUIET_S)
    expect(visit.events_of(m.RoundEnded) == [m.RoundEnded(command, ROUND)], f"one RoundEnded of {ROUND}", visit.events)
    expect((await status_of(visit)).state is m.State.READY, "READY", await status_of(visit))


@requirement(62, "Rounds drawn by hand", needs_operator=True, needs=("SO-61",), at=bring_to_loaded)
async def next_round(bench: ConformanceBench, visit: CheckSession) -> None:
    """The next StartRound ends an open round, and counts from 1 again; `drawn` continues."""
    first = await _at_once(visit, m.StartRound(bench.next_id()))
    await _drawn(bench, visit, DRAW_ONE, 1)
    await _at_once(visit, m.StartRound(bench.next_id()))
    reported = await _drawn(bench, visit, DRAW_ONE, 1)
    expect(visit.events_of(m.RoundEnded) == [m.RoundEnded(first, 1)], "RoundEnded about the first", visit.events)
    expect(reported == [m.Drawn(True, 1, 2, None)], "card 1 of the round, the second since loading", reported)


@requirement(63, "Rounds drawn by hand", needs_operator=True, needs=("SO-60",), at=bring_to_loaded)
async def out_of_turn(bench: ConformanceBench, visit: CheckSession) -> None:
    """A card drawn while no round is open is reported as not ordered, and counted as drawn."""
    reported = await _drawn(bench, visit, DRAW_ONE, 1)
    expect(reported == [m.Drawn(False, 0, 1, None)], "Drawn, not ordered, the first since loading", reported)
    expect((await status_of(visit)).drawn == 1, "1 drawn", await status_of(visit))


@requirement(64, "Rounds drawn by hand", needs_operator=True, needs=("SO-61",), at=bring_to_loaded)
async def stub(bench: ConformanceBench, visit: CheckSession) -> None:
    """CountStub is done at once; when the well is empty, Stub has its cards and the total. IDLE, 0 left."""
    await _at_once(visit, m.StartRound(bench.next_id()))
    await _drawn(bench, visit, DRAW_ROUND, ROUND)
    command = await _at_once(visit, m.CountStub(bench.next_id()))
    status = await status_of(visit)
    expect(status.state is m.State.COUNTING, "COUNTING", status)
    await expect_refused(visit, m.StartRound(bench.next_id()), m.Reason.BUSY, "in COUNTING")
    since = len(visit.events)
    await bench.perform(RUN_OUT)
    reported = await visit.wait_for_event(m.Stub, 10 * bench.operator.effect_timeout_s, since)
    await asyncio.sleep(QUIET_S)
    count = len(visit.events_of(m.Drawn, since))
    expect(reported == m.Stub(command, count, ROUND + count, 0), f"{count} cards, {ROUND + count} in all", reported)
    expect(len(visit.events_of(m.Stub)) == 1, "one Stub", visit.events_of(m.Stub))
    status = await status_of(visit)
    expect((status.state, status.left) == (m.State.IDLE, 0), "IDLE, 0 left", status)


@requirement(65, "Rounds drawn by hand", needs_operator=True, needs=("SO-60",), at=bring_to_loaded)
async def lifted_out(bench: ConformanceBench, visit: CheckSession) -> None:
    """A stub that is lifted out instead of drawn is reported by Fault 451, and there is no Stub."""
    command = await _at_once(visit, m.CountStub(bench.next_id()))
    await bench.perform(LIFT)
    reported = await visit.wait_for_event(m.Fault, bench.operator.effect_timeout_s)
    await asyncio.sleep(QUIET_S)
    expect((reported.command, reported.reason) == (command, m.Reason.LIFTED_OUT), "Fault 451 about the stub", reported)
    expect(not visit.events_of(m.Stub), "no Stub", visit.events_of(m.Stub))


@requirement(66, "What moves, and how it ends", needs_operator=True, needs=("SO-61",), at=bring_to_loaded)
async def stuck(bench: ConformanceBench, visit: CheckSession) -> None:
    """A card left in the throat is a Jam without a command; HALTED, not sure, until the empty shoe is cleared."""
    await _at_once(visit, m.StartRound(bench.next_id()))
    await bench.perform(STICK)
    reported = await visit.wait_for_event(m.Jam, bench.operator.effect_timeout_s + HAND_DRAW_LIMIT_S)
    as_is = (reported.command, reported.phase, reported.card) == (None, m.Phase.DRAWING, 1)
    expect(as_is, "Jam without a command, of card 1", reported)
    status = await status_of(visit)
    expect(status.state is m.State.HALTED and not status.counts_certain, "HALTED, not sure", status)
    await expect_refused(visit, m.StartRound(bench.next_id()), m.Reason.NEEDS_CLEARING, "in HALTED")
    await bench.perform(LIFT)
    command = bench.next_id()
    reply = await visit.send_command(m.ClearJam(command))
    expect(reply == Settled(command, Outcome.DONE, 0), "ClearJam DONE", reply)
    status = await status_of(visit)
    expect(
        status.state is m.State.IDLE and status.counts_certain and status.left == 0,
        "IDLE, sure that 0 are left",
        status,
    )
