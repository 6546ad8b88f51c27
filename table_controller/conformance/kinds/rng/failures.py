"""RN-20 up: noise that is not noise, and a display that shows what it should not. All of them need an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.chance import REPETITION_CUTOFF
from devices.rng import messages as m
from firmware_bridge.commands import Outcome
from table_controller.conformance.hands import Step
from table_controller.conformance.judging import ended, one_end, refused, restarted, settled_as, spoiled
from table_controller.conformance.kinds.rng.machine import (
    CHAPTER,
    MEND,
    SHORT,
    cleared,
    drawn,
    fails,
    rest,
    status_of,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.protocol.commands import POWER_CUT
from table_controller.conformance.requirements import expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench

STUCK: Final = Step("hold the noise source's output at one level", ("noise_stuck",))
BIASED: Final = Step("feed the noise input with samples of which every third one is zero", ("noise_biased",))
DEAD: Final = Step("unplug the noise source", ("noise_dead",))
HALF_DARK: Final = Step("unplug the two right-hand segments of the display (b and c)",
                        ("segment_dead:segment=b", "segment_dead:segment=c"))  # fmt: skip
# A window of 512 samples begins with the favoured one, and fails, once in three; a self-test has two of them. So many
# self-tests pass once in ten million runs: (2/3)^40.
TRIES: Final = 20
LETTERS: Final = "abcdefg"


def _lit(number: int) -> str:
    """Return a segment that a number lights."""
    return next(letter for bit, letter in enumerate(LETTERS) if m.SEGMENTS[number] >> bit & 1)


@CHAPTER.requirement(20, "Failure", hands=True, needs=("RN-02",))
async def stuck(bench: Bench) -> None:
    """Constant noise ends a draw without a number, at the eleventh equal sample: 468."""
    await rest(bench)
    async with spoiled(bench, STUCK, MEND), bench.visit() as visit:
        reported = await fails(bench, visit, m.Reason.NOISE_STUCK)
        expect(reported.count == REPETITION_CUTOFF, f"{REPETITION_CUTOFF} equal samples", reported)


@CHAPTER.requirement(21, "Failure", hands=True, needs=("RN-10",))
async def biased(bench: Bench) -> None:
    """Noise with one sample too frequent fails a self-test: SelfTested and Settled FAILED with 469."""
    await rest(bench)
    async with spoiled(bench, BIASED, MEND), bench.visit() as visit:
        for _ in range(TRIES):
            settled = await ended(visit, m.SelfTest(bench.next_id()), SHORT)
            if settled.outcome is not Outcome.DONE:
                break
        settled_as(settled, Outcome.FAILED, m.Reason.NOISE_BIASED)
        reported: m.SelfTested = one_end(visit, settled.command, m.SelfTested, settled)
        expect(reported.reason is m.Reason.NOISE_BIASED, "SelfTested with 469", reported)
        status = await status_of(visit)
        expect((status.state, status.reason) == (m.State.FAILED, m.Reason.NOISE_BIASED), "FAILED with 469", status)


@CHAPTER.requirement(22, "Failure", hands=True, needs=("RN-02",))
async def dead(bench: Bench) -> None:
    """Without noise a draw ends without a number: 470."""
    await rest(bench)
    async with spoiled(bench, DEAD, MEND), bench.visit() as visit:
        await fails(bench, visit, m.Reason.NOISE_DEAD)


@CHAPTER.requirement(23, "Failure", hands=True, needs=("RN-10", "RN-20"))
async def latches(bench: Bench) -> None:
    """A failure is kept, also through a restart with good noise: every Draw gets 471 until a self-test has passed."""
    await rest(bench)
    async with spoiled(bench, STUCK, MEND), bench.visit() as visit:
        await fails(bench, visit, m.Reason.NOISE_STUCK)
        failed = await status_of(visit)
        settled = await ended(visit, m.SelfTest(bench.next_id()), SHORT)
        settled_as(settled, Outcome.FAILED, m.Reason.NOISE_STUCK)
        reported: m.SelfTested = one_end(visit, settled.command, m.SelfTested, settled)
        expect(reported.reason is m.Reason.NOISE_STUCK, "SelfTested with 468", reported)
    async with bench.visit() as visit:
        await refused(visit, m.Draw(bench.next_id()), m.Reason.NOT_HEALTHY, "in FAILED")
        await cleared(bench, visit)
        await visit.done(m.Reset(bench.next_id()), SHORT)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        expect(await status_of(visit) == failed, repr(failed), await status_of(visit))
        await refused(visit, m.Draw(bench.next_id()), m.Reason.NOT_HEALTHY, "in FAILED, after a restart")
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
        await drawn(bench, visit)


@CHAPTER.requirement(24, "From noise to number", hands=True)
async def start_up(bench: Bench) -> None:
    """At every start the noise must pass its tests before anything is drawn: with bad noise it starts FAILED."""
    await rest(bench)
    async with spoiled(bench, STUCK, MEND):
        async with bench.visit() as visit:
            await bench.do(POWER_CUT)
        await restarted(bench, visit)
        async with bench.visit() as visit:
            status = await status_of(visit)
            meant = (status.state, status.reason) == (m.State.FAILED, m.Reason.NOISE_STUCK)
            expect(meant, "FAILED with 468", status)
            await refused(visit, m.Draw(bench.next_id()), m.Reason.NOT_HEALTHY, "in FAILED")


@CHAPTER.requirement(25, "Failure", hands=True, needs=("RN-02",))
async def display_fails(bench: Bench) -> None:
    """A segment that goes dark under a number is detected: HealthFailed with 473, FAILED, and a blank display."""
    await rest(bench)
    async with bench.visit() as visit:
        segment = _lit((await drawn(bench, visit)).number)
        await bench.do(Step(f"unplug segment {segment} of the display", (f"segment_dead:segment={segment}",)))
        reported = await visit.event(m.HealthFailed, bench.hands.patience)
        expect(reported.reason is m.Reason.DISPLAY_FAULT, "HealthFailed with 473", reported)
        status = await status_of(visit)
        meant = (status.state, status.number, status.segments, status.reason)
        expected = (m.State.FAILED, None, m.BLANK, m.Reason.DISPLAY_FAULT)
        expect(meant == expected, "FAILED with 473, no number, a blank display", status)


@CHAPTER.requirement(26, "Failure", hands=True, needs=("RN-02",))
async def not_shown(bench: Bench) -> None:
    """A number that the display cannot show does not count: its draw fails with 473."""
    await rest(bench)
    async with spoiled(bench, HALF_DARK, MEND), bench.visit() as visit:
        await fails(bench, visit, m.Reason.DISPLAY_FAULT)


@CHAPTER.requirement(27, "States", hands=True, needs=("RN-06",))
async def not_cleared(bench: Bench) -> None:
    """Clear ends FAILED with 473 if a segment stays lit, without Cleared."""
    await rest(bench)
    async with bench.visit() as visit:
        segment = _lit((await drawn(bench, visit)).number)
        step = Step(
            f"bridge segment {segment} of the display, so that it stays lit", (f"segment_stuck:segment={segment}",)
        )
        async with spoiled(bench, step, MEND):
            settled_as(await ended(visit, m.Clear(bench.next_id()), SHORT), Outcome.FAILED, m.Reason.DISPLAY_FAULT)
            await asyncio.sleep(QUIET)
            expect(not visit.told(m.Cleared), "no Cleared", visit.told(m.Cleared))
            status = await status_of(visit)
            expect(status.reason is m.Reason.DISPLAY_FAULT, "reason 473", status)
