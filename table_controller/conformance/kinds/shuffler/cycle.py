"""SH-10 to SH-19: one cycle, watched from beginning to end; SH-30 and SH-80 up: further decks, by hand."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from devices.gauges import Transit
from devices.shuffler import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled
from firmware_bridge.link import SILENCE
from table_controller.conformance.hands import Step
from table_controller.conformance.kinds.shuffler.machine import (
    COMMANDS,
    CYCLE,
    RELOAD,
    SHORT,
    all_refused,
    begin,
    cycling,
    emptied,
    loaded,
    one_end,
    ready,
    refusals,
    rest,
    settled_as,
    status_of,
)
from table_controller.conformance.probe import LINE, QUIET
from table_controller.conformance.requirements import NotChecked, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

SWAP = Step("take the deck, replace one card by a copy of another, and put it into the intake",
            ("take_deck", "load", "swapped_card"))  # fmt: skip


class Cycle(msgspec.Struct):
    """Everything that was seen of one cycle."""

    before: m.Status
    reply: Accepted | Settled
    moved_before: list[Transit]
    events: list[Any] = []
    states: list[m.State] = []
    refused: dict[m.State, dict[str, Settled | Accepted]] = {}
    settled: Settled | None = None
    after: m.Status | None = None
    moved_after: list[Transit] = []

    @property
    def command(self) -> int:
        """The cycle's id."""
        return self.reply.command

    def completed(self) -> m.Completed:
        """The one end that a good cycle has."""
        settled = settled_as(self.settled, Outcome.DONE, m.Reason.NONE)
        result: m.Completed = one_end(self.events, self.command, m.Completed, settled)
        return result


async def watched(bench: Bench) -> Cycle:
    """Run a cycle and look at it all the time; done once for all requirements about it."""
    seen: Cycle = await bench.once("cycle", _watch)
    return seen


async def _watch(bench: Bench) -> Cycle:
    await loaded(bench)
    async with bench.visit() as visit:
        before, moved = await status_of(visit), await visit.ask(m.GetTransits(), m.Transits)
        cycle = Cycle(before, await visit.order(m.StartCycle(bench.next_id())), moved.segments)
        if isinstance(cycle.reply, Settled):
            return cycle
        await _look_on(visit, bench, cycle)
        await asyncio.sleep(QUIET)
        cycle.after, cycle.events = await status_of(visit), list(visit.events)
        cycle.moved_after = (await visit.ask(m.GetTransits(), m.Transits)).segments
        return cycle


async def _look_on(visit: Visit, bench: Bench, cycle: Cycle) -> None:
    """Ask for the state until the end, and try every other command once in each half."""
    loop = asyncio.get_running_loop()
    late = loop.time() + CYCLE
    while cycle.settled is None and loop.time() < late:
        state = (await status_of(visit)).state
        if not cycle.states or cycle.states[-1] is not state:
            cycle.states.append(state)
        if state in (m.State.FEEDING, m.State.UNLOADING) and state not in cycle.refused:
            replies = await refusals(visit, bench, COMMANDS)
            if (await status_of(visit)).state is state:  # else the other half began meanwhile
                cycle.refused[state] = replies
        cycle.settled = await visit.until(
            lambda event: isinstance(event, Settled) and event.command == cycle.command, 0.1
        )


@cycling(10, "States")
async def states(bench: Bench) -> None:
    """A cycle is accepted, and its state is FEEDING, then UNLOADING."""
    cycle = await watched(bench)
    expect(isinstance(cycle.reply, Accepted), "Accepted to StartCycle", cycle.reply)
    moving = [state for state in cycle.states if state in (m.State.FEEDING, m.State.UNLOADING)]
    expect(moving == [m.State.FEEDING, m.State.UNLOADING], "FEEDING, then UNLOADING", cycle.states)


@cycling(11, "A cycle", needs=("SH-10",))
async def one_completed(bench: Bench) -> None:
    """A cycle of a deck ends in exactly one Completed and then exactly one Settled DONE."""
    (await watched(bench)).completed()


@cycling(12, "Counting", needs=("SH-11",))
async def counted(bench: Bench) -> None:
    """Afterwards it is READY, with none inside, the count of Completed behind the gate, and one more cycle."""
    cycle = await watched(bench)
    completed = cycle.completed()
    expected = msgspec.structs.replace(
        cycle.before, state=m.State.READY, cards_in_intake=False, inside=0, behind_gate=completed.count,
        cycles=cycle.before.cycles + 1, reason=m.Reason.NONE,
    )  # fmt: skip
    expect(completed.count > 0, "cards that were counted", completed)
    expect(cycle.after == expected, repr(expected), cycle.after)


@cycling(13, "A cycle", needs=("SH-11",))
async def progress(bench: Bench) -> None:
    """Progress comes in both phases; its counts never decrease, are consistent, and end at the count of Completed."""
    cycle = await watched(bench)
    count = cycle.completed().count
    reported = [event for event in cycle.events if isinstance(event, m.Progress)]
    phases = {event.phase for event in reported}
    expect(
        phases == {m.Phase.FEEDING, m.Phase.UNLOADING}, "Progress while cards go in, and while they come out", reported
    )
    for event in reported:
        expect(event.command == cycle.command, f"Progress about {cycle.command}", event)
        expect(event.left <= event.entered <= count, f"left <= entered <= {count}", event)
        whole = event.phase is m.Phase.FEEDING or event.entered == count
        expect(whole, "every card in before the first comes out", event)
    for earlier, later in pairwise(reported):
        rising = (earlier.phase, earlier.entered, earlier.left) <= (later.phase, later.entered, later.left)
        expect(rising, "counts that do not fall", f"{earlier!r}, then {later!r}")
    for phase in m.Phase.FEEDING, m.Phase.UNLOADING:
        last = [event for event in reported if event.phase is phase][-1]
        moved = last.entered if phase is m.Phase.FEEDING else last.left
        expect(moved == count, f"{count} in the last Progress of {phase.name}", last)


