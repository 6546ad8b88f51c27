"""Parses USB descriptors into the objects that pyusb expects, with the field names of the USB specification."""

from __future__ import annotations

from struct import Struct
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

from simulators.usbip.packets import BadUsbIpPacket

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulators.usbip.packets import ExportedDevice

DEVICE: Final = 1
CONFIGURATION: Final = 2
STRING: Final = 3
INTERFACE: Final = 4
ENDPOINT: Final = 5
ENGLISH: Final = 0x0409

DEVICE_LAYOUT: Final = Struct("<BBHBBBBHHHBBBB")
CONFIGURATION_LAYOUT: Final = Struct("<BBHBBBBB")
INTERFACE_LAYOUT: Final = Struct("<BBBBBBBBB")
ENDPOINT_LAYOUT: Final = Struct("<BBBBHB")

_DEVICE_FIELDS: Final = (
    "bLength", "bDescriptorType", "bcdUSB", "bDeviceClass", "bDeviceSubClass", "bDeviceProtocol", "bMaxPacketSize0",
    "idVendor", "idProduct", "bcdDevice", "iManufacturer", "iProduct", "iSerialNumber", "bNumConfigurations",
)  # fmt: skip
_CONFIGURATION_FIELDS: Final = (
    "bLength", "bDescriptorType", "wTotalLength", "bNumInterfaces", "bConfigurationValue", "iConfiguration",
    "bmAttributes", "bMaxPower",
)  # fmt: skip
_INTERFACE_FIELDS: Final = (
    "bLength", "bDescriptorType", "bInterfaceNumber", "bAlternateSetting", "bNumEndpoints", "bInterfaceClass",
    "bInterfaceSubClass", "bInterfaceProtocol", "iInterface",
)  # fmt: skip
_ENDPOINT_FIELDS: Final = (
    "bLength", "bDescriptorType", "bEndpointAddress", "bmAttributes", "wMaxPacketSize", "bInterval",
)  # fmt: skip

# USB/IP and libusb count speeds alike up to high speed; then USB/IP counts wireless, which libusb does not know.
_LIBUSB_SPEED: Final = {1: 1, 2: 2, 3: 3, 5: 4, 6: 5}


class UsbInterface:
    """One alternate setting of an interface: its descriptor and those of its endpoints."""

    def __init__(self, descriptor: SimpleNamespace) -> None:
        self.descriptor = descriptor
        self.endpoints: list[SimpleNamespace] = []


class UsbConfiguration:
    """A configuration: its descriptor, and by interface number the alternate settings."""

    def __init__(self, descriptor: SimpleNamespace) -> None:
        self.descriptor = descriptor
        self.interfaces: list[list[UsbInterface]] = []


def pack_string(text: str) -> bytes:
    """Return a string descriptor."""
    encoded = text.encode("utf-16-le")
    return bytes((2 + len(encoded), STRING)) + encoded


def read_string(data: bytes) -> str:
    """Return the text of a string descriptor."""
    if len(data) < 2 or data[1] != STRING or not 2 <= data[0] <= len(data):
        raise BadUsbIpPacket("not a string descriptor")
    return data[2 : data[0] & 0xFE].decode("utf-16-le", "replace")


def read_device(data: bytes, exported: ExportedDevice) -> SimpleNamespace:
    """Return a device descriptor from its 18 bytes."""
    if len(data) != DEVICE_LAYOUT.size or data[1] != DEVICE:
        raise BadUsbIpPacket("not a device descriptor")
    return _placed(_named(_DEVICE_FIELDS, DEVICE_LAYOUT.unpack(data)), exported)


def listed_device(exported: ExportedDevice, serial_index: int) -> SimpleNamespace:
    """Return a device descriptor from a server's list; missing fields get the smallest value that USB allows."""
    values = (
        DEVICE_LAYOUT.size, DEVICE, 0x0200, *exported.device_class, 8, exported.vendor, exported.product,
        exported.release, 0, 0, serial_index, exported.configurations,
    )  # fmt: skip
    return _placed(_named(_DEVICE_FIELDS, values), exported)


def _placed(descriptor: SimpleNamespace, exported: ExportedDevice) -> SimpleNamespace:
    descriptor.bus, descriptor.address = exported.busnum, exported.devnum
    descriptor.port_number = descriptor.port_numbers = None
    descriptor.speed = _LIBUSB_SPEED.get(exported.speed)
    return descriptor


def read_configuration(data: bytes) -> UsbConfiguration:
    """Return a configuration from all of its bytes; descriptors of other types are skipped."""
    configuration: UsbConfiguration | None = None
    interface: UsbInterface | None = None
    for kind, part in _parts(data):
        if kind == CONFIGURATION and configuration is None:
            configuration = UsbConfiguration(_read(_CONFIGURATION_FIELDS, CONFIGURATION_LAYOUT, part))
        elif kind == INTERFACE and configuration is not None:
            interface = UsbInterface(_read(_INTERFACE_FIELDS, INTERFACE_LAYOUT, part))
            if interface.descriptor.bAlternateSetting == 0:
                configuration.interfaces.append([])
            if not configuration.interfaces:
                raise BadUsbIpPacket("an alternate setting of no interface")
            configuration.interfaces[-1].append(interface)
        elif kind == ENDPOINT and interface is not None:
            endpoint = _read(_ENDPOINT_FIELDS, ENDPOINT_LAYOUT, part)
            endpoint.bRefresh = endpoint.bSynchAddress = 0
            interface.endpoints.append(endpoint)
    if configuration is None:
        raise BadUsbIpPacket("not a configuration descriptor")
    configuration.descriptor.bNumInterfaces = len(configuration.interfaces)
    for interface in (setting for settings in configuration.interfaces for setting in settings):
        interface.descriptor.bNumEndpoints = len(interface.endpoints)
    return configuration


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        if len(data) < 2 or not 2 <= data[0] <= len(data):
            raise BadUsbIpPacket("a descriptor with a wrong length")
        yield data[1], data[: data[0]]
        data = data[data[0] :]


def _read(names: tuple[str, ...], layout: Struct, part: bytes) -> SimpleNamespace:
    if len(part) < layout.size:
        raise BadUsbIpPacket("a descriptor that is too short for its type")
    return _named(names, layout.unpack_from(part))


def _named(names: tuple[str, ...], values: tuple[int, ...]) -> SimpleNamespace:
    return SimpleNamespace(**dict(zip(names, values, strict=True)), extra_descriptors=b"")
