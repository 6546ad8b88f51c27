"""USB devices by vendor, product and serial number through pyusb: libusb, or a USB/IP server. Bytes only.

A device has one vendor-specific interface with a bulk endpoint each way, and its bytes are a stream: the borders of
packets and transfers mean nothing. One packet is read at a time. It is complete when it arrives, so that neither a
missing zero-length packet nor a timeout in the middle of a transfer can hold bytes back or lose them.
"""

from __future__ import annotations

import asyncio
import atexit
import errno
import re
import threading
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec
import usb.control
import usb.core
import usb.util

from firmware_bridge.errors import (
    BadPort,
    DuplicateSerial,
    LinkError,
    PitboxError,
    PortBusy,
    PortFailed,
    PortMissing,
)
from firmware_bridge.plugins import PORTS, installed_plugins
from firmware_bridge.transport.threaded import ThreadTransport, open_in_thread

if TYPE_CHECKING:
    from firmware_bridge.wire import Transport

VENDOR_CLASS: Final = 0xFF
# How long one transfer may wait (ms) before the thread looks whether the port is to be closed; nothing is lost by it.
LOOK_UP: Final = 100
# A device keeps what its last host did not read. It is dropped until nothing more comes for so long (ms), or after (s):
QUIET: Final = 20
DRAIN: Final = 1.0
# How long to wait (s) for a port that this program is just giving back: both threads look up, and a server may be slow.
GIVE_BACK: Final = 5.0
_FORM: Final = "usb:VENDOR:PRODUCT:SERIAL or usbip://HOST:PORT/VENDOR:PRODUCT:SERIAL, as in usb:1209:0001:SN-00123"
# As long as a USB string can be, and nothing that a terminal would obey.
_SERIAL: Final = re.compile(r"[ -~]{1,126}")
_IDENTITY: Final = re.compile(rf"([0-9a-fA-F]{{4}}):([0-9a-fA-F]{{4}})(?::({_SERIAL.pattern})?)?")
_PACKET_SIZE: Final = 0x7FF  # of a descriptor's field; the bits above count packets per microframe
_GONE: Final = (errno.ENODEV, errno.ENXIO, errno.ENOENT, errno.ESHUTDOWN)


class UsbAddress(msgspec.Struct, frozen=True):
    """Which device, and at which USB/IP server; without one, on this computer."""

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
    """Read a port's address; BadPort says what its form is."""
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
    """Read HOST:PORT of a USB/IP server."""
    try:
        parts = urlsplit(f"//{where}")
        if parts.hostname and parts.port and not parts.path and "@" not in where:
            return parts.hostname, parts.port
    except ValueError:  # a port that is no number, or a bracket without its partner
        pass
    raise BadPort(f"{where or 'nothing'} is not the HOST:PORT of a USB/IP server")


def usbip_client() -> Any:
    """Return the module that talks to USB/IP servers; BadPort if this installation was made without it.

    It has `UsbIpBackend(host, port)`, a pyusb backend, and `list_devices(host, port)`.
    """
    plugin = installed_plugins(PORTS).get("usbip")
    if plugin is None:
        raise BadPort("usbip:// ports are for the bench, and this installation was made without them")
    return plugin.load()


async def open_usb(url: str) -> Transport:
    """Open a device for this process alone. Raises BadPort, PortMissing, PortBusy, PortFailed or DuplicateSerial."""
    claim = _Claim(parse_usb(url))
    try:
        port = await open_in_thread(lambda: _open(claim))
    except asyncio.CancelledError:
        claim.leaving = True  # its thread opens to the end, and gives back; who comes next waits for that
        raise
    return ThreadTransport(port, url, lambda error: _lost(claim.address, error))


def find_ports(server: tuple[str, int] | None = None) -> list[str]:
    """Return the addresses of all devices with a vendor-specific interface and a serial number that can be read."""
    devices = _listed(server) if server is not None else _plugged_in()
    return sorted(str(UsbAddress(*identity, server)) for identity in devices)


def _plugged_in() -> list[tuple[int, int, str]]:
    devices = []
    for device in _find(None):
        serial = _serial_of(device) if _is_vendor_specific(device) else None
        usb.util.dispose_resources(device)
        if isinstance(serial, str):
            devices.append((device.idVendor, device.idProduct, serial))
    return devices


def _listed(server: tuple[str, int]) -> list[tuple[int, int, str]]:
    """Tell from a server's list alone: asking the devices would disturb who uses them."""
    client = usbip_client()
    try:
        devices = client.list_devices(*server)
    except usb.core.USBError as error:
        raise (PortMissing if error.errno in _GONE else PortFailed)(error.strerror) from error
    return [
        (device.vendor, device.product, device.serial)
        for device in devices
        if device.serial is not None and any(kind == VENDOR_CLASS for kind, _, _ in device.interfaces)
    ]


