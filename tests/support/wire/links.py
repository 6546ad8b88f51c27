"""Two real links over a pipe in memory, with a chosen fate for every written frame."""

from __future__ import annotations

import asyncio
from collections import deque
from enum import Enum
from random import Random
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge import frame as fr
from firmware_bridge.commands import (
    Accepted,
    AskCommand,
    CommandMemory,
    CommandTracker,
    DeviceCommands,
    HostCommands,
    Outcome,
    Settled,
)
from firmware_bridge.framer import Framer
from firmware_bridge.link import Link
from firmware_bridge.messages import CommandId, Message, decoder
from firmware_bridge.seal import Opener, Sealer, SessionKeys
from firmware_bridge.transport.memory import MemoryTransport, memory_pair
from firmware_bridge.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

    from firmware_bridge.errors import LinkError
    from firmware_bridge.wire import Transport

    Line = Callable[[bytes], "FrameFate | float | bytes"]


class BenchQuestion(Message, frozen=True, tag=100):
    """A question of the host; the device answers with the same number."""

    n: int


class BenchAnswer(Message, frozen=True, tag=101):
    """The reply to a question."""

    n: int


class BenchEvent(Message, frozen=True, tag=102):
    """An event of the device."""

    n: int


class BenchMove(Message, frozen=True, tag=103):
    """A command that must run at most once."""

    command: CommandId


class BenchHalt(Message, frozen=True, tag=104):
    """An urgent command."""

    command: CommandId


class UnknownMessage(Message, frozen=True, tag=199):
    """A message that neither end knows."""

    n: int


TO_DEVICE: Final = decoder(BenchQuestion | BenchMove | BenchHalt | HostCommands)
TO_HOST: Final = decoder(BenchAnswer | BenchEvent | DeviceCommands)
KEYS: Final = SessionKeys(to_device=bytes(range(32)), to_host=bytes(range(32, 64)))


class FrameFate(Enum):
    """What the line does to one frame."""

    DELIVER = "deliver"
    DROP = "drop"
    DUPLICATE = "duplicate"
    CORRUPT = "corrupt"
    HOLD = "hold until after the next frame"


def kind_of(data: bytes) -> int:
    """Return the type of a whole frame on the wire; 0 for other bytes."""
    frames = Framer().feed(data)
    return frames[0].type if frames else 0


def _ignore(_: Any) -> None:
    """Ignore data without a listener."""


class Port:
    """One end of a pipe. `fate` gets each written frame and returns a Fate, a delay in seconds, or the bytes that
    arrive instead; only a held frame is overtaken."""

    def __init__(self, inner: MemoryTransport) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self.fate: Line = lambda _: FrameFate.DELIVER
        self.backlog = 0
        self.written: list[bytes] = []
        self._inner = inner
        self._loop = asyncio.get_running_loop()
        self._held: list[bytes] = []
        self._on_the_way: deque[tuple[float, bytes]] = deque()
        inner.on_bytes = self._receive
        inner.on_lost = self._lose

    @property
    def closed(self) -> bool:
        """Whether the pipe is gone."""
        return self._inner.closed

    def write(self, data: bytes) -> None:
        """Send one frame to its fate."""
        self.written.append(data)
        fate = self.fate(data)
        held, self._held = self._held, []
        match fate:
            case FrameFate.DROP:
                pass
            case FrameFate.HOLD:
                self._held.append(data)
            case FrameFate.DELIVER:
                self.push(data)
            case FrameFate.DUPLICATE:
                self.push(data)
                self.push(data)
            case FrameFate.CORRUPT:
                self.push(corrupted(data))
            case bytes(other):
                self.push(other)
            case float(seconds):
                self._later(seconds, data)
        for late in held:
            self.push(late)

    def push(self, data: bytes) -> None:
        """Deliver bytes to the other end."""
        self._inner.write(data)

    def close(self) -> None:
        """Close the port."""
        self._inner.close()

    def frames(self) -> list[fr.Frame]:
        """Return every frame written here."""
        return Framer().feed(b"".join(self.written))

    def _receive(self, data: bytes) -> None:
        self.on_bytes(data)

    def _lose(self, cause: LinkError) -> None:
        self.on_lost(cause)

    def _later(self, seconds: float, data: bytes) -> None:
        due = self._loop.time() + seconds
        if self._on_the_way:
            due = max(due, self._on_the_way[-1][0])
        self._on_the_way.append((due, data))
        self._loop.call_at(due, lambda: self.push(self._on_the_way.popleft()[1]))


