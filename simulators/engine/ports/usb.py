"""A simulated machine as a USB device that a USB/IP server exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulators.engine.ports.plugged import PluggedPort
from simulators.usbip.device import PRODUCT, VENDOR, UsbDevice
from simulators.usbip.server import LOOPBACK

if TYPE_CHECKING:
    from simulators.engine.machine import SimulatedMachine
    from simulators.usbip.server import UsbIpServer


class UsbPort(PluggedPort):
    """Keeps one machine at its place on a server's bus over unplug and replug."""

    def __init__(self, machine: SimulatedMachine, server: UsbIpServer) -> None:
        identity = machine.board.identity
        self.port = f"usbip://{LOOPBACK}:{server.number}/{VENDOR:04x}:{PRODUCT:04x}:{identity.serial}"
        self.device: UsbDevice
        self._product = f"{identity.kind} {identity.model}"
        self._server = server
        self._place = server.place()
        super().__init__(machine)

    def _connect(self) -> None:
        """Put a new device onto the bus, at the same place and with the same serial number."""
        self.device = UsbDevice(self._machine.board.identity.serial, self._product)
        self._server.plug(self._place, self.device)
        self._machine.board.plug(self.device)

    def _disconnect(self) -> None:
        """Do nothing: the device leaves the bus when the machine loses its end."""
