"""RN-01 to RN-19: a healthy generator that draws, shows, remembers and restarts. Needs no operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.conformance.assertions import (
    begin_command,
    expect_refused,
    expect_same_except,
    expect_settled,
    wait_restarted,
)
from devices.conformance.kinds.rng.setup import CHAPTER, bring_to_idle, clear_display, draw_number, number_of, status_of
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import NotChecked, expect
from devices.conformance.shared_checks import SHORT_LIMIT_S, check_passes_self_test, check_testing
from devices.number_draw import BLOCK_SAMPLES, PROPORTION_CUTOFF, REPETITION_CUTOFF, STARTUP_SAMPLES, WINDOW
from devices.rng import messages as m
from firmware_bridge.commands import REMEMBERED, Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

# So many draws leave one of seven even numbers out once in fifteen million runs: 7 * (6/7)^120.
MANY: Final = 120


@CHAPTER.requirement(1, "From noise to number", at=bring_to_idle)
async def healthy(_: ConformanceBench, visit: CheckSession) -> None:
    """When it is idle, the display is blank, its start-up samples were tested, and no count reached its cutoff."""
    status, health = await status_of(visit), await visit.ask(m.GetHealth(), m.Health)
    meant = (status.state, status.number, status.segments, status.reason)
    expect(meant == (m.State.IDLE, None, m.BLANK, m.Reason.NONE), "IDLE, no number, a blank display", status)
    cutoffs = (health.repetition_cutoff, health.proportion_cutoff, health.window)
    expected = (REPETITION_CUTOFF, PROPORTION_CUTOFF, WINDOW)
    expect(cutoffs == expected, f"cutoffs and window {expected}", health)
    expect(health.samples >= STARTUP_SAMPLES, f"{STARTUP_SAMPLES} samples or more", health)
    below = health.longest < health.repetition_cutoff and health.highest < health.proportion_cutoff
    expect(below, "counts below their cutoffs", health)


@CHAPTER.requirement(2, "A draw", at=bring_to_idle)
async def draws(bench: ConformanceBench, visit: CheckSession) -> None:
    """A draw gives exactly one number from 1 to 7, which is shown on the display: SHOWING, one more draw."""
    before = await status_of(visit)
    result = await draw_number(bench, visit)
    expect_same_except(
        before, await status_of(visit), state=m.State.SHOWING, draw=result.command, number=result.number,
        segments=result.segments, draws=before.draws + 1,
    )  # fmt: skip
    await asyncio.sleep(QUIET_S)
    expect(len(visit.events_of(m.Drawn)) == 1, "one Drawn", visit.events_of(m.Drawn))


@CHAPTER.requirement(3, "States", needs=("RN-02",), at=bring_to_idle)
async def busy_drawing(bench: ConformanceBench, visit: CheckSession) -> None:
    """During a draw it is DRAWING, and Draw, Clear and SelfTest are refused with 420."""
    command = await begin_command(visit, m.Draw(bench.next_id()))
    status = await status_of(visit)
    for order in (m.Draw(bench.next_id()), m.Clear(bench.next_id()), m.SelfTest(bench.next_id())):
        await expect_refused(visit, order, m.Reason.BUSY, "in DRAWING")
    if visit.events_about(command):
        raise NotChecked("the draw ended before it could be observed; run the simulator more slowly")
    expect(status.state is m.State.DRAWING, "DRAWING", status)
    await visit.wait_settled(command, SHORT_LIMIT_S)


@CHAPTER.requirement(4, "States", needs=("RN-02",), at=bring_to_idle)
async def number_shown(bench: ConformanceBench, visit: CheckSession) -> None:
    """While a number is shown, Draw and SelfTest are refused with 472, and the number stays."""
    await draw_number(bench, visit)
    before = await status_of(visit)
    for order in (m.Draw(bench.next_id()), m.SelfTest(bench.next_id())):
        await expect_refused(visit, order, m.Reason.NUMBER_SHOWN, "while a number is shown")
    expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(5, "A draw", needs=("RN-02",), at=bring_to_idle)
async def same_number(bench: ConformanceBench, visit: CheckSession) -> None:
    """A draw is never repeated: the same id gets no second number, and its number is the same for every request."""
    result = await draw_number(bench, visit)
    asked = [await number_of(visit, result.command) for _ in range(2)]
    await clear_display(bench, visit)
    reply = await visit.send_command(m.Draw(result.command))
    expect(reply == Settled(result.command, Outcome.DONE, 0), "Settled DONE, as it was", reply)
    await asyncio.sleep(2 * QUIET_S)
    expect(visit.events_of(m.Drawn) == [result], "no second Drawn", visit.events_of(m.Drawn))
    expect((await status_of(visit)).state is m.State.IDLE, "IDLE", await status_of(visit))
    asked.append(await number_of(visit, result.command))
    await draw_number(bench, visit)
    asked.append(await number_of(visit, result.command))
    expect(asked == [result.number] * len(asked), f"{result.number} every time", asked)


@CHAPTER.requirement(6, "States", needs=("RN-02",), at=bring_to_idle)
async def clears(bench: ConformanceBench, visit: CheckSession) -> None:
    """Clear blanks the display, with Cleared: IDLE, and the draw is still remembered. It may be repeated."""
    await draw_number(bench, visit)
    before = await status_of(visit)
    for _ in range(2):
        command = bench.next_id()
        await visit.complete_command(m.Clear(command), SHORT_LIMIT_S)
        await asyncio.sleep(QUIET_S)
        expect(m.Cleared(command) in visit.events, f"Cleared about {command}", visit.events)
        expect_same_except(before, await status_of(visit), state=m.State.IDLE, number=None, segments=m.BLANK)


@CHAPTER.requirement(7, "A draw")
async def unknown(bench: ConformanceBench) -> None:
    """An unknown draw has no number."""
    async with bench.session() as visit:
        number = await number_of(visit, bench.next_id())
        expect(number is None, "no number", number)


@CHAPTER.requirement(8, "A draw", needs=("RN-02",))
async def shown_again(bench: ConformanceBench) -> None:
    """After a restart the display shows the number again."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        await draw_number(bench, visit)
        before = await status_of(visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(9, "A draw", needs=("RN-02",))
async def interrupted(bench: ConformanceBench) -> None:
    """A draw that a restart interrupts has no number: FAILED with 435, nothing shown, nothing counted."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        command = await begin_command(visit, m.Draw(bench.next_id()))
        await visit.send_command(m.Reset(bench.next_id()))
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        known, number = await visit.ask_outcome(command), await number_of(visit, command)
        if known.outcome is Outcome.DONE:
            raise NotChecked("the draw ended before the restart; run the simulator more slowly")
        expect_settled(known, Outcome.FAILED, m.Reason.POWER_LOST)
        expect(number is None, "no number", number)
        expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(10, "Failure")
async def tested(bench: ConformanceBench) -> None:
    """A self-test of a healthy generator ends in SelfTested with 0 and then Settled DONE: IDLE."""
    await bring_to_idle(bench)
    reported = await check_passes_self_test(bench, m)
    expect(reported.reason is m.Reason.NONE, "reason 0", reported)


@CHAPTER.requirement(11, "States")
async def testing(bench: ConformanceBench) -> None:
    """During a self-test it is TESTING, and Draw, Clear and SelfTest are refused with 420."""
    await bring_to_idle(bench)
    await check_testing(bench, m, (m.Draw, m.Clear, m.SelfTest))


@CHAPTER.requirement(12, "A draw", needs=("RN-06",))
async def remembers(bench: ConformanceBench) -> None:
    """It remembers the numbers of its last 16 draws, also through a restart."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        numbers = {}
        for _ in range(REMEMBERED):
            result = await draw_number(bench, visit)
            numbers[result.command] = result.number
            await clear_display(bench, visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        known = {command: await number_of(visit, command) for command in numbers}
        expect(known == numbers, f"{list(numbers.values())}", f"{list(known.values())}")


@CHAPTER.requirement(13, "From noise to number", needs=("RN-06",), at=bring_to_idle)
async def fresh_samples(bench: ConformanceBench, visit: CheckSession) -> None:
    """Each draw uses a new block of samples: no number is kept in memory."""
    for _ in range(3):
        before = (await visit.ask(m.GetHealth(), m.Health)).samples
        await draw_number(bench, visit)
        after = (await visit.ask(m.GetHealth(), m.Health)).samples
        expect(after >= before + BLOCK_SAMPLES, f"{BLOCK_SAMPLES} samples or more for a draw", f"{after - before}")
        await clear_display(bench, visit)


@CHAPTER.requirement(14, "From noise to number", needs=("RN-06",), at=bring_to_idle)
async def every_number(bench: ConformanceBench, visit: CheckSession) -> None:
    """In 120 draws every number from 1 to 7 occurs."""
    seen = set()
    for _ in range(MANY):
        seen.add((await draw_number(bench, visit)).number)
        await clear_display(bench, visit)
    expect(seen == set(m.SEGMENTS), f"{sorted(m.SEGMENTS)}", f"{sorted(seen)}")
