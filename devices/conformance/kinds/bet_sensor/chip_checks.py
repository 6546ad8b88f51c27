"""Requirements from BS-20 on chips: before, at and after the latch. All of them need an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.bet_sensor import messages as m
from devices.conformance.assertions import expect_refused, expect_same_except, wait_restarted
from devices.conformance.kinds.bet_sensor.setup import (
    CHAPTER,
    COIN,
    EDGE,
    PLACE_CHIP,
    PLUG_COIL,
    TAKE_CHIP,
    TWO,
    UNPLUG_COIL,
    bring_to_idle,
    change_spot,
    fresh_round,
    lock_round,
    open_round,
    status_of,
)
from devices.conformance.operators import ManualStep
from devices.conformance.protocol.commands import POWER_CUT
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import expect
from devices.conformance.shared_checks import SHORT_LIMIT_S

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

JUGGLE: Final = ManualStep(
    "lay a chip on the spot and take it off, again and again, until it is locked, and once more then",
    ("place_bet", "take_bet", "place_bet"),
)
JUGGLE_ON: Final = ManualStep("take it off and lay it down again, once more", ("take_bet", "place_bet"))
LAID_IN_THE_DARK: Final = ManualStep(
    "switch the sensor's power off, lay a chip on the spot, and switch it on", ("power_cut:seconds=1", "place_bet")
)
WHILE_OPEN: Final = (m.Change.PLACED, m.Change.WITHDRAWN, m.Change.UNCLEAR)
WHILE_CLOSED: Final = (m.Change.LATE, m.Change.TAKEN, m.Change.UNCLEAR)


def _numbered(changes: list[m.Changed], before: int) -> None:
    numbers = [event.sequence for event in changes]
    expect(numbers == list(range(before + 1, before + 1 + len(numbers))), f"numbers from {before + 1} on", changes)


async def _placed(bench: ConformanceBench, visit: CheckSession) -> tuple[int, int]:
    """Open a round and have a bet placed; return the round and the bet's number."""
    number = await open_round(bench, visit)
    return number, (await change_spot(bench, visit, PLACE_CHIP, m.SpotContent.CHIP))[-1].sequence


@CHAPTER.requirement(20, "Events", needs_operator=True, needs=("BS-03",), at=bring_to_idle)
async def placed(bench: ConformanceBench, visit: CheckSession) -> None:
    """A chip placed while bets are open is reported as PLACED, with the next number and its round."""
    number = await open_round(bench, visit)
    before = await status_of(visit)
    reported = await change_spot(bench, visit, PLACE_CHIP, m.SpotContent.CHIP)
    _numbered(reported, before.sequence)
    last = reported[-1]
    expect((last.change, last.round) == (m.Change.PLACED, number), f"PLACED in round {number}", last)
    after = await status_of(visit)
    expect_same_except(before, after, state=m.State.PLACED, content=m.SpotContent.CHIP, sequence=last.sequence)


@CHAPTER.requirement(21, "Events", needs_operator=True, needs=("BS-20",), at=bring_to_idle)
async def withdrawn(bench: ConformanceBench, visit: CheckSession) -> None:
    """A bet withdrawn while bets are open is reported as WITHDRAWN, with the next number: AWAITING."""
    number, bet = await _placed(bench, visit)
    reported = await change_spot(bench, visit, TAKE_CHIP, m.SpotContent.EMPTY)
    _numbered(reported, bet)
    last = reported[-1]
    expect((last.change, last.round) == (m.Change.WITHDRAWN, number), f"WITHDRAWN in round {number}", last)
    status = await status_of(visit)
    meant = (status.state, status.sequence) == (m.State.AWAITING, last.sequence)
    expect(meant, f"AWAITING at number {last.sequence}", status)


