"""Requirements on a meter sign: its amounts, their readback, and their age. See docs/devices/meter_sign.md."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from devices.meter_sign import messages as m
from firmware_bridge.commands import Outcome, Settled
from table_controller.conformance.hands import Step
from table_controller.conformance.judging import begin, one_end, refused, restarted, same_but, settled_as
from table_controller.conformance.probe import LINE, QUIET
from table_controller.conformance.requirements import Chapter, Failed, NotChecked, Profile, Switch, expect, preparing

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

CHAPTER: Final = Chapter("MS", "The meter sign", "docs/devices/meter_sign.md", needs=("HS-04",))
# A test of the whole glass (s).
SHORT: Final = 30.0
# After this long without a Show a sign that was told no limit is stale (ms).
FIRST_LIMIT: Final = 5000
# A limit that no check outlives (ms).
LONG: Final = 600_000
# A limit for checks that wait for it (ms): long enough to look before it is over.
LIMIT: Final = 3000
SHOWS: Final = "What it shows"

# Value, pending, won (cents). The digits differ, so that no row is taken for another.
Amounts = tuple[int, int, int]
USUAL: Final[Amounts] = (1_234_567, 89_012, 3_450)

DEAD_DIGIT: Final = Step("unplug a digit of the glass: the third from the right in the top row",
                         ("dead_digit:row=value,digit=2",))  # fmt: skip
MEND: Final = Step("mend the glass", ("mend",))
DEAD: Final = [1 << 2, 0, 0]


async def status_of(visit: Visit) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


@preparing
async def rest(bench: Bench) -> None:
    """Bring it to BLANK, without a fault, its limit as after a restart."""
    async with bench.visit() as visit:
        for _ in range(8):
            status = await status_of(visit)
            if await _is_at_rest(bench, visit, status):
                return
    raise Failed("a sign that can be brought to its idle state", repr(status))


async def _is_at_rest(bench: Bench, visit: Visit, status: m.Status) -> bool:
    """Do one step towards idle; return True if it is idle."""
    if status.state is m.State.TESTING:
        await asyncio.sleep(1.0)
    elif status.state is not m.State.BLANK:
        await visit.done(m.Blank(bench.next_id()), SHORT)
    elif status.reason is not m.Reason.NONE:
        await bench.do(MEND)
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
    elif status.limit_ms != FIRST_LIMIT:
        await visit.done(m.SetLimit(bench.next_id(), FIRST_LIMIT), SHORT)
    else:
        return True
    return False


async def show(bench: Bench, visit: Visit, amounts: Amounts = USUAL) -> int:
    """Have amounts shown, with the next sequence; return that."""
    sequence = (await status_of(visit)).sequence + 1
    await visit.done(m.Show(bench.next_id(), sequence, *amounts), SHORT)
    return sequence


async def can_be_read(visit: Visit, sequence: int, amounts: Amounts | None, state: m.State) -> None:
    """Expect these amounts on the display, marked as stale only in STALE, and an agreeing status."""
    result, status = await visit.ask(m.GetShown(), m.Shown), await status_of(visit)
    value, pending, won = amounts or (None, None, None)
    expected = m.Shown(state, sequence, value, pending, won, state is m.State.STALE)
    expect(result == expected, repr(expected), result)
    expect((status.state, status.sequence) == (state, sequence), f"{state.name}, sequence {sequence}", status)


# --- what it shows --------------------------------------------------------------------------------------------------


@CHAPTER.requirement(1, SHOWS)
async def shows(bench: Bench) -> None:
    """A Show is DONE at once, and each row reads back the requested amount, to the last cent."""
    await rest(bench)
    async with bench.visit() as visit:
        for amounts in ((0, 1, 99), (100, 0, m.MOST_CENTS), USUAL, (m.MOST_CENTS, 5, 0)):
            sequence = await show(bench, visit, amounts)
            await can_be_read(visit, sequence, amounts, m.State.SHOWING)
        expect(not visit.events, "no event", visit.events)


@CHAPTER.requirement(2, SHOWS, needs=("MS-01",))
async def falls(bench: Bench) -> None:
    """It also shows an amount that is lower than before."""
    await rest(bench)
    async with bench.visit() as visit:
        await show(bench, visit)
        less = (USUAL[0] - 1, 0, 0)
        await can_be_read(visit, await show(bench, visit, less), less, m.State.SHOWING)


@CHAPTER.requirement(3, SHOWS, needs=("MS-01",))
async def old_sequence(bench: Bench) -> None:
    """A sequence that has not risen is refused with 496, and the amounts stay."""
    await rest(bench)
    async with bench.visit() as visit:
        await show(bench, visit)
        sequence = await show(bench, visit)
        for late in (sequence, sequence - 1, 0):
            order = m.Show(bench.next_id(), late, 7, 7, 7)
            await refused(visit, order, m.Reason.OLD_SEQUENCE, f"for {late} after {sequence}")
        await can_be_read(visit, sequence, USUAL, m.State.SHOWING)


@CHAPTER.requirement(4, "States", needs=("MS-01",))
async def too_large(bench: Bench) -> None:
    """An amount of more than ten digits is refused with 495, in any row, and the amounts stay."""
    await rest(bench)
    async with bench.visit() as visit:
        sequence = await show(bench, visit)
        large = m.MOST_CENTS + 1
        for amounts in ((large, 0, 0), (0, large, 0), (0, 0, (1 << 63) - 1)):
            order = m.Show(bench.next_id(), sequence, *amounts)  # not risen either: this reason comes first
            await refused(visit, order, m.Reason.TOO_LARGE, "for eleven digits")
        await can_be_read(visit, sequence, USUAL, m.State.SHOWING)


@CHAPTER.requirement(5, SHOWS)
async def blank(bench: Bench) -> None:
    """Blank removes every amount from the display, and a blank display does not become stale; the sequence stays."""
    await rest(bench)
    async with bench.visit() as visit:
        sequence = await show(bench, visit)
        await visit.done(m.Blank(bench.next_id()), SHORT)
        await can_be_read(visit, sequence, None, m.State.BLANK)
        await asyncio.sleep(FIRST_LIMIT / 1000 + LINE)
        expect(not visit.events, "no event", visit.events)
        await can_be_read(visit, sequence, None, m.State.BLANK)
        await refused(visit, m.Show(bench.next_id(), sequence, 7, 7, 7), m.Reason.OLD_SEQUENCE, "after Blank, too")


@CHAPTER.requirement(6, SHOWS, needs=("MS-01",))
async def restart(bench: Bench) -> None:
    """After a restart it shows no amount, never an old one; sequence 0, a limit of 5 s."""
    await rest(bench)
    async with bench.visit() as visit:
        await show(bench, visit)
        await visit.done(m.SetLimit(bench.next_id(), LONG), SHORT)
        await visit.done(m.Reset(bench.next_id()), SHORT)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        await can_be_read(visit, 0, None, m.State.BLANK)
        expect((await status_of(visit)).limit_ms == FIRST_LIMIT, f"a limit of {FIRST_LIMIT} ms", await status_of(visit))
        await can_be_read(visit, await show(bench, visit), USUAL, m.State.SHOWING)


# --- how old it is --------------------------------------------------------------------------------------------------


@CHAPTER.requirement(10, SHOWS, needs=("MS-01",))
async def age(bench: Bench) -> None:
    """`age_ms` is the time since the last Show; a Show of the same amounts restarts it."""
    await rest(bench)
    async with bench.visit() as visit:
        for _ in range(2):
            await show(bench, visit)
            first = (await status_of(visit)).age_ms
            await asyncio.sleep(2.0)
            second = (await status_of(visit)).age_ms
            line = 2 * LINE * 1000
            expect(first <= line, f"at most {line:g} ms", f"{first} ms")
            expect(2000 <= second <= 2000 + 2 * line, f"2000 ms, and at most {2 * line:g} for the line", f"{second} ms")


@CHAPTER.requirement(11, SHOWS)
async def no_limit(bench: Bench) -> None:
    """The host sets the limit; 0 is refused with 497, and the limit stays."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        for limit in (LIMIT, 1, 0xFFFF_FFFF, LONG):
            await visit.done(m.SetLimit(bench.next_id(), limit), SHORT)
            status = await status_of(visit)
            same_but(before, status, limit_ms=limit, age_ms=status.age_ms)
        await refused(visit, m.SetLimit(bench.next_id(), 0), m.Reason.NO_LIMIT, "for 0")
        expect((await status_of(visit)).limit_ms == LONG, f"{LONG} ms as before", await status_of(visit))


