"""USB devices by vendor, product and serial number, through pyusb: with libusb, or with a USB/IP server.

A device has one vendor-specific interface with one bulk endpoint in each direction. Its bytes are a stream: boundaries
of packets and transfers have no meaning. Each read asks for one packet, which is complete when it arrives; so neither a
missing zero-length packet nor a timeout during a transfer can delay or lose bytes.
"""

from __future__ import annotations

import asyncio
import atexit
import errno
import threading
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

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
from firmware_bridge.transport.usb_address import SERIAL, UsbAddress, parse_usb

if TYPE_CHECKING:
    from firmware_bridge.wire import Transport

VENDOR_CLASS: Final = 0xFF
# Timeout of one transfer (ms), after which the thread checks whether the port is being closed. No data is lost.
TRANSFER_TIMEOUT_MS: Final = 100
# A device keeps bytes that its previous host did not read. They are dropped until none comes for this long (ms), but
# for at most this long (s):
DRAIN_QUIET_MS: Final = 20
DRAIN_LIMIT_S: Final = 1.0
# How long (s) to wait for a port that this program is releasing: both threads must notice, and a server may be slow.
RELEASE_TIMEOUT_S: Final = 5.0
_PACKET_SIZE: Final = 0x7FF  # mask of the descriptor field; the bits above count packets per microframe
_GONE: Final = (errno.ENODEV, errno.ENXIO, errno.ENOENT, errno.ESHUTDOWN)


def usbip_client() -> Any:
    """Return the module that talks to USB/IP servers; BadPort if this installation was made without it.

    It has `UsbIpBackend(host, port)`, a pyusb backend, and `list_devices(host, port)`.
    """
    plugin = installed_plugins(PORTS).get("usbip")
    if plugin is None:
        raise BadPort("usbip:// ports are for the bench, and this installation was made without them")
    return plugin.load()


async def open_usb(url: str) -> Transport:
    """Open a device exclusively. Raises BadPort, PortMissing, PortBusy, PortFailed or DuplicateSerial."""
    claim = _Claim(parse_usb(url))
    try:
        port = await open_in_thread(lambda: _open(claim))
    except asyncio.CancelledError:
        claim.leaving = True  # its thread finishes opening and then releases; the next open waits for that
        raise
    return ThreadTransport(port, url, lambda error: _lost(claim.address, error))


def find_ports(server: tuple[str, int] | None = None) -> list[str]:
    """Return the addresses of all devices with a vendor-specific interface and a readable serial number."""
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
    """Return devices from the server's list alone: querying a device would disturb its user."""
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


def _find(server: tuple[str, int] | None, **match: int) -> list[Any]:
    return list(usb.core.find(find_all=True, backend=_backend(server), **match))


def _is_vendor_specific(device: Any) -> bool:
    try:
        return any(interface.bInterfaceClass == VENDOR_CLASS for configuration in device for interface in configuration)
    except (OSError, NotImplementedError):
        return False


def _serial_of(device: Any) -> str | OSError | None:
    """Return the serial number, the error that prevents reading it, or None if no address could name it."""
    try:
        try:
            serial: str | None = device.serial_number
        except ValueError:  # pyusb hides the cause: this request raises it
            usb.control.get_status(device)
            serial = None
    except OSError as error:
        return error
    except NotImplementedError as error:
        return OSError(str(error))
    return serial if serial and SERIAL.fullmatch(serial) else None


class _Claim:
    """This program's claim on a device, from the start of opening until it is released."""

    def __init__(self, address: UsbAddress) -> None:
        self.address = address
        self.leaving = False
        self.gone = threading.Event()
        self.port: _UsbPort | None = None
        self._before = _claims.get(address)
        if self._before is None or self._before.leaving:
            _claims[address] = self

    def wait(self) -> None:
        """Wait while the previous claim releases the device."""
        before, self._before = self._before, None
        if before is not None and before.leaving:
            before.gone.wait(RELEASE_TIMEOUT_S)

    def end(self) -> None:
        """Release the claim: the device is released, or was never opened."""
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
        raise PortBusy(f"{address}: opening was canceled")
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
    """Return the number of a vendor-specific interface and its bulk endpoints, in and out."""
    try:
        configuration = device.get_active_configuration()
    except usb.core.USBError as error:
        if error.errno is not None:
            raise
        device.set_configuration()  # not configured yet
        configuration = device.get_active_configuration()
    for interface in configuration:
        if interface.bInterfaceClass == VENDOR_CLASS and interface.bAlternateSetting == 0:
            bulk = {e.bEndpointAddress & usb.util.ENDPOINT_IN: e for e in interface if _is_bulk(e)}
            if len(bulk) == 2:
                return interface.bInterfaceNumber, bulk[usb.util.ENDPOINT_IN], bulk[usb.util.ENDPOINT_OUT]
    raise BadPort(
        f"{address} has no vendor-specific interface with a bulk endpoint in each direction; it is not a pitbox device"
    )


def _drain(incoming: Any) -> None:
    """Drop bytes meant for the previous user of the port: an old reply would look like a wrong one."""
    until = monotonic() + DRAIN_LIMIT_S
    while monotonic() < until:
        try:
            incoming.read(incoming.wMaxPacketSize & _PACKET_SIZE, DRAIN_QUIET_MS)
        except usb.core.USBError as error:
            if error.errno in (errno.ETIMEDOUT, errno.EPIPE):  # the next read clears a stall
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
        return PortBusy(f"{address} is in use by another program")
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
        """Return a packet; empty after a timeout or for a zero-length packet."""
        with self._reading:
            if self._claim.leaving:
                return b""
            try:
                data = bytes(self._in.read(self._packet, TRANSFER_TIMEOUT_MS))
            except usb.core.USBError as error:
                self._recover(self._in, error)
                return b""
            self._stalled.discard(self._in.bEndpointAddress)
            return data

    def write(self, data: bytes) -> None:
        """Send at the device's pace. Bytes lost in a stall are repeated by the link."""
        while data:
            with self._writing:
                if self._claim.leaving:
                    return
                try:
                    data = data[self._out.write(data, TRANSFER_TIMEOUT_MS) :]
                except usb.core.USBError as error:
                    if self._recover(self._out, error):
                        return
                else:
                    self._stalled.discard(self._out.bEndpointAddress)

    def _recover(self, endpoint: Any, error: usb.core.USBError) -> bool:
        """Clear a stall and return True; return False for a timeout; raise any other error, or a second stall."""
        address = endpoint.bEndpointAddress
        if error.errno == errno.ETIMEDOUT:
            self._stalled.discard(address)
            return False
        if error.errno != errno.EPIPE or address in self._stalled:
            raise error
        self._stalled.add(address)
        endpoint.clear_halt()
        return True

    def begin_close(self) -> None:
        """Let both threads return at their next check."""
        self._claim.leaving = True

    def close(self) -> None:
        """Release the interface, after any running transfer: libusb must not be closed during one."""
        self._claim.leaving = True
        with self._reading, self._writing:
            try:
                usb.util.dispose_resources(self._device)
            finally:
                self._claim.end()


# Opening a device again waits until this program's earlier claim on it is released.
_claims: Final[dict[UsbAddress, _Claim]] = {}


@cache
def _release_at_exit() -> None:
    """Have all ports closed at exit before pyusb closes its devices, which may be in use.

    Called after the first device was opened, because exit handlers run in reverse order.
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