@CHAPTER.requirement(22, "The latch is the order", needs_operator=True, needs=("BS-04", "BS-20"), at=bring_to_idle)
async def bet_latched(bench: ConformanceBench, visit: CheckSession) -> None:
    """A latched bet has the number of the change that placed it, with content CHIP."""
    number, bet = await _placed(bench, visit)
    lock_id = bench.next_id()
    latch = await lock_round(visit, number, lock_id)
    expected = m.Latch(number, lock_id, bet, m.SpotContent.CHIP)
    expect(latch == expected, repr(expected), latch)


@CHAPTER.requirement(23, "The latch is the order", needs_operator=True, needs=("BS-22",), at=bring_to_idle)
async def taken(bench: ConformanceBench, visit: CheckSession) -> None:
    """A bet removed after the latch is reported as TAKEN, with a higher number; the latch is unchanged."""
    number, bet = await _placed(bench, visit)
    lock_id = bench.next_id()
    latch = await lock_round(visit, number, lock_id)
    reported = await change_spot(bench, visit, TAKE_CHIP, m.SpotContent.EMPTY)
    _numbered(reported, bet)
    expect(reported[-1].change is m.Change.TAKEN, "TAKEN", reported[-1])
    again, status = await lock_round(visit, number, lock_id), await status_of(visit)
    expect(again == status.latch == latch, f"{latch!r} in the answer and in the status", (again, status))


@CHAPTER.requirement(24, "The latch is the order", needs_operator=True, needs=("BS-04",), at=bring_to_idle)
async def late(bench: ConformanceBench, visit: CheckSession) -> None:
    """A chip placed after the latch is reported as LATE, with a higher number, and never counts."""
    number, lock_id = await open_round(bench, visit), bench.next_id()
    latch = await lock_round(visit, number, lock_id)
    reported = await change_spot(bench, visit, PLACE_CHIP, m.SpotContent.CHIP)
    _numbered(reported, latch.last_change)
    expect(reported[-1].change is m.Change.LATE, "LATE", reported[-1])
    again, status = await lock_round(visit, number, lock_id), await status_of(visit)
    expect(again == status.latch == latch, f"{latch!r} in the answer and in the status", (again, status))
    expect(status.state is m.State.LOCKED, "LOCKED", status)


@CHAPTER.requirement(25, "The latch is the order", needs_operator=True, needs=("BS-22",), at=bring_to_idle)
async def one_step(bench: ConformanceBench, visit: CheckSession) -> None:
    """Lock reads and closes in one step: bets count up to its number and none above it, and it has the last change."""
    number = await open_round(bench, visit)
    before, since = (await status_of(visit)).sequence, len(visit.events)
    await bench.request_now(JUGGLE)
    await visit.wait_for_event(m.Changed, bench.operator.effect_timeout_s, since)
    latch = await lock_round(visit, number, bench.next_id())
    await bench.request_now(JUGGLE_ON)
    await visit.wait_until(
        lambda event: isinstance(event, m.Changed) and event.sequence > latch.last_change,
        bench.operator.effect_timeout_s,
        since,
    )
    await asyncio.sleep(QUIET_S)
    reported = visit.events_of(m.Changed, since)
    _numbered(reported, before)
    for event in reported:
        meanings = WHILE_OPEN if event.sequence <= latch.last_change else WHILE_CLOSED
        names = ", ".join(meaning.name for meaning in meanings)
        expect(event.change in meanings, f"one of {names}: {latch.last_change} is latched", event)
    lay = {before: m.SpotContent.EMPTY} | {event.sequence: event.content for event in reported}
    expect(latch.content is lay.get(latch.last_change), "what lay there at the latched number", (latch, *reported))


