"""SH-10 to SH-19: one cycle, watched from beginning to end; SH-30 and SH-80 up: further decks, by hand."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from devices.conformance.assertions import begin_command, expect_settled
from devices.conformance.kinds.shuffler.setup import (
    COMMANDS,
    CYCLE_LIMIT_S,
    RELOAD,
    bring_to_empty,
    bring_to_idle,
    bring_to_loaded,
    bring_to_ready,
    cycling,
    expect_one_end,
    status_of,
)
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import LINE_ALLOWANCE_S, QUIET_S
from devices.conformance.requirements import NotChecked, expect
from devices.conformance.shared_checks import SHORT_LIMIT_S, expect_all_refused, try_commands
from devices.path_telemetry import TransitTimes
from devices.shuffler import messages as m
from firmware_bridge.commands import Accepted, Outcome, Settled
from firmware_bridge.link import SILENCE_LIMIT_S

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

SWAP = ManualStep("take the deck, replace one card by a copy of another, and put it into the intake",
            ("take_deck", "load", "swapped_card"))  # fmt: skip


class WatchedCycle(msgspec.Struct):
    """Everything that was seen of one cycle."""

    before: m.Status
    reply: Accepted | Settled
    moved_before: list[TransitTimes]
    events: list[Any] = []
    states: list[m.State] = []
    refused: dict[m.State, dict[str, Settled | Accepted]] = {}
    settled: Settled | None = None
    after: m.Status | None = None
    moved_after: list[TransitTimes] = []

    @property
    def command(self) -> int:
        """The cycle's id."""
        return self.reply.command

    def completed(self) -> m.Completed:
        """The one end that a good cycle has."""
        settled = expect_settled(self.settled, Outcome.DONE, m.Reason.NONE)
        result: m.Completed = expect_one_end(self.events, self.command, m.Completed, settled)
        return result


async def watched(bench: ConformanceBench) -> WatchedCycle:
    """Run a cycle and look at it all the time; done once for all requirements about it."""
    seen: WatchedCycle = await bench.observe_once("cycle", _watch)
    return seen


async def _watch(bench: ConformanceBench) -> WatchedCycle:
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        before, moved = await status_of(visit), await visit.ask(m.GetTransits(), m.Transits)
        cycle = WatchedCycle(before, await visit.send_command(m.StartCycle(bench.next_id())), moved.segments)
        if isinstance(cycle.reply, Settled):
            return cycle
        await _look_on(visit, bench, cycle)
        await asyncio.sleep(QUIET_S)
        cycle.after, cycle.events = await status_of(visit), list(visit.events)
        cycle.moved_after = (await visit.ask(m.GetTransits(), m.Transits)).segments
        return cycle


async def _look_on(visit: CheckSession, bench: ConformanceBench, cycle: WatchedCycle) -> None:
    """Ask for the state until the end, and try every other command once in each half."""
    loop = asyncio.get_running_loop()
    late = loop.time() + CYCLE_LIMIT_S
    while cycle.settled is None and loop.time() < late:
        state = (await status_of(visit)).state
        if not cycle.states or cycle.states[-1] is not state:
            cycle.states.append(state)
        if state in (m.State.FEEDING, m.State.UNLOADING) and state not in cycle.refused:
            replies = await try_commands(visit, bench, COMMANDS)
            if (await status_of(visit)).state is state:  # else the other half began meanwhile
                cycle.refused[state] = replies
        cycle.settled = await visit.wait_until(
            lambda event: isinstance(event, Settled) and event.command == cycle.command, 0.1
        )


@cycling(10, "States")
async def states(bench: ConformanceBench) -> None:
    """A cycle is accepted, and its state is FEEDING, then UNLOADING."""
    cycle = await watched(bench)
    expect(isinstance(cycle.reply, Accepted), "Accepted to StartCycle", cycle.reply)
    moving = [state for state in cycle.states if state in (m.State.FEEDING, m.State.UNLOADING)]
    expect(moving == [m.State.FEEDING, m.State.UNLOADING], "FEEDING, then UNLOADING", cycle.states)


@cycling(11, "A cycle", needs=("SH-10",))
async def one_completed(bench: ConformanceBench) -> None:
    """A cycle of a deck ends in exactly one Completed and then exactly one Settled DONE."""
    (await watched(bench)).completed()


@cycling(12, "Counting", needs=("SH-11",))
async def counted(bench: ConformanceBench) -> None:
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
async def progress(bench: ConformanceBench) -> None:
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
async def busy_feeding(bench: ConformanceBench) -> None:
    """In FEEDING every other motion is refused with 420."""
    _busy(await watched(bench), m.State.FEEDING)


@cycling(15, "States", needs=("SH-10",))
async def busy_unloading(bench: ConformanceBench) -> None:
    """In UNLOADING every other motion is refused with 420."""
    _busy(await watched(bench), m.State.UNLOADING)


def _busy(cycle: WatchedCycle, state: m.State) -> None:
    if state not in cycle.refused:
        raise NotChecked(f"{state.name} was over before it could be observed; run the simulator more slowly")
    expect_all_refused(cycle.refused[state], m.Reason.BUSY, f"in {state.name}")


