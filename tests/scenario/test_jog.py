"""One motor turned by itself: reported with its current, not sent to older firmware, detected when it is held."""

from __future__ import annotations

import pytest

from devices.shoe import messages as sh
from devices.shuffler import messages as m
from firmware_bridge.errors import BadFault, CommandFailed, NotCapable
from tests.support.machines.bench import shuffler_bench
from tests.support.machines.card_checks import check_reported_cards
from tests.support.machines.command_watch import CommandWatch
from tests.support.machines.shoes import manual_shoe_bench, shoe_bench


async def test_every_motor_is_turned_in_both_directions_and_the_telemetry_shows_it(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        b.machine.world.move_all(b.machine.mechanics.intake, "pocket")
        for motor in m.Motor:
            for reverse in (False, True):
                await b.driver.jog(b.next_id(), motor, reverse=reverse)
        assert [(jog.motor, jog.reverse, jog.turned) for jog in b.view.jogged] == [
            (motor, reverse, True) for motor in m.Motor for reverse in (False, True)
        ]
        assert all(jog.current for jog in b.view.jogged)
        assert b.service.state == "in_service"
        assert (await b.driver.sensors()).currents == [0, 0, 0, 0]


@pytest.mark.parametrize("motor", list(m.Motor))
async def test_a_held_motor_stalls_fails_the_self_test_and_jams_what_it_moves(seed: int, motor: m.Motor) -> None:
    async with shuffler_bench(seed) as b:
        b.inject(f"seized:motor={motor.name.lower()}")
        with pytest.raises(CommandFailed):
            await b.driver.shuffle(b.next_id())
        assert b.events_of(m.Jam)[-1].currents[motor] == max(b.events_of(m.Jam)[-1].currents)
        b.machine.world.move_all(b.machine.mechanics.intake, "pocket")
        b.inject("mend")
        b.inject("clear_path")
        await b.driver.clear_jam(b.next_id())
        b.inject(f"seized:motor={motor.name.lower()}")
        with pytest.raises(CommandFailed) as stalled:
            await b.driver.jog(b.next_id(), motor)
        assert stalled.value.reason == m.Reason.MOTOR_STALLED
        events = b.events_of(m.Jogged)[-1]
        assert (events.motor, events.turned, b.view.jogged[-1]) == (motor, False, events)
        assert events.current > 1000
        assert b.service.state == "faulted"
        with pytest.raises(CommandFailed):
            await b.driver.self_test(b.next_id())
        assert b.events_of(m.SelfTested)[-1].bad_motors == 1 << motor
        b.inject("mend")
        await b.driver.jog(b.next_id(), motor)
        await b.driver.self_test(b.next_id())
        assert b.events_of(m.SelfTested)[-1].bad_motors == 0
        assert b.service.state == "faulted", "what was mended is not back in service by itself"
        await check_reported_cards(b)


async def test_an_older_firmware_is_not_asked_and_its_session_goes_on(seed: int) -> None:
    async with shuffler_bench(seed, jogs=False) as b:
        watch = CommandWatch(b)
        with pytest.raises(NotCapable, match="does not name the capability 'jogs'"):
            await b.driver.jog(b.next_id(), m.Motor.TRANSPORT)
        assert watch.begun == []
        await b.driver.self_test(b.next_id())
        assert b.events_of(m.SelfTested)[-1].bad_motors == 0


async def test_a_shoe_turns_each_motor_and_reports_which_one_is_held(seed: int) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        b.machine.world.move_all(b.machine.mechanics.intake, "pocket")
        b.inject("seized:motor=draw")
        for motor in sh.Motor:
            if motor is sh.Motor.DRAW:
                with pytest.raises(CommandFailed) as stalled:
                    await b.driver.jog(b.next_id(), motor, reverse=True)
                assert stalled.value.reason == sh.Reason.MOTOR_STALLED
            else:
                await b.driver.jog(b.next_id(), motor, reverse=True)
        assert [(jog.motor, jog.turned) for jog in b.view.jogged] == [(n, n is not sh.Motor.DRAW) for n in sh.Motor]
        assert b.service.state == "faulted"


async def test_a_manual_shoe_has_no_motor_to_turn(seed: int) -> None:
    async with manual_shoe_bench(seed) as b:
        with pytest.raises(NotCapable):
            await b.driver.jog(b.next_id(), sh.Motor.DRAW)
        with pytest.raises(BadFault):
            b.inject("seized:motor=draw")