@CHAPTER.requirement(26, "The latch is the order", needs_operator=True, needs=("BS-22",))
async def over_power(bench: ConformanceBench) -> None:
    """A latched bet and the count of changes survive a power cut."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        number, bet = await _placed(bench, visit)
        lock_id = bench.next_id()
        latch = await lock_round(visit, number, lock_id)
        before = await status_of(visit)
        await bench.perform(POWER_CUT)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect_same_except(before, await status_of(visit))
        again = await lock_round(visit, number, lock_id)
        expect(again == latch, repr(latch), again)
        _numbered(await change_spot(bench, visit, TAKE_CHIP, m.SpotContent.EMPTY), bet)


@CHAPTER.requirement(27, "States", needs_operator=True, needs=("BS-03",))
async def in_the_dark(bench: ConformanceBench) -> None:
    """A chip placed while power was off is detected afterwards and gets its number; bets are closed."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        await open_round(bench, visit)
        before = await status_of(visit)
        await bench.perform(LAID_IN_THE_DARK)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect_same_except(
            before, await status_of(visit),
            state=m.State.NONE, content=m.SpotContent.CHIP, sequence=before.sequence + 1, reason=m.Reason.POWER_LOST,
        )  # fmt: skip


@CHAPTER.requirement(28, "The two lights", needs_operator=True, needs=("BS-20",), at=bring_to_idle)
async def acknowledged(bench: ConformanceBench, visit: CheckSession) -> None:
    """ACKNOWLEDGED lights only for the placed bet, ACCEPTED not before the latch: 485."""
    _, bet = await _placed(bench, visit)
    for light, number in (
        (m.Light.ACKNOWLEDGED, bet - 1),
        (m.Light.ACKNOWLEDGED, bet + 1),
        (m.Light.ACCEPTED, bet),
    ):
        order = m.SetLight(bench.next_id(), light, number)
        await expect_refused(visit, order, m.Reason.NO_SUCH_BET, f"for {light.name} and {number}, when {bet} is placed")
    expect((await status_of(visit)).light is m.Light.OFF, "OFF", await status_of(visit))
    await visit.complete_command(m.SetLight(bench.next_id(), m.Light.ACKNOWLEDGED, bet), SHORT_LIMIT_S)
    expect((await status_of(visit)).light is m.Light.ACKNOWLEDGED, "ACKNOWLEDGED", await status_of(visit))


@CHAPTER.requirement(29, "The two lights", needs_operator=True, needs=("BS-21", "BS-28"), at=bring_to_idle)
async def goes_out(bench: ConformanceBench, visit: CheckSession) -> None:
    """The acknowledged light goes off by itself when the bet is moved, and does not light for the next bet."""
    _, bet = await _placed(bench, visit)
    await visit.complete_command(m.SetLight(bench.next_id(), m.Light.ACKNOWLEDGED, bet), SHORT_LIMIT_S)
    for step, lies in ((TAKE_CHIP, m.SpotContent.EMPTY), (PLACE_CHIP, m.SpotContent.CHIP)):
        await change_spot(bench, visit, step, lies)
        expect((await status_of(visit)).light is m.Light.OFF, "OFF", await status_of(visit))
    order = m.SetLight(bench.next_id(), m.Light.ACKNOWLEDGED, bet)
    await expect_refused(visit, order, m.Reason.NO_SUCH_BET, "for a bet that was exchanged")


