"""Requirements on a dealer's keypad: presses, the key switch, entries, lamps. See docs/devices/keypad.md.

A person presses at his own pace, so a press's age is only bounded by the times that the kit measured.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

from devices.keypad import messages as m
from firmware_bridge.commands import Outcome, Settled
from table_controller.conformance.hands import Step
from table_controller.conformance.judging import begin, refused, restarted, same_but, settled_as
from table_controller.conformance.probe import LINE, QUIET
from table_controller.conformance.requirements import Chapter, Failed, NotChecked, Profile, Switch, expect, preparing

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench
    from table_controller.conformance.visit import Visit

CHAPTER: Final = Chapter("KP", "The keypad", "docs/devices/keypad.md", needs=("HS-04",))
# A test of keys, lamps and display (s).
SHORT: Final = 30.0
# A key that is down for so long is stuck (s).
STUCK_AFTER: Final = 5.0
# Presses that are reported again at the start of a session.
REMEMBERED: Final = 16
EVERY_LAMP: Final = sum(1 << lamp for lamp in m.Lamp)
ACTS: Final = (m.Pressed, m.SeatsEntered, m.CountEntered, m.Turned)


def _press(*keys: m.Key) -> Step:
    names = ", then ".join(key.name for key in keys)
    return Step(f"press {names}", tuple(f"press:key={key.name.lower()}" for key in keys))


def _turn(to: m.Switch) -> Step:
    return Step(f"turn the key switch to {to.name}", (f"turn:to={to.name.lower()}",))


START: Final = _press(m.Key.START_GAME)
LOCK: Final = _press(m.Key.LOCK_OUT)
HOLD: Final = Step("press START_GAME and hold it down", ("stuck_key:key=start_game",))
LET_GO: Final = Step("let go of every key", ("mend",))
BOUNCE: Final = Step("tap START_GAME so that its contact chatters", ("bounce:times=5", "press:key=start_game"))


async def status_of(visit: Visit) -> m.Status:
    """Return its status."""
    return await visit.ask(m.GetStatus(), m.Status)


@preparing
async def rest(bench: Bench) -> None:
    """Bring it to IDLE: nothing asked, no lamp on, no key down or stuck, the key switch on DEALER."""
    async with bench.visit() as visit:
        for _ in range(8):
            status = await status_of(visit)
            if await _is_at_rest(bench, visit, status):
                return
    raise Failed("a keypad that can be brought to its idle state", repr(status))


async def _is_at_rest(bench: Bench, visit: Visit, status: m.Status) -> bool:
    """Do one step towards idle; return True if it is idle."""
    if status.state is m.State.TESTING:
        await asyncio.sleep(1.0)
    elif status.held:
        await bench.do(LET_GO)
    elif status.prompt:
        await visit.done(m.Show(bench.next_id(), m.Prompt.NOTHING, []), SHORT)
    elif status.reason is not m.Reason.NONE:
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
    elif status.switch is not m.Switch.DEALER:
        await bench.do(_turn(m.Switch.DEALER))
    elif status.lamps:
        await visit.done(m.SetLamps(bench.next_id(), 0), SHORT)
    else:
        return True
    return False


async def told_after(bench: Bench, visit: Visit, step: Step, wanted: int = 1) -> list[m.Act]:
    """Have the operator do a step; return the reported actions: at least `wanted`."""
    await status_of(visit)  # what a session is reported again has come before this answer
    since = len(visit.events)

    def acts() -> list[m.Act]:
        return cast("list[m.Act]", [event for event in visit.events[since:] if isinstance(event, ACTS)])

    await bench.do(step)
    if wanted:
        await visit.until(lambda _: len(acts()) >= wanted, bench.hands.patience, since)
    await asyncio.sleep(QUIET)
    return acts()


# --- when idle --------------------------------------------------------------------------------------------------------


@CHAPTER.requirement(1, "States")
async def lamps(bench: Bench) -> None:
    """SetLamps is done at once, and shown in the status; so is a Show without a prompt, in every state but TESTING."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        for lit in (*(1 << lamp for lamp in m.Lamp), EVERY_LAMP, 0):
            await visit.done(m.SetLamps(bench.next_id(), lit), SHORT)
            status = await status_of(visit)
            same_but(before, status, lamps=lit, up_ms=status.up_ms)
        await visit.done(m.Show(bench.next_id(), m.Prompt.NOTHING, ["PLACE YOUR BETS"]), SHORT)
        status = await status_of(visit)
        same_but(before, status, up_ms=status.up_ms)


