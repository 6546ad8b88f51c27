"""The keypad's driver: its question and actuations, typed, and each press told once. Decides not what it may start."""

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
    """Talks to one keypad. `heard` is the last press that was told; a restarted host sets it from its journal."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, self._publish_once)
        self.heard = 0
        self._listener = on_event
        self._serial: str | None = None

    def link_up(self, link: Link, hello: DeviceHello) -> None:
        """Take a fresh link; another keypad has a count of its own."""
        if self._serial not in (None, hello.serial):
            self.heard = 0
        self._serial = hello.serial
        super().link_up(link, hello)

    def _publish_once(self, event: DriverEvent) -> None:
        """Tell an event, unless it is a press that was told before: a keypad says its last ones in every session."""
        if isinstance(event, m.Act):
            if event.press <= self.heard:
                return
            self.heard = event.press
        self._listener(event)

    # --- questions -------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """What is asked, where the key switch stands, which keys are down."""
        return await self.ask(m.GetStatus(), m.Status)

    async def age_of(self, act: m.Act) -> int:
        """Return how old a press is at most (ms), whatever the line did to its frame; StalePress if nobody can tell.

        The age in an event is that of its sending. What the line added is found by asking: the keypad says its time,
        and the question took no longer than we waited.
        """
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        status = await self.status()
        if not status.oldest <= act.press <= status.press:
            raise StalePress(f"the keypad does not remember press {act.press} any more")
        return ((status.up_ms - act.at_ms) & 0xFFFF_FFFF) + round((loop.time() - asked_at) * 1000)

    # --- actuations: each is done at most once -----------------------------------------------------------------

    async def show(self, command: int, prompt: m.Prompt, lines: list[str]) -> Settled:
        """Show lines and ask for an entry, which answers with this command's id."""
        try:
            msgspec.convert(lines, m.Lines)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"not four lines of twenty printable ASCII characters: {error}") from error
        settled = await self.actuate(m.Show(command, prompt, lines), command)
        self.tell(Prompted(command, prompt))
        return settled

    async def set_lamps(self, command: int, *lamps: m.Lamp) -> Settled:
        """Light these lamps and no others."""
        return await self.actuate(m.SetLamps(command, sum(1 << lamp for lamp in set(lamps))), command)

    async def self_test(self, command: int) -> Settled:
        """Test keys, lamps and display."""
        return await self.actuate(m.SelfTest(command), command)

    async def reset(self, command: int) -> Settled:
        """Restart the firmware; the link goes down and comes back with a new boot id."""
        return await self.actuate(m.Reset(command), command)
