"""BS-20 up: chips on the spot, before the latch, at it and after it. All of them need an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.bet_sensor import messages as m
from table_controller.conformance.hands import Step
from table_controller.conformance.judging import refused, restarted, same_but
from table_controller.conformance.kinds.bet_sensor.machine import (
    CHAPTER,
    COIN,
    EDGE,
    PLACE,
    PLUG_COIL,
    SHORT,
    TAKE,
    TWO,
    UNPLUG_COIL,
    changed,
    fresh_round,
    locked,
    opened,
    rest,
    status_of,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.protocol.commands import POWER_CUT
from table_controller.conformance.requirements import expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

JUGGLE: Final = Step("lay a chip on the spot and take it off, again and again, until it is locked, and once more then",
                     ("place_bet", "take_bet", "place_bet"))  # fmt: skip
JUGGLE_ON: Final = Step("take it off and lay it down again, once more", ("take_bet", "place_bet"))
LAID_IN_THE_DARK: Final = Step(
    "switch the sensor's power off, lay a chip on the spot, and switch it on", ("power_cut:seconds=1", "place_bet")
)
WHILE_OPEN: Final = (m.Change.PLACED, m.Change.WITHDRAWN, m.Change.UNCLEAR)
WHILE_CLOSED: Final = (m.Change.LATE, m.Change.TAKEN, m.Change.UNCLEAR)


def _numbered(changes: list[m.Changed], before: int) -> None:
    numbers = [event.sequence for event in changes]
    expect(numbers == list(range(before + 1, before + 1 + len(numbers))), f"numbers from {before + 1} on", changes)


async def _placed(bench: Bench, visit: Visit) -> tuple[int, int]:
    """Open a round and have a bet placed; return the round and the bet's number."""
    number = await opened(bench, visit)
    return number, (await changed(bench, visit, PLACE, m.Lies.CHIP))[-1].sequence


@CHAPTER.requirement(20, "Events", hands=True, needs=("BS-03",))
async def placed(bench: Bench) -> None:
    """A chip placed while bets are open is reported as PLACED, with the next number and its round."""
    await rest(bench)
    async with bench.visit() as visit:
        number = await opened(bench, visit)
        before = await status_of(visit)
        reported = await changed(bench, visit, PLACE, m.Lies.CHIP)
        _numbered(reported, before.sequence)
        last = reported[-1]
        expect((last.change, last.round) == (m.Change.PLACED, number), f"PLACED in round {number}", last)
        after = await status_of(visit)
        same_but(before, after, state=m.State.PLACED, lies=m.Lies.CHIP, sequence=last.sequence)


@CHAPTER.requirement(21, "Events", hands=True, needs=("BS-20",))
async def withdrawn(bench: Bench) -> None:
    """A bet withdrawn while bets are open is reported as WITHDRAWN, with the next number: AWAITING."""
    await rest(bench)
    async with bench.visit() as visit:
        number, bet = await _placed(bench, visit)
        reported = await changed(bench, visit, TAKE, m.Lies.EMPTY)
        _numbered(reported, bet)
        last = reported[-1]
        expect((last.change, last.round) == (m.Change.WITHDRAWN, number), f"WITHDRAWN in round {number}", last)
        status = await status_of(visit)
        meant = (status.state, status.sequence) == (m.State.AWAITING, last.sequence)
        expect(meant, f"AWAITING at number {last.sequence}", status)


@CHAPTER.requirement(22, "The latch is the order", hands=True, needs=("BS-04", "BS-20"))
async def bet_latched(bench: Bench) -> None:
    """A latched bet has the number of the change that placed it, with content CHIP."""
    await rest(bench)
    async with bench.visit() as visit:
        number, bet = await _placed(bench, visit)
        lock_id = bench.next_id()
        latch = await locked(visit, number, lock_id)
        expected = m.Latch(number, lock_id, bet, m.Lies.CHIP)
        expect(latch == expected, repr(expected), latch)


@CHAPTER.requirement(23, "The latch is the order", hands=True, needs=("BS-22",))
async def taken(bench: Bench) -> None:
    """A bet removed after the latch is reported as TAKEN, with a higher number; the latch is unchanged."""
    await rest(bench)
    async with bench.visit() as visit:
        number, bet = await _placed(bench, visit)
        lock_id = bench.next_id()
        latch = await locked(visit, number, lock_id)
        reported = await changed(bench, visit, TAKE, m.Lies.EMPTY)
        _numbered(reported, bet)
        expect(reported[-1].change is m.Change.TAKEN, "TAKEN", reported[-1])
        again, status = await locked(visit, number, lock_id), await status_of(visit)
        expect(again == status.latch == latch, f"{latch!r} in the answer and in the status", (again, status))


