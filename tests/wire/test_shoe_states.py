"""States and refusals of shoes, as in docs/devices/shoe.md, on simulated firmware over real links, pair by pair."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final, get_args

import pytest

from devices.edge_log import EdgeLog
from devices.shoe import messages as m
from firmware_bridge.commands import Accepted, Report, Settled
from firmware_bridge.errors import CommandFailed, CommandRefused, OutcomeUnknown
from firmware_bridge.messages import Message, decoder
from tests.support.machines.shoes import ManualShoe, Shoe, dispensed, manual_shoe_bench, shoe_bench
from tests.support.wire.golden import payload

if TYPE_CHECKING:
    from collections.abc import Callable

R: Final = m.Reason
S: Final = m.State
OK: Final = R.NONE
COMMANDS: Final[dict[str, Callable[[int], Any]]] = {
    "Load": m.Load,
    "Dispense": lambda command: m.Dispense(command, 7),
    "CountStub": m.CountStub,
    "StartRound": m.StartRound,
    "SelfTest": m.SelfTest,
    "ClearJam": m.ClearJam,
    "Jog": lambda command: m.Jog(command, m.Motor.TRANSPORT, False),
    "Stop": m.Stop,
    "Reset": m.Reset,
    "ReleaseCards": lambda command: m.ReleaseCards(command, 1, 0),
}
COLUMNS: Final = tuple(COMMANDS)
# These shoes do not identify: they refuse ReleaseCards in every state. test_identifying_shoe.py has others.
BLIND: Final = (R.NOT_CAPABLE,)
BUSY: Final = (R.BUSY, R.BUSY, R.BUSY, R.NOT_CAPABLE, R.BUSY, R.BUSY, R.BUSY, OK, OK, *BLIND)
HALTED: Final = (
    R.NEEDS_CLEARING,
    R.NEEDS_CLEARING,
    R.NEEDS_CLEARING,
    R.NOT_CAPABLE,
    R.NEEDS_CLEARING,
    OK,
    R.NEEDS_CLEARING,
    OK,
    OK,
    *BLIND,
)
# The table of the page for an automated shoe: door closed, path clear, slot empty; cards in the intake when IDLE.
AUTOMATED: Final[dict[m.State, tuple[m.Reason, ...]]] = {
    S.IDLE: (OK, R.SHOE_EMPTY, R.NOTHING_TO_EJECT, R.NOT_CAPABLE, OK, OK, OK, OK, OK, *BLIND),
    S.LOADING: BUSY,
    S.READY: (R.ALREADY_LOADED, OK, OK, R.NOT_CAPABLE, OK, OK, OK, OK, OK, *BLIND),
    S.DISPENSING: BUSY,
    S.COUNTING: BUSY,
    S.HALTED: HALTED,
    S.CLEARING: BUSY,
    S.TESTING: BUSY,
    S.DOUBTFUL: HALTED,
}
MANUAL_HALTED: Final = (
    R.NEEDS_CLEARING, R.NOT_CAPABLE, R.NEEDS_CLEARING, R.NEEDS_CLEARING, R.NEEDS_CLEARING, OK, R.NOT_CAPABLE, OK, OK,
    *BLIND,
)  # fmt: skip
# And for a manual one: throat clear; cards in the well, but for HALTED and DOUBTFUL, where hands have lifted them out.
MANUAL: Final[dict[m.State, tuple[m.Reason, ...]]] = {
    S.IDLE: (OK, R.NOT_CAPABLE, R.NOTHING_TO_EJECT, R.SHOE_EMPTY, OK, R.ALREADY_LOADED, R.NOT_CAPABLE, OK, OK, *BLIND),
    S.READY: (R.ALREADY_LOADED, R.NOT_CAPABLE, OK, OK, OK, R.ALREADY_LOADED, R.NOT_CAPABLE, OK, OK, *BLIND),
    S.DEALING: (R.ALREADY_LOADED, R.NOT_CAPABLE, OK, OK, R.BUSY, R.ALREADY_LOADED, R.NOT_CAPABLE, OK, OK, *BLIND),
    S.COUNTING: (R.BUSY, R.NOT_CAPABLE, R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.NOT_CAPABLE, OK, OK, *BLIND),
    S.HALTED: MANUAL_HALTED,
    S.TESTING: (R.BUSY, R.NOT_CAPABLE, R.BUSY, R.BUSY, R.BUSY, R.BUSY, R.NOT_CAPABLE, OK, OK, *BLIND),
    S.DOUBTFUL: MANUAL_HALTED,
}


async def give(b: Shoe | ManualShoe, name: str) -> m.Reason:
    """Send a command past the driver's checks; return the reason of its refusal, or NONE."""
    command = b.next_id()
    try:
        await b.driver.actuate(COMMANDS[name](command), command)
    except CommandRefused as refused:
        return m.Reason(refused.reason)
    return OK


