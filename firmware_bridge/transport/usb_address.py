"""Addresses of USB devices by vendor, product and serial number. Parsing one opens nothing and needs no pyusb."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import msgspec

from firmware_bridge.errors import BadPort

_FORM: Final = "usb:VENDOR:PRODUCT:SERIAL or usbip://HOST:PORT/VENDOR:PRODUCT:SERIAL, as in usb:1209:0001:SN-00123"
# The maximum length of a USB string, and no terminal control characters.
SERIAL: Final = re.compile(r"[ -~]{1,126}")
_IDENTITY: Final = re.compile(rf"([0-9a-fA-F]{{4}}):([0-9a-fA-F]{{4}})(?::({SERIAL.pattern})?)?")


class UsbAddress(msgspec.Struct, frozen=True):
    """A device, and its USB/IP server; None for this computer."""

    vendor: int
    product: int
    serial: str
    server: tuple[str, int] | None = None

    def __str__(self) -> str:
        identity = f"{self.vendor:04x}:{self.product:04x}:{self.serial}"
        if self.server is None:
            return f"usb:{identity}"
        host, port = self.server
        return f"usbip://[{host}]:{port}/{identity}" if ":" in host else f"usbip://{host}:{port}/{identity}"


def parse_usb(url: str) -> UsbAddress:
    """Parse a port's address; BadPort explains the form."""
    server, identity = None, url.removeprefix("usb:")
    if url.startswith("usbip://"):
        where, _, identity = url.removeprefix("usbip://").partition("/")
        server = parse_server(where)
    fits = _IDENTITY.fullmatch(identity)
    if fits is None or not url.startswith(("usb:", "usbip://")):
        raise BadPort(f"{url}: a USB port is {_FORM}, with numbers of four hex digits")
    if not fits[3]:
        raise BadPort(
            f"{url}: without a serial number, another device could be taken for this one; the form is {_FORM}"
        )
    return UsbAddress(int(fits[1], 16), int(fits[2], 16), fits[3], server)


def parse_server(where: str) -> tuple[str, int]:
    """Parse HOST:PORT of a USB/IP server."""
    try:
        parts = urlsplit(f"//{where}")
        if parts.hostname and parts.port and not parts.path and "@" not in where:
            return parts.hostname, parts.port
    except ValueError:  # a port that is no number, or a bracket without its partner
        pass
    raise BadPort(f"{where or 'nothing'} is not the HOST:PORT of a USB/IP server")
