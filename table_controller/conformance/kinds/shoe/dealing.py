"""SO-10 to SO-25: an automated shoe takes a block in, deals it in stacks, and brings the stub out."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from devices.shoe import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled
from table_controller.conformance.judging import begin, refused, same_but, settled_as
from table_controller.conformance.kinds.shoe.machine import (
    BLOCK,
    CHAPTER,
    CLOSE_DOOR,
    COMMANDS,
    OPEN_DOOR,
    SHORT,
    TAKE,
    all_refused,
    loaded,
    none_begins,
    number,
    one_end,
    rest,
    status_of,
    tried,
    waiting,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import NotChecked, expect, preparing

if TYPE_CHECKING:
    from firmware_bridge.messages import Message
    from table_controller.conformance.bench import Bench

requirement = partial(CHAPTER.requirement, capability=m.DISPENSES)
# Cards in the stacks that the kit orders: as many as a hand of the game, and the most there may be.
STACK = 7


class Motion(msgspec.Struct):
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
        settled = settled_as(self.settled, Outcome.DONE, m.Reason.NONE)
        return one_end(self.events, self.reply.command, kind, settled)

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


async def _watched(bench: Bench, message: Message) -> Motion:
    async with bench.visit() as visit:
        motion = Motion(await status_of(visit), await visit.order(message))
        if isinstance(motion.reply, Settled):
            return motion
        motion.during.append(await status_of(visit))
        motion.refused = await tried(visit, bench, COMMANDS)
        motion.during.append(await status_of(visit))
        motion.settled = await visit.end(motion.reply.command, BLOCK)
        await asyncio.sleep(QUIET)
        motion.events, motion.after = list(visit.events), await status_of(visit)
        return motion


async def block(bench: Bench) -> Motion:
    """Watch how a block is taken in; done once for all requirements about it."""

    async def observe(bench: Bench) -> Motion:
        await waiting(bench)
        return await _watched(bench, m.Load(bench.next_id()))

    seen: Motion = await bench.once("block", observe)
    return seen


async def stack(bench: Bench) -> Motion:
    """Watch how a stack is dealt; done once for all requirements about it."""

    async def observe(bench: Bench) -> Motion:
        await loaded(bench)
        return await _watched(bench, m.Dispense(bench.next_id(), STACK))

    seen: Motion = await bench.once("stack", observe)
    return seen


def _busy(motion: Motion, state: m.State) -> None:
    if not motion.during or motion.during[-1].state is not state:
        if motion.during and motion.during[0].state is not state:
            expect(False, state.name, motion.during[0])
        raise NotChecked(f"{state.name} was over before it could be observed; run the simulator more slowly")
    all_refused(motion.refused, m.Reason.BUSY, f"in {state.name}")


# --- a block ----------------------------------------------------------------------------------------------------------


@requirement(10, "What moves, and how it ends")
async def load(bench: Bench) -> None:
    """Load is accepted, and ends in exactly one Loaded and then exactly one Settled DONE."""
    motion = await block(bench)
    expect(isinstance(motion.reply, Accepted), "Accepted to Load", motion.reply)
    motion.ended(m.Loaded)


@requirement(11, "Counting", needs=("SO-10",))
async def counted_in(bench: Bench) -> None:
    """The count of Loaded is left in the well: READY, nothing drawn, nothing on the path, the intake empty."""
    motion = await block(bench)
    reported: m.Loaded = motion.ended(m.Loaded)
    count = number(reported.count, "how many cards were loaded", reported)
    expect(count > 0 and reported.left == count, f"{count} left", reported)
    same_but(
        motion.before, motion.afterwards(), state=m.State.READY, in_intake=False, in_well=True, left=count, in_path=0,
        drawn=0, moved=count, sure=True, reason=m.Reason.NONE,
    )  # fmt: skip
    motion.rises_to(count)


@requirement(12, "States", needs=("SO-10",))
async def busy_loading(bench: Bench) -> None:
    """In LOADING every other motion is refused with 420."""
    _busy(await block(bench), m.State.LOADING)


@requirement(13, "States", needs=("SO-10",))
async def already_loaded(bench: Bench) -> None:
    """With cards in the well Load is refused with 443."""
    await loaded(bench)
    async with bench.visit() as visit:
        await refused(visit, m.Load(bench.next_id()), m.Reason.ALREADY_LOADED, "in READY")


# --- a stack ----------------------------------------------------------------------------------------------------------


@requirement(14, "What moves, and how it ends", needs=("SO-10",))
async def exact(bench: Bench) -> None:
    """A stack has exactly the ordered cards, counted out one by one: Dispensed, then Settled DONE."""
    motion = await stack(bench)
    reported: m.Dispensed = motion.ended(m.Dispensed)
    expect(reported.count == STACK, f"{STACK} cards", reported)
    motion.rises_to(STACK)


@requirement(15, "Counting", needs=("SO-14",))
async def counted_out(bench: Bench) -> None:
    """A stack of n leaves n fewer in the well, n more drawn, n in the slot, and one more stack."""
    motion = await stack(bench)
    left = number(motion.before.left, "how many are left", motion.before)
    reported: m.Dispensed = motion.ended(m.Dispensed)
    expect(reported.left == left - STACK, f"{left - STACK} left", reported)
    same_but(
        motion.before, motion.afterwards(), in_slot=True, left=left - STACK, drawn=STACK, delivered=STACK, moved=STACK,
        stacks=motion.before.stacks + 1,
    )  # fmt: skip


@requirement(16, "States", needs=("SO-14",))
async def busy_dispensing(bench: Bench) -> None:
    """In DISPENSING every other motion is refused with 420."""
    _busy(await stack(bench), m.State.DISPENSING)


@preparing
async def _stack_in_slot(bench: Bench) -> None:
    """Bring it to READY with a stack in its slot."""
    await rest(bench)
    async with bench.visit() as visit:
        status = await status_of(visit)
        if status.state is m.State.READY and status.in_slot:
            return
    await loaded(bench)
    async with bench.visit() as visit:
        await visit.done(m.Dispense(bench.next_id(), STACK), SHORT)


@requirement(17, "States", needs=("SO-14",))
async def slot_occupied(bench: Bench) -> None:
    """While a stack is in the slot, the next stack and the stub are refused with 442, and no card moves."""
    await _stack_in_slot(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        await none_begins(visit, bench, ["Dispense", "CountStub"], m.Reason.SLOT_OCCUPIED, "with a stack in the slot")
        await asyncio.sleep(QUIET)
        same_but(before, await status_of(visit))


# --- with an operator: stack after stack, down to the stub ------------------------------------------------------------


class Deal(msgspec.Struct):
    """A block that was dealt in stacks of ten as far as it went."""

    start: m.Status
    stacks: list[m.Dispensed] = []
    between: list[m.Status] = []  # after each stack was taken
    taken: list[list[m.Pile]] = []
    too_few: Settled | Accepted | None = None


class Out(msgspec.Struct):
    """A stub that was brought out, and what an empty shoe then says."""

    deal: Deal
    command: int
    settled: Settled
    events: list[Any]
    after: m.Status
    refused: dict[str, Settled | Accepted]


async def _deal(bench: Bench) -> Deal:
    await loaded(bench)
    async with bench.visit() as visit:
        deal = Deal(await status_of(visit))
        status = deal.start
        while number(status.left, "how many are left", status) >= m.MAX_STACK:
            await visit.done(m.Dispense(bench.next_id(), m.MAX_STACK), SHORT)
            since = len(visit.events)
            await bench.do(TAKE)
            await visit.until(lambda event: isinstance(event, m.Pile), bench.hands.patience, since)
            status = await status_of(visit)
            deal.between.append(status)
            deal.taken.append(visit.told(m.Pile, since))
        deal.stacks = visit.told(m.Dispensed)
        if status.left:
            deal.too_few = await visit.order(m.Dispense(bench.next_id(), m.MAX_STACK))
        return deal


async def brought_out(bench: Bench) -> Out:
    """Deal a whole block in stacks and bring the stub out; done once for all requirements about it."""

    async def observe(bench: Bench) -> Out:
        deal = await _deal(bench)
        async with bench.visit() as visit:
            command = await begin(visit, m.CountStub(bench.next_id()))
            settled = await visit.end(command, BLOCK)
            await asyncio.sleep(QUIET)
            after = await status_of(visit)
            replies = await tried(visit, bench, ["Load", "Dispense", "CountStub"])
            return Out(deal, command, settled, list(visit.events), after, replies)

    seen: Out = await bench.once("stub", observe)
    return seen


def _stub(out: Out) -> m.Stub:
    stub: m.Stub = one_end(out.events, out.command, m.Stub, settled_as(out.settled, Outcome.DONE, m.Reason.NONE))
    return stub


@requirement(20, "What moves, and how it ends", hands=True, needs=("SO-14",))
async def stack_taken(bench: Bench) -> None:
    """When a stack is taken, Pile is sent once; the slot is empty then, and the next stack may come."""
    deal = (await brought_out(bench)).deal
    for status, piles in zip(deal.between, deal.taken, strict=True):
        expect(piles == [m.Pile(m.Place.SLOT, False)], "one Pile: the slot is empty", piles)
        expect(not status.in_slot and status.delivered == 0, "nothing in the slot, nothing delivered", status)


@requirement(21, "States", hands=True, needs=("SO-14",))
async def too_few(bench: Bench) -> None:
    """A stack of more cards than are left is refused with 445, and not started."""
    deal = (await brought_out(bench)).deal
    if deal.too_few is None:
        raise NotChecked("the block was a multiple of ten cards")
    all_refused({"Dispense": deal.too_few}, m.Reason.TOO_FEW_CARDS, "with fewer cards in the well")


@requirement(22, "Counting", hands=True, needs=("SO-14",))
async def stub(bench: Bench) -> None:
    """CountStub brings out all remaining cards: Stub with their count, then Settled DONE, IDLE, 0 left."""
    out = await brought_out(bench)
    left = out.deal.between[-1].left
    reported = _stub(out)
    expect(reported.count == left and reported.left == 0, f"{left} cards, and 0 left", reported)
    after = out.after
    as_counted = (after.state, after.left, after.in_path, after.delivered) == (m.State.IDLE, 0, 0, left)
    expect(as_counted and not after.in_well, f"IDLE, 0 left, {left} delivered", after)


@requirement(23, "Counting", hands=True, needs=("SO-14",))
async def conserved(bench: Bench) -> None:
    """No card is lost or added: left and drawn always add up to the block, and all cards that went in come out."""
    out = await brought_out(bench)
    deal, block = out.deal, number(out.deal.start.left, "how many were loaded", out.deal.start)
    for status in deal.between:
        whole = (status.left or 0) + (status.drawn or 0) == block
        expect(whole and status.in_path == 0 and status.sure, f"left + drawn = {block}, none on the path", status)
    reported = _stub(out)
    dealt = sum(result.count for result in deal.stacks) + reported.count
    expect((dealt, reported.drawn) == (block, block), f"{block} cards out", f"{dealt} counted, then {reported!r}")


@requirement(24, "States", hands=True, needs=("SO-22",))
async def nothing_left(bench: Bench) -> None:
    """When empty it refuses Dispense with 444, CountStub with 424, and Load without a block with 421."""
    replies = (await brought_out(bench)).refused
    for name, reason in (("Load", m.Reason.NOTHING_LOADED), ("Dispense", m.Reason.SHOE_EMPTY),
                         ("CountStub", m.Reason.NOTHING_TO_EJECT)):  # fmt: skip
        all_refused({name: replies[name]}, reason, "of an empty shoe")


@requirement(25, "What moves, and how it ends", hands=True, needs=("SO-14",))
async def short_stack(bench: Bench) -> None:
    """When the well runs empty in mid-stack, it sends ShortStack with the cards that came, then FAILED with 450."""
    deal = await _deal(bench)
    left = deal.between[-1].left
    if not left:
        raise NotChecked("the block was a multiple of ten cards")
    await bench.do(OPEN_DOOR)  # or it would know that there are too few
    await bench.do(CLOSE_DOOR)
    async with bench.visit() as visit:
        command = await begin(visit, m.Dispense(bench.next_id(), m.MAX_STACK))
        settled = settled_as(await visit.end(command, SHORT), Outcome.FAILED, m.Reason.SHORT_STACK)
        await asyncio.sleep(QUIET)
        reported: m.ShortStack = one_end(visit.events, command, m.ShortStack, settled)
        expect((reported.wanted, reported.got) == (m.MAX_STACK, left), f"{left} of {m.MAX_STACK}", reported)
        status = await status_of(visit)
        expect(status.stacks == deal.between[-1].stacks, "no stack more", status)