@CHAPTER.requirement(24, "The latch is the order", hands=True, needs=("BS-04",))
async def late(bench: Bench) -> None:
    """A chip placed after the latch is reported as LATE, with a higher number, and never counts."""
    await rest(bench)
    async with bench.visit() as visit:
        number, lock_id = await opened(bench, visit), bench.next_id()
        latch = await locked(visit, number, lock_id)
        reported = await changed(bench, visit, PLACE, m.Lies.CHIP)
        _numbered(reported, latch.last)
        expect(reported[-1].change is m.Change.LATE, "LATE", reported[-1])
        again, status = await locked(visit, number, lock_id), await status_of(visit)
        expect(again == status.latch == latch, f"{latch!r} in the answer and in the status", (again, status))
        expect(status.state is m.State.LOCKED, "LOCKED", status)


@CHAPTER.requirement(25, "The latch is the order", hands=True, needs=("BS-22",))
async def one_step(bench: Bench) -> None:
    """Lock reads and closes in one step: bets count up to its number and none above it, and it has the last change."""
    await rest(bench)
    async with bench.visit() as visit:
        number = await opened(bench, visit)
        before, since = (await status_of(visit)).sequence, len(visit.events)
        await bench.now(JUGGLE)
        await visit.event(m.Changed, bench.hands.patience, since)
        latch = await locked(visit, number, bench.next_id())
        await bench.now(JUGGLE_ON)
        await visit.until(
            lambda event: isinstance(event, m.Changed) and event.sequence > latch.last, bench.hands.patience, since
        )
        await asyncio.sleep(QUIET)
        reported = visit.told(m.Changed, since)
        _numbered(reported, before)
        for event in reported:
            meanings = WHILE_OPEN if event.sequence <= latch.last else WHILE_CLOSED
            names = ", ".join(meaning.name for meaning in meanings)
            expect(event.change in meanings, f"one of {names}: {latch.last} is latched", event)
        lay = {before: m.Lies.EMPTY} | {event.sequence: event.lies for event in reported}
        expect(latch.lies is lay.get(latch.last), "what lay there at the latched number", (latch, *reported))


@CHAPTER.requirement(26, "The latch is the order", hands=True, needs=("BS-22",))
async def over_power(bench: Bench) -> None:
    """A latched bet and the count of changes survive a power cut."""
    await rest(bench)
    async with bench.visit() as visit:
        number, bet = await _placed(bench, visit)
        lock_id = bench.next_id()
        latch = await locked(visit, number, lock_id)
        before = await status_of(visit)
        await bench.do(POWER_CUT)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        same_but(before, await status_of(visit))
        again = await locked(visit, number, lock_id)
        expect(again == latch, repr(latch), again)
        _numbered(await changed(bench, visit, TAKE, m.Lies.EMPTY), bet)


@CHAPTER.requirement(27, "States", hands=True, needs=("BS-03",))
async def in_the_dark(bench: Bench) -> None:
    """A chip placed while power was off is detected afterwards and gets its number; bets are closed."""
    await rest(bench)
    async with bench.visit() as visit:
        await opened(bench, visit)
        before = await status_of(visit)
        await bench.do(LAID_IN_THE_DARK)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        same_but(
            before, await status_of(visit),
            state=m.State.NONE, lies=m.Lies.CHIP, sequence=before.sequence + 1, reason=m.Reason.POWER_LOST,
        )  # fmt: skip


@CHAPTER.requirement(28, "The two lights", hands=True, needs=("BS-20",))
async def acknowledged(bench: Bench) -> None:
    """ACKNOWLEDGED lights only for the placed bet, ACCEPTED not before the latch: 485."""
    await rest(bench)
    async with bench.visit() as visit:
        _, bet = await _placed(bench, visit)
        for light, number in (
            (m.Light.ACKNOWLEDGED, bet - 1),
            (m.Light.ACKNOWLEDGED, bet + 1),
            (m.Light.ACCEPTED, bet),
        ):
            order = m.SetLight(bench.next_id(), light, number)
            await refused(visit, order, m.Reason.NO_SUCH_BET, f"for {light.name} and {number}, when {bet} is placed")
        expect((await status_of(visit)).light is m.Light.OFF, "OFF", await status_of(visit))
        await visit.done(m.SetLight(bench.next_id(), m.Light.ACKNOWLEDGED, bet), SHORT)
        expect((await status_of(visit)).light is m.Light.ACKNOWLEDGED, "ACKNOWLEDGED", await status_of(visit))


@CHAPTER.requirement(29, "The two lights", hands=True, needs=("BS-21", "BS-28"))
async def goes_out(bench: Bench) -> None:
    """The acknowledged light goes off by itself when the bet is moved, and does not light for the next bet."""
    await rest(bench)
    async with bench.visit() as visit:
        _, bet = await _placed(bench, visit)
        await visit.done(m.SetLight(bench.next_id(), m.Light.ACKNOWLEDGED, bet), SHORT)
        for step, lies in ((TAKE, m.Lies.EMPTY), (PLACE, m.Lies.CHIP)):
            await changed(bench, visit, step, lies)
            expect((await status_of(visit)).light is m.Light.OFF, "OFF", await status_of(visit))
        order = m.SetLight(bench.next_id(), m.Light.ACKNOWLEDGED, bet)
        await refused(visit, order, m.Reason.NO_SUCH_BET, "for a bet that was exchanged")