@CHAPTER.requirement(2, "States")
async def asks(bench: Bench) -> None:
    """A Show with a prompt makes it ASKING, and SelfTest is then refused with 420; one without a prompt ends it."""
    await rest(bench)
    async with bench.visit() as visit:
        for prompt in (m.Prompt.SEATS, m.Prompt.STUB_COUNT, m.Prompt.CHIP_COUNT):
            await visit.done(m.Show(bench.next_id(), prompt, ["", "?"]), SHORT)
            status = await status_of(visit)
            expect((status.state, status.prompt) == (m.State.ASKING, prompt), f"ASKING {prompt.name}", status)
            await refused(visit, m.SelfTest(bench.next_id()), m.Reason.BUSY, "in ASKING")
        await visit.done(m.Show(bench.next_id(), m.Prompt.NOTHING, []), SHORT)
        status = await status_of(visit)
        expect((status.state, status.prompt) == (m.State.IDLE, m.Prompt.NOTHING), "IDLE, nothing asked", status)


@CHAPTER.requirement(3, "States")
async def self_test(bench: Bench) -> None:
    """A self-test ends in SelfTested and then Settled; during it, it is TESTING and refuses all else with 420."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.SelfTest(bench.next_id()))
        status = await status_of(visit)
        replies = [
            await visit.order(message)
            for message in (
                m.Show(bench.next_id(), m.Prompt.NOTHING, []), m.SetLamps(bench.next_id(), 0),
                m.SelfTest(bench.next_id()),
            )
        ]  # fmt: skip
        if visit.about(command):
            raise NotChecked("the test ended before it could be observed; run the simulator more slowly")
        expect(status.state is m.State.TESTING, "TESTING", status)
        busy = [isinstance(reply, Settled) and reply.reason == m.Reason.BUSY for reply in replies]
        expect(all(busy), "every command refused with 420 in TESTING", replies)
        settled = await visit.end(command, SHORT)
        await asyncio.sleep(QUIET)
        about = visit.about(command)
        good = m.SelfTested(command, 0, 0, True)
        expect(about == [good, Settled(command, Outcome.DONE, 0)], "a SelfTested without faults, then DONE", about)
        settled_as(settled, Outcome.DONE, m.Reason.NONE)


@CHAPTER.requirement(4, "States")
async def restart(bench: Bench) -> None:
    """After a restart there is no prompt and no lamp is on, with reason 435 if there was a prompt."""
    await rest(bench)
    async with bench.visit() as visit:
        await visit.done(m.SetLamps(bench.next_id(), EVERY_LAMP), SHORT)
        await visit.done(m.Show(bench.next_id(), m.Prompt.SEATS, ["SEATS?"]), SHORT)
        before = await status_of(visit)
        await visit.done(m.Reset(bench.next_id()), SHORT)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        status = await status_of(visit)
        same_but(
            before, status, state=m.State.IDLE, prompt=m.Prompt.NOTHING, lamps=0, oldest=before.press + 1,
            up_ms=status.up_ms, reason=m.Reason.POWER_LOST,
        )  # fmt: skip


# --- presses ----------------------------------------------------------------------------------------------------------


@CHAPTER.requirement(10, "Presses", hands=True)
async def numbered(bench: Bench) -> None:
    """Every press is reported once, with the next number of one rising count, its key, and the key switch."""
    await rest(bench)
    async with bench.visit() as visit:
        press = (await status_of(visit)).press
        for step, key in ((START, m.Key.START_GAME), (LOCK, m.Key.LOCK_OUT), (START, m.Key.START_GAME)):
            acts: list[Any] = await told_after(bench, visit, step)
            press += 1
            seen = [(act.press, getattr(act, "key", None), getattr(act, "switch", None)) for act in acts]
            expect(seen == [(press, key, m.Switch.DEALER)], f"{key.name} as number {press}", acts)
            expect(acts[0].age_ms <= LINE * 1000, "age 0, as it is reported at once", acts)
            expect((await status_of(visit)).press == press, f"{press} in the status", await status_of(visit))


@CHAPTER.requirement(11, "Presses", hands=True, needs=("KP-10",))
async def told_again(bench: Bench) -> None:
    """A new session gets the last presses again, the same except for their ages, oldest first, without gaps."""
    await rest(bench)
    async with bench.visit() as visit:
        loop = asyncio.get_running_loop()
        asked = loop.time()
        first: list[Any] = await told_after(bench, visit, _press(m.Key.START_GAME, m.Key.LOCK_OUT), 2)
    await asyncio.sleep(2.0)
    async with bench.visit() as visit:
        status = await status_of(visit)
        await asyncio.sleep(QUIET)
        again: list[Any] = [event for event in visit.events if isinstance(event, ACTS)]
        numbers = [act.press for act in again]
        expect(numbers == list(range(status.oldest, status.press + 1)), "oldest to last, without gaps", numbers)
        expect(len(numbers) <= REMEMBERED, f"at most {REMEMBERED}", numbers)
        oldest = (loop.time() - asked + LINE) * 1000
        for act in first:
            same = next((result for result in again if result.press == act.press), None)
            expect(same is not None, f"number {act.press} again", again)
            assert same is not None
            same_but(act, same, age_ms=same.age_ms)
            expect(2000 <= same.age_ms <= oldest, f"an age of 2000 to {oldest:.0f} ms", same)


@CHAPTER.requirement(12, "Presses", hands=True, needs=("KP-10",))
async def clock(bench: Bench) -> None:
    """`at_ms` is the time of the press, on the clock that the status reports as `up_ms`."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        acts: list[Any] = await told_after(bench, visit, START)
        after = await status_of(visit)
        expect(bool(acts), "a press", acts)
        between = before.up_ms <= acts[0].at_ms <= after.up_ms
        expect(between, f"between {before.up_ms} and {after.up_ms} ms", acts)


