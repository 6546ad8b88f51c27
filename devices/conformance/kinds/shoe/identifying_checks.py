"""Requirements (SO-70 to SO-82) on a shoe that identifies cards: what it releases, to whom, and when it forgets.

Evidence never names a card: the report of the kit stays free of card values. Every session of the kit is one of the
role `bench`, at whose start a shoe forgets; so the kit cannot know whether a loss of power made it forget before.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from devices.cards import CARD_NUMBERS
from devices.conformance.assertions import begin_command, expect_refused, expect_same_except
from devices.conformance.kinds.shoe.fault_checks import MIDWAY
from devices.conformance.kinds.shoe.manual_checks import DRAW_ROUND, ROUND
from devices.conformance.kinds.shoe.setup import (
    BLOCK_LIMIT_S,
    CHAPTER,
    CLEAR_PATH,
    EMPTY_SLOT,
    RELOAD,
    bring_to_block_ready,
    bring_to_loaded,
    is_manual,
    status_of,
    wait_for_cards,
)
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import expect
from devices.conformance.shared_checks import LOOK_INSIDE, SHORT_LIMIT_S
from devices.shoe import messages as m
from firmware_bridge.commands import Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

requirement = partial(CHAPTER.requirement, capability=m.IDENTIFIES, needs_operator=True)
stack_requirement = partial(
    CHAPTER.requirement, capability=f"{m.IDENTIFIES} {m.DISPENSES}", needs_operator=True, needs=("SO-70",)
)
# Cards in a stack of these checks.
STACK: Final = 7
BLANK: Final = ManualStep(
    "make the third card of the deck unreadable, for example with tape over its index", ("card_unread:card=3",)
)
COPY: Final = ManualStep("replace the third card of the deck by a copy of the second", ("card_misread:card=3",))


class ReleasableUnit(msgspec.Struct, frozen=True):
    """A unit that was dealt: what dealt it, its number in a round, and how many cards it has."""

    dealt_by: int
    card: int
    size: int

    def order(self, command: int) -> m.ReleaseCards:
        """Return the order to release it."""
        return m.ReleaseCards(command, self.dealt_by, self.card)


async def _deal(bench: ConformanceBench, visit: CheckSession) -> ReleasableUnit:
    """Deal a unit, and have a person take it."""
    command = bench.next_id()
    if is_manual(visit):
        await visit.send_command(m.StartRound(command))
        since = len(visit.events)
        await bench.perform(DRAW_ROUND)
        await visit.wait_until(
            lambda _: len(visit.events_of(m.Drawn, since)) >= ROUND, bench.operator.effect_timeout_s, since
        )
        return ReleasableUnit(command, ROUND - 1, 1)
    await visit.complete_command(m.Dispense(command, STACK), SHORT_LIMIT_S)
    await bench.perform(EMPTY_SLOT)
    return ReleasableUnit(command, 0, STACK)


async def _release(bench: ConformanceBench, visit: CheckSession, unit: ReleasableUnit) -> m.CardsReleased:
    """Have a unit released; expect exactly one CardsReleased about it, right before the answer."""
    since, order = len(visit.events), unit.order(bench.next_id())
    reply = await visit.send_command(order)
    await asyncio.sleep(QUIET_S)
    expect(reply == Settled(order.command, Outcome.DONE, 0), "ReleaseCards DONE at once", reply)
    sent = visit.events_of(m.CardsReleased, since)
    named = [(each.command, each.dealt_by, each.card) for each in sent]
    expect(named == [(order.command, unit.dealt_by, unit.card)], "one CardsReleased about this unit", str(named))
    expect(not visit.events_of(Settled, since), "no Settled event after the reply", visit.events_of(Settled, since))
    released: m.CardsReleased = sent[0]
    return released


async def _expect_forgotten(bench: ConformanceBench, visit: CheckSession, unit: ReleasableUnit, after: str) -> None:
    await expect_refused(visit, unit.order(bench.next_id()), m.Reason.UNIT_FORGOTTEN, after)
    expect(not visit.events_of(m.CardsReleased), "no CardsReleased", visit.events_of(m.CardsReleased))


@requirement(70, "Releasing cards", at=bring_to_loaded)
async def release(bench: ConformanceBench, visit: CheckSession) -> None:
    """ReleaseCards sends one CardsReleased about its unit, and then Settled DONE as its reply; nothing else changes."""
    unit = await _deal(bench, visit)
    before = await status_of(visit)
    await _release(bench, visit, unit)
    expect_same_except(before, await status_of(visit))


@requirement(71, "Releasing cards", needs=("SO-70",), at=bring_to_loaded)
async def ascending(bench: ConformanceBench, visit: CheckSession) -> None:
    """The values are card numbers in ascending order, no two equal; values and unread are the cards of the unit."""
    unit = await _deal(bench, visit)
    released = await _release(bench, visit, unit)
    cards = list(released.cards)
    expect(cards == sorted(set(cards)), "values in ascending order, no two equal", "another order")
    expect(all(card in CARD_NUMBERS for card in cards), "card numbers", "another number")
    read = (len(cards), released.unread)
    expect(read == (unit.size, 0), f"{unit.size} values, 0 unread", f"{read[0]} values, {read[1]} unread")


@requirement(72, "Releasing cards", needs=("SO-70",), at=bring_to_loaded)
async def again(bench: ConformanceBench, visit: CheckSession) -> None:
    """The id of a release again releases nothing; a new id releases the same values again."""
    unit = await _deal(bench, visit)
    first = await _release(bench, visit, unit)
    since = len(visit.events)
    reply = await visit.send_command(unit.order(first.command))
    await asyncio.sleep(QUIET_S)
    expect(reply == Settled(first.command, Outcome.DONE, 0), "the known outcome", reply)
    expect(not visit.events_of(m.CardsReleased, since), "no CardsReleased", visit.events_of(m.CardsReleased, since))
    second = await _release(bench, visit, unit)
    same = (first.cards, first.unread) == (second.cards, second.unread)
    expect(same, "the same values for the same unit", "other values")


@requirement(73, "Releasing cards", needs=("SO-70",), at=bring_to_loaded)
async def no_such_unit(bench: ConformanceBench, visit: CheckSession) -> None:
    """A unit that was not dealt is refused with 453: an id that dealt nothing, or a number that no card has."""
    unit = await _deal(bench, visit)
    other = 0 if unit.card else 1
    for order in (
        m.ReleaseCards(bench.next_id(), bench.next_id(), unit.card),
        m.ReleaseCards(bench.next_id(), unit.dealt_by, other),
        m.ReleaseCards(bench.next_id(), unit.dealt_by, ROUND + 1),
    ):
        await expect_refused(visit, order, m.Reason.NO_SUCH_UNIT, "for a unit that was not dealt")
    expect(not visit.events_of(m.CardsReleased), "no CardsReleased", visit.events_of(m.CardsReleased))


@requirement(74, "What is never sent", needs=("SO-70",), at=bring_to_loaded)
async def only_when_ordered(bench: ConformanceBench, visit: CheckSession) -> None:
    """Without an order no card value is sent, neither while cards are dealt nor when the stub comes out."""
    await _deal(bench, visit)
    if not is_manual(visit):
        await visit.complete_command(m.CountStub(bench.next_id()), BLOCK_LIMIT_S)
    await asyncio.sleep(QUIET_S)
    expect(not visit.events_of(m.CardsReleased), "no CardsReleased", visit.events_of(m.CardsReleased))


@stack_requirement(75, "Releasing cards", at=bring_to_loaded)
async def untaken(bench: ConformanceBench, visit: CheckSession) -> None:
    """A stack that lies in the slot is refused with 442: nobody can have seen it. The stacks before it are not."""
    first = await _deal(bench, visit)
    second = bench.next_id()
    await visit.complete_command(m.Dispense(second, STACK), SHORT_LIMIT_S)
    order = m.ReleaseCards(bench.next_id(), second, 0)
    await expect_refused(visit, order, m.Reason.SLOT_OCCUPIED, "for the stack in the slot")
    await _release(bench, visit, first)


@stack_requirement(76, "States", at=bring_to_loaded)
async def busy(bench: ConformanceBench, visit: CheckSession) -> None:
    """While cards move, a release is refused with 420."""
    unit = await _deal(bench, visit)
    moving = await begin_command(visit, m.Dispense(bench.next_id(), m.MAX_STACK))
    await expect_refused(visit, unit.order(bench.next_id()), m.Reason.BUSY, "in DISPENSING")
    await visit.wait_settled(moving, SHORT_LIMIT_S)


@requirement(77, "When it forgets", needs=("SO-70",), at=bring_to_loaded)
async def forgets_with_the_next(bench: ConformanceBench, visit: CheckSession) -> None:
    """It forgets when other cards take the place of these: the next block, or the next round; then 454."""
    unit = await _deal(bench, visit)
    if is_manual(visit):
        await visit.send_command(m.StartRound(bench.next_id()))
    else:
        await visit.complete_command(m.CountStub(bench.next_id()), BLOCK_LIMIT_S)
        await bench.perform(RELOAD)
        await visit.complete_command(m.Load(bench.next_id()), BLOCK_LIMIT_S)
    await _expect_forgotten(bench, visit, unit, "after the next block or round")


@stack_requirement(78, "When it forgets", at=bring_to_loaded)
async def forgets_after_a_halt(bench: ConformanceBench, visit: CheckSession) -> None:
    """It forgets when motion halts, and after it was cleared it still refuses with 454."""
    unit = await _deal(bench, visit)
    stopped = await begin_command(visit, m.Dispense(bench.next_id(), m.MAX_STACK))
    await wait_for_cards(visit, MIDWAY)
    await visit.send_command(m.Stop(bench.next_id()))
    await visit.wait_settled(stopped, SHORT_LIMIT_S)
    await bench.perform(CLEAR_PATH)
    await visit.complete_command(m.ClearJam(bench.next_id()), BLOCK_LIMIT_S)
    await _expect_forgotten(bench, visit, unit, "after a halt")


@stack_requirement(79, "When it forgets", at=bring_to_loaded)
async def forgets_when_opened(bench: ConformanceBench, visit: CheckSession) -> None:
    """It forgets when its door is opened; then 454."""
    unit = await _deal(bench, visit)
    await bench.perform(LOOK_INSIDE)
    await _expect_forgotten(bench, visit, unit, "after the door was open")


@requirement(80, "When it forgets", needs=("SO-70",))
async def forgets_for_a_bench(bench: ConformanceBench) -> None:
    """A session of a host in the role `bench` gets nothing that was dealt before it: 454."""
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        unit = await _deal(bench, visit)
    async with bench.session() as visit:
        await _expect_forgotten(bench, visit, unit, "in the next bench session")


@stack_requirement(81, "Releasing cards")
async def unread(bench: ConformanceBench) -> None:
    """A card that cannot be read is only counted: its stack is released without a value for it."""
    await bring_to_block_ready(bench)
    async with bench.session() as visit:
        await visit.complete_command(m.Load(bench.next_id()), BLOCK_LIMIT_S)
        await bench.perform(BLANK)
        released = await _release(bench, visit, await _deal(bench, visit))
        read = (len(released.cards), released.unread)
        expect(read == (STACK - 1, 1), f"{STACK - 1} values, 1 unread", f"{read[0]} values, {read[1]} unread")


@stack_requirement(82, "Releasing cards")
async def identified_twice(bench: ConformanceBench) -> None:
    """A stack with a card that was identified twice in its deck is refused with 455; no card is named."""
    await bring_to_block_ready(bench)
    async with bench.session() as visit:
        await visit.complete_command(m.Load(bench.next_id()), BLOCK_LIMIT_S)
        await bench.perform(COPY)
        unit = await _deal(bench, visit)
        await expect_refused(visit, unit.order(bench.next_id()), m.Reason.CARD_TWICE, "with a card twice in the deck")
        expect(not visit.events_of(m.CardsReleased), "no CardsReleased", visit.events_of(m.CardsReleased))
