"""One connection to the broker, from opening to closing; each connection is a new object.

aiomqtt runs the socket on the loop. This module adds what aiomqtt lacks: an acknowledgment with a failure reason is a
refusal; waiting callers are woken when the connection breaks, even before it is accepted; and the socket is always
closed. That needs private names of its inner client. A packet that is declared larger than the limit ends the
connection before its body is read.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import aiomqtt
from aiomqtt.exceptions import MqttConnectError
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from firmware_bridge.errors import (
    BrokerDenied,
    BrokerLost,
    BrokerRefused,
    BrokerSilent,
    BrokerUnreachable,
    BrokerUntrusted,
    UplinkError,
)
from table_controller.uplink.broker_certificate import certificate_of
from table_controller.uplink.settings import tls_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.host.certificates import Certificate
    from table_controller.uplink.settings import MqttSettings

log = logging.getLogger(__name__)
_library = logging.getLogger(f"{__name__}.library")
_library.setLevel(logging.CRITICAL)  # this module logs its errors once, with a code

# Timeout of name lookup, TCP and TLS together (s); the connecting thread cannot be stopped sooner.
OPEN_SECONDS: Final = 5.0
# A broker that does not answer a request within this time (s) counts as hung.
ANSWER_SECONDS: Final = 10.0
# An orderly close waits this long (s) for the broker; then the socket is closed anyway.
CLOSE_SECONDS: Final = 2.0
# The broker must not send larger packets (bytes); no command needs more.
MAX_PACKET: Final = 64 << 10
# Most messages of one connection in one turn of the loop.
MAX_INCOMING: Final = 64
_QOS: Final = 1
# Without this every acknowledgment waits for a delayed TCP acknowledgment: 44 ms instead of 0.3.
_NODELAY: Final = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)


class IncomingMessage(NamedTuple):
    """A received message."""

    topic: str
    payload: bytes
    retained: bool
    response_topic: str | None
    correlation: bytes | None


class BrokerConnection:
    """`was_accepted`: the broker accepted the connection; `lost` is done with the cause once nothing can be sent.

    Calls `on_message`, and `on_progress` for an acknowledgment or the end, on the loop.
    """

    def __init__(
        self,
        settings: MqttSettings,
        will: tuple[str, bytes],
        on_message: Callable[[IncomingMessage], None],
        on_progress: Callable[[], None],
    ) -> None:
        self.lost: asyncio.Future[UplinkError] = asyncio.get_running_loop().create_future()
        self.dropped = 0
        self._settings = settings
        self._will = aiomqtt.Will(will[0], will[1], qos=_QOS, retain=True)
        self._on_message = on_message
        self._on_progress = on_progress
        self._loop = asyncio.get_running_loop()
        self._client: aiomqtt.Client | None = None
        self._paho: Any = None
        self._acks: dict[int, asyncio.Future[UplinkError | None]] = {}
        self._incoming = 0
        self._complaint = ""  # the library's last error text: the only place with the reason of a TLS failure
        self.was_accepted = False
        self.certificate: Certificate | None = None  # of the broker, once it accepted the connection

    # --- opening -----------------------------------------------------------------------------------------------------

    async def open(self, subscribe: str) -> None:
        """Connect and subscribe; UplinkError if that fails. The caller must call `close` or `drop` afterwards."""
        context = await asyncio.to_thread(tls_context, self._settings)
        client = self._client = self._make_client(context)
        entering: asyncio.Future[Any] = asyncio.ensure_future(client.__aenter__())
        try:
            await asyncio.wait([entering, self.lost], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._thread_out(entering)
            raise
        finally:
            if not entering.done():
                entering.cancel()
                await asyncio.wait({entering})
            failed = None if entering.cancelled() else entering.exception()
        if failed is not None:
            raise self._explained(failed)  # without its cause, whose frames hold the socket
        self._check()
        self.was_accepted = True
        self.certificate = certificate_of(self._paho.socket(), self._where)
        client._disconnected.add_done_callback(self._disconnected)
        await self._subscribe(client, subscribe)

    def _make_client(self, context: ssl.SSLContext | None) -> aiomqtt.Client:
        settings = self._settings
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.MaximumPacketSize = MAX_PACKET
        properties.ReceiveMaximum = MAX_INCOMING
        client = aiomqtt.Client(
            settings.host,
            settings.port,
            username=settings.username,
            password=settings.password,
            identifier=settings.client_id,
            protocol=aiomqtt.ProtocolVersion.V5,
            will=self._will,
            timeout=ANSWER_SECONDS,
            keepalive=settings.keep_alive_s,
            tls_context=context,
            socket_options=_NODELAY,
            properties=properties,
            max_inflight_messages=settings.in_flight,
            logger=_library,
        )
        paho: Any = client._client
        self._paho = paho
        paho.connect_timeout = OPEN_SECONDS
        connected, disconnected = paho.on_connect, paho.on_disconnect

        def on_connect(inner: Any, data: Any, flags: Any, reason: Any, granted: Any) -> None:
            allowed = getattr(granted, "ReceiveMaximum", settings.in_flight)
            paho._max_inflight_messages = min(settings.in_flight, allowed)
            connected(inner, data, flags, reason, granted)

        def on_disconnect(inner: Any, data: Any, flags: Any, reason: Any, more: Any) -> None:
            disconnected(inner, data, flags, reason, more)
            # The connecting thread also calls this.
            self._loop.call_soon_threadsafe(self._broke, f"{reason}")

        def on_register_write(_inner: Any, _data: Any, sock: Any) -> None:
            # Like the library, but ignores a socket that is closed before the loop runs this: its descriptor number
            # may belong to another file by then.
            self._loop.call_soon_threadsafe(self._add_writer, sock)

        receive = paho._sock_recv

        def receive_bounded(size: int) -> bytes:
            # The library would read a packet of any declared length into memory.
            if size > MAX_PACKET:
                raise OSError(
                    errno.EMSGSIZE, f"it declares a packet of {size:,} bytes, and {MAX_PACKET:,} are the most"
                )
            data: bytes = receive(size)
            return data

        paho._sock_recv = receive_bounded
        paho.on_connect, paho.on_disconnect = on_connect, on_disconnect
        paho.on_socket_register_write = on_register_write
        paho.on_publish, paho.on_message, paho.on_log = self._published, self._on_message_received, self._noted
        return client

    async def _thread_out(self, entering: asyncio.Future[Any]) -> None:
        """Wait for the connecting thread: it cannot be stopped, and must not keep an open socket."""
        until = self._loop.time() + 2 * OPEN_SECONDS
        while not entering.done() and self._paho.socket() is None and self._loop.time() < until:
            await asyncio.wait({entering}, timeout=0.02)
        await asyncio.wait({entering}, timeout=0.02)  # the socket exists a moment before the loop registers it

    async def _subscribe(self, client: aiomqtt.Client, topic: str) -> None:
        """Subscribe. Mosquitto answers a denied subscription like a granted one, so only silence is an error."""
        asked: asyncio.Future[Any] = asyncio.ensure_future(client.subscribe(topic, qos=_QOS))
        try:
            await asyncio.wait([asked, self.lost], return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not asked.done():
                asked.cancel()
                await asyncio.wait({asked})
            failed = None if asked.cancelled() else asked.exception()
        self._check()
        if failed is not None:
            raise BrokerSilent(f"{self._where}: the subscription to {topic} was not answered: {failed}")

    def _add_writer(self, sock: Any) -> None:
        if self._paho.socket() is sock:
            self._loop.add_writer(sock.fileno(), self._write)

    def _write(self) -> None:
        try:
            self._paho.loop_write()
        except OSError as error:
            self._broke(f"{error}")

    # --- callbacks of the library ------------------------------------------------------------------------------------

    @property
    def _where(self) -> str:
        return f"{self._settings.host}:{self._settings.port}"

    def _explained(self, failed: BaseException) -> UplinkError:
        """Return the error for a failed attempt to connect."""
        below = failed.__context__
        if isinstance(failed, MqttConnectError):
            return BrokerRefused(f"{self._where}: the broker answered: {failed.rc}")
        if isinstance(below, ssl.SSLError | ssl.CertificateError):
            return BrokerUntrusted(f"{self._where}: {below}")
        if isinstance(below, OSError) and str(below):  # a timeout has an empty text
            return BrokerUnreachable(f"{self._where}: {below}")
        if not isinstance(failed, aiomqtt.MqttError):
            raise failed
        return BrokerSilent(
            f"{self._where}: the broker accepted the connection and did not answer within {ANSWER_SECONDS:g} s"
        )

    def _broke(self, reason: str) -> None:
        self.mark_lost(self._broken(reason))

    def _broken(self, reason: str) -> UplinkError:
        if not self.was_accepted and "SSL" in self._complaint:
            return BrokerUntrusted(f"{self._where}: the broker refused this box's certificate: {self._complaint}")
        if "eep alive" in reason:
            return BrokerSilent(f"{self._where}: the broker sent nothing for {self._settings.keep_alive_s} s")
        return BrokerLost(f"{self._where}: {self._complaint or reason}")

    def _disconnected(self, done: asyncio.Future[None]) -> None:
        failed = None if done.cancelled() else done.exception()
        self._broke("closed" if failed is None else f"{failed}")

    def _noted(self, _inner: Any, _data: Any, level: int, text: str) -> None:
        if level & 0x08 or "fail" in text:  # paho's log level for errors
            self._complaint = text

    def _published(self, _inner: Any, _data: Any, number: int, reason: Any, _more: Any) -> None:
        ack = self._acks.pop(number, None)
        if ack is None or ack.done():
            return
        refused = reason.is_failure
        ack.set_result(BrokerDenied(f"{self._where}: the broker refuses a message: {reason}") if refused else None)
        self._on_progress()

    def _on_message_received(self, _inner: Any, _data: Any, message: Any) -> None:
        """Queue a message, which the library has acknowledged already; drop and count messages beyond the limit."""
        if self._incoming >= MAX_INCOMING:
            self.dropped += 1
            return
        self._incoming += 1
        more = message.properties
        incoming = IncomingMessage(
            message.topic, bytes(message.payload), bool(message.retain),
            getattr(more, "ResponseTopic", None), getattr(more, "CorrelationData", None),
        )  # fmt: skip
        self._loop.call_soon(self._hand_over, incoming)

    def _hand_over(self, incoming: IncomingMessage) -> None:
        self._incoming -= 1
        if not self.lost.done():
            self._on_message(incoming)

    # --- sending -----------------------------------------------------------------------------------------------------

    def publish(
        self, topic: str, payload: bytes, *, retain: bool = False, correlation: bytes | None = None
    ) -> asyncio.Future[UplinkError | None]:
        """Send at QoS 1; never waits. The result is None when the broker acknowledges it, or the error."""
        self._check()
        properties = None
        if correlation is not None:
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            properties.CorrelationData = correlation
        ack = self._loop.create_future()
        info = self._paho.publish(topic, payload, _QOS, retain, properties)
        if info.rc:
            self.mark_lost(BrokerLost(f"{self._where}: the message could not be sent ({info.rc!r})"))
            self._check()
        self._acks[info.mid] = ack
        return ack

    def _check(self) -> None:
        if self.lost.done():
            raise self.lost.result()

    def mark_lost(self, cause: UplinkError) -> None:
        """Mark the connection as lost, and wake all waiting callers."""
        if not self.lost.done():
            self.lost.set_result(cause)
        for ack in self._acks.values():
            if not ack.done():
                ack.set_result(self.lost.result())
        self._acks.clear()
        self._on_progress()

    # --- the end -----------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Disconnect in order; the broker then does not publish the will."""
        client = self._client
        if client is not None and self.was_accepted and not self.lost.done():
            client.timeout = CLOSE_SECONDS
            try:
                await client.__aexit__(None, None, None)
            except aiomqtt.MqttError as error:
                log.debug("%s: no orderly end: %s", self._where, error)
        await self.drop()

    async def drop(self) -> None:
        """Close the socket without a disconnect; the broker then publishes the will."""
        client = self._client
        if client is None:
            return
        self.mark_lost(BrokerLost(f"{self._where}: the box closed the connection"))
        self._client = None
        await asyncio.sleep(0)  # run the callbacks that the connecting thread scheduled
        self._paho._sock_close()
        if client._disconnected.done() and not client._disconnected.cancelled():
            client._disconnected.exception()  # retrieved only to silence asyncio; `lost` has the cause
        if client._misc_task is not None:
            client._misc_task.cancel()
            await asyncio.wait({client._misc_task})
