"""States and refusals of bet sensor, keypad and sign, as on their pages, on simulated firmware over real links."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, get_args

import pytest

from devices.bet_sensor import messages as bs
from devices.driver_events import LinkDown
from devices.keypad import messages as kp
from devices.meter_sign import messages as ms
from firmware_bridge.commands import Accepted, Report, Settled
from firmware_bridge.errors import CommandRefused, ConfigurationError, LinkError
from firmware_bridge.messages import decoder
from tests.support.machines.progressive_kinds import CASES, PAD, SENSOR, SIGN, AnyBench
from tests.support.wire.golden import payload

if TYPE_CHECKING:
    from collections.abc import Awaitable

OK: Final = 0


async def refusal_of(call: Awaitable[object]) -> int:
    """Return the reason why a command was refused, 0 if it was not."""
    try:
        await call
    except CommandRefused as refused:
        return refused.reason
    return OK


# --- golden requests on simulated firmware -------------------------------------------------------------------

REPLIES: Final[dict[str, dict[str, type]]] = {
    "bet_sensor": {
        "GetStatus": bs.Status,
        "GetHealth": bs.Health,
        "Open": Settled,
        "Lock": bs.LockRefused,  # nothing is open
        "Unlock": Settled,
        "SetLight": Settled,
        "SelfTest": Accepted,
        "Reset": Settled,
    },
    "keypad": {
        "GetStatus": kp.Status,
        "Show": Settled,
        "SetLamps": Settled,
        "SelfTest": Accepted,
        "Reset": Settled,
    },
    "meter_sign": {
        "GetStatus": ms.Status,
        "GetShown": ms.Shown,
        "Show": Settled,
        "SetLimit": Settled,
        "Blank": Settled,
        "SelfTest": Accepted,
        "Reset": Settled,
    },
}
LINK: Final = {"GetReport": Report, "AskCommand": Settled}
REQUESTS: Final = [(kind, name) for kind, replies in REPLIES.items() for name in {**replies, **LINK}]


@pytest.mark.parametrize("kind", CASES)
def test_every_request_has_an_expected_reply(kind: str) -> None:
    named = {cls.__name__ for cls in get_args(CASES[kind].kind.messages.ToDevice)}
    assert named == set(REPLIES[kind]) | set(LINK)


@pytest.mark.parametrize(("kind", "name"), REQUESTS)
async def test_a_golden_request_gets_a_reply_of_the_expected_type(seed: int, kind: str, name: str) -> None:
    case = CASES[kind]
    async with case.bench(seed) as s:
        message = decoder(case.kind.messages.ToDevice).decode(payload(name, kind))
        reply = await s.driver.require_link().request(message, 1.0)
        assert type(reply) is {**REPLIES[kind], **LINK}[name]


@pytest.mark.parametrize("kind", CASES)
async def test_a_message_of_another_kind_ends_the_session(seed: int, kind: str) -> None:
    other = bs.Open(7, 12) if kind != "bet_sensor" else kp.SetLamps(7, 1)
    async with CASES[kind].bench(seed) as s:
        with pytest.raises(LinkError):
            await s.driver.require_link().request(other, 1.0)
        assert s.events_of(LinkDown)
        assert not s.machine.board.memory.recent()
        await s.until_reported()


# --- the bet sensor: every state, every command ----------------------------------------------------------------

R: Final = bs.Reason
SENSOR_COMMANDS: Final[dict[str, Any]] = {
    "Open 7": lambda s: s.driver.open(s.next_id(), 7),
    "Open 8": lambda s: s.driver.open(s.next_id(), 8),
    "Open 0": lambda s: s.driver.open(s.next_id(), 0),
    "Unlock 900": lambda s: s.driver.unlock(s.next_id(), 900),
    "Unlock 901": lambda s: s.driver.unlock(s.next_id(), 901),
    "off": lambda s: s.driver.light(s.next_id(), bs.Light.OFF),
    "acknowledged 1": lambda s: s.driver.light(s.next_id(), bs.Light.ACKNOWLEDGED, 1),
    "acknowledged 2": lambda s: s.driver.light(s.next_id(), bs.Light.ACKNOWLEDGED, 2),
    "accepted 1": lambda s: s.driver.light(s.next_id(), bs.Light.ACCEPTED, 1),
    "accepted 2": lambda s: s.driver.light(s.next_id(), bs.Light.ACCEPTED, 2),
    "SelfTest": lambda s: s.driver.self_test(s.next_id()),
    "Reset": lambda s: s.driver.reset(s.next_id()),
}
_NO_LIGHT: Final = (OK, R.NO_SUCH_BET, R.NO_SUCH_BET, R.NO_SUCH_BET, R.NO_SUCH_BET)
_NO_LOCK: Final = (R.OTHER_LOCK, R.OTHER_LOCK)
# Rows: how the sensor was brought there. "bet" is the change with number 1.
SENSOR_TABLE: Final[dict[str, tuple[int, ...]]] = {
    "none": (OK, OK, R.WRONG_ROUND, *_NO_LOCK, *_NO_LIGHT, OK, OK),
    "none, chip": (R.SPOT_OCCUPIED, R.SPOT_OCCUPIED, R.WRONG_ROUND, *_NO_LOCK, *_NO_LIGHT, R.SPOT_OCCUPIED, OK),
    "awaiting": (OK, OK, R.WRONG_ROUND, *_NO_LOCK, *_NO_LIGHT, R.BUSY, OK),
    "placed": (R.SPOT_OCCUPIED, R.SPOT_OCCUPIED, R.WRONG_ROUND, *_NO_LOCK, OK, OK, R.NO_SUCH_BET, R.NO_SUCH_BET,
               R.NO_SUCH_BET, R.BUSY, OK),
    "locked": (R.WRONG_ROUND, OK, R.WRONG_ROUND, OK, R.OTHER_LOCK, *_NO_LIGHT, R.BUSY, OK),
    "locked, bet": (R.WRONG_ROUND, R.SPOT_OCCUPIED, R.WRONG_ROUND, OK, R.OTHER_LOCK, OK, R.NO_SUCH_BET, R.NO_SUCH_BET,
                    OK, R.NO_SUCH_BET, R.BUSY, OK),
    "unlocked": (R.WRONG_ROUND, OK, R.WRONG_ROUND, *_NO_LOCK, *_NO_LIGHT, OK, OK),
    "testing": (*([R.BUSY] * 11), OK),
    "unread": (R.SENSING_FAILED, R.SENSING_FAILED, R.WRONG_ROUND, *_NO_LOCK, *_NO_LIGHT, OK, OK),
}  # fmt: skip
STATES: Final = {
    "none": bs.State.NONE,
    "none, chip": bs.State.NONE,
    "awaiting": bs.State.AWAITING,
    "placed": bs.State.PLACED,
    "locked": bs.State.LOCKED,
    "locked, bet": bs.State.LOCKED,
    "unlocked": bs.State.NONE,
    "testing": bs.State.TESTING,
    "unread": bs.State.NONE,
}


async def bring_sensor_to(s: AnyBench, row: str) -> asyncio.Task[Any] | None:
    if row == "none, chip":
        s.inject("place_bet")
    elif row == "unread":
        s.inject("interference")
        s.inject("interference:noise=0")  # quiet again, but a self-test must confirm it
    elif row == "testing":
        testing: asyncio.Task[Any] = SENSOR_COMMANDS["SelfTest"](s)
        await asyncio.sleep(0.1)
        return testing
    if row in ("awaiting", "placed", "locked", "locked, bet", "unlocked"):
        await SENSOR_COMMANDS["Open 7"](s)
        if row in ("placed", "locked, bet"):
            s.inject("place_bet")
        if row in ("locked", "locked, bet", "unlocked"):
            await s.driver.lock(7, 900)
        if row == "unlocked":
            await SENSOR_COMMANDS["Unlock 900"](s)
    return None


@pytest.mark.parametrize("name", SENSOR_COMMANDS)
@pytest.mark.parametrize("row", SENSOR_TABLE)
async def test_every_state_of_a_bet_sensor_refuses_what_its_page_lists(seed: int, row: str, name: str) -> None:
    async with SENSOR.bench(seed) as s:
        running = await bring_sensor_to(s, row)
        assert (await s.driver.status()).state is STATES[row]
        truth, latched = s.machine.true_counts(), list(s.machine.latched)
        expected = SENSOR_TABLE[row][list(SENSOR_COMMANDS).index(name)]
        if row == "unread" and name == "SelfTest":
            await refusal_of(SENSOR_COMMANDS[name](s))  # it may pass or fail; it is not refused
            return
        assert await refusal_of(SENSOR_COMMANDS[name](s)) == expected
        assert (s.machine.true_counts(), s.machine.latched) == (truth, latched)
        if running is not None:
            await asyncio.wait({running})
            running.exception()


LOCKS: Final = {(7, 900): 0, (7, 901): 1, (8, 900): 2, (8, 901): 3}
LOCK_TABLE: Final[dict[str, tuple[int, ...]]] = {
    "none": (R.NOT_OPEN,) * 4,
    "none, chip": (R.NOT_OPEN,) * 4,
    "awaiting": (OK, OK, R.WRONG_ROUND, R.WRONG_ROUND),
    "placed": (OK, OK, R.WRONG_ROUND, R.WRONG_ROUND),
    "locked": (OK, R.OTHER_LOCK, R.WRONG_ROUND, R.WRONG_ROUND),
    "locked, bet": (OK, R.OTHER_LOCK, R.WRONG_ROUND, R.WRONG_ROUND),
    "unlocked": (R.NOT_OPEN,) * 4,
    "testing": (R.NOT_OPEN,) * 4,
    "unread": (R.NOT_OPEN,) * 4,
}


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("row", LOCK_TABLE)
async def test_a_lock_in_every_state_is_confirmed_or_refused_and_never_leaves_bets_open(
    seed: int, row: str, lock: tuple[int, int]
) -> None:
    async with SENSOR.bench(seed) as s:
        running = await bring_sensor_to(s, row)
        before = (await s.driver.status()).latch
        answer = await s.driver.lock(*lock)
        reason = answer.reason if isinstance(answer, bs.LockRefused) else OK
        assert reason == LOCK_TABLE[row][LOCKS[lock]]
        status = await s.driver.status()
        assert status.state not in (bs.State.AWAITING, bs.State.PLACED)
        if before is not None:
            assert status.latch == answer.latch == before, "what was latched stays"
        assert await s.driver.lock(*lock) == answer or isinstance(answer, bs.LockRefused)
        asked = await s.driver.outcome(lock[1])
        assert (asked.reason, asked.command) == (reason, lock[1]) or lock[1] == 900
        if running is not None:
            await running


# --- the keypad ------------------------------------------------------------------------------------------------

PAD_COMMANDS: Final[dict[str, Any]] = {
    "ask": lambda s: s.driver.show(s.next_id(), kp.KeypadPrompt.STUB_COUNT, ["Stub count?"]),
    "show": lambda s: s.driver.show(s.next_id(), kp.KeypadPrompt.NOTHING, ["Good evening"]),
    "SetLamps": lambda s: s.driver.set_lamps(s.next_id(), kp.Lamp.ATTENTION),
    "SelfTest": lambda s: s.driver.self_test(s.next_id()),
    "Reset": lambda s: s.driver.reset(s.next_id()),
}
K: Final = kp.Reason
PAD_TABLE: Final[dict[str, tuple[int, ...]]] = {
    "idle": (OK, OK, OK, OK, OK),
    "idle, off": (K.SWITCHED_OFF, OK, OK, OK, OK),
    "idle, technician": (K.SWITCHED_OFF, OK, OK, OK, OK),
    "idle, floor": (OK, OK, OK, OK, OK),
    "idle, key held": (OK, OK, OK, K.KEY_HELD, OK),
    "asking": (OK, OK, OK, K.BUSY, OK),
    "testing": (K.BUSY, K.BUSY, K.BUSY, K.BUSY, OK),
}


@pytest.mark.parametrize("name", PAD_COMMANDS)
@pytest.mark.parametrize("row", PAD_TABLE)
async def test_every_state_of_a_keypad_refuses_what_its_page_lists(seed: int, row: str, name: str) -> None:
    async with PAD.bench(seed) as s:
        running = None
        if row.startswith("idle, ") and "key" not in row:
            s.inject(f"turn:to={row[6:]}")
        elif "key" in row:
            s.inject("stuck_key:key=enter")
        elif row == "asking":
            await PAD_COMMANDS["ask"](s)
        elif row == "testing":
            running = PAD_COMMANDS["SelfTest"](s)
            await asyncio.sleep(0.1)
        assert (await s.driver.status()).state.name.lower() == row.partition(",")[0]
        assert await refusal_of(PAD_COMMANDS[name](s)) == PAD_TABLE[row][list(PAD_COMMANDS).index(name)]
        if running is not None:
            await asyncio.wait({running})
            running.exception()


@pytest.mark.parametrize("lines", [["x" * 21], ["a"] * 5, ["caf\u00e9"], ["tab\t"]])
async def test_text_that_no_keypad_can_show_is_refused_before_it_is_sent(seed: int, lines: list[str]) -> None:
    async with PAD.bench(seed) as s:
        with pytest.raises(ConfigurationError):
            await s.driver.show(s.next_id(), kp.KeypadPrompt.NOTHING, lines)
        assert s.machine.mechanics.display_text == ()


# --- the meter sign ----------------------------------------------------------------------------------------------

SIGN_COMMANDS: Final[dict[str, Any]] = {
    "Show 5": lambda s: s.driver.show(s.next_id(), 5, 100),
    "Show 1": lambda s: s.driver.show(s.next_id(), 1, 100),
    "too large": lambda s: s.driver.show(s.next_id(), 6, 10**10),
    "SetLimit": lambda s: s.driver.set_limit(s.next_id(), 60_000),
    "SetLimit 0": lambda s: s.driver.set_limit(s.next_id(), 0),
    "Blank": lambda s: s.driver.blank(s.next_id()),
    "SelfTest": lambda s: s.driver.self_test(s.next_id()),
    "Reset": lambda s: s.driver.reset(s.next_id()),
}
M: Final = ms.Reason
SIGN_TABLE: Final[dict[str, tuple[int, ...]]] = {
    "blank": (OK, OK, M.TOO_LARGE, OK, M.NO_LIMIT, OK, OK, OK),
    "showing": (OK, M.OLD_SEQUENCE, M.TOO_LARGE, OK, M.NO_LIMIT, OK, OK, OK),
    "stale": (OK, M.OLD_SEQUENCE, M.TOO_LARGE, OK, M.NO_LIMIT, OK, OK, OK),
    "testing": (*([M.BUSY] * 7), OK),
}


@pytest.mark.parametrize("name", SIGN_COMMANDS)
@pytest.mark.parametrize("row", SIGN_TABLE)
async def test_every_state_of_a_sign_refuses_what_its_page_lists(seed: int, row: str, name: str) -> None:
    async with SIGN.bench(seed) as s:
        running = None
        if row in ("showing", "stale"):
            await SIGN_COMMANDS["Show 1"](s)
            await asyncio.sleep(6 if row == "stale" else 0.1)
        elif row == "testing":
            running = SIGN_COMMANDS["SelfTest"](s)
            await asyncio.sleep(0.1)
        shown = await s.driver.shown()
        assert shown.state.name.lower() == row
        expected = SIGN_TABLE[row][list(SIGN_COMMANDS).index(name)]
        assert await refusal_of(SIGN_COMMANDS[name](s)) == expected
        if expected:
            assert await s.driver.shown() == shown, "what is refused changes nothing"
        if running is not None:
            await asyncio.wait({running})
            running.exception()


@pytest.mark.parametrize("amounts", [(-1, 0, 0), (0, -5, 0), (1 << 63, 0, 0), (1.5, 0, 0)])
async def test_amounts_that_are_no_cents_are_refused_before_they_are_sent(seed: int, amounts: tuple[Any, ...]) -> None:
    async with SIGN.bench(seed) as s:
        with pytest.raises(ConfigurationError):
            await s.driver.show(s.next_id(), 1, *amounts)
        assert (await s.driver.status()).sequence == 0
