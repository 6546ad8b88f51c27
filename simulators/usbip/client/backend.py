"""A pyusb backend over USB/IP, without kernel support. Error numbers are those of libusb.

Descriptions come from the server's list as far as possible. A device is imported only for a request that needs the
device itself, so that searching for a device does not disturb its user.
"""

from __future__ import annotations

import errno
from array import array
from contextlib import contextmanager
from struct import pack
from typing import TYPE_CHECKING, Final

from usb.backend import IBackend
from usb.core import USBError

from simulators.usbip import descriptors
from simulators.usbip.client.connection import SERVER_TIMEOUT_S, UsbIpConnection, list_devices, usb_error
from simulators.usbip.packets import BadUsbIpPacket

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import SimpleNamespace

    from simulators.usbip.packets import ExportedDevice

__all__ = ["UsbIpBackend", "list_devices"]

# Index of the serial number string that this backend answers from the list; higher than any real string index.
_SERIAL_INDEX: Final = 0xFF
_CONTROL: Final = 0  # the endpoint
_CONTROL_MS: Final = int(SERVER_TIMEOUT_S * 1000)
_FROM_DEVICE: Final = 0x80
_TO_ENDPOINT: Final = 0x02
_GET_DESCRIPTOR: Final = 6
_CLEAR_FEATURE: Final = 1
_SET_CONFIGURATION: Final = 9
_SET_INTERFACE: Final = 11
_TO_INTERFACE: Final = 0x01
_HALT: Final = 0


