"""Addresses of USB ports: their forms, and clear errors for invalid ones."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadPort
from firmware_bridge.transport.ports import is_path, open_port
from firmware_bridge.transport.usb_address import UsbAddress, parse_server, parse_usb

GOOD = {
    "usb:1209:0001:SN-00123": UsbAddress(0x1209, 1, "SN-00123"),
    "usb:ABCD:ef01:a:b c/d": UsbAddress(0xABCD, 0xEF01, "a:b c/d"),
    "usbip://127.0.0.1:3240/1209:0001:SIM-0001-1": UsbAddress(0x1209, 1, "SIM-0001-1", ("127.0.0.1", 3240)),
    "usbip://bench:1/1209:0001:?#/@": UsbAddress(0x1209, 1, "?#/@", ("bench", 1)),
    "usbip://[::1]:3240/1209:0001:x": UsbAddress(0x1209, 1, "x", ("::1", 3240)),
}


@pytest.mark.parametrize("url", list(GOOD))
def test_addresses_that_can_be_read(url: str) -> None:
    assert parse_usb(url) == GOOD[url]
    assert not is_path(url)


def test_an_address_is_written_as_it_is_read() -> None:
    for url in GOOD:
        assert str(parse_usb(url)).lower() == url.lower()
    assert str(parse_usb("usb:ABCD:EF01:x")) == "usb:abcd:ef01:x"


BAD = [
    "usb:", "usb:1209", "usb:1209:1:x", "usb:120g:0001:x", "usb:1209-0001-x", "usb://1209:0001:x", "usb:0x1209:0001:x",
    "usb:1209:0001:\N{LATIN SMALL LETTER E WITH ACUTE}", "usb:1209:0001:a\nb", "usb:1209:0001:" + "x" * 127,
    "usbip:1209:0001:x", "usbip://127.0.0.1:3240", "usbip://127.0.0.1:3240/", "usbip://127.0.0.1:3240/1209:0001/x",
]  # fmt: skip


@pytest.mark.parametrize("url", BAD)
async def test_an_unreadable_address_is_refused_with_the_expected_form(url: str) -> None:
    with pytest.raises(BadPort, match="usb:VENDOR:PRODUCT:SERIAL or usbip://HOST:PORT/VENDOR:PRODUCT:SERIAL"):
        await open_port(url)


@pytest.mark.parametrize("url", ["usb:1209:0001", "usb:1209:0001:", "usbip://127.0.0.1:3240/1209:0001"])
def test_an_address_without_a_serial_number_is_refused_with_the_reason(url: str) -> None:
    with pytest.raises(BadPort, match="serial number"):
        parse_usb(url)


@pytest.mark.parametrize(
    "where", ["", "127.0.0.1", ":3240", "host:", "host:x", "host:99999", "host:0", "[::1:1", "a@b:1"]
)
def test_invalid_server_addresses(where: str) -> None:
    with pytest.raises(BadPort, match="HOST:PORT"):
        parse_server(where)
    with pytest.raises(BadPort):
        parse_usb(f"usbip://{where}/1209:0001:x")


def test_paths_are_paths() -> None:
    assert is_path("/dev/ttyUSB0")
    assert is_path("bench/usb.1")
    assert not is_path("socket://127.0.0.1:1")
