"""A simulated USB device, packet by packet: descriptors, endpoint 0, one bulk endpoint in each direction.

Full speed, like a microcontroller. For its machine it is a transport. Packets behave as on the bus: a transfer ends
when it is full or with a short packet, so data that fills its last packet is followed by an empty one.
"""

from __future__ import annotations

import asyncio
import errno
from collections import deque
from struct import pack, unpack
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadFault
from simulators.usbip import descriptors as d
from simulators.usbip.packets import IN

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import LinkError
    from simulators.engine.faults import InjectedFault
    from simulators.usbip.packets import Submit

# pid.codes reserves this pair for private tests; a machine on the market has its maker's own.
VENDOR: Final = 0x1209
PRODUCT: Final = 0x0001
RELEASE: Final = 0x0100  # of the simulated hardware, in BCD
VENDOR_CLASS: Final = (0xFF, 0, 0)
FULL_SPEED: Final = 2  # as USB/IP numbers speeds
MAX_PACKET: Final = 64  # bytes; the most at full speed
CONFIGURED: Final = 1
BULK_IN: Final = 0x81
BULK_OUT: Final = 0x01
# Bytes that may wait for a host that does not read, as on a pty.
_MAX_BACKLOG: Final = 256 * 1024
_BULK: Final = 2
_SELF_POWERED: Final = 0xC0
_STRINGS: Final = (1, 2, 3)  # manufacturer, product, serial number


def _ignore(_: Any) -> None:
    """Ignore data without a listener."""


class Urb:
    """One transfer that a host requested; `ended` is called once, with a negative error number or 0."""

    __slots__ = ("data", "on_end", "received", "request")

    def __init__(self, asked: Submit, data: bytes, ended: Callable[[Urb, int, int], None]) -> None:
        self.request = asked
        self.data = data  # of an OUT transfer
        self.received = bytearray()  # in an IN transfer
        self.on_end = ended

    def end(self, status: int = 0) -> None:
        """End the transfer."""
        self.on_end(
            self, status, len(self.received) if self.request.direction == IN else len(self.data) * (status == 0)
        )


