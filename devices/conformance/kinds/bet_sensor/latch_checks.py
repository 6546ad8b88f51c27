"""BS-01 to BS-19: rounds, locks and restarts of a sensor with nothing on its spot. Needs no operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.bet_sensor import messages as m
from devices.conformance.assertions import begin_command, expect_refused, expect_same_except, wait_restarted
from devices.conformance.kinds.bet_sensor.setup import (
    CHAPTER,
    bring_to_idle,
    expect_lock_refused,
    fresh_round,
    lock_round,
    open_round,
    status_of,
)
from devices.conformance.requirements import NotChecked, expect
from devices.conformance.shared_checks import SHORT_LIMIT_S, expect_test_result, run_self_test
from firmware_bridge.commands import Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession


@CHAPTER.requirement(1, "What lies there", at=bring_to_idle)
async def consistent(_: ConformanceBench, visit: CheckSession) -> None:
    """When it is idle, status and health agree: the spot is empty, the level below that of a chip, with some noise."""
    status, health = await status_of(visit), await visit.ask(m.GetHealth(), m.Health)
    expect(status.state is m.State.NONE and status.latch is None, "NONE and nothing latched", status)
    expect(status.content is health.content is m.SpotContent.EMPTY, "EMPTY in both", (status, health))
    expect(health.level < health.threshold <= 1023, "a level below that of a chip", health)
    expect(health.noise > 0, "the noise of a coil that is read", health)


@CHAPTER.requirement(2, "States", at=bring_to_idle)
async def closed(bench: ConformanceBench, visit: CheckSession) -> None:
    """In NONE Lock is refused with 483, Unlock with 482, both lights with 485; OFF is done."""
    before = await status_of(visit)
    answer = await expect_lock_refused(visit, before.round, bench.next_id(), m.Reason.NOT_OPEN)
    expect(answer.latch is None, "no latch", answer)
    command = bench.next_id()
    await expect_refused(visit, m.Unlock(command, command), m.Reason.OTHER_LOCK, "in NONE")
    for light in (m.Light.ACKNOWLEDGED, m.Light.ACCEPTED):
        order = m.SetLight(bench.next_id(), light, before.sequence)
        await expect_refused(visit, order, m.Reason.NO_SUCH_BET, f"for {light.name} in NONE")
    await visit.complete_command(m.SetLight(bench.next_id(), m.Light.OFF, 0), SHORT_LIMIT_S)
    expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(3, "States", at=bring_to_idle)
async def opens(bench: ConformanceBench, visit: CheckSession) -> None:
    """Open opens bets for its round, and then for another one: AWAITING; round 0 is refused with 481."""
    before = await status_of(visit)
    await expect_refused(visit, m.Open(bench.next_id(), 0), m.Reason.WRONG_ROUND, "for round 0")
    for _ in range(2):
        number = await open_round(bench, visit)
        after = await status_of(visit)
        expect_same_except(before, after, state=m.State.AWAITING, round=number, reason=m.Reason.NONE)


@CHAPTER.requirement(4, "The latch is the order", needs=("BS-03",), at=bring_to_idle)
async def locks(bench: ConformanceBench, visit: CheckSession) -> None:
    """Lock is answered with its round, its id, the number of the last change and the content of the spot: LOCKED."""
    number, lock_id = await open_round(bench, visit), bench.next_id()
    before = await status_of(visit)
    latch = await lock_round(visit, number, lock_id)
    expected = m.Latch(number, lock_id, before.sequence, m.SpotContent.EMPTY)
    expect(latch == expected, repr(expected), latch)
    expect_same_except(before, await status_of(visit), state=m.State.LOCKED, latch=latch)


@CHAPTER.requirement(5, "The latch is the order", needs=("BS-04",))
async def same_answer(bench: ConformanceBench) -> None:
    """The same Lock gets the same answer every time, also in another session."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        number, lock_id = await open_round(bench, visit), bench.next_id()
        first = await lock_round(visit, number, lock_id)
        again = [await lock_round(visit, number, lock_id) for _ in range(3)]
    async with bench.session() as visit:
        again.append(await lock_round(visit, number, lock_id))
        expect(again == [first] * 4, f"{first!r} every time", again)


@CHAPTER.requirement(6, "States", needs=("BS-04",), at=bring_to_idle)
async def other_lock(bench: ConformanceBench, visit: CheckSession) -> None:
    """In LOCKED another lock is refused with 482, another round with 481, with the existing latch."""
    number, lock_id = await open_round(bench, visit), bench.next_id()
    latch = await lock_round(visit, number, lock_id)
    for asked, by, reason in (
        (number, bench.next_id(), m.Reason.OTHER_LOCK),
        (fresh_round(bench), lock_id, m.Reason.WRONG_ROUND),
        (fresh_round(bench), bench.next_id(), m.Reason.WRONG_ROUND),
    ):
        answer = await expect_lock_refused(visit, asked, by, reason)
        expect(answer.latch == latch, f"the latch that stands: {latch!r}", answer)
    status = await status_of(visit)
    expect((status.state, status.latch) == (m.State.LOCKED, latch), f"{latch!r} still stands", status)


@CHAPTER.requirement(7, "States", needs=("BS-03",), at=bring_to_idle)
async def disagreement(bench: ConformanceBench, visit: CheckSession) -> None:
    """A Lock for another round than the open one is refused with 481, and bets are closed after it."""
    number = await open_round(bench, visit)
    answer = await expect_lock_refused(visit, fresh_round(bench), bench.next_id(), m.Reason.WRONG_ROUND)
    expect((answer.round, answer.latch) == (number, None), f"round {number}, and no latch", answer)
    status = await status_of(visit)
    expect((status.state, status.latch) == (m.State.NONE, None), "NONE and nothing latched", status)


