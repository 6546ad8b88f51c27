"""Operators for manual steps (insert cards, open a door, cut the power): a person, a simulator, or none."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from devices.conformance.requirements import NotChecked
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import SimulatorNotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# How long (s) to wait for a person, who may have to fetch a deck.
PERSON_TIMEOUT_S: Final = 300.0
# How long (s) to wait for a simulator, which answers at once.
SIMULATOR_TIMEOUT_S: Final = 2.0


class ManualStep(msgspec.Struct, frozen=True):
    """A manual step: the sentence for a person, and the same step as faults for a simulator."""

    sentence: str
    faults: tuple[str, ...]


class Operator(Protocol):
    """Does manual steps at the machine."""

    name: str
    effect_timeout_s: float  # seconds that a check waits for the effect of `now`

    async def perform(self, step: ManualStep) -> None:
        """Do a step, and return when it is done; NotChecked if it cannot be done."""

    async def request_now(self, step: ManualStep) -> None:
        """Request a step while the machine moves, and return at once; the check waits for its effect."""


class NoOperator:
    """No operator: requirements that need one are not checked."""

    name = "nobody"
    effect_timeout_s = 0.0

    async def perform(self, step: ManualStep) -> None:
        """Raise NotChecked."""
        raise NotChecked(f"needs an operator: {step.sentence}")

    request_now = perform


class SimulatorOperator:
    """A simulator, which does the steps itself, through its control socket: one JSON object per line."""

    name = "a simulator's own hands"
    effect_timeout_s = 30.0

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        if not socket.is_socket():
            raise SimulatorNotFound(f"{socket}: no simulator listens there")

    async def perform(self, step: ManualStep) -> None:
        """Inject the step's faults into the simulator."""
        for word in step.faults:
            answer = await self._ask({"do": "inject", "fault": word})
            if "error" in answer:
                raise NotChecked(f"the simulator cannot do this: {answer['error']}")

    request_now = perform

    async def _ask(self, request: dict[str, str]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(SIMULATOR_TIMEOUT_S):
                reader, writer = await asyncio.open_unix_connection(self._socket)
                try:
                    writer.write(msgspec.json.encode(request) + b"\n")
                    return msgspec.json.decode(await reader.readline(), type=dict[str, Any])
                finally:
                    writer.close()
        except (OSError, TimeoutError, *UNDECODABLE) as error:
            raise NotChecked(f"the simulator does not answer at {self._socket}: {error}") from error


class TerminalOperator:
    """The person at this terminal. Enter alone means done; any text before it means that it cannot be done."""

    name = "a person"
    effect_timeout_s = 120.0

    def __init__(self, show: Callable[[str], None], stdin: Any = None) -> None:
        self._show = show
        self._stdin = stdin or sys.stdin

    async def perform(self, step: ManualStep) -> None:
        """Ask the person, and wait for Enter."""
        self._show(f"please {step.sentence}, then press Enter (or type no and press Enter)")
        if (await self._line()).strip():
            raise NotChecked(f"could not be done by hand: {step.sentence}")

    async def request_now(self, step: ManualStep) -> None:
        """Ask the person to do it now."""
        self._show(f"NOW please {step.sentence}")

    async def _line(self) -> str:
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[str] = loop.create_future()

        def readable() -> None:
            line = self._stdin.readline()
            if not typed.done():
                typed.set_result(line)

        loop.add_reader(self._stdin, readable)
        try:
            async with asyncio.timeout(PERSON_TIMEOUT_S):
                line = await typed
        except TimeoutError:
            raise NotChecked(f"no answer within {PERSON_TIMEOUT_S:g} s") from None
        finally:
            loop.remove_reader(self._stdin)
        if not line:
            raise NotChecked("the terminal was closed")
        return line