@CHAPTER.requirement(12, SHOWS, needs=("MS-01", "MS-11"))
async def grows_stale(bench: Bench) -> None:
    """Without a Show for its limit, and not before, it marks its amounts as stale and reports it, once."""
    await rest(bench)
    async with bench.visit() as visit:
        await visit.done(m.SetLimit(bench.next_id(), LIMIT), SHORT)
        sequence = await show(bench, visit)
        await asyncio.sleep(LIMIT / 2000)
        await can_be_read(visit, sequence, USUAL, m.State.SHOWING)
        reported = await visit.event(m.Stale, LIMIT / 1000 + 2 * LINE)
        expect(reported.sequence == sequence, f"Stale about {sequence}", reported)
        in_time = LIMIT <= reported.age_ms <= LIMIT + 1000
        expect(in_time, f"an age of {LIMIT} ms, and at most a second more", reported)
        await can_be_read(visit, sequence, USUAL, m.State.STALE)
        await asyncio.sleep(LIMIT / 1000)
        expect(visit.events == [reported], "one Stale", visit.events)


@CHAPTER.requirement(13, SHOWS, needs=("MS-12",))
async def fresh_again(bench: Bench) -> None:
    """The next Show removes the mark; a refused one does not."""
    await rest(bench)
    async with bench.visit() as visit:
        await visit.done(m.SetLimit(bench.next_id(), LIMIT), SHORT)
        sequence = await show(bench, visit)
        await visit.event(m.Stale, LIMIT / 1000 + 2 * LINE)
        await refused(visit, m.Show(bench.next_id(), sequence, *USUAL), m.Reason.OLD_SEQUENCE, "when stale")
        await can_be_read(visit, sequence, USUAL, m.State.STALE)
        sequence = await show(bench, visit)
        await can_be_read(visit, sequence, USUAL, m.State.SHOWING)


