"""A real Mosquitto on loopback, a listener that uses mosquitto_sub, and a cable that can be unplugged."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from simulators.casino.broker import free_port
from tests.support.suite.required_tools import need_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Time limit for a broker on a busy computer (s).
LIMIT: Final = 40.0


class Mosquitto:
    """One broker; after a restart it has the same port and, with "persistence true" in `lines`, the same memory."""

    def __init__(self, folder: Path, *lines: str, listener: tuple[str, ...] = (), anonymous: bool = True) -> None:
        self.port = free_port()
        self.log = folder / "mosquitto.log"
        self._program = need_tool("mosquitto", "mosquitto")
        self._config = folder / "mosquitto.conf"
        allow = f"allow_anonymous {'true' if anonymous else 'false'}"
        # Started as root it would drop its rights and could not read its files. It forwards messages at once.
        own = ("user root", "log_type all", "max_inflight_messages 0", f"listener {self.port} 127.0.0.1", allow)
        self._config.write_text("\n".join((*own[:3], *lines, *own[3:], *listener)) + "\n", "utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen([self._program, "-c", str(self._config)], stdout=log, stderr=log)
        until = time.monotonic() + LIMIT
        while True:
            assert self._process.poll() is None, self.log.read_text("utf-8")
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1.0):
                return
            assert time.monotonic() < until, "mosquitto does not listen"
            time.sleep(0.01)

    def _signal(self, number: int) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def pause(self) -> None:
        """Pause the broker: the system accepts connections, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, number: int) -> None:
        if self._process is not None:
            if self._process.poll() is None:
                self._signal(number)
                self._signal(signal.SIGCONT)
            self._process.wait(LIMIT)
            self._process = None


class ReceivedMessage(NamedTuple):
    """One message as mosquitto_sub printed it."""

    topic: str
    retained: bool
    body: Any


class MqttListener:
    """mosquitto_sub, writing the messages that it receives into a file.

    With `qos` 1 it acknowledges each message. When the broker is killed, the first acknowledgment fails, and
    mosquitto_sub drops everything that it has received and not read yet. With 0 it reads all of it.
    """

    def __init__(
        self, folder: Path, port: int, topic: str, *options: str, name: str = "listener", qos: int = 0
    ) -> None:
        self.path = folder / f"{name}.txt"
        self._port, self._topic = port, topic
        program = need_tool("mosquitto_sub", "mosquitto-clients")
        asked = ["-h", "127.0.0.1", "-p", str(port), "-V", "mqttv5", "-q", str(qos), "-t", topic, "-F", "%r %t %p"]
        with self.path.open("wb") as out:
            self._process = subprocess.Popen([program, *asked, *options], stdout=out, stderr=subprocess.STDOUT)

    def received(self) -> list[ReceivedMessage]:
        messages = []
        for line in self.path.read_text("utf-8").splitlines(keepends=True):
            parts = line.rstrip("\n").split(" ", 2)
            if line.endswith("\n") and len(parts) == 3 and parts[0] in ("0", "1"):
                with suppress(msgspec.DecodeError):
                    messages.append(ReceivedMessage(parts[1], parts[0] == "1", msgspec.json.decode(parts[2])))
        return messages

    def bodies_on(self, end: str) -> list[Any]:
        """Return the bodies on topics with this ending, in order."""
        return [message.body for message in self.received() if message.topic.endswith(f"/{end}")]

    def seqs(self) -> list[int]:
        return [event["seq"] for event in self.bodies_on("events")]

    async def ready(self) -> None:
        """Wait until it is connected and receives messages."""
        before = len(self.bodies_on("hello"))
        hello = self._topic.removesuffix("/#") + "/hello"

        def is_connected() -> bool:
            with suppress(AssertionError):
                publish(self._port, hello, '"hello"')
            return len(self.bodies_on("hello")) > before

        await until(is_connected, pause=0.05)

    def pause(self) -> None:
        """Pause the listener: its messages pile up in the broker."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def close(self) -> None:
        self.resume()
        self._process.terminate()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:  # after a pause it sometimes misses the signal
            self._process.kill()
            self._process.wait(LIMIT)


def publish(port: int, topic: str, payload: str, *options: str) -> None:
    """Send one message with mosquitto_pub."""
    program = need_tool("mosquitto_pub", "mosquitto-clients")
    asked = ["-h", "127.0.0.1", "-p", str(port), "-V", "mqttv5", "-q", "1", "-t", topic]
    message = ["-n"] if payload == "" else ["-m", payload]
    done = subprocess.run(
        [program, *asked, *message, *options], capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


async def until(true: Callable[[], Any], *, pause: float = 0.01) -> None:
    """Wait until a condition is true; another process makes it true."""
    async with asyncio.timeout(LIMIT):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(pause)


class BrokerCable:
    """A cable to the broker that can be unplugged: it passes everything or nothing."""

    def __init__(self, behind: int) -> None:
        self.port = 0
        self.opened = 0
        self._behind = behind
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> BrokerCable:
        await self.plug()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.unplug()

    async def plug(self) -> None:
        self._server = await asyncio.start_server(self._through, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def unplug(self) -> None:
        if self._server is not None:
            self._server.close()
            for task in tuple(self._tasks):
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
            await self._server.wait_closed()
            self._server = None

    async def _through(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.opened += 1
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._behind)
        except OSError:
            writer.close()
            self._tasks.discard(task)
            return
        copies = [asyncio.ensure_future(_copy(reader, far_writer)), asyncio.ensure_future(_copy(far_reader, writer))]
        try:
            await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            pass  # the gate is shut
        finally:
            for copy in copies:
                copy.cancel()
            await asyncio.wait(copies)
            for end in (writer, far_writer):
                end.transport.abort()
            self._tasks.discard(task)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
