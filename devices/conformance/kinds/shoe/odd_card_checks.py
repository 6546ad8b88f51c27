"""SO-26 to SO-29: a card that is face up, a cover card, and one that a hand draws from an automated shoe. By hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.conformance.assertions import expect_same_except
from devices.conformance.kinds.shoe.dealing_checks import STACK, requirement
from devices.conformance.kinds.shoe.setup import (
    BLOCK_LIMIT_S,
    bring_to_block_ready,
    bring_to_loaded,
    status_of,
)
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import expect
from devices.conformance.shared_checks import SHORT_LIMIT_S, known
from devices.shoe import messages as m

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

FACE_UP: Final = ManualStep("turn the fourth card of the deck in the intake face up", ("face_up:depth=3",))
COVER: Final = ManualStep("put a cover card under the third card of the deck in the intake", ("cover_card:depth=3",))
DRAW: Final = ManualStep("draw one card out of the throat by hand", ("draw:cards=1",))


@requirement(26, "What is never sent", needs_operator=True, needs=("SO-14",))
async def face_up(bench: ConformanceBench) -> None:
    """A face-up card is reported by its number in the block and in the stack, and counted; its value is not sent."""
    await bring_to_block_ready(bench)
    await bench.perform(FACE_UP)
    async with bench.session() as visit:
        for message, kind, phase in (
            (m.Load(bench.next_id()), m.Loaded, m.Phase.LOADING),
            (m.Dispense(bench.next_id(), STACK), m.Dispensed, m.Phase.DISPENSING),
        ):
            since = len(visit.events)
            await visit.complete_command(message, BLOCK_LIMIT_S)
            reported = visit.events_of(m.FaceUp, since)
            expect(reported == [m.FaceUp(message.command, phase, 4)], f"FaceUp of card 4 in {phase.name}", reported)
            end: Any = await visit.wait_for_event(kind, QUIET_S, since)
            expect(end.face_up == 1, "one card face up", end)


@requirement(27, "Counting", needs_operator=True, needs=("SO-14",))
async def cover_card(bench: ConformanceBench) -> None:
    """The position of a cover card is reported, and when it comes out; no count includes it."""
    await bring_to_block_ready(bench)
    await bench.perform(COVER)
    async with bench.session() as visit:
        load = bench.next_id()
        await visit.complete_command(m.Load(load), BLOCK_LIMIT_S)
        reported = await visit.wait_for_event(m.Loaded, QUIET_S)
        expect(reported.cover == 3, "the cover card under 3 cards", reported)
        expect((await status_of(visit)).left == reported.count, f"{reported.count} left", await status_of(visit))
        command = bench.next_id()
        await visit.complete_command(m.Dispense(command, STACK), SHORT_LIMIT_S)
        covers = visit.events_of(m.CoverCard)
        expect(covers == [m.CoverCard(command, m.Phase.DISPENSING, 3)], "CoverCard after 3 cards", covers)
        stacked = await visit.wait_for_event(m.Dispensed, QUIET_S)
        left = known(reported.count, "how many were loaded", reported) - STACK
        expect((stacked.count, stacked.left) == (STACK, left), f"{STACK} cards, and {left} left", stacked)


@requirement(28, "What moves, and how it ends", needs_operator=True, needs=("SO-10",), at=bring_to_loaded)
async def drawn_by_hand(bench: ConformanceBench, visit: CheckSession) -> None:
    """A card drawn by hand is reported by Drawn, not ordered; one fewer is left, one more is drawn."""
    before = await status_of(visit)
    left = known(before.left, "how many are left", before) - 1
    await bench.perform(DRAW)
    reported = await visit.wait_for_event(m.Drawn, bench.operator.effect_timeout_s)
    expect(reported == m.Drawn(False, 0, 1, left), f"Drawn, not ordered, {left} left", reported)
    expect_same_except(before, await status_of(visit), left=left, drawn=1)
