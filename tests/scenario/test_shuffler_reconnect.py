"""Links and machines lost in mid-cycle: after reconnect a report, then the outcome, and no automatic return."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import pytest

from devices.driver_events import LinkDown, LinkUp, OutcomeLost, Reported
from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import (
    CommandFailed,
    FirmwareNotApproved,
    NotSent,
    OutcomeUnknown,
    PortMissing,
    TrustError,
    WrongKey,
)
from tests.support.machines.bench import ShufflerTestBench, over_the_ladder, shuffler_bench
from tests.support.machines.card_checks import (
    ask_until_answered,
    behind_gate,
    check_reported_cards,
    get_all_cards_out,
    run_command,
    until_moving,
)

if TYPE_CHECKING:
    from firmware_bridge.errors import PitboxError

# What is lost, and whether the firmware has rebooted when it is back.
UNPLUGGED: Final = ["unplug:seconds=2", "unplug:seconds=40"]
REBOOTED: Final = ["reboot", "power_cut:seconds=2", "hang:seconds=6", "hang:seconds=0.5"]
# Feeding, between the halves, unloading (s after the motors began to turn).
INSTANTS: Final = [0.05, 6.0, 14.0, 20.0]


async def lose(b: ShufflerTestBench, fault: str, after: float) -> int:
    """Inject a fault in mid-cycle; return the cycle's command when link and outcome are lost."""
    command = b.next_id()
    cycle = b.driver.shuffle(command)
    await until_moving(b)
    await asyncio.sleep(after)
    reported = len(b.events)
    b.inject(fault)
    with pytest.raises(OutcomeUnknown) as unknown:
        await cycle
    if not any(isinstance(event, LinkDown) for event in b.events[reported:]):
        await b.until(lambda event: isinstance(event, LinkDown))
    assert unknown.value.command == command
    assert b.events_of(OutcomeLost) == [OutcomeLost(command)]
    return command


async def back(b: ShufflerTestBench) -> Reported:
    """Wait until the machine has reported again."""
    while b.driver.reported is None:
        await b.until_reported()
    return b.driver.reported


async def stays_out_of_service(b: ShufflerTestBench, seconds: float) -> None:
    for _ in range(round(seconds / 0.1)):
        assert not b.service.is_in_service
        await asyncio.sleep(0.1)


def a_report_comes_first(b: ShufflerTestBench) -> bool:
    """Return whether the machine's report was the first event after every connect."""
    follows = [after for event, after in pairwise(b.events) if isinstance(event, LinkUp)]
    return all(isinstance(event, Reported | LinkDown) for event in follows) and len(follows) > 1


@over_the_ladder
@pytest.mark.parametrize("after", INSTANTS)
@pytest.mark.parametrize("fault", UNPLUGGED)
async def test_a_cycle_goes_on_without_its_cable_and_its_end_is_learned_by_asking(
    seed: int, rung: str, fault: str, after: float
) -> None:
    async with shuffler_bench(seed, rung) as b:
        boot = (await back(b)).report.boot_id
        command = await lose(b, fault, after)
        reported = await back(b)
        assert reported.report.boot_id == boot
        assert not reported.rebooted
        assert command in [known.command for known in reported.report.commands]
        assert b.service.state == "unverified"
        await stays_out_of_service(b, 45)
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        assert b.machine.true_counts() == {"shuffler.1/gate": 53}
        assert (await check_reported_cards(b)).cycles == 1
        assert b.service.state == "unverified", "a known outcome is not a report"
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        assert a_report_comes_first(b)


@over_the_ladder
@pytest.mark.parametrize("after", INSTANTS)
@pytest.mark.parametrize("fault", REBOOTED)
async def test_a_machine_that_lost_power_reports_its_count_as_unknown(
    seed: int, rung: str, fault: str, after: float
) -> None:
    async with shuffler_bench(seed, rung) as b:
        boot = (await back(b)).report.boot_id
        command = await lose(b, fault, after)
        reported = await back(b)
        assert reported.report.boot_id != boot
        assert reported.inventory.state is m.State.DOUBTFUL
        assert reported.inventory.inside is b.view.inside is None
        assert b.service.state == "faulted"
        known = await ask_until_answered(b, lambda: b.driver.outcome(command))
        assert (known.outcome, known.reason) == (Outcome.FAILED, m.Reason.POWER_LOST)
        assert b.machine.mechanics.inside() > 0
        await get_all_cards_out(b)
        await ask_until_answered(b, b.driver.report)
        await stays_out_of_service(b, 10)
        assert b.service.state == "faulted", "an empty machine is not an acknowledged one"
        assert a_report_comes_first(b)
        assert b.events_of(m.Power)[0] == m.Power(interrupted=True)


