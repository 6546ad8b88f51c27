"""The control socket: the server through which commands and other programs reach a running box.

An invalid request gets an error; a client that does not read or never ends its line is dropped. No client can make the
table wait: all writes go into bounded buffers.
"""

from __future__ import annotations

import asyncio
import grp
import os
import pwd
import socket
import stat
import struct
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadRequest, DataFolderUnusable, NotAllowed, PitboxError
from firmware_bridge.version import VERSION
from table_controller.access.event_json import event_to_json
from table_controller.access.request_json import MAX_LINE, PROTOCOL, encode_line, error_body, number_of, read_line
from table_controller.access.session import ClientSession, watcher_quota
from table_controller.host.quota import Origin, Quota, Rank

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from devices.kinds import DriverEvent
    from table_controller.controller.box import Box
    from table_controller.controller.controller import DurableStep
    from table_controller.host.quota import Admission

SOCKET_NAME: Final = "control.sock"
# Bytes that may wait for a client; a client further behind has stopped reading.
MAX_BACKLOG: Final = 4 << 20
# Clients at the same time: a few commands and programs. Some places are reserved for root and the user of the box; any
# other single user gets a part of the others.
MAX_CLIENTS: Final = 32
RESERVED_CLIENTS: Final = 8
USER_CLIENTS: Final = 12
# The longest path of a Unix socket (bytes).
MAX_PATH: Final = 107
_PEER: Final = struct.Struct("3i")


class ClientConnection(asyncio.Protocol):
    """One connection."""

    def __init__(self, control: ControlSocket) -> None:
        self._control = control
        self._transport: asyncio.Transport | None = None
        self._read = bytearray()
        self._ended = False  # the client sends nothing more; the lines that it sent are still handled
        self._seat: Admission | None = None
        self.session: ClientSession | None = None

    @property
    def is_idle(self) -> bool:
        """Whether this client does nothing, so that another one may have its place."""
        return self.session is not None and self.session.is_idle

    def displace(self) -> None:
        """Drop this client, because another one gets its place."""
        self._control.clients.pop(self, None)
        self.drop("it was idle, and another client needed the place")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet an admitted client; send any other one the reason and close."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        try:
            uid = self._control.user_of(transport.get_extra_info("socket"))
            self._seat = self._control.admit(self, uid)
        except NotAllowed as refused:
            self._control.box.repeated_log.warn("a client was refused", str(refused), str(refused))
            self.send({"error": error_body(refused)})
            transport.close()
            return
        self.session = ClientSession(self._control.box, self.send, uid, self._control.watchers_quota)
        self._control.clients[self] = None
        box = self._control.box
        hello = {"pitbox": VERSION, "protocol": PROTOCOL, "table": box.plan.name, "game": box.plan.edition.game}
        self.send({"hello": hello})

    def data_received(self, data: bytes) -> None:
        """Buffer the data until the turn of this client; pause reading if it sends faster."""
        if self.session is None or self._transport is None:
            return
        self._read += data
        if len(self._read) > MAX_LINE:
            self._transport.pause_reading()
        if self._more():
            self._control.schedule(self)

    def eof_received(self) -> bool:
        """The client sends nothing more, or is gone; stay open until the lines that it sent are handled."""
        self._ended = True
        return self.session is not None and self._more()

    def _more(self) -> bool:
        return len(self._read) > MAX_LINE or b"\n" in self._read

    def handle_line(self) -> bool:
        """Handle one line and return whether more wait. A line that is too long ends the connection."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return False
        end = self._read.find(b"\n", 0, MAX_LINE + 1)
        if end < 0 and len(self._read) > MAX_LINE:
            self.send({"error": error_body(BadRequest(f"a line has at most {MAX_LINE} bytes"))})
            self.drop("its line has no end", abort=False)
            return False
        request = bytes(self._read[:end])
        del self._read[: end + 1]
        self._handle_line(request)
        if self._more():
            return True
        if self._ended:
            transport.close()
        else:
            transport.resume_reading()
        return False

    def _handle_line(self, request: bytes) -> None:
        assert self.session is not None
        if not request.strip():
            return
        try:
            self.session.handle(read_line(request))
        except PitboxError as refused:
            self.send({**number_of(request), "error": error_body(refused)})

    def send(self, what: Any) -> None:
        """Send an object as one line; drop a client that is too far behind."""
        self.send_line(what if isinstance(what, bytes) else encode_line(what))

    def send_line(self, data: bytes) -> None:
        """Send a line."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if transport.get_write_buffer_size() > MAX_BACKLOG:
            self.drop("it does not read")
            return
        transport.write(data)

    def drop(self, why: str, *, abort: bool = True) -> None:
        """Drop a client and log why."""
        text = f"a client of the control socket is dropped: {why}"
        self._control.box.repeated_log.warn("a client is dropped", why, text)
        if self._transport is not None:
            if abort:
                self._transport.abort()
            else:
                self._transport.close()

    def connection_lost(self, _error: Exception | None) -> None:
        """End the session of this connection."""
        self._transport = None
        self._control.clients.pop(self, None)
        if self._seat is not None:
            self._control.client_quota.release(self._seat)
        if self.session is not None:
            self.session.close()

    def close(self) -> None:
        """Close the connection, because the box ends."""
        if self._transport is not None:
            self._transport.close()


