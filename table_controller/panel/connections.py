"""Accepts the connections of the panel, limits their number, and gives each part of them a deadline.

A connection counts from the moment it is accepted, before TLS. The deadlines are for the TLS handshake, a whole
request, and reading a response. A connection that waits for its client is idle, and is closed when another one needs
its place.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, Final, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from table_controller.host.quota import Admission, Origin, Quota
from table_controller.host.repeated_log import ServerLog

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable
    from ssl import SSLContext

    from table_controller.host.repeated_log import RepeatedLog

# Most connections, including streams: for strangers; for strangers and known addresses; for all with the table's own
# screens.
CONNECTIONS: Final = (48, 96, 128)
# Most connections of one network, one known address, and one screen: a browser opens six.
CONNECTIONS_EACH: Final = (16, 32, 128)
# Deadline of a TLS handshake (s); a slow tablet needs a second.
HANDSHAKE_S: Final = 10.0
# Deadline of a whole request (s), after the connection or the response before it.
WHOLE_REQUEST_S: Final = 15.0
# Deadline for a client to read a response (s).
UNREAD_S: Final = 30.0
# Pause after a failure to accept (s), such as no free descriptors.
PAUSE_S: Final = 1.0


class PanelConnection(H11Protocol):
    """One connection with its deadlines. `place` and `places` are set before the handshake ends."""

    is_connected = False
    place: Admission
    places: Quota
    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> bool:
        """Whether it waits for its client: for a whole request, or until a response is read."""
        return not self.is_connected or self._awaits_request or self.flow.write_paused

    @property
    def _awaits_request(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def connection_made(self, transport: Any) -> None:
        """Start to wait for a request."""
        super().connection_made(transport)
        self.is_connected = True
        self._wait_for_request()

    def handle_events(self) -> None:
        """Process received data; the deadline runs until the request is whole."""
        super().handle_events()
        self._wait_for_request()

    def on_response_complete(self) -> None:
        """Restart the deadline for the next request."""
        self._stop_waiting()
        super().on_response_complete()
        self._wait_for_request()

    def _wait_for_request(self) -> None:
        if not self._awaits_request or self.transport.is_closing():
            self._stop_waiting()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(WHOLE_REQUEST_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def pause_writing(self) -> None:
        """Start the deadline of a client that does not read."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop that deadline when the client reads again."""
        super().resume_writing()
        self._stop_unread()

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the place."""
        self.places.release(self.place)
        self._stop_waiting()
        super().connection_lost(exc)
        self._stop_unread()


class ConnectionAcceptor:
    """Accepts connections at a listening socket, up to the limits."""

    def __init__(
        self,
        listening: socket.socket,
        make: Callable[[], PanelConnection],
        origin_of: Callable[[str, str], Origin],
        repeated: RepeatedLog,
        tls: SSLContext | None,
    ) -> None:
        """`origin_of`: returns the origin of a peer from its address and the local address."""
        self._listening = listening
        self._make = make
        self._origin_of = origin_of
        self._repeated = repeated
        self._tls = tls
        self.places = Quota(CONNECTIONS, CONNECTIONS_EACH)
        self._greetings: set[asyncio.Task[None]] = set()
        self._work = asyncio.get_running_loop().create_task(self._accept())

    async def _accept(self) -> None:
        """Accept one connection in each turn of the loop, so that the table waits for one at most."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._listening)
            except ConnectionAbortedError:  # closed before it was accepted
                continue
            except OSError as error:
                self._repeated.warn("no connection is accepted", error.errno, f"no connection is accepted: {error}")
                await asyncio.sleep(PAUSE_S)
                continue
            self._admit(accepted)
            await asyncio.sleep(0)

    def _admit(self, accepted: socket.socket) -> None:
        """Give a connection a place and start it; without a place it is closed at once."""
        connection = self._make()
        try:
            origin = self._origin_of(accepted.getpeername()[0], accepted.getsockname()[0])
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(UNREAD_S * 1000))
        except OSError:  # already closed
            accepted.close()
            return
        greeting: asyncio.Task[None] | None = None

        def displace() -> None:
            if connection.is_connected:
                connection.transport.abort()
            elif greeting is not None:
                greeting.cancel()

        seat = self.places.admit(origin, idle=lambda: connection.idle, displace=displace)
        if seat is None:
            self._repeated.warn("a connection was refused", origin.group, f"too many connections from {origin.group}")
            accepted.close()
            return
        connection.place, connection.places = seat, self.places
        connection.logger = cast("logging.Logger", ServerLog(connection.logger, self._repeated))
        greeting = asyncio.get_running_loop().create_task(self._greet(connection, accepted))
        self._greetings.add(greeting)

        def greeted(task: asyncio.Task[None]) -> None:
            self._greetings.discard(task)
            if task.cancelled():
                self.places.release(seat)
                accepted.close()

        greeting.add_done_callback(greeted)

    async def _greet(self, connection: PanelConnection, accepted: socket.socket) -> None:
        deadline = None if self._tls is None else HANDSHAKE_S
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection, accepted, ssl=self._tls, ssl_handshake_timeout=deadline
            )
        except OSError:  # not TLS, or too late
            self.places.release(connection.place)

    @property
    def failed(self) -> bool:
        """Whether accepting has ended without `close`."""
        return self._work.done()

    def check(self) -> None:
        """Raise the error that ended accepting, if there was one."""
        if not self._work.cancelled():
            self._work.result()

    async def close(self) -> None:
        """Stop accepting, and cancel handshakes."""
        for task in (self._work, *self._greetings):
            task.cancel()
        await asyncio.wait({self._work, *self._greetings})
