"""The device processes of the link, USB and lock-out benchmarks, one per row; each ends when its input closes.

The benchmarks run `python -m benchmarks.remote_devices NAME PORT`: it makes a pty behind the symbolic link PORT (or
six in the folder PORT), or writes the number of its TCP port into a file of that name, and prints a line when a host
may open it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tty
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

from devices.bet_sensor import messages as bs
from devices.shuffler import messages as m
from firmware_bridge.commands import GetReport, Outcome, Report, Settled
from firmware_bridge.errors import LinkClosed
from firmware_bridge.frame import ACK, FIRST_SEQ, NO_RE, PING, REPLY, REQUEST, SEALED, Frame, to_wire
from firmware_bridge.framer import Framer
from firmware_bridge.handshake import DeviceHandshake
from firmware_bridge.keys import DeviceKey
from firmware_bridge.messages import DeviceHello, decoder, encode
from firmware_bridge.seal import CHALLENGE_SIZE, KEY_SIZE, Opener, Sealer
from firmware_bridge.wire import Wire
from simulators.engine.machine import approved_firmware
from simulators.engine.ports.pty import PtyPort
from simulators.engine.ports.usb import UsbPort
from simulators.kinds.bet_sensor.machine import SimulatedBetSensor
from simulators.kinds.shuffler.machine import SimulatedShuffler
from simulators.usbip.server import UsbIpServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.link import Link
    from firmware_bridge.messages import Message

CHUNK: Final = 4096
TO_DEVICE: Final = bytes(range(1, KEY_SIZE + 1))
TO_HOST: Final = bytes(range(2, KEY_SIZE + 2))
DEVICE_KEY: Final = DeviceKey("BENCH-1", m.KIND, TO_DEVICE)
REGISTERS: Final = [3, 1, 53, 17]  # the values of pymodbus's server


class EndCodec:
    """The minimum work of one end of an authenticated exchange: frame, check, decode; encode, seal, stuff."""

    def __init__(self, own_key: bytes, other_key: bytes, messages: object, type_: int) -> None:
        self._feed = Framer().feed
        self._accepts = Opener(other_key).accepts
        self._decode = decoder(messages).decode
        self._seal = Sealer(own_key).seal
        self._type = type_

    def read(self, chunk: bytes) -> list[Message]:
        """Return the authentic messages in a chunk."""
        return [self._decode(frame.payload) for frame in self._feed(chunk) if self._accepts(frame)]

    def write(self, message: Message) -> bytes:
        """Return a message's bytes on the wire."""
        signed, mac = self._seal(0, self._type, FIRST_SEQ, FIRST_SEQ, NO_RE, encode(message))
        return to_wire(signed, mac)


def host_codec() -> EndCodec:
    """Return the host's end of the floor with codec and MAC."""
    return EndCodec(TO_DEVICE, TO_HOST, m.ToHost, REQUEST)


def device_codec() -> EndCodec:
    """Return the device's end of the floor with codec and MAC."""
    return EndCodec(TO_HOST, TO_DEVICE, m.ToDevice, REPLY)


def status() -> m.Status:
    """Return the status of an idle shuffler with a deck in its intake."""
    return m.Status(m.State.IDLE, m.Mode.SHUFFLE, False, True, 0, 0, 0, m.Reason.NONE)


def _pty(port: Path) -> tuple[int, int]:
    """Return both ends of a new raw pty behind `port`; it stays open, so that a host may connect again."""
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    port.symlink_to(os.ttyname(slave))
    return master, slave


def _echo(port: Path, answer: Callable[[bytes], bytes]) -> None:
    master, _ = _pty(port)

    def readable() -> None:
        os.write(master, answer(os.read(master, CHUNK)))

    asyncio.get_running_loop().add_reader(master, readable)


async def bare(port: Path) -> None:
    """Send back what came."""
    _echo(port, lambda chunk: chunk)


async def codec(port: Path) -> None:
    """Decode, check, answer with a status, seal, encode."""
    end = device_codec()
    _echo(port, lambda chunk: b"".join([end.write(status()) for _ in end.read(chunk)]))


async def pitbox(port: Path) -> PtyPort:
    """Run our simulated shuffler."""
    return PtyPort(SimulatedShuffler(key=DEVICE_KEY), port)


async def pymodbus(port: Path) -> object:
    """Run pymodbus's asynchronous serial server, RTU."""
    from pymodbus.server import ModbusSerialServer  # noqa: PLC0415 - the other rows do without it
    from pymodbus.simulator import DataType, SimData, SimDevice  # noqa: PLC0415

    master, _ = _pty(port)
    device = SimDevice(1, [SimData(0, values=REGISTERS, datatype=DataType.REGISTERS)])
    server = ModbusSerialServer(device, port=str(port))
    # The server opens its port by name, and a pty's master has none.
    with mock.patch("os.open", return_value=master):
        await server.serve_forever(background=True)
    return server


