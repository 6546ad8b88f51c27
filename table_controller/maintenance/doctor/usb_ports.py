"""Checks of USB ports: is the device listed, can it be opened, does another program use it. Opens and claims nothing.

It reads the list of the kernel under /sys, so a device that the box uses is not disturbed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from firmware_bridge.errors import PitboxError
from firmware_bridge.transport.usb import VENDOR_CLASS, find_ports
from firmware_bridge.transport.usb_address import parse_usb
from table_controller.maintenance.doctor.check_result import FAIL, OK, WARN, CheckResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.transport.usb_address import UsbAddress

    Holders = Callable[[Path], list[tuple[int, str]]]

SYS: Final = Path("/sys/bus/usb/devices")
NODES: Final = Path("/dev/bus/usb")
# The kernel driver name for a device that a program has claimed, for example with libusb.
_CLAIMED: Final = "usbfs"


class PluggedDevice(NamedTuple):
    """One device in the list of the kernel. `drivers`: those bound to its vendor-specific interfaces."""

    serial: str
    node: Path
    is_machine: bool  # has a vendor-specific interface
    drivers: tuple[str, ...]


def check_usb_port(
    what: str, url: str, box_pid: int | None, holders: Holders, sys: Path = SYS, nodes: Path = NODES
) -> CheckResult:
    """Check one USB port."""
    address = parse_usb(url)
    if address.server is not None:
        return _of_server(what, address, box_pid)
    if not sys.is_dir():
        return CheckResult(
            what, FAIL, f"{url}: this computer's kernel has no USB", "modprobe usbcore; lsusb must list something"
        )
    there = [each for each in plugged_devices(sys, nodes, address) if each.serial]
    mine = [each for each in there if each.serial == address.serial]
    if not mine:
        others = ", ".join(sorted(each.serial for each in there))
        known = f"; devices of this make: {others}" if others else ""
        return CheckResult(what, FAIL, f"{url} is not plugged in{known}",
                    "check that its cable is plugged in and the machine is on; pitbox usb lists devices")  # fmt: skip
    if len(mine) > 1:
        return CheckResult(what, FAIL, f"{url}: {len(mine)} devices have this serial number; the box uses none",
                    "unplug the device that does not belong here")  # fmt: skip
    return _plugged_in(what, url, mine[0], box_pid, holders)


def _plugged_in(what: str, url: str, device: PluggedDevice, box_pid: int | None, holders: Holders) -> CheckResult:
    if not device.is_machine:
        return CheckResult(what, FAIL, f"{url} has no vendor-specific interface: it is not a table machine",
                    "check the port in table.toml; pitbox usb lists possible ones")  # fmt: skip
    if not os.access(device.node, os.R_OK | os.W_OK):
        return CheckResult(what, FAIL, f"{url}: this user cannot open {device.node}",
                    "copy deploy/udev/70-pitbox.rules to /etc/udev/rules.d with the make of the device, plug it in "
                    "again, and join the group dialout; or run it as the user of the box")  # fmt: skip
    taken = [driver for driver in device.drivers if driver != _CLAIMED]
    if taken:
        advice = f"write a file in /etc/modprobe.d with: blacklist {taken[0]}; then plug the device in again"
        return CheckResult(what, FAIL, f"{url} is in use by the kernel driver {taken[0]}", advice)
    others = [(pid, program) for pid, program in holders(device.node) if pid not in (box_pid, os.getpid())]
    if others and _CLAIMED in device.drivers:
        users = ", ".join(f"{program} ({pid})" for pid, program in others)
        return CheckResult(what, FAIL, f"{url} is in use by {users}", "stop it: it reads bytes meant for the box")
    if _CLAIMED in device.drivers and box_pid is None:
        return CheckResult(
            what, WARN, f"{url} is in use by a program of another user", "run pitbox doctor as root to see which"
        )
    return CheckResult(what, OK, f"{url} ({device.node})")


def plugged_devices(sys: Path, nodes: Path, address: UsbAddress) -> list[PluggedDevice]:
    """Return the devices of one make in the list of the kernel."""
    devices = []
    for folder in sorted(sys.iterdir()):
        make = (_read(folder / "idVendor"), _read(folder / "idProduct"))
        if make != (f"{address.vendor:04x}", f"{address.product:04x}"):
            continue
        parts = [part for part in sorted(sys.glob(f"{folder.name}:*")) if _class(part) == VENDOR_CLASS]
        drivers = tuple((part / "driver").resolve().name for part in parts if (part / "driver").exists())
        bus, number = _read(folder / "busnum"), _read(folder / "devnum")
        node = nodes / f"{int(bus or 0):03d}" / f"{int(number or 0):03d}"
        devices.append(PluggedDevice(_read(folder / "serial"), node, bool(parts), drivers))
    return devices


def _class(part: Path) -> int:
    return int(_read(part / "bInterfaceClass") or "0", 16)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _of_server(what: str, address: UsbAddress, box_pid: int | None) -> CheckResult:
    """Check the list of a USB/IP server; a device in use may be missing from it."""
    try:
        listed = find_ports(address.server)
    except PitboxError as error:
        return CheckResult(
            what, FAIL, f"{address}: {error}", "check that the USB/IP server is on and its network cable is plugged in"
        )
    if str(address) in listed:
        return CheckResult(what, OK, f"{address} is offered")
    if box_pid is not None:
        return CheckResult(what, OK, f"{address} is in use by the box")
    return CheckResult(what, FAIL, f"{address} is not offered: it is not plugged in there, or another host has it",
                f"pitbox usb --server {address.server[0]}:{address.server[1]} lists what is"
                if address.server else "")  # fmt: skip
