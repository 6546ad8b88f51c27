"""RN-01 to RN-19: a healthy generator that draws, shows, remembers and restarts. Needs no operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.chance import BLOCK_SAMPLES, PROPORTION_CUTOFF, REPETITION_CUTOFF, STARTUP_SAMPLES, WINDOW
from devices.rng import messages as m
from firmware_bridge.commands import REMEMBERED, Outcome, Settled
from table_controller.conformance.judging import begin, one_end, refused, restarted, same_but, settled_as
from table_controller.conformance.kinds.rng.machine import CHAPTER, SHORT, cleared, drawn, number_of, rest, status_of
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import NotChecked, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench

# So many draws leave one of seven even numbers out once in fifteen million runs: 7 * (6/7)^120.
MANY: Final = 120


@CHAPTER.requirement(1, "From noise to number")
async def healthy(bench: Bench) -> None:
    """When it is idle, the display is blank, its start-up samples were tested, and no count reached its cutoff."""
    await rest(bench)
    async with bench.visit() as visit:
        status, health = await status_of(visit), await visit.ask(m.GetHealth(), m.Health)
        meant = (status.state, status.number, status.segments, status.reason)
        expect(meant == (m.State.IDLE, None, m.BLANK, m.Reason.NONE), "IDLE, no number, a blank display", status)
        cutoffs = (health.repetition_cutoff, health.proportion_cutoff, health.window)
        expected = (REPETITION_CUTOFF, PROPORTION_CUTOFF, WINDOW)
        expect(cutoffs == expected, f"cutoffs and window {expected}", health)
        expect(health.samples >= STARTUP_SAMPLES, f"{STARTUP_SAMPLES} samples or more", health)
        below = health.longest < health.repetition_cutoff and health.highest < health.proportion_cutoff
        expect(below, "counts below their cutoffs", health)


@CHAPTER.requirement(2, "A draw")
async def draws(bench: Bench) -> None:
    """A draw gives exactly one number from 1 to 7, which is shown on the display: SHOWING, one more draw."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        result = await drawn(bench, visit)
        same_but(
            before, await status_of(visit), state=m.State.SHOWING, draw=result.command, number=result.number,
            segments=result.segments, draws=before.draws + 1,
        )  # fmt: skip
        await asyncio.sleep(QUIET)
        expect(len(visit.told(m.Drawn)) == 1, "one Drawn", visit.told(m.Drawn))


@CHAPTER.requirement(3, "States", needs=("RN-02",))
async def busy_drawing(bench: Bench) -> None:
    """During a draw it is DRAWING, and Draw, Clear and SelfTest are refused with 420."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.Draw(bench.next_id()))
        status = await status_of(visit)
        for order in (m.Draw(bench.next_id()), m.Clear(bench.next_id()), m.SelfTest(bench.next_id())):
            await refused(visit, order, m.Reason.BUSY, "in DRAWING")
        if visit.about(command):
            raise NotChecked("the draw ended before it could be observed; run the simulator more slowly")
        expect(status.state is m.State.DRAWING, "DRAWING", status)
        await visit.end(command, SHORT)


@CHAPTER.requirement(4, "States", needs=("RN-02",))
async def number_shown(bench: Bench) -> None:
    """While a number is shown, Draw and SelfTest are refused with 472, and the number stays."""
    await rest(bench)
    async with bench.visit() as visit:
        await drawn(bench, visit)
        before = await status_of(visit)
        for order in (m.Draw(bench.next_id()), m.SelfTest(bench.next_id())):
            await refused(visit, order, m.Reason.NUMBER_SHOWN, "while a number is shown")
        same_but(before, await status_of(visit))


@CHAPTER.requirement(5, "A draw", needs=("RN-02",))
async def same_number(bench: Bench) -> None:
    """A draw is never repeated: the same id gets no second number, and its number is the same for every request."""
    await rest(bench)
    async with bench.visit() as visit:
        result = await drawn(bench, visit)
        asked = [await number_of(visit, result.command) for _ in range(2)]
        await cleared(bench, visit)
        reply = await visit.order(m.Draw(result.command))
        expect(reply == Settled(result.command, Outcome.DONE, 0), "Settled DONE, as it was", reply)
        await asyncio.sleep(2 * QUIET)
        expect(visit.told(m.Drawn) == [result], "no second Drawn", visit.told(m.Drawn))
        expect((await status_of(visit)).state is m.State.IDLE, "IDLE", await status_of(visit))
        asked.append(await number_of(visit, result.command))
        await drawn(bench, visit)
        asked.append(await number_of(visit, result.command))
        expect(asked == [result.number] * len(asked), f"{result.number} every time", asked)


@CHAPTER.requirement(6, "States", needs=("RN-02",))
async def clears(bench: Bench) -> None:
    """Clear blanks the display, with Cleared: IDLE, and the draw is still remembered. It may be repeated."""
    await rest(bench)
    async with bench.visit() as visit:
        await drawn(bench, visit)
        before = await status_of(visit)
        for _ in range(2):
            command = bench.next_id()
            await visit.done(m.Clear(command), SHORT)
            await asyncio.sleep(QUIET)
            expect(m.Cleared(command) in visit.events, f"Cleared about {command}", visit.events)
            same_but(before, await status_of(visit), state=m.State.IDLE, number=None, segments=m.BLANK)


@CHAPTER.requirement(7, "A draw")
async def unknown(bench: Bench) -> None:
    """An unknown draw has no number."""
    async with bench.visit() as visit:
        number = await number_of(visit, bench.next_id())
        expect(number is None, "no number", number)


@CHAPTER.requirement(8, "A draw", needs=("RN-02",))
async def shown_again(bench: Bench) -> None:
    """After a restart the display shows the number again."""
    await rest(bench)
    async with bench.visit() as visit:
        await drawn(bench, visit)
        before = await status_of(visit)
        await visit.done(m.Reset(bench.next_id()), SHORT)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        same_but(before, await status_of(visit))


@CHAPTER.requirement(9, "A draw", needs=("RN-02",))
async def interrupted(bench: Bench) -> None:
    """A draw that a restart interrupts has no number: FAILED with 435, nothing shown, nothing counted."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        command = await begin(visit, m.Draw(bench.next_id()))
        await visit.order(m.Reset(bench.next_id()))
    await restarted(bench, visit)
    async with bench.visit() as visit:
        known, number = await visit.outcome(command), await number_of(visit, command)
        if known.outcome is Outcome.DONE:
            raise NotChecked("the draw ended before the restart; run the simulator more slowly")
        settled_as(known, Outcome.FAILED, m.Reason.POWER_LOST)
        expect(number is None, "no number", number)
        same_but(before, await status_of(visit))


