"""A simulated machine as a USB device that a USB/IP server exports."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from simulators.usbip.device import PRODUCT, VENDOR, UsbDevice
from simulators.usbip.server import LOOPBACK

if TYPE_CHECKING:
    from simulators.engine.machine import SimulatedMachine
    from simulators.usbip.server import UsbIpServer


class UsbPort:
    """Keeps one machine at its place on a server's bus over unplug and replug."""

    def __init__(self, machine: SimulatedMachine, server: UsbIpServer) -> None:
        identity = machine.board.identity
        self.port = f"usbip://{LOOPBACK}:{server.number}/{VENDOR:04x}:{PRODUCT:04x}:{identity.serial}"
        self.device: UsbDevice
        self._product = f"{identity.kind} {identity.model}"
        self._machine = machine
        self._server = server
        self._place = server.place()
        self._loop = asyncio.get_running_loop()
        self._replug: asyncio.TimerHandle | None = None
        machine.on_unplug = self.unplug
        self.plug()

    def plug(self) -> None:
        """Put a new device onto the bus, at the same place and with the same serial number."""
        self._replug = None
        self.device = UsbDevice(self._machine.board.identity.serial, self._product)
        self._server.plug(self._place, self.device)
        self._machine.board.plug(self.device)

    def unplug(self, seconds: float = 0.0) -> None:
        """Pull the cable: remove the device from the bus."""
        self._machine.board.unplug()
        if seconds:
            self._replug = self._loop.call_later(seconds, self.plug)

    def close(self) -> None:
        """Remove the machine for good."""
        if self._replug is not None:
            self._replug.cancel()
        self.unplug()
        self._machine.board.power_off()
