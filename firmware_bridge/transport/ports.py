"""Ports by their address: which kind of transport opens it. No transport lives here."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

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
        from firmware_bridge.transport.usb import parse_usb, usbip_client  # noqa: PLC0415 - pyusb only where it is used

        if parse_usb(url).server is not None:
            usbip_client()
    elif not readable_address(url):
        raise BadPort(f"{url or 'an empty name'}: {FORMS}")


def same_port(url: str) -> str:
    """Return what two addresses of one port have in common, however each is written. Nothing is opened.

    A link is what it points at, a device file is its device, and one host and port is one port by any protocol.
    """
    if url.startswith(("usb:", "usbip:")):
        from firmware_bridge.transport.usb import parse_usb  # noqa: PLC0415 - who has no USB does not pay for pyusb

        return str(parse_usb(url))
    if not is_path(url):
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        return f"{'127.0.0.1' if host in ('localhost', '::1') else host}:{parts.port}"
    try:
        status = Path(url).stat()
    except OSError:  # not plugged in, or not here at all
        return os.path.realpath(url)
    return f"device {status.st_rdev:x}" if stat.S_ISCHR(status.st_mode) else os.path.realpath(url)


def is_path(url: str) -> bool:
    """Tell whether a port is a file of this computer, with its key and name beside it."""
    return "://" not in url and not url.startswith("usb:")
