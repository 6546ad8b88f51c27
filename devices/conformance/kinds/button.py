"""Requirements on the flat button's mat: a place, or the reason why there is none. See docs/devices/button.md."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.button import messages as m
from devices.conformance.assertions import (
    broken_meanwhile,
    expect_one_end,
    expect_same_except,
    expect_settled,
    run_command,
    wait_restarted,
)
from devices.conformance.operators import ManualStep
from devices.conformance.requirements import Chapter, KindProfile, NotChecked, expect, preparation
from devices.conformance.shared_checks import SHORT_LIMIT_S, check_passes_self_test, check_testing, until_idle
from firmware_bridge.commands import Outcome

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

CHAPTER: Final = Chapter("FB", "The flat button", "docs/devices/button.md", needs=("HS-04",))

# Levels that stay as they are for so long (s) are steady: twice what the page allows.
STEADY_S: Final = 0.8
# How long nothing may be reported while nobody touches the button (s).
UNTOUCHED_S: Final = 2.0

PUSH: Final = ManualStep(
    "push the button half of the way from place 2 to place 3", ("slide_button:toward=3,percent=50",)
)
PUSH_BACK: Final = ManualStep("push the button back to place 2", ("slide_button:toward=2",))
SECOND: Final = ManualStep("lay a second button at place 5", ("second_button:at=5",))
TAKE_AWAY: Final = ManualStep("take every button off the layout", ("take_buttons",))
WEAK_FIELD: Final = ManualStep(
    "keep a magnet over place 4, so high that its level is between the two", ("stray_field:level=400",)
)
KILL: Final = ManualStep("unplug the sensor of place 4", ("dead_sensor:place=4",))
MEND: Final = ManualStep("take every magnet but the button away and connect every sensor", ("mend",))


def put(place: int) -> ManualStep:
    """Ask for the one button at a place."""
    return ManualStep(f"lay the button at place {place}, and no other anywhere", (f"put_button:at={place}",))


async def status_of(visit: CheckSession) -> m.Status:
    """Ask where the button lies: at a place, or nowhere for a reason."""
    status = await visit.ask(m.GetStatus(), m.Status)
    _clear(status)
    return status


def _clear(message: m.Status | m.Moved) -> None:
    """There is a place exactly when the reason is NONE."""
    expect((message.place is not None) is (message.reason is m.Reason.NONE), "a place or a reason, never both", message)


def _meant(sensors: m.Sensors) -> tuple[int | None, m.Reason]:
    """Return what steady levels mean by the page's table."""
    if any(sensors.absent < level < sensors.present for level in sensors.levels):
        return None, m.Reason.BETWEEN_PLACES
    result = [place for place, level in enumerate(sensors.levels, 1) if level >= sensors.present]
    if len(result) > 1:
        return None, m.Reason.MORE_THAN_ONE
    return (result[0], m.Reason.NONE) if result else (None, m.Reason.NO_BUTTON)


async def moved(
    bench: ConformanceBench, visit: CheckSession, step: ManualStep, place: int | None, reason: m.Reason
) -> list[m.Moved]:
    """Have the button moved; return everything that was reported until it lies as it should, and a while longer."""
    since = len(visit.events)
    await bench.perform(step)
    await visit.wait_until(
        lambda event: isinstance(event, m.Moved) and (event.place, event.reason) == (place, reason),
        bench.operator.effect_timeout_s, since,
    )  # fmt: skip
    await asyncio.sleep(STEADY_S)
    reported = visit.events_of(m.Moved, since)
    for event in reported:
        _clear(event)
    last = reported[-1] if reported else None
    where = f"place {place}" if place else f"no place, with {reason.value}"
    expect(
        last is not None and (last.place, last.reason) == (place, reason), f"Moved with {where} in the end", reported
    )
    status = await status_of(visit)
    expect((status.place, status.reason) == (place, reason), f"a status with {where}", status)
    return reported


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring the mat to WATCHING, with a button that nobody moves, wherever it lies."""
    await until_idle(bench, m, _is_at_rest, "mat")


async def _is_at_rest(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    """Do one step toward idle; return True if it is idle."""
    if status.state is m.State.TESTING:
        await visit.wait_until(lambda event: isinstance(event, m.SelfTested), SHORT_LIMIT_S)
    elif status.state is m.State.FAULTY:
        await bench.perform(MEND)
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    elif status.reason is m.Reason.MOVING:
        await asyncio.sleep(STEADY_S)
    else:
        return True
    return False


@preparation
async def bring_to_place_two(bench: ConformanceBench) -> None:
    """Bring the mat to idle with its button at place 2, from where the checks begin."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        await bench.perform(put(2))
        await asyncio.sleep(STEADY_S)
        status = await status_of(visit)
        expect(status.place == 2, "the button at place 2", status)


