"""Requirements on a meter sign: its amounts, their readback, and their age. See docs/devices/meter_sign.md."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from devices.conformance.assertions import (
    begin_command,
    expect_refused,
    expect_same_except,
    expect_settled,
    wait_restarted,
)
from devices.conformance.operators import ManualStep
from devices.conformance.raw_host import LINE_ALLOWANCE_S, QUIET_S
from devices.conformance.requirements import (
    Chapter,
    KindProfile,
    SwitchCommands,
    expect,
    preparation,
)
from devices.conformance.shared_checks import (
    SHORT_LIMIT_S,
    check_testing,
    expect_test_result,
    run_self_test,
    until_idle,
)
from devices.meter_sign import messages as m
from firmware_bridge.commands import Outcome

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

CHAPTER: Final = Chapter("MS", "The meter sign", "docs/devices/meter_sign.md", needs=("HS-04",))
# After this long without a Show a sign that was sent no limit is stale (ms).
FIRST_LIMIT_MS: Final = 5000
# A limit that no check outlives (ms).
LONG_LIMIT_MS: Final = 600_000
# A limit for checks that wait for it (ms): long enough to look before it is over.
TEST_LIMIT_MS: Final = 3000
SHOWS: Final = "What it shows"

# Value, pending, won (cents). The digits differ, so that no row is taken for another.
Amounts = tuple[int, int, int]
USUAL: Final[Amounts] = (1_234_567, 89_012, 3_450)

DEAD_DIGIT: Final = ManualStep("unplug a digit of the glass: the third from the right in the top row",
                         ("dead_digit:row=value,digit=2",))  # fmt: skip
MEND: Final = ManualStep("mend the glass", ("mend",))
DEAD: Final = [1 << 2, 0, 0]


async def status_of(visit: CheckSession) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring it to BLANK, without a fault, its limit as after a restart."""
    await until_idle(bench, m, _is_at_rest, "sign")


