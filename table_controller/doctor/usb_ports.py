"""USB ports of a table: is the device listed, may it be opened, does another hold it. Opens and claims nothing.

The kernel's own list under /sys tells all of it, so a device that the box is using is not disturbed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from firmware_bridge.errors import PitboxError
from firmware_bridge.transport.usb import VENDOR_CLASS, find_ports, parse_usb
from table_controller.doctor.lines import FAIL, OK, WARN, Line

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.transport.usb import UsbAddress

    Holders = Callable[[Path], list[tuple[int, str]]]

SYS: Final = Path("/sys/bus/usb/devices")
NODES: Final = Path("/dev/bus/usb")
# The kernel's name for "a program has claimed it", as libusb does; any other driver is the kernel's own.
_CLAIMED: Final = "usbfs"


class Plugged(NamedTuple):
    """One device as the kernel lists it. `drivers`: of its vendor-specific interfaces, those that are bound."""

    serial: str
    node: Path
    ours: bool  # has a vendor-specific interface
    drivers: tuple[str, ...]


def usb_port(what: str, url: str, box_pid: int | None, holders: Holders, sys: Path = SYS, nodes: Path = NODES) -> Line:
    """Look at one USB port."""
    address = parse_usb(url)
    if address.server is not None:
        return _of_server(what, address, box_pid)
    if not sys.is_dir():
        return Line(
            what, FAIL, f"{url}: this computer's kernel has no USB", "modprobe usbcore; lsusb must list something"
        )
    there = [each for each in plugged(sys, nodes, address) if each.serial]
    mine = [each for each in there if each.serial == address.serial]
    if not mine:
        others = ", ".join(sorted(each.serial for each in there))
        said = f"; of its make these are: {others}" if others else ""
        return Line(what, FAIL, f"{url} is not plugged in{said}",
                    "is its cable in, and the machine switched on? pitbox usb lists what is there")  # fmt: skip
    if len(mine) > 1:
        return Line(what, FAIL, f"{url}: {len(mine)} devices have this serial number; none is used",
                    "unplug the one that does not belong here")  # fmt: skip
    return _plugged_in(what, url, mine[0], box_pid, holders)


def _plugged_in(what: str, url: str, device: Plugged, box_pid: int | None, holders: Holders) -> Line:
    if not device.ours:
        return Line(what, FAIL, f"{url} has no vendor-specific interface: it is no machine of ours",
                    "is the port in table.toml the right one? pitbox usb lists those that could be")  # fmt: skip
    if not os.access(device.node, os.R_OK | os.W_OK):
        return Line(what, FAIL, f"{url}: {device.node} may not be opened by this user",
                    "copy deploy/udev/70-pitbox.rules to /etc/udev/rules.d with its make in it, plug it in again, "
                    "and be of the group dialout; or ask as the box's user")  # fmt: skip
    taken = [driver for driver in device.drivers if driver != _CLAIMED]
    if taken:
        keep_off = f"keep it off: a file in /etc/modprobe.d with: blacklist {taken[0]}; then plug it in again"
        return Line(what, FAIL, f"{url} is held by the kernel's driver {taken[0]}", keep_off)
    others = [(pid, program) for pid, program in holders(device.node) if pid not in (box_pid, os.getpid())]
    if others and _CLAIMED in device.drivers:
        said = ", ".join(f"{program} ({pid})" for pid, program in others)
        return Line(what, FAIL, f"{url} is held by {said}", "end it: it takes bytes that are the box's")
    if _CLAIMED in device.drivers and box_pid is None:
        return Line(
            what, WARN, f"{url} is held by a program of another user", "ask as root who holds it: pitbox doctor"
        )
    return Line(what, OK, f"{url} ({device.node})")


def plugged(sys: Path, nodes: Path, address: UsbAddress) -> list[Plugged]:
    """Return the devices of one make, as the kernel lists them."""
    found = []
    for folder in sorted(sys.iterdir()):
        make = (_read(folder / "idVendor"), _read(folder / "idProduct"))
        if make != (f"{address.vendor:04x}", f"{address.product:04x}"):
            continue
        parts = [part for part in sorted(sys.glob(f"{folder.name}:*")) if _class(part) == VENDOR_CLASS]
        drivers = tuple((part / "driver").resolve().name for part in parts if (part / "driver").exists())
        bus, number = _read(folder / "busnum"), _read(folder / "devnum")
        node = nodes / f"{int(bus or 0):03d}" / f"{int(number or 0):03d}"
        found.append(Plugged(_read(folder / "serial"), node, bool(parts), drivers))
    return found


def _class(part: Path) -> int:
    return int(_read(part / "bInterfaceClass") or "0", 16)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _of_server(what: str, address: UsbAddress, box_pid: int | None) -> Line:
    """Ask a USB/IP server for its list alone; a device that somebody uses may be missing from it."""
    try:
        listed = find_ports(address.server)
    except PitboxError as error:
        return Line(what, FAIL, f"{address}: {error}", "is the USB/IP server on, and its network cable in?")
    if str(address) in listed:
        return Line(what, OK, f"{address} is offered")
    if box_pid is not None:
        return Line(what, OK, f"{address} is not offered to others while the box has it")
    return Line(what, FAIL, f"{address} is not offered: it is not plugged in there, or another host has it",
                f"pitbox usb --server {address.server[0]}:{address.server[1]} lists what is"
                if address.server else "")  # fmt: skip
