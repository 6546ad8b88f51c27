"""Support for keypad tests: its bench, its events, its prompts."""

from __future__ import annotations

from devices.keypad import messages as m
from devices.keypad.driver import KeypadDriver
from devices.keypad.state import KeypadView
from simulators.house.stand import Stand
from simulators.machines.keypad import SimulatedKeypad
from tests.support.beliefs import carried_out, comes_true

Keypad = Stand[SimulatedKeypad, KeypadDriver, KeypadView]


def acts(s: Keypad) -> list[m.Act]:
    """Return all reported acts of a person."""
    return [event for event in s.events if isinstance(event, m.Act)]


async def all_heard(s: Keypad) -> None:
    """Wait until the driver has received the last press."""
    await comes_true(lambda: s.driver.heard == s.machine.firmware._press and s.driver.reported is not None)


async def back(s: Keypad) -> None:
    """Wait until the link was lost and the keypad has reported again."""
    await comes_true(lambda: s.driver.reported is None)
    await comes_true(lambda: s.driver.reported is not None)


async def asked(s: Keypad, prompt: m.Prompt, *lines: str) -> int:
    """Show a prompt; return the id that the answer must carry."""
    settled = await carried_out(s, lambda command: s.driver.show(command, prompt, list(lines)))
    return settled.command
