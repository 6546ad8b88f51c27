"""USB/IP packets worked out by hand from the kernel's description of the protocol, for both ends.

The device is the first one that our server exports: 1209:0001 at bus id 1-1, bus 1, device number 2.
"""

from __future__ import annotations

from typing import Final


def _bytes(*parts: str) -> bytes:
    return b"".join(bytes.fromhex(part) for part in parts)


def _padded(text: bytes, size: int) -> str:
    return (text + bytes(size - len(text))).hex()


SERIAL: Final = "SN-1"

#                                version  code  status
REQ_DEVLIST: Final = _bytes("0111", "8005", "00000000")
REP_NO_DEVICES: Final = _bytes("0111", "0005", "00000000", "00000000")
DEVICE: Final = _bytes(
    _padded(b"/pitbox/SN-1", 256),
    _padded(b"1-1", 32),
    "00000001 00000002 00000002",  # bus, device number, full speed
    "1209 0001 0100",  # vendor, product, release
    "00 00 00",  # class: look at the interfaces
    "01 01 01",  # configuration set, configurations, interfaces
)
REP_DEVLIST: Final = _bytes("0111", "0005", "00000000", "00000001") + DEVICE + _bytes("ff000000")
REQ_IMPORT: Final = _bytes("0111", "8003", "00000000", _padded(b"1-1", 32))
REP_IMPORT: Final = _bytes("0111", "0003", "00000000") + DEVICE
REP_BUSY: Final = _bytes("0111", "0003", "00000002")
REP_NO_DEVICE: Final = _bytes("0111", "0003", "00000004")

# command, sequence number, device id, direction, endpoint; flags, length, start, packets, interval; setup
GET_DEVICE_DESCRIPTOR: Final = _bytes(
    "00000001 00000001 00010002 00000001 00000000",
    "00000200 00000012 00000000 ffffffff 00000000",
    "80 06 0001 0000 1200",  # a setup packet is little-endian
)
DEVICE_DESCRIPTOR: Final = _bytes("12 01 0002 00 00 00 40 0912 0100 0001 01 02 03 01")
RET_DEVICE_DESCRIPTOR: Final = (
    _bytes("00000003 00000001 00000000 00000000 00000000", "00000000 00000012 00000000 ffffffff 00000000", "00" * 8)
    + DEVICE_DESCRIPTOR
)
CONFIGURATION_DESCRIPTOR: Final = _bytes(
    "09 02 2000 01 01 00 c0 00",  # 32 bytes in all, self-powered
    "09 04 00 00 02 ff 00 00 00",  # vendor-specific, two endpoints
    "07 05 81 02 4000 00",  # bulk in, 64 bytes
    "07 05 01 02 4000 00",  # bulk out
)
SUBMIT_OUT: Final = _bytes(
    "00000001 00000002 00010002 00000000 00000001",
    "00000000 00000003 00000000 ffffffff 00000000",
    "00" * 8,
    "616263",
)
RET_OUT: Final = _bytes(
    "00000003 00000002 00000000 00000000 00000000", "00000000 00000003 00000000 ffffffff 00000000", "00" * 8
)
SUBMIT_IN: Final = _bytes(
    "00000001 00000003 00010002 00000001 00000001",
    "00000200 00000040 00000000 ffffffff 00000000",
    "00" * 8,
)
RET_IN: Final = _bytes(
    "00000003 00000003 00000000 00000000 00000000",
    "00000000 00000002 00000000 ffffffff 00000000",
    "00" * 8,
    "6f6b",
)
RET_STALL: Final = _bytes(  # -32
    "00000003 00000003 00000000 00000000 00000000", "ffffffe0 00000000 00000000 ffffffff 00000000", "00" * 8
)
RET_UNPLUGGED: Final = _bytes(  # -19
    "00000003 00000003 00000000 00000000 00000000", "ffffffed 00000000 00000000 ffffffff 00000000", "00" * 8
)
UNLINK: Final = _bytes("00000002 00000004 00010002 00000000 00000000", "00000003", "00" * 24)
RET_UNLINKED: Final = _bytes("00000004 00000004 00000000 00000000 00000000", "ffffff98", "00" * 24)  # -104
RET_UNLINKED_TOO_LATE: Final = _bytes("00000004 00000004 00000000 00000000 00000000", "00000000", "00" * 24)

# The description's own example, seen on the wire between Linux and a device that is no device of ours.
LINUX_CMD_IN: Final = _bytes(
    "00000001 00000d05 0001000f 00000001 00000001 00000200 00000040 ffffffff 00000000 00000004 00000000 00000000"
)
LINUX_CMD_OUT: Final = _bytes(
    "00000001 00000d06 0001000f 00000000 00000001 00000000 00000040 ffffffff 00000000 00000004 00000000 00000000"
)
LINUX_RET_OUT: Final = _bytes(
    "00000003 00000d06 00000000 00000000 00000000 00000000 00000040 ffffffff 00000000 00000000 00000000 00000000"
)
LINUX_RET_IN: Final = _bytes(
    "00000003 00000d05 00000000 00000000 00000000 00000000 00000040 ffffffff 00000000 00000000 00000000 00000000"
)
