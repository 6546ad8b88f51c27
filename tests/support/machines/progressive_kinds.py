"""The machines of the progressive system, each with its commands and their preconditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from devices.bet_sensor import messages as bs
from devices.keypad import messages as kp
from devices.kinds import BET_SENSOR, KEYPAD, METER_SIGN, AnyKind
from devices.meter_sign import messages as ms
from simulators.casino.device_bench import DeviceBench
from simulators.kinds.bet_sensor.machine import SimulatedBetSensor
from simulators.kinds.keypad.machine import SimulatedKeypad
from simulators.kinds.meter_sign.machine import SimulatedMeterSign
from tests.support.machines.bench import device_bench
from tests.support.machines.card_checks import run_command

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager


AnyBench = DeviceBench[Any, Any, Any]


class KindCase:
    """One kind: its questions and actuations by the driver's method, and the message that each sends."""

    def __init__(
        self,
        kind: AnyKind,
        machine: type[Any],
        questions: dict[str, str],
        actuations: dict[str, tuple[str, Callable[[AnyBench, int], Awaitable[Any]]]],
        ready: dict[str, Callable[[AnyBench], Awaitable[None]]],
        done: dict[str, Callable[[AnyBench], bool]],
    ) -> None:
        self.kind = kind
        self.machine = machine
        self.questions = questions | {
            "outcome": "AskCommand", "query_outcome": "AskCommand",
            "report": "GetReport", "read_inventory": "GetStatus",
        }  # fmt: skip
        self.messages = {method: message for method, (message, _) in actuations.items()}
        self._calls = {method: call for method, (_, call) in actuations.items()}
        self._ready = ready
        self._done = done

    def bench(self, seed: int, rung: str = "clean") -> AbstractAsyncContextManager[AnyBench]:
        """Return a machine of this kind on its bench."""
        return device_bench(self.machine(seed=seed), self.kind, rung)

    def call(self, s: AnyBench, method: str, command: int) -> Awaitable[Any]:
        """Call a method of the driver by name, with its arguments."""
        if method in self._calls:
            return self._calls[method](s, command)
        if method in ("outcome", "query_outcome"):
            asked: Awaitable[Any] = getattr(s.driver, method)(command)
            return asked
        answer: Awaitable[Any] = getattr(s.driver, method)()
        return answer

    async def get_ready_for(self, s: AnyBench, method: str) -> None:
        """Bring the machine to where the actuation is not refused."""
        if method in self._ready:
            await self._ready[method](s)

    def was_done(self, s: AnyBench, method: str) -> bool:
        """Return whether the actuation was really carried out."""
        return self._done[method](s)


async def _open(s: AnyBench) -> None:
    await run_command(s, lambda command: s.driver.open(command, 7))


async def _locked(s: AnyBench) -> None:
    await _open(s)
    s.inject("place_bet")
    await s.driver.lock(7, 900)


async def _placed(s: AnyBench) -> None:
    await _open(s)
    s.inject("place_bet")


async def _showing(s: AnyBench) -> None:
    await run_command(s, lambda command: s.driver.show(command, 1, 100))


SENSOR: Final = KindCase(
    BET_SENSOR,
    SimulatedBetSensor,
    {"status": "GetStatus", "health": "GetHealth"},
    {
        "open": ("Open", lambda s, command: s.driver.open(command, 7)),
        "unlock": ("Unlock", lambda s, command: s.driver.unlock(command, 900)),
        "light": ("SetLight", lambda s, command: s.driver.light(command, bs.Light.ACKNOWLEDGED, 1)),
        "self_test": ("SelfTest", lambda s, command: s.driver.self_test(command)),
        "reset": ("Reset", lambda s, command: s.driver.reset(command)),
    },
    {"unlock": _locked, "light": _placed},
    {
        "open": lambda s: s.machine.firmware.state is bs.State.AWAITING,
        "unlock": lambda s: s.machine.firmware.state is bs.State.NONE,
        "light": lambda s: s.machine.spot.light is bs.Light.ACKNOWLEDGED,
        "self_test": lambda s: len(s.events_of(bs.SelfTested)) == 1,
    },
)
PAD: Final = KindCase(
    KEYPAD,
    SimulatedKeypad,
    {"status": "GetStatus"},
    {
        "show": ("Show", lambda s, command: s.driver.show(command, kp.KeypadPrompt.SEATS, ["Seats?"])),
        "set_lamps": ("SetLamps", lambda s, command: s.driver.set_lamps(command, kp.Lamp.LOCK_OUT)),
        "self_test": ("SelfTest", lambda s, command: s.driver.self_test(command)),
        "reset": ("Reset", lambda s, command: s.driver.reset(command)),
    },
    {},
    {
        "show": lambda s: s.machine.mechanics.display_text == ("Seats?",),
        "set_lamps": lambda s: s.machine.mechanics.lamps == {kp.Lamp.LOCK_OUT},
        "self_test": lambda s: len(s.events_of(kp.SelfTested)) == 1,
    },
)
SIGN: Final = KindCase(
    METER_SIGN,
    SimulatedMeterSign,
    {"status": "GetStatus", "shown": "GetShown"},
    {
        "show": ("Show", lambda s, command: s.driver.show(command, 1, 12345)),
        "set_limit": ("SetLimit", lambda s, command: s.driver.set_limit(command, 60_000)),
        "blank": ("Blank", lambda s, command: s.driver.blank(command)),
        "self_test": ("SelfTest", lambda s, command: s.driver.self_test(command)),
        "reset": ("Reset", lambda s, command: s.driver.reset(command)),
    },
    {"blank": _showing},
    {
        "show": lambda s: s.machine.glass.read(ms.Row.VALUE).strip() == "12345",
        "set_limit": lambda s: s.machine.firmware.handle(ms.GetStatus()).limit_ms == 60_000,
        "blank": lambda s: s.machine.glass.read(ms.Row.VALUE) == "-" * ms.DIGITS,
        "self_test": lambda s: len(s.events_of(ms.SelfTested)) == 1,
    },
)
CASES: Final = {case.kind.name: case for case in (SENSOR, PAD, SIGN)}
QUESTIONS: Final = [(name, method) for name, case in CASES.items() for method in case.questions]
ACTUATIONS: Final = [(name, method) for name, case in CASES.items() for method in case.messages]