@cycling(14, "States", needs=("SH-10",))
async def busy_feeding(bench: Bench) -> None:
    """In FEEDING every other motion is refused with 420."""
    _busy(await watched(bench), m.State.FEEDING)


@cycling(15, "States", needs=("SH-10",))
async def busy_unloading(bench: Bench) -> None:
    """In UNLOADING every other motion is refused with 420."""
    _busy(await watched(bench), m.State.UNLOADING)


def _busy(cycle: Cycle, state: m.State) -> None:
    if state not in cycle.refused:
        raise NotChecked(f"{state.name} was over before it could be observed; run the simulator more slowly")
    all_refused(cycle.refused[state], m.Reason.BUSY, f"in {state.name}")


@cycling(16, "A cycle", needs=("SH-11",))
async def intake_empty(bench: Bench) -> None:
    """Intake is sent once, when the last card is fed."""
    cycle = await watched(bench)
    reported = [event for event in cycle.events if isinstance(event, m.Intake)]
    expect(reported == [m.Intake(False)], "one Intake with empty", reported)


@cycling(17, "Messages", needs=("SH-11",))
async def transits(bench: Bench) -> None:
    """Transit statistics grow by one for every card in every segment, and are consistent."""
    cycle = await watched(bench)
    count = cycle.completed().count
    for segment, earlier, later in zip(m.Segment, cycle.moved_before, cycle.moved_after, strict=True):
        expect(later.cards - earlier.cards == count, f"{count} more in {segment.name}", f"{earlier}, then {later}")
        expect(later.least <= later.mean <= later.most, f"least <= mean <= most in {segment.name}", later)


@cycling(18, "What is never sent", needs=("SH-11",))
async def no_findings(bench: Bench) -> None:
    """For a deck that was not rejected there are no findings: NoFindings with 427."""
    expect(not (await watched(bench)).completed().rejected, "a deck that is not rejected", "rejected")
    await ready(bench)
    async with bench.visit() as visit:
        result = await visit.ask(m.GetFindings(), m.Findings, m.NoFindings)
        expect(result == m.NoFindings(m.Reason.NOT_A_FINDING), "NoFindings with 427", "findings")


# --- with an operator: a second deck in the intake ------------------------------------------------------------------


@cycling(30, "A cycle", hands=True)
async def intake_told(bench: Bench) -> None:
    """When cards are put into the intake, Intake is sent and the status shows them."""
    await emptied(bench)
    async with bench.visit() as visit:
        await bench.do(RELOAD)
        reported = await visit.event(m.Intake, bench.hands.patience)
        expect(reported.cards, "Intake with cards", reported)
        expect((await status_of(visit)).cards_in_intake, "cards in the intake", await status_of(visit))


@cycling(31, "A cycle", hands=True, needs=("SH-11",))
async def sorts(bench: Bench) -> None:
    """A cycle in SORT has mode SORT in Completed, and counts the same deck the same."""
    count = (await watched(bench)).completed().count
    await loaded(bench)
    async with bench.visit() as visit:
        await visit.done(m.SetMode(bench.next_id(), m.Mode.SORT), SHORT)
        await visit.done(m.StartCycle(bench.next_id()), CYCLE)
        completed = await visit.event(m.Completed, QUIET)
        expect(completed.mode is m.Mode.SORT, "mode SORT", completed)
        expect(completed.count == count, f"{count} cards, as before", completed)
    await rest(bench)


@cycling(32, "Heartbeat and silence", page="docs/protocol.md", hands=True, needs=("SH-11",))
async def alone(bench: Bench) -> None:
    """A cycle continues while its host is silent, and the next session finds it DONE."""
    await loaded(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.StartCycle(bench.next_id()))
    await asyncio.sleep(SILENCE + 2 * LINE)
    async with bench.visit() as visit:
        known = await visit.outcome(command)
        if known.outcome is Outcome.RUNNING:
            known = await visit.end(command, CYCLE)
        settled_as(known, Outcome.DONE, m.Reason.NONE)


@cycling(80, "What is never sent", hands=True, needs=("SH-11",), capability=m.IDENTIFIES)  # fmt: skip
async def rejects(bench: Bench) -> None:
    """A wrong deck or batch is rejected, and its findings list the missing and extra cards, in its model's form."""
    await rest(bench)
    await bench.do(SWAP)
    async with bench.visit() as visit:
        command = bench.next_id()
        await visit.done(m.StartCycle(command), CYCLE)
        completed = await visit.event(m.Completed, QUIET)
        expect(completed.rejected, "a deck that is rejected", completed)
        # How many, never which: findings name cards.
        result, missing, extra = await _findings(visit)
        wholly = result == command and missing == extra == 1
        expect(wholly, "one card missing and one extra", f"{missing} missing, {extra} extra")
        await visit.done(m.Eject(bench.next_id()), SHORT)
        gone = await visit.ask(m.GetFindings(), m.Findings, m.BatchFindings, m.NoFindings)
        expect(isinstance(gone, m.NoFindings), "no findings once the deck was given out", "findings")


async def _findings(visit: Visit) -> tuple[int, int, int]:
    """Ask what is wrong, in the form of the model; return about which cycle, how many are missing, how many extra."""
    if m.BATCH in visit.hello.capabilities:
        tallies = await visit.ask(m.GetFindings(), m.BatchFindings)
        return tallies.command, sum(tallies.missing), sum(tallies.extra)
    result = await visit.ask(m.GetFindings(), m.Findings)
    return result.command, len(result.missing), len(result.extra)
