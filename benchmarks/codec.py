"""Measures message to wire bytes and back, with CRC and MAC, against pymodbus's RTU framer and PDU.

All rows make the message object and get one frame per chunk, as from a serial port. Our message has four numbers. The
budget compares with the PDU that writes four registers; the reply to a read of four registers is shown as well.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

from pymodbus.framer import FramerRTU
from pymodbus.pdu import DecodePDU
from pymodbus.pdu.register_message import ReadHoldingRegistersResponse, WriteMultipleRegistersRequest

from benchmarks.budgets import BUDGETS
from benchmarks.rows import BenchmarkRow, Role, arguments, interleave, print_table, print_verdict
from devices.shuffler.messages import Reason, Stopped, ToHost
from firmware_bridge.frame import EVENT, FIRST_SEQ, NO_RE, to_wire
from firmware_bridge.framer import Framer
from firmware_bridge.messages import decoder, encode
from firmware_bridge.seal import KEY_SIZE, Opener, Sealer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pymodbus.pdu import ModbusPDU

# Frames per sample: enough to hide the cost of reading the clock, few enough for a meaningful p99.
BATCH: Final = 1024
ROUNDS: Final = 120

_KEY: Final = bytes(range(1, KEY_SIZE + 1))
# All counts of a deck, with zeros: zero bytes are what byte stuffing costs.
_VALUES: Final = [(1000 + n, n % 54, n // 5 % 54, Reason.STOPPED) for n in range(BATCH)]
_REGISTERS: Final = [[int(value) for value in values] for values in _VALUES]
_FROM_DEVICE: Final = decoder(ToHost)
_MASTER: Final = FramerRTU(DecodePDU(is_server=False))
_SLAVE: Final = FramerRTU(DecodePDU(is_server=True))
_ADDRESS: Final = 1


def encode_ours() -> list[bytes]:
    """Make message objects, payloads, seals, frames."""
    seal = Sealer(_KEY).seal
    wires = []
    for command, entered, left, reason in _VALUES:
        payload = encode(Stopped(command, entered, left, reason))
        signed, mac = seal(0, EVENT, FIRST_SEQ, FIRST_SEQ, NO_RE, payload)
        wires.append(to_wire(signed, mac))
    return wires


def decode_ours(wires: list[bytes]) -> list[object]:
    """Turn a stream's chunks into frames, check them, return message objects."""
    feed = Framer().feed
    accepts = Opener(_KEY).accepts
    decode = _FROM_DEVICE.decode
    return [decode(frame.payload) for wire in wires for frame in feed(wire) if accepts(frame)]


def encode_write() -> list[bytes]:
    """Make pymodbus's PDU objects and frames of four registers to write."""
    build, pdu = _MASTER.buildFrame, WriteMultipleRegistersRequest
    return [build(pdu(address=_ADDRESS, registers=values, dev_id=1)) for values in _REGISTERS]


def encode_reply() -> list[bytes]:
    """Make pymodbus's PDU objects and frames of four registers that were read."""
    build, pdu = _SLAVE.buildFrame, ReadHoldingRegistersResponse
    return [build(pdu(registers=values, dev_id=1)) for values in _REGISTERS]


def decode_write(wires: list[bytes]) -> list[ModbusPDU | None]:
    """Turn a stream's chunks into pymodbus's PDU objects, as its server does."""
    handle = _SLAVE.handleFrame
    return [handle(wire, 0, 0)[1] for wire in wires]


def decode_reply(wires: list[bytes]) -> list[ModbusPDU | None]:
    """Turn a stream's chunks into pymodbus's PDU objects, as its client does."""
    handle = _MASTER.handleFrame
    return [handle(wire, 1, 0)[1] for wire in wires]


def _row(name: str, work: Callable[[], Sequence[object]], role: Role) -> BenchmarkRow:
    def batch() -> list[float]:
        start = perf_counter()
        done = work()
        took = perf_counter() - start
        assert len(done) == BATCH
        assert None not in done
        return [took / BATCH]

    return BenchmarkRow(name, batch, role)


def main() -> None:
    """Measure, print, judge."""
    rounds = arguments(
        "Encode and decode frames compared with pymodbus. Ratios count; absolute figures show the size.",
        "python -m benchmarks.codec --rounds 200",
        ROUNDS,
    )
    ours, write, reply = encode_ours(), encode_write(), encode_reply()
    encoding = [
        _row("pitbox", encode_ours, "ours"),
        _row("pymodbus, write", encode_write, "peer"),
        _row("pymodbus, read reply", encode_reply, "peer"),
    ]
    decoding = [
        _row("pitbox", lambda: decode_ours(ours), "ours"),
        _row("pymodbus, write", lambda: decode_write(write), "peer"),
        _row("pymodbus, read reply", lambda: decode_reply(reply), "peer"),
    ]
    interleave([*encoding, *decoding], rounds)
    print_table(f"encode, per frame ({len(ours[0])}, {len(write[0])}, {len(reply[0])} bytes)", encoding, encoding[:1])
    print_table("decode from a stream, per frame", decoding, decoding[:1])
    for what, rows in (("encode", encoding), ("decode", decoding)):
        print_verdict(BUDGETS["codec"], f"{what}, pymodbus's write / pitbox", rows[1].ratio(rows[0]))


if __name__ == "__main__":
    main()
