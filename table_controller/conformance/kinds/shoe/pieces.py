"""SO-26 to SO-29: a card that is face up, a cover card, and one that a hand draws from an automated shoe. By hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.shoe import messages as m
from table_controller.conformance.hands import Step
from table_controller.conformance.judging import same_but
from table_controller.conformance.kinds.shoe.dealing import STACK, requirement
from table_controller.conformance.kinds.shoe.machine import BLOCK, SHORT, loaded, number, status_of, waiting
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench

FACE_UP: Final = Step("turn the fourth card of the deck in the intake face up", ("face_up:depth=3",))
COVER: Final = Step("put a cover card under the third card of the deck in the intake", ("cover_card:depth=3",))
DRAW: Final = Step("draw one card out of the throat by hand", ("draw:cards=1",))


@requirement(26, "What is never sent", hands=True, needs=("SO-14",))
async def face_up(bench: Bench) -> None:
    """A face-up card is reported by its number in the block and in the stack, and counted; its value is not sent."""
    await waiting(bench)
    await bench.do(FACE_UP)
    async with bench.visit() as visit:
        for message, kind, phase in (
            (m.Load(bench.next_id()), m.Loaded, m.Phase.LOADING),
            (m.Dispense(bench.next_id(), STACK), m.Dispensed, m.Phase.DISPENSING),
        ):
            since = len(visit.events)
            await visit.done(message, BLOCK)
            reported = visit.told(m.FaceUp, since)
            expect(reported == [m.FaceUp(message.command, phase, 4)], f"FaceUp of card 4 in {phase.name}", reported)
            end: Any = await visit.event(kind, QUIET, since)
            expect(end.face_up == 1, "one card face up", end)


@requirement(27, "Counting", hands=True, needs=("SO-14",))
async def cover_card(bench: Bench) -> None:
    """The position of a cover card is reported, and when it comes out; no count includes it."""
    await waiting(bench)
    await bench.do(COVER)
    async with bench.visit() as visit:
        load = bench.next_id()
        await visit.done(m.Load(load), BLOCK)
        reported = await visit.event(m.Loaded, QUIET)
        expect(reported.cover == 3, "the cover card under 3 cards", reported)
        expect((await status_of(visit)).left == reported.count, f"{reported.count} left", await status_of(visit))
        command = bench.next_id()
        await visit.done(m.Dispense(command, STACK), SHORT)
        covers = visit.told(m.CoverCard)
        expect(covers == [m.CoverCard(command, m.Phase.DISPENSING, 3)], "CoverCard after 3 cards", covers)
        stacked = await visit.event(m.Dispensed, QUIET)
        left = number(reported.count, "how many were loaded", reported) - STACK
        expect((stacked.count, stacked.left) == (STACK, left), f"{STACK} cards, and {left} left", stacked)


@requirement(28, "What moves, and how it ends", hands=True, needs=("SO-10",))
async def drawn_by_hand(bench: Bench) -> None:
    """A card drawn by hand is reported by Drawn, not ordered; one fewer is left, one more is drawn."""
    await loaded(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        left = number(before.left, "how many are left", before) - 1
        await bench.do(DRAW)
        reported = await visit.event(m.Drawn, bench.hands.patience)
        expect(reported == m.Drawn(False, 0, 1, left), f"Drawn, not ordered, {left} left", reported)
        same_but(before, await status_of(visit), left=left, drawn=1)
