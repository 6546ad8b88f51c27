"""A shoe that sends no reply or loses power, cable or firmware: commands are done once, queried and known."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.driver_events import LinkDown, OutcomeLost, Reported
from devices.shoe import messages as m
from devices.shoe.driver import ShoeDriver
from devices.shoe.state import verdict
from firmware_bridge.commands import MAX_ASKS, SETTLE_QUIET_S, Outcome
from firmware_bridge.errors import (
    CommandFailed,
    CommandIdReused,
    CommandRefused,
    FirmwareNotApproved,
    LinkError,
    NotCapable,
    NotSent,
    OutcomeUnknown,
    PortFailed,
    ReplyTimeout,
    WrongKey,
)
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command, until_moving
from tests.support.machines.command_watch import CommandWatch
from tests.support.machines.shoes import (
    Shoe,
    back_in_service,
    check_reported_cards,
    dispensed,
    get_all_cards_out,
    in_slot,
    manual_shoe_bench,
    shoe_bench,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable

# The driver's methods and the messages they send. A method that is not here fails the last test of this file.
QUESTIONS: Final = {
    "status": "GetStatus",
    "sensors": "GetSensors",
    "transits": "GetTransits",
    "edge_log": "GetEdgeLog",
    "outcome": "AskCommand",
    "query_outcome": "AskCommand",
    "report": "GetReport",
    "read_inventory": "GetStatus",
}
ACTUATIONS: Final = {
    "load": "Load",
    "dispense": "Dispense",
    "count_stub": "CountStub",
    "stop": "Stop",
    "self_test": "SelfTest",
    "clear_jam": "ClearJam",
    "jog": "Jog",
    "reset": "Reset",
}
BY_HAND: Final = {"start_round": "StartRound"}
# A withheld reply and a lost link are tried in tests/scenario/test_identifying_shoe.py.
IDENTIFYING: Final = {"release_cards": "ReleaseCards", "release_drawn": "ReleaseCards"}
NOT_ON_THE_WIRE: Final = {"link", "link_up", "link_down", "ready", "require_link", "ask", "actuate"}
MOVES: Final = ["load", "dispense", "count_stub", "clear_jam"]
# What is lost during a command, and whether the firmware has rebooted when it is back.
UNPLUGGED: Final = ["unplug:seconds=2", "unplug:seconds=40"]
REBOOTED: Final = ["reboot", "power_cut:seconds=2", "hang:seconds=6", "hang:seconds=0.5"]


def call(b: Shoe, method: str, command: int) -> Awaitable[Any]:
    """Call a method of the driver by name, with its arguments."""
    if method in ("status", "sensors", "transits", "edge_log", "report", "read_inventory"):
        return getattr(b.driver, method)()  # type: ignore[no-any-return]
    released = {"release_cards": (1,), "release_drawn": (1, (1, 2))}
    extra = ({"dispense": (7,), "jog": (m.Motor.TRANSPORT,)} | released).get(method, ())
    return getattr(b.driver, method)(command, *extra)  # type: ignore[no-any-return]


# --- replies that never come ---------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("method", QUESTIONS)
async def test_a_question_without_a_reply_ends_in_time_and_the_next_is_answered(
    seed: int, rung: str, method: str
) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject(f"withhold:message={QUESTIONS[method]}")
        link = b.supervisor.link
        with pytest.raises(ReplyTimeout):
            await call(b, method, 77)
        assert await ask_until_answered(b, lambda: call(b, method, 77)) is not None
        assert b.supervisor.link is link, "one lost reply does not end the link"
        assert b.service.state == "in_service"


def times_done(b: Shoe, method: str) -> list[float]:
    """Return how often the machine did the command: by the simulated mechanics, its events, or both."""
    mechanics = b.machine.mechanics
    return {
        "load": [mechanics.left() / 53, len(b.events_of(m.Loaded))],
        "dispense": [in_slot(b) / 7, len(b.events_of(m.Dispensed)), b.machine.firmware._stacks],
        "count_stub": [in_slot(b) / 53, len(b.events_of(m.Stub))],
        "stop": [mechanics.currents() == [0, 0, 0], len(b.events_of(m.Stopped))],
        "self_test": [len(b.events_of(m.SelfTested))],
        "jog": [len(b.events_of(m.Jogged))],
        "clear_jam": [in_slot(b) / 53, len(b.events_of(m.Cleared))],
    }[method]  # type: ignore[return-value]


@over_the_ladder
@pytest.mark.parametrize("method", [name for name in ACTUATIONS if name != "reset"])
async def test_an_actuation_without_a_reply_is_asked_about_and_done_once(seed: int, rung: str, method: str) -> None:
    async with shoe_bench(seed, rung, loaded=method not in ("load", "stop")) as b:
        meanwhile = None
        if method == "stop":
            meanwhile = asyncio.create_task(run_command(b, b.driver.load))
            await until_moving(b)
        watch = CommandWatch(b)
        b.inject(f"withhold:message={ACTUATIONS[method]}")
        settled = await run_command(b, lambda command: call(b, method, command))
        command = settled.command
        assert settled.outcome is Outcome.DONE
        assert (watch.begun, watch.repeated) == ([command], [])
        assert set(watch.asked) == {command}
        assert set(times_done(b, method)) == {1}
        if meanwhile is not None:
            with pytest.raises(CommandFailed):
                await meanwhile
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        await check_reported_cards(b)


@over_the_ladder
async def test_a_reset_without_a_reply_is_unknown_until_the_rebooted_machine_is_asked(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        watch, command = CommandWatch(b), b.next_id()
        b.inject("withhold:message=Reset")
        with pytest.raises(OutcomeUnknown):
            await b.driver.reset(command)
        assert b.view.unsettled == {command}
        while b.driver.reported is None:
            await b.until_reported()
        assert b.service.state == "unverified", "a report alone does not settle what is unknown"
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        assert (watch.begun, watch.repeated) == ([command], [])
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"


@over_the_ladder
async def test_the_same_id_again_is_answered_from_memory_and_moves_nothing(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung) as b:
        command = (await dispensed(b, 7)).command
        b.inject("take")
        truth, watch = b.machine.true_counts(), CommandWatch(b)
        assert (await b.driver.dispense(command, 7)).outcome is Outcome.DONE
        assert (watch.begun, watch.repeated) == ([], [command])
        assert b.machine.true_counts() == truth
        with pytest.raises(CommandRefused) as refusal:
            await b.driver.count_stub(command)
        assert refusal.value.reason == CommandIdReused.number
        assert b.machine.true_counts() == truth


@pytest.mark.parametrize("method", [*QUESTIONS, *ACTUATIONS, *BY_HAND, *IDENTIFYING])
async def test_without_a_link_every_method_raises_at_once_that_nothing_was_sent(seed: int, method: str) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        watch = CommandWatch(b)
        b.inject("unplug:seconds=0")
        await b.until(lambda _: not b.view.connected)
        with pytest.raises(LinkError) as refused:
            await call(b, method, 5)
        assert isinstance(refused.value, PortFailed if method == "report" else NotSent)
        assert (watch.begun, watch.asked) == ([], [])


@over_the_ladder
@pytest.mark.parametrize("method", [*MOVES, "self_test"])
async def test_a_stalled_machine_is_declared_lost_after_the_documented_time(seed: int, rung: str, method: str) -> None:
    async with shoe_bench(seed, rung, loaded=method != "load") as b:
        command = b.next_id()
        b.inject("stall")
        truth, began = b.machine.true_counts(), asyncio.get_running_loop().time()
        with pytest.raises(OutcomeUnknown) as unknown:
            await call(b, method, command)
        assert unknown.value.command == command
        assert asyncio.get_running_loop().time() - began >= SETTLE_QUIET_S * MAX_ASKS - 1 or rung == "lossy"
        assert b.events_of(OutcomeLost)[-1] == OutcomeLost(command)
        assert not b.service.is_in_service
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.RUNNING
        assert sum(b.machine.true_counts().values()) == sum(truth.values())
        assert in_slot(b) == 0, "a stalled machine deals nothing"
        await check_reported_cards(b)
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "unverified"


@over_the_ladder
async def test_a_caller_that_stops_waiting_leaves_the_slot_in_doubt_until_the_result_is_known(
    seed: int, rung: str
) -> None:
    async with shoe_bench(seed, rung) as b:
        command = b.next_id()
        stack = b.driver.dispense(command, 10)
        await until_moving(b)
        stack.cancel()
        await asyncio.wait({stack})
        assert b.service.state == "unverified"
        assert b.view.unsettled == {command}
        if not b.events_of(m.Dispensed):
            await b.until(lambda event: isinstance(event, m.Dispensed))
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        assert (await check_reported_cards(b)).left == 43


# --- losses during a command ---------------------------------------------------------------------------------


async def lose(b: Shoe, method: str, fault: str, after: float) -> int:
    """Inject a fault during a command; return the command when its outcome is lost."""
    command = b.next_id()
    doing = asyncio.ensure_future(call(b, method, command))
    await until_moving(b)
    await asyncio.sleep(after)
    b.inject(fault)
    with pytest.raises(OutcomeUnknown):
        await doing
    if b.view.connected:
        await b.until(lambda event: isinstance(event, LinkDown))
    return command


async def back(b: Shoe) -> Reported:
    while b.driver.reported is None:
        await b.until_reported()
    return b.driver.reported


@over_the_ladder
@pytest.mark.parametrize("method", MOVES)
@pytest.mark.parametrize("fault", UNPLUGGED)
async def test_what_has_begun_goes_on_without_its_cable_and_its_end_is_learned_by_asking(
    seed: int, rung: str, fault: str, method: str
) -> None:
    async with shoe_bench(seed, rung, loaded=method != "load") as b:
        command = await lose(b, method, fault, 0.2)
        assert not (await back(b)).rebooted
        assert b.service.state == "unverified"
        await asyncio.sleep(45)
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        assert b.service.state == "unverified", "a known outcome is not a report"
        status = await check_reported_cards(b)
        assert (status.left, in_slot(b)) == {"load": (53, 0), "dispense": (46, 7)}.get(method, (0, 53))
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        await check_reported_cards(b)


@over_the_ladder
@pytest.mark.parametrize("method", MOVES)
@pytest.mark.parametrize("fault", REBOOTED)
async def test_a_shoe_that_lost_power_during_a_command_reports_its_counts_as_unknown(
    seed: int, rung: str, fault: str, method: str
) -> None:
    async with shoe_bench(seed, rung, loaded=method != "load") as b:
        command = await lose(b, method, fault, 0.2)
        reported = await back(b)
        assert reported.rebooted
        assert reported.inventory.state is m.State.DOUBTFUL
        assert reported.inventory.left is reported.inventory.in_path is b.view.left is None
        assert b.service.state == "faulted"
        known = await ask_until_answered(b, lambda: b.driver.outcome(command))
        assert (known.outcome, known.reason) == (Outcome.FAILED, m.Reason.POWER_LOST)
        assert m.Power(interrupted=True) in b.events_of(m.Power)
        await get_all_cards_out(b)
        assert b.service.state == "faulted", "an empty machine is not an acknowledged one"
        await back_in_service(b)


@over_the_ladder
async def test_a_restart_with_cards_in_the_well_leaves_their_number_unknown(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung) as b:
        await dispensed(b, 7)
        b.inject("reboot")
        await b.until(lambda event: isinstance(event, LinkDown))
        status = (await back(b)).inventory
        assert (status.state, status.counts_certain) == (m.State.READY, False)
        assert (status.left, status.delivered) == (None, None)
        assert b.service.state == "unverified", "hands may have drawn while nobody looked"
        b.inject("take")
        assert (await check_reported_cards(b)).delivered == 0
        await run_command(b, b.driver.count_stub)
        assert verdict(b.events_of(m.Stub)[-1], 53) == ["the total of cards that came out is unknown"]
        assert b.events_of(m.Stub)[-1].count == 46
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "unverified"


@over_the_ladder
async def test_nothing_was_inside_and_so_a_good_report_is_enough(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        for fault in ("unplug:seconds=2", "reboot"):
            b.inject(fault)
            await b.until(lambda event: isinstance(event, LinkDown))
            assert (b.service.state, b.view.left) == ("absent", None)
            await back(b)
            assert (b.service.state, b.view.left) == ("in_service", 0)


@over_the_ladder
async def test_a_cable_does_not_clear_a_fault(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung) as b:
        b.inject("jam:segment=exit,card=2")
        with pytest.raises(CommandFailed):
            await dispensed(b, 7)
        b.inject("unplug:seconds=1")
        await b.until(lambda event: isinstance(event, LinkDown))
        assert (await back(b)).inventory.state is m.State.HALTED
        assert b.service.state == "faulted"
        assert (b.view.in_path, b.view.left) == (1, 51)


@pytest.mark.parametrize(("fault", "cause"), [("wrong_key", WrongKey), ("rogue_firmware", FirmwareNotApproved)])
async def test_a_board_that_is_changed_at_run_time_never_reports_again(
    seed: int, fault: str, cause: type[Exception]
) -> None:
    async with shoe_bench(seed) as b:
        b.inject(fault)
        await b.until(lambda event: isinstance(event, LinkDown) and isinstance(event.cause, cause))
        reports = len(b.events_of(Reported))
        await asyncio.sleep(300)
        assert (len(b.events_of(Reported)), b.service.state) == (reports, "absent")
        with pytest.raises(NotSent):
            await b.driver.dispense(b.next_id(), 7)


@over_the_ladder
async def test_a_burst_of_garbage_costs_nothing_but_its_own_bytes(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        downs = len(b.events_of(LinkDown))  # a lossy line may need two handshakes
        loading = asyncio.ensure_future(call(b, "load", b.next_id()))
        await until_moving(b)
        for size in (1, 600, 20_000):
            await asyncio.sleep(1)
            b.inject(f"garbage:bytes={size}")
        assert (await loading).outcome is Outcome.DONE
        assert len(b.events_of(LinkDown)) == downs
        assert (await check_reported_cards(b)).left == 53


# --- what a model cannot do ----------------------------------------------------------------------------------


@over_the_ladder
async def test_what_a_model_cannot_do_is_refused_before_anything_is_sent(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung) as b, manual_shoe_bench(seed, rung) as by_hand:
        lacking: tuple[tuple[Any, str, tuple[Any, ...]], ...] = (
            (b, "start_round", ()),
            (by_hand, "dispense", (7,)),
            *((one, "release_cards", (1,)) for one in (b, by_hand)),
            *((one, "release_drawn", (1, (1, 2))) for one in (b, by_hand)),
        )
        for bench, method, arguments in lacking:
            watch, truth = CommandWatch(bench), bench.machine.true_counts()
            with pytest.raises(NotCapable) as refusal:
                await getattr(bench.driver, method)(bench.next_id(), *arguments)
            assert refusal.value.code == "PB-428"
            assert "nothing was sent" in str(refusal.value)
            assert (watch.begun, bench.machine.true_counts()) == ([], truth)


async def test_the_device_itself_refuses_what_it_cannot_do(seed: int) -> None:
    async with shoe_bench(seed) as b, manual_shoe_bench(seed) as by_hand:
        release = m.ReleaseCards(78, 1, 0)
        for bench, message in ((b, m.StartRound(77)), (by_hand, m.Dispense(77, 7)), (b, release), (by_hand, release)):
            with pytest.raises(CommandRefused) as refusal:
                await bench.driver.actuate(message, message.command)
            assert refusal.value.reason == m.Reason.NOT_CAPABLE


def test_every_method_of_the_driver_is_tried_here() -> None:
    methods = {name for name in dir(ShoeDriver) if not name.startswith("_")}
    assert set(QUESTIONS) | set(ACTUATIONS) | set(BY_HAND) | set(IDENTIFYING) | NOT_ON_THE_WIRE == methods
