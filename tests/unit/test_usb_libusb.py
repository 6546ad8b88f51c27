"""The USB transport and errors of libusb: each becomes a sentence that names what to do."""

from __future__ import annotations

import errno
from types import SimpleNamespace
from typing import Any

import pytest
import usb.backend
import usb.core

from firmware_bridge.errors import PortBusy, PortFailed, PortMissing
from firmware_bridge.transport import usb as transport_module
from firmware_bridge.transport.ports import open_port
from firmware_bridge.transport.usb import find_ports
from simulators.usbip.descriptors import pack_string, read_configuration
from tests.support.wire.usbip_golden import CONFIGURATION_DESCRIPTOR

pytestmark = pytest.mark.realtime


async def test_a_libusb_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    import libusb_package

    monkeypatch.setattr(libusb_package, "get_libusb1_backend", lambda: None)
    with pytest.raises(PortFailed, match="libusb does not start"):
        await open_port("usb:1209:0001:x")


class Denied(usb.backend.IBackend):  # type: ignore[misc]  # pyusb has no types
    """A libusb whose opening or claiming fails, as far as the tests need; a real bus cannot produce this."""

    def __init__(self, opening: int, claiming: int, serial: str = "SN-1") -> None:
        self.opening = opening
        self.claiming = claiming
        self.serial = serial

    def enumerate_devices(self) -> list[str]:
        return ["the device"]

    def get_device_descriptor(self, _: str) -> Any:
        fields = dict.fromkeys(("bLength", "bDescriptorType", "bcdUSB", "bDeviceClass", "bDeviceSubClass"), 0)
        fields |= dict.fromkeys(("bDeviceProtocol", "bMaxPacketSize0", "bcdDevice", "iManufacturer", "iProduct"), 0)
        fields |= {"idVendor": 0x1209, "idProduct": 1, "iSerialNumber": 3, "bNumConfigurations": 1}
        return SimpleNamespace(**fields, address=1, bus=1, port_number=None, port_numbers=None, speed=None)

    def get_configuration_descriptor(self, _: str, config: int) -> Any:
        return _configuration().descriptor

    def get_interface_descriptor(self, _: str, intf: int, alt: int, config: int) -> Any:
        return _configuration().interfaces[intf][alt].descriptor

    def get_endpoint_descriptor(self, _: str, ep: int, intf: int, alt: int, config: int) -> Any:
        return _configuration().interfaces[intf][alt].endpoints[ep]

    def open_device(self, _: str) -> str:
        if self.opening:
            raise usb.core.USBError("denied", -3, self.opening)
        return "the handle"

    def close_device(self, _: str) -> None:
        pass

    def get_configuration(self, _: str) -> int:
        return 1

    def claim_interface(self, _: str, intf: int) -> None:
        raise usb.core.USBError("claimed", -6, self.claiming)

    def ctrl_transfer(self, _h: str, _t: int, _r: int, value: int, _i: int, data: Any, _ms: int) -> int:
        answer = bytes.fromhex("04030904") if value == 0x0300 else pack_string(self.serial)
        data[: len(answer)] = type(data)("B", answer)
        return len(answer)


def _configuration() -> Any:
    return read_configuration(CONFIGURATION_DESCRIPTOR)


@pytest.mark.parametrize(
    ("opening", "claiming", "kind", "words"),
    [
        (errno.EACCES, 0, PortFailed, "permission denied; deploy/udev/70-pitbox.rules"),
        (errno.ENODEV, 0, PortMissing, "no such device is plugged in"),
        (errno.EIO, 0, PortFailed, "denied"),
        (0, errno.EBUSY, PortBusy, "in use by another program"),
        (0, errno.ENODEV, PortMissing, "claimed"),
        (0, errno.EIO, PortFailed, "claimed"),
    ],
)
async def test_libusb_errors_become_clear_sentences(
    monkeypatch: pytest.MonkeyPatch, opening: int, claiming: int, kind: type[Exception], words: str
) -> None:
    monkeypatch.setattr(transport_module, "_backend", lambda _: Denied(opening, claiming))
    with pytest.raises(kind, match=words) as refused:
        await open_port("usb:1209:0001:SN-1")
    assert "Errno" not in str(refused.value)


@pytest.mark.parametrize("serial", ["SN-1\x1b[2J", "", "\N{SNOWMAN}", "a\nb"])
async def test_a_serial_number_with_terminal_control_characters_is_refused(
    monkeypatch: pytest.MonkeyPatch, serial: str
) -> None:
    monkeypatch.setattr(transport_module, "_backend", lambda _: Denied(0, 0, serial))
    with pytest.raises(PortMissing, match="one that cannot be read") as missing:
        await open_port("usb:1209:0001:SN-1")
    assert str(missing.value).isprintable()
    assert find_ports() == []