async def begin(b: Shoe | ManualShoe, name: str, state: m.State) -> asyncio.Task[Any]:
    """Begin a command and wait until the machine is in its state."""
    task = asyncio.create_task(give(b, name))
    for _ in range(1000):
        await asyncio.sleep(0.01)
        if (await b.driver.status()).state is state:
            return task
    raise AssertionError(f"never {state.name}")


async def bring(b: Shoe, state: m.State) -> asyncio.Task[Any] | None:
    """Bring an automated shoe into a state; return the command that keeps it there, if one runs."""
    if state is S.IDLE:
        return None
    if state is S.LOADING:
        return await begin(b, "Load", state)
    if state is S.TESTING:
        return await begin(b, "SelfTest", state)
    await give(b, "Load")
    if state is S.READY:
        return None
    if state in (S.DISPENSING, S.COUNTING):
        return await begin(b, "Dispense" if state is S.DISPENSING else "CountStub", state)
    if state is S.DOUBTFUL:
        stack = await begin(b, "Dispense", S.DISPENSING)
        b.inject("power_cut:seconds=1")
        await b.until_reported()
        with pytest.raises(OutcomeUnknown):
            await stack
    else:
        b.inject("jam:segment=exit,card=2")
        with pytest.raises(CommandFailed):
            await give(b, "Dispense")
    b.inject("clear_path")
    return await begin(b, "ClearJam", state) if state is S.CLEARING else None


async def bring_by_hand(b: ManualShoe, state: m.State) -> asyncio.Task[Any] | None:
    """Bring a manual shoe into a state."""
    if state is S.IDLE:
        return None
    await give(b, "Load")
    if state is S.TESTING:
        return await begin(b, "SelfTest", state)
    if state in (S.DEALING, S.COUNTING):
        await give(b, "StartRound" if state is S.DEALING else "CountStub")
    elif state is not S.READY:
        b.inject("jam:segment=exit")
        b.inject("draw")
        await b.until(lambda event: isinstance(event, m.Jam))
        b.inject("clear_path")
        b.inject("lift")
        if state is S.DOUBTFUL:
            b.inject("reboot")
            await b.until_reported()
    return None


async def check(b: Shoe | ManualShoe, running: asyncio.Task[Any] | None, state: m.State, row: Any, name: str) -> None:
    assert (await b.driver.status()).state is state
    truth = b.machine.true_counts()
    reason = await give(b, name)
    assert reason is row[COLUMNS.index(name)]
    assert not reason or running is not None or b.machine.true_counts() == truth, "what is refused moves nothing"
    if running is not None:
        with contextlib.suppress(CommandFailed, OutcomeUnknown):
            await running


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("state", AUTOMATED)
async def test_every_state_of_an_automated_shoe_refuses_what_the_page_lists(
    seed: int, state: m.State, name: str
) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        await check(b, await bring(b, state), state, AUTOMATED[state], name)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("state", MANUAL)
async def test_every_state_of_a_manual_shoe_refuses_what_the_page_lists(seed: int, state: m.State, name: str) -> None:
    async with manual_shoe_bench(seed, loaded=False) as b:
        await check(b, await bring_by_hand(b, state), state, MANUAL[state], name)


def test_every_state_and_every_command_is_in_a_table() -> None:
    assert set(AUTOMATED) | set(MANUAL) == set(m.State)
    assert {cls.__name__ for cls in get_args(m.Actuation)} == set(COLUMNS)
    reported = {reason for table in (AUTOMATED, MANUAL) for row in table.values() for reason in row}
    refusals = {reason for reason in m.Reason if 420 <= reason < 430 or 440 <= reason < 450}
    elsewhere = {
        R.NOTHING_LOADED,
        R.DOOR_OPEN,
        R.PATH_BLOCKED,
        R.STACK_SIZE,
        R.SLOT_OCCUPIED,
        R.TOO_FEW_CARDS,
        R.CARDS_IN_REACH,
    }
    assert reported - {OK} == refusals - elsewhere, "the others are tried below and in tests/scenario/test_shoe.py"