class ControlSocket:
    """Serves one box at one socket."""

    def __init__(self, box: Box, path: Path) -> None:
        self.box = box
        self.path = path
        self.clients: dict[ClientConnection, None] = {}  # the oldest first
        others = max(1, MAX_CLIENTS - RESERVED_CLIENTS)
        self.client_quota = Quota((0, others, MAX_CLIENTS), (0, USER_CLIENTS, MAX_CLIENTS))
        self.watchers_quota = watcher_quota()
        self._server: asyncio.Server | None = None
        self._turns: deque[ClientConnection] = deque()
        box.on_device_event.append(self._on_device_event)
        box.on_halted.append(self._halted)

    async def start(self) -> None:
        """Start to listen. This process has locked the data folder, so an existing socket is left from an ended box."""
        if len(os.fsencode(self.path)) > MAX_PATH:
            raise DataFolderUnusable(f"{self.path}: a socket's path has at most {MAX_PATH} bytes")
        try:
            with suppress(FileNotFoundError):
                if not stat.S_ISSOCK(self.path.lstat().st_mode):
                    raise DataFolderUnusable(f"{self.path} exists and is not a socket; the box does not delete it")
                self.path.unlink()
            self._server = await asyncio.get_running_loop().create_unix_server(
                lambda: ClientConnection(self), str(self.path)
            )
            self.path.chmod(0o660)
            if self.box.plan.socket_group is not None:
                os.chown(self.path, -1, grp.getgrnam(self.box.plan.socket_group).gr_gid)
        except KeyError:
            raise DataFolderUnusable(f"there is no group {self.box.plan.socket_group} on this computer") from None
        except OSError as error:
            raise DataFolderUnusable(f"{self.path}: {error.strerror or error}") from error
        if self.box.controller is not None:
            self.box.controller.followers.append(self._step)

    def schedule(self, client: ClientConnection) -> None:
        """Schedule the next line of a client: one line of one client in each iteration of the event loop.

        So machines and deadlines wait for one request at most, no matter how many are sent.
        """
        if client not in self._turns:
            self._turns.append(client)
            if len(self._turns) == 1:
                asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        client = self._turns[0]
        try:
            more = client.handle_line()
        finally:
            self._turns.popleft()
            if self._turns:
                asyncio.get_running_loop().call_soon(self._turn)
        if more:
            self.schedule(client)

    def admit(self, client: ClientConnection, uid: int) -> Admission:
        """Give a client a place, if necessary that of an idle client; raise NotAllowed if there is none."""
        name = f"user {uid}"
        rank = Rank.OWN if uid in (0, os.geteuid()) else Rank.KNOWN
        seat = self.client_quota.admit(Origin(name, name, rank), idle=lambda: client.is_idle, displace=client.displace)
        if seat is None:
            raise NotAllowed(f"{len(self.client_quota)} clients are connected and in use; this box takes no more")
        return seat

    def user_of(self, peer: socket.socket) -> int:
        """Return the user id of the client; raise NotAllowed if that user may not use the socket."""
        _, uid, gid = _PEER.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
        if uid in (0, os.geteuid()) or self._in_group(uid, gid):
            return int(uid)
        raise NotAllowed(
            f"user {uid} may not use this socket; permitted: the user of the box, root" + self._group_text()
        )

    def _group_text(self) -> str:
        return f", the group {self.box.plan.socket_group}" if self.box.plan.socket_group else ""

    def _in_group(self, uid: int, gid: int) -> bool:
        if self.box.plan.socket_group is None:
            return False
        try:
            group = grp.getgrnam(self.box.plan.socket_group).gr_gid
            user = pwd.getpwuid(uid)
        except KeyError:
            return False
        return group == gid or group in os.getgrouplist(user.pw_name, user.pw_gid)

    # --- messages to clients that follow ------------------------------------------------------------------------------

    def _step(self, step: DurableStep) -> None:
        data: bytes | None = None
        for client in tuple(self.clients):
            if client.session is not None and client.session.is_sent(step):
                data = data or encode_line({"step": step})
                client.send_line(data)
            if client.session is not None:
                client.session.on_durable(step)

    def _on_device_event(self, slot: str, event: DriverEvent) -> None:
        self._push(
            lambda session: session.follows_devices,
            lambda: {"device_event": {"slot": slot, **(event_to_json(event) or {})}},
            event,
        )

    def _push(self, is_listener: Callable[[ClientSession], bool], what: Callable[[], Any], event: DriverEvent) -> None:
        listeners = [c for c in tuple(self.clients) if c.session is not None and is_listener(c.session)]
        if listeners and event_to_json(event) is not None:
            data = encode_line(what())
            for client in listeners:
                client.send_line(data)

    def _halted(self, cause: PitboxError) -> None:
        for client in tuple(self.clients):
            if client.session is not None:
                client.session.on_halted(cause)
            client.send({"halted": error_body(cause)})

    def status(self) -> Any:
        """Return the picture of the box."""
        return self.box.pictures.box()

    async def close(self) -> None:
        """Disconnect all clients and remove the socket."""
        if self._server is not None:
            self._server.close()
            for client in tuple(self.clients):
                client.close()
            await self._server.wait_closed()
            with suppress(FileNotFoundError):
                self.path.unlink()
        await asyncio.sleep(0)
