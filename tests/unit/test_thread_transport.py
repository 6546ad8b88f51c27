"""The transport over a blocking port, on a fake port: floods, failures, late bytes, and closing."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from firmware_bridge.errors import PortFailed
from firmware_bridge.transport.threaded import MAX_BACKLOG, MAX_UNDELIVERED, ThreadTransport, open_in_thread
from tests.support.machines.card_checks import until_true

pytestmark = pytest.mark.realtime


class Port:
    """Brings `endless` bytes or what is in `inbox`, and keeps what is written; fails on request."""

    def __init__(self, *, endless: bool = False) -> None:
        self.inbox: list[bytes | OSError] = []
        self.written: list[bytes] = []
        self.reads = 0
        self.write_error: OSError | None = None
        self.held = threading.Event()  # while not set, writing blocks
        self.held.set()
        self.left = False
        self.closed = 0
        self._endless = endless

    def read(self) -> bytes:
        self.reads += 1
        if self._endless:
            return b"x"
        if not self.inbox:
            time.sleep(0.005)
            return b""
        result = self.inbox.pop(0)
        if isinstance(result, OSError):
            raise result
        return result

    def write(self, data: bytes) -> None:
        self.held.wait(5)
        if self.write_error is not None:
            raise self.write_error
        self.written.append(data)

    def begin_close(self) -> None:
        self.left = True
        self.held.set()

    def close(self) -> None:
        self.closed += 1


class RecordedTransport:
    """A transport on a port, with its received bytes and losses."""

    def __init__(self, port: Port) -> None:
        self.received: list[bytes] = []
        self.lost: list[Any] = []
        self.transport = ThreadTransport(port, "test", lambda error: PortFailed(str(error)))
        self.transport.on_bytes = self.received.append
        self.transport.on_lost = self.lost.append


async def test_a_flood_is_read_no_faster_than_the_loop_takes_it() -> None:
    port = Port(endless=True)
    recorded = RecordedTransport(port)
    time.sleep(0.2)  # noqa: ASYNC251 - the loop is busy with something else
    assert 0 < port.reads <= MAX_UNDELIVERED + 1
    await until_true(lambda: len(recorded.received) > 3 * MAX_UNDELIVERED)
    recorded.transport.close()
    await until_true(lambda: port.closed)


async def test_bytes_go_both_ways_in_order() -> None:
    port = Port()
    recorded = RecordedTransport(port)
    port.inbox += [b"a", b"b", b"c"]
    for data in (b"1", b"2", b"3"):
        recorded.transport.write(data)
    await until_true(lambda: len(recorded.received) == len(port.written) == 3)
    assert (recorded.received, port.written) == ([b"a", b"b", b"c"], [b"1", b"2", b"3"])
    assert recorded.transport.backlog == 0
    recorded.transport.close()
    await until_true(lambda: port.closed)
    assert (port.left, port.closed, recorded.lost) == (True, 1, [])


@pytest.mark.parametrize("where", ["read", "write"])
async def test_a_failure_is_reported_once_and_the_port_is_released(where: str) -> None:
    port = Port()
    recorded = RecordedTransport(port)
    if where == "read":
        port.inbox.append(OSError("broken"))
    else:
        port.write_error = OSError("broken")
        recorded.transport.write(b"a")
        recorded.transport.write(b"b")
    await until_true(lambda: recorded.lost)
    await until_true(lambda: port.closed)
    recorded.transport.write(b"after")
    recorded.transport.close()
    await asyncio.sleep(0.02)
    assert [str(cause) for cause in recorded.lost] == ["broken"]
    assert (port.closed, port.written) == (1, [])


async def test_a_port_that_takes_nothing_is_lost_at_the_limit_and_without_re_entering_the_writer() -> None:
    port = Port()
    port.held.clear()
    recorded = RecordedTransport(port)
    chunk = bytes(MAX_BACKLOG // 4)
    for _ in range(4):
        recorded.transport.write(chunk)
    assert recorded.transport.backlog == MAX_BACKLOG
    recorded.transport.write(b"x")
    assert recorded.lost == [], "reported later"
    await until_true(lambda: recorded.lost)
    assert "accepts no more bytes" in str(recorded.lost[0])
    await until_true(lambda: port.closed)


async def test_nothing_is_delivered_after_closing() -> None:
    port = Port(endless=True)
    recorded = RecordedTransport(port)
    time.sleep(0.05)  # noqa: ASYNC251 - chunks wait for the loop
    recorded.transport.close()
    await until_true(lambda: port.closed)
    assert recorded.received == []


async def test_an_open_that_is_canceled_closes_what_it_opened() -> None:
    port = Port()
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slowly() -> Port:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(5)
        return port

    opening = asyncio.create_task(open_in_thread(slowly))
    await begun.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert not port.closed
    go_on.set()
    await until_true(lambda: port.closed)


async def test_an_open_that_fails_gives_the_reason() -> None:
    def fails() -> Port:
        raise PortFailed("no")

    with pytest.raises(PortFailed, match="no"):
        await open_in_thread(fails)
