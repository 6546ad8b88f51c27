"""Requirements from RN-20 on failures: bad noise, and a display that shows a wrong number. All need an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.conformance.assertions import (
    broken_meanwhile,
    expect_one_end,
    expect_refused,
    expect_settled,
    run_command,
    wait_restarted,
)
from devices.conformance.kinds.rng.setup import (
    CHAPTER,
    MEND,
    bring_to_idle,
    clear_display,
    draw_number,
    expect_draw_fails,
    status_of,
)
from devices.conformance.operators import ManualStep
from devices.conformance.protocol.commands import POWER_CUT
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import expect
from devices.conformance.shared_checks import SHORT_LIMIT_S
from devices.number_draw import REPETITION_CUTOFF
from devices.rng import messages as m
from firmware_bridge.commands import Outcome

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

STUCK: Final = ManualStep("keep the noise source's output at one level", ("noise_stuck",))
BIASED: Final = ManualStep("feed the noise input with samples of which every third one is zero", ("noise_biased",))
DEAD: Final = ManualStep("unplug the noise source", ("noise_dead",))
HALF_DARK: Final = ManualStep("unplug the two right-hand segments of the display (b and c)",
                        ("segment_dead:segment=b", "segment_dead:segment=c"))  # fmt: skip
# A window of 512 samples begins with the favored one, and fails, once in three; a self-test has two of them. So many
# self-tests pass once in ten million runs: (2/3)^40.
TRIES: Final = 20
LETTERS: Final = "abcdefg"


def _lit(number: int) -> str:
    """Return a segment that a number lights."""
    return next(letter for bit, letter in enumerate(LETTERS) if m.SEGMENTS[number] >> bit & 1)


@CHAPTER.requirement(20, "Failure", needs_operator=True, needs=("RN-02",))
async def stuck(bench: ConformanceBench) -> None:
    """Constant noise ends a draw without a number, at the eleventh equal sample: 468."""
    await bring_to_idle(bench)
    async with broken_meanwhile(bench, STUCK, MEND), bench.session() as visit:
        reported = await expect_draw_fails(bench, visit, m.Reason.NOISE_STUCK)
        expect(reported.count == REPETITION_CUTOFF, f"{REPETITION_CUTOFF} equal samples", reported)


@CHAPTER.requirement(21, "Failure", needs_operator=True, needs=("RN-10",))
async def biased(bench: ConformanceBench) -> None:
    """Noise with one sample too frequent fails a self-test: SelfTested and Settled FAILED with 469."""
    await bring_to_idle(bench)
    async with broken_meanwhile(bench, BIASED, MEND), bench.session() as visit:
        for _ in range(TRIES):
            settled = await run_command(visit, m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
            if settled.outcome is not Outcome.DONE:
                break
        expect_settled(settled, Outcome.FAILED, m.Reason.NOISE_BIASED)
        reported: m.SelfTested = expect_one_end(visit, settled.command, m.SelfTested, settled)
        expect(reported.reason is m.Reason.NOISE_BIASED, "SelfTested with 469", reported)
        status = await status_of(visit)
        expect((status.state, status.reason) == (m.State.FAILED, m.Reason.NOISE_BIASED), "FAILED with 469", status)


@CHAPTER.requirement(22, "Failure", needs_operator=True, needs=("RN-02",))
async def dead(bench: ConformanceBench) -> None:
    """Without noise a draw ends without a number: 470."""
    await bring_to_idle(bench)
    async with broken_meanwhile(bench, DEAD, MEND), bench.session() as visit:
        await expect_draw_fails(bench, visit, m.Reason.NOISE_DEAD)


@CHAPTER.requirement(23, "Failure", needs_operator=True, needs=("RN-10", "RN-20"))
async def latches(bench: ConformanceBench) -> None:
    """A failure is kept, also through a restart with good noise: every Draw gets 471 until a self-test has passed."""
    await bring_to_idle(bench)
    async with broken_meanwhile(bench, STUCK, MEND), bench.session() as visit:
        await expect_draw_fails(bench, visit, m.Reason.NOISE_STUCK)
        failed = await status_of(visit)
        settled = await run_command(visit, m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
        expect_settled(settled, Outcome.FAILED, m.Reason.NOISE_STUCK)
        reported: m.SelfTested = expect_one_end(visit, settled.command, m.SelfTested, settled)
        expect(reported.reason is m.Reason.NOISE_STUCK, "SelfTested with 468", reported)
    async with bench.session() as visit:
        await expect_refused(visit, m.Draw(bench.next_id()), m.Reason.NOT_HEALTHY, "in FAILED")
        await clear_display(bench, visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect(await status_of(visit) == failed, repr(failed), await status_of(visit))
        await expect_refused(visit, m.Draw(bench.next_id()), m.Reason.NOT_HEALTHY, "in FAILED, after a restart")
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
        await draw_number(bench, visit)


@CHAPTER.requirement(24, "From noise to number", needs_operator=True)
async def start_up(bench: ConformanceBench) -> None:
    """At every start the noise must pass its tests before anything is drawn: with bad noise it starts FAILED."""
    await bring_to_idle(bench)
    async with broken_meanwhile(bench, STUCK, MEND):
        async with bench.session() as visit:
            await bench.perform(POWER_CUT)
        await wait_restarted(bench, visit)
        async with bench.session() as visit:
            status = await status_of(visit)
            meant = (status.state, status.reason) == (m.State.FAILED, m.Reason.NOISE_STUCK)
            expect(meant, "FAILED with 468", status)
            await expect_refused(visit, m.Draw(bench.next_id()), m.Reason.NOT_HEALTHY, "in FAILED")


@CHAPTER.requirement(25, "Failure", needs_operator=True, needs=("RN-02",), at=bring_to_idle)
async def display_fails(bench: ConformanceBench, visit: CheckSession) -> None:
    """A segment that goes dark under a number is detected: HealthFailed with 473, FAILED, and a blank display."""
    segment = _lit((await draw_number(bench, visit)).number)
    await bench.perform(ManualStep(f"unplug segment {segment} of the display", (f"segment_dead:segment={segment}",)))
    reported = await visit.wait_for_event(m.HealthFailed, bench.operator.effect_timeout_s)
    expect(reported.reason is m.Reason.DISPLAY_FAULT, "HealthFailed with 473", reported)
    status = await status_of(visit)
    meant = (status.state, status.number, status.segments, status.reason)
    expected = (m.State.FAILED, None, m.BLANK, m.Reason.DISPLAY_FAULT)
    expect(meant == expected, "FAILED with 473, no number, a blank display", status)


@CHAPTER.requirement(26, "Failure", needs_operator=True, needs=("RN-02",))
async def not_shown(bench: ConformanceBench) -> None:
    """A number that the display cannot show does not count: its draw fails with 473."""
    await bring_to_idle(bench)
    async with broken_meanwhile(bench, HALF_DARK, MEND), bench.session() as visit:
        await expect_draw_fails(bench, visit, m.Reason.DISPLAY_FAULT)


@CHAPTER.requirement(27, "States", needs_operator=True, needs=("RN-06",), at=bring_to_idle)
async def not_cleared(bench: ConformanceBench, visit: CheckSession) -> None:
    """Clear ends FAILED with 473 if a segment stays lit, without Cleared."""
    segment = _lit((await draw_number(bench, visit)).number)
    step = ManualStep(
        f"bridge segment {segment} of the display, so that it stays lit", (f"segment_stuck:segment={segment}",)
    )
    async with broken_meanwhile(bench, step, MEND):
        expect_settled(
            await run_command(visit, m.Clear(bench.next_id()), SHORT_LIMIT_S),
            Outcome.FAILED,
            m.Reason.DISPLAY_FAULT,
        )
        await asyncio.sleep(QUIET_S)
        expect(not visit.events_of(m.Cleared), "no Cleared", visit.events_of(m.Cleared))
        status = await status_of(visit)
        expect(status.reason is m.Reason.DISPLAY_FAULT, "reason 473", status)