@CHAPTER.requirement(14, SHOWS, needs=("MS-12",))
async def shorter_limit(bench: Bench) -> None:
    """A new limit applies to the amounts already shown: if they are older, they are stale at once."""
    await rest(bench)
    async with bench.visit() as visit:
        await visit.done(m.SetLimit(bench.next_id(), LONG), SHORT)
        sequence = await show(bench, visit)
        await asyncio.sleep(2.0)
        await visit.done(m.SetLimit(bench.next_id(), 1000), SHORT)
        reported = await visit.event(m.Stale, 1.0)
        expect(reported.sequence == sequence, f"Stale about {sequence}", reported)


# --- the test -------------------------------------------------------------------------------------------------------


@CHAPTER.requirement(20, "States", needs=("MS-01",))
async def self_test(bench: Bench) -> None:
    """A self-test ends in SelfTested and then Settled DONE, and the amounts are shown again."""
    await rest(bench)
    async with bench.visit() as visit:
        sequence = await show(bench, visit)
        command = await begin(visit, m.SelfTest(bench.next_id()))
        settled = settled_as(await visit.end(command, SHORT), Outcome.DONE, m.Reason.NONE)
        await asyncio.sleep(QUIET)
        tested: m.SelfTested = one_end(visit, command, m.SelfTested, settled)
        expect(not any(tested.digits), "no bad digit", tested)
        await can_be_read(visit, sequence, USUAL, m.State.SHOWING)