@CHAPTER.requirement(10, "Failure")
async def tested(bench: Bench) -> None:
    """A self-test of a healthy generator ends in SelfTested with 0 and then Settled DONE: IDLE."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        command = await begin(visit, m.SelfTest(bench.next_id()))
        settled = settled_as(await visit.end(command, SHORT), Outcome.DONE, m.Reason.NONE)
        await asyncio.sleep(QUIET)
        reported: m.SelfTested = one_end(visit, command, m.SelfTested, settled)
        expect(reported.reason is m.Reason.NONE, "reason 0", reported)
        same_but(before, await status_of(visit))


@CHAPTER.requirement(11, "States")
async def testing(bench: Bench) -> None:
    """During a self-test it is TESTING, and Draw, Clear and SelfTest are refused with 420."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.SelfTest(bench.next_id()))
        status = await status_of(visit)
        for order in (m.Draw(bench.next_id()), m.Clear(bench.next_id()), m.SelfTest(bench.next_id())):
            await refused(visit, order, m.Reason.BUSY, "in TESTING")
        if visit.about(command):
            raise NotChecked("the test ended before it could be observed; run the simulator more slowly")
        expect(status.state is m.State.TESTING, "TESTING", status)
        await visit.end(command, SHORT)


@CHAPTER.requirement(12, "A draw", needs=("RN-06",))
async def remembers(bench: Bench) -> None:
    """It remembers the numbers of its last 16 draws, also through a restart."""
    await rest(bench)
    async with bench.visit() as visit:
        numbers = {}
        for _ in range(REMEMBERED):
            result = await drawn(bench, visit)
            numbers[result.command] = result.number
            await cleared(bench, visit)
        await visit.done(m.Reset(bench.next_id()), SHORT)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        known = {command: await number_of(visit, command) for command in numbers}
        expect(known == numbers, f"{list(numbers.values())}", f"{list(known.values())}")


@CHAPTER.requirement(13, "From noise to number", needs=("RN-06",))
async def fresh_samples(bench: Bench) -> None:
    """Each draw uses a new block of samples: no number is kept in memory."""
    await rest(bench)
    async with bench.visit() as visit:
        for _ in range(3):
            before = (await visit.ask(m.GetHealth(), m.Health)).samples
            await drawn(bench, visit)
            after = (await visit.ask(m.GetHealth(), m.Health)).samples
            expect(after >= before + BLOCK_SAMPLES, f"{BLOCK_SAMPLES} samples or more for a draw", f"{after - before}")
            await cleared(bench, visit)


@CHAPTER.requirement(14, "From noise to number", needs=("RN-06",))
async def every_number(bench: Bench) -> None:
    """In 120 draws every number from 1 to 7 occurs."""
    await rest(bench)
    async with bench.visit() as visit:
        seen = set()
        for _ in range(MANY):
            seen.add((await drawn(bench, visit)).number)
            await cleared(bench, visit)
        expect(seen == set(m.SEGMENTS), f"{sorted(m.SEGMENTS)}", f"{sorted(seen)}")