# --- finding and claiming, in a thread ---------------------------------------------------------------------


def _backend(server: tuple[str, int] | None) -> Any:
    if server is not None:
        return usbip_client().UsbIpBackend(*server)
    import libusb_package  # noqa: PLC0415 - imported only for ports of this computer

    backend = libusb_package.get_libusb1_backend()
    if backend is None:
        raise PortFailed(
            "libusb does not start on this computer: has its kernel USB, and may this user see /dev/bus/usb?"
        )
    return backend


def _find(server: tuple[str, int] | None, **wanted: int) -> list[Any]:
    return list(usb.core.find(find_all=True, backend=_backend(server), **wanted))


def _is_vendor_specific(device: Any) -> bool:
    try:
        return any(interface.bInterfaceClass == VENDOR_CLASS for configuration in device for interface in configuration)
    except (OSError, NotImplementedError):
        return False


def _serial_of(device: Any) -> str | OSError | None:
    """Return the serial number, why it cannot be read, or None if there is none that an address could name."""
    try:
        try:
            serial: str | None = device.serial_number
        except ValueError:  # pyusb's word for whatever kept it from reading: ask something that says what it was
            usb.control.get_status(device)
            serial = None
    except OSError as error:
        return error
    except NotImplementedError as error:
        return OSError(str(error))
    return serial if serial and _SERIAL.fullmatch(serial) else None


class _Claim:
    """This program's hold of a device: from the wish to open it until it is given back."""

    def __init__(self, address: UsbAddress) -> None:
        self.address = address
        self.leaving = False
        self.gone = threading.Event()
        self.port: _UsbPort | None = None
        self._before = _claims.get(address)
        if self._before is None or self._before.leaving:
            _claims[address] = self

    def wait(self) -> None:
        """Wait while the hold before this one gives the device back."""
        before, self._before = self._before, None
        if before is not None and before.leaving:
            before.gone.wait(GIVE_BACK)

    def end(self) -> None:
        """The device is given back, or was never had."""
        if _claims.get(self.address) is self:
            del _claims[self.address]
        self.gone.set()


def _open(claim: _Claim) -> _UsbPort:
    claim.wait()
    try:
        claim.port = _claim_device(claim)
    except BaseException:
        claim.end()
        raise
    _claims[claim.address] = claim
    _release_at_exit()
    return claim.port


def _claim_device(claim: _Claim) -> _UsbPort:
    address, device = claim.address, None
    if claim.leaving:
        raise PortBusy(f"{address}: opening was given up")
    try:
        device = _find_exactly_one(address)
        number, incoming, outgoing = _bulk_pair(address, device)
        usb.util.claim_interface(device, number)
        _drain(incoming)
    except (OSError, NotImplementedError, PitboxError) as error:
        if device is not None:
            usb.util.dispose_resources(device)
        raise _why_not_opened(address, error) from error
    return _UsbPort(claim, device, incoming, outgoing)


def _find_exactly_one(address: UsbAddress) -> Any:
    """Return the device with this serial number, if there is exactly one."""
    devices = _find(address.server, idVendor=address.vendor, idProduct=address.product)
    serials = [_serial_of(device) for device in devices]
    named = [device for device, serial in zip(devices, serials, strict=True) if serial == address.serial]
    for device in devices:
        if len(named) != 1 or device is not named[0]:
            usb.util.dispose_resources(device)
    if len(named) > 1:
        raise DuplicateSerial(f"{address}: {len(named)} devices have this serial number; none is used")
    if named:
        return named[0]
    for serial in serials:
        if isinstance(serial, OSError) and serial.errno not in _GONE:
            raise serial
    others = sorted(serial if isinstance(serial, str) else "one that cannot be read" for serial in serials)
    there = f"; devices of this vendor and product have the serial numbers {', '.join(others)}" if others else ""
    raise PortMissing(f"{address}: no such device is plugged in{there}")


def _bulk_pair(address: UsbAddress, device: Any) -> tuple[int, Any, Any]:
    """Return a vendor-specific interface's number and its bulk endpoints, in and out."""
    try:
        configuration = device.get_active_configuration()
    except usb.core.USBError as error:
        if error.errno is not None:
            raise
        device.set_configuration()  # nobody has yet
        configuration = device.get_active_configuration()
    for interface in configuration:
        if interface.bInterfaceClass == VENDOR_CLASS and interface.bAlternateSetting == 0:
            bulk = {e.bEndpointAddress & usb.util.ENDPOINT_IN: e for e in interface if _is_bulk(e)}
            if len(bulk) == 2:
                return interface.bInterfaceNumber, bulk[usb.util.ENDPOINT_IN], bulk[usb.util.ENDPOINT_OUT]
    raise BadPort(f"{address} has no vendor-specific interface with a bulk endpoint each way; it is no device of ours")


