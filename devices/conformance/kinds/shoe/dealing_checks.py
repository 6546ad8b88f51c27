"""SO-10 to SO-25: an automated shoe takes a block in, deals it in stacks, and brings the stub out."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from devices.conformance.assertions import begin_command, expect_refused, expect_same_except, expect_settled
from devices.conformance.kinds.shoe.setup import (
    BLOCK_LIMIT_S,
    CHAPTER,
    COMMANDS,
    EMPTY_SLOT,
    bring_to_block_ready,
    bring_to_idle,
    bring_to_loaded,
    expect_none_begin,
    expect_one_end,
    status_of,
)
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import NotChecked, expect, preparation
from devices.conformance.shared_checks import (
    CLOSE_DOOR,
    OPEN_DOOR,
    SHORT_LIMIT_S,
    expect_all_refused,
    known,
    try_commands,
)
from devices.shoe import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession
    from firmware_bridge.messages import Message

requirement = partial(CHAPTER.requirement, capability=m.DISPENSES)
# Cards in the stacks that the kit orders: as many as a hand of the game, and the most there may be.
STACK = 7


class ShoeMotion(msgspec.Struct):
    """Everything that was seen of one motion: a block that was taken in, a stack that was dealt."""

    before: m.Status
    reply: Accepted | Settled
    during: list[m.Status] = []
    refused: dict[str, Settled | Accepted] = {}
    events: list[Any] = []
    settled: Settled | None = None
    after: m.Status | None = None

    def ended(self, kind: type[Any]) -> Any:
        """The one good end that it has."""
        settled = expect_settled(self.settled, Outcome.DONE, m.Reason.NONE)
        return expect_one_end(self.events, self.reply.command, kind, settled)

    def afterwards(self) -> m.Status:
        """The status afterwards; only asked of a motion that has ended."""
        assert self.after is not None
        return self.after

    def rises_to(self, count: int) -> None:
        """Its Progress came, its counts rise, and the last one is right; how often it comes is the machine's choice."""
        reported = [event for event in self.events if isinstance(event, m.Progress)]
        for event in reported:
            expect(event.command == self.reply.command, f"Progress about {self.reply.command}", event)
        for earlier, later in pairwise(reported):
            expect(earlier.moved < later.moved, "counts that rise", f"{earlier!r}, then {later!r}")
        expect(bool(reported) and reported[-1].moved == count, f"Progress that ends at {count}", reported[-1:])


async def _watched(bench: ConformanceBench, message: Message) -> ShoeMotion:
    async with bench.session() as visit:
        motion = ShoeMotion(await status_of(visit), await visit.send_command(message))
        if isinstance(motion.reply, Settled):
            return motion
        motion.during.append(await status_of(visit))
        motion.refused = await try_commands(visit, bench, COMMANDS)
        motion.during.append(await status_of(visit))
        motion.settled = await visit.wait_settled(motion.reply.command, BLOCK_LIMIT_S)
        await asyncio.sleep(QUIET_S)
        motion.events, motion.after = list(visit.events), await status_of(visit)
        return motion


async def block(bench: ConformanceBench) -> ShoeMotion:
    """Watch how a block is taken in; done once for all requirements about it."""

    async def observe(bench: ConformanceBench) -> ShoeMotion:
        await bring_to_block_ready(bench)
        return await _watched(bench, m.Load(bench.next_id()))

    seen: ShoeMotion = await bench.observe_once("block", observe)
    return seen


async def stack(bench: ConformanceBench) -> ShoeMotion:
    """Watch how a stack is dealt; done once for all requirements about it."""

    async def observe(bench: ConformanceBench) -> ShoeMotion:
        await bring_to_loaded(bench)
        return await _watched(bench, m.Dispense(bench.next_id(), STACK))

    seen: ShoeMotion = await bench.observe_once("stack", observe)
    return seen


def _busy(motion: ShoeMotion, state: m.State) -> None:
    if not motion.during or motion.during[-1].state is not state:
        if motion.during and motion.during[0].state is not state:
            expect(False, state.name, motion.during[0])
        raise NotChecked(f"{state.name} was over before it could be observed; run the simulator more slowly")
    expect_all_refused(motion.refused, m.Reason.BUSY, f"in {state.name}")


# --- a block ----------------------------------------------------------------------------------------------------------


@requirement(10, "What moves, and how it ends")
async def load(bench: ConformanceBench) -> None:
    """Load is accepted, and ends in exactly one Loaded and then exactly one Settled DONE."""
    motion = await block(bench)
    expect(isinstance(motion.reply, Accepted), "Accepted to Load", motion.reply)
    motion.ended(m.Loaded)


