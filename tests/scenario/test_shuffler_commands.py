"""Replies that never come, for every method of the driver: questions end in time, actuations are done once."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.driver import REPLY_TIMEOUT_S
from devices.driver_events import OutcomeLost
from devices.shuffler import messages as m
from firmware_bridge.commands import ACCEPT_TIMEOUT_S, MAX_ASKS, SETTLE_QUIET_S, Outcome
from firmware_bridge.errors import (
    CommandFailed,
    CommandIdReused,
    CommandRefused,
    LinkError,
    NotCapable,
    NotSent,
    OutcomeUnknown,
    PortFailed,
    ReplyTimeout,
)
from firmware_bridge.link import REPLY_RTOS
from firmware_bridge.rtt_estimator import MAX_RTO_S
from tests.support.machines.bench import ShufflerTestBench, over_the_ladder, shuffler_bench
from tests.support.machines.card_checks import (
    ask_until_answered,
    behind_gate,
    check_reported_cards,
    run_command,
    until_moving,
)
from tests.support.machines.command_watch import CommandWatch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

# The driver's methods and the messages they send. A method that is not here fails the last test of this file.
QUESTIONS: Final = {
    "status": "GetStatus",
    "sensors": "GetSensors",
    "transits": "GetTransits",
    "edge_log": "GetEdgeLog",
    "findings": "GetFindings",
    "outcome": "AskCommand",
    "query_outcome": "AskCommand",
    "report": "GetReport",
    "read_inventory": "GetStatus",
}
ACTUATIONS: Final = {
    "shuffle": "StartCycle",
    "eject": "Eject",
    "insert": "Insert",
    "stop": "Stop",
    "self_test": "SelfTest",
    "set_mode": "SetMode",
    "clear_jam": "ClearJam",
    "jog": "Jog",
    "reset": "Reset",
    "take_in": "TakeIn",
    "deliver": "Deliver",
    "count_all": "CountAll",
}
# Commands of a machine without cycles only.
CONTINUING: Final = ("take_in", "deliver", "count_all")


def model(method: str) -> dict[str, Any]:
    """Return the options of a model that has this method."""
    return {"inserts": True} if method == "insert" else {"continuous": method in CONTINUING}


NOT_ON_THE_WIRE: Final = {"link", "link_up", "link_down", "ready", "require_link", "ask", "actuate"}


def now() -> float:
    return asyncio.get_running_loop().time()


def call(b: ShufflerTestBench, method: str, command: int) -> Awaitable[Any]:
    """Call a method of the driver by name, with its arguments."""
    if method in ("status", "sensors", "transits", "edge_log", "findings", "report", "read_inventory"):
        return getattr(b.driver, method)()  # type: ignore[no-any-return]
    extra = {"set_mode": (m.Mode.SORT,), "deliver": (7,), "jog": (m.Motor.TRANSPORT,)}.get(method, ())
    return getattr(b.driver, method)(command, *extra)  # type: ignore[no-any-return]


# --- questions ---------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("method", QUESTIONS)
async def test_a_question_without_a_reply_ends_in_time_and_the_next_is_answered(
    seed: int, rung: str, method: str
) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject(f"withhold:message={QUESTIONS[method]}")
        link = b.supervisor.link
        assert link is not None
        limit = max(REPLY_TIMEOUT_S, ACCEPT_TIMEOUT_S) + REPLY_RTOS * link.rto_s
        asked_at = now()
        with pytest.raises(ReplyTimeout):
            await call(b, method, 77)
        assert now() - asked_at <= limit + 0.05
        assert await ask_until_answered(b, lambda: call(b, method, 77)) is not None
        assert b.supervisor.link is link, "one lost reply does not end the link"
        assert b.service.state == "in_service"


# --- actuations --------------------------------------------------------------------------------------------


async def get_ready_for(b: ShufflerTestBench, method: str) -> asyncio.Task[Any] | None:
    """Bring the machine into a state for the actuation; return the cycle that runs meanwhile, if any."""
    if method in ("eject", "insert"):
        await run_command(b, b.driver.shuffle)
    elif method == "clear_jam":
        b.inject("jam:segment=lift,card=9")
        with pytest.raises(CommandFailed):
            await run_command(b, b.driver.shuffle)
        b.inject("clear_path")
    elif method == "stop":
        cycle = asyncio.create_task(run_command(b, b.driver.shuffle))
        await asyncio.sleep(3)
        return cycle
    elif method == "deliver":
        await run_command(b, b.driver.count_all)
    return None


def times_done(b: ShufflerTestBench, method: str) -> list[int]:
    """Return how often the machine did the command: by the simulated mechanics, its events, or both."""
    mechanics, world = b.machine.mechanics, b.machine.world
    return {
        "shuffle": [behind_gate(b) / 53, len(b.events_of(m.Completed))],
        "eject": [world.count(mechanics.place("presented")) / 53],
        "insert": [world.count(mechanics.shoe_chute.entry) / 53, len(b.events_of(m.Inserted))],
        "stop": [mechanics.currents() == [0, 0, 0, 0], len(b.events_of(m.Stopped))],
        "self_test": [len(b.events_of(m.SelfTested))],
        "jog": [len(b.events_of(m.Jogged))],
        "set_mode": [b.machine.firmware.mode is m.Mode.SORT],
        "clear_jam": [behind_gate(b) / 8, len(b.events_of(m.Cleared))],
        "take_in": [mechanics.inside() / 312, len(b.events_of(m.TakenIn))],
        "deliver": [world.count(mechanics.place("chute")) / 7, len(b.events_of(m.Delivered))],
        "count_all": [mechanics.inside() / 312, len(b.events_of(m.Counted))],
    }[method]  # type: ignore[return-value]


@over_the_ladder
@pytest.mark.parametrize("method", [name for name in ACTUATIONS if name != "reset"])
async def test_an_actuation_without_a_reply_is_asked_about_and_done_once(seed: int, rung: str, method: str) -> None:
    async with shuffler_bench(seed, rung, **model(method)) as b:
        meanwhile = await get_ready_for(b, method)
        watch = CommandWatch(b)
        b.inject(f"withhold:message={ACTUATIONS[method]}")
        settled = await run_command(b, lambda command: call(b, method, command))
        command = settled.command
        assert settled.outcome is Outcome.DONE
        assert watch.begun == [command]
        assert watch.repeated == []
        assert set(watch.asked) == {command}
        assert set(times_done(b, method)) == {1}
        if meanwhile is not None:
            with pytest.raises(CommandFailed):
                await meanwhile
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        assert rung == "lossy" or not b.events_of(OutcomeLost)
        await check_reported_cards(b)


@over_the_ladder
async def test_a_reset_without_a_reply_is_unknown_until_the_rebooted_machine_is_asked(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        assert b.driver.reported is not None
        boot, watch, command = b.driver.reported.report.boot_id, CommandWatch(b), b.next_id()
        b.inject("withhold:message=Reset")
        with pytest.raises(OutcomeUnknown):
            await b.driver.reset(command)
        assert b.view.unsettled == {command}
        reported = b.driver.reported or await b.until_reported()
        assert reported.report.boot_id != boot
        assert b.service.state == "unverified", "a report alone does not settle what is unknown"
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        assert watch.begun == [command]
        assert watch.repeated == []
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"


@over_the_ladder
async def test_the_same_id_again_is_answered_from_memory_and_moves_nothing(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        command = (await run_command(b, b.driver.shuffle)).command
        truth, watch = b.machine.true_counts(), CommandWatch(b)
        assert (await b.driver.shuffle(command)).outcome is Outcome.DONE
        assert (watch.begun, watch.repeated) == ([], [command])
        assert b.machine.true_counts() == truth
        assert (await ask_until_answered(b, b.driver.status)).cycles == 1


@over_the_ladder
async def test_an_id_that_comes_back_with_another_message_is_refused_and_moves_nothing(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        command = (await run_command(b, b.driver.shuffle)).command
        with pytest.raises(CommandRefused) as refused:
            await b.driver.eject(command)
        assert refused.value.reason == CommandIdReused.number
        assert behind_gate(b) == 53
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE


@pytest.mark.parametrize("method", [*QUESTIONS, *ACTUATIONS])
async def test_without_a_link_every_method_raises_at_once_that_nothing_was_sent(seed: int, method: str) -> None:
    async with shuffler_bench(seed, **model(method)) as b:
        watch = CommandWatch(b)
        b.inject("unplug:seconds=0")
        await b.until(lambda _: not b.view.connected)
        with pytest.raises(LinkError) as refused:
            await call(b, method, 5)
        assert isinstance(refused.value, PortFailed if method == "report" else NotSent)
        assert (watch.begun, watch.asked) == ([], [])


# --- a machine that does not move --------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("method", ["shuffle", "eject", "insert", "self_test", "clear_jam", *CONTINUING])
async def test_a_stalled_machine_is_declared_lost_after_the_documented_time(seed: int, rung: str, method: str) -> None:
    async with shuffler_bench(seed, rung, **model(method)) as b:
        await get_ready_for(b, method)
        command = b.next_id()
        waiting = asyncio.ensure_future(call(b, method, command))
        await asyncio.sleep(0.3)
        b.inject("stall")
        stalled_at, truth = now(), b.machine.true_counts()
        with pytest.raises(OutcomeUnknown) as unknown:
            await waiting
        assert unknown.value.command == command
        took, quiet = now() - stalled_at, SETTLE_QUIET_S * MAX_ASKS
        slowness = MAX_ASKS * (ACCEPT_TIMEOUT_S + REPLY_RTOS * MAX_RTO_S) if rung == "lossy" else 10
        assert took <= quiet + slowness, "the line's own slowness is all that may come on top"
        assert took >= quiet - 1 or rung == "lossy", "only a line that loses the questions too ends it sooner"
        assert b.events_of(OutcomeLost)[-1] == OutcomeLost(command)
        assert not b.service.is_in_service
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.RUNNING
        assert b.machine.true_counts() == truth, "a stalled machine moves nothing"
        await check_reported_cards(b)
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == ("faulted" if method == "clear_jam" else "unverified")


@over_the_ladder
async def test_a_caller_that_stops_waiting_leaves_the_slot_in_doubt_until_the_result_is_known(
    seed: int, rung: str
) -> None:
    async with shuffler_bench(seed, rung) as b:
        command = b.next_id()
        cycle = b.driver.shuffle(command)
        await asyncio.sleep(2)
        cycle.cancel()
        await asyncio.wait({cycle})
        assert cycle.cancelled()
        assert b.service.state == "unverified"
        assert b.view.unsettled == {command}
        await b.until(lambda event: isinstance(event, m.Completed))
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        assert b.service.state == "unverified"
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        await check_reported_cards(b)


# --- refusals ----------------------------------------------------------------------------------------------


async def _busy(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    cycle = b.driver.shuffle(b.next_id())
    cycle.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.sleep(2)
    return b.driver.eject


async def _nothing_loaded(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    b.machine.world.move_all(b.machine.mechanics.intake, "pocket")
    return b.driver.shuffle


async def _door_open(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    b.inject("door")
    return b.driver.shuffle


async def _needs_clearing(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    b.inject("jam:segment=shelf")
    with pytest.raises(CommandFailed):
        await run_command(b, b.driver.shuffle)
    return b.driver.self_test


async def _nothing_to_eject(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    return b.driver.eject


async def _gate_occupied(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    await run_command(b, b.driver.shuffle)
    b.machine.world.make(3, "red", b.machine.mechanics.intake)
    return b.driver.shuffle


async def _path_blocked(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    b.inject("jam:segment=shelf")
    with pytest.raises(CommandFailed):
        await run_command(b, b.driver.shuffle)
    return b.driver.clear_jam


async def _too_few_cards(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    for card in b.machine.world.at(b.machine.mechanics.intake)[10:]:
        b.machine.world.move(card, "pocket")
    await run_command(b, b.driver.count_all)
    return lambda command: b.driver.deliver(command, 11)


async def _chute_occupied(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    await run_command(b, b.driver.count_all)
    await run_command(b, lambda command: b.driver.deliver(command, 1))
    return b.driver.count_all


async def _shoe_occupied(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    b.inject("block_chute:cards=3")
    await run_command(b, b.driver.shuffle)
    return b.driver.insert


async def _not_counted(b: ShufflerTestBench) -> Callable[[int], Awaitable[Any]]:
    await run_command(b, b.driver.take_in)
    return lambda command: b.driver.deliver(command, 1)


# Refusals of a machine without cycles alone.
WITHOUT_CYCLES: Final = {
    m.Reason.TOO_FEW_CARDS: _too_few_cards,
    m.Reason.CHUTE_OCCUPIED: _chute_occupied,
    m.Reason.NOT_COUNTED: _not_counted,
}
REFUSALS: Final = WITHOUT_CYCLES | {
    m.Reason.BUSY: _busy,
    m.Reason.NOTHING_LOADED: _nothing_loaded,
    m.Reason.DOOR_OPEN: _door_open,
    m.Reason.NEEDS_CLEARING: _needs_clearing,
    m.Reason.NOTHING_TO_EJECT: _nothing_to_eject,
    m.Reason.GATE_OCCUPIED: _gate_occupied,
    m.Reason.PATH_BLOCKED: _path_blocked,
}


@over_the_ladder
@pytest.mark.parametrize("reason", REFUSALS)
async def test_a_refusal_names_its_reason_and_moves_nothing(seed: int, rung: str, reason: m.Reason) -> None:
    async with shuffler_bench(seed, rung, continuous=reason in WITHOUT_CYCLES) as b:
        refused = await REFUSALS[reason](b)
        before = behind_gate(b)
        with pytest.raises(CommandRefused) as refusal:
            await run_command(b, refused)
        assert refusal.value.reason == reason
        assert refusal.value.code == f"PB-{int(reason)}"
        assert behind_gate(b) == before
        known = (await ask_until_answered(b, b.driver.report)).report.commands[-1]
        assert (known.outcome, known.reason) == (Outcome.REFUSED, reason)


@over_the_ladder
async def test_a_stack_is_not_pushed_onto_cards_in_the_shoe(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung, inserts=True) as b:
        refused = await _shoe_occupied(b)
        with pytest.raises(CommandRefused) as refusal:
            await run_command(b, refused)
        assert refusal.value.reason == m.Reason.CHUTE_OCCUPIED
        assert behind_gate(b) == 50


@over_the_ladder
@pytest.mark.parametrize("end", ["chute_jam:cards=20", "stop", "power_cut:seconds=2"])
async def test_a_push_that_ends_early_leaves_the_cards_unknown_until_people_cleared_them(
    seed: int, rung: str, end: str
) -> None:
    async with shuffler_bench(seed, rung, inserts=True) as b:
        await run_command(b, b.driver.shuffle)
        if end.startswith("chute"):
            b.inject(end)
        pushing = asyncio.ensure_future(run_command(b, b.driver.insert))
        await until_moving(b)
        await asyncio.sleep(0.3)
        if end == "stop":
            with suppress(OutcomeUnknown):
                await b.driver.stop(b.next_id())
        elif end.startswith("power"):
            b.inject(end)
        with pytest.raises(CommandFailed):
            await pushing
        world, chute = b.machine.world, b.machine.mechanics.shoe_chute
        assert world.count(chute.entry) + world.count(chute.place) == 53, "cards are on both sides of the chute"
        assert 0 < world.count(chute.place) < 53
        assert not b.events_of(m.Inserted)
        status = await check_reported_cards(b)
        assert status.behind_gate is None
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "faulted"
        b.inject("clear_path")
        await run_command(b, b.driver.clear_jam)
        assert (await check_reported_cards(b)).behind_gate == 0


async def test_while_a_stack_is_pushed_every_motion_is_refused(seed: int) -> None:
    async with shuffler_bench(seed, inserts=True) as b:
        await run_command(b, b.driver.shuffle)
        pushing = b.driver.insert(b.next_id())
        await until_moving(b)
        assert (await b.driver.status()).state is m.State.INSERTING
        for method in (b.driver.shuffle, b.driver.eject, b.driver.insert, b.driver.self_test, b.driver.clear_jam):
            with pytest.raises(CommandRefused) as refusal:
                await method(b.next_id())
            assert refusal.value.reason == m.Reason.BUSY
        assert (await pushing).outcome is Outcome.DONE
        assert (b.view.state, b.view.behind_gate) == (m.State.IDLE, 0)


async def test_a_shuffler_without_a_chute_is_not_ordered_to_insert(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        watch = CommandWatch(b)
        with pytest.raises(NotCapable):
            await b.driver.insert(b.next_id())
        assert watch.begun == []


def test_every_reason_of_a_refusal_and_every_method_of_the_driver_is_tried_here() -> None:
    from devices.shuffler.driver import ShufflerDriver

    refusals = {reason for reason in m.Reason if 420 <= reason < 430} | {m.Reason.CHUTE_OCCUPIED, m.Reason.NOT_COUNTED}
    assert set(REFUSALS) | {m.Reason.NOT_A_FINDING} == refusals  # the last one answers a question: see test_faults
    methods = {name for name in dir(ShufflerDriver) if not name.startswith("_")}
    assert set(QUESTIONS) | set(ACTUATIONS) | NOT_ON_THE_WIRE == methods
