"""`pitbox usb`: lists USB devices that could be table devices, by the names that `--port` takes. Opens no port."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HELP = "list USB devices that could be table devices, by the names that --port takes"
EXAMPLE = "pitbox usb --server 127.0.0.1:3240"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument(
        "--server", metavar="HOST:PORT", help="list the devices of a USB/IP server instead of this computer"
    )


def run(args: argparse.Namespace) -> int:
    """Print one port per line."""
    from firmware_bridge.transport.usb import find_ports
    from firmware_bridge.transport.usb_address import parse_server

    ports = find_ports(None if args.server is None else parse_server(args.server))
    for port in ports:
        print(port)
    if not ports:
        print("no USB device with a vendor-specific interface and a readable serial number")
    return 0
