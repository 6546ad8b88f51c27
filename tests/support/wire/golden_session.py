"""The other end of the golden session: frames of tests/wire/golden/, and a machine with real simulated firmware."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any, Final

from devices.kinds import SHUFFLER
from devices.shuffler import messages as m
from firmware_bridge import frame as fr
from firmware_bridge.framer import Framer
from firmware_bridge.messages import DeviceHello, Message, decoder, encode
from firmware_bridge.seal import Sealer
from firmware_bridge.transport.memory import MemoryTransport, memory_pair
from simulators.engine.board import Board
from simulators.engine.device_clock import DeviceClock
from simulators.engine.machine import exclude_messages
from simulators.kinds.shuffler.continuous_firmware import ContinuousFirmware
from simulators.kinds.shuffler.continuous_mechanics import ContinuousMechanics
from simulators.kinds.shuffler.firmware import ShufflerFirmware
from simulators.kinds.shuffler.mechanics import ONE_BATCH, ShufflerMechanics
from simulators.world.cards import World
from tests.support.wire.golden import GOLDEN

if TYPE_CHECKING:
    from simulators.kinds.shuffler.shuffler_base import ShufflerFirmwareBase


SESSION: Final[list[dict[str, Any]]] = GOLDEN["session"]
SHAKE: Final[dict[str, bytes]] = {name: bytes.fromhex(text) for name, text in GOLDEN["handshake"].items()}
# The decoders at the receiving ends; a machine's board makes its own in the same way.
DECODER: Final = SHUFFLER.decoder
FIRMWARE_DECODER: Final = decoder(m.ToDevice)


def wire(number: int) -> bytes:
    return bytes.fromhex(SESSION[number]["wire"])


def sealed(key: bytes, payload: bytes, *, seq: int, counter: int, kind: int = fr.REQUEST) -> bytes:
    """Return a frame sealed with a session key."""
    return fr.to_wire(*Sealer(key, counter).seal(0, kind, seq, fr.FIRST_SEQ, fr.NO_RE, payload))


# --- one real end, the golden bytes at the other ---------------------------------------------------------------------


class ScriptedEnd:
    """The other end of a real transport: collects whole frames, and sends scripted ones."""

    def __init__(self, transport: MemoryTransport) -> None:
        self._transport = transport
        self._received: asyncio.Queue[bytes] = asyncio.Queue()
        self._partial_frame = b""
        transport.on_bytes = self._receive

    def _receive(self, data: bytes) -> None:
        *frames, self._partial_frame = (self._partial_frame + data).split(b"\0")
        for frame in filter(None, frames):  # an idle delimiter is not a frame
            self._received.put_nowait(frame + b"\0")

    def send(self, data: bytes) -> None:
        self._transport.write(data)

    async def receive(self) -> bytes:
        async with asyncio.timeout(10):
            return await self._received.get()

    def close(self) -> None:
        self._transport.close()


class _GoldenRandom(Random):
    """Gives the golden boot id; a real board draws its own."""

    def getrandbits(self, k: int, /) -> int:
        return 0x12345678


class GoldenMachine:
    """A machine with the golden identity, key and challenge, on a real link; its deck is still in the tray."""

    def __init__(
        self, challenge: bytes = SHAKE["device_challenge"], *, continuous: bool = False, inserts: bool = False
    ) -> None:
        world, clock = World(), DeviceClock()
        self.world = world
        self.mechanics: ShufflerMechanics
        self.firmware: ShufflerFirmwareBase
        if continuous:
            self.mechanics = store = ContinuousMechanics(world, clock, Random(1), "shuffler.1")
            self.firmware = ContinuousFirmware(store, Random(2), ONE_BATCH)
        else:
            self.mechanics = ShufflerMechanics(world, clock, Random(1), "shuffler.1")
            self.firmware = ShufflerFirmware(self.mechanics, Random(2), identifies=False)
        cycling = m.ToCycleShuffler if inserts else exclude_messages(m.ToCycleShuffler, m.Insert)
        hello = DECODER_OF_HELLO.decode(SHAKE["device_hello"])
        self.board = Board(
            hello,
            SHAKE["key"],
            m.ToContinuousShuffler if continuous else cycling,
            self.firmware.handle,
            self.firmware.boot,
            clock,
            _GoldenRandom(3),
            lambda _: challenge,
        )
        self.firmware.board = self.board
        world.make_deck("tray", "blue")
        self.board.power_on()
        near, far = memory_pair()
        self.board.plug(near)
        self.host = ScriptedEnd(far)

    def load(self) -> None:
        self.world.move_all("tray", self.mechanics.intake)
        self.firmware.hands_moved()

    async def open_session(self) -> None:
        for number in (0, 3):
            self.host.send(wire(number))
        for number in (1, 2, 4):
            assert await self.host.receive() == wire(number)

    async def ask(self, request: Message, at: int = 0) -> Message:
        """Ask the `at`th question of a session and return the driver's reading of the reply."""
        seq, counter = fr.FIRST_SEQ + at, fr.FIRST_COUNTER + at
        self.host.send(sealed(SHAKE["key_to_device"], encode(request), seq=seq, counter=counter))
        while True:
            (frame,) = Framer().feed(await self.host.receive())
            if frame.type == fr.REPLY and frame.re == seq:
                reply: Message = DECODER.decode(frame.payload)
                return reply

    def close(self) -> None:
        self.host.close()
        self.board.power_off()


DECODER_OF_HELLO: Final = decoder(DeviceHello)