@requirement(11, "Counting", needs=("SO-10",))
async def counted_in(bench: ConformanceBench) -> None:
    """The count of Loaded is left in the well: READY, nothing drawn, nothing on the path, the intake empty."""
    motion = await block(bench)
    reported: m.Loaded = motion.ended(m.Loaded)
    count = known(reported.count, "how many cards were loaded", reported)
    expect(count > 0 and reported.left == count, f"{count} left", reported)
    expect_same_except(
        motion.before, motion.afterwards(), state=m.State.READY, in_intake=False, in_well=True, left=count, in_path=0,
        drawn=0, moved=count, counts_certain=True, reason=m.Reason.NONE,
    )  # fmt: skip
    motion.rises_to(count)


@requirement(12, "States", needs=("SO-10",))
async def busy_loading(bench: ConformanceBench) -> None:
    """In LOADING every other motion is refused with 420."""
    _busy(await block(bench), m.State.LOADING)


@requirement(13, "States", needs=("SO-10",), at=bring_to_loaded)
async def already_loaded(bench: ConformanceBench, visit: CheckSession) -> None:
    """With cards in the well Load is refused with 443."""
    await expect_refused(visit, m.Load(bench.next_id()), m.Reason.ALREADY_LOADED, "in READY")


# --- a stack ----------------------------------------------------------------------------------------------------------


@requirement(14, "What moves, and how it ends", needs=("SO-10",))
async def exact(bench: ConformanceBench) -> None:
    """A stack has exactly the ordered cards, counted out one by one: Dispensed, then Settled DONE."""
    motion = await stack(bench)
    reported: m.Dispensed = motion.ended(m.Dispensed)
    expect(reported.count == STACK, f"{STACK} cards", reported)
    motion.rises_to(STACK)


@requirement(15, "Counting", needs=("SO-14",))
async def counted_out(bench: ConformanceBench) -> None:
    """A stack of n leaves n fewer in the well, n more drawn, n in the slot, and one more stack."""
    motion = await stack(bench)
    left = known(motion.before.left, "how many are left", motion.before)
    reported: m.Dispensed = motion.ended(m.Dispensed)
    expect(reported.left == left - STACK, f"{left - STACK} left", reported)
    expect_same_except(
        motion.before, motion.afterwards(), in_slot=True, left=left - STACK, drawn=STACK, delivered=STACK, moved=STACK,
        stacks=motion.before.stacks + 1,
    )  # fmt: skip


@requirement(16, "States", needs=("SO-14",))
async def busy_dispensing(bench: ConformanceBench) -> None:
    """In DISPENSING every other motion is refused with 420."""
    _busy(await stack(bench), m.State.DISPENSING)