PROFILE: Final = KindProfile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)), (m.GetSensors(), (m.Sensors,))),
    bring_to_idle=bring_to_idle,
    self_test=m.SelfTest,
    reset=m.Reset,
)


# --- without an operator ----------------------------------------------------------------------------------------------


@CHAPTER.requirement(1, "From levels to a place", at=bring_to_idle)
async def as_measured(_: ConformanceBench, visit: CheckSession) -> None:
    """Its place is the one that its levels give, and there is a place exactly when the reason is 0."""
    status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
    expect(sensors.absent < sensors.present <= 1023, "absent below present", sensors)
    place, reason = _meant(sensors)
    expect((status.place, status.reason) == (place, reason), f"place {place} with reason {reason.value}", status)


@CHAPTER.requirement(2, "From levels to a place", at=bring_to_idle)
async def untouched(_: ConformanceBench, visit: CheckSession) -> None:
    """Nothing is sent while nothing changes."""
    before = await status_of(visit)
    await asyncio.sleep(UNTOUCHED_S)
    expect(not visit.events, "no event", visit.events)
    expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(3, "States")
async def tested(bench: ConformanceBench) -> None:
    """A self-test of a good mat ends in SelfTested with no bad place and then Settled DONE: WATCHING, as before."""
    await bring_to_idle(bench)
    reported = await check_passes_self_test(bench, m)
    expect(reported.bad_places == 0, "no bad place", reported)


@CHAPTER.requirement(4, "States")
async def testing(bench: ConformanceBench) -> None:
    """During a self-test it is TESTING, and another SelfTest is refused with 420."""
    await bring_to_idle(bench)
    await check_testing(bench, m, (m.SelfTest,))