class _Answers(asyncio.Protocol):
    """Answers every chunk at once."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(self._answer(data))


def _write_down(port: Path, number: int) -> None:
    port.write_text(str(number))


async def _tcp(port: Path, answer: Callable[[bytes], bytes]) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Answers(answer), "127.0.0.1", 0)
    _write_down(port, server.sockets[0].getsockname()[1])
    return server


async def bare_tcp(port: Path) -> object:
    """Send back what came."""
    return await _tcp(port, lambda chunk: chunk)


async def codec_tcp(port: Path) -> object:
    """Decode, check, answer with a status, seal, encode."""
    end = device_codec()
    return await _tcp(port, lambda chunk: b"".join([end.write(status()) for _ in end.read(chunk)]))


async def usbip(port: Path) -> object:
    """Run our simulated shuffler as a USB device."""
    server = UsbIpServer()
    await server.start()
    _write_down(port, server.number)
    return UsbPort(SimulatedShuffler(key=DEVICE_KEY), server)


PTY_ENDS: Final = {end.__name__: end for end in (bare, codec, pitbox, pymodbus)}
TCP_ENDS: Final = {end.__name__: end for end in (bare_tcp, codec_tcp, usbip)}


# --- six at a time, for the lock-out: `port` is a folder with a port per seat -----------------------------------------


def seat_ports(folder: Path) -> list[Path]:
    """Return the six ports of a table in a folder."""
    return [folder / f"bet_sensor.{seat}" for seat in range(1, 7)]


def sensor_keys() -> list[DeviceKey]:
    """Return the keys of the six sensors."""
    return [DeviceKey(f"BENCH-{seat}", bs.KIND, TO_DEVICE) for seat in range(1, 7)]


def latched(lock: bs.Lock) -> bs.Locked:
    """Return the answer of a sensor with a bet on it."""
    return bs.Locked(bs.Latch(lock.round, lock.lock_id, 3, bs.SpotContent.CHIP))


async def fan_bare(folder: Path) -> None:
    """Send back what came, six times."""
    for port in seat_ports(folder):
        _echo(port, lambda chunk: chunk)


async def fan_codec(folder: Path) -> None:
    """Decode, check, confirm the lock, seal, encode, six times."""
    for port in seat_ports(folder):
        end = EndCodec(TO_HOST, TO_DEVICE, bs.ToDevice, REPLY)
        _echo(port, partial(_confirm, end))


def _confirm(end: EndCodec, chunk: bytes) -> bytes:
    asked: list[Any] = list(end.read(chunk))
    return b"".join([end.write(latched(lock)) for lock in asked])


async def fan_pitbox(folder: Path) -> list[PtyPort]:
    """Run six of our simulated bet sensors."""
    ports = zip(seat_ports(folder), sensor_keys(), strict=True)
    return [PtyPort(SimulatedBetSensor(port.name, key=key), port) for port, key in ports]


class _BareSensor:
    """A minimal session of our protocol: handshake, then answers with correct numbers."""

    def __init__(self, port: Path, key: DeviceKey) -> None:
        self.on_bytes: Callable[[bytes], Any] = bytes
        self.on_lost: Callable[[Any], Any] = repr
        self.backlog = 0
        self._master, _ = _pty(port)
        firmware = approved_firmware(bs.KIND)
        hello = DeviceHello(
            bs.KIND, key.serial, "bare", firmware.version, firmware.digest, [bs.LATCHES], 1, bytes(CHALLENGE_SIZE)
        )
        self._greeter = DeviceHandshake(Wire(self), key.key, hello, decoder(bs.ToDevice), self._session, os.urandom)
        asyncio.get_running_loop().add_reader(self._master, lambda: self.on_bytes(os.read(self._master, CHUNK)))

    def write(self, data: bytes) -> None:
        """Write to the host."""
        os.write(self._master, data)

    def close(self) -> None:
        """Stay: the process ends soon."""

    def _session(self, link: Link, _: str) -> None:
        self._feed, self._accepts, self._seal = Framer().feed, link._opener.accepts, link._sealer.seal
        self._decode = decoder(bs.ToDevice).decode
        self._seq = FIRST_SEQ
        link.fail(LinkClosed("from here on by hand"))  # its timers too
        self.on_bytes = self._read

    def _read(self, chunk: bytes) -> None:
        for frame in self._feed(chunk):
            if frame.flags & SEALED and self._accepts(frame):
                self._answer(frame)

    def _answer(self, frame: Frame) -> None:
        if frame.type == PING:
            self.write(to_wire(*self._seal(0, ACK, frame.counter & 0xFFFF, FIRST_SEQ, NO_RE, b"")))
        elif frame.type == REQUEST:
            reply = encode(_reply(self._decode(frame.payload)))
            self.write(to_wire(*self._seal(0, REPLY, self._seq, (frame.seq + 1) & 0xFFFF, frame.seq, reply)))
            self._seq = (self._seq + 1) & 0xFFFF


def _reply(asked: Any) -> Message:
    if isinstance(asked, bs.Lock):
        return latched(asked)
    if isinstance(asked, GetReport):
        return Report(1, 0, 0, [])
    if isinstance(asked, bs.GetStatus):
        return bs.Status(bs.State.NONE, 0, bs.SpotContent.EMPTY, 0, bs.Light.OFF, None, bs.Reason.NONE)
    return Settled(asked.command, Outcome.DONE, 0)


async def fan_session(folder: Path) -> list[_BareSensor]:
    """Run six minimal sessions of our protocol."""
    return [_BareSensor(port, key) for port, key in zip(seat_ports(folder), sensor_keys(), strict=True)]


SEAT_ENDS: Final = {end.__name__: end for end in (fan_bare, fan_codec, fan_session, fan_pitbox)}


async def _serve(name: str, port: Path) -> None:
    loop = asyncio.get_running_loop()
    kept: object = await (PTY_ENDS | TCP_ENDS | SEAT_ENDS)[name](port)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ended.set)  # nothing is written to it: readable means closed
    print("ready", flush=True)
    await ended.wait()
    for each in kept if isinstance(kept, list) else [kept]:
        if isinstance(each, PtyPort):
            each.close()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], Path(sys.argv[2])))