async def _is_at_rest(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    """Do one step toward idle; return True if it is idle."""
    if status.state is m.State.TESTING:
        await asyncio.sleep(1.0)
    elif status.state is not m.State.BLANK:
        await visit.complete_command(m.Blank(bench.next_id()), SHORT_LIMIT_S)
    elif status.reason is not m.Reason.NONE:
        await bench.perform(MEND)
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    elif status.limit_ms != FIRST_LIMIT_MS:
        await visit.complete_command(m.SetLimit(bench.next_id(), FIRST_LIMIT_MS), SHORT_LIMIT_S)
    else:
        return True
    return False


async def show(bench: ConformanceBench, visit: CheckSession, amounts: Amounts = USUAL) -> int:
    """Have amounts shown, with the next sequence; return that."""
    sequence = (await status_of(visit)).sequence + 1
    await visit.complete_command(m.Show(bench.next_id(), sequence, *amounts), SHORT_LIMIT_S)
    return sequence


async def expect_readable(visit: CheckSession, sequence: int, amounts: Amounts | None, state: m.State) -> None:
    """Expect these amounts on the display, marked as stale only in STALE, and an agreeing status."""
    result, status = await visit.ask(m.GetShown(), m.Shown), await status_of(visit)
    value, pending, won = amounts or (None, None, None)
    expected = m.Shown(state, sequence, value, pending, won, state is m.State.STALE)
    expect(result == expected, repr(expected), result)
    expect((status.state, status.sequence) == (state, sequence), f"{state.name}, sequence {sequence}", status)


# --- what it shows --------------------------------------------------------------------------------------------------


@CHAPTER.requirement(1, SHOWS, at=bring_to_idle)
async def shows(bench: ConformanceBench, visit: CheckSession) -> None:
    """A Show is DONE at once, and each row reads back the requested amount, to the last cent."""
    for amounts in ((0, 1, 99), (100, 0, m.MAX_CENTS), USUAL, (m.MAX_CENTS, 5, 0)):
        sequence = await show(bench, visit, amounts)
        await expect_readable(visit, sequence, amounts, m.State.SHOWING)
    expect(not visit.events, "no event", visit.events)


@CHAPTER.requirement(2, SHOWS, needs=("MS-01",), at=bring_to_idle)
async def shows_less(bench: ConformanceBench, visit: CheckSession) -> None:
    """It also shows an amount that is lower than before."""
    await show(bench, visit)
    less = (USUAL[0] - 1, 0, 0)
    await expect_readable(visit, await show(bench, visit, less), less, m.State.SHOWING)


@CHAPTER.requirement(3, SHOWS, needs=("MS-01",), at=bring_to_idle)
async def old_sequence(bench: ConformanceBench, visit: CheckSession) -> None:
    """A sequence that has not risen is refused with 496, and the amounts stay."""
    await show(bench, visit)
    sequence = await show(bench, visit)
    for late in (sequence, sequence - 1, 0):
        order = m.Show(bench.next_id(), late, 7, 7, 7)
        await expect_refused(visit, order, m.Reason.OLD_SEQUENCE, f"for {late} after {sequence}")
    await expect_readable(visit, sequence, USUAL, m.State.SHOWING)


@CHAPTER.requirement(4, "States", needs=("MS-01",), at=bring_to_idle)
async def too_large(bench: ConformanceBench, visit: CheckSession) -> None:
    """An amount of more than ten digits is refused with 495, in any row, and the amounts stay."""
    sequence = await show(bench, visit)
    large = m.MAX_CENTS + 1
    for amounts in ((large, 0, 0), (0, large, 0), (0, 0, (1 << 63) - 1)):
        order = m.Show(bench.next_id(), sequence, *amounts)  # not risen either: this reason comes first
        await expect_refused(visit, order, m.Reason.TOO_LARGE, "for eleven digits")
    await expect_readable(visit, sequence, USUAL, m.State.SHOWING)


@CHAPTER.requirement(5, SHOWS, at=bring_to_idle)
async def blank(bench: ConformanceBench, visit: CheckSession) -> None:
    """Blank removes every amount from the display, and a blank display does not become stale; the sequence stays."""
    sequence = await show(bench, visit)
    await visit.complete_command(m.Blank(bench.next_id()), SHORT_LIMIT_S)
    await expect_readable(visit, sequence, None, m.State.BLANK)
    await asyncio.sleep(FIRST_LIMIT_MS / 1000 + LINE_ALLOWANCE_S)
    expect(not visit.events, "no event", visit.events)
    await expect_readable(visit, sequence, None, m.State.BLANK)
    await expect_refused(visit, m.Show(bench.next_id(), sequence, 7, 7, 7), m.Reason.OLD_SEQUENCE, "after Blank, too")


@CHAPTER.requirement(6, SHOWS, needs=("MS-01",))
async def restart(bench: ConformanceBench) -> None:
    """After a restart it shows no amount, never an old one; sequence 0, a limit of 5 s."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        await show(bench, visit)
        await visit.complete_command(m.SetLimit(bench.next_id(), LONG_LIMIT_MS), SHORT_LIMIT_S)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        await expect_readable(visit, 0, None, m.State.BLANK)
        expect(
            (await status_of(visit)).limit_ms == FIRST_LIMIT_MS,
            f"a limit of {FIRST_LIMIT_MS} ms",
            await status_of(visit),
        )
        await expect_readable(visit, await show(bench, visit), USUAL, m.State.SHOWING)


# --- how old it is --------------------------------------------------------------------------------------------------


@CHAPTER.requirement(10, SHOWS, needs=("MS-01",), at=bring_to_idle)
async def age(bench: ConformanceBench, visit: CheckSession) -> None:
    """`age_ms` is the time since the last Show; a Show of the same amounts restarts it."""
    for _ in range(2):
        await show(bench, visit)
        first = (await status_of(visit)).age_ms
        await asyncio.sleep(2.0)
        second = (await status_of(visit)).age_ms
        line = 2 * LINE_ALLOWANCE_S * 1000
        expect(first <= line, f"at most {line:g} ms", f"{first} ms")
        expect(2000 <= second <= 2000 + 2 * line, f"2000 ms, and at most {2 * line:g} for the line", f"{second} ms")


@CHAPTER.requirement(11, SHOWS, at=bring_to_idle)
async def no_limit(bench: ConformanceBench, visit: CheckSession) -> None:
    """The host sets the limit; 0 is refused with 497, and the limit stays."""
    before = await status_of(visit)
    for limit in (TEST_LIMIT_MS, 1, 0xFFFF_FFFF, LONG_LIMIT_MS):
        await visit.complete_command(m.SetLimit(bench.next_id(), limit), SHORT_LIMIT_S)
        status = await status_of(visit)
        expect_same_except(before, status, limit_ms=limit, age_ms=status.age_ms)
    await expect_refused(visit, m.SetLimit(bench.next_id(), 0), m.Reason.NO_LIMIT, "for 0")
    expect((await status_of(visit)).limit_ms == LONG_LIMIT_MS, f"{LONG_LIMIT_MS} ms as before", await status_of(visit))


@CHAPTER.requirement(12, SHOWS, needs=("MS-01", "MS-11"), at=bring_to_idle)
async def grows_stale(bench: ConformanceBench, visit: CheckSession) -> None:
    """Without a Show for its limit, and not before, it marks its amounts as stale and reports it, once."""
    await visit.complete_command(m.SetLimit(bench.next_id(), TEST_LIMIT_MS), SHORT_LIMIT_S)
    sequence = await show(bench, visit)
    await asyncio.sleep(TEST_LIMIT_MS / 2000)
    await expect_readable(visit, sequence, USUAL, m.State.SHOWING)
    reported = await visit.wait_for_event(m.Stale, TEST_LIMIT_MS / 1000 + 2 * LINE_ALLOWANCE_S)
    expect(reported.sequence == sequence, f"Stale about {sequence}", reported)
    in_time = TEST_LIMIT_MS <= reported.age_ms <= TEST_LIMIT_MS + 1000
    expect(in_time, f"an age of {TEST_LIMIT_MS} ms, and at most a second more", reported)
    await expect_readable(visit, sequence, USUAL, m.State.STALE)
    await asyncio.sleep(TEST_LIMIT_MS / 1000)
    expect(visit.events == [reported], "one Stale", visit.events)


@CHAPTER.requirement(13, SHOWS, needs=("MS-12",), at=bring_to_idle)
async def fresh_again(bench: ConformanceBench, visit: CheckSession) -> None:
    """The next Show removes the mark; a refused one does not."""
    await visit.complete_command(m.SetLimit(bench.next_id(), TEST_LIMIT_MS), SHORT_LIMIT_S)
    sequence = await show(bench, visit)
    await visit.wait_for_event(m.Stale, TEST_LIMIT_MS / 1000 + 2 * LINE_ALLOWANCE_S)
    await expect_refused(visit, m.Show(bench.next_id(), sequence, *USUAL), m.Reason.OLD_SEQUENCE, "when stale")
    await expect_readable(visit, sequence, USUAL, m.State.STALE)
    sequence = await show(bench, visit)
    await expect_readable(visit, sequence, USUAL, m.State.SHOWING)


@CHAPTER.requirement(14, SHOWS, needs=("MS-12",), at=bring_to_idle)
async def shorter_limit(bench: ConformanceBench, visit: CheckSession) -> None:
    """A new limit applies to the amounts already shown: if they are older, they are stale at once."""
    await visit.complete_command(m.SetLimit(bench.next_id(), LONG_LIMIT_MS), SHORT_LIMIT_S)
    sequence = await show(bench, visit)
    await asyncio.sleep(2.0)
    await visit.complete_command(m.SetLimit(bench.next_id(), 1000), SHORT_LIMIT_S)
    reported = await visit.wait_for_event(m.Stale, 1.0)
    expect(reported.sequence == sequence, f"Stale about {sequence}", reported)


# --- the test -------------------------------------------------------------------------------------------------------


@CHAPTER.requirement(20, "States", needs=("MS-01",), at=bring_to_idle)
async def self_test(bench: ConformanceBench, visit: CheckSession) -> None:
    """A self-test ends in SelfTested and then Settled DONE, and the amounts are shown again."""
    sequence = await show(bench, visit)
    tested, settled = await run_self_test(bench, visit, m)
    expect_test_result(m, settled, passed=True)
    expect(not any(tested.digits), "no bad digit", tested)
    await expect_readable(visit, sequence, USUAL, m.State.SHOWING)


@CHAPTER.requirement(21, "States", needs=("MS-01",))
async def busy_testing(bench: ConformanceBench) -> None:
    """In TESTING every command but Reset is refused with 420."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        sequence = (await status_of(visit)).sequence + 1
    show_next = partial(m.Show, sequence=sequence, value=1, pending=2, won=3)
    await check_testing(bench, m, (show_next, partial(m.SetLimit, limit_ms=LONG_LIMIT_MS), m.Blank, m.SelfTest))


# --- a glass that is broken -----------------------------------------------------------------------------------------


@CHAPTER.requirement(30, SHOWS, needs_operator=True, needs=("MS-01",))
async def wrong_glass(bench: ConformanceBench) -> None:
    """An amount that cannot be read back was not shown: Fault with the digits, FAILED with 498, and not read back."""
    await bring_to_idle(bench)
    await bench.perform(DEAD_DIGIT)
    async with bench.session() as visit:
        sequence = (await status_of(visit)).sequence + 1
        command = await begin_command(visit, m.Show(bench.next_id(), sequence, *USUAL))
        settled = await visit.wait_settled(command, SHORT_LIMIT_S)
        await asyncio.sleep(QUIET_S)
        expect_settled(settled, Outcome.FAILED, m.Reason.WRONG_GLASS)
        expected = [m.Fault(m.Reason.WRONG_GLASS, DEAD), settled]
        expect(visit.events == expected, "Fault 498 that names the digit, then Settled", visit.events)
        result = await visit.ask(m.GetShown(), m.Shown)
        expect(result.value != USUAL[0], "not to read what cannot be read", result)
        expect((result.pending, result.won) == USUAL[1:], "the other rows to be read", result)
        expect((await status_of(visit)).reason is m.Reason.WRONG_GLASS, "reason 498", await status_of(visit))


@CHAPTER.requirement(31, "States", needs_operator=True, needs=("MS-20",))
async def failed_test(bench: ConformanceBench) -> None:
    """A self-test of a broken display reports the digits and is FAILED with 436, until one has passed."""
    await bring_to_idle(bench)
    await bench.perform(DEAD_DIGIT)
    async with bench.session() as visit:
        tested, settled = await run_self_test(bench, visit, m)
        expect_test_result(m, settled, passed=False)
        expect(tested.digits == DEAD, f"digits {DEAD}", tested)
        await bench.perform(MEND)
        expect((await status_of(visit)).reason is m.Reason.SELF_TEST_FAILED, "436 still", await status_of(visit))
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
        expect((await status_of(visit)).reason is m.Reason.NONE, "0 after a test", await status_of(visit))


PROFILE: Final = KindProfile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)), (m.GetShown(), (m.Shown,))),
    bring_to_idle=bring_to_idle,
    switch=SwitchCommands(
        on=lambda command: m.SetLimit(command, LONG_LIMIT_MS),
        off=lambda command: m.SetLimit(command, FIRST_LIMIT_MS),
        is_on=lambda status: status.limit_ms == LONG_LIMIT_MS,
    ),
    self_test=m.SelfTest,
    reset=m.Reset,
    refused=lambda command: m.SetLimit(command, 0),
)