@cycling(16, "A cycle", needs=("SH-11",))
async def intake_empty(bench: ConformanceBench) -> None:
    """Intake is sent once, when the last card is fed."""
    cycle = await watched(bench)
    reported = [event for event in cycle.events if isinstance(event, m.Intake)]
    expect(reported == [m.Intake(False)], "one Intake with empty", reported)


@cycling(17, "Messages", needs=("SH-11",))
async def transits(bench: ConformanceBench) -> None:
    """Transit statistics grow by one for every card in every segment, and are consistent."""
    cycle = await watched(bench)
    count = cycle.completed().count
    for segment, earlier, later in zip(m.Segment, cycle.moved_before, cycle.moved_after, strict=True):
        expect(later.cards - earlier.cards == count, f"{count} more in {segment.name}", f"{earlier}, then {later}")
        expect(later.least <= later.mean <= later.most, f"least <= mean <= most in {segment.name}", later)


@cycling(18, "What is never sent", needs=("SH-11",))
async def no_findings(bench: ConformanceBench) -> None:
    """For a deck that was not rejected there are no findings: NoFindings with 427."""
    expect(not (await watched(bench)).completed().rejected, "a deck that is not rejected", "rejected")
    await bring_to_ready(bench)
    async with bench.session() as visit:
        result = await visit.ask(m.GetFindings(), m.Findings, m.NoFindings)
        expect(result == m.NoFindings(m.Reason.NOT_A_FINDING), "NoFindings with 427", "findings")


# --- with an operator: a second deck in the intake ------------------------------------------------------------------


@cycling(30, "A cycle", needs_operator=True, at=bring_to_empty)
async def intake_reported(bench: ConformanceBench, visit: CheckSession) -> None:
    """When cards are put into the intake, Intake is sent and the status shows them."""
    await bench.perform(RELOAD)
    reported = await visit.wait_for_event(m.Intake, bench.operator.effect_timeout_s)
    expect(reported.cards, "Intake with cards", reported)
    expect((await status_of(visit)).cards_in_intake, "cards in the intake", await status_of(visit))


@cycling(31, "A cycle", needs_operator=True, needs=("SH-11",))
async def sorts(bench: ConformanceBench) -> None:
    """A cycle in SORT has mode SORT in Completed, and counts the same deck the same."""
    count = (await watched(bench)).completed().count
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        await visit.complete_command(m.SetMode(bench.next_id(), m.Mode.SORT), SHORT_LIMIT_S)
        await visit.complete_command(m.StartCycle(bench.next_id()), CYCLE_LIMIT_S)
        completed = await visit.wait_for_event(m.Completed, QUIET_S)
        expect(completed.mode is m.Mode.SORT, "mode SORT", completed)
        expect(completed.count == count, f"{count} cards, as before", completed)
    await bring_to_idle(bench)


@cycling(32, "Heartbeat and silence", page="docs/protocol.md", needs_operator=True, needs=("SH-11",))
async def alone(bench: ConformanceBench) -> None:
    """A cycle continues while its host is silent, and the next session finds it DONE."""
    await bring_to_loaded(bench)
    async with bench.session() as visit:
        command = await begin_command(visit, m.StartCycle(bench.next_id()))
    await asyncio.sleep(SILENCE_LIMIT_S + 2 * LINE_ALLOWANCE_S)
    async with bench.session() as visit:
        known = await visit.ask_outcome(command)
        if known.outcome is Outcome.RUNNING:
            known = await visit.wait_settled(command, CYCLE_LIMIT_S)
        expect_settled(known, Outcome.DONE, m.Reason.NONE)


@cycling(80, "What is never sent", needs_operator=True, needs=("SH-11",), capability=m.IDENTIFIES)  # fmt: skip
async def rejects(bench: ConformanceBench) -> None:
    """A wrong deck or batch is rejected, and its findings list the missing and extra cards, in its model's form."""
    await bring_to_idle(bench)
    await bench.perform(SWAP)
    async with bench.session() as visit:
        command = bench.next_id()
        await visit.complete_command(m.StartCycle(command), CYCLE_LIMIT_S)
        completed = await visit.wait_for_event(m.Completed, QUIET_S)
        expect(completed.rejected, "a deck that is rejected", completed)
        # How many, never which: findings name cards.
        result, missing, extra = await _findings(visit)
        wholly = result == command and missing == extra == 1
        expect(wholly, "one card missing and one extra", f"{missing} missing, {extra} extra")
        await visit.complete_command(m.Eject(bench.next_id()), SHORT_LIMIT_S)
        gone = await visit.ask(m.GetFindings(), m.Findings, m.BatchFindings, m.NoFindings)
        expect(isinstance(gone, m.NoFindings), "no findings once the deck was given out", "findings")


async def _findings(visit: CheckSession) -> tuple[int, int, int]:
    """Ask what is wrong, in the form of the model; return about which cycle, how many are missing, how many extra."""
    if m.BATCH in visit.hello.capabilities:
        tallies = await visit.ask(m.GetFindings(), m.BatchFindings)
        return tallies.command, sum(tallies.missing), sum(tallies.extra)
    result = await visit.ask(m.GetFindings(), m.Findings)
    return result.command, len(result.missing), len(result.extra)