@CHAPTER.requirement(8, "States", needs=("BS-04",), at=bring_to_idle)
async def lock_remembered(bench: ConformanceBench, visit: CheckSession) -> None:
    """A lock's id is remembered like a command's: DONE, or REFUSED with its reason."""
    number, lock_id, other = await open_round(bench, visit), bench.next_id(), bench.next_id()
    await lock_round(visit, number, lock_id)
    await expect_lock_refused(visit, number, other, m.Reason.OTHER_LOCK)
    for command, outcome, reason in (
        (lock_id, Outcome.DONE, m.Reason.NONE),
        (other, Outcome.REFUSED, m.Reason.OTHER_LOCK),
    ):
        known = await visit.ask_outcome(command)
        expect(known == Settled(command, outcome, reason), f"{outcome.name} about {command}", known)


@CHAPTER.requirement(9, "States", needs=("BS-04",), at=bring_to_idle)
async def never_again(bench: ConformanceBench, visit: CheckSession) -> None:
    """A latched round never reopens (481), in LOCKED or later; another round does, and releases the latch."""
    number, lock_id = await open_round(bench, visit), bench.next_id()
    await lock_round(visit, number, lock_id)
    await expect_refused(visit, m.Open(bench.next_id(), number), m.Reason.WRONG_ROUND, "of a latched round")
    other = await open_round(bench, visit)
    status = await status_of(visit)
    meant = (status.state, status.round, status.latch) == (m.State.AWAITING, other, None)
    expect(meant, f"AWAITING of round {other}, and no latch", status)
    await expect_refused(visit, m.Open(bench.next_id(), number), m.Reason.WRONG_ROUND, "of a round that was latched")


@CHAPTER.requirement(10, "States", needs=("BS-04",), at=bring_to_idle)
async def unlocks(bench: ConformanceBench, visit: CheckSession) -> None:
    """Unlock releases the latch of its own lock and no other (482): NONE, and bets are closed."""
    number, lock_id = await open_round(bench, visit), bench.next_id()
    await lock_round(visit, number, lock_id)
    before = await status_of(visit)
    command = bench.next_id()
    await expect_refused(visit, m.Unlock(command, command), m.Reason.OTHER_LOCK, "for another lock")
    expect_same_except(before, await status_of(visit))
    await visit.complete_command(m.Unlock(bench.next_id(), lock_id), SHORT_LIMIT_S)
    expect_same_except(before, await status_of(visit), state=m.State.NONE, latch=None)


@CHAPTER.requirement(11, "States", needs=("BS-04",), at=bring_to_idle)
async def no_test_in_a_round(bench: ConformanceBench, visit: CheckSession) -> None:
    """While bets are open or latched, SelfTest is refused with 420."""
    number = await open_round(bench, visit)
    await expect_refused(visit, m.SelfTest(bench.next_id()), m.Reason.BUSY, "in AWAITING")
    await lock_round(visit, number, bench.next_id())
    await expect_refused(visit, m.SelfTest(bench.next_id()), m.Reason.BUSY, "in LOCKED")


@CHAPTER.requirement(12, "States", at=bring_to_idle)
async def testing(bench: ConformanceBench, visit: CheckSession) -> None:
    """During a self-test it is TESTING; Lock is refused with 483 and every other command with 420."""
    command = await begin_command(visit, m.SelfTest(bench.next_id()))
    status = await status_of(visit)
    await expect_lock_refused(visit, fresh_round(bench), bench.next_id(), m.Reason.NOT_OPEN)
    for order in (
        m.Open(bench.next_id(), fresh_round(bench)),
        m.Unlock(bench.next_id(), bench.next_id()),
        m.SetLight(bench.next_id(), m.Light.OFF, 0),
        m.SelfTest(bench.next_id()),
    ):
        await expect_refused(visit, order, m.Reason.BUSY, "in TESTING")
    if visit.events_about(command):
        raise NotChecked("the test ended before it could be observed; run the simulator more slowly")
    expect(status.state is m.State.TESTING, "TESTING", status)
    await visit.wait_settled(command, SHORT_LIMIT_S)


@CHAPTER.requirement(13, "Events", at=bring_to_idle)
async def tested(bench: ConformanceBench, visit: CheckSession) -> None:
    """A self-test ends in SelfTested and then Settled, DONE only if every part passed."""
    reported, settled = await run_self_test(bench, visit, m)
    expect_test_result(m, settled, passed=not reported.bad_parts)
    health = await visit.ask(m.GetHealth(), m.Health)
    expect(health.tested is not bool(reported.bad_parts), "health that agrees with the result of the test", health)


@CHAPTER.requirement(14, "States", needs=("BS-04",))
async def latch_over_reset(bench: ConformanceBench) -> None:
    """A latch survives a restart: the same status, and the same answer to the same Lock."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        number, lock_id = await open_round(bench, visit), bench.next_id()
        latch = await lock_round(visit, number, lock_id)
        before = await status_of(visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect_same_except(before, await status_of(visit))
        again = await lock_round(visit, number, lock_id)
        expect(again == latch, repr(latch), again)


@CHAPTER.requirement(15, "States", needs=("BS-03",))
async def closed_by_reset(bench: ConformanceBench) -> None:
    """After a restart bets are closed: NONE with 435, and a Lock for that round is refused with 483."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        number = await open_round(bench, visit)
        before = await status_of(visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect_same_except(before, await status_of(visit), state=m.State.NONE, reason=m.Reason.POWER_LOST)
        await expect_lock_refused(visit, number, bench.next_id(), m.Reason.NOT_OPEN)