@CHAPTER.requirement(30, "The two lights", needs_operator=True, needs=("BS-22",))
async def accepted(bench: ConformanceBench) -> None:
    """ACCEPTED lights only for the latched bet, ACKNOWLEDGED not after the latch (485); a restart turns both off."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        number, bet = await _placed(bench, visit)
        await lock_round(visit, number, bench.next_id())
        for light, named in ((m.Light.ACCEPTED, bet - 1), (m.Light.ACCEPTED, bet + 1), (m.Light.ACKNOWLEDGED, bet)):
            order = m.SetLight(bench.next_id(), light, named)
            await expect_refused(
                visit, order, m.Reason.NO_SUCH_BET, f"for {light.name} and {named}, when {bet} is latched"
            )
        await visit.complete_command(m.SetLight(bench.next_id(), m.Light.ACCEPTED, bet), SHORT_LIMIT_S)
        before = await status_of(visit)
        expect(before.light is m.Light.ACCEPTED, "ACCEPTED", before)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect_same_except(before, await status_of(visit), light=m.Light.OFF)


@CHAPTER.requirement(31, "The two lights", needs_operator=True, needs=("BS-24",), at=bring_to_idle)
async def late_never_lit(bench: ConformanceBench, visit: CheckSession) -> None:
    """No light turns on for a chip placed after the latch: 485."""
    latch = await lock_round(visit, await open_round(bench, visit), bench.next_id())
    bet = (await change_spot(bench, visit, PLACE_CHIP, m.SpotContent.CHIP))[-1].sequence
    for number in (bet, latch.last_change):
        for light in (m.Light.ACKNOWLEDGED, m.Light.ACCEPTED):
            order = m.SetLight(bench.next_id(), light, number)
            await expect_refused(visit, order, m.Reason.NO_SUCH_BET, f"for {light.name} and the late chip")


@CHAPTER.requirement(32, "States", needs_operator=True, at=bring_to_idle)
async def occupied(bench: ConformanceBench, visit: CheckSession) -> None:
    """Bets open, and a self-test runs, only on an empty spot: with a chip there, Open and SelfTest get 484."""
    reported = await change_spot(bench, visit, PLACE_CHIP, m.SpotContent.CHIP)
    expect(reported[-1].change is m.Change.LATE, "LATE while bets are closed", reported[-1])
    before = await status_of(visit)
    order = m.Open(bench.next_id(), fresh_round(bench))
    await expect_refused(visit, order, m.Reason.SPOT_OCCUPIED, "with a chip on the spot")
    await expect_refused(visit, m.SelfTest(bench.next_id()), m.Reason.SPOT_OCCUPIED, "with a chip on the spot")
    expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(33, "What lies there", needs_operator=True, needs=("BS-04",))
async def unclear(bench: ConformanceBench) -> None:
    """Half a chip, two chips or a coin are not a bet: UNCLEAR, AWAITING, no light, and latched as what they are."""
    for step, lies in ((EDGE, m.SpotContent.EDGE), (TWO, m.SpotContent.SEVERAL), (COIN, m.SpotContent.FOREIGN)):
        await bring_to_idle(bench)
        async with bench.session() as visit:
            number = await open_round(bench, visit)
            last = (await change_spot(bench, visit, step, lies))[-1]
            expect(last.change is m.Change.UNCLEAR, f"UNCLEAR for {lies.name}", last)
            expect((await status_of(visit)).state is m.State.AWAITING, "AWAITING", await status_of(visit))
            order = m.SetLight(bench.next_id(), m.Light.ACKNOWLEDGED, last.sequence)
            await expect_refused(visit, order, m.Reason.NO_SUCH_BET, f"for {lies.name}")
            latch = await lock_round(visit, number, bench.next_id())
            expect(
                (latch.last_change, latch.content) == (last.sequence, lies), f"{lies.name} at {last.sequence}", latch
            )
            order = m.SetLight(bench.next_id(), m.Light.ACCEPTED, latch.last_change)
            await expect_refused(visit, order, m.Reason.NO_SUCH_BET, f"for a latched {lies.name}")


@CHAPTER.requirement(34, "What lies there", needs_operator=True, needs=("BS-13",), at=bring_to_idle)
async def sensing_fails(bench: ConformanceBench, visit: CheckSession) -> None:
    """A coil that cannot be read is UNREAD and a Fault; Open is refused with 488 until a self-test has passed."""
    before = await status_of(visit)
    reported = await change_spot(bench, visit, UNPLUG_COIL, m.SpotContent.UNREAD)
    _numbered(reported, before.sequence)
    fault = await visit.wait_for_event(m.Fault, QUIET_S)
    expect(fault.reason is m.Reason.SENSING_FAILED, "reason 488", fault)
    await change_spot(bench, visit, PLUG_COIL, m.SpotContent.EMPTY)
    status = await status_of(visit)
    expect(status.reason is m.Reason.SENSING_FAILED, "reason 488 until it is tested", status)
    order = m.Open(bench.next_id(), fresh_round(bench))
    await expect_refused(visit, order, m.Reason.SENSING_FAILED, "before a self-test")
    await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    await open_round(bench, visit)
