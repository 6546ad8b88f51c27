"""The shuffler's scenarios over USB: real pyusb, our USB/IP backend, real sockets, a device simulated by packets."""

from __future__ import annotations

import asyncio

import pytest

from devices.driver_events import LinkDown, OutcomeLost, Reported
from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import (
    CommandFailed,
    CommandRefused,
    DuplicateSerial,
    OutcomeUnknown,
    PortBusy,
    PortFailed,
    PortMissing,
    WrongKey,
    WrongKind,
)
from firmware_bridge.handshake import Trust
from firmware_bridge.transport.ports import open_port
from simulators.engine.machine import approved_firmware
from simulators.kinds.shuffler.machine import SimulatedShuffler
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import (
    ask_until_answered,
    check_reported_cards,
    run_command,
    until_moving,
    until_true,
)
from tests.support.machines.usb_bench import UsbBench, usb_bench, usb_server

pytestmark = pytest.mark.realtime


async def lose(b: UsbBench, fault: str) -> int:
    """Inject a fault in mid-cycle; return the cycle's command when link and outcome are lost."""
    command = b.next_id()
    cycle = b.driver.shuffle(command)
    await until_moving(b)
    b.inject(fault)
    with pytest.raises(OutcomeUnknown):
        await cycle
    assert b.events_of(OutcomeLost) == [OutcomeLost(command)]
    return command


async def back(b: UsbBench) -> Reported:
    while b.driver.reported is None:
        await b.until_reported()
    return b.driver.reported


@over_the_ladder
async def test_a_good_deck_is_counted_and_given_out(seed: int, rung: str) -> None:
    async with usb_bench(seed, rung) as b:
        await run_command(b, b.driver.shuffle)
        (completed,) = b.events_of(m.Completed)
        assert verdict(completed, 53) == []
        assert b.machine.true_counts() == {"shuffler.1/gate": 53}
        await run_command(b, b.driver.eject)
        assert b.machine.true_counts() == {"shuffler.1/presented": 53}
        await check_reported_cards(b)
        assert rung == "lossy" or not b.events_of(LinkDown)


@pytest.mark.parametrize("segment", list(m.Segment))
async def test_a_jam_is_located_and_the_cards_inside_are_counted(seed: int, segment: m.Segment) -> None:
    await jams(seed, "clean", segment)


@pytest.mark.parametrize("rung", ["byte-at-a-time", "lossy", "slow"])
async def test_a_jam_is_located_over_bad_lines(seed: int, rung: str) -> None:
    await jams(seed, rung, m.Segment.LIFT)


async def jams(seed: int, rung: str, segment: m.Segment) -> None:
    async with usb_bench(seed, rung) as b:
        b.inject(f"jam:segment={segment.name.lower()},card=27")
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.shuffle)
        assert failed.value.reason == m.Reason.JAM
        (jam,) = b.events_of(m.Jam)
        assert (jam.segment, jam.card) == (segment, 27)
        assert b.machine.world.count(b.machine.mechanics.segment_place(segment)) == 1
        assert jam.inside == b.view.inside == b.machine.mechanics.inside()
        assert b.service.state == "faulted"
        with pytest.raises(CommandRefused):
            await run_command(b, b.driver.eject)


async def test_a_cycle_goes_on_without_its_cable_and_its_end_is_learned_by_asking(seed: int) -> None:
    async with usb_bench(seed) as b:
        boot = (await back(b)).report.boot_id
        command = await lose(b, "unplug:seconds=0.3")
        cause = b.events_of(LinkDown)[0].cause
        assert isinstance(cause, PortFailed)
        assert "was unplugged" in str(cause)
        again = await back(b)
        assert (again.report.boot_id, again.rebooted) == (boot, False)
        await until_true(lambda: b.machine.true_counts() == {"shuffler.1/gate": 53})
        assert (await ask_until_answered(b, lambda: b.driver.outcome(command))).outcome is Outcome.DONE
        assert b.service.state == "unverified", "a known outcome is not a report"
        await b.driver.report()
        assert b.service.state == "in_service"


async def test_a_power_cut_in_mid_cycle_leaves_a_machine_that_reports_its_count_as_unknown(seed: int) -> None:
    async with usb_bench(seed) as b:
        boot = (await back(b)).report.boot_id
        command = await lose(b, "power_cut:seconds=2")
        again = await back(b)
        assert again.report.boot_id != boot
        assert again.inventory.state is m.State.DOUBTFUL
        assert again.inventory.inside is b.view.inside is None
        known = await b.driver.outcome(command)
        assert (known.outcome, known.reason) == (Outcome.FAILED, m.Reason.POWER_LOST)
        assert b.service.state == "faulted"
        assert b.machine.mechanics.inside() > 0


async def test_a_stop_stops(seed: int) -> None:
    async with usb_bench(seed, speed=5.0) as b:
        cycle = b.driver.shuffle(b.next_id())
        await b.until(lambda event: isinstance(event, m.Progress))
        await b.driver.stop(b.next_id())
        with pytest.raises(CommandFailed) as failed:
            await cycle
        assert failed.value.reason == m.Reason.STOPPED
        assert not any(b.machine.mechanics.currents())
        (stopped,) = b.events_of(m.Stopped)
        inside = b.machine.mechanics.inside()
        assert stopped.entered - stopped.left in (inside, inside - 1), "a card in the feed may not be counted yet"