@CHAPTER.requirement(30, "The two lights", hands=True, needs=("BS-22",))
async def accepted(bench: Bench) -> None:
    """ACCEPTED lights only for the latched bet, ACKNOWLEDGED not after the latch (485); a restart turns both off."""
    await rest(bench)
    async with bench.visit() as visit:
        number, bet = await _placed(bench, visit)
        await locked(visit, number, bench.next_id())
        for light, named in ((m.Light.ACCEPTED, bet - 1), (m.Light.ACCEPTED, bet + 1), (m.Light.ACKNOWLEDGED, bet)):
            order = m.SetLight(bench.next_id(), light, named)
            await refused(visit, order, m.Reason.NO_SUCH_BET, f"for {light.name} and {named}, when {bet} is latched")
        await visit.done(m.SetLight(bench.next_id(), m.Light.ACCEPTED, bet), SHORT)
        before = await status_of(visit)
        expect(before.light is m.Light.ACCEPTED, "ACCEPTED", before)
        await visit.done(m.Reset(bench.next_id()), SHORT)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        same_but(before, await status_of(visit), light=m.Light.OFF)


@CHAPTER.requirement(31, "The two lights", hands=True, needs=("BS-24",))
async def late_never_lit(bench: Bench) -> None:
    """No light turns on for a chip placed after the latch: 485."""
    await rest(bench)
    async with bench.visit() as visit:
        latch = await locked(visit, await opened(bench, visit), bench.next_id())
        bet = (await changed(bench, visit, PLACE, m.Lies.CHIP))[-1].sequence
        for number in (bet, latch.last):
            for light in (m.Light.ACKNOWLEDGED, m.Light.ACCEPTED):
                order = m.SetLight(bench.next_id(), light, number)
                await refused(visit, order, m.Reason.NO_SUCH_BET, f"for {light.name} and the late chip")


@CHAPTER.requirement(32, "States", hands=True)
async def occupied(bench: Bench) -> None:
    """Bets open, and a self-test runs, only on an empty spot: with a chip there, Open and SelfTest get 484."""
    await rest(bench)
    async with bench.visit() as visit:
        reported = await changed(bench, visit, PLACE, m.Lies.CHIP)
        expect(reported[-1].change is m.Change.LATE, "LATE while bets are closed", reported[-1])
        before = await status_of(visit)
        order = m.Open(bench.next_id(), fresh_round(bench))
        await refused(visit, order, m.Reason.SPOT_OCCUPIED, "with a chip on the spot")
        await refused(visit, m.SelfTest(bench.next_id()), m.Reason.SPOT_OCCUPIED, "with a chip on the spot")
        same_but(before, await status_of(visit))


@CHAPTER.requirement(33, "What lies there", hands=True, needs=("BS-04",))
async def unclear(bench: Bench) -> None:
    """Half a chip, two chips or a coin are not a bet: UNCLEAR, AWAITING, no light, and latched as what they are."""
    for step, lies in ((EDGE, m.Lies.EDGE), (TWO, m.Lies.SEVERAL), (COIN, m.Lies.FOREIGN)):
        await rest(bench)
        async with bench.visit() as visit:
            number = await opened(bench, visit)
            last = (await changed(bench, visit, step, lies))[-1]
            expect(last.change is m.Change.UNCLEAR, f"UNCLEAR for {lies.name}", last)
            expect((await status_of(visit)).state is m.State.AWAITING, "AWAITING", await status_of(visit))
            order = m.SetLight(bench.next_id(), m.Light.ACKNOWLEDGED, last.sequence)
            await refused(visit, order, m.Reason.NO_SUCH_BET, f"for {lies.name}")
            latch = await locked(visit, number, bench.next_id())
            expect((latch.last, latch.lies) == (last.sequence, lies), f"{lies.name} at {last.sequence}", latch)
            order = m.SetLight(bench.next_id(), m.Light.ACCEPTED, latch.last)
            await refused(visit, order, m.Reason.NO_SUCH_BET, f"for a latched {lies.name}")


@CHAPTER.requirement(34, "What lies there", hands=True, needs=("BS-13",))
async def sensing_fails(bench: Bench) -> None:
    """A coil that cannot be read is UNREAD and a Fault; Open is refused with 488 until a self-test has passed."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        reported = await changed(bench, visit, UNPLUG_COIL, m.Lies.UNREAD)
        _numbered(reported, before.sequence)
        fault = await visit.event(m.Fault, QUIET)
        expect(fault.reason is m.Reason.SENSING_FAILED, "reason 488", fault)
        await changed(bench, visit, PLUG_COIL, m.Lies.EMPTY)
        status = await status_of(visit)
        expect(status.reason is m.Reason.SENSING_FAILED, "reason 488 until it is tested", status)
        order = m.Open(bench.next_id(), fresh_round(bench))
        await refused(visit, order, m.Reason.SENSING_FAILED, "before a self-test")
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
        await opened(bench, visit)