@CHAPTER.requirement(21, "States", needs=("MS-01",))
async def busy_testing(bench: Bench) -> None:
    """In TESTING every command but Reset is refused with 420."""
    await rest(bench)
    async with bench.visit() as visit:
        sequence = (await status_of(visit)).sequence + 1
        command = await begin(visit, m.SelfTest(bench.next_id()))
        status = await status_of(visit)
        orders: list[Any] = [
            m.Show(bench.next_id(), sequence, *USUAL), m.SetLimit(bench.next_id(), LONG), m.Blank(bench.next_id()),
            m.SelfTest(bench.next_id()),
        ]  # fmt: skip
        replies = [await visit.order(order) for order in orders]
        if visit.about(command):
            raise NotChecked("the test ended before it could be observed; run the simulator more slowly")
        expect(status.state is m.State.TESTING, "TESTING", status)
        expected = [Settled(order.command, Outcome.REFUSED, m.Reason.BUSY) for order in orders]
        expect(replies == expected, "each refused with 420 in TESTING", replies)
        await visit.end(command, SHORT)


# --- a glass that is broken -----------------------------------------------------------------------------------------


@CHAPTER.requirement(30, SHOWS, hands=True, needs=("MS-01",))
async def wrong_glass(bench: Bench) -> None:
    """An amount that cannot be read back was not shown: Fault with the digits, FAILED with 498, and not read back."""
    await rest(bench)
    await bench.do(DEAD_DIGIT)
    async with bench.visit() as visit:
        sequence = (await status_of(visit)).sequence + 1
        command = await begin(visit, m.Show(bench.next_id(), sequence, *USUAL))
        settled = await visit.end(command, SHORT)
        await asyncio.sleep(QUIET)
        settled_as(settled, Outcome.FAILED, m.Reason.WRONG_GLASS)
        expected = [m.Fault(m.Reason.WRONG_GLASS, DEAD), settled]
        expect(visit.events == expected, "Fault 498 that names the digit, then Settled", visit.events)
        result = await visit.ask(m.GetShown(), m.Shown)
        expect(result.value != USUAL[0], "not to read what cannot be read", result)
        expect((result.pending, result.won) == USUAL[1:], "the other rows to be read", result)
        expect((await status_of(visit)).reason is m.Reason.WRONG_GLASS, "reason 498", await status_of(visit))


@CHAPTER.requirement(31, "States", hands=True, needs=("MS-20",))
async def failed_test(bench: Bench) -> None:
    """A self-test of a broken display reports the digits and is FAILED with 436, until one has passed."""
    await rest(bench)
    await bench.do(DEAD_DIGIT)
    async with bench.visit() as visit:
        command = await begin(visit, m.SelfTest(bench.next_id()))
        settled = settled_as(await visit.end(command, SHORT), Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
        await asyncio.sleep(QUIET)
        tested: m.SelfTested = one_end(visit, command, m.SelfTested, settled)
        expect(tested.digits == DEAD, f"digits {DEAD}", tested)
        await bench.do(MEND)
        expect((await status_of(visit)).reason is m.Reason.SELF_TEST_FAILED, "436 still", await status_of(visit))
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
        expect((await status_of(visit)).reason is m.Reason.NONE, "0 after a test", await status_of(visit))


PROFILE: Final = Profile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)), (m.GetShown(), (m.Shown,))),
    rest=rest,
    switch=Switch(
        on=lambda command: m.SetLimit(command, LONG),
        off=lambda command: m.SetLimit(command, FIRST_LIMIT),
        is_on=lambda status: status.limit_ms == LONG,
    ),
    self_test=m.SelfTest,
    reset=m.Reset,
    refused=lambda command: m.SetLimit(command, 0),
)
