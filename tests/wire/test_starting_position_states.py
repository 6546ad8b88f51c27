"""States, refusals and values of shaker, generator and button, as on their pages, on simulated firmware."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec
import pytest

from devices.button import messages as button
from devices.kinds import KINDS
from devices.rng import messages as rng
from devices.shaker import messages as shaker
from firmware_bridge.commands import Accepted, Report, Settled
from firmware_bridge.errors import CommandFailed, CommandRefused, OutcomeUnknown
from firmware_bridge.messages import decoder
from tests.support.machines.start_devices import BENCHES, AnyBench, roll_and_uncover
from tests.support.wire.golden import payload
from tests.wire import reference_codec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from enum import IntEnum

    Call = Callable[[AnyBench], Awaitable[object]]

# Each kind's commands by their messages.
COMMANDS: Final[dict[str, dict[str, Call]]] = {
    "shaker": {
        "Arm": lambda b: b.driver.arm(b.next_id()),
        "SelfTest": lambda b: b.driver.self_test(b.next_id()),
        "Disarm": lambda b: b.driver.disarm(b.next_id()),
        "Reset": lambda b: b.driver.reset(b.next_id()),
    },
    "rng": {
        "Draw": lambda b: b.driver.draw(b.next_id()),
        "Clear": lambda b: b.driver.clear(b.next_id()),
        "SelfTest": lambda b: b.driver.self_test(b.next_id()),
        "Reset": lambda b: b.driver.reset(b.next_id()),
    },
    "button": {
        "SelfTest": lambda b: b.driver.self_test(b.next_id()),
        "Reset": lambda b: b.driver.reset(b.next_id()),
    },
}
S, R, B = shaker.Reason, rng.Reason, button.Reason
# The tables of the pages: what each command of the list above gets in each state.
EXPECTED: Final[dict[str, dict[IntEnum, tuple[IntEnum, ...]]]] = {
    "shaker": {
        shaker.State.RESTING: (S.NONE, S.NONE, S.NONE, S.NONE),
        shaker.State.ARMED: (S.BUSY, S.BUSY, S.NONE, S.NONE),
        shaker.State.SETTLING: (S.BUSY, S.BUSY, S.NONE, S.NONE),
        shaker.State.TESTING: (S.BUSY, S.BUSY, S.NONE, S.NONE),
        shaker.State.FAULTY: (S.SELF_TEST_FAILED, S.NONE, S.NONE, S.NONE),
    },
    "rng": {
        rng.State.IDLE: (R.NONE, R.NONE, R.NONE, R.NONE),
        rng.State.DRAWING: (R.BUSY, R.BUSY, R.BUSY, R.NONE),
        rng.State.SHOWING: (R.NUMBER_SHOWN, R.NONE, R.NUMBER_SHOWN, R.NONE),
        rng.State.TESTING: (R.BUSY, R.BUSY, R.BUSY, R.NONE),
        rng.State.FAILED: (R.NOT_HEALTHY, R.NONE, R.NONE, R.NONE),
    },
    "button": {
        button.State.WATCHING: (B.NONE, B.NONE),
        button.State.TESTING: (B.BUSY, B.NONE),
        button.State.FAULTY: (B.NONE, B.NONE),
    },
}
PAIRS: Final = [(kind, state, name) for kind, states in EXPECTED.items() for state in states for name in COMMANDS[kind]]


def test_the_tables_have_every_state_and_every_command() -> None:
    for kind, states in EXPECTED.items():
        messages = KINDS[kind].messages
        assert set(states) == set(messages.State)
        assert set(COMMANDS[kind]) == {message.__name__ for message in get_args(messages.Actuation)}


async def _state(b: AnyBench) -> IntEnum:
    question = b.driver.where if b.machine.kind == "button" else b.driver.status
    result: IntEnum = (await question()).state
    return result


async def _begin(b: AnyBench, name: str, state: IntEnum) -> asyncio.Task[object]:
    async def run() -> object:
        return await COMMANDS[b.machine.kind][name](b)

    task = asyncio.create_task(run())
    for _ in range(100):
        await asyncio.sleep(0.01)
        if await _state(b) is state:
            return task
    raise AssertionError(f"never {state.name}")


async def _bring_to(b: AnyBench, state: IntEnum) -> asyncio.Task[object] | None:
    """Bring a machine into a state; return the command that keeps it there, if one runs."""
    match b.machine.kind, state.name:
        case _, "TESTING":
            return await _begin(b, "SelfTest", state)
        case "rng", "DRAWING":
            return await _begin(b, "Draw", state)
        case "shaker", "ARMED":
            await b.driver.arm(b.next_id())
        case "shaker", "SETTLING":
            b.inject("tremble:seconds=6")
            await roll_and_uncover(b)
            await asyncio.sleep(0.2)
        case "rng", "SHOWING":
            await b.driver.draw(b.next_id())
        case kind, "FAULTY" | "FAILED":
            b.inject({"shaker": "deaf", "rng": "noise_dead", "button": "dead_sensor"}[kind])
            with pytest.raises(CommandFailed):
                await b.driver.self_test(b.next_id())
    return None


@pytest.mark.parametrize(("kind", "state", "name"), PAIRS, ids=lambda part: getattr(part, "name", part))
async def test_every_state_refuses_what_the_page_lists(seed: int, kind: str, state: IntEnum, name: str) -> None:
    async with BENCHES[kind](seed) as b:
        running = await _bring_to(b, state)
        assert await _state(b) is state
        reason = 0
        try:
            await COMMANDS[kind][name](b)
        except CommandRefused as refused:
            reason = refused.reason
        except CommandFailed:
            assert state.name in ("FAULTY", "FAILED"), "it began, and found again what is wrong"
        assert reason == EXPECTED[kind][state][list(COMMANDS[kind]).index(name)]
        if running is not None:
            with contextlib.suppress(CommandFailed, OutcomeUnknown):
                await running


@pytest.mark.parametrize(
    ("hands", "reason"),
    [
        (["door", "lid"], S.DOOR_OPEN),
        (["lid"], S.LID_OFF),
        (["lid", "remove_die"], S.LID_OFF),
        (["lid", "remove_die", "lid:to=on"], S.NOT_THREE_DICE),
        (["drift:percent=15"], S.NOT_THREE_DICE),
    ],
)
async def test_a_roll_begins_only_under_the_lid_with_three_dice_and_a_closed_door(
    seed: int, hands: list[str], reason: IntEnum
) -> None:
    async with BENCHES["shaker"](seed) as b:
        for each in hands:
            b.inject(each)
        with pytest.raises(CommandRefused) as refused:
            await b.driver.arm(b.next_id())
        assert refused.value.reason == reason
        assert (await b.driver.status()).roll is None


# --- golden requests -------------------------------------------------------------------------------------------------

REPLIES: Final[dict[str, dict[str, type[Any]]]] = {
    "shaker": {
        "GetStatus": shaker.Status,
        "GetSensors": shaker.Sensors,
        "GetRoll": shaker.Roll,
        "Arm": Settled,
        "Disarm": Settled,
        "SelfTest": Accepted,
        "Reset": Settled,
    },
    "rng": {
        "GetStatus": rng.Status,
        "GetHealth": rng.Health,
        "GetDraw": rng.PastDraw,
        "Draw": Accepted,
        "Clear": Settled,
        "SelfTest": Accepted,
        "Reset": Settled,
    },
    "button": {
        "GetStatus": button.Status,
        "GetSensors": button.Sensors,
        "SelfTest": Accepted,
        "Reset": Settled,
    },
}
_EVERY: Final[dict[str, type[Any]]] = {"GetReport": Report, "AskCommand": Settled}


@pytest.mark.parametrize("kind", REPLIES)
def test_every_request_has_an_expected_reply(kind: str) -> None:
    assert set(REPLIES[kind] | _EVERY) == {cls.__name__ for cls in get_args(KINDS[kind].messages.ToDevice)}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in REPLIES for name in REPLIES[kind] | _EVERY])
async def test_a_golden_request_gets_a_reply_of_the_expected_type(seed: int, kind: str, name: str) -> None:
    async with BENCHES[kind](seed) as b:
        request = decoder(KINDS[kind].messages.ToDevice).decode(payload(name, kind))
        link = b.supervisor.link
        assert link is not None
        assert type(await link.request(request, 1.0)) is (REPLIES[kind] | _EVERY)[name]


# --- what no frame may carry -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "payload", "why"),
    [
        ("shaker", [140, 7, 3, [7, 1, 1], [True] * 3], "no die has a seven"),
        ("shaker", [140, 7, 3, [0, 1, 1], [True] * 3], "no die has a zero"),
        ("shaker", [140, 7, 3, [6, 1], [True] * 3], "three dice, not two"),
        ("shaker", [140, 7, 3, [6, 1, 1, 1], [True] * 3], "three dice, not four"),
        ("shaker", [140, 7, 3, [6, None, 1], [True] * 3], "every die has a face"),
        ("shaker", [140, 7, 3, [6, 1, 1], [True] * 2], "every die is flat or not"),
        ("shaker", [141, 7, 468, 3, 3, 3], "not a shaker's reason"),
        ("shaker", [137, 7, 4, 3, None, 0], "there is no ending 4"),
        ("shaker", [135, 5, True, False, 3, 0, None, None, False, 0, 0, 0], "there is no state 5"),
        ("rng", [154, 7, 0, 0], "no number zero"),
        ("rng", [154, 7, 8, 127], "no number eight"),
        ("rng", [154, 7, None, 0], "a draw that was drawn has a number"),
        ("rng", [153, 7, 8], "no number eight"),
        ("rng", [151, 2, 7, 0, 0, 1, 0], "no number zero"),
        ("rng", [155, 460, 1], "not a generator's reason"),
        ("button", [166, 1, 8, 0], "there is no place eight"),
        ("button", [166, 0, 1, 0], "there is no place zero"),
        ("button", [164, 0, 8, 0, 0], "there is no place eight"),
        ("button", [165, [40] * 6, 280, 600], "seven places, not six"),
        ("button", [167, 8, 256], "seven places fit in a byte"),
    ],
)
def test_impossible_values_are_refused_by_the_decoder(kind: str, payload: list[Any], why: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        KINDS[kind].decoder.decode(reference_codec.pack(payload))
