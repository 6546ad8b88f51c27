"""States and refusals of a machine without cycles, as in docs/devices/shuffler.md, on simulated firmware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from devices.shuffler import messages as m
from firmware_bridge.errors import CommandFailed, OutcomeUnknown
from tests.support.machines.bench import ShufflerTestBench, shuffler_bench
from tests.support.machines.continuous_store import count_set, keep_cards
from tests.support.machines.shuffler_states import begin_in_state, refusal_reason

if TYPE_CHECKING:
    import asyncio

    from tests.support.machines.shuffler_states import Command

R: Final = m.Reason
OK: Final = R.NONE
# Few enough for a quick test, enough to reach every state.
CARDS: Final = 30
COMMANDS: Final[dict[str, Command]] = {
    "TakeIn": lambda b: b.driver.take_in(b.next_id()),
    "Deliver": lambda b: b.driver.deliver(b.next_id(), 5),
    "CountAll": lambda b: b.driver.count_all(b.next_id()),
    "Eject": lambda b: b.driver.eject(b.next_id()),
    "SelfTest": lambda b: b.driver.self_test(b.next_id()),
    "ClearJam": lambda b: b.driver.clear_jam(b.next_id()),
    "Jog": lambda b: b.driver.jog(b.next_id(), m.Motor.ELEVATOR),
    "Stop": lambda b: b.driver.stop(b.next_id()),
    "Reset": lambda b: b.driver.reset(b.next_id()),
}
COLUMNS: Final = tuple(COMMANDS)
_BUSY: Final = (R.BUSY,) * 7 + (OK, OK)
_CLEAR: Final = (R.NEEDS_CLEARING,) * 5 + (OK, R.NEEDS_CLEARING, OK, OK)
# The table of the page: what each command gets in each state, the door closed, the path clear, the set counted, a card
# in the intake and none in the chute.
EXPECTED: Final[dict[m.State, tuple[m.Reason, ...]]] = {
    m.State.IDLE: (OK, OK, OK, R.NOTHING_TO_EJECT, OK, OK, OK, OK, OK),
    m.State.FEEDING: _BUSY,
    m.State.UNLOADING: _BUSY,
    m.State.READY: (R.GATE_OCCUPIED, R.GATE_OCCUPIED, R.GATE_OCCUPIED, OK, OK, OK, OK, OK, OK),
    m.State.HALTED: _CLEAR,
    m.State.CLEARING: _BUSY,
    m.State.TESTING: _BUSY,
    m.State.DOUBTFUL: _CLEAR,
    m.State.DELIVERING: _BUSY,
}
BY: Final = {
    m.State.FEEDING: "CountAll",
    m.State.UNLOADING: "CountAll",
    m.State.TESTING: "SelfTest",
    m.State.CLEARING: "ClearJam",
    m.State.DELIVERING: "Deliver",
}


async def _prepare(b: ShufflerTestBench) -> None:
    """Count a small set, and bring one of its cards back into the intake."""
    keep_cards(b, CARDS)
    await count_set(b)
    await b.driver.deliver(b.next_id(), 1)
    b.inject("draw")
    b.inject("discard")


async def _bring_to(b: ShufflerTestBench, state: m.State) -> asyncio.Task[object] | None:
    """Bring the machine into a state; return the command that keeps it there, if one runs."""
    await _prepare(b)
    if state in BY:
        return await begin_in_state(b, COMMANDS[BY[state]], state)
    if state is m.State.READY:
        await COMMANDS["ClearJam"](b)
    elif state is m.State.DOUBTFUL:
        counting = await begin_in_state(b, COMMANDS["CountAll"], m.State.UNLOADING)
        b.inject("power_cut:seconds=1")
        await b.until_reported()
        with pytest.raises(OutcomeUnknown):
            await counting
        b.inject("clear_path")
    elif state is m.State.HALTED:
        b.inject("jam:segment=lift")
        with pytest.raises(CommandFailed):
            await COMMANDS["TakeIn"](b)
        b.inject("clear_path")
    return None


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("state", [state for state in m.State if state is not m.State.INSERTING])
async def test_every_state_refuses_what_the_page_lists(seed: int, state: m.State, name: str) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        running = await _bring_to(b, state)
        assert (await b.driver.status()).state is state
        assert await refusal_reason(b, COMMANDS[name], running) is EXPECTED[state][COLUMNS.index(name)]


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in ("Stop", "Reset")])
async def test_an_open_door_refuses_every_motion(seed: int, name: str) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        b.inject("door:to=open")
        assert await refusal_reason(b, COMMANDS[name]) is R.DOOR_OPEN


async def test_nothing_in_the_intake_cannot_be_taken_in_but_can_be_counted(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        keep_cards(b, 0)
        assert await refusal_reason(b, COMMANDS["TakeIn"]) is R.NOTHING_LOADED
        assert (await count_set(b)).count == 0


async def test_a_count_is_refused_while_a_card_lies_in_the_chute_and_a_delivery_before_a_count(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        keep_cards(b, CARDS)
        asked = ("Deliver", "CountAll", "Deliver", "CountAll")
        reasons = [await refusal_reason(b, COMMANDS[name]) for name in asked]
        assert reasons == [R.NOT_COUNTED, OK, OK, R.CHUTE_OCCUPIED]


async def test_the_motor_that_pushes_cards_out_is_not_jogged_while_cards_are_in_the_store(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        keep_cards(b, CARDS)
        await count_set(b)
        assert await refusal_reason(b, lambda b: b.driver.jog(b.next_id(), m.Motor.EJECT)) is R.CARDS_IN_REACH
        assert await refusal_reason(b, COMMANDS["Jog"]) is OK
