"""Bet sensor, keypad and sign: missing replies, repeated ids, and machines that disconnect."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from devices.driver import REPLY_TIMEOUT_S
from devices.driver_events import LinkDown, LinkUp, OutcomeLost, Reported
from firmware_bridge.commands import ACCEPT_TIMEOUT_S, Outcome
from firmware_bridge.errors import (
    CommandIdReused,
    CommandRefused,
    LinkError,
    NotSent,
    OutcomeUnknown,
    PitboxError,
    PortFailed,
    ReplyTimeout,
)
from firmware_bridge.link import REPLY_RTOS
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.progressive_kinds import ACTUATIONS, CASES, QUESTIONS

LASTING: Final = [(kind, method) for kind, method in ACTUATIONS if method != "reset"]
# Members of every driver that are neither query nor actuation; the lock is tested in test_lockout.py.
NOT_ON_THE_WIRE: Final = {"link_up", "link_down", "ready", "require_link", "ask", "actuate", "lock", "age_of"}


def now() -> float:
    return asyncio.get_running_loop().time()


@over_the_ladder
@pytest.mark.parametrize(("kind", "method"), QUESTIONS)
async def test_a_question_without_a_reply_ends_in_time_and_the_next_is_answered(
    seed: int, rung: str, kind: str, method: str
) -> None:
    case = CASES[kind]
    async with case.bench(seed, rung) as s:
        s.inject(f"withhold:message={case.questions[method]}")
        link = s.supervisor.link
        assert link is not None
        limit = max(REPLY_TIMEOUT_S, ACCEPT_TIMEOUT_S) + REPLY_RTOS * link.rto_s
        asked_at = now()
        with pytest.raises(ReplyTimeout):
            await case.call(s, method, 77)
        assert now() - asked_at <= limit + 0.05
        assert await ask_until_answered(s, lambda: case.call(s, method, 77)) is not None
        assert s.supervisor.link is link, "one lost reply does not end the link"
        assert s.service.state == "in_service"


@over_the_ladder
@pytest.mark.parametrize(("kind", "method"), LASTING)
async def test_an_actuation_without_a_reply_is_asked_about_and_done_once(
    seed: int, rung: str, kind: str, method: str
) -> None:
    case = CASES[kind]
    async with case.bench(seed, rung) as s:
        await case.get_ready_for(s, method)
        s.inject(f"withhold:message={case.messages[method]}")
        settled = await run_command(s, lambda command: case.call(s, method, command))
        assert settled.outcome is Outcome.DONE
        assert case.was_done(s, method)
        again = await case.call(s, method, settled.command)
        assert again.outcome is Outcome.DONE, "the same id is answered from memory"
        assert case.was_done(s, method)
        assert rung == "lossy" or not s.events_of(OutcomeLost)


@pytest.mark.parametrize(("kind", "method"), LASTING)
async def test_an_id_that_comes_back_with_another_message_is_refused(seed: int, kind: str, method: str) -> None:
    case = CASES[kind]
    async with case.bench(seed) as s:
        await case.get_ready_for(s, method)
        settled = await run_command(s, lambda command: case.call(s, method, command))
        other = "self_test" if method != "self_test" else "reset"
        with pytest.raises(CommandRefused) as refused:
            await case.call(s, other, settled.command)
        assert refused.value.reason == CommandIdReused.number


@over_the_ladder
@pytest.mark.parametrize("kind", CASES)
async def test_a_reset_without_a_reply_is_unknown_until_the_rebooted_machine_is_asked(
    seed: int, rung: str, kind: str
) -> None:
    case = CASES[kind]
    async with case.bench(seed, rung) as s:
        command = s.next_id()
        s.inject("withhold:message=Reset")
        with pytest.raises(OutcomeUnknown):
            await s.driver.reset(command)
        assert s.view.unsettled == {command}
        reported = s.driver.reported or await s.until_reported()
        assert reported.rebooted
        assert s.service.state == "unverified", "a report alone does not settle what is unknown"
        assert (await ask_until_answered(s, lambda: s.driver.outcome(command))).outcome is Outcome.DONE
        await ask_until_answered(s, s.driver.report)
        assert s.service.state == "in_service"


@pytest.mark.parametrize(("kind", "method"), [*QUESTIONS, *ACTUATIONS])
async def test_without_a_link_every_method_raises_at_once_that_nothing_was_sent(
    seed: int, kind: str, method: str
) -> None:
    case = CASES[kind]
    async with case.bench(seed) as s:
        s.inject("unplug:seconds=0")
        await s.until(lambda _: not s.view.connected)
        with pytest.raises(LinkError) as refused:
            await case.call(s, method, 5)
        assert isinstance(refused.value, PortFailed if method == "report" else NotSent)


@over_the_ladder
@pytest.mark.parametrize("fault", ["unplug:seconds=2", "reboot", "power_cut:seconds=2", "hang:seconds=6"])
@pytest.mark.parametrize(("kind", "method"), ACTUATIONS)
async def test_a_device_lost_during_a_command_is_unverified_until_it_has_reported_and_was_queried(
    seed: int, rung: str, kind: str, method: str, fault: str
) -> None:
    case = CASES[kind]
    async with case.bench(seed, rung) as s:
        await case.get_ready_for(s, method)
        command = s.next_id()
        doing = asyncio.ensure_future(case.call(s, method, command))
        await asyncio.sleep(0.0)
        s.inject(fault)
        await asyncio.wait({doing})
        ended = doing.exception()
        assert ended is None or isinstance(ended, PitboxError)
        while s.driver.reported is None or not s.events_of(LinkDown):
            await s.until(lambda _: True)
        if isinstance(ended, OutcomeUnknown):
            assert s.service.state == "unverified"
            answer = await ask_until_answered(s, lambda: s.driver.outcome(command))
            assert answer.outcome is not Outcome.RUNNING or method == "self_test"
        first = [event for at, event in enumerate(s.events) if at and isinstance(s.events[at - 1], LinkUp)]
        assert all(isinstance(event, Reported | LinkDown) for event in first), "a report comes first"
        for _ in range(200):
            if s.service.state == "in_service":
                break
            await asyncio.sleep(0.1)
            await ask_until_answered(s, s.driver.report)
        assert s.service.state == "in_service"


@pytest.mark.parametrize(("kind", "seconds"), [(kind, 60) for kind in CASES])
async def test_a_machine_that_stalls_in_its_self_test_is_given_up_and_is_in_doubt(
    seed: int, kind: str, seconds: int
) -> None:
    case = CASES[kind]
    async with case.bench(seed) as s:
        s.inject("stall")
        began = now()
        with pytest.raises(OutcomeUnknown):
            await s.driver.self_test(s.next_id())
        assert now() - began >= seconds - 1
        assert not s.service.is_in_service


@pytest.mark.parametrize("kind", CASES)
def test_every_method_of_the_driver_is_tried_here(kind: str) -> None:
    case = CASES[kind]
    driver = case.kind.driver(lambda _: None)
    public = {name for name in dir(driver) if not name.startswith("_") and callable(getattr(driver, name))}
    assert public - {"publish"} - NOT_ON_THE_WIRE == set(case.questions) | set(case.messages)
