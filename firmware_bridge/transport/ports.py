"""Opens a port by its address, with the transport that the address calls for."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from firmware_bridge.errors import BadPort
from firmware_bridge.transport.serial import PORT_FORMS, is_serial_address, open_serial
from firmware_bridge.transport.usb_address import parse_usb

if TYPE_CHECKING:
    from firmware_bridge.wire import Transport


async def open_port(url: str) -> Transport:
    """Open a port exclusively. Raises BadPort, or a LinkError with the reason why it cannot be opened."""
    if url.startswith(("usb:", "usbip:")):
        from firmware_bridge.transport.usb import open_usb  # noqa: PLC0415 - pyusb only where it is used

        return await open_usb(url)
    return await open_serial(url)


def check_port(url: str) -> None:
    """Raise BadPort if this is not the address of a port; nothing is opened."""
    if url.startswith(("usb:", "usbip:")):
        if parse_usb(url).server is not None:
            from firmware_bridge.transport.usb import usbip_client  # noqa: PLC0415 - pyusb only where it is used

            usbip_client()
    elif not is_serial_address(url):
        raise BadPort(f"{url or 'an empty name'}: {PORT_FORMS}")


def canonical_port(url: str) -> str:
    """Return the canonical form of an address: equal for all addresses of one port. Nothing is opened.

    Symbolic links are resolved, a device file becomes its device number, and the protocol of a network port is dropped.
    """
    if url.startswith(("usb:", "usbip:")):
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
    """Return whether a port is a file on this computer, next to its key file."""
    return "://" not in url and not url.startswith("usb:")