async def test_an_idle_machine_is_unplugged_and_replugged_and_serves_again_after_its_report(seed: int) -> None:
    async with usb_bench(seed) as b:
        for _ in range(3):
            first = b.server.exported()
            b.inject("unplug:seconds=0.2")
            assert b.server.exported() == []
            await b.until(lambda event: isinstance(event, LinkDown))
            assert b.service.state == "absent"
            await back(b)
            assert b.service.state == "in_service"
            (device,) = b.server.exported()
            assert device.busid == first[0].busid
            assert device.devnum != first[0].devnum
        causes = [down.cause for down in b.events_of(LinkDown)]
        assert {type(cause) for cause in causes} <= {PortFailed, PortMissing}


async def test_a_cable_that_is_never_put_back_is_a_missing_port(seed: int) -> None:
    async with usb_bench(seed) as b:
        b.inject("unplug:seconds=0")
        missing = await b.until(lambda event: isinstance(event, LinkDown) and isinstance(event.cause, PortMissing))
        assert "no such device is plugged in" in str(missing.cause)


async def test_a_server_that_dies_takes_its_devices_with_it(seed: int) -> None:
    async with usb_bench(seed) as b:
        b.server.close()
        missing = await b.until(lambda event: isinstance(event, LinkDown) and isinstance(event.cause, PortMissing))
        assert "nothing answers at 127.0.0.1" in str(missing.cause)
        assert isinstance(b.events_of(LinkDown)[0].cause, PortFailed)


@pytest.mark.parametrize("endpoint", ["in", "out"])
async def test_an_endpoint_that_stalls_is_cleared_and_the_cycle_goes_on(seed: int, endpoint: str) -> None:
    async with usb_bench(seed) as b:
        cycle = b.driver.shuffle(b.next_id())
        await until_moving(b)
        b.inject(f"usb_stall:endpoint={endpoint}")
        assert (await cycle).outcome is Outcome.DONE
        await b.driver.status()
        assert not b.usb.device.halted
        assert not b.events_of(LinkDown)


async def test_an_endpoint_that_stays_stalled_is_a_failed_port(seed: int) -> None:
    async with usb_bench(seed) as b:
        b.inject("usb_stall:endpoint=in,times=3")
        down = await b.until(lambda event: isinstance(event, LinkDown))
        assert isinstance(down.cause, PortFailed)
        assert "stalls again" in str(down.cause)
        await back(b)
        assert b.service.state == "in_service"


async def test_a_device_that_answers_nothing_for_a_while_is_slow_and_not_unplugged(seed: int) -> None:
    async with usb_bench(seed) as b:
        b.inject("usb_busy:seconds=1")
        status = await b.driver.status()
        assert status.state is m.State.IDLE
        assert not b.events_of(LinkDown)


async def test_two_devices_with_one_serial_number_are_both_left_alone(seed: int) -> None:
    async with usb_server() as server:
        one = UsbBench(SimulatedShuffler(seed=seed), server)
        other = UsbBench(SimulatedShuffler(seed=seed), server)
        assert one.usb.port == other.usb.port
        one.supervisor.start()
        down = await one.until(lambda event: isinstance(event, LinkDown))
        assert isinstance(down.cause, DuplicateSerial)
        assert down.cause.code == "PB-121"
        assert [bench.usb.device.attached for bench in (one, other)] == [False, False]
        assert one.service.state == "absent"
        other.usb.unplug()
        await one.until_reported()
        assert one.service.state == "in_service"
        await one.close()
        for bench in (one, other):
            bench.usb.close()


async def test_six_devices_on_one_bus_are_opened_at_once_and_none_is_in_anothers_way(seed: int) -> None:
    async with usb_server() as server:
        benches = [UsbBench(SimulatedShuffler(f"shuffler.{n}", seed=seed, speed=50), server) for n in range(1, 7)]
        for bench in benches:
            bench.supervisor.start()
        await asyncio.gather(*(bench.driver.ready() for bench in benches))
        assert [device.busid for device in server.exported()] == [f"1-{n}" for n in range(1, 7)]
        for bench in benches:
            assert not bench.events_of(LinkDown)
            assert bench.events_of(Reported)[0].hello.serial == bench.machine.key.serial
        await asyncio.gather(*(bench.driver.shuffle(1) for bench in benches))
        for bench in benches:
            assert bench.machine.true_counts() == {f"{bench.machine.slot}/gate": 53}
            await bench.close()
            bench.usb.close()


async def test_another_kind_of_machine_at_the_port_never_serves(seed: int) -> None:
    machine = SimulatedShuffler(seed=seed)
    key, trust = (
        machine.key,
        Trust("shoe", {machine.key.serial: machine.key}, frozenset([approved_firmware("shuffler")])),
    )
    machine.board.power_off()
    async with usb_bench(seed, trust=trust, key=key) as b:
        down = await b.until(lambda event: isinstance(event, LinkDown))
        assert isinstance(down.cause, WrongKind)
        assert b.service.state == "absent"


async def test_a_serial_number_on_the_bus_proves_nothing(seed: int) -> None:
    async with usb_bench(seed) as b:
        b.inject("wrong_key")
        await b.until(lambda event: isinstance(event, LinkDown) and isinstance(event.cause, WrongKey))
        assert b.service.state == "absent"


async def test_a_port_has_one_holder_and_is_free_when_he_has_gone(seed: int) -> None:
    async with usb_bench(seed) as b:
        with pytest.raises(PortBusy, match="in use by another program"):
            await open_port(b.usb.port)
        await b.supervisor.close()
        for _ in range(3):  # reopened at once: it waits for the release of the port
            (await open_port(b.usb.port)).close()