@CHAPTER.requirement(5, "States")
async def restart(bench: ConformanceBench) -> None:
    """After a restart it reports the same place, the one that its levels give, and counts its moves from 0."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        place, reason = _meant(await visit.ask(m.GetSensors(), m.Sensors))
        expect_same_except(before, await status_of(visit), moves=0, place=place, reason=reason)


# --- with an operator -------------------------------------------------------------------------------------------------


@CHAPTER.requirement(10, "From levels to a place", needs_operator=True, at=bring_to_idle)
async def every_place(bench: ConformanceBench, visit: CheckSession) -> None:
    """The button is detected at each of the seven places: Moved at once with MOVING, then with the place."""
    before = (await status_of(visit)).place
    start = before or m.PLACES
    for step in range(m.PLACES):
        place = (start + step) % m.PLACES + 1
        reported = await moved(bench, visit, put(place), place, m.Reason.NONE)
        expect(reported[0].reason is m.Reason.MOVING, "MOVING at first", reported)
        lay = {reported[0].before, reported[-1].before}
        expect(before is None or lay == {before}, f"place {before} before", reported)
        before = place


@CHAPTER.requirement(11, "From levels to a place", needs_operator=True, needs=("FB-10",), at=bring_to_place_two)
async def between(bench: ConformanceBench, visit: CheckSession) -> None:
    """A button between two places has no place: 477."""
    await moved(bench, visit, PUSH, None, m.Reason.BETWEEN_PLACES)


@CHAPTER.requirement(12, "From levels to a place", needs_operator=True, needs=("FB-10",), at=bring_to_place_two)
async def two_buttons(bench: ConformanceBench, visit: CheckSession) -> None:
    """Two buttons give no place: 476."""
    await moved(bench, visit, SECOND, None, m.Reason.MORE_THAN_ONE)


@CHAPTER.requirement(13, "From levels to a place", needs_operator=True, needs=("FB-10",), at=bring_to_place_two)
async def no_button(bench: ConformanceBench, visit: CheckSession) -> None:
    """Without a button there is no place, not even the last one: 475."""
    await moved(bench, visit, TAKE_AWAY, None, m.Reason.NO_BUTTON)


@CHAPTER.requirement(14, "From levels to a place", needs_operator=True, needs=("FB-10",), at=bring_to_place_two)
async def unclear_elsewhere(bench: ConformanceBench, visit: CheckSession) -> None:
    """An unclear level anywhere gives no place, even if the button itself is clear: 477."""
    async with broken_meanwhile(bench, WEAK_FIELD, MEND):
        await visit.wait_for_event(m.Moved, bench.operator.effect_timeout_s)
        await asyncio.sleep(STEADY_S)
        status = await status_of(visit)
        gone = (status.place, status.reason) == (None, m.Reason.BETWEEN_PLACES)
        expect(gone, "no place, with 477", status)
    await asyncio.sleep(STEADY_S)


@CHAPTER.requirement(15, "From levels to a place", needs_operator=True, needs=("FB-10",), at=bring_to_place_two)
async def moving(bench: ConformanceBench, visit: CheckSession) -> None:
    """While levels change there is no place: 478."""
    await bench.request_now(put(6))
    await visit.wait_for_event(m.Moved, bench.operator.effect_timeout_s)
    status = await status_of(visit)
    if any(event.place for event in visit.events_of(m.Moved)):
        raise NotChecked("the button lay still before it could be observed; run the simulator more slowly")
    expect((status.place, status.reason) == (None, m.Reason.MOVING), "no place, with 478", status)


@CHAPTER.requirement(16, "Messages", needs_operator=True, needs=("FB-10",), at=bring_to_place_two)
async def moves(bench: ConformanceBench, visit: CheckSession) -> None:
    """Moves count when the button stops at another place, not when it comes back to its own."""
    before = (await status_of(visit)).moves
    for step, place, reason, more in (
        (PUSH, None, m.Reason.BETWEEN_PLACES, 0),
        (PUSH_BACK, 2, m.Reason.NONE, 0),
        (put(7), 7, m.Reason.NONE, 1),
    ):
        await moved(bench, visit, step, place, reason)
        count = (await status_of(visit)).moves
        expect(count == before + more, f"{before + more} moves", count)


@CHAPTER.requirement(17, "States", needs_operator=True, needs=("FB-03", "FB-10"))
async def dead_sensor(bench: ConformanceBench) -> None:
    """A dead sensor gives no place (479): FAULTY, and a self-test reports that sensor and fails with 436."""
    await bring_to_place_two(bench)
    async with bench.session() as visit, broken_meanwhile(bench, KILL, MEND):
        await visit.wait_for_event(m.Moved, bench.operator.effect_timeout_s)
        await asyncio.sleep(STEADY_S)
        status = await status_of(visit)
        meant = (status.state, status.place, status.reason) == (m.State.FAULTY, None, m.Reason.SENSOR_DEAD)
        expect(meant, "FAULTY, no place, with 479", status)
        settled = await run_command(visit, m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
        expect_settled(settled, Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
        reported: m.SelfTested = expect_one_end(visit, settled.command, m.SelfTested, settled)
        expect(reported.bad_places == 1 << 3, "place 4 and no other", reported)


@CHAPTER.requirement(18, "States", needs_operator=True, needs=("FB-17",))
async def fault_kept(bench: ConformanceBench) -> None:
    """A repaired mat stays FAULTY, also through a restart, until a self-test has passed."""
    await bring_to_place_two(bench)
    async with bench.session() as visit:
        async with broken_meanwhile(bench, KILL, MEND):
            await visit.wait_for_event(m.Moved, bench.operator.effect_timeout_s)
            await asyncio.sleep(STEADY_S)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect((await status_of(visit)).state is m.State.FAULTY, "FAULTY", await status_of(visit))
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
        expect((await status_of(visit)).state is m.State.WATCHING, "WATCHING", await status_of(visit))


@CHAPTER.requirement(19, "Messages", needs_operator=True, needs=("FB-16",))
async def moves_begin_again(bench: ConformanceBench) -> None:
    """Moves are counted since the start: 0 after a restart, and the place is where the button is now."""
    await bring_to_place_two(bench)
    async with bench.session() as visit:
        await moved(bench, visit, put(5), 5, m.Reason.NONE)
        before = await status_of(visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect_same_except(before, await status_of(visit), moves=0)
