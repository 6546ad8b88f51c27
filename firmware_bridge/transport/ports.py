"""Ports by their address: which kind of transport opens it. No transport lives here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_bridge.errors import BadPort
from firmware_bridge.transport.serial import FORMS, open_serial, readable_address

if TYPE_CHECKING:
    from firmware_bridge.wire import Transport


async def open_port(url: str) -> Transport:
    """Open any port for this process alone. Raises BadPort, or a LinkError that says why it cannot be opened."""
    if url.startswith(("usb:", "usbip:")):
        from firmware_bridge.transport.usb import open_usb  # noqa: PLC0415 - who has no USB does not pay for pyusb

        return await open_usb(url)
    return await open_serial(url)


def check_port(url: str) -> None:
    """Raise BadPort if this cannot be a port's address; nothing is opened."""
    if url.startswith(("usb:", "usbip:")):
        from firmware_bridge.transport.usb import parse_usb  # noqa: PLC0415 - who has no USB does not pay for pyusb

        parse_usb(url)
    elif not readable_address(url):
        raise BadPort(f"{url or 'an empty name'}: {FORMS}")


def is_path(url: str) -> bool:
    """Tell whether a port is a file of this computer, with its key and name beside it."""
    return "://" not in url and not url.startswith("usb:")
