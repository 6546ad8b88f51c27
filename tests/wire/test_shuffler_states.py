"""States and refusals of a machine with cycles, as in docs/devices/shuffler.md, on simulated firmware."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from devices.shuffler import messages as m
from firmware_bridge.errors import CommandFailed, OutcomeUnknown
from tests.support.machines.bench import ShufflerTestBench, shuffler_bench
from tests.support.machines.shuffler_states import begin_in_state, refusal_reason

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable

    from tests.support.machines.shuffler_states import Command

R: Final = m.Reason
OK: Final = R.NONE
COMMANDS: Final[dict[str, Command]] = {
    "StartCycle": lambda b: b.driver.shuffle(b.next_id()),
    "Eject": lambda b: b.driver.eject(b.next_id()),
    "SetMode": lambda b: b.driver.set_mode(b.next_id(), m.Mode.SORT),
    "SelfTest": lambda b: b.driver.self_test(b.next_id()),
    "ClearJam": lambda b: b.driver.clear_jam(b.next_id()),
    "Jog": lambda b: b.driver.jog(b.next_id(), m.Motor.TRANSPORT),
    "Stop": lambda b: b.driver.stop(b.next_id()),
    "Reset": lambda b: b.driver.reset(b.next_id()),
}
HALTED: Final = (*[R.NEEDS_CLEARING] * 4, OK, R.NEEDS_CLEARING, OK, OK)
# The table of the page: what each command gets in each state, the door closed and the path clear.
COLUMNS: Final = tuple(COMMANDS)
EXPECTED: Final[dict[m.State, tuple[m.Reason, ...]]] = {
    m.State.IDLE: (OK, R.NOTHING_TO_EJECT, OK, OK, OK, OK, OK, OK),
    m.State.FEEDING: (R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.BUSY, OK, OK),
    m.State.UNLOADING: (R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.BUSY, OK, OK),
    m.State.READY: (R.GATE_OCCUPIED, OK, OK, OK, OK, OK, OK, OK),
    m.State.HALTED: HALTED,
    m.State.CLEARING: (R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.BUSY, OK, OK),
    m.State.TESTING: (R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.BUSY, OK, OK),
    m.State.DOUBTFUL: HALTED,
}


async def _bring_to(b: ShufflerTestBench, state: m.State) -> asyncio.Task[object] | None:
    """Bring the machine into a state; return the command that keeps it there, if one runs."""
    if state is m.State.IDLE:
        return None
    if state is m.State.TESTING:
        return await begin_in_state(b, COMMANDS["SelfTest"], state)
    if state in (m.State.FEEDING, m.State.UNLOADING):
        return await begin_in_state(b, COMMANDS["StartCycle"], state)
    if state is m.State.READY:
        await COMMANDS["StartCycle"](b)
        return None
    if state is m.State.DOUBTFUL:
        cycle = await begin_in_state(b, COMMANDS["StartCycle"], m.State.UNLOADING)
        b.inject("power_cut:seconds=1")
        await b.until_reported()
        with pytest.raises(OutcomeUnknown):
            await cycle
    else:
        b.inject("jam:segment=lift,card=20")
        with pytest.raises(CommandFailed):
            await COMMANDS["StartCycle"](b)
    b.inject("clear_path")
    return await begin_in_state(b, COMMANDS["ClearJam"], state) if state is m.State.CLEARING else None


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("state", list(EXPECTED))
async def test_every_state_refuses_what_the_page_lists(seed: int, state: m.State, name: str) -> None:
    async with shuffler_bench(seed) as b:
        running = await _bring_to(b, state)
        assert (await b.driver.status()).state is state
        assert await refusal_reason(b, COMMANDS[name], running) is EXPECTED[state][COLUMNS.index(name)]


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in ("Stop", "Reset")])
async def test_an_open_door_refuses_every_motion(seed: int, name: str) -> None:
    async with shuffler_bench(seed) as b:
        b.inject("door:to=open")
        assert await refusal_reason(b, COMMANDS[name]) is R.DOOR_OPEN


async def test_clearing_is_refused_while_the_path_is_dark(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        b.inject("dust:sensor=lift,percent=90")
        assert await refusal_reason(b, COMMANDS["ClearJam"]) is R.PATH_BLOCKED


async def test_a_cycle_without_cards_is_refused(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        await b.driver.shuffle(b.next_id())
        await b.driver.eject(b.next_id())
        assert await refusal_reason(b, COMMANDS["StartCycle"]) is R.NOTHING_LOADED


async def test_a_stop_while_the_gate_opens_or_a_test_runs_leaves_the_machine_at_rest(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        testing = await begin_in_state(b, COMMANDS["SelfTest"], m.State.TESTING)
        await b.driver.stop(b.next_id())
        with pytest.raises(CommandFailed) as failed:
            await testing
        assert failed.value.reason == R.STOPPED
        assert (await b.driver.status()).state is m.State.IDLE
        await b.driver.shuffle(b.next_id())
        opening = await begin_in_state(b, COMMANDS["Eject"], m.State.UNLOADING)
        await b.driver.stop(b.next_id())
        with pytest.raises(CommandFailed) as failed:
            await opening
        assert failed.value.reason == R.STOPPED
        assert (await b.driver.status()).state is m.State.READY
        assert b.events_of(m.Stopped) == []


def _jog(motor: m.Motor, b: ShufflerTestBench) -> Awaitable[object]:
    return b.driver.jog(b.next_id(), motor)


async def test_a_jog_is_refused_while_the_path_is_dark_or_cards_are_in_reach_of_the_motor(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        reasons = []
        for motor in m.Motor:
            jog: Command = partial(_jog, motor)
            reasons.append(await refusal_reason(b, jog))
        assert reasons == [R.CARDS_IN_REACH, OK, OK, OK], "the deck lies in the intake"
        b.inject("dust:sensor=exit,percent=90")
        assert await refusal_reason(b, COMMANDS["Jog"]) is R.PATH_BLOCKED


async def test_a_stop_ends_a_jog_and_the_motor_is_off(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        turning = await begin_in_state(b, COMMANDS["Jog"], m.State.TESTING)
        assert (await b.driver.sensors()).currents[m.Motor.TRANSPORT] > 0
        await b.driver.stop(b.next_id())
        with pytest.raises(CommandFailed) as failed:
            await turning
        assert failed.value.reason == R.STOPPED
        assert (await b.driver.sensors()).currents == [0, 0, 0, 0]
        assert (b.events_of(m.Jogged), b.events_of(m.Stopped)) == ([], [])
        assert (await b.driver.status()).state is m.State.IDLE