@CHAPTER.requirement(13, "Presses", hands=True, needs=("KP-10",))
async def bounces(bench: Bench) -> None:
    """A bouncing contact is one press."""
    await rest(bench)
    async with bench.visit() as visit:
        acts = await told_after(bench, visit, BOUNCE)
        expect(len(acts) == 1, "one press", acts)


@CHAPTER.requirement(14, "Presses", hands=True, needs=("KP-10",))
async def stuck(bench: Bench) -> None:
    """A key that is down for 5 s is reported as stuck, once; SelfTest gets 490 before that, and fails afterwards."""
    await rest(bench)
    async with bench.visit() as visit:
        await bench.do(HOLD)
        bit = 1 << m.Key.START_GAME
        if (await status_of(visit)).held == bit and not visit.told(m.Fault):
            await refused(visit, m.SelfTest(bench.next_id()), m.Reason.KEY_HELD, "while a key is down")
        fault = await visit.event(m.Fault, STUCK_AFTER + bench.hands.patience)
        expect(fault == m.Fault(m.Reason.STUCK_KEY, m.Key.START_GAME), "Fault 492 of START_GAME", fault)
        status = await status_of(visit)
        expect((status.stuck, status.reason) == (bit, m.Reason.STUCK_KEY), "it in the status, with 492", status)
        command = await begin(visit, m.SelfTest(bench.next_id()))
        settled_as(await visit.end(command, SHORT), Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
        tested = await visit.event(m.SelfTested, QUIET)
        expect(tested.bad_keys == bit, "START_GAME among the bad keys", tested)
        expect(len(visit.told(m.Fault)) == 1, "one Fault", visit.told(m.Fault))


@CHAPTER.requirement(15, "Presses", hands=True, needs=("KP-14",))
async def stuck_until_tested(bench: Bench) -> None:
    """A key that was stuck has no effect until a self-test has passed."""
    await rest(bench)
    async with bench.visit() as visit:
        await bench.do(HOLD)
        await visit.event(m.Fault, STUCK_AFTER + bench.hands.patience)
        await bench.do(LET_GO)
        acts = await told_after(bench, visit, START, wanted=0)
        expect(not acts, "no press of a key that was stuck", acts)
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
        acts = await told_after(bench, visit, START)
        expect(len(acts) == 1, "its press after the test", acts)


@CHAPTER.requirement(16, "Presses", hands=True, needs=("KP-10",))
async def numbers_go_on(bench: Bench) -> None:
    """After a restart no press is remembered or reported again; the next has the next number."""
    await rest(bench)
    async with bench.visit() as visit:
        await told_after(bench, visit, START)
        press = (await status_of(visit)).press
        await visit.done(m.Reset(bench.next_id()), SHORT)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        status = await status_of(visit)
        expect((status.press, status.oldest) == (press, press + 1), f"{press}, and none remembered", status)
        await asyncio.sleep(QUIET)
        expect(not visit.events, "no press of before the restart", visit.events)
        acts = await told_after(bench, visit, START)
        expect([act.press for act in acts] == [press + 1], f"number {press + 1}", acts)


# --- the key switch -------------------------------------------------------------------------------------------------


@CHAPTER.requirement(20, "The key switch", hands=True, needs=("KP-10",))
async def turned(bench: Bench) -> None:
    """Every turn of the key switch is reported by Turned, with the next number, and shown in the status."""
    await rest(bench)
    async with bench.visit() as visit:
        press = (await status_of(visit)).press
        for switch in (m.Switch.FLOOR, m.Switch.TECHNICIAN, m.Switch.OFF, m.Switch.DEALER):
            acts: list[Any] = await told_after(bench, visit, _turn(switch))
            press += 1
            one = (
                len(acts) == 1 and isinstance(acts[0], m.Turned) and (acts[0].press, acts[0].switch) == (press, switch)
            )
            expect(one, f"Turned to {switch.name}, number {press}", acts)
            expect((await status_of(visit)).switch is switch, f"{switch.name} in the status", await status_of(visit))


@CHAPTER.requirement(21, "The key switch", hands=True, needs=("KP-20",))
async def switched_off(bench: Bench) -> None:
    """In OFF and TECHNICIAN only LOCK_OUT is accepted, and a Show with a prompt is refused with 491."""
    await rest(bench)
    async with bench.visit() as visit:
        for switch in (m.Switch.OFF, m.Switch.TECHNICIAN):
            await told_after(bench, visit, _turn(switch))
            acts: list[Any] = await told_after(bench, visit, START, wanted=0)
            expect(not acts, f"no Start Game in {switch.name}", acts)
            acts = await told_after(bench, visit, LOCK)
            locked = [(getattr(act, "key", None), getattr(act, "switch", None)) for act in acts]
            expect(locked == [(m.Key.LOCK_OUT, switch)], f"the lock-out in {switch.name}", acts)
            question = m.Show(bench.next_id(), m.Prompt.SEATS, [])
            await refused(visit, question, m.Reason.SWITCHED_OFF, f"in {switch.name}")
            await visit.done(m.Show(bench.next_id(), m.Prompt.NOTHING, ["CLOSED"]), SHORT)


# --- entries --------------------------------------------------------------------------------------------------------


@CHAPTER.requirement(30, "Entries", hands=True, needs=("KP-10", "KP-02"))
async def seats(bench: Bench) -> None:
    """Seat keys toggle and CONFIRM ends: one SeatsEntered, with the id of its Show; then there is no prompt."""
    await rest(bench)
    async with bench.visit() as visit:
        asked = bench.next_id()
        await visit.done(m.Show(asked, m.Prompt.SEATS, ["SEATS?"]), SHORT)
        acts: list[Any] = await told_after(bench, visit, _press(m.Key.SEAT_1, m.Key.SEAT_2, m.Key.SEAT_6), wanted=0)
        expect(not acts, "no press before the entry is whole", acts)
        acts = await told_after(bench, visit, _press(m.Key.SEAT_2, m.Key.CONFIRM))
        one = (
            len(acts) == 1
            and isinstance(acts[0], m.SeatsEntered)
            and (acts[0].asked, acts[0].seats) == (asked, 0b100001)
        )
        expect(one, f"one SeatsEntered about {asked}: seats 1 and 6", acts)
        status = await status_of(visit)
        expect((status.state, status.prompt) == (m.State.IDLE, m.Prompt.NOTHING), "nothing asked any more", status)
        acts = await told_after(bench, visit, _press(m.Key.SEAT_3, m.Key.CONFIRM), wanted=0)
        expect(not acts, "no entry that nobody asked for", acts)


@CHAPTER.requirement(31, "Entries", hands=True, needs=("KP-10", "KP-02"))
async def count(bench: Bench) -> None:
    """Up to three digits and ENTER make one CountEntered for their Show; CLEAR starts over; ENTER alone is ignored."""
    await rest(bench)
    digit = m.Key.DIGIT_0
    for prompt in (m.Prompt.STUB_COUNT, m.Prompt.CHIP_COUNT):
        async with bench.visit() as visit:
            asked = bench.next_id()
            await visit.done(m.Show(asked, prompt, ["HOW MANY?"]), SHORT)
            acts: list[Any] = await told_after(bench, visit, _press(m.Key.ENTER), wanted=0)
            expect(not acts, "no entry without digits", acts)
            keys = (m.Key.DIGIT_9, m.Key.CLEAR, m.Key(digit + 3), digit, m.Key(digit + 7), m.Key(digit + 8))
            acts = await told_after(bench, visit, _press(*keys, m.Key.ENTER))
            seen = [(type(act), act.asked, act.prompt, act.count) for act in acts if isinstance(act, m.CountEntered)]
            expect(len(acts) == 1 and seen == [(m.CountEntered, asked, prompt, 307)], f"307 for {prompt.name}", acts)


@CHAPTER.requirement(32, "Entries", hands=True, needs=("KP-31",))
async def replaced(bench: Bench) -> None:
    """A new Show replaces the old one: an unfinished entry is discarded, and the entry has the new id."""
    await rest(bench)
    async with bench.visit() as visit:
        await visit.done(m.Show(bench.next_id(), m.Prompt.STUB_COUNT, []), SHORT)
        await told_after(bench, visit, _press(m.Key.DIGIT_4), wanted=0)
        asked = bench.next_id()
        await visit.done(m.Show(asked, m.Prompt.STUB_COUNT, []), SHORT)
        acts: list[Any] = await told_after(bench, visit, _press(m.Key.DIGIT_2, m.Key.ENTER))
        seen = [(getattr(act, "asked", None), getattr(act, "count", None)) for act in acts]
        expect(seen == [(asked, 2)], f"2 as the answer to {asked}", acts)


@CHAPTER.requirement(33, "The key switch", hands=True, needs=("KP-30",))
async def lock_out_in_an_entry(bench: Bench) -> None:
    """LOCK_OUT is accepted during an entry, and the entry continues."""
    await rest(bench)
    async with bench.visit() as visit:
        await visit.done(m.Show(bench.next_id(), m.Prompt.SEATS, []), SHORT)
        acts: list[Any] = await told_after(bench, visit, _press(m.Key.SEAT_4, m.Key.LOCK_OUT))
        expect([getattr(act, "key", None) for act in acts] == [m.Key.LOCK_OUT], "the lock-out at once", acts)
        acts = await told_after(bench, visit, _press(m.Key.CONFIRM))
        expect([getattr(act, "seats", None) for act in acts] == [0b1000], "the entry of seat 4", acts)


PROFILE: Final = Profile(
    question=m.GetStatus(),
    answer=m.Status,
    questions=((m.GetStatus(), (m.Status,)),),
    rest=rest,
    switch=Switch(
        on=lambda command: m.SetLamps(command, EVERY_LAMP),
        off=lambda command: m.SetLamps(command, 0),
        is_on=lambda status: status.lamps == EVERY_LAMP,
    ),
    self_test=m.SelfTest,
    reset=m.Reset,
)