def _drain(incoming: Any) -> None:
    """Drop what the device has to say to whoever held the port before: an old answer would be judged as a wrong one."""
    until = monotonic() + DRAIN
    while monotonic() < until:
        try:
            incoming.read(incoming.wMaxPacketSize & _PACKET_SIZE, QUIET)
        except usb.core.USBError as error:
            if error.errno in (errno.ETIMEDOUT, errno.EPIPE):  # a stall is cleared by whoever reads next
                return
            raise


def _is_bulk(endpoint: Any) -> bool:
    kind, size = usb.util.endpoint_type(endpoint.bmAttributes), endpoint.wMaxPacketSize & _PACKET_SIZE
    return bool(kind == usb.util.ENDPOINT_TYPE_BULK and size)


def _why_not_opened(address: UsbAddress, error: Exception) -> PitboxError:
    if isinstance(error, PitboxError):
        return error
    number, text = getattr(error, "errno", None), getattr(error, "strerror", None) or str(error)
    if number in _GONE:
        return PortMissing(f"{address}: {text}")
    if number in (errno.EACCES, errno.EPERM):
        return PortFailed(f"{address}: permission denied; deploy/udev/70-pitbox.rules gives it to the group dialout")
    if number == errno.EBUSY:
        return PortBusy(f"{address} is held by another program")
    return PortFailed(f"{address}: {text}")


# --- the open port, used by two threads ----------------------------------------------------------------------


class _UsbPort:
    """A claimed interface and its two endpoints."""

    def __init__(self, claim: _Claim, device: Any, incoming: Any, outgoing: Any) -> None:
        self._claim = claim
        self._device = device
        self._in = incoming
        self._out = outgoing
        self._packet = incoming.wMaxPacketSize & _PACKET_SIZE
        self._stalled: set[int] = set()
        self._reading = threading.Lock()
        self._writing = threading.Lock()

    def read(self) -> bytes:
        """Return a packet, or nothing if none came in a while. A zero-length packet is nothing, too."""
        with self._reading:
            if self._claim.leaving:
                return b""
            try:
                data = bytes(self._in.read(self._packet, LOOK_UP))
            except usb.core.USBError as error:
                self._recover(self._in, error)
                return b""
            self._stalled.discard(self._in.bEndpointAddress)
            return data

    def write(self, data: bytes) -> None:
        """Send as the device takes it. What a stall swallows is lost as on any line: the link repeats it."""
        while data:
            with self._writing:
                if self._claim.leaving:
                    return
                try:
                    data = data[self._out.write(data, LOOK_UP) :]
                except usb.core.USBError as error:
                    if self._recover(self._out, error):
                        return
                else:
                    self._stalled.discard(self._out.bEndpointAddress)

    def _recover(self, endpoint: Any, error: usb.core.USBError) -> bool:
        """Clear a stall and return True; a timeout is no failure. Raise what is one, as is a stall upon a stall."""
        address = endpoint.bEndpointAddress
        if error.errno == errno.ETIMEDOUT:
            self._stalled.discard(address)
            return False
        if error.errno != errno.EPIPE or address in self._stalled:
            raise error
        self._stalled.add(address)
        endpoint.clear_halt()
        return True

    def leave(self) -> None:
        """Let both threads return when they look up next."""
        self._claim.leaving = True

    def close(self) -> None:
        """Release the interface, once nobody is in the middle of a transfer: libusb must not be closed under one."""
        self._claim.leaving = True
        with self._reading, self._writing:
            try:
                usb.util.dispose_resources(self._device)
            finally:
                self._claim.end()


# Who opens a device again that this program is just giving back waits for it, or would meet its own claim.
_claims: Final[dict[UsbAddress, _Claim]] = {}


@cache
def _release_at_exit() -> None:
    """Have all ports closed before pyusb closes its devices at the end of the program, under whoever uses them.

    Said once there is a device: what is registered last is done first.
    """
    atexit.register(_release_all)


def _release_all() -> None:
    for claim in list(_claims.values()):
        if claim.port is not None:
            claim.port.close()


def _lost(address: UsbAddress, error: OSError) -> LinkError:
    text = error.strerror or str(error)
    if error.errno in _GONE:
        failed = PortFailed(f"{address} was unplugged: {text}")
    elif error.errno == errno.EPIPE:
        failed = PortFailed(f"{address}: an endpoint stalls again at once after its stall was cleared")
    else:
        failed = PortFailed(f"{address} failed: {text}")
    failed.__cause__ = error
    return failed
