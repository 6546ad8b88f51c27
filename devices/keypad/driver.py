"""The keypad's driver: typed requests and commands. Publishes each key press once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from devices.driver import Driver
from devices.keypad import messages as m
from devices.keypad.state import Prompted
from firmware_bridge.errors import ConfigurationError, StalePress

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.keypad.state import DriverEvent
    from firmware_bridge.commands import Settled
    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello


class KeypadDriver(Driver):
    """Controls one keypad. `last_press` is the last published press; a restarted host sets it from its journal."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, self._publish_once)
        self.last_press = 0
        self._listener = on_event
        self._serial: str | None = None

    def link_up(self, link: Link, hello: DeviceHello) -> None:
        """Use a new link; another keypad has its own press count."""
        if self._serial not in (None, hello.serial):
            self.last_press = 0
        self._serial = hello.serial
        super().link_up(link, hello)

    def _publish_once(self, event: DriverEvent) -> None:
        """Publish an event, except a repeated press: a keypad reports its latest presses again in every session."""
        if isinstance(event, m.KeypadAction):
            if event.press <= self.last_press:
                return
            self.last_press = event.press
        self._listener(event)

    # --- requests --------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """Return the prompt, the position of the key switch, and which keys are down."""
        return await self.ask(m.GetStatus(), m.Status)

    async def age_of(self, action: m.KeypadAction) -> int:
        """Return the maximum age of a press (ms), including delays on the line; StalePress if it is unknown.

        The age in an event is its age when it was sent. The keypad's clock, requested here, shows the line's delay;
        the request itself took at most as long as we waited.
        """
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        status = await self.status()
        if not status.oldest <= action.press <= status.press:
            raise StalePress(f"the keypad no longer remembers press {action.press}")
        return ((status.up_ms - action.at_ms) & 0xFFFF_FFFF) + round((loop.time() - asked_at) * 1000)

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def show(self, command: int, prompt: m.KeypadPrompt, lines: list[str]) -> asyncio.Task[Settled]:
        """Show lines and prompt for an entry, which will carry this command's id."""
        try:
            msgspec.convert(lines, m.Lines)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"not four lines of twenty printable ASCII characters: {error}") from error
        return self.actuate(m.Show(command, prompt, lines), command, then=Prompted(command, prompt))

    def set_lamps(self, command: int, *lamps: m.Lamp) -> asyncio.Task[Settled]:
        """Light these lamps and no others."""
        return self.actuate(m.SetLamps(command, sum(1 << lamp for lamp in set(lamps))), command)

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Test keys, lamps and display."""
        return self.actuate(m.SelfTest(command), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id."""
        return self.actuate(m.Reset(command), command)
