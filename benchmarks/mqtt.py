"""Measures MQTT at QoS 1 to a real Mosquitto on loopback, round trip and events a second, against bare aiomqtt.

All rows share this process and one event loop, and send the same bytes; the broker is one process. Our rows include the
other work of a box per event: mapping a step to an event, waiting for each acknowledgment, moving the cursor. One row,
without a budget, also reads the event from the journal and checks the chain, as after an outage.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, Final

import aiomqtt

from benchmarks.budgets import BUDGETS
from benchmarks.rows import BenchmarkRow, Role, arguments, interleave, print_table, print_verdict
from table_controller.controller.clock import BoxClock
from table_controller.controller.controller import DurableStep
from table_controller.journal.records import STEP, VERSION, encode_step
from table_controller.journal.store import Policy, Store
from table_controller.ledger.money import MoneyEntry, Transfer
from table_controller.table import events as ev
from table_controller.table.decisions import BetAccepted
from table_controller.uplink.connection import BrokerConnection
from table_controller.uplink.cursor import Cursor
from table_controller.uplink.event_mapping import map_step
from table_controller.uplink.outbox import _payload
from table_controller.uplink.settings import MqttSettings
from table_controller.uplink.source import BoxSource
from table_controller.uplink.uplink import Uplink

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

ROUNDS: Final = 60
# Round trips in a batch, and events in a batch of many at once.
TRIPS: Final = 20
MANY: Final = 400
# Mosquitto's limit for one client, and the default of the configuration.
IN_FLIGHT: Final = 20
_NODELAY: Final = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)

EVENT: Final = ev.SeatLatched(3, 17, 204, 9, True)
ENTRY: Final = MoneyEntry(
    number=41, kind="bet", transfers=(Transfer("bets", "meter", 280_000), Transfer("bets", "house", 720_000)),
    meter_before=10_004_200_000, meter_after=10_004_480_000, round=17, seat=3, clauses=("605a.7(b)",),
)  # fmt: skip
DECISION: Final = BetAccepted(ENTRY, 17, 3, 1_000_000)
HEAD: Final = bytes(range(32))


@contextmanager
def mosquitto(folder: Path) -> Iterator[int]:
    """Run a broker; yields its port."""
    program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        sys.exit("mosquitto is not installed; the package mosquitto has it (apt install mosquitto)")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    config = folder / "mosquitto.conf"
    config.write_text(f"user root\nallow_anonymous true\nlistener {port} 127.0.0.1\n")
    with (folder / "mosquitto.log").open("wb") as log:
        process = subprocess.Popen([program, "-c", str(config)], stdout=log, stderr=log)
    try:
        for _ in range(500):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
                break
            sleep(0.01)
        yield port
    finally:
        process.terminate()
        process.wait(10)


class MeasuredUplink:
    """An uplink that gets its steps from this benchmark; `reached` waits until the broker acknowledges a record."""

    def __init__(self, folder: Path, port: int, name: str, steps: int = 0) -> None:
        self.store = Store.open(folder / name, version=VERSION, digests={}, policy=Policy(ballast_bytes=0))
        body = encode_step(EVENT, [DECISION])
        self.store.append([(STEP, 0, 0, self.store.boot, body)] * steps)
        # Health is published once: only events are measured.
        mqtt = MqttSettings(
            host="127.0.0.1", port=port, prefix=f"bench/{name}", client_id=name, in_flight=IN_FLIGHT,
            health_every_s=3600.0,
        )  # fmt: skip
        clock = BoxClock()
        source = BoxSource(game="", chapter="", clock=clock, waiting=lambda: 0, store=self.store)
        self.uplink = Uplink(mqtt, source, folder / f"{name}.cursor", pace=1e6)  # nothing else falls due
        assert self.uplink.outbox is not None
        self.outbox = self.uplink.outbox
        self._acknowledge = self.outbox.acknowledge
        self.outbox.acknowledge = self._acknowledged  # type: ignore[method-assign]
        self._until = 0
        self._reached: asyncio.Future[None] | None = None
        self.seq = 0

    async def __aenter__(self) -> MeasuredUplink:
        self._task = asyncio.create_task(self.uplink.run())
        last = self.store.last()
        assert last is not None
        self.seq = last.seq
        await self.reached(last.seq)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self.store.close()

    def _acknowledged(self, mark: Any) -> None:
        self._acknowledge(mark)
        if mark.seq >= self._until and self._reached is not None and not self._reached.done():
            self._reached.set_result(None)

    async def reached(self, seq: int) -> None:
        """Wait until the broker has acknowledged everything up to a record."""
        if self.outbox.acknowledged.seq < seq:
            self._until, self._reached = seq, asyncio.get_running_loop().create_future()
            await self._reached

    def step(self) -> None:
        """Add one durable step."""
        self.seq += 1
        self.uplink._follow(DurableStep(self.seq, 0, EVENT, [DECISION], HEAD))

    async def trip(self) -> None:
        self.step()
        await self.reached(self.seq)

    async def many(self) -> None:
        for _ in range(MANY):
            self.step()
        await self.reached(self.seq)

    async def from_journal(self) -> None:
        """Publish the last events again from the journal, as after an outage."""
        outbox = self.outbox
        outbox.acknowledged = Cursor(outbox.acknowledged.journal, self.seq - MANY, "", 0)
        outbox.rewind()
        self.uplink._wake()
        await self.reached(self.seq)


def payload() -> bytes:
    """Return the bytes of one event, as every row sends them."""
    sample = _payload(map_step(EVENT, [DECISION], 17), Cursor("ab" * 16, 100_000, HEAD.hex(), 17), 0)
    assert sample is not None
    return sample


def trips(
    runner: asyncio.Runner, name: str, once: Callable[[], Awaitable[Any]], role: Role = "ours", count: int = TRIPS
) -> BenchmarkRow:
    async def batch() -> list[float]:
        took = []
        for _ in range(count):
            start = perf_counter()
            await once()
            took.append(perf_counter() - start)
        return took

    return BenchmarkRow(name, lambda: runner.run(batch()), role)


def many(
    runner: asyncio.Runner, name: str, all_of_them: Callable[[], Awaitable[Any]], role: Role = "ours"
) -> BenchmarkRow:
    async def batch() -> list[float]:
        start = perf_counter()
        await all_of_them()
        return [(perf_counter() - start) / MANY]

    return BenchmarkRow(name, lambda: runner.run(batch()), role)


async def _bare(stack: AsyncExitStack, port: int, name: str, options: Any = _NODELAY) -> aiomqtt.Client:
    client = aiomqtt.Client(
        "127.0.0.1", port, identifier=name, protocol=aiomqtt.ProtocolVersion.V5, socket_options=options,
        max_inflight_messages=IN_FLIGHT,
    )  # fmt: skip
    client.pending_calls_threshold = 10 * IN_FLIGHT  # many at once are intended
    return await stack.enter_async_context(client)


async def _at_once(client: aiomqtt.Client, body: bytes) -> None:
    """Publish many with so many in flight."""
    left = iter(range(MANY))

    async def lane() -> None:
        for _ in left:
            await client.publish("bench/bare/events", body, qos=1)

    await asyncio.gather(*(lane() for _ in range(IN_FLIGHT)))


def _measure(runner: asyncio.Runner, stack: AsyncExitStack, folder: Path, port: int, rounds: int) -> None:
    body = payload()
    bare = runner.run(_bare(stack, port, "bare"))
    nagle = runner.run(_bare(stack, port, "nagle", ()))
    mqtt = MqttSettings(host="127.0.0.1", port=port, prefix="bench/own", client_id="own", in_flight=IN_FLIGHT)

    async def opened() -> BrokerConnection:
        connection = BrokerConnection(mqtt, ("bench/own/status", b"{}"), lambda _: None, lambda: None)
        await connection.open("bench/own/command/#")
        stack.push_async_callback(connection.close)
        return connection

    async def entered(*more: Any) -> MeasuredUplink:
        return await stack.enter_async_context(MeasuredUplink(folder, port, *more))

    own, live = runner.run(opened()), runner.run(entered("live"))
    kept = runner.run(entered("kept", MANY))
    rows = [
        trips(runner, "bare aiomqtt, TCP_NODELAY", lambda: bare.publish("bench/bare/events", body, qos=1), "floor"),
        trips(runner, "pitbox, one message", lambda: own.publish("bench/own/events", body)),
        trips(runner, "pitbox, a durable step published", live.trip),
        trips(runner, "bare aiomqtt as shipped", lambda: nagle.publish("bench/bare/events", body, qos=1), "peer", 4),
    ]
    interleave(rows, rounds)
    print_table(f"published at QoS 1 -> acknowledged, {len(body)} bytes", rows, rows[:1])
    print_verdict(BUDGETS["mqtt"], "MQTT QoS 1 round trip / bare aiomqtt, p50", rows[1].ratio(rows[0]))
    print_verdict(BUDGETS["mqtt"], "a durable step published / bare aiomqtt, p50", rows[2].ratio(rows[0]))
    crowds = [
        many(runner, "bare aiomqtt", lambda: _at_once(bare, body), "floor"),
        many(runner, "pitbox, steps as they come", live.many),
        many(runner, "pitbox, out of the journal", kept.from_journal),
    ]
    interleave(crowds, max(2, rounds // 4))
    print_table(f"one of {MANY} events with {IN_FLIGHT} in flight", crowds, crowds[:1])
    print("events/s: " + ", ".join(f"{row.name} {1 / row.percentile(0.5):.0f}" for row in crowds))
    print_verdict(BUDGETS["mqtt"], "events as they come / bare aiomqtt", crowds[1].ratio(crowds[0]))


def main() -> None:
    """Start the broker, measure, print, judge."""
    rounds = arguments(
        "QoS 1 round trip and events a second compared with bare aiomqtt with TCP_NODELAY. Ratios count.",
        "python -m benchmarks.mqtt --rounds 20",
        ROUNDS,
    )
    with TemporaryDirectory() as name, mosquitto(Path(name)) as port, asyncio.Runner() as runner:
        stack = AsyncExitStack()
        try:
            _measure(runner, stack, Path(name), port, rounds)
        finally:
            runner.run(stack.aclose())


if __name__ == "__main__":
    main()