@over_the_ladder
async def test_nothing_was_under_way_and_so_a_good_report_is_enough(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        for fault in ("unplug:seconds=2", "reboot"):
            b.inject(fault)
            await b.until(lambda event: isinstance(event, LinkDown))
            assert (b.service.state, b.view.inside) == ("absent", None)
            await b.until(lambda event: isinstance(event, LinkUp))
            assert b.service.state == "unverified"
            await back(b)
            assert (b.service.state, b.view.inside) == ("in_service", 0)
            await check_reported_cards(b)


@over_the_ladder
async def test_a_deck_behind_the_gate_survives_a_reboot_and_can_be_given_out(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        await run_command(b, b.driver.shuffle)
        b.inject("reboot")
        await b.until(lambda event: isinstance(event, LinkDown))
        status = (await back(b)).inventory
        assert (status.state, status.inside, status.behind_gate) == (m.State.READY, 0, None)
        await run_command(b, b.driver.self_test)
        assert (await check_reported_cards(b)).state is m.State.READY, "a test does not make the deck disappear"
        await run_command(b, b.driver.eject)
        assert b.machine.true_counts() == {"shuffler.1/presented": 53}


@over_the_ladder
async def test_a_fault_outlives_its_cable_its_power_and_its_cause(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject("jam:segment=bridge,card=12")
        with pytest.raises(CommandFailed):
            await run_command(b, b.driver.shuffle)
        for fault in ("unplug:seconds=1", "unplug:seconds=30"):
            b.inject(fault)
            await b.until(lambda event: isinstance(event, LinkDown))
            assert b.service.state == "faulted"
            assert (await back(b)).inventory.state is m.State.HALTED
            assert b.service.state == "faulted"
            assert b.view.inside == 12
        await get_all_cards_out(b)
        b.inject("unplug:seconds=1")
        await b.until(lambda event: isinstance(event, LinkDown))
        assert (await back(b)).inventory.inside == 0
        assert b.service.state == "faulted", "the machine is whole and empty, and nobody has acknowledged"
        b.service.fire("clear")
        b.inject("reboot")
        await b.until(lambda event: isinstance(event, LinkDown))
        await back(b)
        assert b.service.state == "faulted", "what was seen as cleared went away"


@over_the_ladder
@pytest.mark.parametrize(("fault", "cause"), [("wrong_key", WrongKey), ("rogue_firmware", FirmwareNotApproved)])
@pytest.mark.parametrize("in_mid_cycle", [False, True], ids=["idle", "in mid-cycle"])
async def test_a_board_that_is_changed_at_run_time_never_reports_again(
    seed: int, rung: str, fault: str, cause: type[PitboxError], in_mid_cycle: bool
) -> None:
    async with shuffler_bench(seed, rung) as b:
        if in_mid_cycle:
            await lose(b, fault, 5.0)
        else:
            b.inject(fault)
        await b.until(lambda event: isinstance(event, LinkDown) and isinstance(event.cause, cause))
        reports = len(b.events_of(Reported))
        await stays_out_of_service(b, 600)
        assert len(b.events_of(Reported)) == reports
        assert b.service.state == "absent"
        assert isinstance(b.supervisor.last_cause, TrustError | PortMissing) or rung == "lossy"
        with pytest.raises(NotSent):
            await b.driver.eject(b.next_id())


@over_the_ladder
@pytest.mark.parametrize("size", [1, 600, 20_000])
async def test_a_burst_of_garbage_costs_nothing_but_its_own_bytes(seed: int, rung: str, size: int) -> None:
    async with shuffler_bench(seed, rung) as b:
        command = b.next_id()
        cycle = b.driver.shuffle(command)
        await until_moving(b)
        for _ in range(4):
            await asyncio.sleep(2)
            b.inject(f"garbage:bytes={size}")
        assert (await cycle).outcome is Outcome.DONE
        assert not b.events_of(LinkDown)
        (completed,) = b.events_of(m.Completed)
        assert verdict(completed, 53) == []
        assert b.service.state == "in_service"
        link = b.supervisor.link
        assert link is not None
        assert link.wire.framer.counters.bytes_dropped >= 4 * size - 3
        assert link.forged == 0
        await check_reported_cards(b)


@over_the_ladder
async def test_a_cable_that_is_never_put_back_releases_everybody_and_leaves_the_slot_empty(
    seed: int, rung: str
) -> None:
    async with shuffler_bench(seed, rung) as b:
        await lose(b, "unplug:seconds=0", 3.0)
        await stays_out_of_service(b, 300)
        assert b.service.state == "absent"
        assert isinstance(b.supervisor.last_cause, PortMissing)
        assert (b.view.inside, b.view.behind_gate) == (None, None)
        assert behind_gate(b) == 53, "the machine finished what it had begun"
        with pytest.raises(NotSent):
            await b.driver.stop(b.next_id())