@preparation
async def _stack_in_slot(bench: ConformanceBench) -> None:
    """Bring it to READY with a stack in its slot."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        status = await status_of(visit)
        if status.state is m.State.READY and status.in_slot:
            return
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        await visit.complete_command(m.Dispense(bench.next_id(), STACK), SHORT_LIMIT_S)


@requirement(17, "States", needs=("SO-14",), at=_stack_in_slot)
async def slot_occupied(bench: ConformanceBench, visit: CheckSession) -> None:
    """While a stack is in the slot, the next stack and the stub are refused with 442, and no card moves."""
    before = await status_of(visit)
    await expect_none_begin(visit, bench, ["Dispense", "CountStub"], m.Reason.SLOT_OCCUPIED, "with a stack in the slot")
    await asyncio.sleep(QUIET_S)
    expect_same_except(before, await status_of(visit))


# --- with an operator: stack after stack, down to the stub ------------------------------------------------------------


class DealtBlock(msgspec.Struct):
    """A block that was dealt in stacks of ten as far as it went."""

    start: m.Status
    stacks: list[m.Dispensed] = []
    between: list[m.Status] = []  # after each stack was taken
    taken: list[list[m.Pile]] = []
    too_few: Settled | Accepted | None = None


class StubBroughtOut(msgspec.Struct):
    """A stub that was brought out, and what an empty shoe then reports."""

    deal: DealtBlock
    command: int
    settled: Settled
    events: list[Any]
    after: m.Status
    refused: dict[str, Settled | Accepted]


async def _deal(bench: ConformanceBench) -> DealtBlock:
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        deal = DealtBlock(await status_of(visit))
        status = deal.start
        while known(status.left, "how many are left", status) >= m.MAX_STACK:
            await visit.complete_command(m.Dispense(bench.next_id(), m.MAX_STACK), SHORT_LIMIT_S)
            since = len(visit.events)
            await bench.perform(EMPTY_SLOT)
            await visit.wait_until(lambda event: isinstance(event, m.Pile), bench.operator.effect_timeout_s, since)
            status = await status_of(visit)
            deal.between.append(status)
            deal.taken.append(visit.events_of(m.Pile, since))
        deal.stacks = visit.events_of(m.Dispensed)
        if status.left:
            deal.too_few = await visit.send_command(m.Dispense(bench.next_id(), m.MAX_STACK))
        return deal


async def brought_out(bench: ConformanceBench) -> StubBroughtOut:
    """Deal a whole block in stacks and bring the stub out; done once for all requirements about it."""

    async def observe(bench: ConformanceBench) -> StubBroughtOut:
        deal = await _deal(bench)
        async with bench.session() as visit:
            command = await begin_command(visit, m.CountStub(bench.next_id()))
            settled = await visit.wait_settled(command, BLOCK_LIMIT_S)
            await asyncio.sleep(QUIET_S)
            after = await status_of(visit)
            replies = await try_commands(visit, bench, COMMANDS, ["Load", "Dispense", "CountStub"])
            return StubBroughtOut(deal, command, settled, list(visit.events), after, replies)

    seen: StubBroughtOut = await bench.observe_once("stub", observe)
    return seen


def _stub(out: StubBroughtOut) -> m.Stub:
    stub: m.Stub = expect_one_end(
        out.events, out.command, m.Stub, expect_settled(out.settled, Outcome.DONE, m.Reason.NONE)
    )
    return stub


@requirement(20, "What moves, and how it ends", needs_operator=True, needs=("SO-14",))
async def stack_taken(bench: ConformanceBench) -> None:
    """When a stack is taken, Pile is sent once; the slot is empty then, and the next stack may come."""
    deal = (await brought_out(bench)).deal
    for status, piles in zip(deal.between, deal.taken, strict=True):
        expect(piles == [m.Pile(m.Place.SLOT, False)], "one Pile: the slot is empty", piles)
        expect(not status.in_slot and status.delivered == 0, "nothing in the slot, nothing delivered", status)


@requirement(21, "States", needs_operator=True, needs=("SO-14",))
async def too_few(bench: ConformanceBench) -> None:
    """A stack of more cards than are left is refused with 445, and not started."""
    deal = (await brought_out(bench)).deal
    if deal.too_few is None:
        raise NotChecked("the block was a multiple of ten cards")
    expect_all_refused({"Dispense": deal.too_few}, m.Reason.TOO_FEW_CARDS, "with fewer cards in the well")


@requirement(22, "Counting", needs_operator=True, needs=("SO-14",))
async def stub(bench: ConformanceBench) -> None:
    """CountStub brings out all remaining cards: Stub with their count, then Settled DONE, IDLE, 0 left."""
    out = await brought_out(bench)
    left = out.deal.between[-1].left
    reported = _stub(out)
    expect(reported.count == left and reported.left == 0, f"{left} cards, and 0 left", reported)
    after = out.after
    as_counted = (after.state, after.left, after.in_path, after.delivered) == (m.State.IDLE, 0, 0, left)
    expect(as_counted and not after.in_well, f"IDLE, 0 left, {left} delivered", after)


@requirement(23, "Counting", needs_operator=True, needs=("SO-14",))
async def conserved(bench: ConformanceBench) -> None:
    """No card is lost or added: left and drawn always add up to the block, and all cards that went in come out."""
    out = await brought_out(bench)
    deal, block = out.deal, known(out.deal.start.left, "how many were loaded", out.deal.start)
    for status in deal.between:
        whole = (status.left or 0) + (status.drawn or 0) == block
        expect(
            whole and status.in_path == 0 and status.counts_certain, f"left + drawn = {block}, none on the path", status
        )
    reported = _stub(out)
    dealt = sum(result.count for result in deal.stacks) + reported.count
    expect((dealt, reported.drawn) == (block, block), f"{block} cards out", f"{dealt} counted, then {reported!r}")


@requirement(24, "States", needs_operator=True, needs=("SO-22",))
async def nothing_left(bench: ConformanceBench) -> None:
    """When empty it refuses Dispense with 444, CountStub with 424, and Load without a block with 421."""
    replies = (await brought_out(bench)).refused
    for name, reason in (("Load", m.Reason.NOTHING_LOADED), ("Dispense", m.Reason.SHOE_EMPTY),
                         ("CountStub", m.Reason.NOTHING_TO_EJECT)):  # fmt: skip
        expect_all_refused({name: replies[name]}, reason, "of an empty shoe")


@requirement(25, "What moves, and how it ends", needs_operator=True, needs=("SO-14",))
async def short_stack(bench: ConformanceBench) -> None:
    """When the well runs empty in mid-stack, it sends ShortStack with the cards that came, then FAILED with 450."""
    deal = await _deal(bench)
    left = deal.between[-1].left
    if not left:
        raise NotChecked("the block was a multiple of ten cards")
    await bench.perform(OPEN_DOOR)  # or it would know that there are too few
    await bench.perform(CLOSE_DOOR)
    async with bench.session() as visit:
        command = await begin_command(visit, m.Dispense(bench.next_id(), m.MAX_STACK))
        settled = expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.FAILED, m.Reason.SHORT_STACK)
        await asyncio.sleep(QUIET_S)
        reported: m.ShortStack = expect_one_end(visit.events, command, m.ShortStack, settled)
        expect((reported.ordered, reported.dispensed) == (m.MAX_STACK, left), f"{left} of {m.MAX_STACK}", reported)
        status = await status_of(visit)
        expect(status.stacks == deal.between[-1].stacks, "no stack more", status)
