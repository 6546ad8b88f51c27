"""Requirements on a dealer's keypad: presses, the key switch, entries, lamps. See docs/devices/keypad.md.

A person presses at his own pace, so a press's age is only bounded by the times that the kit measured.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

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
from devices.keypad import messages as m
from firmware_bridge.commands import Outcome

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

CHAPTER: Final = Chapter("KP", "The keypad", "docs/devices/keypad.md", needs=("HS-04",))
# A key that is down for so long is stuck (s).
STUCK_AFTER_S: Final = 5.0
# Presses that are reported again at the start of a session.
REMEMBERED: Final = 16
EVERY_LAMP: Final = sum(1 << lamp for lamp in m.Lamp)
ACTS: Final = (m.Pressed, m.SeatsEntered, m.CountEntered, m.Turned)


def _press(*keys: m.Key) -> ManualStep:
    names = ", then ".join(key.name for key in keys)
    return ManualStep(f"press {names}", tuple(f"press:key={key.name.lower()}" for key in keys))


def _turn(to: m.Switch) -> ManualStep:
    return ManualStep(f"turn the key switch to {to.name}", (f"turn:to={to.name.lower()}",))


START: Final = _press(m.Key.START_GAME)
LOCK: Final = _press(m.Key.LOCK_OUT)
HOLD_KEY: Final = ManualStep("press START_GAME and keep it pressed", ("stuck_key:key=start_game",))
RELEASE_KEYS: Final = ManualStep("let go of every key", ("mend",))
BOUNCE: Final = ManualStep("tap START_GAME so that its contact chatters", ("bounce:times=5", "press:key=start_game"))


async def status_of(visit: CheckSession) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


@preparation
async def bring_to_idle(bench: ConformanceBench) -> None:
    """Bring it to IDLE: nothing asked, no lamp on, no key down or stuck, the key switch on DEALER."""
    await until_idle(bench, m, _is_at_rest, "keypad")


async def _is_at_rest(bench: ConformanceBench, visit: CheckSession, status: m.Status) -> bool:
    """Do one step toward idle; return True if it is idle."""
    if status.state is m.State.TESTING:
        await asyncio.sleep(1.0)
    elif status.held:
        await bench.perform(RELEASE_KEYS)
    elif status.prompt:
        await visit.complete_command(m.Show(bench.next_id(), m.KeypadPrompt.NOTHING, []), SHORT_LIMIT_S)
    elif status.reason is not m.Reason.NONE:
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    elif status.switch is not m.Switch.DEALER:
        await bench.perform(_turn(m.Switch.DEALER))
    elif status.lamps:
        await visit.complete_command(m.SetLamps(bench.next_id(), 0), SHORT_LIMIT_S)
    else:
        return True
    return False


async def actions_after(
    bench: ConformanceBench, visit: CheckSession, step: ManualStep, expected: int = 1
) -> list[m.KeypadAction]:
    """Have the operator do a step; return the reported actions: at least `expected`."""
    await status_of(visit)  # what a session is reported again has come before this answer
    since = len(visit.events)

    def acts() -> list[m.KeypadAction]:
        return cast("list[m.KeypadAction]", [event for event in visit.events[since:] if isinstance(event, ACTS)])

    await bench.perform(step)
    if expected:
        await visit.wait_until(lambda _: len(acts()) >= expected, bench.operator.effect_timeout_s, since)
    await asyncio.sleep(QUIET_S)
    return acts()


# --- when idle --------------------------------------------------------------------------------------------------------


@CHAPTER.requirement(1, "States", at=bring_to_idle)
async def lamps(bench: ConformanceBench, visit: CheckSession) -> None:
    """SetLamps is done at once, and shown in the status; so is a Show without a prompt, in every state but TESTING."""
    before = await status_of(visit)
    for lit in (*(1 << lamp for lamp in m.Lamp), EVERY_LAMP, 0):
        await visit.complete_command(m.SetLamps(bench.next_id(), lit), SHORT_LIMIT_S)
        status = await status_of(visit)
        expect_same_except(before, status, lamps=lit, up_ms=status.up_ms)
    await visit.complete_command(m.Show(bench.next_id(), m.KeypadPrompt.NOTHING, ["PLACE YOUR BETS"]), SHORT_LIMIT_S)
    status = await status_of(visit)
    expect_same_except(before, status, up_ms=status.up_ms)


@CHAPTER.requirement(2, "States", at=bring_to_idle)
async def asks(bench: ConformanceBench, visit: CheckSession) -> None:
    """A Show with a prompt makes it ASKING, and SelfTest is then refused with 420; one without a prompt ends it."""
    for prompt in (m.KeypadPrompt.SEATS, m.KeypadPrompt.STUB_COUNT, m.KeypadPrompt.CHIP_COUNT):
        await visit.complete_command(m.Show(bench.next_id(), prompt, ["", "?"]), SHORT_LIMIT_S)
        status = await status_of(visit)
        expect((status.state, status.prompt) == (m.State.ASKING, prompt), f"ASKING {prompt.name}", status)
        await expect_refused(visit, m.SelfTest(bench.next_id()), m.Reason.BUSY, "in ASKING")
    await visit.complete_command(m.Show(bench.next_id(), m.KeypadPrompt.NOTHING, []), SHORT_LIMIT_S)
    status = await status_of(visit)
    expect((status.state, status.prompt) == (m.State.IDLE, m.KeypadPrompt.NOTHING), "IDLE, nothing asked", status)


@CHAPTER.requirement(3, "States")
async def self_test(bench: ConformanceBench) -> None:
    """A self-test ends in SelfTested and then Settled; during it, it is TESTING and refuses all else with 420."""
    await bring_to_idle(bench)
    shows = partial(m.Show, prompt=m.KeypadPrompt.NOTHING, lines=[])
    await check_testing(bench, m, (shows, partial(m.SetLamps, lamps=0), m.SelfTest))
    async with bench.session() as visit:
        tested, settled = await run_self_test(bench, visit, m)
        expect_test_result(m, settled, passed=True)
        expect(tested == m.SelfTested(tested.command, 0, 0, True), "a SelfTested without faults", tested)


@CHAPTER.requirement(4, "States")
async def restart(bench: ConformanceBench) -> None:
    """After a restart there is no prompt and no lamp is on, with reason 435 if there was a prompt."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        await visit.complete_command(m.SetLamps(bench.next_id(), EVERY_LAMP), SHORT_LIMIT_S)
        await visit.complete_command(m.Show(bench.next_id(), m.KeypadPrompt.SEATS, ["SEATS?"]), SHORT_LIMIT_S)
        before = await status_of(visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        status = await status_of(visit)
        expect_same_except(
            before, status, state=m.State.IDLE, prompt=m.KeypadPrompt.NOTHING, lamps=0, oldest=before.press + 1,
            up_ms=status.up_ms, reason=m.Reason.POWER_LOST,
        )  # fmt: skip


# --- presses ----------------------------------------------------------------------------------------------------------


@CHAPTER.requirement(10, "Presses", needs_operator=True, at=bring_to_idle)
async def numbered(bench: ConformanceBench, visit: CheckSession) -> None:
    """Every press is reported once, with the next number of one rising count, its key, and the key switch."""
    press = (await status_of(visit)).press
    for step, key in ((START, m.Key.START_GAME), (LOCK, m.Key.LOCK_OUT), (START, m.Key.START_GAME)):
        acts: list[Any] = await actions_after(bench, visit, step)
        press += 1
        seen = [(act.press, getattr(act, "key", None), getattr(act, "switch", None)) for act in acts]
        expect(seen == [(press, key, m.Switch.DEALER)], f"{key.name} as number {press}", acts)
        expect(acts[0].age_ms <= LINE_ALLOWANCE_S * 1000, "age 0, as it is reported at once", acts)
        expect((await status_of(visit)).press == press, f"{press} in the status", await status_of(visit))


@CHAPTER.requirement(11, "Presses", needs_operator=True, needs=("KP-10",))
async def reported_again(bench: ConformanceBench) -> None:
    """A new session gets the last presses again, the same except for their ages, oldest first, without gaps."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        loop = asyncio.get_running_loop()
        asked = loop.time()
        first: list[Any] = await actions_after(bench, visit, _press(m.Key.START_GAME, m.Key.LOCK_OUT), 2)
    await asyncio.sleep(2.0)
    async with bench.session() as visit:
        status = await status_of(visit)
        await asyncio.sleep(QUIET_S)
        again: list[Any] = [event for event in visit.events if isinstance(event, ACTS)]
        numbers = [act.press for act in again]
        expect(numbers == list(range(status.oldest, status.press + 1)), "oldest to last, without gaps", numbers)
        expect(len(numbers) <= REMEMBERED, f"at most {REMEMBERED}", numbers)
        oldest = (loop.time() - asked + LINE_ALLOWANCE_S) * 1000
        for act in first:
            same = next((result for result in again if result.press == act.press), None)
            expect(same is not None, f"number {act.press} again", again)
            assert same is not None
            expect_same_except(act, same, age_ms=same.age_ms)
            expect(2000 <= same.age_ms <= oldest, f"an age of 2000 to {oldest:.0f} ms", same)


@CHAPTER.requirement(12, "Presses", needs_operator=True, needs=("KP-10",), at=bring_to_idle)
async def clock(bench: ConformanceBench, visit: CheckSession) -> None:
    """`at_ms` is the time of the press, on the clock that the status reports as `up_ms`."""
    before = await status_of(visit)
    acts: list[Any] = await actions_after(bench, visit, START)
    after = await status_of(visit)
    expect(bool(acts), "a press", acts)
    between = before.up_ms <= acts[0].at_ms <= after.up_ms
    expect(between, f"between {before.up_ms} and {after.up_ms} ms", acts)


@CHAPTER.requirement(13, "Presses", needs_operator=True, needs=("KP-10",), at=bring_to_idle)
async def bounces(bench: ConformanceBench, visit: CheckSession) -> None:
    """A bouncing contact is one press."""
    acts = await actions_after(bench, visit, BOUNCE)
    expect(len(acts) == 1, "one press", acts)


@CHAPTER.requirement(14, "Presses", needs_operator=True, needs=("KP-10",), at=bring_to_idle)
async def stuck(bench: ConformanceBench, visit: CheckSession) -> None:
    """A key that is down for 5 s is reported as stuck, once; SelfTest gets 490 before that, and fails afterwards."""
    await bench.perform(HOLD_KEY)
    bit = 1 << m.Key.START_GAME
    if (await status_of(visit)).held == bit and not visit.events_of(m.Fault):
        await expect_refused(visit, m.SelfTest(bench.next_id()), m.Reason.KEY_HELD, "while a key is down")
    fault = await visit.wait_for_event(m.Fault, STUCK_AFTER_S + bench.operator.effect_timeout_s)
    expect(fault == m.Fault(m.Reason.STUCK_KEY, m.Key.START_GAME), "Fault 492 of START_GAME", fault)
    status = await status_of(visit)
    expect((status.stuck, status.reason) == (bit, m.Reason.STUCK_KEY), "it in the status, with 492", status)
    command = await begin_command(visit, m.SelfTest(bench.next_id()))
    expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
    tested = await visit.wait_for_event(m.SelfTested, QUIET_S)
    expect(tested.bad_keys == bit, "START_GAME among the bad keys", tested)
    expect(len(visit.events_of(m.Fault)) == 1, "one Fault", visit.events_of(m.Fault))


@CHAPTER.requirement(15, "Presses", needs_operator=True, needs=("KP-14",), at=bring_to_idle)
async def stuck_until_tested(bench: ConformanceBench, visit: CheckSession) -> None:
    """A key that was stuck has no effect until a self-test has passed."""
    await bench.perform(HOLD_KEY)
    await visit.wait_for_event(m.Fault, STUCK_AFTER_S + bench.operator.effect_timeout_s)
    await bench.perform(RELEASE_KEYS)
    acts = await actions_after(bench, visit, START, expected=0)
    expect(not acts, "no press of a key that was stuck", acts)
    await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    acts = await actions_after(bench, visit, START)
    expect(len(acts) == 1, "its press after the test", acts)


@CHAPTER.requirement(16, "Presses", needs_operator=True, needs=("KP-10",))
async def numbers_go_on(bench: ConformanceBench) -> None:
    """After a restart no press is remembered or reported again; the next has the next number."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        await actions_after(bench, visit, START)
        press = (await status_of(visit)).press
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        status = await status_of(visit)
        expect((status.press, status.oldest) == (press, press + 1), f"{press}, and none remembered", status)
        await asyncio.sleep(QUIET_S)
        expect(not visit.events, "no press of before the restart", visit.events)
        acts = await actions_after(bench, visit, START)
        expect([act.press for act in acts] == [press + 1], f"number {press + 1}", acts)


# --- the key switch -------------------------------------------------------------------------------------------------


@CHAPTER.requirement(20, "The key switch", needs_operator=True, needs=("KP-10",), at=bring_to_idle)
async def turned(bench: ConformanceBench, visit: CheckSession) -> None:
    """Every turn of the key switch is reported by Turned, with the next number, and shown in the status."""
    press = (await status_of(visit)).press
    for switch in (m.Switch.FLOOR, m.Switch.TECHNICIAN, m.Switch.OFF, m.Switch.DEALER):
        acts: list[Any] = await actions_after(bench, visit, _turn(switch))
        press += 1
        one = len(acts) == 1 and isinstance(acts[0], m.Turned) and (acts[0].press, acts[0].switch) == (press, switch)
        expect(one, f"Turned to {switch.name}, number {press}", acts)
        expect((await status_of(visit)).switch is switch, f"{switch.name} in the status", await status_of(visit))


@CHAPTER.requirement(21, "The key switch", needs_operator=True, needs=("KP-20",), at=bring_to_idle)
async def switched_off(bench: ConformanceBench, visit: CheckSession) -> None:
    """In OFF and TECHNICIAN only LOCK_OUT is accepted, and a Show with a prompt is refused with 491."""
    for switch in (m.Switch.OFF, m.Switch.TECHNICIAN):
        await actions_after(bench, visit, _turn(switch))
        acts: list[Any] = await actions_after(bench, visit, START, expected=0)
        expect(not acts, f"no Start Game in {switch.name}", acts)
        acts = await actions_after(bench, visit, LOCK)
        locked = [(getattr(act, "key", None), getattr(act, "switch", None)) for act in acts]
        expect(locked == [(m.Key.LOCK_OUT, switch)], f"the lock-out in {switch.name}", acts)
        question = m.Show(bench.next_id(), m.KeypadPrompt.SEATS, [])
        await expect_refused(visit, question, m.Reason.SWITCHED_OFF, f"in {switch.name}")
        await visit.complete_command(m.Show(bench.next_id(), m.KeypadPrompt.NOTHING, ["CLOSED"]), SHORT_LIMIT_S)


# --- entries --------------------------------------------------------------------------------------------------------


@CHAPTER.requirement(30, "Entries", needs_operator=True, needs=("KP-10", "KP-02"), at=bring_to_idle)
async def seats(bench: ConformanceBench, visit: CheckSession) -> None:
    """Seat keys toggle and CONFIRM ends: one SeatsEntered, with the id of its Show; then there is no prompt."""
    asked = bench.next_id()
    await visit.complete_command(m.Show(asked, m.KeypadPrompt.SEATS, ["SEATS?"]), SHORT_LIMIT_S)
    acts: list[Any] = await actions_after(bench, visit, _press(m.Key.SEAT_1, m.Key.SEAT_2, m.Key.SEAT_6), expected=0)
    expect(not acts, "no press before the entry is whole", acts)
    acts = await actions_after(bench, visit, _press(m.Key.SEAT_2, m.Key.CONFIRM))
    one = len(acts) == 1 and isinstance(acts[0], m.SeatsEntered) and (acts[0].asked, acts[0].seats) == (asked, 0b100001)
    expect(one, f"one SeatsEntered about {asked}: seats 1 and 6", acts)
    status = await status_of(visit)
    expect((status.state, status.prompt) == (m.State.IDLE, m.KeypadPrompt.NOTHING), "nothing asked any more", status)
    acts = await actions_after(bench, visit, _press(m.Key.SEAT_3, m.Key.CONFIRM), expected=0)
    expect(not acts, "no entry that nobody asked for", acts)


@CHAPTER.requirement(31, "Entries", needs_operator=True, needs=("KP-10", "KP-02"))
async def count(bench: ConformanceBench) -> None:
    """Up to three digits and ENTER make one CountEntered for their Show; CLEAR starts over; ENTER alone is ignored."""
    await bring_to_idle(bench)
    digit = m.Key.DIGIT_0
    for prompt in (m.KeypadPrompt.STUB_COUNT, m.KeypadPrompt.CHIP_COUNT):
        async with bench.session() as visit:
            asked = bench.next_id()
            await visit.complete_command(m.Show(asked, prompt, ["HOW MANY?"]), SHORT_LIMIT_S)
            acts: list[Any] = await actions_after(bench, visit, _press(m.Key.ENTER), expected=0)
            expect(not acts, "no entry without digits", acts)
            keys = (m.Key.DIGIT_9, m.Key.CLEAR, m.Key(digit + 3), digit, m.Key(digit + 7), m.Key(digit + 8))
            acts = await actions_after(bench, visit, _press(*keys, m.Key.ENTER))
            seen = [(type(act), act.asked, act.prompt, act.count) for act in acts if isinstance(act, m.CountEntered)]
            expect(len(acts) == 1 and seen == [(m.CountEntered, asked, prompt, 307)], f"307 for {prompt.name}", acts)


@CHAPTER.requirement(32, "Entries", needs_operator=True, needs=("KP-31",), at=bring_to_idle)
async def replaced(bench: ConformanceBench, visit: CheckSession) -> None:
    """A new Show replaces the old one: an unfinished entry is discarded, and the entry has the new id."""
    await visit.complete_command(m.Show(bench.next_id(), m.KeypadPrompt.STUB_COUNT, []), SHORT_LIMIT_S)
    await actions_after(bench, visit, _press(m.Key.DIGIT_4), expected=0)
    asked = bench.next_id()
    await visit.complete_command(m.Show(asked, m.KeypadPrompt.STUB_COUNT, []), SHORT_LIMIT_S)
    acts: list[Any] = await actions_after(bench, visit, _press(m.Key.DIGIT_2, m.Key.ENTER))
    seen = [(getattr(act, "asked", None), getattr(act, "count", None)) for act in acts]
    expect(seen == [(asked, 2)], f"2 as the answer to {asked}", acts)


@CHAPTER.requirement(33, "The key switch", needs_operator=True, needs=("KP-30",), at=bring_to_idle)
async def lock_out_in_an_entry(bench: ConformanceBench, visit: CheckSession) -> None:
    """LOCK_OUT is accepted during an entry, and the entry continues."""
    await visit.complete_command(m.Show(bench.next_id(), m.KeypadPrompt.SEATS, []), SHORT_LIMIT_S)
    acts: list[Any] = await actions_after(bench, visit, _press(m.Key.SEAT_4, m.Key.LOCK_OUT))
    expect([getattr(act, "key", None) for act in acts] == [m.Key.LOCK_OUT], "the lock-out at once", acts)
    acts = await actions_after(bench, visit, _press(m.Key.CONFIRM))
    expect([getattr(act, "seats", None) for act in acts] == [0b1000], "the entry of seat 4", acts)


PROFILE: Final = KindProfile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)),),
    bring_to_idle=bring_to_idle,
    switch=SwitchCommands(
        on=lambda command: m.SetLamps(command, EVERY_LAMP),
        off=lambda command: m.SetLamps(command, 0),
        is_on=lambda status: status.lamps == EVERY_LAMP,
    ),
    self_test=m.SelfTest,
    reset=m.Reset,
)
