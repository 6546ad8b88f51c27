"""A simulated table whose box is a real `pitbox run` process that can be started, killed and ended."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from devices.service import IN_SERVICE
from firmware_bridge.errors import NoBox
from simulators.casino.box_process import BoxProcess
from simulators.casino.remote_table import LOOK_S, RemoteTable
from simulators.casino.table_layout import choices_of_models, keypad_and_sign

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Time limit until every machine is in service (s of a real table's time).
_SERVING: float = 3600.0


class ServiceTable(RemoteTable):
    """`open` starts `pitbox run` on the machines of a folder, `close` ends it, `cut` kills it."""

    def __init__(
        self,
        game: str,
        folder: Path,
        *,
        seed: int,
        speed: float,
        broker: tuple[str, int] | None = None,
        more: Mapping[str, str] | None = None,
    ) -> None:
        """`folder`: an empty folder for the files of this table. `broker`: host and port of its MQTT broker.

        `more`: further slots with the model in each, or other models in the table's own slots.
        """
        models = keypad_and_sign(game) | dict(more or {})
        choices = choices_of_models(game, models)
        super().__init__(folder, game, seed=seed, speed=speed, pace=1 / speed, models=models, choices=choices)
        self._broker = broker
        self._service: BoxProcess | None = None

    async def open(self, *decks: str) -> None:
        """Plug the machines in, start the service, sign people on, bring decks."""
        await self.__aenter__()
        if self._broker is not None:
            host, port = self._broker
            with self.config.open("a", encoding="utf-8") as config:
                config.write(f'\n[mqtt]\nhost = "{host}"\nport = {port}\n')
        await self._boot()
        await self.until(
            lambda: all(slot.state == IN_SERVICE for slot in self.controller.table.state.slots.values()), _SERVING
        )
        for back in decks:
            await self.bring_deck(back)

    async def _boot(self) -> None:
        """Start the service and wait until it answers; NoBox with its log if it does not."""
        service = self._service = BoxProcess(self.config)
        meeting = asyncio.create_task(self.connect_to_box())
        while service.is_running and not meeting.done():
            await asyncio.wait({meeting}, timeout=LOOK_S)
        if not meeting.done():
            meeting.cancel()
            raise NoBox(f"the box does not start: {service.log_text().strip()}")
        try:
            meeting.result()
        except TimeoutError as late:
            raise NoBox(f"the box does not answer: {service.log_text().strip()}") from late

    def cut(self) -> None:
        """Kill the box at once, like a power cut."""
        if self._service is not None and self._service.is_running and self.box.powered:
            self.disk.cuts += 1
            self._service.end(signal.SIGKILL)
            self.box.powered = False

    async def power_up(self) -> None:
        """Start the box again after a cut."""
        await self.box.disconnect()
        await self._boot()

    async def close(self) -> None:
        """End everything in order; check that every card is in exactly one place."""
        await self.people.close()
        await self.box.disconnect()
        if self._service is not None:
            await asyncio.to_thread(self._service.end)
        await self.__aexit__()
        for machine in self.machines.values():
            machine.board.power_off()
        self.world.check()