@pytest.mark.parametrize(
    "name", [name for name in COLUMNS if name not in ("Stop", "Reset", "StartRound", "ReleaseCards")]
)
async def test_an_open_door_refuses_every_motion(seed: int, name: str) -> None:
    async with shoe_bench(seed) as b:
        b.inject("door:to=open")
        assert await give(b, name) is R.DOOR_OPEN


@pytest.mark.parametrize("name", ["Load", "Dispense", "CountStub", "ClearJam"])
async def test_a_dark_path_refuses_every_motion(seed: int, name: str) -> None:
    async with shoe_bench(seed, loaded=name != "Load") as b:
        b.inject("dust:sensor=draw,percent=90")
        assert await give(b, name) is R.PATH_BLOCKED


async def test_without_cards_there_is_nothing_to_load(seed: int) -> None:
    async with shoe_bench(seed) as b, manual_shoe_bench(seed) as by_hand:
        await give(b, "CountStub")
        by_hand.inject("lift")
        for bench in (b, by_hand):
            assert await give(bench, "Load") is R.NOTHING_LOADED


async def test_the_first_reason_of_the_page_is_given(seed: int) -> None:
    """Slot occupied, too few cards, door open, a stack too large: each hides the later ones on the page."""
    async with shoe_bench(seed) as b:
        for _ in range(5):
            await dispensed(b, 10)
            b.inject("take")
        await dispensed(b, 1)
        assert await give(b, "Dispense") is R.SLOT_OCCUPIED
        b.inject("take")
        assert await give(b, "Dispense") is R.TOO_FEW_CARDS
        b.inject("dust:sensor=exit,percent=90")
        assert await give(b, "Dispense") is R.PATH_BLOCKED
        b.inject("door")
        assert await give(b, "Dispense") is R.DOOR_OPEN
        command = b.next_id()
        with pytest.raises(CommandRefused) as refusal:
            await b.driver.actuate(m.Dispense(command, 11), command)
        assert refusal.value.reason == R.STACK_SIZE


async def test_a_motor_is_not_jogged_where_cards_are_in_its_reach(seed: int) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        for motor, reason in ((m.Motor.FEED, R.CARDS_IN_REACH), (m.Motor.DRAW, OK), (m.Motor.TRANSPORT, OK)):
            assert await _jog(b, motor) is reason, "the deck lies in the intake"
        await give(b, "Load")
        assert await _jog(b, m.Motor.FEED) is OK
        assert await _jog(b, m.Motor.DRAW) is R.CARDS_IN_REACH
        b.inject("dust:sensor=exit,percent=90")
        assert await _jog(b, m.Motor.TRANSPORT) is R.PATH_BLOCKED


async def _jog(b: Shoe, motor: m.Motor) -> m.Reason:
    try:
        await b.driver.jog(b.next_id(), motor)
    except CommandRefused as refused:
        return m.Reason(refused.reason)
    return OK


# --- golden requests -----------------------------------------------------------------------------------------

REPLIES: Final[dict[str, type[Message]]] = {
    "GetReport": Report,
    "AskCommand": Settled,
    "GetStatus": m.Status,
    "GetSensors": m.Sensors,
    "GetTransits": m.Transits,
    "GetEdgeLog": EdgeLog,
    "Load": Accepted,
    "Dispense": Settled,  # refused: nothing is loaded
    "CountStub": Settled,  # likewise
    "StartRound": Settled,  # refused: this model cannot
    "Stop": Settled,
    "SelfTest": Accepted,
    "ClearJam": Accepted,
    "Jog": Accepted,
    "Reset": Settled,
    "ReleaseCards": Settled,  # refused: it has no reader
}


def test_every_request_has_an_expected_reply() -> None:
    assert set(REPLIES) == {cls.__name__ for cls in get_args(m.ToDevice)}


@pytest.mark.parametrize("name", list(REPLIES))
async def test_a_golden_request_gets_a_reply_of_the_expected_type(seed: int, name: str) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        reply = await b.driver.require_link().request(decoder(m.ToDevice).decode(payload(name, m.KIND)), 0.5)
        assert type(reply) is REPLIES[name]