def corrupted(data: bytes) -> bytes:
    """Flip one bit in the middle of a frame."""
    broken = bytearray(data)
    broken[len(data) // 2] ^= 0x10
    return bytes(broken)


def ports() -> tuple[Port, Port]:
    """Return the two ends of a new pipe."""
    one, other = memory_pair()
    return Port(one), Port(other)


def taking_turns(*fates: FrameFate | float, after: FrameFate | float = FrameFate.DELIVER) -> Line:
    """Return a line that gives the first frames these fates, one each, and all others `after`."""
    left = deque(fates)
    return lambda _: left.popleft() if left else after


def sometimes(fate: FrameFate, seed: int, share: float = 0.15) -> Line:
    """Return a line that gives a share of all frames this fate."""
    rng = Random(seed)
    return lambda _: fate if rng.random() < share else FrameFate.DELIVER


def anything(seed: int) -> Line:
    """Return a line that gives every frame a random fate, mostly delivery."""
    rng = Random(seed)
    return lambda _: rng.choices(list(FrameFate), [14, 1, 1, 1, 1])[0]


# Lines by name, for each direction 0 and 1. Every call makes a new line, so that tests are independent.
FATES: Final[dict[str, Callable[[int], Line]]] = {
    "delivered": lambda _: lambda _: FrameFate.DELIVER,
    "some dropped": lambda direction: sometimes(FrameFate.DROP, direction),
    "some doubled": lambda direction: sometimes(FrameFate.DUPLICATE, direction),
    "some corrupted": lambda direction: sometimes(FrameFate.CORRUPT, direction),
    "some held": lambda direction: sometimes(FrameFate.HOLD, direction),
    "all doubled": lambda _: lambda _: FrameFate.DUPLICATE,
    "slow": lambda _: lambda _: 0.8,
    "slow, then quick": lambda _: taking_turns(*[0.9] * 20),
    "anything, seed 1": lambda direction: anything(10 + direction),
    "anything, seed 2": lambda direction: anything(20 + direction),
    "anything, seed 3": lambda direction: anything(30 + direction),
}


class LinkDevice:
    """A device: answers questions, moves at most once per id, and remembers commands."""

    def __init__(self, link: Link | None = None) -> None:
        self.memory = CommandMemory()
        self.received: list[Any] = []
        self.executed: list[int] = []
        self.withhold: set[type[Message]] = set()
        self.reply_delay_s = 0.0  # seconds until a question is answered
        self.move_time_s: float | None = 0.0  # seconds that a move takes; None: it never ends
        self.link: Link
        if link is not None:
            self.serve(link)

    def serve(self, link: Link, _role: str = "") -> None:
        """Answer on this link from now on."""
        self.link = link
        link.on_request = lambda message, seq: self._request(link, message, seq)

    def _request(self, link: Link, message: Any, seq: int) -> None:
        self.received.append(message)
        reply = self._reply_to(message)
        if type(message) in self.withhold:
            return
        if self.reply_delay_s:
            asyncio.get_running_loop().call_later(self.reply_delay_s, link.send_reply, seq, reply)
        else:
            link.send_reply(seq, reply)

    def _reply_to(self, message: Any) -> Message:
        if isinstance(message, BenchQuestion):
            return BenchAnswer(message.n)
        if isinstance(message, AskCommand):
            return self.memory.recall(message.command)
        command: int = message.command
        known = self.memory.begin(command)
        if known is not None:
            return known
        self.executed.append(command)
        if isinstance(message, BenchHalt):
            return self.memory.settle(command, Outcome.DONE)
        if self.move_time_s is not None:
            asyncio.get_running_loop().call_later(self.move_time_s, self._moved, command)
        return Accepted(command)

    def _moved(self, command: int) -> None:
        settled = self.memory.settle(command, Outcome.DONE)
        if self.link.down is None:
            self.link.send_event(settled)


class LinkPair:
    """A host's link and a device's link in one session, with their events and errors."""

    def __init__(self, *, counter: int = fr.FIRST_COUNTER) -> None:
        self.host_port, self.device_port = ports()
        self.host = _link(self.host_port, Sealer(KEYS.to_device, counter), Opener(KEYS.to_host), TO_HOST, "host's")
        self.far = _link(self.device_port, Sealer(KEYS.to_host), Opener(KEYS.to_device), TO_DEVICE, "device's")
        self.device = LinkDevice(self.far)
        self.events: list[Any] = []
        self.downs: list[Exception] = []
        self.host.on_event = self.events.append
        self.host.on_down = self.downs.append

    def fates(self, fate: Callable[[int], Line]) -> None:
        """Set the line of both directions."""
        self.host_port.fate, self.device_port.fate = fate(0), fate(1)

    def ask(self, n: int, patience: float = 0.3, **how: Any) -> asyncio.Future[Any]:
        """Ask the device a question."""
        return self.host.request(BenchQuestion(n), patience, **how)

    def fill_window(self, count: int, first: int = 1000) -> list[asyncio.Future[Any]]:
        """Ask so many questions at once, before any is acknowledged."""
        return [self.ask(first + n) for n in range(count)]


def _link(port: Transport, sealer: Sealer, opener: Opener, decode: msgspec.msgpack.Decoder[Any], name: str) -> Link:
    return Link(Wire(port), sealer, opener, decode, name)


def timers() -> list[asyncio.TimerHandle]:
    """Return the timers that are still set in this loop."""
    scheduled: list[asyncio.TimerHandle] = getattr(asyncio.get_running_loop(), "_scheduled")  # noqa: B009
    return [handle for handle in scheduled if not handle.cancelled()]


def actuate(
    commands: CommandTracker, link: Link, message: Message, command: int, *, urgent: bool = False
) -> asyncio.Task[Settled]:
    """Send a command and wait for its end, as a driver does."""
    answer = commands.send(link, message, command, urgent=urgent)
    return asyncio.ensure_future(commands.wait_end(link, command, answer))


async def settle(seconds: float = 0.0) -> None:
    """Run everything that is due within this time."""
    await asyncio.sleep(seconds)
    for _ in range(20):
        await asyncio.sleep(0)


async def outcome_of(waiter: asyncio.Future[Any]) -> Any:
    """Wait, and return the result or the error."""
    try:
        return await waiter
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001 - the test checks it
        return error