class _Device:
    """One device of the server, and its own handle: it is imported at the first request that needs it."""

    def __init__(self, host: str, port: int, exported: ExportedDevice) -> None:
        self.exported = exported
        self.descriptor: SimpleNamespace
        self._host = host
        self._port = port
        self._connection: UsbIpConnection | None = None
        self._configurations: dict[int, descriptors.UsbConfiguration] = {}
        self._strings: dict[int, bytes] = {}  # known without a request
        self._describe()

    @property
    def connection(self) -> UsbIpConnection:
        """The connection that imports the device, opened when first used."""
        if self._connection is None:
            self._connection = UsbIpConnection(self._host, self._port, self.exported)
        return self._connection

    def close(self) -> None:
        """Release the device."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def configuration(self, index: int) -> descriptors.UsbConfiguration:
        """Return a configuration; read once."""
        if index not in self._configurations:
            if index >= self.exported.configurations:
                raise IndexError(f"no configuration {index}")
            with self._borrowed() as connection, _strict():
                data = _descriptor(connection, descriptors.CONFIGURATION, index, 0xFFFF)
                self._configurations[index] = descriptors.read_configuration(data)
        return self._configurations[index]

    def known(self, request_type: int, request: int, value: int) -> bytes | None:
        """Return the answer to a control request that needs no import; None if it needs one."""
        if (request_type, request, value >> 8) == (_FROM_DEVICE, _GET_DESCRIPTOR, descriptors.STRING):
            return self._strings.get(value & 0xFF)
        return None

    def _describe(self) -> None:
        if self.exported.serial is not None:
            self.descriptor = descriptors.listed_device(self.exported, _SERIAL_INDEX)
            self._remember(_SERIAL_INDEX, self.exported.serial)
            return
        try:
            with self._borrowed() as connection, _strict():
                data = _descriptor(connection, descriptors.DEVICE, 0, descriptors.DEVICE_LAYOUT.size)
                self.descriptor = descriptors.read_device(data, self.exported)
                index = self.descriptor.iSerialNumber
                if index:
                    data = _descriptor(connection, descriptors.STRING, index, 254, descriptors.ENGLISH)
                    self._remember(index, descriptors.read_string(data))
        except USBError as error:
            if error.errno not in (errno.EBUSY, errno.ENODEV):
                raise
            self.descriptor = descriptors.listed_device(self.exported, 0)  # in use, or just unplugged

    def _remember(self, index: int, serial: str) -> None:
        self._strings = {0: pack("<BBH", 4, descriptors.STRING, descriptors.ENGLISH)}
        self._strings[index] = descriptors.pack_string(serial)

    @contextmanager
    def _borrowed(self) -> Iterator[UsbIpConnection]:
        """Yield the connection; close it afterwards unless it was open before."""
        lasting = self._connection is not None
        try:
            yield self.connection
        finally:
            if not lasting:
                self.close()


class UsbIpBackend(IBackend):  # type: ignore[misc]  # pyusb has no types
    """The devices that one USB/IP server exports, for `usb.core.find(backend=...)`. Bulk and control transfers."""

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port

    def enumerate_devices(self) -> list[_Device]:
        """Ask the server for its list."""
        return [_Device(self._host, self._port, exported) for exported in list_devices(self._host, self._port)]

    def get_parent(self, _dev: _Device) -> None:
        """No hub is exported."""

    def get_device_descriptor(self, dev: _Device) -> SimpleNamespace:
        """Return the device descriptor."""
        return dev.descriptor

    def get_configuration_descriptor(self, dev: _Device, config: int) -> SimpleNamespace:
        """Return the descriptor, read from the device."""
        return dev.configuration(config).descriptor

    def get_interface_descriptor(self, dev: _Device, intf: int, alt: int, config: int) -> SimpleNamespace:
        """Return an interface descriptor; IndexError ends an enumeration."""
        return dev.configuration(config).interfaces[intf][alt].descriptor

    def get_endpoint_descriptor(self, dev: _Device, ep: int, intf: int, alt: int, config: int) -> SimpleNamespace:
        """Return the descriptor, read from the device."""
        return dev.configuration(config).interfaces[intf][alt].endpoints[ep]

    def open_device(self, dev: _Device) -> _Device:
        """Return the device; it is imported when needed."""
        return dev

    def close_device(self, dev_handle: _Device) -> None:
        """Release the device."""
        dev_handle.close()

    def set_configuration(self, dev_handle: _Device, config_value: int) -> None:
        """Send the request to the device."""
        _order(dev_handle.connection, 0, _SET_CONFIGURATION, config_value, 0)

    def get_configuration(self, dev_handle: _Device) -> int:
        """Return the configuration that the server has set."""
        return dev_handle.exported.configuration

    def set_interface_altsetting(self, dev_handle: _Device, intf: int, altsetting: int) -> None:
        """Send the request to the device."""
        _order(dev_handle.connection, _TO_INTERFACE, _SET_INTERFACE, altsetting, intf)

    def claim_interface(self, dev_handle: _Device, _intf: int) -> None:
        """Import the device with all its interfaces. EBUSY if another host uses it."""
        assert dev_handle.connection is not None

    def release_interface(self, _dev_handle: _Device, _intf: int) -> None:
        """Do nothing: closing releases the device."""

    def bulk_write(self, dev_handle: _Device, ep: int, _intf: int, data: array[int], timeout: int) -> int:
        """Send bytes; return how many the device accepted."""
        return dev_handle.connection.write(ep, data.tobytes(), timeout)

    def bulk_read(self, dev_handle: _Device, ep: int, _intf: int, buff: array[int], timeout: int) -> int:
        """Receive into a buffer."""
        return _fill(buff, dev_handle.connection.read(ep, len(buff), timeout))

    def ctrl_transfer(
        self,
        dev_handle: _Device,
        request_type: int,
        request: int,
        value: int,
        index: int,
        data: array[int],
        timeout: int,
    ) -> int:
        """Do a control transfer on endpoint 0, or answer it from known data."""
        known = dev_handle.known(request_type, request, value)
        if known is not None:
            return _fill(data, known[: len(data)])
        setup = pack("<BBHHH", request_type, request, value, index, len(data))
        if request_type & _FROM_DEVICE:
            return _fill(data, dev_handle.connection.read(_CONTROL, len(data), timeout, setup))
        return dev_handle.connection.write(_CONTROL, data.tobytes(), timeout, setup)

    def clear_halt(self, dev_handle: _Device, ep: int) -> None:
        """End an endpoint's stall."""
        _order(dev_handle.connection, _TO_ENDPOINT, _CLEAR_FEATURE, _HALT, ep)

    def is_kernel_driver_active(self, _dev_handle: _Device, _intf: int) -> bool:
        """No kernel is involved."""
        return False


def _fill(buffer: array[int], data: bytes) -> int:
    buffer[: len(data)] = array("B", data)
    return len(data)


def _order(connection: UsbIpConnection, request_type: int, request: int, value: int, index: int) -> None:
    connection.write(_CONTROL, b"", _CONTROL_MS, pack("<BBHHH", request_type, request, value, index, 0))


def _descriptor(connection: UsbIpConnection, kind: int, index: int, size: int, language: int = 0) -> bytes:
    setup = pack("<BBHHH", _FROM_DEVICE, _GET_DESCRIPTOR, kind << 8 | index, language, size)
    return connection.read(_CONTROL, size, _CONTROL_MS, setup)


@contextmanager
def _strict() -> Iterator[None]:
    """Turn malformed descriptors into a USB error."""
    try:
        yield
    except BadUsbIpPacket as error:
        raise usb_error(errno.EPROTO, f"the device describes itself wrongly: {error}") from error