class UsbDevice:
    """The device. A host attaches, submits transfers and detaches; a machine writes and receives bytes."""

    def __init__(self, serial: str, product: str) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self.on_gone: Callable[[], None] = lambda: None
        self.serial = serial
        self.attached = False
        self.halted: set[int] = set()
        self._strings = ("pitbox", product, serial)
        self._loop = asyncio.get_running_loop()
        self._configuration = CONFIGURED
        self._packets: deque[bytes] = deque()
        self._backlog = 0
        self._reads: deque[Urb] = deque()
        self._writes: deque[Urb] = deque()
        self._stalls: dict[int, int] = {}  # how often an endpoint stalls again after a clear
        self._busy: asyncio.TimerHandle | None = None
        self._open = True

    # --- the machine's side ------------------------------------------------------------------------------------

    @property
    def backlog(self) -> int:
        """Number of bytes that the host has not read yet."""
        return self._backlog

    def write(self, data: bytes) -> None:
        """Send data to the host; without a host it is dropped."""
        if not self.attached or self._backlog + len(data) > _MAX_BACKLOG:
            return
        self._packets += [data[at : at + MAX_PACKET] for at in range(0, len(data), MAX_PACKET)]
        if data and not len(data) % MAX_PACKET:
            self._packets.append(b"")
        self._backlog += len(data)
        self._serve()

    def close(self) -> None:
        """Leave the bus: waiting transfers end with "no such device"."""
        if self._open:
            self._open = False
            if self._busy is not None:
                self._busy.cancel()
            for urb in (*self._reads, *self._writes):
                urb.end(-errno.ENODEV)
            self.detach()
            self.on_gone()

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of USB devices."""
        if fault.kind.name == "usb_stall":
            ends = ("in", "out")
            self.stall((BULK_IN, BULK_OUT)[fault.choice_index("endpoint", ends)], fault.integer("times"))
        elif fault.kind.name == "usb_busy":
            self.keep_busy(fault.number("seconds"))
        else:
            raise BadFault(f"{fault.kind.name} does not act on USB")

    def stall(self, endpoint: int, times: int = 1) -> None:
        """Halt an endpoint until the host has cleared it so many times."""
        self._stalls[endpoint] = max(0, times - 1)
        self.halted.add(endpoint)
        self._serve()

    def keep_busy(self, seconds: float) -> None:
        """Answer no transfer for a time, like busy firmware."""
        if self._busy is not None:
            self._busy.cancel()
        self._busy = self._loop.call_later(seconds, self._rested)

    def _rested(self) -> None:
        self._busy = None
        self._serve()

    # --- the host's side ---------------------------------------------------------------------------------------

    def attach(self) -> None:
        """A host attaches: drop everything of an earlier host."""
        self.detach()
        self.attached = True

    def detach(self) -> None:
        """The host is gone: drop its transfers."""
        self.attached = False
        self._reads.clear()
        self._writes.clear()
        self._packets.clear()
        self._backlog = 0

    def submit(self, urb: Urb) -> None:
        """Accept a transfer; it may end at once or later."""
        asked = urb.request
        address = asked.endpoint | (0x80 if asked.direction == IN else 0)
        if not self._open:
            urb.end(-errno.ENODEV)
        elif asked.endpoint == 0:
            self._control(urb)
        elif address == BULK_IN:
            self._reads.append(urb)
            self._serve()
        elif address == BULK_OUT:
            self._writes.append(urb)
            self._serve()
        else:
            urb.end(-errno.EPIPE)

    def cancel(self, urb: Urb) -> None:
        """Remove a waiting transfer."""
        for waiting in (self._reads, self._writes):
            if urb in waiting:
                waiting.remove(urb)

    def _serve(self) -> None:
        """Move packets between transfers and machine as far as possible."""
        if self._busy is not None:
            return
        for address, waiting in ((BULK_IN, self._reads), (BULK_OUT, self._writes)):
            while address in self.halted and waiting:
                waiting.popleft().end(-errno.EPIPE)
        while self._writes:
            urb = self._writes.popleft()
            urb.end()
            if urb.data:
                self.on_bytes(urb.data)
        while self._reads and self._packets:
            self._send_packet(self._packets.popleft())

    def _send_packet(self, packet: bytes) -> None:
        urb = self._reads[0]
        self._backlog -= len(packet)
        urb.received += packet
        if len(urb.received) > urb.request.length:
            del urb.received[urb.request.length :]
            self._reads.popleft().end(-errno.EOVERFLOW)  # more data than the host requested
        elif len(packet) < MAX_PACKET or len(urb.received) == urb.request.length:
            self._reads.popleft().end()

    # --- endpoint 0 --------------------------------------------------------------------------------------------

    def _control(self, urb: Urb) -> None:
        request_type, request, value, index, length = unpack("<BBHHH", urb.request.setup)
        answer = self._answer(request_type, request, value, index)
        if answer is None:
            urb.end(-errno.EPIPE)
            return
        urb.received += answer[: min(length, urb.request.length)]
        urb.end()

    def _answer(self, request_type: int, request: int, value: int, index: int) -> bytes | None:
        """Return the answer to a standard request; None is a stall."""
        match request_type, request:
            case 0x80, 0:  # status of the device
                return pack("<H", 1)
            case 0x81, 0:  # of the interface
                return pack("<H", 0)
            case 0x82, 0:  # of an endpoint
                return pack("<H", index in self.halted)
            case 0x80, 6:
                return self._descriptor(value >> 8, value & 0xFF)
            case 0x80, 8:
                return bytes([self._configuration])
            case 0x81, 10:  # alternate setting
                return bytes(1)
            case 0x00, 9 if value in (0, CONFIGURED):
                self._configuration = value
                self.halted.clear()
                return b""
            case 0x01, 11 if value == index == 0:
                self.halted.clear()
                return b""
            case 0x02, 1 if value == 0:
                self._clear_halt(index)
                return b""
            case 0x02, 3 if value == 0:
                self.halted.add(index)
                return b""
        return None

    def _clear_halt(self, endpoint: int) -> None:
        if self._stalls.get(endpoint):
            self._stalls[endpoint] -= 1
        else:
            self.halted.discard(endpoint)
            self._serve()

    def _descriptor(self, kind: int, index: int) -> bytes | None:
        if kind == d.DEVICE and index == 0:
            return d.DEVICE_LAYOUT.pack(
                d.DEVICE_LAYOUT.size, d.DEVICE, 0x0200, 0, 0, 0, MAX_PACKET, VENDOR, PRODUCT, RELEASE, *_STRINGS, 1
            )
        if kind == d.CONFIGURATION and index == 0:
            endpoints = [
                d.ENDPOINT_LAYOUT.pack(d.ENDPOINT_LAYOUT.size, d.ENDPOINT, address, _BULK, MAX_PACKET, 0)
                for address in (BULK_IN, BULK_OUT)
            ]
            interface = d.INTERFACE_LAYOUT.pack(
                d.INTERFACE_LAYOUT.size, d.INTERFACE, 0, 0, len(endpoints), *VENDOR_CLASS, 0
            )
            below = interface + b"".join(endpoints)
            head = d.CONFIGURATION_LAYOUT
            return (
                head.pack(head.size, d.CONFIGURATION, head.size + len(below), 1, CONFIGURED, 0, _SELF_POWERED, 0)
                + below
            )
        if kind == d.STRING and index == 0:
            return pack("<BBH", 4, d.STRING, d.ENGLISH)
        if kind == d.STRING and index in _STRINGS:
            return d.pack_string(self._strings[index - 1])
        return None
