"""Replies that never come, for every method of the three drivers: questions end in time, actuations are done once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.driver import REPLY_TIMEOUT_S, Driver
from devices.driver_events import OutcomeLost
from devices.kinds import KINDS
from firmware_bridge.commands import ACCEPT_TIMEOUT_S, MAX_ASKS, SETTLE_QUIET_S, Outcome
from firmware_bridge.errors import CommandIdReused, CommandRefused, LinkError, NotSent, OutcomeUnknown, ReplyTimeout
from firmware_bridge.link import REPLY_RTOS
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.command_watch import CommandWatch
from tests.support.machines.start_devices import BENCHES, AnyBench

if TYPE_CHECKING:
    from collections.abc import Awaitable

# Each driver's methods and the messages they send. A method that is not here fails the last test of this file.
QUESTIONS: Final[dict[str, dict[str, str]]] = {
    "shaker": {"status": "GetStatus", "sensors": "GetSensors", "roll": "GetRoll"},
    "rng": {"status": "GetStatus", "health": "GetHealth", "drawn": "GetDraw"},
    "button": {"where": "GetStatus", "sensors": "GetSensors"},
}
EVERY: Final = {"outcome": "AskCommand", "report": "GetReport"}
ACTUATIONS: Final[dict[str, dict[str, str]]] = {
    "shaker": {"arm": "Arm", "disarm": "Disarm", "self_test": "SelfTest", "reset": "Reset"},
    "rng": {"draw": "Draw", "clear": "Clear", "self_test": "SelfTest", "reset": "Reset"},
    "button": {"self_test": "SelfTest", "reset": "Reset"},
}
ASKED: Final = [(kind, method) for kind in QUESTIONS for method in QUESTIONS[kind] | EVERY]
DONE: Final = [(kind, method) for kind in ACTUATIONS for method in ACTUATIONS[kind]]
# Queries that take a command's id.
BY_ID: Final = ("roll", "drawn", "outcome")


def call(b: AnyBench, method: str, command: int) -> Awaitable[Any]:
    question = method in QUESTIONS[b.machine.kind] | EVERY and method not in BY_ID
    result: Awaitable[Any] = getattr(b.driver, method)() if question else getattr(b.driver, method)(command)
    return result


def times_done(b: AnyBench, method: str, command: int) -> int:
    """Return how often the machine did the command, by its memory and its visible state."""
    twin = b.machine.firmware
    match method:
        case "arm":
            return int(twin._armed_ever)
        case "disarm":
            return [roll.reason for roll in twin._rolls.values()].count(434)
        case "draw":
            assert b.machine.shown_number() == twin._draws[command]
            return int(twin._drawn_ever)
        case "clear":
            return int(b.machine.display.lit == 0)
        case "self_test":
            tested = b.machine.__dict__["tests"]
            assert isinstance(tested, int)
            return tested
    raise AssertionError(method)


def count_tests(b: AnyBench) -> None:
    """Count the self-tests that really end."""
    name = "_self_test" if b.machine.kind == "rng" else "_tested"
    real = getattr(b.machine.firmware, name)
    b.machine.__dict__["tests"] = 0

    def counted(command: int) -> None:
        b.machine.__dict__["tests"] += 1
        real(command)

    setattr(b.machine.firmware, name, counted)


async def get_ready_for(b: AnyBench, method: str) -> None:
    """Bring the machine into a state in which the actuation has an effect."""
    if method == "disarm":
        await run_command(b, b.driver.arm)
    elif method == "clear":
        await run_command(b, b.driver.draw)


# --- questions -------------------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize(("kind", "method"), ASKED)
async def test_a_question_without_a_reply_ends_in_time_and_the_next_is_answered(
    seed: int, rung: str, kind: str, method: str
) -> None:
    async with BENCHES[kind](seed, rung) as b:
        b.inject(f"withhold:message={(QUESTIONS[kind] | EVERY)[method]}")
        link, loop = b.supervisor.link, asyncio.get_running_loop()
        limit = max(REPLY_TIMEOUT_S, ACCEPT_TIMEOUT_S) + REPLY_RTOS * link.rto_s
        asked_at = loop.time()
        with pytest.raises(ReplyTimeout):
            await call(b, method, 77)
        assert loop.time() - asked_at <= limit + 0.05
        assert await ask_until_answered(b, lambda: call(b, method, 77)) is not None
        assert b.supervisor.link is link, "one lost reply does not end the link"
        assert b.service.state == "in_service"


# --- actuations ------------------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize(("kind", "method"), [pair for pair in DONE if pair[1] != "reset"])
async def test_an_actuation_without_a_reply_is_asked_about_and_done_once(
    seed: int, rung: str, kind: str, method: str
) -> None:
    async with BENCHES[kind](seed, rung) as b:
        await get_ready_for(b, method)
        count_tests(b)
        watch = CommandWatch(b)
        b.inject(f"withhold:message={ACTUATIONS[kind][method]}")
        settled = await run_command(b, lambda command: call(b, method, command))
        assert settled.outcome is Outcome.DONE
        assert watch.begun == [settled.command]
        assert watch.repeated == []
        assert set(watch.asked) == {settled.command}
        assert times_done(b, method, settled.command) == 1
        assert (await ask_until_answered(b, lambda: b.driver.outcome(settled.command))).outcome is Outcome.DONE
        assert rung == "lossy" or not b.events_of(OutcomeLost)


@over_the_ladder
@pytest.mark.parametrize("kind", ACTUATIONS)
async def test_a_reset_without_a_reply_is_unknown_until_the_rebooted_machine_is_asked(
    seed: int, rung: str, kind: str
) -> None:
    async with BENCHES[kind](seed, rung) as b:
        boot, watch, command = b.driver.reported.report.boot_id, CommandWatch(b), b.next_id()
        b.inject("withhold:message=Reset")
        with pytest.raises(OutcomeUnknown):
            await b.driver.reset(command)
        assert b.view.unsettled == {command}
        known = b.driver.reported or await b.until_reported()
        assert known.report.boot_id != boot
        assert b.service.state == "unverified", "a report alone does not settle what is unknown"
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        assert (watch.begun, watch.repeated) == ([command], [])
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"


@over_the_ladder
@pytest.mark.parametrize(("kind", "method"), [pair for pair in DONE if pair[1] != "reset"])
async def test_the_same_id_again_is_answered_from_memory_and_does_nothing(
    seed: int, rung: str, kind: str, method: str
) -> None:
    async with BENCHES[kind](seed, rung) as b:
        await get_ready_for(b, method)
        count_tests(b)
        command = (await run_command(b, lambda command: call(b, method, command))).command
        before, watch = times_done(b, method, command), CommandWatch(b)
        assert (await call(b, method, command)).outcome is Outcome.DONE
        assert (watch.begun, watch.repeated) == ([], [command])
        assert times_done(b, method, command) == before == 1
        with pytest.raises(CommandRefused) as refused:
            await b.driver.reset(command)
        assert refused.value.reason == CommandIdReused.number


@pytest.mark.parametrize(("kind", "method"), ASKED + DONE)
async def test_without_a_link_every_method_raises_at_once_that_nothing_was_sent(
    seed: int, kind: str, method: str
) -> None:
    async with BENCHES[kind](seed) as b:
        watch = CommandWatch(b)
        b.inject("unplug:seconds=0")
        await b.until(lambda _: not b.view.connected)
        with pytest.raises(LinkError) as refused:
            await call(b, method, 5)
        assert method == "report" or isinstance(refused.value, NotSent)
        assert (watch.begun, watch.asked) == ([], [])


# --- a machine that does not go on -----------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize(
    ("kind", "method"), [("shaker", "self_test"), ("rng", "draw"), ("rng", "self_test"), ("button", "self_test")]
)
async def test_a_stalled_machine_is_given_up_and_asked_about_never_given_the_command_again(
    seed: int, rung: str, kind: str, method: str
) -> None:
    async with BENCHES[kind](seed, rung) as b:
        watch, command = CommandWatch(b), b.next_id()
        b.inject("stall")
        began = asyncio.get_running_loop().time()
        with pytest.raises(OutcomeUnknown) as unknown:
            await call(b, method, command)
        assert unknown.value.command == command
        took = asyncio.get_running_loop().time() - began
        assert took >= SETTLE_QUIET_S * MAX_ASKS - 1 or rung == "lossy"
        assert b.events_of(OutcomeLost)[-1] == OutcomeLost(command)
        assert not b.service.is_in_service
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.RUNNING
        assert watch.begun == [command]
        b.inject("reboot")
        await b.until_reported()
        ended = await ask_until_answered(b, lambda: b.driver.outcome(command))
        assert (ended.outcome, ended.reason) == (Outcome.FAILED, 435)
        if method == "draw":
            assert (await ask_until_answered(b, lambda: b.driver.drawn(command))).number is None
            assert b.machine.shown_number() is None
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"


@pytest.mark.parametrize("kind", ["rng"])
async def test_a_caller_that_stops_waiting_for_a_draw_learns_its_number_by_asking(seed: int, kind: str) -> None:
    async with BENCHES[kind](seed) as b:
        command = b.next_id()
        draw = b.driver.draw(command)
        await asyncio.sleep(0.2)
        draw.cancel()
        await asyncio.wait({draw})
        assert draw.cancelled()
        assert b.service.state == "unverified"
        await asyncio.sleep(1)
        assert (await b.driver.outcome(command)).outcome is Outcome.DONE
        assert (await b.driver.drawn(command)).number == b.machine.shown_number() == b.view.number
        await b.driver.report()
        assert b.service.state == "in_service"


def test_every_method_of_the_drivers_is_tried_here() -> None:
    shared = {name for name in dir(Driver) if not name.startswith("_")}
    for name, kind in KINDS.items():
        if name in QUESTIONS:
            own = {method for method in dir(kind.driver) if not method.startswith("_")} - shared
            assert own == set(QUESTIONS[name] | ACTUATIONS[name])
    assert set(EVERY) <= shared
