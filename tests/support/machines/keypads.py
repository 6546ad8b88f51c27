"""Support for keypad tests: its bench, its events, its prompts."""

from __future__ import annotations

from devices.keypad import messages as m
from devices.keypad.driver import KeypadDriver
from devices.keypad.state import KeypadView
from simulators.casino.device_bench import DeviceBench
from simulators.kinds.keypad.machine import SimulatedKeypad
from tests.support.machines.card_checks import run_command, until_true

Keypad = DeviceBench[SimulatedKeypad, KeypadDriver, KeypadView]


def reported_acts(s: Keypad) -> list[m.KeypadAction]:
    """Return all reported acts of a person."""
    return [event for event in s.events if isinstance(event, m.KeypadAction)]


async def until_all_received(s: Keypad) -> None:
    """Wait until the driver has received the last press."""
    await until_true(lambda: s.driver.last_press == s.machine.firmware._press and s.driver.reported is not None)


async def until_reconnected(s: Keypad) -> None:
    """Wait until the link was lost and the keypad has reported again."""
    await until_true(lambda: s.driver.reported is None)
    await until_true(lambda: s.driver.reported is not None)


async def show_prompt(s: Keypad, prompt: m.KeypadPrompt, *lines: str) -> int:
    """Show a prompt; return the id that the answer must carry."""
    settled = await run_command(s, lambda command: s.driver.show(command, prompt, list(lines)))
    return settled.command
